"""Skip lists of ABI Compliance Checker: one name of a symbol or type a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from abistore.compare.policies.conditions import Condition, SymbolIs, SymbolMatches, TypeIs, TypeMatches
from abistore.compare.policies.expressions import Expression, glob
from abistore.compare.policies.formats.documents import MOST_ENTRIES
from abistore.compare.policies.formats.selecting import type_name
from abistore.compare.policies.suppression import Suppression
from abistore.errors import PolicyError

Listed: TypeAlias = Literal["symbols", "types"]
"""What a skip list names; the files do not tell."""


def read_skip_list(path: Path, text: str, listed: Listed) -> Iterator[Suppression]:
    """The entries of a skip list (``-skip-symbols``, ``-skip-types``). Raises :class:`PolicyError`.

    ``*`` stands for any characters, ``#`` begins a comment line. A symbol version (``name@@VER``) is left out: the
    list skips a symbol in all of its versions.
    """
    entries = 0
    for number, line in enumerate(text.splitlines(), 1):
        name = line.strip()
        if name and not name.startswith("#"):
            entries += 1
            if entries > MOST_ENTRIES:
                raise PolicyError(f"{path}: line {number}: more than {MOST_ENTRIES:,} names", "split the list")
            if not name.isprintable():
                raise PolicyError(f"{path}: line {number}: not a name", "write one name a line")
            where = f"{path.name}, line {number}"
            yield Suppression(where, (_condition(name, listed),), reason=f"on the skip list {path.name}")


def _condition(name: str, listed: Listed) -> Condition:
    if listed == "types":
        return TypeMatches((_anything(name),)) if "*" in name else TypeIs((type_name(name),))
    name = name.partition("@")[0]
    return SymbolMatches((_anything(name),)) if "*" in name and "operator*" not in name else SymbolIs((name,))


def _anything(name: str) -> Expression:
    return glob(name.replace("*", "**"), "\n")
