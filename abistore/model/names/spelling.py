"""Declarations written as a C or C++ programmer writes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, TypeAlias, assert_never

from abistore.model.declarations import UNNAMED_ENUM, Argument, Declared, InlineBody, Name
from abistore.model.layout import Hole, Layouts
from abistore.model.names.qualified import demangle, last_component
from abistore.model.names.symbols import is_mangled, qualifiers
from abistore.model.shapes import (
    Access,
    Alias,
    AnyShape,
    Array,
    Base,
    Enum,
    Field,
    Foreign,
    Function,
    Import,
    Inline,
    Library,
    MachoLibrary,
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
    binding,
    is_read_only,
    symbol_type,
    visibility,
)
from abistore.model.snapshot import Provenance, Snapshot, Tags
from abistore.model.words import counted
from abistore.patterns import pattern

QUALIFIER_WORDS = {"atomic": "_Atomic"}
NAMELESS = "\0"
"""Stands for the name of a function type without one, so that its parameters are told from a grouped declarator."""

OLD_C: Final = frozenset({"C", "C89", "C99", "C11", "C17"})
"""The languages without a syntax for the underlying type of an enumeration."""

QUALIFIER = pattern(r"(?:_Atomic|const|restrict|volatile)\b")


Mention: TypeAlias = Callable[[Name], str]
"""How a declaration mentions a record, enumeration or alias: ``point``, or ``struct point``."""


def bare(name: Name) -> str:
    """The name alone, as C++ mentions types."""
    return name.spelling


def mention_of(*sources: Provenance) -> Mention:
    """How the first of the ``sources`` whose tags are known mentions types; :func:`bare` where none are."""
    return next((_tagging(each.tags) for each in sources if isinstance(each.tags, Tags)), bare)


def mentions(old: Snapshot, new: Snapshot) -> tuple[Mention, Mention]:
    """How both sides mention types. A side that does not tell mentions them as the other one does."""
    before, after = old.provenance, new.provenance
    return mention_of(before, after), mention_of(after, before)


@lru_cache(maxsize=16)
def _tagging(tags: Tags) -> Mention:
    plain, unions = frozenset(tags.bare), frozenset(tags.unions)

    def mention(name: Name) -> str:
        spelling = name.spelling
        if name.kind == "alias" or spelling in plain or not spelling.isidentifier():
            return spelling
        return f"{'enum' if name.kind == 'enum' else 'union' if spelling in unions else 'struct'} {spelling}"

    return mention


def spell(type: TypeRef, mention: Mention = bare) -> str:
    """``type`` without a declarator's name: ``const char*``, ``int (*)(int)``."""
    return declare(type, "", mention)


def declare(type: TypeRef, name: str = "", mention: Mention = bare) -> str:
    """``name`` declared with ``type`` in C declarator syntax: ``int (*handlers[4])(int)``."""
    return _declare(type, name, mention).replace(NAMELESS, "")


def _declare(type: TypeRef, name: str, mention: Mention) -> str:
    match type:
        case Named():
            return _joined(mention(type.name), name)
        case Primitive() | Special():
            return _joined(type.spelling, name)
        case Inline():
            return _joined(_inline(type.shape, mention), name)
        case Pointer():
            return _declare(type.target, _grouped(type.sort, name, type.target), mention)
        case MemberPointer():
            return _declare(type.target, _grouped(f"{spell(type.owner)}::*", name, type.target), mention)
        case Array(vector=True):
            return _joined(f"{spell(type.element)} __vector({type.count})", name)
        case Array():
            return _declare(type.element, f"{name}[{'' if type.count is None else type.count}]", mention)
        case Procedure():
            inside = _parameters(type.parameters, type.variadic, mention)
            return _declare(type.result, f"{name or NAMELESS}({inside})", mention)
        case Qualified():
            return _qualified(type, name, mention)
        case _:
            assert_never(type)


def _joined(base: str, name: str) -> str:
    """A base type and a declarator: a pointer's mark and an array's bracket stand directly behind the type."""
    if not name:
        return base
    if name[0] in "*&":
        rest = name.lstrip("*&")
        marks = name[: len(name) - len(rest)]
        return f"{base}{marks}{' ' if rest[:1].isidentifier() else ''}{rest}"
    return f"{base}{name}" if name[0] in (NAMELESS, "[") else f"{base} {name}"


def _grouped(mark: str, name: str, target: TypeRef) -> str:
    inner = target.target if isinstance(target, Qualified) else target
    member = mark.endswith("::*") or "::*" in name.partition("(")[0]
    apart = QUALIFIER.match(name) is not None or (member and name[:1].isidentifier())
    spaced = f"{mark} {name}" if apart else f"{mark}{name}"
    return f"({spaced})" if isinstance(inner, Procedure) or (isinstance(inner, Array) and not inner.vector) else spaced


def _qualified(type: Qualified, name: str, mention: Mention) -> str:
    words = " ".join(QUALIFIER_WORDS.get(word, word) for word in type.qualifiers if word[:1] != "&")
    match type.target:
        case Pointer() | MemberPointer():
            return _declare(type.target, _joined(words, name), mention)
        case Procedure():
            called_on = "".join(word for word in type.qualifiers if word[:1] == "&")
            return f"{_declare(type.target, name, mention)}{words and ' '}{words}{called_on}"
        case _:
            return f"{words} {_declare(type.target, name, mention)}"


def _parameters(types: Iterable[TypeRef], variadic: bool, mention: Mention) -> str:
    return listed((spell(each, mention) for each in types), variadic)


def listed(parameters: Iterable[str], variadic: bool) -> str:
    """Parameters between commas; ``...`` where there may be more."""
    return ", ".join([*parameters, *(["..."] if variadic else [])])


def _inline(shape: Record | Enum, mention: Mention) -> str:
    if isinstance(shape, Enum):
        return f"enum {{ {', '.join(f'{item.name} = {item.value}' for item in shape.enumerators)} }}"
    fields = " ".join(f"{spelled_field(field, mention)};" for field in shape.fields)
    return f"{shape.sort} {{ {fields} }}" if fields else f"{shape.sort} {{ }}"


def spelled_field(field: Field, mention: Mention = bare) -> str:
    """A field with its name, and its width where it is a bit-field."""
    text = declare(field.type, field.name, mention)
    return text if field.bit_size is None else f"{text}{' ' if field.name else ''}: {field.bit_size}"


OverrideKey: TypeAlias = tuple[str, tuple[TypeRef, ...], tuple[str, ...]]
"""The name, the types of the parameters and the qualifiers."""


def traits(method: VirtualMethod, snapshot: Snapshot) -> tuple[str, ...]:
    """The words that only a header has, in source order: ``noexcept``, ``final``."""
    shapes = snapshot.variants("source", Name("function", method.symbol)) if method.symbol else ()
    said = {trait for shape in shapes if isinstance(shape, Declared) for trait in shape.traits}
    return tuple(word for word in ("noexcept", "final") if word in said)


def override_key(method: VirtualMethod) -> OverrideKey:
    """The key that a method shares with those that it overrides. All destructors share one."""
    last = last_component(method.display)
    return ("~", (), ()) if last.startswith("~") else (last, method.parameters, qualifiers(method.symbol))


def inherited(record: Record, snapshot: Snapshot) -> frozenset[OverrideKey]:
    """The override keys of all virtual methods in the base classes of ``record``, direct and indirect."""
    return frozenset(override_key(method) for base in _bases(record, snapshot) for method in base.virtuals)


def _bases(record: Record, snapshot: Snapshot) -> Iterator[Record]:
    seen: set[Name] = set()
    pending = [base.type for base in record.bases]
    while pending:
        type = pending.pop()
        if not isinstance(type, Named) or type.name in seen:
            continue
        seen.add(type.name)
        for shape in snapshot.described(type.name):
            if isinstance(shape, Record):
                yield shape
                pending += [base.type for base in shape.bases]


INDENT = "    "
COMMENT_COLUMN = 48


def record_lines(
    name: str, shape: Record, snapshot: Snapshot | None, layouts: Layouts | None, mention: Mention
) -> Iterator[str]:
    """A record line by line, with padding where ``layouts`` tell it."""
    bases = ", ".join(_base(base) for base in shape.bases)
    aligned = f"alignas({shape.alignment}) " if shape.alignment and not shape.packed else ""
    yield f"{shape.sort} {aligned}{name}{f' : {bases}' if bases else ''} {{"
    gaps = {gap.offset: gap for gap in layouts.holes(shape)} if layouts is not None else {}
    if shape.has_vptr:
        yield _commented(f"{INDENT}void** (vtable pointer);", "0")
    access: Access = "private" if shape.sort == "class" else "public"
    for field in shape.fields:
        for start in sorted(start for start in gaps if start < field.offset):
            yield f"{INDENT}/* {_hole(gaps.pop(start))} */"
        if field.access != access:
            access = field.access
            yield f"{access}:"
        yield _commented(
            f"{INDENT}{'mutable ' if field.mutable else ''}{spelled_field(field, mention)};", _place(field)
        )
    for start in sorted(gaps):
        yield f"{INDENT}/* {_hole(gaps[start])} */"
    yield from _functions_of(shape, access, snapshot)
    packed = ", packed" if shape.packed or (layouts is not None and layouts.is_packed(shape)) else ""
    yield f"}};  // {counted(shape.size, 'byte')}{packed}"


def _functions_of(shape: Record, access: Access, snapshot: Snapshot | None) -> Iterator[str]:
    overridden = inherited(shape, snapshot) if snapshot is not None else frozenset()
    for method in shape.virtuals:
        if method.access != access:
            access = method.access
            yield f"{access}:"
        words = traits(method, snapshot) if snapshot is not None else ()
        text = _virtual(method, words, overriding=override_key(method) in overridden)
        yield _commented(f"{INDENT}{text}", "" if method.slot is None else f"slot {method.slot}")
    for deleted in shape.deleted:
        yield f"{INDENT}{deleted} = delete;"


def _place(field: Field) -> str:
    return str(field.offset // 8) + ("" if field.bit_size is None else f":{field.offset % 8}")


def _hole(hole: Hole) -> str:
    kind = "padding" if hole.tail else "hole"
    length = counted(hole.length, "bit") if hole.length % 8 else counted(hole.length // 8, "byte")
    return f"{length} {kind}"


def _base(base: Base) -> str:
    place = "" if base.offset is None else f" /* at {base.offset // 8} */"
    return f"{'virtual ' if base.virtual else ''}{base.access} {spell(base.type)}{place}"


def _virtual(method: VirtualMethod, words: Iterable[str], *, overriding: bool) -> str:
    last = method.display.rpartition("::")[2] if last_component(method.display).startswith("~") else method.display
    called = " ".join([f"{last}({', '.join(map(spell, method.parameters))})", *qualifiers(method.symbol), *words])
    text = called if last.startswith("~") else declare(method.result, called)
    return f"{f'{text} override' if overriding else f'virtual {text}'}{' = 0' if method.pure else ''};"


def _commented(text: str, comment: str) -> str:
    return f"{text.ljust(COMMENT_COLUMN - 1)} // {comment}" if comment else text


def _constant(name: str, shape: Enum) -> str | None:
    """``const int geo::limit = 8;``, which debug information shows as an enumeration of that value."""
    before, unnamed, rest = name.partition(UNNAMED_ENUM)
    if not unnamed or len(shape.enumerators) != 1 or shape.underlying is None or rest[:-1] != shape.enumerators[0].name:
        return None
    return f"const {spell(shape.underlying)} {before}{rest[:-1]} = {shape.enumerators[0].value};"


def enum_text(name: str, shape: Enum, *, c: bool = False) -> str:
    """An enumeration with its enumerators and its size; one of a single value and no name is a constant.

    In C there is no syntax for the underlying type.
    """
    if (constant := _constant(name, shape)) is not None:
        return constant
    underlying = f" : {spell(shape.underlying)}" if shape.underlying is not None and not c else ""
    lines = [f"enum {'class ' if shape.scoped else ''}{name}{underlying} {{"]
    lines += [f"{INDENT}{item.name} = {item.value}," for item in shape.enumerators]
    return "\n".join([*lines, f"}};  // {counted(shape.size, 'byte')}"])


UNWRITTEN: Final = frozenset({"befriends", "defined", "defined_within", "template", "undefined"})
"""Traits that no word before a declaration says."""


def declared_text(name: Name, shape: Declared) -> str:
    """What a header alone tells of a declaration, in words before its name and behind it."""
    words = list(_words(shape))
    written = ", ".join(map(argument, shape.parameters))
    value = f" = {shape.value}" if shape.value is not None else ""
    value += f" /* {shape.meaning.value} */" if shape.meaning is not None else ""
    members = ", ".join(f"{member} = {expression}" for member, expression in shape.expressions)
    inside = f" {{ {members} }}" if members else _body(shape.body)
    called = demangle(name.spelling) if name.kind == "variable" else name.spelling
    return " ".join([*words, f"{called}{f'({written})' if shape.parameters else ''}{value}{inside};"])


def _words(shape: Declared) -> Iterator[str]:
    """What stands before the name of a declaration."""
    if shape.availability:
        yield f"availability({', '.join(shape.availability)})"
    copied = "constant" in shape.traits  # a constant that each program has is not thereby written ``inline``
    written = (each for each in shape.traits if each not in UNWRITTEN and not (copied and each == "inline"))
    yield from (each.replace("_", " ") for each in written)
    if "template" in shape.traits or shape.template:
        yield template_head(shape)
    if shape.requires is not None:
        yield f"requires {shape.requires}"


def prototype(function: Function, told: Declared, mention: Mention, *, c: bool) -> str:
    """``inline int draw(int count = 1) noexcept { /* digest */ };``, of what a header tells and of the types."""
    words = [each for each in _words(told) if each != "noexcept"]
    parameters = [_argument(*each, mention) for each in zip(function.parameters, told.parameters, strict=True)]
    text = function_text(function, mention, c=c, parameters=parameters).removesuffix(";")
    behind = " noexcept" if "noexcept" in told.traits else ""
    return f"{' '.join([*words, text])}{behind}{_body(told.body)};"


def _argument(type: TypeRef, told: Argument, mention: Mention) -> str:
    if told.length and isinstance(type, Pointer):
        type = Array(type.target, told.length)
    text = declare(type, told.name, mention)
    return text if told.default is None else f"{text} = {told.default}"


def template_head(shape: Declared) -> str:
    """What stands before a template: ``template <typename T, int N = 4>``."""
    return f"template <{', '.join(map(argument, shape.template))}>"


def _body(body: InlineBody | None) -> str:
    """What an inline body uses, and its digest: its text is not kept."""
    if body is None:
        return ""
    used = ", ".join([*body.members, *body.calls])
    return f" {{ {used + ' ' if used else ''}/* {body.digest} */ }}"


def argument(shape: Argument) -> str:
    """A parameter as a header writes it, without its type: ``count = 1``."""
    named = shape.name or "(unnamed)"
    return named if shape.default is None else f"{named} = {shape.default}"


def signature(
    shape: Function, mention: Mention = bare, *, c: bool = False, parameters: Sequence[str] | None = None
) -> str:
    """A function as it is declared, without what stands before its result and behind its qualifiers.

    Constructors, destructors and conversions have no result. A prototype without parameters is ``f(void)`` in C, where
    ``f()`` leaves them open. ``parameters`` are spelled already, with their names.
    """
    if parameters is None:
        parameters = [spell(each, mention) for each in shape.parameters]
    inside = listed(parameters, shape.variadic)
    if c and shape.prototyped:
        inside = inside or "void"
    text = f"{shape.display}({inside})"
    method = shape.method
    if method is None:
        return declare(shape.result, text, mention)
    text = " ".join([text, *method.qualifiers, *([method.reference] if method.reference else [])])
    last = last_component(shape.display)
    bare = last.startswith("~") or last == last_component(method.owner.spelling) or _converts(shape.display)
    return text if bare else declare(shape.result, text)


def function_text(shape: Function, mention: Mention = bare, *, c: bool, parameters: Sequence[str] | None = None) -> str:
    """A function as it is declared."""
    text = signature(shape, mention, c=c, parameters=parameters)
    marks = ["[[noreturn]]"] if shape.noreturn else []
    if shape.calling_convention and not shape.calling_convention.startswith("-"):  # options are nothing to write
        marks.append(f"__attribute__(({shape.calling_convention}))")
    if shape.method is not None:
        text = _member(text, shape.method)
    return " ".join([*marks, f"{text};"])


def _converts(display: str) -> bool:
    return "operator " in display and not display.endswith(
        ("operator new", "operator new[]", "operator delete", "operator delete[]", "operator co_await")
    )


def _member(text: str, method: Method) -> str:
    before = [
        *(["static"] if method.static else []),
        *(["virtual"] if method.virtual != "no" else []),
        *(["explicit"] if method.explicit else []),
    ]
    end = {"pure": " = 0"}.get(method.virtual, "")
    end += " = delete" if method.deleted else " = default" if method.defaulted else ""
    return " ".join([*before, text]) + end


def declaration(
    name: Name,
    shape: AnyShape,
    snapshot: Snapshot | None = None,
    layouts: Layouts | None = None,
    *,
    languages: Collection[str] | None = None,
    mention: Mention | None = None,
) -> str:
    """``shape`` as the declaration of ``name``; records with byte offsets (``byte:bit`` for bit-fields).

    With the ``snapshot`` that the shape is from, records tell their padding too; who spells many of them passes its
    ``layouts``, which know what others embed. ``languages`` are those of the sources and ``mention`` is how they
    mention types, by default as the snapshot says.
    """
    if mention is None:
        mention = bare if snapshot is None else mention_of(snapshot.provenance)
    match shape:
        case Function():
            return function_text(shape, mention, c=_is_c(name, shape, snapshot, languages))
        case Variable():
            return f"{'static ' if shape.owner else ''}{declare(shape.type, shape.display, mention)};"
        case Record():
            if layouts is None and snapshot is not None:
                layouts = Layouts(snapshot)
            return "\n".join(record_lines(name.spelling, shape, snapshot, layouts, mention))
        case Enum():
            return enum_text(name.spelling, shape, c=_is_all_c(snapshot, languages))
        case Alias():
            return f"typedef {_tag(name, shape, snapshot, mention)}{declare(shape.target, name.spelling, mention)};"
        case Opaque():
            return f"{shape.sort} {name.spelling};"
        case Foreign():
            size = f"  // {counted(shape.size, 'byte')}" if shape.size is not None else ""
            return f"{shape.sort} {name.spelling};{size}"
        case Symbol():
            return _symbol(name, shape)
        case Import():
            version = f"@{shape.version}" if shape.version else ""
            origin = f" from {shape.library}" if shape.library else ""
            return f"{'weak ' if shape.weak else ''}import {name.spelling}{version}{origin}"
        case Library():
            return "\n".join(_library(shape))
        case Declared():
            return declared_text(name, shape)
        case _:
            assert_never(shape)


def spelled_out(
    name: Name,
    shapes: Sequence[AnyShape],
    snapshot: Snapshot | None = None,
    layouts: Layouts | None = None,
    *,
    languages: Collection[str] | None = None,
    mention: Mention | None = None,
) -> Iterator[str]:
    """Each of the ``shapes`` of a name as its declaration; what a header alone tells of a function stands in its own.

    ``deprecated int draw(int count = 1);`` is two shapes: the types, and the name and default of the parameter.
    """
    if mention is None:
        mention = bare if snapshot is None else mention_of(snapshot.provenance)
    match tuple(shapes):
        case (Function() as function, Declared() as told) | (Declared() as told, Function() as function) if len(
            function.parameters
        ) == len(told.parameters):
            yield prototype(function, told, mention, c=_is_c(name, function, snapshot, languages))
        case _:
            for shape in shapes:
                yield declaration(name, shape, snapshot, layouts, languages=languages, mention=mention)


def _is_c(name: Name, shape: Function, snapshot: Snapshot | None, languages: Collection[str] | None) -> bool:
    """Whether C callers may declare the function: it is not mangled, and not all of the library is known to be C++."""
    if shape.method is not None or "::" in shape.display or is_mangled(name.spelling):
        return False
    known = languages if languages is not None or snapshot is None else snapshot.provenance.languages
    return not known or not all(each.startswith("C++") for each in known)


def _is_all_c(snapshot: Snapshot | None, languages: Collection[str] | None) -> bool:
    """Whether all sources are known to be C before C23, which has no underlying types of enumerations."""
    if languages is None:
        languages = snapshot.provenance.languages if snapshot is not None else ()
    return bool(languages) and all(each in OLD_C for each in languages)


def _tag(name: Name, shape: Alias, snapshot: Snapshot | None, mention: Mention) -> str:
    """The word that tells a tag from an alias of the same spelling, where no ``mention`` has it."""
    target = shape.target
    while isinstance(target, Pointer | Qualified):
        target = target.target
    if not (isinstance(target, Named) and mention(target.name) == name.spelling):
        return ""
    if target.name.kind == "enum":
        return "enum "
    found = snapshot.variants("layout", target.name) if snapshot is not None else ()
    return next((f"{each.sort} " for each in found if isinstance(each, Record | Opaque | Foreign)), "")


def _symbol(name: Name, shape: Symbol) -> str:
    version = f"{'@@' if shape.default else '@'}{shape.version}" if shape.version else ""
    protected = " protected" if visibility(shape) == "protected" else ""
    size = f", {counted(shape.size, 'byte')}" if shape.size else ""
    behind = f" -> {shape.forwarded_to}" if shape.forwarded_to else ""
    memory = " read-only" if is_read_only(shape) else ""
    absolute = " absolute" if shape.elf and shape.elf.absolute else ""
    return f"{binding(shape)}{protected}{memory}{absolute} {symbol_type(shape)} {name.spelling}{version}{size}{behind}"


def _library(shape: Library) -> Iterator[str]:
    apple = shape.macho
    kind = apple.file_type if apple else shape.file_kind
    yield f"{kind} {shape.name or ('(no install name)' if apple else '(no SONAME)')}"
    for label, values in (
        ("needs", shape.needed),
        ("loads at the first call", shape.on_pe.delay_loaded),
        ("rpath", shape.on_elf.rpath),
        ("runpath", shape.search_paths),
        ("defines", shape.on_elf.version_definitions),
        ("requires", tuple(f"{version} of {library}" for library, version in shape.on_elf.version_requirements)),
        ("features", shape.features),
        ("refused for", shape.on_elf.refusals),
        *(_apple(shape, apple) if apple else ()),
    ):
        if values:
            yield f"{INDENT}{label} {', '.join(values)}"


def _apple(shape: Library, facts: MachoLibrary) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What the tables of a Mach-O file say, as labels with their values."""
    yield "compatibility version", tuple(filter(None, [shape.compatibility_version]))
    yield "oldest system", tuple(filter(None, [facts.minimum_os]))
    yield "re-exports", facts.reexports
    yield "links", tuple(f"{library} ({word})" for library, word in facts.linkage)
    yield "requires", tuple(f"{version} of {library}" for library, version in facts.requirements)
    yield "only for", facts.clients
    yield "tells linkers", facts.directives or ()
    yield "protected by", shape.protections
