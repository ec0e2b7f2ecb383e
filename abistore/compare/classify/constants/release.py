"""Which constants tell the release, and so have another value in each."""

from __future__ import annotations

import re
from typing import Final

from abistore.model.cpp_names.qualified import last_component
from abistore.model.mangling.symbols import plain_path
from abistore.model.names import Name

_WORD: Final = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"
_RELEASE: Final = frozenset({"release", "revision", "rev"})
_VERSION: Final = re.compile(r"(?:full|lib|short|str|string)?ver(?:sion)?s?(?:name|no|num|number|str|string|text)?")
"""A word that says version, alone or run together with what kind it is: ``VERSION``, ``VERNUM``, ``STRVERSION``."""

_LESSER: Final = frozenset({"minor", "micro", "patch", "patchlevel", "bugfix", "tweak", "subminor", "build"})
_PARTS: Final = _LESSER | {"major"}
_NO_RELEASE: Final = frozenset(
    {
        *("abi", "api", "compat", "compatible", "compatibility", "file", "format", "interface", "max", "maximum"),
        *("min", "minimum", "protocol", "proto", "required", "schema", "since", "stream", "struct", "wire"),
        *("options", "opts", "ops", "params", "attr", "desc", "callbacks"),
    }
)
"""A number of these is compared by the library with what programs pass it, as in a structure of options, or stored."""

INTERFACE: Final = frozenset({"api", "interface"})
"""What an interface is called, of which a macro may tell the version."""

_LIBTOOL: Final = frozenset({"current", "age"})
_COUNTED: Final = frozenset({"library", "lib", "libtool", "lt", "so", "soname", "interface", "binary"})
"""What is counted by a ``current`` or an ``age``: ``VIPS_LIBRARY_CURRENT`` (libtool), ``GTK_BINARY_AGE`` (GNOME)."""


def tells_release(name: Name) -> bool:
    """Whether a constant is called the version of the library, or a part of it: ``GEO_VERSION_MAJOR``, ``GeoVersion``.

    Every release has another one, and no library can keep it. ``GEO_ABI_VERSION`` is no such constant. The package's
    name and version stand in ``PACKAGE_STRING`` (Autoconf, AC_INIT), and what libtool counts (its manual, "Updating
    library version information") moves with every release that adds something.
    """
    words = name_words(name)
    return (len(words) > 1 and words[-1] in _LIBTOOL and words[-2] in _COUNTED) or _is_version(words)


def _is_version(words: list[str]) -> bool:
    told = any(word in _RELEASE or _VERSION.fullmatch(word) for word in words) or (bool(words) and words[-1] in _PARTS)
    told = told or words[-2:] in (["package", "string"], ["patch", "level"])
    return told and not is_of_something_else(words)


def is_of_something_else(words: list[str]) -> bool:
    """Whether a constant of these words is the version of a format, an interface or a structure, or a limit."""
    return not _NO_RELEASE.isdisjoint(words)


def tells_interface(name: Name) -> bool:
    """Whether a constant is called the version of an interface, or a part of it: ``GEO_API_VERSION``.

    What an interface has and no longer has, its declarations tell. A number that says that it is another one lets
    sources take another way (``#if GEO_API_VERSION >= 3``), and no more. The version of an ABI, a format, a protocol or
    a structure is another matter: data and programs are made for that.
    """
    told = name_words(name)
    return not INTERFACE.isdisjoint(told) and _is_version([each for each in told if each not in INTERFACE])


def accepts_former(name: Name) -> bool:
    """Whether a number that programs hand over is one of which libraries accept former ones by convention.

    So it is with that of the release, and with the minor number of an interface: what came with it was added.
    """
    return tells_release(name) or not _LESSER.isdisjoint(name_words(name)[-1:])


def name_words(name: Name) -> list[str]:
    """The words of which the last component of a constant's name is made."""
    path = plain_path(name.spelling)  # an inline variable of a namespace is called by its symbol
    return words(path[-1] if path else last_component(name.spelling))


def words(text: str) -> list[str]:
    """The words of which a name is made, in small letters: ``SplitType``, ``split_type`` and ``SPLIT_TYPE`` are two."""
    return [word.lower() for word in re.findall(_WORD, text)]
