"""How an old user uses a declaration: what its programs are compiled with, and the code that names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from abistore.model.declarations import Declared, Name, is_unnamed_enum
from abistore.model.names.qualified import demangle, last_component, scope
from abistore.model.names.symbols import is_const_member, is_mangled
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Enum,
    Field,
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


class Fact(NamedTuple):
    """Something that a compiler puts into a program: what people call it, and the expression.

    ``sort`` is how it is read back: a ``number``; the ``slot`` of a virtual function, which a pointer to the member
    function holds; the ``bytes`` of an object. A fact of ``sources`` only says what compiles.
    """

    label: str
    expression: str
    sort: Literal["number", "slot", "bytes"] = "number"
    sources: bool = False
    type: str = ""


def facts(name: Name, shape: AnyShape, known: Known, spell: Spell, *, c: bool) -> Iterator[Fact]:
    """What a program that uses ``name`` has compiled in."""
    type = spell(Named(name)) if name.kind in ("record", "enum", "alias") else ""
    match shape:
        case Record():
            yield from _of_type(type, c=c)
            yield from _of_fields(type, shape, known, c=c)
            if not c:
                yield from _of_class(type, shape, spell)
        case Enum():
            yield from _of_enum(name, shape, type, c=c)
        case Alias():
            if not _is_void(shape.target):
                yield from _of_type(type, c=c)
            yield _same(type, f"{type} *", spell(Pointer(shape.target)), spell(shape.target), c=c)
        case Variable():
            yield Fact(f"sizeof({shape.display})", f"sizeof({shape.display})")
            whole = spell(Pointer(shape.type))
            yield _same(shape.display, f"__typeof__(&{shape.display})", whole, spell(shape.type), c=c)
        case Function():
            yield from _of_function(name, shape, spell, c=c)
        case Declared() if shape.value is not None:
            called = demangle(name.spelling)
            is_text = '"' in shape.value
            yield Fact(called, called, "bytes", type="char []") if is_text else Fact(called, called)


def _of_type(type: str, *, c: bool) -> Iterator[Fact]:
    yield Fact(f"sizeof({type})", f"sizeof({type})")
    word = "_Alignof" if c else "alignof"
    yield Fact(f"{word}({type})", f"{word}({type})")


def _of_fields(type: str, shape: Record, known: Known, *, c: bool) -> Iterator[Fact]:
    for field in _all_fields(shape, known):
        if not field.name:
            continue
        if field.bit_size is not None:
            yield Fact(
                f"{type} {{ .{field.name} = -1 }}", f"{{ .{field.name} = ({_bits(field)})-1 }}", "bytes", type=type
            )
            continue
        yield Fact(f"offsetof({type}, {field.name})", f"offsetof({type}, {field.name})")
        if not _is_flexible(field):
            called = f"sizeof({type}::{field.name})" if not c else f"sizeof(({type}).{field.name})"
            yield Fact(called, f"sizeof((({type} *)0)->{field.name})")


def _bits(field: Field) -> str:
    return "bool" if isinstance(field.type, Primitive) and "ool" in field.type.spelling else "int"


def _is_flexible(field: Field) -> bool:
    inner = field.type
    return (isinstance(inner, Array) and inner.count is None) or (isinstance(inner, Pointer) and inner.sort != "*")


def _all_fields(shape: Record, known: Known) -> Iterator[Field]:
    for base in shape.bases:
        inner = known(base.type.name) if isinstance(base.type, Named) else None
        if isinstance(inner, Record) and not base.virtual:
            yield from _all_fields(inner, known)
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


def _of_class(type: str, shape: Record, spell: Spell) -> Iterator[Fact]:
    for label, expression, sources in CLASS_TRAITS:
        if shape.sort != "union" or not sources:
            yield Fact(f"{type} {label}", expression.format(type), sources=sources)
    for base in shape.bases:
        spelled = spell(base.type)
        yield Fact(f"{spelled} is a base of {type}", f"__is_base_of({spelled}, {type})", sources=True)
    for method in shape.virtuals:
        last = last_component(method.display)
        if method.slot is not None and not last.startswith("~") and "operator" not in last:
            yield Fact(f"slot of {type}::{last}", f"({_pointer(method, type, spell)})&{type}::{last}", "slot")


def _pointer(method: VirtualMethod, type: str, spell: Spell) -> str:
    parameters = ", ".join(map(spell, method.parameters))
    const = " const" if is_const_member(method.symbol) else ""
    return spell(method.result, f"({type}::*)({parameters}){const}")


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


def _of_function(name: Name, shape: Function, spell: Spell, *, c: bool) -> Iterator[Fact]:
    if c or not (shape.method or is_mangled(name.spelling)):
        parameters = ", ".join(map(spell, shape.parameters)) or ("void" if c and shape.prototyped else "")
        inside = f"{parameters}, ..." if shape.variadic and parameters else parameters
        yield _same(shape.display, f"__typeof__(&{shape.display})", spell(shape.result, f"(*)({inside})"),
                    spell(shape.result, f"({inside})"), c=c)  # fmt: skip
        return
    called = _called(shape, [f"({_reference(each, spell)})" for each in shape.parameters], "(*({} *)0)")
    if called:
        result = spell(shape.result)
        yield Fact(f"{shape.display}() returns {result}", f"__is_same(decltype({called}), {result})")


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


def _same(label: str, one: str, other: str, told: str, *, c: bool) -> Fact:
    word = "__builtin_types_compatible_p" if c else "__is_same"
    return Fact(f"{label} has type {told}", f"{word}({one}, {other})")


def _is_void(type: TypeRef) -> bool:
    inner = type.target if isinstance(type, Qualified) else type
    return (isinstance(inner, Primitive) and inner.spelling == "void") or isinstance(inner, Procedure)


def use(name: Name, part: str, shape: AnyShape | None, spell: Spell, *, c: bool) -> Iterator[str]:
    """Functions that name a declaration, or a part of it, as sources of users do; each is a program of its own."""
    match shape:
        case Function():
            yield from _conversion(shape, spell)
            yield call(shape, spell, c=c)
        case Variable():
            if not _is_const(shape.type) and not isinstance(shape.type, Array):
                yield f"void use({spell(shape.type, 'value')}) {{ {shape.display} = value; }}"
            yield f"{spell(Pointer(shape.type), 'use')}({'void' if c else ''}) {{ return &{shape.display}; }}"
        case Record():
            yield from _of_record(name, part, shape, spell, c=c)
        case Enum():
            around = [each.name for each in shape.enumerators]
            for member in [part] if part in around else around[:1]:
                result = "long long" if not shape.scoped else spell(Named(name))
                yield f"{result} use({'void' if c else ''}) {{ return {enumerator(name, shape, member, c=c)}; }}"
        case Alias():
            given = f"{spell(Named(name), '*object')}, {spell(Pointer(shape.target), 'other')}"
            yield f"void use({given}) {{ object = other; }}"
        case Declared():
            yield from _of_declared(name, shape, c=c)
        case _ if name.kind in ("record", "enum", "alias"):
            yield f"void use({spell(Named(name), '*object')}) {{ (void)object; }}"


def _of_record(name: Name, part: str, shape: Record, spell: Spell, *, c: bool) -> Iterator[str]:
    field = next((each for each in shape.fields if part and each.name == part), None)
    object = spell(Named(name), "*object")
    if field is not None:
        if not _is_const(field.type) and not isinstance(field.type, Array):
            yield f"void use({object}, {spell(field.type, 'value')}) {{ object->{part} = value; }}"
        yield f"void use({object}) {{ (void)object->{part}; }}"
        return
    for base in shape.bases:
        yield f"{spell(base.type, '*use')}({object}) {{ return object; }}"
    yield f"{spell(Named(name), 'use')}({object}) {{ return *object; }}"


def _of_declared(name: Name, shape: Declared, *, c: bool) -> Iterator[str]:
    called = demangle(name.spelling)
    if "macro" in shape.traits and shape.parameters:
        yield f"#ifndef {called}\n#error {called} is not defined\n#endif"
    elif "template" in shape.traits or shape.template:
        return
    elif name.kind in ("variable", "enum"):
        yield f"void use({'void' if c else ''}) {{ (void)({called}); }}"


def _conversion(shape: Function, spell: Spell) -> Iterator[str]:
    """An implicit conversion by a constructor of one parameter."""
    method = shape.method
    if method is None or method.explicit or len(shape.parameters) != 1:
        return
    owner = method.owner.spelling
    if last_component(shape.display) == last_component(owner):
        first = shape.parameters[0]
        yield f"{owner} use({spell(first, 'a1')}) {{ return {_passed(first, 'a1', spell)}; }}"


def call(shape: Function, spell: Spell, *, c: bool) -> str:
    """A function that calls another one with what it was given itself."""
    given = [(each, f"a{number}") for number, each in enumerate(shape.parameters, 1)]
    listed = [spell(type, name) for type, name in given]
    passed = [_passed(type, name, spell) for type, name in given]
    method = shape.method
    last = last_component(shape.display)
    if method is not None and last.startswith("~"):
        return f"void use({method.owner.spelling} *object) {{ object->{last}(); }}"
    if method is not None and last == last_component(method.owner.spelling):
        owner = method.owner.spelling
        return f"{owner} *use({', '.join(listed)}) {{ return new {owner}({', '.join(passed)}); }}"
    if method is not None and not method.static:
        const = "const " if "const" in method.qualifiers else ""
        listed.insert(0, f"{const}{method.owner.spelling} &object")
        owner = "" if method.virtual == "no" else f"{method.owner.spelling}::"
        called = f"object.{owner}{last}({', '.join(passed)})"
    else:
        called = f"{shape.display}({', '.join(passed)})"
    void = isinstance(shape.result, Primitive) and shape.result.spelling == "void"
    parameters = ", ".join(listed) or ("void" if c else "")
    return f"{spell(shape.result, f'use({parameters})')} {{ {'' if void else 'return '}{called}; }}"


def _passed(type: TypeRef, name: str, spell: Spell) -> str:
    if isinstance(type, Pointer) and type.sort == "&&":
        return f"static_cast<{spell(type)}>({name})"
    return name


def _is_const(type: TypeRef) -> bool:
    return (isinstance(type, Qualified) and "const" in type.qualifiers) or (
        isinstance(type, Pointer) and type.sort != "*"
    )


def symbols_use(symbols: tuple[str, ...]) -> str:
    """A function that names exports as the linker does, where no declaration of them is known."""
    declared = [f'extern char symbol{number}[] __asm__("{each}");' for number, each in enumerate(symbols)]
    listed = ", ".join(f"symbol{number}" for number in range(len(symbols)))
    return "\n".join([*declared, f"const void *const used[] = {{ {listed} }};"])
