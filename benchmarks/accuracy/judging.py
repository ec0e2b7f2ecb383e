"""What abistore and abidiff say of a pair of releases."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.accuracy.declared import is_defined, undeclared
from benchmarks.accuracy.truth import Pair
from examples.more_recipes import ALL
from examples.obtain import Missing, require
from examples.recipes import build

INCOMPATIBLE = 8
"""The bit of abidiff's exit code that says that the change breaks (documented in its manual)."""


@dataclass(frozen=True)
class Answer:
    """What one tool says: its own word for it, whether that is a break, its reasons, and the types that changed."""

    word: str
    breaks: bool
    causes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """A pair with the answers: from the files alone, and with undeclared exports set aside."""

    pair: Pair
    plain: dict[str, Answer]
    declared: dict[str, Answer]

    def line(self) -> str:
        """The pair in one line, ``!`` before what is wrong."""
        truth = "break" if self.pair.breaks else "-"
        said = [
            f"{tool}{mode}={'' if each.breaks == self.pair.breaks else '!'}{each.word}"
            for mode, answers in (("", self.plain), ("+headers", self.declared))
            for tool, each in answers.items()
        ]
        return f"{self.pair.library} {self.pair.old} -> {self.pair.new}: {truth} {' '.join(said)}"


def judge(pair: Pair) -> Judged:
    """Builds both releases where that is still to do, and asks both tools twice."""
    old, new = (build(ALL[pair.library], version) for version in (pair.old, pair.new))
    with TemporaryDirectory() as folder:
        names = undeclared(pair.library, pair.old, old)
        names += [each for each in undeclared(pair.library, pair.new, new) if each not in names]
        plain = {"abistore": ask_abistore(old, new), "abidiff": ask_abidiff(old, new)}
        types = [each for each in plain["abistore"].types if not is_defined(each, pair.library, pair.old)]
        if not names and not types:
            return Judged(pair, plain, plain)
        accepted = Path(folder) / "undeclared.ini"
        accepted.write_text(
            "".join(_accepted(name) for name in names) + "".join(_accepted_type(name) for name in types)
        )
        return Judged(
            pair, plain, {"abistore": ask_abistore(old, new, accepted), "abidiff": ask_abidiff(old, new, accepted)}
        )


def _accepted(symbol: str) -> str:
    return "".join(
        f"[{kind}]\nlabel = no installed header declares it\nsymbol_name = {symbol}\n\n"
        for kind in ("suppress_function", "suppress_variable")
    )


def _accepted_type(name: str) -> str:
    return f"[suppress_type]\nlabel = no installed header defines it\nname = {name}\n\n"


def ask_abistore(old: Path, new: Path, accepted: Path | None = None) -> Answer:
    """The verdict, and the kinds of its breaking changes."""
    words = [sys.executable, "-m", "abistore", "compare", "--json", old, new]
    done = subprocess.run([*map(str, words), *(["--suppress", str(accepted)] if accepted else [])], capture_output=True)
    if done.returncode not in (0, 2, 4):
        raise Missing(f"abistore compare {old} {new}: exit {done.returncode}\n{done.stdout.decode()[-800:]}")
    document = json.loads(done.stdout)
    breaking = [each for each in document["changes"] if each["impact"] == "breaking"]
    causes = {f"{each['kind']} {each['symbol']}" for each in breaking}
    types = {each["symbol"] for each in _all(document["changes"]) if each["subject"] in ("record", "enum", "alias")}
    return Answer(document["verdict"], document["verdict"] == "BREAKING", tuple(sorted(causes)), tuple(sorted(types)))


def _all(changes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The changes and what follows from them."""
    for each in changes:
        yield each
        yield from _all(each["consequences"])


def ask_abidiff(old: Path, new: Path, accepted: Path | None = None) -> Answer:
    """Its exit code's own answer: bit 4, a change; bit 8, an incompatible one."""
    words = [require("abidiff", "abigail-tools"), *(["--suppressions", str(accepted)] if accepted else []), old, new]
    done = subprocess.run([*map(str, words)], capture_output=True)
    if done.returncode & 3:
        raise Missing(f"abidiff {old} {new}: exit {done.returncode}\n{done.stderr.decode()[-800:]}")
    word = "incompatible" if done.returncode & INCOMPATIBLE else "change" if done.returncode else "none"
    return Answer(word, bool(done.returncode & INCOMPATIBLE))
