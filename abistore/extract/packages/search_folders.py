"""The folders of development packages that their headers are searched in: those by which one names another."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include(?:_next)?[ \t]*([<\"])([^>\"\n]+)[>\"]", re.MULTILINE)
_MOST_TEXT = 1 << 20


def folders_named(roots: Sequence[Path], known: Sequence[Path]) -> tuple[Path, ...]:
    """The folders below ``roots`` in which headers lie that others of these name, and that no ``known`` one has.

    Of several folders that have a header, the one that is nearest to the header which names it.
    """
    files = [file for root in roots for file in _files(root)]
    places: dict[str, list[Path]] = {}
    for file in files:
        places.setdefault(file.name, []).append(file)
    found: dict[Path, None] = {}
    for file in files:
        for name in _names(file):
            searched = (*known, *found)
            if not any((folder / name).is_file() for folder in searched):
                found.update(dict.fromkeys(_nearest(file, name, places)))
    return tuple(found)


def _files(root: Path) -> Iterator[Path]:
    return (each for each in sorted(root.rglob("*")) if each.is_file())


def _names(file: Path) -> Iterator[str]:
    """What a header includes, but for what lies beside it and is meant by that."""
    with file.open("rb") as opened:
        text = opened.read(_MOST_TEXT)
    for sign, name in dict.fromkeys(_INCLUDE.findall(text)):
        spelled = os.fsdecode(name)
        is_beside = sign == b'"' and (file.parent / spelled).is_file()
        if not is_beside and not spelled.startswith("/") and ".." not in spelled.split("/"):
            yield spelled


def _nearest(file: Path, name: str, places: Mapping[str, Iterable[Path]]) -> Iterator[Path]:
    """The folder from which ``name`` leads to a header."""
    end = f"/{name}"
    fitting = [each for each in places.get(name.rpartition("/")[2], ()) if str(each).endswith(end)]
    if fitting:
        best = max(fitting, key=lambda each: (len(os.path.commonpath((file, each))), -len(each.parts), str(each)))
        yield best.parents[name.count("/")]
