"""Constants by what they are for: sentinels, lists of arguments, and constants moved between macro and enumeration."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from operator import or_
from typing import Final

from abistore.diffing.context import Context
from abistore.diffing.kinds.enumerators import EnumeratorValues
from abistore.diffing.kinds.release_constants import (
    are_sequence,
    prefixes,
    release_words,
    tells_interface,
    tells_release,
)
from abistore.diffing.side import SideFacts, enumerated
from abistore.diffing.types.closed_classes import INTEGER, known_value, number
from abistore.model.constants import TOKEN, constant, literal, words
from abistore.model.declarations import TYPES, Changed, Declared, Name, Replacement, unnamed_enum
from abistore.model.hints import any_matches, matches
from abistore.model.names.qualified import last_component
from abistore.model.names.symbols import c_name
from abistore.model.shapes import (
    Enum,
    Enumerator,
    Function,
    Named,
)
from abistore.model.snapshot import INITIALIZERS, MACROS, HeadersRead
from abistore.model.structure import references
from abistore.patterns import pattern

FEWEST: Final = 2
"""One number alone has no last one."""


def gathers_flags(name: Name, old: Declared, new: Declared, context: Context) -> bool:
    """Whether a constant is all of some flags on both sides, and has gained exactly the bits of flags that were added.

    ``#define GEO_KINDS_MASK 0x3f``: each bit of it is a constant whose name begins like its own, and keeps its bit. No
    constant had a bit that it gained: a field of a word that is packed takes such bits from the field beside it.
    """
    before, after = _number(old), _number(new)
    if before is None or after is None or before <= 0 or before & ~after or before == after:
        return False
    if any_matches("length", release_words(name.spelling)):
        return False
    flags = context.once(_flags, context.old), context.once(_flags, context.new)
    for prefix in prefixes(name.spelling):
        own, now = (_beside(name, side, prefix) for side in flags)
        if _gains_flags(before, after, own, now):
            others = _beside(name, context.once(_integers, context.new), prefix).values()
            return not are_sequence({value for value in others if value > 0 and not value & ~after})
    return False


def _beside(name: Name, constants: Mapping[Name, int], prefix: str) -> dict[Name, int]:
    return {each: constants[each] for each in constants if each != name and each.spelling.startswith(prefix)}


def _flags(side: SideFacts, context: Context) -> Mapping[Name, int]:
    """The constants of a side that are a single bit: few, where many are numbered."""
    return {each: value for each, value in context.once(_integers, side).items() if value.bit_count() == 1}


def _gains_flags(before: int, after: int, own: Mapping[Name, int], now: Mapping[Name, int]) -> bool:
    """Whether ``before`` is all of some single bits that were kept, and ``after`` these and some that were added."""
    gained = after & ~before
    kept = {bit for each, bit in own.items() if bit & before and now.get(each) == bit}
    added = {bit for each, bit in now.items() if bit & gained and each not in own}
    if len(kept) < FEWEST or reduce(or_, kept) != before or reduce(or_, added, 0) != gained:
        return False
    return not any(bit & gained for bit in own.values())


def _integers(side: SideFacts, _: Context) -> Mapping[Name, int]:
    """The constants of a side with a number of their own: macros, and enumerators that stand beside their enumeration.

    What is written as several others (``(SET_A | SET_B)``) has none, nor has what measures the others.
    """
    found = dict(side.enumerators)
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        for shape in shapes if name.kind == "variable" else ():
            if not isinstance(shape, Declared) or "constant" not in shape.traits:
                continue
            value = _number(shape)
            if value is not None and (value.bit_count() == 1 or _is_itself(name, shape)):
                found[name] = value
    return found


def _is_itself(name: Name, declared: Declared) -> bool:
    return declared.meaning is None and not any_matches("measure", release_words(name.spelling))


def _number(declared: Declared) -> int | None:
    value = INTEGER.fullmatch(known_value(declared) or declared.value or "")
    return int(value[1]) if value else None


def is_initializer(value: str | None) -> bool:
    """Whether the text of a constant is a list of first values, perhaps with its type: ``(struct lock){17, 0}``."""
    return value is not None and value.endswith("}")


def is_unread(value: str | None, side: SideFacts) -> bool:
    """Whether a constant is such a list, and the headers of a side were read when these were passed over."""
    read = side.snapshot.provenance.headers
    return is_initializer(value) and isinstance(read, HeadersRead) and INITIALIZERS not in read.facts


SMALLEST: Final = 256
"""Smaller numbers are like that of a release by chance."""

_DOTTED: Final = pattern(r"(?<![\w.])\d{1,4}(?:\.\d{1,4}){1,2}(?![\w.])")
_IN_FILE: Final = pattern(r"\.so\.(\d+(?:\.\d+){1,2})$")


def has_value_of_release(declared: Changed[Declared], context: Context) -> bool:
    """Whether a constant is the number of the release on both sides: programs that set nothing are given that.

    ``GEO_WARNINGS_SINCE`` is one, which is the version of the library where sources do not define it themselves.
    """
    sides = ((declared.old, context.old), (declared.new, context.new))
    return all(_packed_number(each) in context.once(release_numbers, side) for each, side in sides)


def release_numbers(side: SideFacts, _: Context) -> frozenset[int | None]:
    """The numbers that stand for the release: as its constants have it, and as its version is packed in one."""
    found: set[int | None] = set()
    texts = [side.snapshot.provenance.file]
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        if name.kind == "variable" and tells_release(name):
            for each in shapes:
                if isinstance(each, Declared):
                    found.add(_packed_number(each))
                    texts.append(known_value(each) or each.value or "")
    for text in texts:
        for version in (*_DOTTED.findall(text), *_IN_FILE.findall(text)):
            found.update(_packings([int(part) for part in version.split(".")]))
    return frozenset(each for each in found if each is not None and each >= SMALLEST)


def _packings(parts: list[int]) -> Iterator[int]:
    major, minor, patch = (*parts, 0, 0)[:3]
    for step in (1 << 8, 100, 1000):
        yield (major * step + minor) * step + patch
        yield major * step + minor
    yield major << 24 | minor << 16 | patch << 8


def _packed_number(declared: Declared) -> int | None:
    read = literal((known_value(declared) or declared.value or "").strip("() "))
    return None if read is None else read[0]


def meanings(declared: Changed[Declared], context: Context) -> tuple[str, str] | None:
    """The two values of a macro whose text is the same, where another constant of the headers gives it another value.

    Where a macro of somebody else has a part in it, it is the machine that differs, unless the library's own did too.
    """
    old, new = declared.old.meaning, declared.new.meaning
    if old is None or new is None or old.value == new.value:
        return None
    borrowed = old.borrowed or new.borrowed
    if borrowed and not any(_differs(name, context) for name in named(declared.old, declared.subject.name)):
        return None
    return old.value, new.value


def follows_release(declared: Changed[Declared], context: Context) -> bool:
    """Whether a constant tells the release, or only those that it names and that do so changed, or has its number."""
    if tells_release(declared.subject.name) or _follows_only(declared, context, tells_release):
        return True

    return has_value_of_release(declared, context)


def follows_interface(declared: Changed[Declared], context: Context) -> bool:
    """Whether a constant tells the version of an interface, or only such and the release changed of what it names.

    ``#define GEO_API_VERSION_STR GEO_TEXT(GEO_API_VERSION_MAJOR, GEO_API_VERSION_MINOR)``.
    """
    return tells_interface(declared.subject.name) or _follows_only(
        declared, context, lambda each: tells_release(each) or tells_interface(each)
    )


def _follows_only(declared: Changed[Declared], context: Context, told: Callable[[Name], bool]) -> bool:
    changed = [each for each in named(declared.old, declared.subject.name) if _differs(each, context)]
    return declared.old.value == declared.new.value and bool(changed) and all(map(told, changed))


def named(declared: Declared, name: Name) -> Iterator[Name]:
    """The constants that a macro may name."""
    for word in sorted(words(declared.value or "")):
        if word != name.spelling:
            yield Name("variable", word)


def _differs(name: Name, context: Context) -> bool:
    old, new = written(context.old, name), written(context.new, name)
    from abistore.diffing.types.closed_classes import is_same_constant  # headers alone write values

    if not is_same_constant(old, new):
        return True
    return old.meaning is not None and new.meaning is not None and old.meaning.value != new.meaning.value


def written(side: SideFacts, name: Name) -> Declared:
    """What the headers of a side write of a constant."""
    found = (each for each in side.variants("source", name) if isinstance(each, Declared))
    return next(found, Declared())


def public_functions(side: SideFacts) -> Iterator[Function]:
    """The functions that headers declare and programs can name."""
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        if any(isinstance(shape, Function) for shape in shapes) and side.consumers.can_name(name):
            yield from (shape for shape in shapes if isinstance(shape, Function))


def is_other_argument(name: Name, context: Context) -> bool:
    """Whether a macro lists several arguments, and an enumerator among them gave way to another number.

    Functions take the enumeration, so that the list is made for calls. Nothing else can be done with several values,
    but to fill in an object.
    """
    old, new = (list(_listed(written(side, name).value or "")) for side in (context.old, context.new))
    if len(old) != len(new) or len(old) < 2 or matches("default", name.spelling):
        return False
    return any(_is_other(*pair, context) for pair in zip(old, new, strict=True))


def _listed(text: str) -> Iterator[str]:
    """What stands between the commas of a list that has no parentheses or braces around it."""
    depth, found = 0, list[str]()
    for match in TOKEN.finditer(text):
        depth += (match[0] in "([{") - (match[0] in ")]}")
        if match[0] == "," and not depth:
            yield " ".join(found)
            found.clear()
        else:
            found.append(match[0])
    yield " ".join(found)


def _is_other(old: str, new: str, context: Context) -> bool:
    before, after = Name("variable", old), _listed_number(new, context.new)
    if before not in context.once(_taken) or after is None:
        return False
    return after != context.old.enumerators[before]


def _listed_number(text: str, side: SideFacts) -> int | None:
    known = constant(text) or ""
    return side.enumerators.get(Name("variable", text), int(known) if known.isdecimal() else None)


def _taken(context: Context) -> frozenset[Name]:
    side = context.old
    source = side.snapshot.entries.get("source", {})
    return frozenset(each for name in set(_enumerations(side)) for each, _ in enumerated(name, source.get(name, ())))


def _enumerations(side: SideFacts) -> Iterator[Name]:
    for function in public_functions(side):
        found = (side.types.bare(each)[0] for each in function.parameters)
        yield from (each.name for each in found if isinstance(each, Named) and each.name.kind == "enum")


CAST: Final = pattern(r"[\s(]*\(\s*(\w+)\s*\)")
"""How the text of a number begins that is cast to a type; the type's name is the group."""


def is_moved_none(name: Name, context: Context) -> bool:
    """Whether a macro is called the number that means none, of a type which functions take or return.

    Programs compare what they get with the old number, and pass it where they have nothing. The header casts it to the
    name that signatures have for these numbers.
    """
    if not any_matches("none", release_words(name.spelling)):
        return False
    old, new = written(context.old, name), written(context.new, name)
    cast = CAST.match(old.value or "")
    numbers = all(INTEGER.fullmatch(known_value(each) or "") for each in (old, new))
    return numbers and cast is not None and Name("alias", cast[1]) in context.once(_exchanged)


def _exchanged(context: Context) -> frozenset[Name]:
    """The names that headers have for types, and that signatures of public functions mention."""
    functions = public_functions(context.old)
    return frozenset(each for shape in functions for each, _ in references(shape) if each.kind == "alias")


def is_end(name: Name, old: Declared, new: Declared, context: Context) -> bool:
    """Whether a constant marks the end or the count of its enumeration, on both sides."""
    return _ends(name, old, context.old) and _ends(name, new, context.new)


def _ends(name: Name, declared: Declared, side: SideFacts) -> bool:
    value = number(declared)
    if value is None:
        return False
    own = Enumerator(last_component(name.spelling), value)
    first = declared.within or name.spelling
    enum = side.unnamed_enums.get(Name("enum", first), (own,))
    return EnumeratorValues(Enum(0, enum), unnamed_enum(first).spelling).is_sentinel(own)


OBJECT_LIKE: Final = "no list of parameters"


def reads_macros(side: SideFacts) -> bool:
    """Whether the headers of a side were asked for such macros."""
    read = side.snapshot.provenance.headers
    return isinstance(read, HeadersRead) and MACROS in read.facts


def replacement(side: SideFacts, name: Name) -> Replacement | None:
    """What a macro of a side puts in its place."""
    found = (shape for shape in side.variants("source", name) if isinstance(shape, Declared))
    return next((each.replacement for each in found if each.replacement is not None), None)


def called(macro: Replacement) -> str:
    """How many arguments a macro takes, in words."""
    if macro.parameters is None:
        return OBJECT_LIKE
    plural = "" if macro.parameters == 1 else "s"
    return f"{macro.parameters} parameter{plural}{' and more' if macro.variadic else ''}"


def accepts(new: Replacement, old: Replacement) -> bool:
    """Whether a macro can be used with all the arguments that another one took."""
    if old.parameters is None or new.parameters is None:
        return old.parameters == new.parameters
    if old.variadic and not new.variadic:
        return False
    return new.parameters <= old.parameters if new.variadic else new.parameters == old.parameters


def is_told_as_macro(declared: Changed[Declared]) -> bool:
    """Whether a constant that is another macro now, or was one, differs in how it is used, and not in its value.

    What stood for a number stands for none now, which is told of the constant.
    """
    old, new = declared.old.replacement, declared.new.replacement
    if old is None and new is None:
        return False
    if any(each is not None and each.parameters is not None for each in (old, new)):
        return True
    return bool(words(declared.old.value or declared.new.value or ""))


def takes_arguments(value: str | None, old: Replacement, context: Context) -> bool:
    """Whether a macro without parameters is the name of what can be called as the macro with parameters was."""
    return value is not None and value.isidentifier() and has_callable(Name("variable", value), old, context.new)


def has_callable(name: Name, macro: Replacement, side: SideFacts) -> bool:
    """Whether the headers of a side have what can stand where a macro stood: a function, a type, a constant."""
    if any(side.variants("source", Name(kind, name.spelling)) for kind in TYPES):
        return True
    if macro.parameters is None:
        return name in side.enumerators or bool(side.variants("source", Name("function", name.spelling)))
    other = replacement(side, name)
    if other is not None and accepts(other, macro):
        return True
    return any(low <= macro.parameters <= high for low, high in _takes(name.spelling, side))


def _takes(spelling: str, side: SideFacts) -> Iterator[tuple[int, float]]:
    """The fewest and the most arguments of functions of the global namespace that are called so."""
    for each in side.overload_sets.get(Name("function", spelling), ()):
        yield each.required, float("inf") if each.function.variadic else len(each.function.parameters)
    for shape in side.variants("source", Name("function", spelling)):
        if isinstance(shape, Function):
            yield len(shape.parameters), float("inf") if shape.variadic else len(shape.parameters)
        elif isinstance(shape, Declared) and shape.template:
            yield sum(each.default is None for each in shape.parameters), len(shape.parameters)


def macro_for(function: Name, context: Context) -> Replacement | None:
    """The macro that is called in place of a function which headers declare no more."""
    if function.kind != "function":
        return None
    macro = replacement(context.new, Name("variable", c_name(function.spelling)))
    if macro is None or macro.parameters is None or not reads_macros(context.old):
        return None
    shape = next((each for each in context.old.variants("source", function) if isinstance(each, Function)), None)
    taken = len(shape.parameters) if shape else -1
    fits = taken >= macro.parameters if macro.variadic else taken == macro.parameters
    return macro if fits else None


def is_own(name: Name, macro: Replacement) -> bool:
    """Whether headers define a macro for themselves first, so that programs may have no use for it.

    They write it in their own declarations; or it is empty, and they or its name ask whether it is defined. An
    annotation of declarations says so by its name.
    """
    spelling = name.spelling
    if "declaration" in macro.used or "inside" in macro.used or matches("annotation", spelling):
        return True
    is_empty = macro.parameters is None and not macro.digest
    return is_empty and ("asked" in macro.used or matches("switch", spelling))


_TOKEN: Final = pattern(
    r"""\s+ | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | [A-Za-z_]\w* | \.?\d[\w.]*
    | <<=|>>=|<=>|\.\.\.|\#\#|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]= | .""",
    re.VERBOSE | re.DOTALL,
)
_INFIX: Final = frozenset(
    {"|", "^", "/", "%", "==", "!=", "<=", ">=", "||", "<<", "?", "=", "+=", "-=", "|=", "&=", "^="}
)
"""What stands between two operands and nowhere else, in C and C++; ``<``, ``>``, ``*`` and ``&`` are parts of types."""

_PREFIX: Final = frozenset({"+", "-", "!", "~"})
"""What an operand follows."""


def is_unusable(declared: Declared) -> bool:
    """Whether no source that uses a constant compiles: its text is no expression, or names what nothing declares."""
    return "unresolved" in declared.traits or never_compiles(declared.value)


def never_compiles(text: str | None) -> bool:
    """Whether a macro's text lacks an operand between its own parentheses: ``(A | B |)``, ``(A | | B)``, ``(| A)``.

    What is open at either end may be completed where the macro stands. Arguments of another macro may be operators.
    """
    tokens = [each for each in _TOKEN.findall(text or "") if not each.isspace()]
    open_after, before = list[bool](), ""
    for token in tokens:
        if _lacks_operand(before, token) and open_after and not any(open_after):
            return True
        if token == "(":
            open_after.append(before[:1].isalpha() or before[:1] == "_")
        elif token == ")" and open_after:
            open_after.pop()
        before = "" if before == "operator" else token
    return False


def _lacks_operand(before: str, token: str) -> bool:
    if token == ")":
        return before in _INFIX or before in _PREFIX
    return token in _INFIX and (before in _INFIX or before in _PREFIX or before == "(")
