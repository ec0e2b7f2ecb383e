"""Which constants tell the release, and so have another value in each."""

from __future__ import annotations

import re
from typing import Final

from abistore.model.cpp_names.qualified import last_component
from abistore.model.mangling.symbols import plain_path
from abistore.model.names import Name

_WORD: Final = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"
_RELEASE: Final = frozenset({"version", "ver", "versions", "vernum", "verstr", "release", "revision", "rev"})
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

_LIBTOOL: Final = frozenset({"current", "age"})
_COUNTED: Final = frozenset({"library", "lib", "libtool", "lt", "so", "soname", "interface", "binary"})
"""What is counted by a ``current`` or an ``age``: ``VIPS_LIBRARY_CURRENT`` (libtool), ``GTK_BINARY_AGE`` (GNOME)."""


def tells_release(name: Name) -> bool:
    """Whether a constant is called the version of the library, or a part of it: ``GEO_VERSION_MAJOR``, ``GeoVersion``.

    Every release has another one, and no library can keep it. ``GEO_ABI_VERSION`` is no such constant. The package's
    name and version stand in ``PACKAGE_STRING`` (Autoconf, AC_INIT), and what libtool counts (its manual, "Updating
    library version information") moves with every release that adds something.
    """
    words = _words(name)
    if len(words) > 1 and words[-1] in _LIBTOOL and words[-2] in _COUNTED:
        return True
    told = any(word in _RELEASE for word in words) or (bool(words) and words[-1] in _PARTS)
    told = told or words[-2:] == ["package", "string"]
    return told and not any(word in _NO_RELEASE for word in words)


def accepts_former(name: Name) -> bool:
    """Whether a number that programs hand over is one of which libraries accept former ones by convention.

    So it is with that of the release, and with the minor number of an interface: what came with it was added.
    """
    return tells_release(name) or not _LESSER.isdisjoint(_words(name)[-1:])


def _words(name: Name) -> list[str]:
    path = plain_path(name.spelling)  # an inline variable of a namespace is called by its symbol
    return words(path[-1] if path else last_component(name.spelling))


def words(text: str) -> list[str]:
    """The words of which a name is made, in small letters: ``SplitType``, ``split_type`` and ``SPLIT_TYPE`` are two."""
    return [word.lower() for word in re.findall(_WORD, text)]
