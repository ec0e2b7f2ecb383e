"""Whether headers describe the library that they are given for: they declare some of what it exports, or call it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from abistore.extract.facets import FacetReading
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.emitted import class_behind
from abistore.model.cpp_names.qualified import entity, scope
from abistore.model.declared import Declared
from abistore.model.mangling.symbols import is_mangled, primary
from abistore.model.names import EXPORTS, Name
from abistore.model.snapshot import NO_EXPORT_DECLARED, Snapshot, Variants
from abistore.model.words.counting import counted


def weighed(reading: FacetReading, binary: Snapshot) -> FacetReading:
    """The reading of headers, which is partial evidence if they have nothing to do with what ``binary`` exports.

    They may be those of another library, or an entry to headers that lie elsewhere: what is undeclared is not private.
    """
    exports = [name.spelling for name in binary.entries.get("symbol", ()) if name.kind in EXPORTS]
    seen = reading.evidence
    if seen.state != "full" or not exports or _describe(reading.entries, exports):
        return reading
    partial = msgspec.structs.replace(
        seen,
        state="partial",
        reason=NO_EXPORT_DECLARED,
        detail=f"the given headers declare none of {counted(len(exports), 'export')}",
        hint="name the headers that programs include, or their folder, with --header",
        described=0,
    )
    return msgspec.structs.replace(reading, evidence=partial)


def _describe(entries: Mapping[Name, Variants], exports: list[str]) -> bool:
    texts = {name.spelling: [each for each in shapes if isinstance(each, Declared)] for name, shapes in entries.items()}
    declared = {spelling for spelling, found in texts.items() if found}
    code = (part for found in texts.values() for each in found for part in (each.body, each.uses) if part)
    known = declared.union(*(part.calls for part in code))
    if any(each in known or primary(each) in known for each in exports):
        return True
    plain = {each.partition("(")[0].partition("<")[0] for each in declared}
    return any(not plain.isdisjoint(_scopes(each)) for each in exports if is_mangled(each))


def _scopes(export: str) -> Iterator[str]:
    """What a C++ export is called without template arguments, and the class or namespace that it stands in."""
    name = class_behind(export) or entity(demangle(export))
    yield name.partition("<")[0]
    yield scope(name).partition("<")[0]
