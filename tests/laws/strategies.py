"""Hypothesis strategies for names, type references, every shape, and whole snapshots."""

from __future__ import annotations

from datetime import UTC
from typing import get_args

import msgspec
from hypothesis import strategies as st

from abistore.model.declarations import FACETS, SELF, Argument, Declared, InlineBody, Kind, Meaning, Name, Trait, Uses
from abistore.model.names.qualified import qualified
from abistore.model.shapes import (
    VOID,
    Access,
    Alias,
    AnyShape,
    Array,
    Base,
    ElfLibrary,
    ElfSymbol,
    Enum,
    Enumerator,
    Field,
    Foreign,
    Function,
    Import,
    Inline,
    Library,
    MemberPointer,
    Method,
    Named,
    Opaque,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    Symbol,
    TypeRef,
    Variable,
    VirtualMethod,
)
from abistore.model.snapshot import (
    Evidence,
    Exported,
    HeaderFolder,
    HeadersRead,
    Location,
    Provenance,
    Snapshot,
    Target,
    Variants,
    sort_variants,
)

identifiers = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True)
spellings = st.one_of(
    identifiers, st.lists(identifiers, min_size=2, max_size=3).map("::".join), st.text(min_size=1, max_size=8)
)
"""Mostly what a compiler writes, now and then any text at all."""

type_names = st.builds(Name, st.sampled_from(["record", "enum", "alias"]), spellings)
record_names = st.builds(Name, st.just("record"), spellings)
accesses = st.sampled_from(get_args(Access))
sizes = st.integers(0, 1 << 40)
offsets = st.integers(0, 1 << 43)
alignments = st.none() | st.sampled_from([1, 2, 4, 8, 16, 64])

primitives = st.sampled_from(
    [
        VOID,
        Primitive("char", 1),
        Primitive("short", 2),
        Primitive("int", 4),
        Primitive("unsigned long", 8),
        Primitive("double", 8),
    ]
)
leaves: st.SearchStrategy[TypeRef] = st.one_of(primitives, st.builds(Named, type_names), st.builds(Special, spellings))


def _tuples(of: st.SearchStrategy[TypeRef], most: int = 3) -> st.SearchStrategy[tuple[TypeRef, ...]]:
    return st.lists(of, max_size=most).map(tuple)


def _qualified(target: st.SearchStrategy[TypeRef]) -> st.SearchStrategy[TypeRef]:
    names = st.sets(st.sampled_from(["atomic", "const", "restrict", "volatile"]), min_size=1, max_size=2)
    return st.builds(lambda reference, chosen: qualified(reference, tuple(chosen)), target, names)


def _nested(inner: st.SearchStrategy[TypeRef]) -> st.SearchStrategy[TypeRef]:
    return st.one_of(
        st.builds(Pointer, inner, st.sampled_from(["*", "&", "&&"])),
        st.builds(Array, inner, st.none() | st.integers(0, 1 << 33), st.booleans()),
        _qualified(inner),
        st.builds(Procedure, inner, _tuples(inner), st.booleans()),
        st.builds(MemberPointer, st.builds(Named, record_names), inner),
        st.builds(Inline, records(inner) | enums),
    )


def fields(of: st.SearchStrategy[TypeRef]) -> st.SearchStrategy[Field]:
    """One data member of a type drawn from ``of``."""
    return st.builds(Field, identifiers | st.just(""), of, offsets, st.none() | st.integers(1, 64), accesses)


def records(of: st.SearchStrategy[TypeRef]) -> st.SearchStrategy[Record]:
    """A record whose members' types are drawn from ``of``; its numbers need not add up."""
    virtuals = st.builds(
        VirtualMethod, spellings, spellings, st.none() | st.integers(0, 99), of, _tuples(of), st.booleans(), accesses
    )
    return st.builds(
        Record,
        sort=st.sampled_from(["struct", "class", "union"]),
        size=sizes,
        fields=st.lists(fields(of), max_size=3).map(tuple),
        bases=st.lists(st.builds(Base, of, st.none() | offsets, st.booleans(), accesses), max_size=2).map(tuple),
        virtuals=st.lists(virtuals, max_size=2).map(tuple),
        alignment=alignments,
        passing=st.sampled_from([None, "value", "reference"]),
        deleted=st.lists(spellings, max_size=2).map(tuple),
        arguments=_tuples(of, 2),
        has_vptr=st.booleans(),
    )


enums = st.builds(
    Enum,
    size=st.sampled_from([1, 2, 4, 8, 16]),
    enumerators=st.lists(st.builds(Enumerator, identifiers, st.integers(-(1 << 127), (1 << 128) - 1)), max_size=3).map(
        tuple
    ),
    underlying=st.none() | primitives,
    scoped=st.booleans(),
)

type_references: st.SearchStrategy[TypeRef] = st.recursive(leaves, _nested, max_leaves=6)


def _sorted(*words: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.sets(st.sampled_from(words)).map(lambda found: tuple(sorted(found)))


methods = st.builds(
    Method,
    owner=record_names,
    access=accesses,
    static=st.booleans(),
    virtual=st.sampled_from(["no", "virtual", "pure"]),
    slot=st.none() | st.integers(0, 99),
    qualifiers=st.sampled_from([(), ("const",), ("const", "volatile")]),
    reference=st.sampled_from(["", "&", "&&"]),
    explicit=st.booleans(),
    deleted=st.booleans(),
    defaulted=st.booleans(),
)
symbols = st.builds(
    Symbol,
    type=st.sampled_from(["function", "data", "thread_local", "unknown"]),
    weak=st.booleans(),
    size=sizes,
    version=st.none() | identifiers,
    default=st.booleans(),
    ordinal=st.none() | st.integers(0, 1 << 16),
    forwarded_to=st.none() | identifiers,
    elf=st.none() | st.builds(ElfSymbol, *(st.booleans() for _ in ElfSymbol.__struct_fields__)),
)
imports = st.builds(Import, st.booleans(), st.none() | identifiers, st.none() | identifiers)
libraries = st.builds(
    Library,
    file_kind=st.sampled_from(["shared", "executable", "relocatable", "archive"]),
    name=st.none() | identifiers,
    needed=st.lists(identifiers, max_size=3).map(tuple),
    protections=_sorted("full RELRO", "FORTIFY", "IBT"),
    weaknesses=_sorted("executable stack", "text relocations"),
    elf=st.none()
    | st.builds(ElfLibrary, version_requirements=st.lists(st.tuples(identifiers, identifiers), max_size=2).map(tuple)),
    features=st.lists(identifiers, max_size=2).map(tuple),
)
functions = st.builds(
    Function,
    display=spellings,
    result=type_references,
    parameters=_tuples(type_references),
    variadic=st.booleans(),
    noreturn=st.booleans(),
    prototyped=st.booleans(),
    calling_convention=st.none() | identifiers,
    method=st.none() | methods,
)
variables = st.builds(Variable, spellings, type_references, st.none() | record_names, accesses)
opaques = st.builds(Opaque, st.sampled_from(["struct", "class", "union", "enum"]))
foreigns = st.builds(
    Foreign,
    st.sampled_from(["struct", "class", "union", "enum"]),
    st.none() | sizes,
    alignments,
    _tuples(type_references),
)
aliases = st.builds(Alias, type_references)
_arguments = st.lists(st.builds(Argument, identifiers, st.none() | identifiers), max_size=2).map(tuple)
declared = st.builds(
    Declared,
    traits=st.sets(st.sampled_from(get_args(Trait))).map(lambda found: tuple(sorted(found))),
    parameters=_arguments,
    value=st.none() | identifiers,
    body=st.none() | st.builds(InlineBody, identifiers, _sorted("geo::P::x"), _sorted("_ZN3geo4areaEv", "draw")),
    template=_arguments,
    requires=st.none() | spellings,
    expressions=st.lists(st.tuples(identifiers, identifiers), max_size=2).map(tuple),
    availability=_sorted("ios unavailable", "macos introduced=10.15"),
    meaning=st.none() | st.builds(Meaning, identifiers, st.booleans()),
    handed=st.just(()) | st.tuples(identifiers),
    uses=st.none() | st.builds(Uses, _sorted("geo::P::x"), _sorted("_ZN3geo4areaEv", "draw")),
)

SHAPES_OF: dict[tuple[bool, Kind], st.SearchStrategy[AnyShape]] = {
    (True, "function"): symbols,
    (True, "variable"): symbols,
    (True, "import"): imports,
    (False, "function"): functions | declared,
    (False, "variable"): variables | declared,
    (False, "record"): records(type_references) | opaques | foreigns | declared,
    (False, "enum"): enums | opaques | foreigns,
    (False, "alias"): aliases,
}
"""By (in the symbol facet, kind of the name): what an entry may hold."""

shapes: st.SearchStrategy[AnyShape] = st.one_of(libraries, *SHAPES_OF.values())


def variants(of: st.SearchStrategy[AnyShape]) -> st.SearchStrategy[Variants]:
    """One to three distinct shapes in canonical order."""
    return st.lists(of, min_size=1, max_size=3).map(sort_variants)


@st.composite
def entries(draw: st.DrawFn, symbol_facet: bool, most: int = 6) -> dict[Name, Variants]:
    """The entries of one facet."""
    kinds = st.sampled_from([kind for facet, kind in SHAPES_OF if facet is symbol_facet])
    names = draw(st.lists(st.builds(Name, kinds, spellings), unique=True, max_size=most))
    found = {name: draw(variants(SHAPES_OF[symbol_facet, name.kind])) for name in names}
    if symbol_facet:
        found[SELF] = (draw(libraries),)
    return found


targets = st.builds(
    Target,
    format=st.just("elf"),
    machine=st.sampled_from(["x86_64", "i386", "aarch64"]),
    bits=st.sampled_from([32, 64]),
    endianness=st.sampled_from(["little", "big"]),
)
evidence = st.builds(
    Evidence,
    facet=st.sampled_from(FACETS),
    state=st.sampled_from(["full", "partial", "missing"]),
    reason=identifiers,
    detail=st.text(max_size=5),
    described=st.integers(0, 99),
)
provenances = st.builds(
    Provenance,
    file=st.text(max_size=5),
    sha256=identifiers,
    size=sizes,
    build_id=st.none() | identifiers,
    compilers=st.lists(st.text(max_size=5), max_size=2).map(tuple),
    headers=st.just(msgspec.UNSET)
    | st.builds(
        HeadersRead,
        files=st.lists(identifiers, max_size=2).map(tuple),
        given=st.lists(identifiers, max_size=2).map(tuple),
        folders=st.lists(
            st.builds(HeaderFolder, given=st.tuples(identifiers), beside=st.tuples(identifiers)), max_size=2
        ).map(tuple),
    ),
)


exports = st.builds(
    Exported,
    profile=st.none() | identifiers,
    released=st.none() | st.datetimes(timezones=st.just(UTC)),
    revision=st.none() | identifiers,
    url=st.none() | identifiers,
)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """A snapshot whose facets, names and shapes fit each other; its references may name what has no entry."""
    held = {facet: draw(entries(facet == "symbol")) for facet in draw(st.sets(st.sampled_from(FACETS)))}
    names = [name for facet in held.values() for name in facet]
    places = st.dictionaries(st.sampled_from(names), st.builds(Location, st.text(max_size=5), st.integers(0, 99)))
    return Snapshot(
        library=draw(identifiers),
        version=draw(st.none() | identifiers),
        target=draw(targets),
        entries=held,
        evidence=tuple(draw(st.lists(evidence, max_size=2))),
        provenance=draw(provenances),
        locations=draw(places) if names else {},
        exported=draw(st.none() | exports),
    )


# --- types that a declarator can write ----------------------------------------------------------------------------

_OBJECTS: st.SearchStrategy[TypeRef] = st.sampled_from(
    [
        Primitive("char", 1),
        Primitive("unsigned long", 8),
        Named(Name("record", "geo::P")),
        Named(Name("record", "geo::Map<int, const geo::P*>")),
    ]
)


def _declarable(inner: st.SearchStrategy[TypeRef]) -> st.SearchStrategy[TypeRef]:
    """Pointers, arrays, functions as the language allows them: no array of references or functions."""
    values = inner.filter(lambda type: not isinstance(type, Procedure) and not _is_reference(type))
    returned = values.filter(lambda type: not isinstance(type, Array | Qualified))
    functions = st.builds(
        Procedure, returned, _tuples(values.filter(lambda type: not isinstance(type, Array))), st.booleans()
    )
    owner = st.just(Named(Name("record", "geo::P")))
    called_on = st.sampled_from([("&",), ("&&",), ("const",), ("&", "const"), ("&&", "const", "volatile")])
    return st.one_of(
        st.builds(Pointer, inner.filter(lambda type: not _is_reference(type)), st.sampled_from(["*", "&", "&&"])),
        st.builds(Array, values, st.none() | st.integers(1, 9)),
        st.builds(qualified, values, st.sampled_from([("const",), ("const", "volatile"), ("volatile",)])),
        functions,
        st.builds(MemberPointer, owner, inner.filter(lambda type: not _is_reference(type))),
        st.builds(MemberPointer, owner, st.builds(Qualified, functions, called_on)),
    )


def _is_reference(type: TypeRef) -> bool:
    return isinstance(type, Pointer) and type.sort != "*"


declarable_types: st.SearchStrategy[TypeRef] = st.recursive(_OBJECTS, _declarable, max_leaves=5)
"""Types that C++ can spell, so that their spelling says all about them."""
