"""Random histories of a library whose declarations have to do with each other, made from a seed.

Names are few, so that references meet them: records embed, point to and derive from each other, exports come and go,
types are renamed, headers are public and private, and some releases are stripped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import msgspec

from abistore.model.declarations import SELF, Argument, Declared, Facet, Name
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Array,
    Base,
    ElfLibrary,
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
    SymbolType,
    TypeRef,
    Variable,
    VirtualMethod,
    elf_symbol,
)
from abistore.model.snapshot import Evidence, Location, Provenance, Snapshot, Target, Variants, sort_variants

TARGET = Target("elf", "x86_64", 64, "little")
CLASSES = ("P", "Q", "lib::v1::S", "lib::v2::S", "lib::T", "run()::Own", "std::vector<P>", "ctx", "item", "pair<int>")
RECORDS = tuple(Name("record", each) for each in (*CLASSES, "std::unique_ptr<P>", "va", "vb"))
ENUMS = tuple(Name("enum", each) for each in ("color", "lib::mode", "flags"))
ALIASES = tuple(Name("alias", each) for each in ("item_t", "ctx_t", "number", "P_ptr", "callback", "size"))
TYPES = (*RECORDS, *ENUMS, *ALIASES)
MEMBERS = {
    **{f"_ZN1P{each}": ("P", shown) for each, shown in (("C1Ev", "P"), ("C2Ev", "P"), ("D1Ev", "~P"), ("D2Ev", "~P"))},
    **{"_ZN1PC1ERKS_": ("P", "P"), "_ZN1P3getEv": ("P", "get"), "_ZNK1P3getEv": ("P", "get")},
    **{"_ZN1Q3runEi": ("Q", "run"), "_ZN1QD1Ev": ("Q", "~Q"), "_ZThn16_N1Q3runEi": ("Q", "run")},
    **{f"_ZN3lib2v{n}1S3{m}Ev": (f"lib::v{n}::S", m) for n in "12" for m in ("get", "set", "put")},
    **{"_ZN3lib1TC1Ev": ("lib::T", "T"), "_ZN3lib1TC2Ev": ("lib::T", "T"), "_ZN4pairIiE3getEv": ("pair<int>", "get")},
}
FUNCTIONS = (
    *(Name("function", each) for each in MEMBERS),
    *(Name("function", f"{each}_ctx") for each in ("open", "close", "free", "list", "walk")),
    *(Name("function", f"{each}_item") for each in ("open", "free", "next", "fill")),
    *(Name("function", f"use_{n}") for n in range(6)),
    *(Name("function", f"old_{each}") for each in ("a", "b", "c")),
    *(Name("function", f"new_{each}") for each in ("a", "b", "c")),
    *(Name("function", each) for each in ("_Z3addii", "_Z3addi", "_ZN3lib5scaleEi", "_ZNSt6vectorI1PE4pushEv")),
)
VARIABLES = tuple(
    Name("variable", each)
    for each in ("table", "version", "_ZTV1P", "_ZTI1P", "_ZTS1P", "_ZTV1Q", "_ZTI1Q", "_ZTVN3lib1TE", "_ZN1P5countE")
)
EXPORTS = (*FUNCTIONS, *VARIABLES)
FILES = (
    *("include/lib/api.h", "include/lib/more.h", "src/internal.h", "src/own.h", "include/private/deep.h"),
    *("src/a.c", "src/b.c", "lib.c", "/usr/include/stdio.h", "api.h", "detail_private.h"),
)
TOOLS = (("GNU C17 12.2.0 -O2 -fPIC",), ("clang version 14.0.6",), ())
INT, LONG, CHAR = Primitive("int", 4), Primitive("long", 8), Primitive("char", 1)
NUMBERS = (INT, LONG, CHAR, Primitive("unsigned int", 4), Primitive("unsigned long", 8), Primitive("double", 8))


def history(seed: int, releases: int) -> list[Snapshot]:
    """So many releases, each made from the one before."""
    random = Random(seed)
    made = [_library(random)]
    whole = made[0]
    while len(made) < releases:
        whole = _evolved(random, whole)
        made.append(_stripped(whole) if random.random() < 0.1 else whole)
    return [msgspec.structs.replace(each, version=f"1.{number}") for number, each in enumerate(made)]


# --- one release ----------------------------------------------------------------------------------------------------


def _library(random: Random) -> Snapshot:
    names = [name for name in (*TYPES, *EXPORTS) if random.random() < 0.7]
    exports = [name for name in names if name in EXPORTS]
    symbols: dict[Name, Variants] = {name: _symbols(random, name) for name in exports}
    symbols[SELF] = (_library_shape(random),)
    symbols.update({Name("import", each): (Import(random.random() < 0.3),) for each in ("malloc", "free", "pow")})
    described = [name for name in names if name not in exports or random.random() < 0.9]
    entries: dict[Facet, dict[Name, Variants]] = {
        "symbol": symbols,
        "layout": {name: _declared(random, name) for name in described},
    }
    if random.random() < 0.4:
        entries["source"] = {name: (_text(random),) for name in described if random.random() < 0.6}
    places = {name: Location(random.choice(FILES), random.randrange(99)) for name in described}
    return _snapshot(random, entries, {name: each for name, each in places.items() if random.random() < 0.9})


def _snapshot(random: Random, entries: dict[Facet, dict[Name, Variants]], places: dict[Name, Location]) -> Snapshot:
    evidence = tuple(Evidence(facet, "partial" if random.random() < 0.1 else "full") for facet in entries)
    languages = (random.choice(("C11", "C_plus_plus_14")),)
    provenance = Provenance("lib.so", compilers=random.choice(TOOLS), languages=languages)
    return Snapshot("lib", None, TARGET, entries, evidence, provenance, places)


def _stripped(snapshot: Snapshot) -> Snapshot:
    return msgspec.structs.replace(
        snapshot,
        entries={"symbol": snapshot.entries["symbol"]},
        evidence=(Evidence("symbol", "full"), Evidence("layout", "missing", "no-debug-info")),
        locations={},
    )


def _library_shape(random: Random) -> Library:
    nodes = tuple(node for node in ("LIB_1", "LIB_2") if random.random() < 0.5)
    needed = tuple(each for each in ("libc.so.6", "libm.so.6") if random.random() < 0.8)
    elf = ElfLibrary(version_definitions=nodes) if nodes else None
    return Library("shared", random.choice(("lib.so.1", "lib.so.2")), needed, elf=elf)


def _symbols(random: Random, name: Name) -> Variants:
    code: tuple[SymbolType, ...] = ("function", "function", "function", "ifunc")
    kinds: tuple[SymbolType, ...] = ("object",) if name.kind == "variable" else code
    made = [
        msgspec.structs.replace(
            elf_symbol(random.choice(kinds), random.choice(("global", "global", "weak")), "default"),
            size=random.choice((0, 8, 24, 40)) if name.kind == "variable" else 0,
            version=version,
            default=number == 0,
        )
        for number, version in enumerate(random.choice(((None,), (None,), ("LIB_1",), ("LIB_2",), ("LIB_1", "LIB_2"))))
    ]
    return sort_variants(made)


# --- declarations ---------------------------------------------------------------------------------------------------


def _declared(random: Random, name: Name) -> Variants:
    makers: dict[str, Callable[[Random, Name], AnyShape]] = {
        "record": _record,
        "enum": _enum,
        "alias": _alias,
        "function": _function,
        "variable": _variable,
    }
    many = 2 if name.kind == "record" and random.random() < 0.05 else 1
    return sort_variants(makers[name.kind](random, name) for _ in range(many))


def _record(random: Random, name: Name) -> AnyShape:
    if name.spelling.startswith("std::"):
        return Foreign("class", random.choice((8, 24)), 8, (Named(Name("record", "P")), _type(random, 2)))
    if random.random() < 0.15:
        return Opaque("struct")
    fields = tuple(_fields(random))
    bases = tuple(
        Base(Named(random.choice(RECORDS[:5])), 0 if number == 0 else None, random.random() < 0.2)
        for number in range(random.choice((0, 0, 0, 1, 1, 2)))
    )
    virtuals = tuple(
        VirtualMethod(f"m{slot}", f"_ZN1P2m{slot}Ev", slot, _type(random), (_type(random),), random.random() < 0.2)
        for slot in range(random.choice((0, 0, 0, 1, 2, 3)))
    )
    return Record(
        random.choice(("struct", "struct", "class", "union")),
        8 * random.randrange(1, 6),
        fields,
        bases,
        virtuals,
        passing=random.choice((None, None, "value", "reference")),
        has_vptr=bool(virtuals) and random.random() < 0.7,
    )


def _fields(random: Random) -> Iterator[Field]:
    names = ["a", "b", "c", "next", "_reserved", "internal_donotuse", "size", ""]
    for number, name in enumerate(random.sample(names, random.randrange(5))):
        type = _type(random) if name else Inline(Record("union", 8, (Field("u", INT, 0), Field("w", LONG, 0))))
        yield Field(name, type, 64 * number, random.choice((None, None, None, 3)) if type == INT else None)


def _enum(random: Random, name: Name) -> AnyShape:
    if random.random() < 0.1:
        return Opaque("enum")
    values = random.sample(("RED", "GREEN", "BLUE", "LAST", "MAX_COLOR", "UNUSED1"), random.randrange(1, 5))
    return Enum(4, tuple(Enumerator(each, number) for number, each in enumerate(values)), random.choice((None, INT)))


def _alias(random: Random, name: Name) -> AnyShape:
    """Aliases stand for those before them at most: no compiler writes a circle."""
    others = (*RECORDS, *ENUMS, *ALIASES[: ALIASES.index(name)])
    target: TypeRef = Named(random.choice(others)) if random.random() < 0.6 else random.choice(NUMBERS)
    return Alias(
        random.choice((target, target, Pointer(target), Pointer(Procedure(VOID, (target,))), Array(target, 2)))
    )


def _function(random: Random, name: Name) -> AnyShape:
    owner, shown = MEMBERS.get(name.spelling, ("", name.spelling))
    method = None
    parameters = tuple(_type(random) for _ in range(random.choice((0, 1, 1, 2, 3))))
    if owner:
        record = Name("record", owner)
        virtual = random.choice(("no", "no", "virtual"))
        method = Method(record, static=random.random() < 0.2, virtual=virtual, slot=0 if virtual != "no" else None)
        if name.spelling == "_ZN1PC1ERKS_":
            parameters = (Pointer(Qualified(Named(record), ("const",)), "&"),)
    return Function(f"{owner}::{shown}" if owner else shown, _type(random), parameters, method=method)


def _variable(random: Random, name: Name) -> AnyShape:
    owner = Name("record", "P") if name.spelling == "_ZN1P5countE" else None
    return Variable(name.spelling, _type(random), owner)


def _type(random: Random, depth: int = 0) -> TypeRef:
    choice = random.random()
    if choice < 0.4:
        return random.choice((*NUMBERS, VOID))
    if choice < 0.6 or depth > 2:
        return Named(random.choice(TYPES))
    inner = _type(random, depth + 1)
    if choice < 0.85:
        return Pointer(inner, random.choice(("*", "*", "*", "&")))
    if choice < 0.9:
        return Array(inner, random.choice((None, 0, 2, 4)))
    if choice < 0.94:
        return inner if isinstance(inner, Qualified) else Qualified(inner, ("const",))
    if choice < 0.98:
        return Pointer(Procedure(inner, (_type(random, depth + 1),)))
    return MemberPointer(Named(random.choice(RECORDS)), inner)


def _text(random: Random) -> Declared:
    traits = tuple(each for each in ("inline", "noexcept") if random.random() < 0.2)
    return Declared(traits, tuple(Argument(each) for each in random.sample(("x", "y"), random.randrange(2))))


# --- the next release -----------------------------------------------------------------------------------------------


def _evolved(random: Random, snapshot: Snapshot) -> Snapshot:
    """A few declarations differ, come, go or change their names; everything stands some lines lower."""
    entries = {facet: dict(held) for facet, held in snapshot.entries.items()}
    places = {name: Location(place.file, place.line + 3) for name, place in snapshot.locations.items()}
    for _ in range(random.choice((0, 1, 1, 2, 3, 8))):
        random.choice((_alter, _alter, _alter, _drop, _add, _rename, _move, _respell))(random, entries, places)
    changed = msgspec.structs.replace(snapshot, entries=entries, locations=places)
    return changed if random.random() < 0.95 else _snapshot(random, entries, places)


Entries = dict[Facet, dict[Name, Variants]]


def _alter(random: Random, entries: Entries, places: dict[Name, Location]) -> None:
    facet = random.choice(sorted(entries))
    name = random.choice(sorted(entries[facet]))
    entries[facet][name] = _other(random, facet, name)


def _other(random: Random, facet: Facet, name: Name) -> Variants:
    if facet == "source":
        return (_text(random),)
    if facet == "layout":
        return _declared(random, name)
    if name == SELF:
        return (_library_shape(random),)
    return (Import(random.random() < 0.5),) if name.kind == "import" else _symbols(random, name)


def _drop(random: Random, entries: Entries, places: dict[Name, Location]) -> None:
    name = random.choice((*TYPES, *EXPORTS))
    facets = [facet for facet in entries if name in entries[facet]]
    for facet in facets if random.random() < 0.7 else facets[:1]:
        del entries[facet][name]


def _add(random: Random, entries: Entries, places: dict[Name, Location]) -> None:
    for name in random.sample((*TYPES, *EXPORTS), random.choice((1, 1, 4))):
        if name in EXPORTS:
            entries["symbol"].setdefault(name, _symbols(random, name))
        if random.random() < 0.9:
            entries["layout"].setdefault(name, _declared(random, name))
            places[name] = Location(random.choice(FILES), random.randrange(99))


def _move(random: Random, entries: Entries, places: dict[Name, Location]) -> None:
    if places:
        places[random.choice(sorted(places))] = Location(random.choice(FILES), random.randrange(99))


def _rename(random: Random, entries: Entries, places: dict[Name, Location]) -> None:
    """A type that everything mentions by another name from now on."""
    old, new = random.sample(random.choice((RECORDS, ENUMS)), 2)
    layout = entries["layout"]
    if old in layout and new not in layout:
        layout[new] = layout.pop(old)
        for name in list(layout):
            layout[name] = sort_variants(_renamed(shape, old, new) for shape in layout[name])


def _renamed(shape: AnyShape, old: Name, new: Name) -> AnyShape:
    text = msgspec.json.encode(shape)
    found: AnyShape = msgspec.json.decode(text.replace(_quoted(old), _quoted(new)), type=AnyShape)
    return found


def _quoted(name: Name) -> bytes:
    return msgspec.json.encode(name)


def _respell(random: Random, entries: Entries, places: dict[Name, Location]) -> None:
    """Exports that all change their names in one way."""
    before, after = random.choice((("old_", "new_"), ("new_", "old_"), ("v1", "v2"), ("v2", "v1")))
    for facet in ("symbol", "layout"):
        held = entries[facet]
        for name in [each for each in held if before in each.spelling and each.kind == "function"]:
            held.setdefault(Name("function", name.spelling.replace(before, after)), held[name])
            del held[name]
