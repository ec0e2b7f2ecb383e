"""Public headers that do not include all that they did."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.diff.parts import HeaderIncludes
from abistore.model.deltas import Removed, Subject
from abistore.model.names import SELF
from abistore.model.snapshot import INCLUDES, HeadersRead


def fewer_includes(old: HeadersRead, new: HeadersRead) -> Iterator[Removed[HeaderIncludes]]:
    """For each header of both sides that includes less: what it includes no longer."""
    if not all(INCLUDES in read.facts for read in (old, new)):
        return
    after = {each.file: each.includes for each in new.outlines}
    left = (*old.set_aside, *new.set_aside, *old.others, *new.others)
    shared = set(old.files).intersection(new.files).difference(left)
    for each in old.outlines:
        gone = tuple(file for file in each.includes if file not in after.get(each.file, ()))
        if gone and each.file in shared:
            yield Removed(Subject(SELF, each.file), HeaderIncludes(each.file, gone))
