"""What programs are compiled with: the facts of each side, and which of them no longer hold."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from benchmarks.oracle.pieces import Piece

Facts: TypeAlias = Mapping[str, str]
"""Answers by what was asked."""


def facts(printed: str, library: Path, piece: Piece) -> dict[str, dict[str, str]]:
    """The facts of a piece: ``public`` ones, and ``internal`` ones, of exports that stand in no header."""
    lines = (line.split("\t") for line in printed.splitlines())
    told = [(asked, answer) for prefix, asked, answer in lines if prefix == piece.prefix]
    found: dict[str, dict[str, str]] = {"public": {}, "internal": {}}
    unseen = {each.name for each in piece.functions if each.internal}
    for asked, answer in (*told, *_symbols(library, piece.prefix)):
        found["internal" if any(each in asked for each in unseen) else "public"][asked] = answer
    return found


def _symbols(library: Path, prefix: str) -> Iterator[tuple[str, str]]:
    """What the library exports of a piece; of data and vtables the size, which programs copy and derive from."""
    told = subprocess.run(["nm", "-DS", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    for *place, letter, name in map(str.split, told.splitlines()):
        if prefix in name and not name.startswith(("_ZTI", "_ZTS", "_ZTT", "_ZTC")):
            yield f"symbol {name}", place[1] if len(place) > 1 and (letter in "DBR" or name.startswith("_ZTV")) else ""


def broken(old: Facts, new: Facts) -> list[str]:
    """The facts that were and are no longer, each as a line."""
    return [f"{asked}: {was} -> {new.get(asked)}" for asked, was in old.items() if not _holds(asked, old, new)]


def _holds(asked: str, old: Facts, new: Facts) -> bool:
    """Whether programs that were compiled with a fact are still right."""
    was, now, kind = old[asked], new.get(asked), asked.partition(" ")[0]
    if was == now or kind == "integer":
        return True
    if now is None:
        return kind in ("copying", "passing", "end")  # asked for no longer: nobody holds it, or derives from it
    if kind == "end":
        return int(now) < int(was)  # what derives has its members behind, where nothing lies any more
    return kind == "type" and _is_alike(asked, _plain(was, old), _plain(now, new))


def _is_alike(asked: str, was: str, now: str) -> bool:
    """Whether two types are the same to a processor. ``const`` of a method is in its symbol, and in no slot."""
    if asked.endswith("()"):
        return was.removesuffix(" const") == now.removesuffix(" const")
    pointers = was.endswith("*") and now.endswith("*") and "(" not in was + now
    return was == now or (pointers and "void*" in (was, now))


def _plain(type: str, facts: Facts) -> str:
    """A type with integers for enumerations, and without what is the same to a processor.

    That is whether an integer has a sign, which of two integers of one size it is, and an array of one for its element.
    """
    names = {asked.removeprefix("integer of "): is_ for asked, is_ in facts.items() if asked.startswith("integer of ")}
    text = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), type)
    text = re.sub(r"\b(?:un)?signed char\b", "char", text)
    text = re.sub(r"\bunsigned (short|int|long)\b", r"\1", text)
    return re.sub(r" ?\[1\]$", "", text.replace("long long", "long"))
