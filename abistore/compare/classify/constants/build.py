"""Which macros tell what a library was built from, when and with what: no source can rely on the answer."""

from __future__ import annotations

import re
from typing import Final

from abistore.compare.classify.constants.dates import day_of, moves_on
from abistore.compare.classify.constants.release import INTERFACE, is_of_something_else, name_words
from abistore.model.names import Name

_COMPOUND: Final = re.compile(
    r"(?:num|hex|int|str|full|pkg|package)?(?:version|ver|vers|release|revision)(?:num|number|hex|int|str|string|code)?"
)
"""The version of the release, where no underscore parts the words: ``GEO_NUMVERSION``, ``GEO_HEXVERSION``."""

_BUILD: Final = frozenset({"build", "built", "compile", "compiled", "compiler", "compilation"})
_FACTS: Final = frozenset(
    {
        "date",
        "time",
        "timestamp",
        "host",
        "user",
        "machine",
        "number",
        "id",
        "type",
        "flags",
        "version",
        "name",
        "vendor",
    }
)
_COUNTED: Final = frozenset({"date", "timestamp", "number"})
"""Facts of a build that numbers tell too; a ``GEO_BUILD_TIME`` of 5 is a limit, and ``GEO_COMPILE_FLAGS`` are bits."""

_FLAGS: Final = frozenset({"cflags", "cxxflags", "cppflags", "ldflags"})
_FLAGGED: Final = frozenset({"c", "cxx", "linker"})
"""Flags of a compiler, as variables of Make and CMake are called: ``CXXFLAGS``, ``CMAKE_CXX_FLAGS``."""

_SOURCES: Final = frozenset({"git", "svn", "hg", "vcs", "scm", "commit", "changeset"})
_PROBED: Final = frozenset({"", "0", "1", "(0)", "(1)", "true", "false"})
_TEXTS: Final = re.compile(r'(?:\s*,?\s*"(?:[^"\\]|\\.)*")+\s*(?:,\s*(?:nullptr|NULL|0)\s*)?')
"""Texts, and a list of them that a null pointer ends."""

_LISTED: Final = re.compile(r'\s*"\s*[\w:.+-]+(?:\s*([,;|])\s*[\w:.+-]+)(?:\s*\1\s*[\w:.+-]+)+\s*"\s*')
"""Three words or more with one sign between them: ``"generic,broker,topic"``."""

_PATH: Final = re.compile(r'\s*"(?:/|[A-Za-z]:[/\\])[^"]*"\s*')
_BUILT: Final = frozenset({"src", "source", "build", "binary", "bin", "install"})
_FOLDERS: Final = frozenset({"dir", "directory", "prefix"})
"""Where a library was built, or installed, as CMake calls it: ``SOURCE_DIR``, ``BINARY_DIR``, ``INSTALL_PREFIX``."""

_PACKAGE: Final = frozenset({"name", "tarname", "version", "string", "bugreport", "url"})
"""What Autoconf tells of a package: ``PACKAGE_URL``."""

_NOTICES: Final = frozenset({"copyright", "author", "authors", "license", "licence"})
"""What a library says of itself, which people read: ``LUA_COPYRIGHT``."""

_VERSION_CALL: Final = re.compile(r"(\w*VERSION\w*)\s*\(\s*\d+(?:\s*,\s*\d+)*\s*\)", re.IGNORECASE)
"""A number that is made of the parts of a version: ``GEO_MAKE_VERSION(1, 15)``."""

_DAY: Final = re.compile(r"\(?\s*\d{4}\s*-\s*\d\d?\s*-\s*\d\d?\s*\)?")
_NUMBER: Final = re.compile(r"\(?(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*\)?")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ] ?\d\d:\d\d(?::\d\d)?Z?)?")
_COMMIT: Final = re.compile(r"(?<![0-9a-zA-Z])g?(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![0-9a-zA-Z])")
_DOTTED: Final = re.compile(r"\d+(?:\.\d+)+")


def is_probe(name: Name, value: str | None) -> bool:
    """Whether a macro tells what ``configure`` found: ``GEO_HAVE_POLL``, ``HAVE_UNISTD_H``, ``STDC_HEADERS``.

    Autoconf defines it as 1 or leaves it out (its manual, "Present But Cannot Be Compiled" and "Obsolete Macros"), and
    CMake's ``#cmakedefine`` does the same: sources ask for it by ``#ifdef`` or ``#if``, and compile either way.
    """
    told = name_words(name)
    asked = "have" in told[:3] or told[-2:] == ["stdc", "headers"]
    return asked and not is_of_something_else(told) and (value or "").strip() in _PROBED


def is_of_package(name: Name, value: str | None) -> bool:
    """Whether a macro is a text about the package that Autoconf writes for its own sources: ``PACKAGE_TARNAME``.

    A public ``config.h`` has it by accident (Autoconf manual, AC_INIT), and another build system does not write it.
    """
    told = name_words(name)
    about = told[-1:] == ["package"] or (told[-2:-1] == ["package"] and told[-1] in _PACKAGE)
    return (about or told[-2:] == ["lt", "objdir"]) and _TEXTS.fullmatch(value or "") is not None


def tells_build(name: Name, old: str, new: str) -> bool:
    """Whether the two values of a macro tell two builds apart, as those of any two releases differ.

    That is what ``configure`` found, or wrote of the package; the time, place or compiler of a build, or a date that
    moved on; the commit it was made from; the features that it has, or another list of words in a text, where none
    went; who wrote it; the number of the release, or of an interface, in another spelling. A limit, a format or an
    option is none of these.
    """
    if any(all(tells(name, each) for each in (old, new)) for tells in (is_probe, is_of_package)):
        return True
    told = name_words(name)
    if "default" in told:
        return False
    if is_of_something_else(told):
        return not INTERFACE.isdisjoint(told) and _are_versions(old, new)
    texts = all(_TEXTS.fullmatch(each) for each in (old, new))
    numbers = all(_NUMBER.fullmatch(each.strip()) for each in (old, new))
    days = told[-1] == "date" and all(_DAY.fullmatch(each) for each in (old, new))
    said = (texts and _text_tells(told, old, new)) or _is_notice(told, old, new)
    counted = numbers and (_number_tells(told) or _number_moves_on(told, old, new))
    return said or counted or days or _is_release(told) or _are_versions(old, new)


def _is_notice(told: list[str], old: str, new: str) -> bool:
    """Whether a macro is a text for people, of which another macro may be a part: ``GEO_NAME "  Copyright 2026"``."""
    return told[-1] in _NOTICES and all('"' in each for each in (old, new))


def _are_versions(old: str, new: str) -> bool:
    """Whether both values are versions by the macro that makes them."""
    before, after = (_VERSION_CALL.fullmatch(each.strip()) for each in (old, new))
    return before is not None and after is not None and before[1] == after[1]


def _text_tells(told: list[str], old: str, new: str) -> bool:
    if _is_list_of_features(told) or all(_LISTED.fullmatch(each) for each in (old, new)):
        return _entries(old) <= _entries(new)
    if told[-1] in _FLAGS or (told[-1] == "flags" and not _FLAGGED.isdisjoint(told[-2:-1])):
        return True
    if (told[-1] in _FACTS and not _BUILD.isdisjoint(told[-2:-1])) or _is_place(told, old, new):
        return True
    before, after = old.strip(' "'), new.strip(' "')
    stamped = told[-1] == "timestamp" and None not in (day_of(before), day_of(after))
    commits = bool(_COMMIT.search(old)) and bool(_COMMIT.search(new)) and not _SOURCES.isdisjoint(told)
    return commits or _is_stamp(old, new) or stamped or moves_on(before, after)


def _is_place(told: list[str], old: str, new: str) -> bool:
    """Whether texts are paths of the machine that built the library: ``GEO_SOURCE_DIR``, ``GEO_CXX_COMPILER``.

    A folder that programs find files in at run time (``GEO_DATA_DIR``) is another matter.
    """
    built = told[-1] == "compiler" or (told[-1] in _FOLDERS and not _BUILT.isdisjoint(told[-2:-1]))
    return built and all(_PATH.fullmatch(each) for each in (old, new))


def _is_list_of_features(told: list[str]) -> bool:
    return told[-1:] == ["features"] or told[-2:] in (["feature", "list"], ["features", "list"])


def _entries(text: str) -> frozenset[str]:
    """What a list in a text names, or a list of texts; one that loses an entry tells of something that went.

    Of lines, each names one and describes it: ``"\\n * csparse, a sparse solver"``.
    """
    lines = text.replace(r"\n", "\n").split("\n")
    if len(lines) > 2:
        return frozenset(found[0] for line in lines if (found := re.findall(r"\w[^\s\",;:]*", line)))
    return frozenset(re.findall(r"[^\s\",;]+", text))


def _is_stamp(old: str, new: str) -> bool:
    """Whether texts are alike but for a moment, and what was built at it: ``1.4.0 2025-03-07T17:10:30Z (e6d1880f)``."""
    moments = all(_MOMENT.search(each) for each in (old, new))
    named = all(_COMMIT.search(each) or _DOTTED.search(_MOMENT.sub("", each)) for each in (old, new))
    return moments and named and _without_build(old) == _without_build(new)


def _without_build(text: str) -> str:
    return _DOTTED.sub("#", _COMMIT.sub("#", _MOMENT.sub("#", text)))


def _number_tells(told: list[str]) -> bool:
    return told[-1] in _COUNTED and not _BUILD.isdisjoint(told[-2:-1])


def _number_moves_on(told: list[str], old: str, new: str) -> bool:
    """Whether two numbers are days (``GEO_DATE 20250307``), or seconds since 1970 that are called a timestamp."""
    before, after = (each.strip("() uUlL") for each in (old, new))
    seconds = told[-1] in ("timestamp", "epoch") and all(each.isdigit() and len(each) > 8 for each in (before, after))
    return (told[-1] in ("date", "timestamp") and moves_on(before, after)) or (seconds and int(before) <= int(after))


def _is_release(told: list[str]) -> bool:
    return _COMPOUND.fullmatch(told[-1]) is not None
