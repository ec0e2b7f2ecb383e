"""Every fact that a snapshot can hold, changed alone: a finding tells of it, or it is named here with its reason."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import (
    SELF,
    Abilities,
    Argument,
    Declared,
    InlineBody,
    Instance,
    Meaning,
    Name,
    Replacement,
    Uses,
    WrittenBase,
)
from abistore.model.shapes import (
    VOID,
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
    MachoLibrary,
    MachoSymbol,
    MemberPointer,
    Method,
    Named,
    Opaque,
    PeLibrary,
    PeSymbol,
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
from abistore.model.snapshot import Evidence, Snapshot, Target
from abistore.model.snapshot_files import from_json, to_json
from tests.subjects import assert_each

INT, DOUBLE, LONG = Primitive("int", 4), Primitive("double", 8), Primitive("long", 8)
OWNER, PLAIN, BASE = Name("record", "owner"), Name("record", "plain"), Name("record", "base")
ENUM, ALIAS, OPAQUE = Name("enum", "choice"), Name("alias", "number"), Name("record", "handle")
FOREIGN, UNION = Name("record", "std::array<int, 2>"), Name("record", "either")
FUNCTION, METHOD, VARIABLE = Name("function", "act"), Name("function", "_ZN5owner3actEv"), Name("variable", "state")

LAYOUT: dict[Name, AnyShape] = {
    PLAIN: Record(
        "struct",
        64,
        (
            Field("first", INT, 0),
            Field("bits", Primitive("unsigned int", 4), 32, 3, "public"),
            Field("second", Pointer(INT), 64, None, "protected", True),
            Field("inner", Inline(Record("union", 8, (Field("one", LONG, 0), Field("two", DOUBLE, 0)))), 128),
            Field("kind", Inline(Enum(4, (Enumerator("ON", 0), Enumerator("OFF", 1)), INT)), 192),
            Field("list", Array(INT, 4), 224),
            Field("last", LONG, 384),
        ),
        alignment=8,
        passing="value",
        deleted=("plain(const plain&)",),
        arguments=(INT,),
    ),
    BASE: Record("class", 8, (Field("own", INT, 0),), passing="value"),
    OWNER: Record(
        "class",
        24,
        (Field("held", LONG, 128),),
        (Base(Named(BASE), 64, False, "protected"),),
        (
            VirtualMethod("act", "_ZN5owner4actvEv", 0, INT, (INT,), False, "protected"),
            VirtualMethod("~owner", "", 1, VOID),
        ),
        passing="reference",
        has_vptr=True,
    ),
    UNION: Record("union", 8, (Field("one", INT, 0), Field("two", DOUBLE, 0))),
    ENUM: Enum(4, (Enumerator("NONE", 0), Enumerator("SOME", 1), Enumerator("ALL", 7)), INT),
    ALIAS: Alias(LONG),
    OPAQUE: Opaque("struct"),
    FOREIGN: Foreign("struct", 8, 4, (INT,)),
    FUNCTION: Function("act", INT, (Pointer(INT), LONG), False, False, True, "regparm"),
    METHOD: Function(
        "owner::act", INT, (LONG,), method=Method(OWNER, "protected", False, "virtual", 0, ("const",), "&", True)
    ),
    VARIABLE: Variable("owner::state", Array(LONG, 2), OWNER, "protected"),
}
"""One of each kind of declaration, with a value for all that can have one."""

SYMBOLS: dict[Name, AnyShape] = {
    FUNCTION: Symbol("function", version="V_1"),
    METHOD: Symbol("function", weak=True, elf=ElfSymbol(protected=True)),
    VARIABLE: Symbol("data", size=16, version="V_1"),
    Name("variable", "local"): Symbol("thread_local", size=8),
    Name("variable", "_ZTV5owner"): Symbol("data", size=40),
    Name("variable", "_ZTV5shape"): Symbol("data", size=32, table=("_ZN5shape4areaEv", "_ZN5shape5edgesEv")),
    Name("import", "malloc"): Import(True, "GLIBC_2.2.5", "libc.so.6"),
    SELF: Library(
        "shared",
        "libcase.so.1",
        ("libm.so.6", "libc.so.6"),
        (),
        None,
        ("FORTIFY", "IBT", "immediate binding", "partial RELRO", "stack canary"),
        (),
        ("DF_1_NODELETE", "STATIC_TLS"),
        ElfLibrary(("/opt/one",), ("V_1",), (("libc.so.6", "GLIBC_2.2.5"),)),
        MachoLibrary(
            "dylib",
            "11.0",
            ("libback.dylib",),
            (("libm.so.6", "weak"),),
            (("libm.so.6", "1.0"),),
            ("friend",),
            directives=("$ld$hide$os10.15$_act",),
        ),
    ),
}
FORMER_SOURCE: dict[Name, AnyShape] = {
    FUNCTION: Declared(("deprecated", "noexcept"), (Argument("where", "0"), Argument("amount"))),
    PLAIN: Declared(("final", "standard_layout")),
    Name("variable", "LIMIT"): Declared(("constant",), (), "10"),
    VARIABLE: Declared((), (), "3"),
}
"""What databases of schema 0008 can say of declarations."""

SOURCE: dict[Name, AnyShape] = {
    **FORMER_SOURCE,
    METHOD: Declared(
        ("inline", "template"),
        body=InlineBody("6c62272e07bb0142", ("owner::held",), ("act",), ("owner::kind", "owner::state")),
        template=(Argument("typename T"), Argument("int N", "4")),
        requires="Sortable<T>",
        availability=("macos introduced=10.15",),
        uses=Uses(("owner::held",), ("act",), ("owner::kind",)),
    ),
    BASE: Declared(abilities=Abilities(("copy", "literal"), 8)),
    ENUM: Declared(expressions=(("SOME", "1 << 0"), ("ALL", "SOME | 6"))),
    Name("variable", "NEXT"): Declared(
        ("constant", "macro"), value="(LIMIT + 1)", meaning=Meaning("11"), handed=("act",)
    ),
    Name("record", "part"): Declared(
        ("template",),
        bases=(WrittenBase("base<#0>"), WrittenBase("plain", access="private")),
        shown=("geo::detail::part",),
        instances=(Instance("part<int>", Abilities(("copy",), 4)),),
    ),
    Name("variable", "PICK"): Declared(("macro",), replacement=Replacement("6c62272e07bb0142", 2, True, ("macro",))),
}
USES: tuple[TypeRef, ...] = (
    *(Named(name) for name in (PLAIN, OWNER, UNION, ENUM, ALIAS, FOREIGN)),
    Pointer(Named(OPAQUE)),
)
USERS = {Name("function", "take"): Function("take", VOID, USES)}

# --- each fact alone ----------------------------------------------------------------------------------------------


def mutants(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """``value`` with one of its facts changed, or one of a part of it, and which."""
    for fact, hint in get_type_hints(type(value)).items():
        own = getattr(value, fact)
        for label, other in others(hint, own, f"{path}.{fact}"):
            yield label, msgspec.structs.replace(value, **{fact: other})


def others(hint: Any, own: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Values of type ``hint`` that differ from ``own`` in one fact."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint == TypeRef:
        yield from ((f"{path}={type(each).__name__}", each) for each in REFERENCES if each != own)
        if isinstance(own, Inline):
            yield from ((label, Inline(each)) for label, each in mutants(own.shape, path))
    elif origin is Literal:
        yield from ((f"{path}={each}", each) for each in arguments if each != own)
    elif origin in (Union, types.UnionType):
        if own is not None:
            yield f"{path}=None", None
        inner = Union[tuple(each for each in arguments if each is not type(None))]
        if own is not None:
            yield from others(inner, own, path)
        else:
            yield from ((f"{path}={each}", each) for each in _samples(inner))
    elif origin is tuple:
        yield from _tuples(arguments[0], own, path)
    elif hint is bool:
        yield f"{path}={not own}", not own
    elif hint is int:
        yield f"{path}+", own + 8
    elif hint is str:
        yield f"{path}=other", own + "2" if own else "other"
    elif hint is Name:
        yield f"{path}=other", Name(own.kind, "other")
    else:
        yield from mutants(own, path)


def _samples(hint: Any) -> list[Any]:
    """A few values of type ``hint``."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    found = SAMPLES[hint]
    return found[-1:] if isinstance(found, list) else [found]


def _tuples(hint: Any, own: tuple[Any, ...], path: str) -> Iterator[tuple[str, Any]]:
    if own:
        yield f"{path}-first", own[1:]
    if len(own) > 1:
        yield f"{path}-swapped", (own[1], own[0], *own[2:])
    samples = (
        ["const", "volatile"]
        if path.endswith(".qualifiers")
        else _samples(hint)
        if get_origin(hint) is Literal
        else SAMPLES[hint]
    )
    new = next(each for each in samples if each not in own) if isinstance(samples, list) else samples
    yield f"{path}+one", (*own, new)
    for index, part in enumerate(own):
        if isinstance(part, msgspec.Struct) and hint != TypeRef:
            label = getattr(part, "name", "") or str(index)
            for changed, each in mutants(part, f"{path}[{label}]"):
                yield changed, (*own[:index], each, *own[index + 1 :])
        elif hint == TypeRef:
            for changed, each in others(hint, part, f"{path}[{index}]"):
                yield changed, (*own[:index], each, *own[index + 1 :])


REFERENCES: tuple[TypeRef, ...] = (
    DOUBLE,
    Named(BASE),
    Pointer(LONG),
    Pointer(Qualified(LONG, ("const",))),
    Array(INT, 8),
    Array(INT, 4, True),
    Qualified(LONG, ("volatile",)),
    Procedure(VOID, ()),
    MemberPointer(Named(BASE), INT),
    Inline(Record("struct", 4, (Field("x", INT, 0),))),
    Special("decltype(auto)"),
)
SAMPLES: dict[Any, Any] = {
    str: ["DF_1_NOW", "V_2", "other"],
    int: 4,
    bool: True,
    TypeRef: DOUBLE,
    Field: Field("more", LONG, 448),
    Base: Base(Named(PLAIN), 192),
    VirtualMethod: VirtualMethod("more", "_ZN5owner4moreEv", 3, VOID),
    Enumerator: Enumerator("MORE", 9),
    Argument: Argument("more"),
    InlineBody: InlineBody("af63dc4c8601ec8c"),
    Uses: Uses(("owner::held",)),
    Meaning: Meaning("12"),
    Replacement: Replacement("af63dc4c8601ec8c"),
    WrittenBase: WrittenBase("plain", virtual=True),
    Abilities: Abilities(("copy",), 8),
    Instance: Instance("part<long>", Abilities()),
    Method: Method(OWNER),
    ElfSymbol: ElfSymbol(unique=True),
    MachoSymbol: MachoSymbol(7),
    PeSymbol: PeSymbol(read_only=True),
    PeLibrary: PeLibrary("gui", "6.1", ("libm.so.6",)),
    Name: OWNER,
    tuple[str, str]: ("libc.so.6", "GLIBC_2.34"),
}
SAMPLES |= {hint: ["abstract", "inline"] for hint in (get_args(get_type_hints(Declared)["traits"])[0],)}

FACETS: dict[str, dict[Name, AnyShape]] = {"symbol": SYMBOLS, "layout": {**LAYOUT, **USERS}, "source": SOURCE}


def facts() -> Iterator[tuple[str, str, Name, AnyShape]]:
    """Every mutant, with the facet and the name that it is of."""
    for facet, held in (("symbol", SYMBOLS), ("layout", LAYOUT), ("source", SOURCE)):
        for name, shape in held.items():
            for label, other in mutants(shape, f"{facet} {name.spelling or 'library'}"):
                yield label, facet, name, other


def snapshot(facets: dict[str, dict[Name, AnyShape]]) -> Snapshot:
    entries: dict[Any, Any] = {
        facet: {name: (shape,) for name, shape in held.items()} for facet, held in facets.items()
    }
    entries["symbol"] |= {name: (Symbol("function"),) for name in USERS}
    texts = {**dict.fromkeys(facets["layout"], Declared()), **facets["source"]}
    entries["source"] = {name: (text, *entries["layout"].get(name, ())) for name, text in texts.items()}
    evidence = (Evidence("symbol", "full"), Evidence("layout", "full"), Evidence("source", "full"))
    found = Snapshot("libcase", None, Target("elf", "x86_64", 64, "little"), entries, evidence)
    return from_json(to_json(found))


def former() -> Snapshot:
    """The same as databases of schema 0008 say it: without vtables and Mach-O, and with few words of headers."""
    said = snapshot(FACETS)
    symbols = {
        name: shapes
        for name, shapes in said.entries["symbol"].items()
        if not any(isinstance(each, Symbol) and each.table for each in shapes)
    }
    library = msgspec.structs.replace(SYMBOLS[SELF], macho=None)
    symbols[SELF] = (library,)
    source = {name: (shape,) for name, shape in FORMER_SOURCE.items()}
    return msgspec.structs.replace(said, entries={**said.entries, "symbol": symbols, "source": source})


OLD = snapshot(FACETS)
MUTANTS = {label: (facet, name, shape) for label, facet, name, shape in facts()}
MEANINGLESS = {
    r"symbol \S+\.type=unknown": "assembler code may give no type, and the loader does not look at it",
    r"symbol (act|_ZN\S+)\.size\+": "the length of code is nobody's business",
    r"symbol \S+\.table\+one": "no table of a class, or one side does not know the slot",
    r"symbol \S+\.(default=False|version=other)": "a consumer that asks for no version takes any",
    r"symbol library\.macho\.stub=True": "one side tells less of the library",
    r"symbol \S+\.macho=.+": "padding is no part of an object",
    r"symbol \S+\.pe=.+": "one side does not tell the memory",
    r"symbol malloc\.(version|library)=\S+": "the versions that the library needs are told of it as a whole",
    r"symbol \S+\.compatibility_version=\S+": "no reader tells it: a format that has it will",
    r"symbol \S+\.read_only=\S+": "one side does not tell it",
    r"symbol \S+\.unused=True": "the library's own uses are nobody's business",
    r"symbol library\.elf\.first_version=other": "it means something for a release without versions only",
    r"symbol \S+\.elf\.empty=True": "it means something of an object that had a size only",
    r"symbol \S+\.own_place=\S+": "it means something beside another version only",
    r"symbol \S+\.ordinal=\S+": "one side's numbers are nobody's choice",
    r"symbol library\.(protections|weaknesses)\+one": "no protection or weakness of any format",
    r"symbol library\.protections-swapped": "a set, which readers sort",
    r"symbol library\.features-swapped": "a set, which readers sort",
    r"layout \S+\.display=other": "the symbol tells what it is",
    r"layout .*\.passing=\S+": "one side does not record it, or the record around tells it",
    r"layout .*\.type\.tail=\S+": "no class derives from an anonymous member",
    r"layout \w+\.alignment=(4|None)": "asks for what it has by nature",
    r"layout .*arguments([-+]\w+|\[0\]=\w+)": "part of the name, which not all compilers list",
    r"layout (plain|base|owner|choice|either)(\.fields\[kind\]\.type)?\.access=\w+": "what its members become tells",
    r"layout handle\.(defined|virtuals).*": "what units happen to show of a class that they only declare",
    r"layout (plain|base|owner|either)\.tail=(open|closed)": "a side that does not record it says nothing of it",
    r"layout (plain|base|owner|either)\.handle=True": "one more caller within the library changes nothing for others",
    r"layout .*enumerators-swapped": "the order of enumerators is nobody's business",
    r"layout .*underlying=None": "one side does not record it",
    r"layout .*virtuals\[\w+\]\.slot=None": "one side does not record it",
    r"layout owner\.virtuals\[1\]\.symbol=other": "a destructor's entry has no symbol",
    r"layout std::array<int, 2>\.sort=(class|union)": "a type of the standard library is of whatever sort it likes",
    r"layout std::array<int, 2>\.(size|alignment)=None": "one side does not record it",
    r"layout \S+\.method\.(virtual|slot)\S+": "the class tells of its vtable",
    r"layout \S+\.method\.defaulted=True": "does what the compiler's own would",
    r"source .*\.body\.(members|types).*": "the same text uses the same, and its access is told of each member",
    r"source \S+\.value=(None|other)": "one side does not show it",
    r"source \S+\.meaning=(None|Meaning.*)": "one side was read by a version that does not tell it",
    r"source \S+\.meaning\.borrowed=True": "it is the value that programs get",
    r"source \S+\.replacement\.used.+": "it tells whose a macro is, which counts where it goes",
    r"source \S+\.body\.(objects|fields).+": "the types of which these tell are compared by themselves",
    r"source (?!part)\S+\.bases\+one": "one side was read by a version that does not tell it",
    r"source \S+\.abilities=.+": "one side's compiler was not asked",
    r"source \S+\.data_size\+": "where members of derived classes lie is told of the class",
    r"source \S+\.lacking-swapped": "a set, which readers sort",
    r"source \S+\.instances([-+]\w+|\[0\]\.spelling=other)": "headers use other instances",
    r"source \S+\.shown.+": "it counts where what is shown changes",
    r"source \S+\.handed.+": "it counts where the value changes",
    r"source \S+\.uses.+": "it counts where what is used changes",
    r"source \S+\.within=other": "an enumeration without a name is called by whichever enumerator comes first",
    r"source \S+\.traits-swapped": "a set, which readers sort",
    r"source \S+\.body=.+": "one side's headers have no body: what became inline, or a template, is told as such",
    r"source \S+\.template\[int N\]\.name=other": "what a template parameter is called is nobody's business",
    r"source \S+\.parameters\[.*\]\.length\+": "a pointer tells no length, nor do releases that were stored before",
    r"source \S+\.template\[.*\]\.length\+": "parameters of templates are no arrays",
    r"source \S+\.parameters\+one": "headers list no parameters where none has a name or a default",
    r"source \S+\.expressions(-first|\+one)": "who writes no expression has the next value",
    r"source \S+\.expressions-swapped": "the order of enumerators is nobody's business",
}
"""What may change alone without a word, as patterns of the labels above, and why."""


def mutated(label: str) -> Snapshot:
    """The snapshot with the one fact of a label changed."""
    facet, name, shape = MUTANTS[label]
    return snapshot({**FACETS, facet: {**FACETS[facet], name: shape}})


def is_meaningless(label: str) -> bool:
    return any(re.fullmatch(pattern, label) for pattern in MEANINGLESS)


def test_a_fact_that_changes_alone_is_told() -> None:
    def law(label: str) -> None:
        comparison = compare(OLD, mutated(label))
        assert comparison.findings or comparison.not_checked or is_meaningless(label)
        assert not [each.kind for each in comparison.findings if each.old_value == each.new_value is not None]

    assert_each(MUTANTS, law)


def test_what_is_called_meaningless_is_not_told() -> None:
    def law(pattern: str) -> None:
        labels = [label for label in MUTANTS if re.fullmatch(pattern, label)]
        assert any(not compare(OLD, mutated(label)).findings for label in labels), labels

    assert_each(MEANINGLESS, law)


def test_every_shape_has_a_part_in_this() -> None:
    assert {type(shape) for held in FACETS.values() for shape in held.values()} == set(get_args(AnyShape))


def test_a_dll_that_did_not_record_its_oldest_windows_raises_nothing() -> None:
    def dll(minimum: str) -> Snapshot:
        library = Library("shared", "case.dll", pe=PeLibrary("console", minimum))
        return snapshot({**FACETS, "symbol": {**SYMBOLS, SELF: library}})

    raised = [[each.kind for each in compare(dll(old), dll("10.0")).findings] for old in ("6.1", "")]
    assert raised == [["runtime_floor_raised"], []]
