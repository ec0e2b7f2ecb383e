"""Declarations of a snapshot as text that a compiler reads: each name behind all that it needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

from msgspec.structs import replace

from abistore.model.declarations import TYPES, UNNAMED_ENUM, Declared, Name, is_unnamed_enum
from abistore.model.layout import Layouts
from abistore.model.names.qualified import demangle, last_component, plain_template, scope, template_of
from abistore.model.names.spelling import declare, function_text, spell
from abistore.model.names.symbols import is_mangled, qualifiers
from abistore.model.shapes import (
    Access,
    Alias,
    AnyShape,
    Array,
    Enum,
    Field,
    Foreign,
    Function,
    Inline,
    MemberPointer,
    Named,
    Opaque,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    TypeRef,
    Variable,
    VirtualMethod,
)
from abistore.model.snapshot import Snapshot

INDENT: Final = "    "

STANDARD: Final[Mapping[str, str]] = {
    **{name: name for name in ("vector", "map", "set", "deque", "optional", "variant", "array", "tuple", "bitset")},
    **{name: name for name in ("unordered_map", "unordered_set", "queue", "stack", "complex", "any", "valarray")},
    **{"multimap": "map", "multiset": "set", "pair": "utility", "function": "functional", "list": "list"},
    **{"basic_string": "string", "basic_string_view": "string_view", "allocator": "memory", "less": "functional"},
    **{"shared_ptr": "memory", "unique_ptr": "memory", "weak_ptr": "memory", "initializer_list": "initializer_list"},
    **{"basic_ostream": "ostream", "basic_istream": "istream", "basic_iostream": "istream", "basic_ios": "ios"},
    **{"basic_ofstream": "fstream", "basic_ifstream": "fstream", "basic_stringstream": "sstream"},
    **{"basic_ostringstream": "sstream", "basic_istringstream": "sstream", "enable_shared_from_this": "memory"},
    **{"mutex": "mutex", "thread": "thread", "atomic": "atomic", "condition_variable": "condition_variable"},
    **{"exception": "exception", "runtime_error": "stdexcept", "logic_error": "stdexcept"},
}
"""The headers of the C++ library by the types that they define."""

OF_TWO_ABIS: Final = frozenset(
    each for each in STANDARD if each in ("basic_string", "list") or each.endswith("stringstream")
)
"""Types that libstdc++ has twice: a snapshot of the older ones has no ``__cxx11`` in their names."""


_NUMBER: Final = re.compile(r"-?\d|true\b|false\b|\(")
"""What an argument of a template begins with that is no type."""


class Unspellable(Exception):
    """The snapshot does not tell enough of a declaration to write it as source; the message says of which, and why."""


class SnapshotText:
    """The declarations of one snapshot, in C or C++."""

    def __init__(self, snapshot: Snapshot, *, c: bool, has_tag: Callable[[Name], bool] = lambda _: True) -> None:
        self._snapshot = snapshot
        self._c = c
        self._has_tag = has_tag
        self._layouts = Layouts(snapshot)
        self._done: set[Name] = set()
        self._forwarded: set[Name] = set()
        self._open: list[Name] = []
        self._headers: set[str] = set()
        self._lines: list[str] = []
        self._members: dict[Name, list[tuple[Access, str]]] = {}

    def of(self, names: Iterable[Name], members: Iterable[tuple[Name, Function | Variable]] = ()) -> str:
        """All of ``names`` declared, with the functions and static variables ``members`` in their classes.

        Raises :class:`Unspellable`.
        """
        for _symbol, member in members:
            if isinstance(member, Variable) and member.owner is not None:
                text = f"static {self.type(member.type, last_component(member.display))};"
                self._members.setdefault(member.owner, []).append((member.access, text))
            elif isinstance(member, Function) and member.method is not None:
                shown = member.method.access, self._method(member)
                self._members.setdefault(member.method.owner, []).append(shown)
        for name in names:
            self._declare(name)
        text = "".join(f"{line}\n" for line in self._lines)
        if self._c and re.search(r"\bbool\b", text):
            self._headers.add("stdbool.h")
        return "".join(f"#include <{each}>\n" for each in sorted(self._headers)) + text

    def shape(self, name: Name) -> AnyShape | None:
        """What the snapshot knows of a name; ``None`` where it knows nothing."""
        return next(iter((*self._snapshot.described(name), *self._snapshot.variants("source", name))), None)

    def type(self, type: TypeRef, name: str = "") -> str:
        """A type, or a declarator of it, in the words of the language."""
        return declare(self._worded(type), name)

    def _declare(self, name: Name, *, complete: bool = True) -> None:
        is_own = self._open[-1:] == [name]  # within its own body, a type needs no declaration before it
        if name in self._done or is_own or name in (self._open if complete else self._forwarded):
            return
        shape = self.shape(name)
        match shape:
            case Record() if complete:
                self._record(name, shape)
            case Foreign():
                self._foreign(name, shape)
            case Record() | Opaque():
                self._forward(name, shape, complete=complete)
            case Enum() | Alias() if self._outer(name) is not None:
                self._member(name)
            case Enum():
                self._done.add(name)
                self._put(name, self._enum(name, shape))
            case Alias():
                self._done.add(name)
                self._open.append(name)
                self._need(shape.target, complete=False)
                self._open.pop()
                self._put(name, f"typedef {self.type(shape.target, last_component(name.spelling))};")
            case Function():
                self._done.add(name)
                self._function(name, shape)
            case Declared():
                self._done.add(name)
                self._constant(name, shape)
            case Variable():
                self._done.add(name)
                self._need(shape.type, complete=True)
                self._put(name, self._variable(name, shape), shape.display)
            case _:
                raise Unspellable(f"nothing describes {name.spelling}")

    def _variable(self, name: Name, shape: Variable) -> str:
        """A variable; one that is a constant with the value that compilers put into programs."""
        text = self.type(shape.type, last_component(shape.display))
        for each in self._snapshot.variants("source", name):
            if isinstance(each, Declared) and "constant" in each.traits and each.value is not None:
                return f"static {text} = {each.value};"
        return f"extern {text};"

    def _constant(self, name: Name, shape: Declared) -> None:
        """A macro or constant; where its text is not recorded, an empty one."""
        called = last_component(demangle(name.spelling))
        if "macro" in shape.traits or shape.replacement is not None:
            count = shape.replacement.parameters if shape.replacement else None
            listed = "" if count is None else f"({', '.join(f'a{number}' for number in range(1, count + 1))})"
            value = shape.meaning.value if shape.meaning is not None else shape.value or ""
            self._put(name, f"#define {called}{listed} {value}".rstrip())
        elif shape.value is not None and not self._c and '"' not in shape.value:
            self._put(name, f"static const auto {called} = {shape.value};")
        else:
            raise Unspellable(f"nothing describes {name.spelling}")

    def _foreign(self, name: Name, shape: Foreign) -> None:
        """A type of the standard library: its header, or storage of its size where none is known."""
        self._done.add(name)
        for each in shape.arguments:
            self._need(each, complete=False)
        if header := standard_header(name):
            self._headers.add(header)
            return
        keyword = "union" if shape.sort == "union" else "struct"
        called = name.spelling if _is_plain(name) else stand_in(name)
        body = f" {{ __attribute__((aligned({shape.alignment or 1}))) char storage[{shape.size}]; }}"
        self._lines.append(f"{keyword} {called}{body if shape.size is not None else ''};")

    def _function(self, name: Name, shape: Function) -> None:
        for each in (shape.result, *shape.parameters):
            self._need(each, complete=shape.method is None)
        if shape.method is not None:
            return
        plain = self._plain(shape) if is_mangled(name.spelling) else replace(self._plain(shape), display=name.spelling)
        text = function_text(plain, c=self._c)
        linkage = "" if self._c or is_mangled(name.spelling) else 'extern "C" '
        self._put(name, f"{linkage}{text}", shape.display)

    def _plain(self, shape: Function) -> Function:
        return replace(
            shape,
            display=last_component(shape.display),
            result=self._worded(shape.result),
            parameters=tuple(map(self._worded, shape.parameters)),
        )

    def _method(self, shape: Function) -> str:
        method = shape.method
        assert method is not None
        if method.virtual != "no":
            return ""  # it stands among the virtual functions
        return function_text(replace(self._plain(shape), method=replace(method, defaulted=False)), c=False)

    def _member(self, name: Name) -> None:
        """A type within a class, which has it in its body."""
        outer = self._outer(name)
        assert outer is not None
        self._declare(outer)
        if name not in self._done and outer not in self._open:
            raise Unspellable(f"{name.spelling} is a member of a class that does not show it")

    def _record(self, name: Name, shape: Record) -> None:
        self._check(name)
        if self._outer(name) is not None:
            self._member(name)
            return
        self._open.append(name)
        body = list(self._body(name, shape))
        self._open.pop()
        self._done.add(name)
        self._put(name, "\n".join(body))

    def _body(self, name: Name, shape: Record) -> Iterator[str]:
        nested = list(self._nested(name))
        for base in shape.bases:
            self._need(base.type, complete=True)
        for field in shape.fields:
            self._need(field.type, complete=True)
        for method in shape.virtuals:
            for each in (method.result, *method.parameters):
                self._need(each, complete=False)
        plain, arguments = template_of(name.spelling)
        own = last_component(plain)
        head = "template <> " if arguments else ""
        bases = ", ".join(
            f"{each.access} {'virtual ' if each.virtual else ''}{self.type(each.type)}" for each in shape.bases
        )
        attributes = "".join(f"__attribute__(({each})) " for each in self._attributes(shape))
        keyword = "union" if shape.sort == "union" else "struct"
        yield f"{head}{keyword} {attributes}{own}{arguments}{f' : {bases}' if bases else ''} {{"
        yield from (f"{INDENT}{line}" for each in nested for line in each.splitlines())
        if not self._c:
            yield from self._made(shape, own)
        access: Access = "public"
        for asked, text in self._own(name, shape, own):
            if asked != access and not self._c:
                access = asked
                yield f"{access}:"
            yield f"{INDENT}{text}"
        yield "};"

    def _made(self, shape: Record, own: str) -> Iterator[str]:
        """What makes the class no aggregate, or passed by the address of a copy, as it is recorded."""
        if shape.passing == "reference" or shape.tail == "open":
            yield f"{INDENT}{own}();"
        if shape.passing == "reference" and not any(each.startswith(f"{own}(const") for each in shape.deleted):
            yield f"{INDENT}{own}(const {own} &);"
        for text in shape.deleted:
            if not text.lstrip().startswith(f"{own}()"):
                yield f"{INDENT}{f'{own} &' if text.startswith('operator=') else ''}{text} = delete;"

    def _own(self, name: Name, shape: Record, own: str) -> Iterator[tuple[Access, str]]:
        for field in shape.fields:
            yield field.access, f"{self._field(field)};"
        for method in shape.virtuals:
            yield method.access, self._virtual(method, own)
        yield from (each for each in self._members.get(name, ()) if each[1])

    def _nested(self, name: Name) -> Iterator[str]:
        """The types within a class that its members use by value."""
        found = [each for each in self._within.get(name.spelling, ()) if each not in self._done]
        for each in found:
            yield from self._inner(each)

    def _inner(self, name: Name) -> Iterator[str]:
        """A type within a class, behind those of the same class that it names."""
        if name in self._done:
            return
        self._done.add(name)
        shape, last = self.shape(name), last_component(name.spelling)
        match shape:
            case Enum():
                yield self._enum(name, shape)
            case Record():
                yield "\n".join(self._body(name, shape))
            case Alias():
                around = scope(name.spelling)
                for each in self._within.get(around, ()):
                    if each.spelling in spell(shape.target):
                        yield from self._inner(each)
                self._need(shape.target, complete=False)
                yield f"typedef {self.type(shape.target, last)};"
            case Opaque():
                yield f"struct {last};"

    @cached_property
    def _within(self) -> Mapping[str, list[Name]]:
        """The types of each class or namespace, by its name."""
        found: dict[str, list[Name]] = {}
        for each in sorted({each for facet in self._snapshot.entries.values() for each in facet}):
            if each.kind in TYPES and "::" in each.spelling:
                around = scope(each.spelling)
                rest = each.spelling.removeprefix(f"{around}::")
                if "(" not in rest and "<" not in rest:
                    found.setdefault(around, []).append(each)
        return found

    def _attributes(self, shape: Record) -> Iterator[str]:
        if shape.packed or self._layouts.is_packed(shape):
            yield "packed"
        if shape.alignment:
            yield f"aligned({shape.alignment})"

    def _field(self, field: Field) -> str:
        text = self.type(field.type, field.name)
        return text if field.bit_size is None else f"{text} : {field.bit_size}"

    def _virtual(self, method: VirtualMethod, own: str) -> str:
        last = last_component(method.display)
        if last.startswith("~"):
            return f"virtual ~{own}();"
        behind = " ".join(qualifiers(method.symbol))
        called = f"{last}({', '.join(map(self.type, method.parameters))}) {behind}".rstrip()
        is_conversion = re.match(r"operator (?!new|delete)[A-Za-z_]", last)
        declared = called if is_conversion else self.type(method.result, called)
        return f"virtual {declared}{' = 0' if method.pure else ''};"

    def _enum(self, name: Name, shape: Enum) -> str:
        own = "" if is_unnamed_enum(name) else f"{last_component(name.spelling)} "
        underlying = f": {spell(shape.underlying)} " if shape.underlying is not None and not self._c else ""
        if underlying and not own and not shape.scoped:
            underlying = ""
        values = ", ".join(f"{each.name} = {each.value}" for each in shape.enumerators)
        small = "__attribute__((packed)) " if self._c and shape.size < 4 else ""
        return f"enum {'class ' if shape.scoped else ''}{small}{own}{underlying}{{ {values} }};"

    def _forward(self, name: Name, shape: Record | Opaque, *, complete: bool) -> None:
        if complete and self._members.get(name) and isinstance(shape, Opaque) and self._outer(name) is None:
            self._done.add(name)
            listed = "".join(f" {text}" for _, text in self._members[name])
            self._put(name, f"struct {last_component(name.spelling)} {{{listed} }};")
            return
        self._check(name)
        self._forwarded.add(name)
        _plain, arguments = template_of(name.spelling)
        keyword = "union" if shape.sort == "union" else "struct"
        if arguments:
            return
        if self._outer(name) is None:
            self._put(name, f"{keyword} {last_component(name.spelling)};")

    def _check(self, name: Name) -> None:
        plain, arguments = template_of(name.spelling)
        if "(" in plain or "{" in plain or "<" in plain:
            raise Unspellable(f"{name.spelling} has no name that source code can write")
        if arguments:
            primary = Name("record", plain)
            if primary not in self._done:
                self._done.add(primary)
                listed = plain_template(name.spelling)
                kinds = ", ".join("auto" if _NUMBER.match(each) else "class" for each in (listed[1] if listed else ()))
                self._put(primary, f"template <{kinds or 'class...'}> struct {last_component(plain)};")

    def _outer(self, name: Name) -> Name | None:
        """The class that a type is a member of; ``None`` for one of a namespace."""
        around = scope(name.spelling)
        found = Name("record", around)
        return found if around and self._snapshot.described(found) else None

    def _need(self, type: TypeRef, *, complete: bool) -> None:
        match type:
            case Named():
                shape = self.shape(type.name)
                if isinstance(shape, Alias) and complete:
                    self._need(shape.target, complete=True)
                self._declare(type.name, complete=complete)
            case Pointer():
                self._need(type.target, complete=False)
            case Array():
                self._need(type.element, complete=True)
            case Qualified():
                self._need(type.target, complete=complete)
            case Procedure():
                for each in (type.result, *type.parameters):
                    self._need(each, complete=False)
            case MemberPointer():
                self._need(type.owner, complete=False)
                self._need(type.target, complete=False)
            case Inline():
                if isinstance(type.shape, Record):
                    for field in type.shape.fields:
                        self._need(field.type, complete=complete)
            case Primitive() | Special():
                return

    def _worded(self, type: TypeRef) -> TypeRef:
        """A type whose names have the keyword that C asks for, and stand-ins for types of the standard library."""
        match type:
            case Named():
                return self._named(type)
            case Pointer():
                return replace(type, target=self._worded(type.target))
            case Array():
                return replace(type, element=self._worded(type.element))
            case Qualified():
                return replace(type, target=self._worded(type.target))
            case Procedure():
                return replace(
                    type,
                    result=self._worded(type.result),
                    parameters=tuple(map(self._worded, type.parameters)),
                )
            case Inline() if isinstance(type.shape, Record):
                fields = tuple(replace(each, type=self._worded(each.type)) for each in type.shape.fields)
                return replace(type, shape=replace(type.shape, fields=fields))
            case _:
                return type

    def _named(self, type: Named) -> TypeRef:
        name = type.name
        shape = self.shape(name)
        if isinstance(shape, Foreign) and not standard_header(name) and not _is_plain(name):
            return Special(stand_in(name))
        if not self._c or name.kind == "alias" or not self._has_tag(name):
            return type
        keyword = "enum" if name.kind == "enum" else getattr(shape, "sort", "struct")
        return Special(f"{keyword} {name.spelling}")

    def _put(self, name: Name, text: str, display: str = "") -> None:
        around = scope(display or name.spelling.partition(UNNAMED_ENUM)[0].rstrip("(") + "x" * is_unnamed_enum(name))
        opened = "".join(f"namespace {each} {{ " for each in around.split("::") if each)
        if not opened:
            self._lines.append(text)
            return
        closed = " ".join("}" for each in around.split("::") if each)
        self._lines.append(f"{opened.rstrip()}\n{text}\n{closed}")


def _is_plain(name: Name) -> bool:
    return "::" not in name.spelling and "<" not in name.spelling


def standard_header(name: Name) -> str:
    """The header that defines a type of the C++ library; empty where none is known."""
    plain, _ = template_of(name.spelling)
    last = last_component(plain)
    if not plain.startswith("std::") or (last in OF_TWO_ABIS and "__cxx11" not in plain):
        return ""
    return STANDARD.get(last, "")


def stand_in(name: Name) -> str:
    """The name of storage in place of a type of the standard library."""
    return re.sub(r"\W+", "_", name.spelling).strip("_")
