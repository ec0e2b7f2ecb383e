"""The code by which an old user names a declaration: each use is a program that compiles, or does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from abistore.model.declarations import Argument, Declared, Name
from abistore.model.names.qualified import demangle, last_component, scope, template_of
from abistore.model.names.symbols import qualifiers
from abistore.model.shapes import (
    Alias,
    Array,
    Enum,
    Field,
    Function,
    Inline,
    Named,
    Pointer,
    Primitive,
    Qualified,
    Record,
    TypeRef,
    Variable,
    VirtualMethod,
)
from abistore.witness.facts import OWN, Idiom, Spell, enumerator


class UserCode(NamedTuple):
    """Code that names a declaration. ``names``: just what the finding is about, and nothing else.

    ``includes`` are the headers, where they are not those that declare it; ``flags`` are the compiler's.
    """

    code: str
    names: bool = True
    includes: tuple[str, ...] | None = None
    flags: tuple[str, ...] = ()


PLAIN_SYMBOL: Final = re.compile(r"[^\s\"\\]+")
"""A symbol that ends no string of assembly: a snapshot may come from anywhere."""

SHORT_ARRAYS: Final = ("-Werror=stringop-overflow",)
"""GCC compares the array that a caller passes with the length that the declaration asks for."""

STAND_INS: Final = ("int", "double", "short", "char", "const char *", "void *", "long double", "char[64]")
"""Types that users give a template."""

MOST_MEMBERS: Final = 16
"""So many members at most are listed in braces."""


def uses(name: Name, part: str, declared: Declared | None, idiom: Idiom) -> Iterator[UserCode]:
    """Code that names a declaration, or a part of it, as sources of users do; each is a program of its own."""
    shape = idiom.known(name)
    if declared is not None and not idiom.c:
        yield from _of_template(name, declared, shape, idiom)
    if declared is not None and not isinstance(shape, Declared):
        yield from _of_constant(demangle(name.spelling), declared)
    match shape:
        case Function():
            yield from _of_function(name, shape, declared, idiom)
        case Variable():
            if not _is_const(shape.type) and not isinstance(shape.type, Array):
                yield UserCode(f"void {OWN}({idiom.spell(shape.type, 'value')}) {{ {shape.display} = value; }}")
            address = idiom.spell(Pointer(shape.type), f"{OWN}({idiom.none})")
            yield UserCode(f"{address} {{ return &{shape.display}; }}")
        case Record():
            yield from _of_record(name, part, shape, idiom)
        case Enum():
            around = [each.name for each in shape.enumerators]
            for member in [part] if part in around else around[:1]:
                result = "long long" if not shape.scoped else idiom.spell(Named(name))
                called = enumerator(name, shape, member, c=idiom.c)
                yield UserCode(f"{result} {OWN}({idiom.none}) {{ return {called}; }}", names=bool(part))
        case Alias():
            spelled = idiom.spell(Named(name), "*object"), idiom.spell(Pointer(shape.target), "other")
            yield UserCode(f"void {OWN}({', '.join(spelled)}) {{ object = other; }}")
        case Declared():
            yield from _of_declared(name, shape, idiom)
        case _ if name.kind in ("record", "enum", "alias"):
            yield UserCode(f"void {OWN}({idiom.spell(Named(name), '*object')}) {{ (void)object; }}")


# functions


def _of_function(name: Name, shape: Function, declared: Declared | None, idiom: Idiom) -> Iterator[UserCode]:
    method = shape.method
    if declared is not None:
        yield from _arrays(shape, declared, idiom)
        yield from _shorter(shape, declared, idiom)
        if "constexpr" in declared.traits and method is None:
            passed = ", ".join(f"{idiom.spell(each)}{{}}" for each in shape.parameters)
            yield UserCode(f"constexpr auto {OWN} = {shape.display}({passed});", names=False)
    if method is not None:
        yield from _conversion(shape, idiom.spell)
        if method.virtual != "no" and not _is_special(shape):
            behind = " ".join(qualifiers(name.spelling))
            head = override(last_component(shape.display), shape.result, shape.parameters, behind, idiom.spell)
            yield UserCode(f"struct {OWN} : {method.owner.spelling} {{ {head}; }};", names=False)
    yield UserCode(call(shape, idiom))
    if method is not None:
        yield from _of_heap(method.owner, idiom)


def _is_special(shape: Function) -> bool:
    """Whether it is a constructor or destructor."""
    last = last_component(shape.display)
    return last.startswith("~") or (shape.method is not None and last == last_component(shape.method.owner.spelling))


def _arrays(shape: Function, declared: Declared, idiom: Idiom) -> Iterator[UserCode]:
    """A call with arrays of the lengths that the header has."""
    if not any(each.length for each in declared.parameters) or shape.method is not None:
        return
    objects, passed = [], []
    for number, (type, given) in enumerate(zip(shape.parameters, declared.parameters, strict=False), 1):
        passed.append(f"a{number}")
        element = _plain(type.target) if given.length and isinstance(type, Pointer) else type
        objects.append(f"{idiom.spell(element, f'a{number}')}{f'[{given.length}]' if given.length else ''};")
    called = f"{shape.display}({', '.join(passed)});"
    yield UserCode(f"void {OWN}({idiom.none}) {{ {' '.join(objects)} {called} }}", names=False, flags=SHORT_ARRAYS)


def _plain(type: TypeRef) -> TypeRef:
    return type.target if isinstance(type, Qualified) else type


def _shorter(shape: Function, declared: Declared, idiom: Idiom) -> Iterator[UserCode]:
    """Calls that leave default arguments to the header."""
    most = len(shape.parameters)
    for count in range(most - 1, -1, -1):
        if count >= len(declared.parameters) or declared.parameters[count].default is None:
            return
        yield UserCode(call(shape, idiom, count), names=False)


def _conversion(shape: Function, spell: Spell) -> Iterator[UserCode]:
    """An implicit conversion by a constructor of one parameter."""
    method = shape.method
    if method is None or method.explicit or len(shape.parameters) != 1:
        return
    owner = method.owner.spelling
    if last_component(shape.display) == last_component(owner):
        first = shape.parameters[0]
        yield UserCode(f"{owner} {OWN}({spell(first, 'a1')}) {{ return {_passed(first, 'a1', spell)}; }}")


def call(shape: Function, idiom: Idiom, count: int | None = None) -> str:
    """A function that calls another one with its own parameters, or with the first ``count`` of them."""
    spell = idiom.spell
    given = [(each, f"a{number}") for number, each in enumerate(shape.parameters[:count], 1)]
    listed = [spell(type, name) for type, name in given]
    passed = [_passed(type, name, spell) for type, name in given]
    method = shape.method
    last = last_component(shape.display)
    if method is not None and last.startswith("~"):
        return f"void {OWN}({method.owner.spelling} *object) {{ object->{last}(); }}"
    if method is not None and last == last_component(method.owner.spelling):
        owner = method.owner.spelling
        return f"{owner} *{OWN}({', '.join(listed)}) {{ return new {owner}({', '.join(passed)}); }}"
    if method is not None and not method.static:
        const = "const " if "const" in method.qualifiers else ""
        listed.insert(0, f"{const}{method.owner.spelling} &object")
        owner = "" if method.virtual == "no" else f"{method.owner.spelling}::"
        called = f"object.{owner}{last}({', '.join(passed)})"
    else:
        called = f"{shape.display}({', '.join(passed)})"
    void = isinstance(shape.result, Primitive) and shape.result.spelling == "void"
    parameters = ", ".join(listed) or idiom.none
    return f"{spell(shape.result, f'{OWN}({parameters})')} {{ {'' if void else 'return '}{called}; }}"


def _passed(type: TypeRef, name: str, spell: Spell) -> str:
    if isinstance(type, Pointer) and type.sort == "&&":
        return f"static_cast<{spell(type)}>({name})"
    return name


def _is_const(type: TypeRef) -> bool:
    return (isinstance(type, Qualified) and "const" in type.qualifiers) or (
        isinstance(type, Pointer) and type.sort != "*"
    )


# classes and other records


def _of_record(name: Name, part: str, shape: Record, idiom: Idiom) -> Iterator[UserCode]:
    spell = idiom.spell
    field = next((each for each in shape.fields if part and each.name == part), None)
    object = spell(Named(name), "*object")
    if field is not None:
        yield from _of_field(field, spell(Named(name)), spell)
        return
    for method in shape.virtuals:
        if part and part.partition("(")[0] == last_component(method.display):
            yield from _of_virtual(method, name, spell)
    for base in shape.bases:
        yield UserCode(f"{spell(base.type, f'*{OWN}')}({object}) {{ return object; }}", names=False)
    yield UserCode(f"{spell(Named(name), OWN)}({object}) {{ return *object; }}", names=not part)
    if not idiom.c:
        yield from _of_class(name, shape, idiom)
    elif not part:
        yield UserCode(f"void {OWN}({object}) {{ (void)object; }}")


def _of_field(field: Field, type: str, spell: Spell) -> Iterator[UserCode]:
    if not _is_const(field.type) and not isinstance(field.type, Array):
        value = spell(field.type, "value")
        yield UserCode(f"void {OWN}({type} *object, {value}) {{ object->{field.name} = value; }}")
        if field.mutable:
            yield UserCode(f"void {OWN}(const {type} *object, {value}) {{ object->{field.name} = value; }}")
    yield UserCode(f"void {OWN}({type} *object) {{ (void)object->{field.name}; }}")
    address = spell(Pointer(field.type), f"{OWN}({type} *object)")
    yield UserCode(f"{address} {{ return &object->{field.name}; }}", names=False)


def _of_virtual(method: VirtualMethod, name: Name, spell: Spell) -> Iterator[UserCode]:
    last = last_component(method.display)
    if last.startswith("~"):
        yield UserCode(f"void {OWN}({name.spelling} *object) {{ delete object; }}")
        return
    listed = [f"{name.spelling} &object", *(spell(each, f"a{n}") for n, each in enumerate(method.parameters, 1))]
    passed = ", ".join(_passed(each, f"a{n}", spell) for n, each in enumerate(method.parameters, 1))
    yield UserCode(f"void {OWN}({', '.join(listed)}) {{ object.{last}({passed}); }}")


def _of_class(name: Name, shape: Record, idiom: Idiom) -> Iterator[UserCode]:
    """Making objects of a class, and deriving from it."""
    if shape.sort == "union":
        return
    type = name.spelling
    yield UserCode(f"{type} {OWN}() {{ return {type}(); }}", names=False)
    yield from _of_list(type, shape, idiom.spell)
    yield UserCode(f"struct {OWN} : {type} {{ char own; }};", names=False)
    pure = {each.display: each for each in _virtuals(shape, idiom)}
    if pure:
        heads = " ".join(f"{each};" for each in _overrides(pure.values(), idiom.spell))
        made = f"{OWN} *{OWN}::make() {{ return new {OWN}; }}"
        yield UserCode(f"struct {OWN} : {type} {{ {heads} static {OWN} *make(); }};\n{made}", names=False)
    yield from _of_heap(name, idiom)


def _of_heap(name: Name, idiom: Idiom) -> Iterator[UserCode]:
    if name.kind == "record" and not idiom.c:
        yield UserCode(f"{name.spelling} *{OWN}() {{ return new {name.spelling}; }}", names=False)
        yield UserCode(f"void {OWN}({name.spelling} *object) {{ delete object; }}", names=False)


def _of_list(type: str, shape: Record, spell: Spell) -> Iterator[UserCode]:
    """An object whose members are listed in braces."""
    fields = [each for each in shape.fields if each.name]
    if not 0 < len(fields) <= MOST_MEMBERS or shape.bases:
        return
    plain = [each for each in fields if not isinstance(each.type, Array | Inline)]
    listed = ", ".join(spell(each.type, each.name) for each in plain)
    values = ", ".join(each.name if each in plain else "{}" for each in fields)
    yield UserCode(f"{type} {OWN}({listed}) {{ return {type}{{{values}}}; }}", names=False)


def _virtuals(shape: Record, idiom: Idiom) -> Iterator[VirtualMethod]:
    for base in shape.bases:
        inner = idiom.known(base.type.name) if isinstance(base.type, Named) else None
        if isinstance(inner, Record):
            yield from _virtuals(inner, idiom)
    yield from shape.virtuals


def _overrides(methods: Iterable[VirtualMethod], spell: Spell) -> Iterator[str]:
    for each in methods:
        last = last_component(each.display)
        if not last.startswith("~"):
            yield override(last, each.result, each.parameters, " ".join(qualifiers(each.symbol)), spell)


def override(name: str, result: TypeRef, parameters: Sequence[TypeRef], behind: str, spell: Spell) -> str:
    """The declaration of a virtual function in a class of the user's own."""
    called = f"{name}({', '.join(map(spell, parameters))}){f' {behind}' if behind else ''}"
    return f"{spell(result, called)} override"


# constants, macros, concepts


def _of_constant(called: str, declared: Declared) -> Iterator[UserCode]:
    if "constant" in declared.traits or declared.value is not None:
        yield UserCode(f"enum {{ {OWN} = (int)({called}) }};", names=False)


def _of_declared(name: Name, shape: Declared, idiom: Idiom) -> Iterator[UserCode]:
    called = demangle(name.spelling)
    if "macro" in shape.traits or shape.replacement is not None:
        if shape.value is not None:
            yield UserCode(f"void {OWN}({idiom.none}) {{ (void)({called}); }}")
        if shape.replacement is not None and shape.replacement.parameters is not None:
            passed = ", ".join(str(number) for number in range(1, shape.replacement.parameters + 1))
            yield UserCode(f"void {OWN}({idiom.none}) {{ (void)({called}({passed})); }}")
        yield UserCode(f"#ifndef {called}\n#error {called} is not defined\n#endif")
    elif "concept" in shape.traits:
        for each in STAND_INS:
            yield UserCode(f'static_assert({called}<{each}>, "{each}");', names=False)
    elif "using" in shape.traits:
        yield UserCode(f"auto *{OWN}() {{ return &{called}; }}")
        yield UserCode(f"{called} *{OWN}();")
    elif name.kind in ("variable", "enum") and "template" not in shape.traits:
        yield from _of_constant(called, shape)
        yield UserCode(f"void {OWN}({idiom.none}) {{ (void)({called}); }}")


# templates


def _of_template(name: Name, declared: Declared, shape: object, idiom: Idiom) -> Iterator[UserCode]:
    if declared.template and name.kind in ("record", "alias"):
        for stand_in in STAND_INS:
            yield from _of_class_template(name, declared, stand_in)
    if isinstance(shape, Function | Variable) and "template" in declared.traits:
        owner = scope(shape.display)
        around = idiom.declared(Name("record", owner)) if owner else None
        listed = _arguments(around.template, "int") if around is not None else []
        if isinstance(shape, Variable):
            object = f"{owner}<{', '.join(listed)}> *object"
            yield UserCode(f"void {OWN}({object}) {{ (void)object->{last_component(shape.display)}; }}")
            return
        given = _arguments(declared.template, "int")
        yield from _of_function_template(
            shape, declared, (f"{owner}<{', '.join(listed)}>" if around else ""), given or listed, idiom
        )


def _of_class_template(name: Name, declared: Declared, stand_in: str) -> Iterator[UserCode]:
    plain, _ = template_of(name.spelling)
    given = _arguments(declared.template, stand_in)
    needed = [each for each, one in zip(given, declared.template, strict=False) if one.default is None]
    numbered = {f"#{number}": each for number, each in enumerate(given)}
    for listed in dict.fromkeys((tuple(given), tuple(needed))):
        type = f"{plain}<{', '.join(listed)}>"
        yield UserCode(f"void {OWN}({type} *object) {{ (void)object; }}")
        if name.kind == "record":
            for base in declared.bases:
                spelled = replaced(base.type, numbered)
                yield UserCode(f"{spelled} *{OWN}({type} *object) {{ return object; }}", names=False)
            yield UserCode(f"{type} {OWN}() {{ return {type}{{}}; }}", names=False)
            yield UserCode(f"{type} {OWN}() {{ return {type}{{{{}}, {{}}}}; }}", names=False)


def _of_function_template(
    shape: Function, declared: Declared, owner: str, given: Sequence[str], idiom: Idiom
) -> Iterator[UserCode]:
    numbered = {f"#{number}": each for number, each in enumerate(given)}
    types = [replaced(idiom.spell(each), numbered) for each in shape.parameters]
    counts = [len(types)]
    while counts[-1] and counts[-1] <= len(declared.parameters) and declared.parameters[counts[-1] - 1].default:
        counts.append(counts[-1] - 1)
    for count in counts:
        listed = [f"{type} a{number}" for number, type in enumerate(types[:count], 1)]
        passed = ", ".join(f"a{number}" for number in range(1, count + 1))
        last = last_component(shape.display)
        if owner:
            listed.insert(0, f"{owner} &object")
            yield UserCode(f"void {OWN}({', '.join(listed)}) {{ object.{last}({passed}); }}")
        else:
            inside = f"<{', '.join(given)}>" if given else ""
            yield UserCode(f"void {OWN}({', '.join(listed)}) {{ {shape.display}{inside}({passed}); }}")


def _arguments(parameters: Sequence[Argument], stand_in: str) -> list[str]:
    """What a user gives a template: a type, or the number one."""
    return [stand_in if re.match(r"(?:typename|class)\b", each.name) else "1" for each in parameters]


def replaced(text: str, numbered: Mapping[str, str]) -> str:
    """A type of a template with arguments in place of the numbers of its parameters."""
    return re.sub(r"#\d+", lambda found: numbered.get(found[0], found[0]), text)


# exports


def symbols_use(symbols: Sequence[str], version: str = "") -> str:
    """A function that names exports as the linker does, where no declaration of them is known."""
    lines = []
    symbols = [each for each in symbols if PLAIN_SYMBOL.fullmatch(each)]
    for number, each in enumerate(symbols):
        asked = f"{each}@{version}" if version else ""
        if asked:
            lines.append(f'__asm__(".symver {each}, {asked}");')
        lines.append(f'extern char symbol{number}[] __asm__("{each}");')
    listed = ", ".join(f"symbol{number}" for number in range(len(symbols)))
    return "\n".join([*lines, f"const void *const used[] = {{ {listed} }};"])
