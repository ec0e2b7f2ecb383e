"""What programs can do with each class, and how it lies, by the compiler's own answers: one unit asks for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from abistore.extract.headers.made.behind import BehindUnit, TextBehind
from abistore.extract.headers.made.stand_ins import stand_ins
from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang, Type, libclang
from abistore.extract.headers.walk.declared import Walked
from abistore.extract.headers.walk.unlaid import UNNAMED
from abistore.extract.types.foreign import is_foreign
from abistore.model.cpp_names.emitted import template_behind
from abistore.model.declared import Abilities, Ability, Declared, Instance
from abistore.model.layout.tails import is_open_by_parts
from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Record
from abistore.model.snapshot import Variants

MOST_CLASSES: Final = 10_000
"""How many classes are asked about, by name: the 208 of libfmt take 0.2 seconds."""

_ASKED: Final[Mapping[Ability, str]] = {
    "aggregate": "__is_aggregate(T)",
    "assign": "__is_assignable(T &, const T &)",
    "cast": "__is_polymorphic(T)",
    "copy": "__is_constructible(T, const T &) && __is_convertible_to(const T &, T)",
    "copy_bytes": "__is_trivially_copyable(T)",
    "default": "__is_constructible(T)",
    "default_implicitly": "sizeof(abistore_empty<T>(0)) == 1",
    "derive": "__is_class(T) && !__is_final(T)",
    "destroy": "__is_destructible(T)",
    "instantiate": "!__is_abstract(T)",
    "list_members": "__is_aggregate(T)",
    "literal": "__is_literal(T)",
    "move": "__is_constructible(T, T)",
    "move_assign": "__is_assignable(T &, T)",
    "standard_layout": "__is_standard_layout(T)",
}

_BY_VALUE: Final = "__is_trivially_relocatable(T)"
"""What clang answers for a class that goes by value as its members do (Itanium C++ ABI, 3.1.1)."""

_TEMPLATE, _DERIVED = "abistore_asked", "abistore_derived"

_BITS: Final = (*_ASKED.values(), _BY_VALUE)

_TEXT: Final = f"""\
#if __cplusplus >= 201103L
template <class T> void abistore_take(const T &);
template <class T, class = decltype(abistore_take<T>({{}}))> char abistore_empty(int);
#else
template <class T> char abistore_empty(int);
#endif
template <class T> char (&abistore_empty(...))[2];
template <class T> struct {_TEMPLATE} {{
  char answers[1ull {" ".join(f"+ (({each}) ? {1 << bit}ull : 0)" for bit, each in enumerate(_BITS))}];
  char data_size[1 + __datasizeof(T)];
}};
#define ABISTORE_DERIVED(D, ...) struct D : __VA_ARGS__ {{ D() = default; D(const D &) = default; D(D &&) = default; \\
  D &operator=(const D &) = default; D &operator=(D &&) = default; ~D() = default; }};
"""
"""An array tells a number by its length. No name is checked for access where a template is instantiated by hand."""


class ClassAnswer(NamedTuple):
    """What the compiler says of a class."""

    abilities: Abilities
    by_value: bool


def with_abilities(behind: BehindUnit, walked: Walked, *, runtime: bool) -> Walked:
    """What a unit declares, with what programs can do with each class that is complete and that a text can name.

    A private class within another is asked as any other is. Nothing is known of a class that has no name, that does
    not complete or that has an error in what the compiler has to look at, nor of a template: its instances are classes.
    Instances that stand for those of programs are asked besides.
    """
    known = _answers(behind, list(_complete(walked, runtime=runtime)))
    entries = {name: _told(name, shapes, known, walked) for name, shapes in walked.entries.items()}
    others = _answers(behind, stand_ins(behind, walked, runtime=runtime))
    return replace(walked, entries=_with_instances(entries, {**known, **others}))


def _answers(behind: BehindUnit, names: Sequence[Name]) -> dict[Name, ClassAnswer]:
    """The answers about classes, as far as the compiler has some."""
    names, first = names[:MOST_CLASSES], _TEXT.count("\n") + 1
    lines = (
        f"template struct {_TEMPLATE}< ::{each} >;\nABISTORE_DERIVED({_DERIVED}{first + 2 * index}, ::{each})\n"
        for index, each in enumerate(name.spelling for name in names)
    )
    found = _Answers(behind.read(_TEXT + "".join(lines))).found() if names else {}
    asked = zip(range(first, first + 2 * len(names), 2), names, strict=True)
    return {name: found[line] for line, name in asked if line in found}


def _with_instances(entries: Mapping[Name, Variants], known: Mapping[Name, ClassAnswer]) -> dict[Name, Variants]:
    """With the abilities of instances beside the templates that headers declare: nobody declares an instance."""
    found = dict[Name, list[Instance]]()
    for name, answer in sorted(known.items()):
        template = Name("record", template_behind(name).replace("<...>", ""))
        if template.spelling and not any(isinstance(each, Declared) for each in entries.get(name, ())):
            found.setdefault(template, []).append(Instance(name.spelling, answer.abilities))
    told = {name: tuple(instances) for name, instances in found.items() if name in entries}
    return {name: _of_template(shapes, told[name]) if name in told else shapes for name, shapes in entries.items()}


def _of_template(shapes: Variants, instances: tuple[Instance, ...]) -> Variants:
    return tuple([replace(each, instances=instances) if isinstance(each, Declared) else each for each in shapes])


def _complete(walked: Walked, *, runtime: bool) -> Iterator[Name]:
    """The classes with a layout that a text can name."""
    for name, shapes in walked.entries.items():
        nameable = name.kind == "record" and not UNNAMED.search(name.spelling)
        if nameable and not is_foreign(name.spelling, runtime) and any(isinstance(each, Record) for each in shapes):
            yield name


def _told(name: Name, shapes: Variants, known: Mapping[Name, ClassAnswer], walked: Walked) -> Variants:
    if name.kind != "record":
        return shapes
    answer, padded = known.get(name), name in walked.padded
    derives = any(each.bases for each in shapes if isinstance(each, Record))
    return tuple([_answered(each, answer, padded=padded, derives=derives) for each in shapes])


def _of_members(abilities: Abilities) -> Abilities:
    """The abilities of a class with a base class, which a list of values begins with."""
    return replace(abilities, lacking=tuple(sorted({*abilities.lacking, "list_members"})))


def _answered(shape: AnyShape, answer: ClassAnswer | None, *, padded: bool, derives: bool) -> AnyShape:
    match shape:
        case Declared() if answer is not None:
            return replace(shape, abilities=_of_members(answer.abilities) if derives else answer.abilities)
        case Record() if answer is not None:
            shape = replace(shape, passing="value" if answer.by_value else "reference")
            if not padded or is_open_by_parts(shape):
                return shape
            return replace(shape, tail="closed" if answer.abilities.data_size == shape.size else "open")
        case _:
            return shape


class _Answers:
    """Reads what the compiler made of the text."""

    def __init__(self, text: TextBehind) -> None:
        self._lib: LibClang = libclang()
        self._text = text
        self._errors = text.lines_with_errors()

    def found(self) -> dict[int, ClassAnswer]:
        """The answers by the line of the question; the line behind it is that of the class that derives."""
        lib = self._lib
        asked, derived = dict[int, Type](), dict[int, Cursor]()
        for each in lib.top(self._text.unit):
            if each.kind == kinds.STRUCT:
                line = lib.place(lib.getCursorLocation(each))[1] - self._text.before
                if line in self._errors:
                    continue
                if lib.spelling(each) == _TEMPLATE:
                    asked[line] = lib.getCursorType(each)
                elif lib.isCursorDefinition(each):
                    derived[line - 1] = each
        return {line: self._answer(type, derived.get(line)) for line, type in asked.items()}

    def _answer(self, asked: Type, derived: Cursor | None) -> ClassAnswer:
        answers, data_size = (self._length(field) for field in self._lib.fields(asked))
        lacking = {ability for bit, ability in enumerate(_ASKED) if not answers >> bit & 1}
        lacking |= {"derive", *_OF_DERIVED} if derived is None else set(self._deleted(derived))
        return ClassAnswer(Abilities(tuple(sorted(lacking)), data_size), bool(answers >> len(_ASKED) & 1))

    def _length(self, field: Cursor) -> int:
        return (self._lib.bound(self._lib.getCursorType(field)) or 1) - 1

    def _deleted(self, derived: Cursor) -> Iterator[Ability]:
        """What the compiler does not make for a class that derives and leaves all to it."""
        members = [each for each in self._lib.children(derived) if each.kind in _SPECIAL]
        for ability, member in zip(_OF_DERIVED, members, strict=True):
            if self._lib.CXXMethod_isDeleted(member):
                yield ability


_SPECIAL: Final = frozenset({*kinds.STRUCTORS, kinds.METHOD})

_OF_DERIVED: Final[Sequence[Ability]] = (
    *("derived_default", "derived_copy", "derived_move", "derived_assign", "derived_move_assign", "derived_destroy"),
)
"""In the order of the members that the text writes."""
