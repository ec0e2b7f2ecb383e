"""What became of a SONAME (install name, DLL name) between two releases: the same, bumped, or another name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from abistore.model.labels.sonames import unmarked
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.model.labels.conventions import Number

SonameChange: TypeAlias = Literal["none", "same", "unversioned", "bumped", "lowered", "renamed", "added", "lost"]
"""``bumped``: the same name with a higher version, so that programs built before never load the new release.

``unversioned``: the same name on both sides, without a version that could be raised. ``renamed``: another name, which
says nothing of this library. ``none``: neither side has a name, or nobody knows it.
"""

_VERSION: Final = pattern(r"\d+(?:[._]\d+)*")
_COPIED_DLL: Final = pattern(r"-[0-9a-f]{32}(?=[-.])")
"""The mark of a copied DLL in a Python wheel."""
_LETTER: Final = pattern(r"(?:(?<=\.)[A-Z](?=\.(?:dylib|tbd)$)|(?<=/Versions/)[A-Z](?=/))")
"""Versions by letters: ``libSystem.B.dylib``, ``Foo.framework/Versions/B/Foo``."""
_ENDING: Final = pattern(r"\.(?:dll|pyd|exe|dylib|tbd|so)$", re.IGNORECASE)


class _Read(msgspec.Struct, frozen=True):
    words: str
    versions: tuple[tuple[Number, ...], ...]


def soname_change(old: str | None, new: str | None) -> SonameChange:
    """What became of a name. Marks of copies and the folders of install names have no part in it."""
    if not old or not new:
        return "none" if old == new or not (old or new) else "lost" if old else "added"
    if old == new:
        return "same" if _VERSION.search(_numbered(old)) else "unversioned"
    before, after = _read(old), _read(new)
    if before == after:
        return "same" if before.versions else "unversioned"
    if before.words != after.words:
        return "renamed"
    return "bumped" if after.versions > before.versions else "lowered"


def _read(name: str) -> _Read:
    """The words of a name, and the versions between them: ``libssl.so.#`` with 1.1, ``libpng#-#.dll`` with 16, 16."""
    from abistore.model.labels.conventions import number  # most libraries keep their name

    numbered = _numbered(name)
    found = [tuple(map(number, re.split(r"[._]", each))) for each in _VERSION.findall(numbered)]
    return _Read(_VERSION.sub("#", numbered), tuple(found))


def _numbered(name: str) -> str:
    """A name without the marks of copies, each version in it as a number."""
    plain = _COPIED_DLL.sub("", unmarked(_base(name)))
    numbered = _LETTER.sub(lambda letter: str(ord(letter[0])), plain)
    if _ENDING.search(numbered) and numbered.lower().endswith((".dll", ".pyd", ".exe")):
        return numbered.lower()  # Windows does not tell cases apart
    return numbered


def _base(name: str) -> str:
    """What stands behind the folders; of a framework, from its version on."""
    framework = name.rfind("/Versions/")
    return name[framework:] if framework >= 0 else name.rpartition("/")[2]
