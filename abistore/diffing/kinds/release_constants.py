"""Constants that identify the release or the build, and families of macros such as errors and flags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, reduce
from itertools import islice
from operator import or_
from typing import Final, NamedTuple

from abistore.diffing.context import Context
from abistore.diffing.side import SideFacts
from abistore.diffing.types.closed_classes import INTEGER, known_value
from abistore.model.declarations import Argument, Declared, Name
from abistore.model.hints import any_matches, matches
from abistore.model.names.qualified import last_component
from abistore.model.names.symbols import INTEGERS, plain_path
from abistore.model.shapes import Function, Primitive, Record, TypeRef
from abistore.patterns import pattern

_WORD: Final = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"


def tells_release(name: Name) -> bool:
    """Whether a constant is called the version of the library, or a part of it: ``GEO_VERSION_MAJOR``, ``GeoVersion``.

    Every release has another one, and no library can keep it. ``GEO_ABI_VERSION`` is no such constant. The package's
    name and version stand in ``PACKAGE_STRING`` (Autoconf, AC_INIT), and what libtool counts (its manual, "Updating
    library version information") moves with every release that adds something.
    """
    words = name_words(name)
    counted = any_matches("counted_by_libtool", words[-1:]) and any_matches("counted_release", words[-2:-1])
    return counted or _is_version(words)


def _is_version(words: list[str]) -> bool:
    told = any_matches("release", words) or any_matches("part_of_release", words[-1:])
    told = told or words[-2:] in (["package", "string"], ["patch", "level"])
    return told and not is_of_something_else(words)


def is_of_something_else(words: list[str]) -> bool:
    """Whether a constant of these words is the version of a format, an interface or a structure, or a limit."""
    return any_matches("no_release", words)


def tells_interface(name: Name) -> bool:
    """Whether a constant is called the version of an interface, or a part of it: ``GEO_API_VERSION``.

    What an interface has and no longer has, its declarations tell. A number that says that it is another one lets
    sources take another way (``#if GEO_API_VERSION >= 3``), and no more. The version of an ABI, a format, a protocol or
    a structure is another matter: data and programs are made for that.
    """
    told = name_words(name)
    return any_matches("interface", told) and _is_version([each for each in told if not matches("interface", each)])


def accepts_former(name: Name) -> bool:
    """Whether a number that programs hand over is one of which libraries accept former ones by convention.

    So it is with that of the release, and with the minor number of an interface: what came with it was added.
    """
    return tells_release(name) or any_matches("lesser_part_of_release", name_words(name)[-1:])


def name_words(name: Name) -> list[str]:
    """The words of which the last component of a constant's name is made."""
    path = plain_path(name.spelling)  # an inline variable of a namespace is called by its symbol
    return release_words(path[-1] if path else last_component(name.spelling))


def release_words(text: str) -> list[str]:
    """The words of which a name is made, in small letters: ``SplitType``, ``split_type`` and ``SPLIT_TYPE`` are two."""
    return [word.lower() for word in re.findall(_WORD, text)]


MOST: Final = 16
"""How many beginnings of one name are looked at, shortest first."""


class Family:
    """Macros with their numbers on both sides, and the words that they are ``called`` by but for the library's name.

    Those that are ``following`` stand for others on the old side, and move with these.
    """

    def __init__(self, called: Sequence[str]) -> None:
        self.called = called
        self.old: dict[Name, int] = {}
        self.new: dict[Name, int] = {}
        self.following: set[Name] = set()

    def has_now(self, number: int, but: Name) -> bool:
        """Whether another macro than ``but`` has a number now."""
        return self._now[number] > (self.new.get(but) == number)

    def had(self, number: int, but: Name) -> bool:
        """Whether another macro than ``but`` had a number before."""
        return self._before[number] > (self.old.get(but) == number)

    def others_moved(self, name: Name) -> bool:
        """Whether a macro beside ``name`` has another number than before."""
        return len(self._moved) > (name in self._moved)

    @cached_property
    def _now(self) -> Counter[int]:
        return Counter(self.new.values())

    @cached_property
    def _before(self) -> Counter[int]:
        return Counter(self.old.values())

    @cached_property
    def _moved(self) -> frozenset[Name]:
        return frozenset(each for each, number in self.new.items() if number != self.old.get(each, number))


class Families:
    """The macros of integers of both sides, but for those that measure something.

    They are put together once: whoever asks of each macro looks at its own families only.
    """

    def __init__(self, context: Context) -> None:
        self._prefixes: dict[str, Family] = {}
        self._stems: dict[str, Family] = {}
        for name, number, is_following in _macros(context.old):
            for family in self.of(name):
                family.old[name] = number
                family.following.update([name] if is_following else ())
        for name, number, _ in _macros(context.new):
            for family in self.of(name):
                family.new[name] = number

    def of(self, name: Name) -> list[Family]:
        """The families of a macro: of what its name begins with, longest first, and of what that does behind a prefix.

        What is on trial in a library may have a prefix of its own: ``GEOX_JOIN_OPEN`` stands in a row with
        ``GEO_JOIN_ROUND``, by what is behind the first ``_``.
        """
        return self.beginning(name) + [self._stem(each) for each in prefixes(name.spelling.partition("_")[2])]

    def beginning(self, name: Name) -> list[Family]:
        """The families of what the name of a macro begins with, longest first."""
        return [self._prefix(each) for each in prefixes(name.spelling)]

    def _prefix(self, prefix: str) -> Family:
        if prefix not in self._prefixes:
            called = release_words(prefix)
            self._prefixes[prefix] = Family(called[1:] or called)
        return self._prefixes[prefix]

    def _stem(self, stem: str) -> Family:
        if stem not in self._stems:
            self._stems[stem] = Family(release_words(stem))
        return self._stems[stem]


def prefixes(spelling: str) -> list[str]:
    """What a name begins with up to each ``_``, longest first."""
    ends = islice(re.finditer("(?<=[^_])_", spelling), MOST)
    return [spelling[: found.end()] for found in ends][::-1]


def _macros(side: SideFacts) -> Iterator[tuple[Name, int, bool]]:
    """The macros of integers, and whether each stands for others, as ``SET_BOTH (SET_A | SET_B)`` does."""
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        for shape in shapes:
            if isinstance(shape, Declared) and {"constant", "macro"} <= set(shape.traits):
                value = INTEGER.fullmatch(known_value(shape) or "")
                parts = {part.lower() for part in name.spelling.split("_")}
                if value and not any_matches("measure", parts) and not tells_release(name):
                    yield name, int(value[1]), shape.meaning is not None


def is_moved_error(name: Name, context: Context) -> bool:
    """Whether a macro is a code of an error that has another number: programs look for the old one in results.

    Its family is called so, each code has a number of its own in both releases, and a function returns an integer.
    """
    found = any(_is_code(name, family) for family in context.once(Families).beginning(name))
    return found and context.once(_returns_integers)


def _is_code(name: Name, family: Family) -> bool:
    if name not in family.old or name not in family.new or name in family.following:
        return False
    distinct = _are_distinct(family.old.values()) and _are_distinct(family.new.values())
    return distinct and any_matches("error_macro", family.called)


def _are_distinct(numbers: Collection[int]) -> bool:
    return len(set(numbers)) == len(numbers) >= FEWEST


def _returns_integers(context: Context) -> bool:
    source, types = context.old.snapshot.entries.get("source", {}), context.old.types
    results = (shape.result for shapes in source.values() for shape in shapes if isinstance(shape, Function))
    bare = (types.bare(each)[0] for each in results)
    return any(isinstance(each, Primitive) and each.spelling in INTEGERS for each in bare)


def is_moved_flag(name: Name, context: Context) -> bool:
    """Whether a macro is one bit of a family that was given out anew: programs ask for another flag by the old number.

    So it is where a further macro of the family has that number now, or moved too. What is written as several of them
    (``(SET_A | SET_B)``) follows from these. Zero is no bit: a switch that is on or off may be called alike.
    """
    for family in context.once(Families).beginning(name):
        if name not in family.old or name not in family.new or name in family.following:
            return False
        if family.old[name] and context.once(_are_flags, family):
            return family.has_now(family.old[name], name) or family.others_moved(name)
    return False


def _are_flags(family: Family, _: Context) -> bool:
    """Whether most numbers that are written as such are single bits, and the others are made of these."""
    values = {number for each, number in family.old.items() if each not in family.following}
    bits = {value for value in values if value > 0 and value & (value - 1) == 0}
    combined = values - bits - {0}
    together = reduce(or_, bits, 0)
    made = all(value > 0 and value & ~together == 0 for value in combined)
    return len(bits) >= FEWEST and 2 * len(combined) < len(bits) and made and not are_sequence(values)


def are_sequence(values: set[int]) -> bool:
    """Whether numbers run without a gap: they are told apart as a whole, and not bit by bit."""
    return max(values) - min(values) < len(values)


FEWEST: Final = 3
"""So many numbers at least are a numbering, or make a mask."""


class Mention(NamedTuple):
    """The words of a parameter, field or function, and those of the function or record that has it."""

    own: frozenset[str]
    around: frozenset[str] = frozenset()


def is_mentioned(called: Collection[str], context: Context) -> bool:
    """Whether an integer that programs pass, fill in or get is ``called`` so, in its own name and what has it."""
    return any(_fits(each, called) for each in context.once(_mentions))


def _fits(mention: Mention, called: Collection[str]) -> bool:
    own = [word for word in called if word in mention.own]
    return bool(own) and all(word in own or word in mention.around for word in called)


def _mentions(context: Context) -> frozenset[Mention]:
    return frozenset(
        mention
        for name, shapes in context.old.snapshot.entries.get("source", {}).items()
        for shape in shapes
        for mention in _of(name, shape, _mentioned_text(shapes), context.old)
    )


def _mentioned_text(shapes: Sequence[object]) -> Sequence[Argument]:
    return next((each.parameters for each in shapes if isinstance(each, Declared)), ())


def _of(name: Name, shape: object, written: Sequence[Argument], side: SideFacts) -> Iterator[Mention]:
    if isinstance(shape, Record):
        around = frozenset(release_words(last_component(name.spelling)))
        yield from (
            Mention(frozenset(release_words(each.name)), around) for each in shape.fields if _is_number(each.type, side)
        )
    elif isinstance(shape, Function):
        around = frozenset(release_words(last_component(shape.display))[1:])  # most begin with the library's own name
        numbers = [_is_number(each, side) for each in shape.parameters]
        named = written if len(written) == len(numbers) else [Argument()] * len(numbers)
        pairs = zip(named, numbers, strict=True)
        yield from (Mention(frozenset(release_words(each.name)), around) for each, is_number in pairs if is_number)
        if _is_number(shape.result, side):
            yield Mention(around)


def _is_number(type: TypeRef, side: SideFacts) -> bool:
    bare = side.types.levels(type)[1]
    return isinstance(bare, Primitive) and bare.spelling in INTEGERS


def is_moved_number(name: Name, context: Context) -> bool:
    """Whether a macro of a numbering got another number because others came, went or changed places.

    The names of a numbering begin alike, each has a number of its own, and these run without a gap, in both releases.
    One of them moves where its old number is another's now, or its new number was. An integer that programs exchange
    with the library is called as they are: without that, a numbering may be for the library alone, as its opcodes are.
    """
    return any(_is_moved(name, family, context) for family in context.once(Families).of(name))


def _is_moved(name: Name, family: Family, context: Context) -> bool:
    if name not in family.old or name not in family.new:
        return False
    moved = family.has_now(family.old[name], name) or family.had(family.new[name], name)
    return moved and context.once(_are_numbered, family)


def _are_numbered(family: Family, context: Context) -> bool:
    most = max(len(family.old), len(family.new))
    runs = most >= FEWEST and _run(family.old.values()) and _run(family.new.values())
    return runs and is_mentioned(family.called, context)


def _run(values: Collection[int]) -> bool:
    return len(values) > 1 and len(set(values)) == len(values) == max(values) - min(values) + 1


_TEXTS: Final = pattern(r'(?:\s*,?\s*"(?:[^"\\]|\\.)*")+\s*(?:,\s*(?:nullptr|NULL|0)\s*)?')
"""Texts, and a list of them that a null pointer ends."""


def is_probe(name: Name, value: str | None) -> bool:
    """Whether a macro tells what ``configure`` found: ``GEO_HAVE_POLL``, ``HAVE_UNISTD_H``, ``STDC_HEADERS``.

    Autoconf defines it as 1 or leaves it out (its manual, "Present But Cannot Be Compiled" and "Obsolete Macros"), and
    CMake's ``#cmakedefine`` does the same: sources ask for it by ``#ifdef`` or ``#if``, and compile either way.
    """
    told = name_words(name)
    asked = "have" in told[:3] or told[-2:] == ["stdc", "headers"]
    return asked and not is_of_something_else(told) and matches("found_by_configure", (value or "").strip())


def tells_build(name: Name, old: str, new: str) -> bool:
    """Whether the two values of a macro tell two builds apart, as those of any two releases differ.

    That is what ``configure`` found, or wrote of the package; the time, place or compiler of a build; the commit it was
    made from; who wrote it; the number of the release in another spelling. A limit, a format, an interface or an
    option is none of these.
    """
    if any(all(tells(name, each) for each in (old, new)) for tells in (is_probe, is_of_package)):
        return True
    told = name_words(name)
    if "default" in told or is_of_something_else(told):
        return False
    texts = all(_TEXTS.fullmatch(each) for each in (old, new))
    said = (texts and _text_tells(told, old, new)) or _is_notice(told, old, new)
    return said or matches("release_in_one_word", told[-1])


def _is_notice(told: list[str], old: str, new: str) -> bool:
    """Whether a macro is a text for people, of which another macro may be a part: ``GEO_NAME "  Copyright 2026"``."""
    return matches("notice", told[-1]) and all('"' in each for each in (old, new))


def _text_tells(told: list[str], old: str, new: str) -> bool:
    if (matches("fact_of_build", told[-1]) and any_matches("build", told[-2:-1])) or _is_place(told, old, new):
        return True
    return matches("commit", old) and matches("commit", new) and any_matches("sources", told)


def _is_place(told: list[str], old: str, new: str) -> bool:
    """Whether texts are paths of the machine that built the library: ``GEO_SOURCE_DIR``, ``GEO_CXX_COMPILER``.

    A folder that programs find files in at run time (``GEO_DATA_DIR``) is another matter.
    """
    built = matches("place_of_build", " ".join(told[-2:]))
    return built and matches("absolute_path", old) and matches("absolute_path", new)


def is_of_package(name: Name, value: str | None) -> bool:
    """Whether a macro is a text about the package that Autoconf writes for its own sources: ``PACKAGE_TARNAME``.

    A public ``config.h`` has it by accident (Autoconf manual, AC_INIT), and another build system does not write it.
    """
    told = name_words(name)
    about = told[-1:] == ["package"] or (told[-2:-1] == ["package"] and matches("of_package", told[-1]))
    return (about or told[-2:] == ["lt", "objdir"]) and _TEXTS.fullmatch(value or "") is not None
