"""Declarations in headers of the same text: where errors hide what they depend on, they are unknown, never changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from abistore.compare.context import Context
from abistore.compare.diff.headers.given import read_otherwise
from abistore.model.declared import Declared
from abistore.model.names import EXPORTS, Name
from abistore.model.references import references
from abistore.model.shapes import Opaque
from abistore.model.snapshot import HeaderDigest, HeadersRead, Variants


class SameTexts(msgspec.Struct, frozen=True):
    """The headers that say the same on both sides, with all that they include; ``all`` where every header does."""

    files: frozenset[str]
    all: bool


def is_of_same_text(context: Context, name: Name) -> bool:
    """Whether identical headers declare a name that errors on one side keep from being read.

    What it is made of may have changed all the same, where both sides read that in headers of others.
    """
    same = context.once(_same_texts)
    return bool(same.files) and _is_held(context, same, name) and not _rests_on_changed(context, same, name)


def _same_texts(context: Context) -> SameTexts:
    sides = context.old.snapshot, context.new.snapshot
    reads = [each.provenance.headers for each in sides]
    nothing = SameTexts(frozenset(), all=False)
    if all(each.evidence_of("source").declares_all for each in sides) or read_otherwise(context.old, context.new):
        return nothing
    if not all(isinstance(each, HeadersRead) and each.texts for each in reads):
        return nothing
    old, new = (each for each in reads if isinstance(each, HeadersRead))
    before, after = (_Closures(each) for each in (old, new))
    files = frozenset(each for each in before.texts if each in after.texts and _says_same(before, after, each))
    return SameTexts(files, all=old.files == new.files and files.issuperset(old.files))


class _Closures:
    """What is read with each header of one side."""

    def __init__(self, read: HeadersRead) -> None:
        self.files = frozenset(read.files)
        self.texts: Mapping[str, HeaderDigest] = {each.file: each for each in read.texts}
        self._includes = {each.file: each.includes for each in read.outlines}

    def of(self, file: str) -> frozenset[str]:
        """A header, and the library's headers that it includes."""
        found, pending = {file}, [file]
        while pending:
            each = pending.pop()
            behind = self.texts[each].behind if each in self.texts else ()
            more = {*self._includes.get(each, ()), *behind} - found
            found |= more
            pending += more
        return frozenset(found)


def _says_same(old: _Closures, new: _Closures, file: str) -> bool:
    """Whether no header has another text that a header leads to; one that a side alone reads may have none."""
    for each in old.of(file) | new.of(file):
        before, after = old.texts.get(each), new.texts.get(each)
        if before is None or after is None:
            if each in old.files | new.files:
                return False
        elif before.digest != after.digest:
            return False
    return True


def _is_held(context: Context, same: SameTexts, name: Name) -> bool:
    """Whether a name is declared in these headers alone; debug information may know another place for it."""
    if same.all:
        return _is_declared(context, name) or _is_hidden(context, name)
    places = [side.files.get(name) for side in (context.old, context.new)]
    return any(places) and all(place is None or place in same.files for place in places)


def _is_declared(context: Context, name: Name) -> bool:
    """Whether a name stands in public headers, or is an instance of a template that does."""
    if name.kind in EXPORTS or any(name in side.snapshot.locations for side in (context.old, context.new)):
        return True
    return "<" in name.spelling and _plain(name.spelling) in context.once(_templates)


def _templates(context: Context) -> frozenset[str]:
    """The class templates that a side declares, or has specializations of."""
    sides = context.old.snapshot, context.new.snapshot
    return frozenset(
        _plain(name.spelling)
        for side in sides
        for name in side.locations
        if any("template" in each.traits for each in side.variants("source", name) if isinstance(each, Declared))
    )


def _plain(spelling: str) -> str:
    return spelling.partition("<")[0]


def _is_hidden(context: Context, name: Name) -> bool:
    """Whether one side knows no definition of what headers of others define."""
    return not all(_is_whole(side.variants("source", name)) for side in (context.old, context.new))


def _is_whole(shapes: Variants) -> bool:
    return any(not isinstance(each, Opaque) for each in shapes)


def _rests_on_changed(context: Context, same: SameTexts, name: Name) -> bool:
    """Whether what a declaration mentions, directly or not, changed in headers of others that both sides read."""
    seen, pending = {name}, [name]
    while pending:
        for each in {found for found in _mentioned(context, pending.pop()) if found not in seen}:
            seen.add(each)
            pending.append(each)
            before, after = (side.variants("source", each) for side in (context.old, context.new))
            if before != after and not _is_held(context, same, each):
                return True
    return False


def _mentioned(context: Context, name: Name) -> Iterator[Name]:
    for side in (context.old, context.new):
        for shape in side.variants("source", name):
            yield from (each for each, _ in references(shape, name))
