"""What the compiler puts into the programs of an old user: sizes, offsets, values, vtable slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from abistore.model.declarations import Declared, Name, is_unnamed_enum
from abistore.model.names.qualified import demangle, last_component, scope
from abistore.model.names.symbols import is_const_member, is_mangled
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Enum,
    Field,
    Foreign,
    Function,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    TypeRef,
    Variable,
    VirtualMethod,
)

Spell: TypeAlias = Callable[..., str]
"""Spells a type, with a declarator's name behind it where one is given."""

Known: TypeAlias = Callable[[Name], AnyShape | None]
"""What a name is."""

OWN: Final = "old_user"
"""What an old user's function or class is named."""


class Idiom(NamedTuple):
    """How programs in one language name the declarations of a snapshot."""

    known: Known
    declared: Callable[[Name], Declared | None]
    spell: Spell
    c: bool

    @property
    def none(self) -> str:
        """The parameters of a function without any."""
        return "void" if self.c else ""


class Fact(NamedTuple):
    """Something that a compiler puts into a program: its label, and the expression.

    ``sort`` is how it is read back: a ``number``; the ``slot`` of a virtual function, which a pointer to the member
    function holds; the ``bytes`` of an object. A fact of ``sources`` only shows what compiles. ``needs`` is a
    declaration of the user's own.
    """

    label: str
    expression: str
    sort: Literal["number", "slot", "bytes"] = "number"
    sources: bool = False
    type: str = ""
    needs: str = ""


def facts(name: Name, part: str, shape: AnyShape, idiom: Idiom) -> Iterator[Fact]:
    """What a program that uses ``name`` has compiled in, and the type of its field ``part``."""
    spell, c = idiom.spell, idiom.c
    type = spell(Named(name)) if name.kind in ("record", "enum", "alias") else ""
    match shape:
        case Record():
            yield from _of_type(type, c=c)
            yield from _of_fields(type, shape, idiom)
            for field in shape.fields:
                if part and field.name == part and field.bit_size is None:
                    given = f"__typeof__((({type} *)0)->{part})"
                    yield _same(f"{type}::{part}", given, spell(field.type), spell(field.type), c=c)
            if not c:
                yield from _of_class(type, shape, idiom)
        case Foreign() if shape.size is not None:
            yield from _of_type(type, c=c)
        case Enum():
            yield from _of_enum(name, shape, type, c=c)
        case Alias():
            if not _is_void(shape.target):
                yield from _of_type(type, c=c)
            yield _same(type, f"{type} *", spell(Pointer(shape.target)), spell(shape.target), c=c)
        case Variable():
            declared = idiom.declared(name)
            if declared is not None and declared.value is not None and '"' not in declared.value:
                yield Fact(shape.display, shape.display)
            yield Fact(f"sizeof({shape.display})", f"sizeof({shape.display})")
            whole = spell(Pointer(shape.type))
            yield _same(shape.display, f"__typeof__(&{shape.display})", whole, spell(shape.type), c=c)
        case Function():
            yield from _of_function(name, shape, idiom)
        case Declared() if shape.value is not None:
            called = demangle(name.spelling)
            is_text = '"' in shape.value
            yield Fact(called, called, "bytes", type="char []") if is_text else Fact(called, called)


def _of_type(type: str, *, c: bool) -> Iterator[Fact]:
    yield Fact(f"sizeof({type})", f"sizeof({type})")
    word = "_Alignof" if c else "alignof"
    yield Fact(f"{word}({type})", f"{word}({type})")


def _of_fields(type: str, shape: Record, idiom: Idiom) -> Iterator[Fact]:
    for field in all_fields(shape, idiom.known):
        if not field.name:
            continue
        if field.bit_size is not None:
            yield Fact(
                f"{type} {{ .{field.name} = -1 }}", f"{{ .{field.name} = ({_bits(field)})-1 }}", "bytes", type=type
            )
            continue
        yield Fact(f"offsetof({type}, {field.name})", f"offsetof({type}, {field.name})")
        if not _is_flexible(field):
            called = f"sizeof(({type}).{field.name})" if idiom.c else f"sizeof({type}::{field.name})"
            yield Fact(called, f"sizeof((({type} *)0)->{field.name})")


def _bits(field: Field) -> str:
    return "bool" if isinstance(field.type, Primitive) and "ool" in field.type.spelling else "int"


def _is_flexible(field: Field) -> bool:
    inner = field.type
    return (isinstance(inner, Array) and inner.count is None) or (isinstance(inner, Pointer) and inner.sort != "*")


def all_fields(shape: Record, known: Known) -> Iterator[Field]:
    """The fields of a record and of its bases, in the order of their places."""
    for base in shape.bases:
        inner = known(base.type.name) if isinstance(base.type, Named) else None
        if isinstance(inner, Record) and not base.virtual:
            yield from all_fields(inner, known)
    yield from shape.fields


PASSED: Final = "__is_trivially_constructible({0}, const {0} &) && __has_trivial_destructor({0})"
CLASS_TRAITS: Final = (
    ("passed in registers", PASSED, False),
    ("has a vtable", "__is_polymorphic({0})", False),
    ("virtual destructor", "__has_virtual_destructor({0})", True),
    ("default-constructible", "__is_constructible({0})", True),
    ("copy-constructible", "__is_constructible({0}, const {0} &)", True),
    ("move-constructible", "__is_constructible({0}, {0} &&)", True),
    ("copy-assignable", "__is_assignable({0} &, const {0} &)", True),
    ("move-assignable", "__is_assignable({0} &, {0} &&)", True),
    ("can be a base", "!__is_final({0})", True),
    ("can be instantiated", "!__is_abstract({0})", True),
    ("is an aggregate", "__is_aggregate({0})", True),
    ("is empty", "__is_empty({0})", True),
    ("is a literal type", "__is_literal_type({0})", True),
)


def _of_class(type: str, shape: Record, idiom: Idiom) -> Iterator[Fact]:
    for label, expression, sources in CLASS_TRAITS:
        if shape.sort != "union" or not sources:
            yield Fact(f"{type} {label}", expression.format(type), sources=sources)
    for base in shape.bases:
        spelled = idiom.spell(base.type)
        yield Fact(f"{spelled} is a base of {type}", f"__is_base_of({spelled}, {type})", sources=True)
    for method in shape.virtuals:
        last = last_component(method.display)
        if method.slot is not None and not last.startswith("~") and "operator" not in last:
            yield Fact(f"slot of {type}::{last}", f"({_pointer(method, type, idiom)})&{type}::{last}", "slot")
    if shape.sort != "union":
        yield from _of_derived(type, shape)


def _of_derived(type: str, shape: Record) -> Iterator[Fact]:
    """What a class of the user's own has compiled in that derives from the type."""
    own = f"{OWN}_class"
    declared = f"struct {own} : {type} {{ char own; }};"
    yield Fact(f"offsetof({own}, own)", f"offsetof({own}, own)", needs=declared)
    if shape.virtuals or shape.has_vptr:
        derived = f"{OWN}_virtual"
        declared = f"struct {derived} : {type} {{ virtual void own(); }};"
        yield Fact(f"slot of {derived}::own", f"(void ({derived}::*)())&{derived}::own", "slot", needs=declared)


def _pointer(method: VirtualMethod, type: str, idiom: Idiom) -> str:
    parameters = ", ".join(map(idiom.spell, method.parameters))
    const = " const" if is_const_member(method.symbol) else ""
    return idiom.spell(method.result, f"({type}::*)({parameters}){const}")


def _of_enum(name: Name, shape: Enum, type: str, *, c: bool) -> Iterator[Fact]:
    for each in shape.enumerators:
        called = enumerator(name, shape, each.name, c=c)
        yield Fact(called, f"(long long){called}" if shape.scoped else called)
    if not is_unnamed_enum(name):
        yield from _of_type(type, c=c)
        yield Fact(f"({type})-1 < 0", f"(({type})-1) < ({type})0")


def enumerator(name: Name, shape: Enum, member: str, *, c: bool) -> str:
    """An enumerator as programs name it."""
    around = name.spelling if shape.scoped else scope(name.spelling)
    return f"{around}::{member}" if around and not c else member


def _of_function(name: Name, shape: Function, idiom: Idiom) -> Iterator[Fact]:
    spell, c = idiom.spell, idiom.c
    values = dict.fromkeys(each for each in (shape.result, *shape.parameters) if isinstance(each, Primitive))
    for each in values:
        if each.size:
            yield Fact(f"sizeof({spell(each)})", f"sizeof({spell(each)})")
    if c or not (shape.method or is_mangled(name.spelling)):
        types = [resolved(each, idiom.known) for each in (shape.result, *shape.parameters)]
        parameters = ", ".join(map(spell, types[1:])) or ("void" if c and shape.prototyped else "")
        inside = f"{parameters}, ..." if shape.variadic and parameters else parameters
        whole, spelled = spell(types[0], f"(*)({inside})"), spell(types[0], f"({inside})")
        yield _same(shape.display, f"__typeof__(&{shape.display})", whole, spelled, c=c)
        return
    called = _called(shape, [f"({_reference(each, spell)})" for each in shape.parameters], "(*({} *)0)")
    if called:
        result = spell(shape.result)
        yield Fact(f"{shape.display}() returns {result}", f"__is_same(decltype({called}), {result})")


def resolved(type: TypeRef, known: Known) -> TypeRef:
    """A type without the names that a ``typedef`` gives it."""
    match type:
        case Named(name=name) if name.kind == "alias":
            shape = known(name)
            return resolved(shape.target, known) if isinstance(shape, Alias) else type
        case Pointer() | Qualified():
            return replace(type, target=resolved(type.target, known))
        case _:
            return type


def _reference(type: TypeRef, spell: Spell) -> str:
    """An expression of a type, of which nothing is evaluated."""
    if isinstance(type, Pointer) and type.sort != "*":
        plain = spell(type.target)
        return f"static_cast<{plain} {type.sort}>(*({plain} *)0)"
    return f"*({spell(Pointer(type))})0"


def _called(shape: Function, passed: list[str], owner: str) -> str:
    """A call of a function; nothing for what is called without its name."""
    last = last_component(shape.display)
    method = shape.method
    listed = ", ".join(passed)
    if method is None or method.static:
        return f"{shape.display}({listed})"
    if last.startswith("~") or last == last_component(method.owner.spelling):
        return ""
    const = "const " if "const" in method.qualifiers else ""
    return f"{owner.format(const + method.owner.spelling)}.{last}({listed})"


def _same(label: str, one: str, other: str, spelled: str, *, c: bool) -> Fact:
    word = "__builtin_types_compatible_p" if c else "__is_same"
    return Fact(f"{label} has type {spelled}", f"{word}({one}, {other})")


def _is_void(type: TypeRef) -> bool:
    inner = type.target if isinstance(type, Qualified) else type
    return (isinstance(inner, Primitive) and inner.spelling == "void") or isinstance(inner, Procedure)
