"""What headers declare in namespaces that say that they are internal."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.diff.parts import SourceBreak
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Changed
from abistore.model.findings import Impact


@rule(Impact.RISK, variant="own", evidence="source", element="functions", action="changed")
def declaration_changed_own(declared: Changed[SourceBreak]) -> Iterator[Note]:
    """A declaration that only the library is to name is gone, or differs so that sources may not compile.

    It stands in a namespace such as ``detail``: no public declaration derives from it, takes, returns or renames it, no
    header but its own specialises it, and no call finds it by its arguments. Or C reserves its name (``__geo_open``),
    and no macro stands for it. Built programs have what they were compiled with. Sources that name it stop compiling.

    Fix: nothing, unless programs were told to name it.
    """
    yield Note(declared.old.what, declared.old.value, declared.new.value)
