"""Template instances and class properties asked of the compiler."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from msgspec.structs import replace

from abistore.extract.headers import clang
from abistore.extract.headers import cursors as kinds
from abistore.extract.headers.collected import PublicFiles
from abistore.extract.headers.cursors import PLACED, Cursor, LibClang, Type, libclang
from abistore.extract.headers.faults import Faults
from abistore.extract.headers.invocation import UMBRELLA, Reading, umbrella
from abistore.extract.headers.parsing import HeaderParser, HeaderUnit
from abistore.extract.headers.walk import UNNAMED, Instantiations, Walked, made_instances
from abistore.extract.types import is_foreign
from abistore.model.declarations import Abilities, Ability, Argument, Declared, Instance, Name
from abistore.model.layout import is_open_by_parts
from abistore.model.names.qualified import demangle, last_component, template_behind, without_parameters
from abistore.model.shapes import AnyShape, Opaque, Record
from abistore.model.snapshot import Variants, sort_variants

FILE: Final = "/abistore/behind.cpp"
"""What such a text is called. It is on no disk."""

_WITH_ERRORS: Final = ("-Xclang", "-fallow-pch-with-compiler-errors")


class TextBehind(NamedTuple):
    """A unit with a text of ours behind the headers. Its line 1 follows line ``before`` of ``file``."""

    unit: clang.TranslationUnit
    file: str
    before: int

    def lines_with_errors(self) -> dict[int, clang.Diagnostic]:
        """The first error that each line of the text has or leads to."""
        return {line - self.before: said for line, said in clang.lines_with_errors(self.unit, self.file).items()}


class BehindUnit:
    """Compiles texts behind a unit, which is saved to a file of ``folder`` for the first of them."""

    def __init__(self, parser: HeaderParser, reading: Reading, unit: HeaderUnit, folder: Path) -> None:
        self.parser = parser
        self.reading = reading
        self.unit = unit
        self._path = folder / "unit.ast"

    def read(self, text: str, *, bodies: bool = False) -> TextBehind:
        """The unit that ``text`` makes; without ``bodies`` those of functions are passed over."""
        found = self._on_saved(text, bodies=bodies)
        if found is not None:
            return TextBehind(found, FILE, 0)
        again = self.parser.with_text(self.reading, self.unit, text, bodies=bodies)
        return TextBehind(again.unit, UMBRELLA[self.reading.language], self._headers.count("\n"))

    @property
    def _headers(self) -> str:
        return umbrella(self.unit.headers, expected=self.unit.expected)

    def _on_saved(self, text: str, *, bodies: bool) -> clang.TranslationUnit | None:
        """``None`` where the unit cannot be continued, as where arguments include further files."""
        if not self._path.exists() and not clang.saved(self.unit.unit, str(self._path)):
            return None
        invocation = self.parser.invocation
        arguments = [*invocation.arguments(self.reading), "-include-pch", str(self._path), *_WITH_ERRORS]
        files = {
            **invocation.toolchain.replaced,
            **invocation.edited,
            UMBRELLA[self.reading.language]: self._headers,
        }
        found = clang.parsed(FILE, text, arguments, files, bodies=bodies)
        refused = found is None or any(each.fatal and each.file != FILE for each in clang.errors(found))
        return None if refused else found


@contextmanager
def behind_unit(parser: HeaderParser, reading: Reading, unit: HeaderUnit) -> Iterator[BehindUnit]:
    """Compiles texts behind a unit; its file is removed at the end."""
    with TemporaryDirectory(prefix="abistore-") as folder:
        yield BehindUnit(parser, reading, unit, Path(folder))


MOST_INSTANCES: Final = 1000
"""How many are made, by name; the most that headers of real libraries point to are a few dozen."""

MOST_ROUNDS: Final = 3
"""How often the headers are parsed again: what an instance points to or derives from may be one more."""

MARKER: Final = "abistore_made"
TEMPLATE: Final = f"template <class T> struct {MARKER} {{ enum {{ size = sizeof(T) }}; }};\n"
"""Needs its argument whole. No name is checked for access where a template is instantiated by hand."""


def with_instances(behind: BehindUnit, walked: Walked, *, runtime: bool) -> Walked:
    """What a unit declares, with the layouts of template instances that nothing in it needs complete.

    An instance that does not compile is left out alone; ``unmade`` says why.
    """
    asked: dict[Name, str] = {}
    made, unmade = walked, dict[Name, str]()
    for _ in range(MOST_ROUNDS):
        more = {name: spelled for name, spelled in made.unlaid.items() if name not in asked}
        if not _needs(more, asked.keys() - unmade.keys(), walked) or len(asked) >= MOST_INSTANCES:
            break
        asked = dict([*asked.items(), *more.items()][:MOST_INSTANCES])
        made, unmade = _made(behind, asked, walked, runtime=runtime)
        walked = _joined(walked, made)
    return replace(walked, unmade=unmade)


def _needs(more: Mapping[Name, str], asked: Iterable[Name], walked: Walked) -> bool:
    """Whether any instance still lacks a layout; ``more`` may be bases of those asked for before."""
    needed = [*more, *asked] if more else []
    return not all(_is_laid_out(walked.entries.get(name, ())) for name in needed)


def _made(
    behind: BehindUnit, asked: Mapping[Name, str], known: Walked, *, runtime: bool
) -> tuple[Walked, dict[Name, str]]:
    uses = "".join(f"template struct {MARKER}< ::{spelled} >;\n" for spelled in asked.values())
    text, parser = behind.read(TEMPLATE + uses), behind.parser
    errors = text.lines_with_errors()
    why = {name: _said(parser, errors[line]) for line, name in enumerate(asked, 2) if line in errors}
    left_out = {line + text.before for line in errors}
    instantiations = Instantiations(left_out, known.entries, Faults(libclang(), behind.unit.unit))
    return made_instances(text.unit, parser, MARKER, instantiations, runtime=runtime), why


def _said(parser: HeaderParser, error: clang.Diagnostic) -> str:
    """The message of an error, without text of files that are no headers."""
    quoted = error.file in (FILE, *UMBRELLA.values()) or parser.may_quote(error.file)
    return PLACED.sub(r"(anonymous \1)", error.message) if quoted else "cannot be made"


def _joined(first: Walked, made: Walked) -> Walked:
    """The declarations of the headers, with the layouts of instances."""
    entries, locations = dict(first.entries), dict(first.locations)
    for name, shapes in made.entries.items():
        if name not in entries:
            entries[name] = shapes
            if name in made.locations:
                locations[name] = made.locations[name]
        elif _is_laid_out(shapes) and not _is_laid_out(entries[name]):
            told = [shape for shape in entries[name] if not isinstance(shape, Opaque)]
            entries[name] = sort_variants([*told, *(shape for shape in shapes if not isinstance(shape, Declared))])
    return replace(
        first,
        lent=first.lent | made.lent,
        entries=entries,
        locations=locations,
        refused=max(first.refused, made.refused),
        padded=first.padded | made.padded,
        vast=first.vast | made.vast,
    )


def _is_laid_out(shapes: Variants) -> bool:
    return any(isinstance(shape, Record) for shape in shapes)


_POISON: Final = re.compile(rb"\b(?:GCC|clang)\s+poison\s+([^\n\"\\]*)")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_POISONED: Final = "poisoned"
"""In what clang says of such a name."""


def with_refused(behind: BehindUnit, walked: Walked) -> Walked:
    """What a unit declares, with ``refused`` for names that no program can use; compiles only if needed.

    A name is refused if its call fails with the macro of that name, and compiles without it.
    """
    words = _words_of_pragmas(behind.parser, behind.unit)
    calls = list(_under_macros(behind, walked))
    if not words and not calls:
        return walked
    probes = [f"extern int {word};" for word in words]
    probes += [each.text for each in calls]
    probes += [f"#undef {each.macro}" for each in calls]
    probes += [each.text.replace("abistore_calls", "abistore_called", 1) for each in calls]
    errors = behind.read("\n".join([*probes, ""]), bodies=bool(calls)).lines_with_errors()
    found = {word for line, word in enumerate(words, 1) if line in errors and _POISONED in errors[line].message}
    names = {name for name in walked.entries if _is_called(name, found)} if found else set()
    for line, each in enumerate(calls, 1 + len(words)):
        if line in errors and line + 2 * len(calls) not in errors:
            names.add(each.name)
    marked = {name: _marked(walked.entries[name]) for name in names}
    return replace(walked, entries={**walked.entries, **marked})


class _Call:
    """A call of a function through a macro, as a program writes it."""

    def __init__(self, lib: LibClang, cursor: Cursor, scope: str, number: int) -> None:
        self.macro = lib.spelling(cursor)
        self.name = Name("function", lib.linked(cursor))
        type = lib.getCursorType(cursor)
        count = max(0, lib.getNumArgTypes(type))
        types = [lib.text(lib.getTypeSpelling(lib.getArgType(type, index))) for index in range(count)]
        taken = ", ".join(f"__typeof__({each}) a{index}" for index, each in enumerate(types)) or "void"
        given = ", ".join(f"a{index}" for index in range(count))
        self.text = f"static inline void abistore_calls_{number}({taken}) {{ {scope}{self.macro}({given}); }}"


def _words_of_pragmas(parser: HeaderParser, unit: HeaderUnit) -> list[str]:
    """The words that public headers may poison."""
    texts = (held for file, held in clang.included_texts(unit.unit) if b"poison" in held and parser.public(file))
    found = (match[1].decode(errors="replace") for held in texts for match in _POISON.finditer(held))
    return sorted({word for each in found for word in _WORD.findall(each)})


def _under_macros(behind: BehindUnit, walked: Walked) -> Iterator[_Call]:
    """The public functions with a public macro of the same name."""
    macros = {name.spelling for name, shapes in walked.entries.items() if name.kind == "variable" and _is_macro(shapes)}
    lib, unit = libclang(), behind.unit.unit
    files = PublicFiles(lib, behind.parser, unit.obj)
    known = set[Name]()
    for cursor, scope in _functions(lib, files, lib.top(unit), ""):
        if lib.spelling(cursor) in macros:
            call = _Call(lib, cursor, scope if behind.reading.language == "c++" else "", len(known))
            if call.name in walked.entries and call.name not in known:
                known.add(call.name)
                yield call


def _functions(
    lib: LibClang, files: PublicFiles, cursors: Iterable[Cursor], scope: str
) -> Iterator[tuple[Cursor, str]]:
    for each in cursors:
        if each.kind in (kinds.FUNCTION, kinds.LINKAGE, kinds.NAMESPACE) and files.place(each) is not None:
            if each.kind == kinds.FUNCTION:
                yield each, scope
            else:
                inner = f"{scope}{lib.spelling(each)}::" if each.kind == kinds.NAMESPACE else scope
                yield from _functions(lib, files, lib.children(each), inner)


def _is_macro(shapes: Variants) -> bool:
    return any(isinstance(each, Declared) and ("macro" in each.traits or each.replacement) for each in shapes)


def _is_called(name: Name, words: set[str]) -> bool:
    spelled = without_parameters(demangle(name.spelling)) if name.kind in ("function", "variable") else name.spelling
    return last_component(spelled).partition("<")[0] in words


def _marked(shapes: Variants) -> Variants:
    return tuple(
        replace(each, traits=tuple(sorted({*each.traits, "refused"}))) if isinstance(each, Declared) else each
        for each in shapes
    )


def stand_ins(behind: BehindUnit, walked: Walked, *, runtime: bool) -> list[Name]:
    """An instance of each class template that a text can name: ``int`` for types, 1 for values.

    Those that do not compile are left out: a template that is only declared, or refuses ``int``. Compiled for its size
    alone first, because one without an end would stop the compiler later.
    """
    found = list(_instances(walked, runtime=runtime))[:MOST_INSTANCES]
    if not found:
        return []
    uses = "".join(f"template struct {MARKER}< ::{name.spelling} >;\n" for name in found)
    errors = behind.read(TEMPLATE + uses).lines_with_errors()
    return [name for line, name in enumerate(found, 2) if line not in errors]


def _instances(walked: Walked, *, runtime: bool) -> Iterator[Name]:
    for name, shapes in walked.entries.items():
        if name.kind == "record" and "<" not in name.spelling and not is_foreign(name.spelling, runtime):
            template = next((each.template for each in shapes if isinstance(each, Declared)), ())
            instance = Name("record", f"{name.spelling}<{', '.join(_arguments(template))}>")
            if template and not UNNAMED.search(name.spelling) and instance not in walked.entries:
                yield instance


def _arguments(template: tuple[Argument, ...]) -> Iterator[str]:
    for each in template:
        if each.default is not None:
            return
        yield "int" if each.name.split(maxsplit=1)[0].rstrip(".") in ("class", "typename") else "1"


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
    """The compiler's answers about a class."""

    abilities: Abilities
    by_value: bool


def with_abilities(behind: BehindUnit, walked: Walked, *, runtime: bool) -> Walked:
    """What a unit declares, with the abilities of each complete class that a text can name.

    Private nested classes are included. Nothing is known of unnamed and vast classes, of those with errors in what the
    compiler looks at, nor of templates: their instances are classes. Stand-ins for instances in programs are added.
    """
    known = _answers(behind, list(_complete(walked, runtime=runtime)))
    entries = {name: _told(name, shapes, known, walked) for name, shapes in walked.entries.items()}
    others = _answers(behind, stand_ins(behind, walked, runtime=runtime))
    return replace(walked, entries=_with_instances(entries, {**known, **others}))


def _answers(behind: BehindUnit, names: Sequence[Name]) -> dict[Name, ClassAnswer]:
    names, first = names[:MOST_CLASSES], _TEXT.count("\n") + 1
    lines = (
        f"template struct {_TEMPLATE}< ::{each} >;\nABISTORE_DERIVED({_DERIVED}{first + 2 * index}, ::{each})\n"
        for index, each in enumerate(name.spelling for name in names)
    )
    found = _Answers(behind.read(_TEXT + "".join(lines))).found() if names else {}
    asked = zip(range(first, first + 2 * len(names), 2), names, strict=True)
    return {name: found[line] for line, name in asked if line in found}


def _with_instances(entries: Mapping[Name, Variants], known: Mapping[Name, ClassAnswer]) -> dict[Name, Variants]:
    """With the abilities of instances at the template: headers declare no instances."""
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
    for name, shapes in walked.entries.items():
        nameable = name.kind == "record" and name not in walked.vast and not UNNAMED.search(name.spelling)
        if nameable and not is_foreign(name.spelling, runtime) and any(isinstance(each, Record) for each in shapes):
            yield name


def _told(name: Name, shapes: Variants, known: Mapping[Name, ClassAnswer], walked: Walked) -> Variants:
    if name.kind != "record":
        return shapes
    answer, padded = known.get(name), name in walked.padded
    derives = any(each.bases for each in shapes if isinstance(each, Record))
    return tuple([_answered(each, answer, padded=padded, derives=derives) for each in shapes])


def _of_members(abilities: Abilities) -> Abilities:
    """Without ``list_members``: the list of a derived class begins with its base."""
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
    """Reads the compiler's answers."""

    def __init__(self, text: TextBehind) -> None:
        self._lib: LibClang = libclang()
        self._text = text
        self._errors = text.lines_with_errors()

    def found(self) -> dict[int, ClassAnswer]:
        """The answers by the line of the question; the next line is that of the derived class."""
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
        members = [each for each in self._lib.children(derived) if each.kind in _SPECIAL]
        for ability, member in zip(_OF_DERIVED, members, strict=True):
            if self._lib.CXXMethod_isDeleted(member):
                yield ability


_SPECIAL: Final = frozenset({*kinds.STRUCTORS, kinds.METHOD})

_OF_DERIVED: Final[Sequence[Ability]] = (
    *("derived_default", "derived_copy", "derived_move", "derived_assign", "derived_move_assign", "derived_destroy"),
)
"""In the order of the members that the text writes."""
