"""Conventions of version labels, steps between them, and SONAMEs.

Each label is read by itself, so a new label never moves another. A label has words, a number, and a rest::

    v1.0.0-rc1      OpenSSL_1_0_2k      nightly-2024-05-01      2:2.36-9+deb12u7      v1.0.0-14-g126bde0-dirty

Some rests put a label before its bare number: ``rc1``, ``~``. Others put it after, in this order: commits counted by
``git describe``, a revision (``-9``), letters (``k``), an addition (``+deb12u7``), further numbers. Words before the
number name a series: ``nightly``. Words such as ``v`` and ``release-`` only introduce the version. A label without a
number is not ordered, and neither is the hash of a commit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.errors import UsageError
from abistore.patterns import pattern

UNSET: Final = "is a variable of the script unset? pass a value, or omit the option"


class Given(msgspec.Struct, frozen=True):
    """Words that a caller gives. Those that may be left out are ``None``, or as by default, where they are.

    Raises :class:`UsageError` for blank ones.
    """

    def __post_init__(self) -> None:
        """Refuse a blank word that is no default."""
        names = self.__struct_fields__
        unsaid = dict(zip(reversed(names), reversed(self.__struct_defaults__), strict=False))
        for name in names:
            value = getattr(self, name)
            if isinstance(value, str | tuple) and value != unsaid.get(name):
                check_not_blank(name, value)


def is_blank(text: str) -> bool:
    """Whether a text has nothing that can be seen."""
    return not any(each.isprintable() and not each.isspace() for each in text)


def check_not_blank(what: str, value: object) -> None:
    """Raise :class:`UsageError` where a value is a blank text, or has one in it; ``None`` is no value."""
    if (place := blank_in(what, value)) is not None:
        raise UsageError(f"{place} is empty", UNSET)


def blank_in(what: str, value: Any) -> str | None:
    """The first place in a value where a blank text stands; ``None`` where there is none."""
    if isinstance(value, str):
        return what if is_blank(value) else None
    inner: Any = ()
    if isinstance(value, Mapping):
        inner = ((f"{what}.{name}" if what else str(name), each) for name, each in value.items())
    elif isinstance(value, list | tuple | set | frozenset):
        inner = ((what, each) for each in value)
    return next((place for name, each in inner if (place := blank_in(name, each)) is not None), None)


AUTO: Final = "auto"
"""The version scheme of a library for which none is declared: labels of all conventions are read."""

Versioning: TypeAlias = Literal["semantic", "calendar", "libtool", "serial", "unknown"]


class Step(IntEnum):
    """How large a step a release is, or declares to be."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3

    @property
    def label(self) -> str:
        """The step as it is written in reports and JSON: ``minor``."""
        return self.name.lower()


class Promise(msgspec.Struct, frozen=True):
    """What two labels say: how they are read, and the step that they declare; ``None`` if they promise nothing.

    ``breaking`` is the step that may break in this scheme, and ``adding`` the one that may add: ``minor`` and ``patch``
    in ``0.x``. ``lowered``: the new label is below the old one. ``unreleased``: the new side is no release of its own,
    such as ``1.9.4-14-g126bde0``.
    """

    versioning: Versioning
    declared: Step | None
    breaking: Step = Step.MAJOR
    adding: Step = Step.MINOR
    lowered: bool = False
    unreleased: bool = False

    @property
    def may_break(self) -> bool:
        """Whether the labels declare a release that may break."""
        return self.declared is not None and self.declared >= self.breaking


NO_PROMISE: Final = Promise("unknown", None)
"""What is said by labels that nobody can read, and where there are none."""


class PartOrder(IntEnum):
    """The kinds of parts that a label has. Labels with a kind listed earlier come first."""

    BEFORE = 0
    """``~``: ``1.0~beta`` comes before ``1.0``, as in Debian."""
    PRE_RELEASE = 1
    END = 2
    COMMITS = 3
    COUNTED = 4
    """A number in a pre-release: before words there, ``1.0.0-rc.1`` before ``1.0.0-rc.x``, as in semantic versions."""
    REVISION = 5
    WORD = 6
    ADDED = 7
    NUMBER = 8


Number: TypeAlias = tuple[int, str]
"""A whole number of any length: how many digits it has, and the digits without leading zeros."""

Part: TypeAlias = tuple[PartOrder, Number, str]


class ConventionalLabel(NamedTuple):
    """The place of a label among others. Labels without a series come first."""

    series: str
    epoch: Number
    parts: tuple[Part, ...]


NOTHING: Number = (0, "")
PRE_RELEASES = {
    **dict.fromkeys(("dev", "devel", "git", "nightly", "snapshot"), ""),
    **dict.fromkeys(("a", "alpha"), "alpha"),
    **dict.fromkeys(("b", "beta"), "beta"),
    **dict.fromkeys(("m", "milestone"), "milestone"),
    **dict.fromkeys(("pre", "preview"), "pre"),
    **dict.fromkeys(("c", "cr", "rc"), "rc"),
}
"""Words that announce a release, and the word that each is ordered as. Development builds come first."""
LETTERS = frozenset("abcm")
"""Letters that mark a pre-release before a number only: ``1.0a1``. ``1.0.2a`` is a later release."""
FOLLOWING = frozenset({"final", "fix", "ga", "hotfix", "p", "patch", "pl", "post", "r", "release", "rev", "sp"})
"""Words for a later release: ``1.0-hotfix``. They are no pre-releases in semantic versions either."""
INTRODUCTIONS = frozenset({"v", "ver", "version", "rel", "release"})

_DESCRIBED = pattern(r"(?P<tag>.+?)(?:-(?P<commits>[0-9]+)-g[0-9a-f]{4,64})?(?P<dirty>-dirty)?")
_LABEL = pattern(r"(?P<words>(?:[A-Za-z][A-Za-z._-]*)?)(?:(?P<epoch>[0-9]+)[:!])?(?P<version>[0-9].*)")
_CORE = pattern(r"[0-9]+(?:[._][0-9]+)*")
_PIECE = pattern(r"(?P<before>~)|(?P<mark>[-._+^]*)(?:(?P<number>[0-9]+)|(?P<word>[A-Za-z]+)|$)")
_SEMANTIC = pattern(r"[0-9]+\.[0-9]+\.[0-9]+-[A-Za-z]")
_HASH = pattern(r"(?:[A-Za-z]+[._-])*g?(?P<hash>[0-9a-f]{7,64})")
_DATE = pattern(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[0-9]{2}){0,3}(?:[a-z][0-9]?)?")


@lru_cache(maxsize=1 << 15)
def convention(label: str) -> ConventionalLabel | None:
    """The place of ``label``; ``None`` if it is the hash of a commit, or otherwise no version."""
    tag, since = described(label)
    match = _LABEL.fullmatch(tag)
    parts = _parts(match["version"]) if match and not _is_hash(tag) else None
    if match is None or parts is None:
        return None
    words = re.split(r"[._-]", match["words"].lower())
    series = "-".join(word for word in words if word and word not in INTRODUCTIONS)
    end: Part = (PartOrder.END, NOTHING, "")
    return ConventionalLabel(series, number(match["epoch"] or ""), (*parts, *since, end))


def described(label: str) -> tuple[str, tuple[Part, ...]]:
    """The tag in a label of ``git describe``, and the part for the commits and changes since that tag."""
    match = _DESCRIBED.fullmatch(label)
    if match is None or match["tag"] == label:
        return label, ()
    return match["tag"], ((PartOrder.COMMITS, number(match["commits"] or ""), match["dirty"] or ""),)


class WrittenLabel(msgspec.Struct, frozen=True):
    """A label as it is written: what stands before its first number, its numbers, and what separates these."""

    introduction: str
    numbers: tuple[str, ...]
    separator: str


def written(label: str) -> WrittenLabel | None:
    """``v``, ``22`` and ``04``, ``.`` of ``v22.04-rc1``; ``None`` for a label without a number, or a commit's hash."""
    tag, _ = described(label)
    match = _LABEL.fullmatch(tag)
    core = _CORE.match(match["version"]) if match and not _is_hash(tag) else None
    if match is None or core is None:
        return None
    separator = "_" if "_" in core[0] else "."
    return WrittenLabel(tag[: match.start("version")], tuple(re.split(r"[._]", core[0])), separator)


def _is_hash(tag: str) -> bool:
    """Whether a label is the hash of a commit. A hash may have digits only; a date is no hash."""
    match = _HASH.fullmatch(tag)
    return match is not None and _DATE.fullmatch(match["hash"]) is None


def _parts(version: str) -> list[Part] | None:
    """The parts of a version; ``None`` if one of them is unknown."""
    core = _CORE.match(version)
    assert core is not None
    numbers = [number(word) for word in re.split(r"[._]", core[0])]
    while numbers and numbers[-1] == NOTHING:
        numbers.pop()  # 1.0 is 1.0.0
    parts: list[Part] = [(PartOrder.NUMBER, one, "") for one in numbers]
    section, position = PartOrder.NUMBER, core.end()
    while position < len(version):
        piece = _PIECE.match(version, position)
        if piece is None:
            return None
        semantic = position == core.end() and _SEMANTIC.match(version) is not None
        section, part = _part(piece, section, semantic=semantic)
        parts.append(part)
        position = piece.end()
    return parts


def _part(piece: re.Match[str], section: PartOrder, *, semantic: bool) -> tuple[PartOrder, Part]:
    """The section that a piece is in, and its part. ``~``, a pre-release and an addition begin a section."""
    mark, amount, word = piece["mark"] or "", number(piece["number"] or ""), (piece["word"] or "").lower()
    if piece["before"]:
        return PartOrder.BEFORE, (PartOrder.BEFORE, NOTHING, "")
    if "+" in mark or "^" in mark:
        return PartOrder.ADDED, (PartOrder.ADDED, amount, word)
    if not word:
        counted = PartOrder.COUNTED if section is PartOrder.PRE_RELEASE else PartOrder.NUMBER
        return section, (PartOrder.REVISION if "-" in mark else counted, amount, "")
    announced = _announced(piece, word, semantic=semantic)
    if announced is None:
        return section, (PartOrder.WORD, NOTHING, word)
    if section is PartOrder.NUMBER or (section is PartOrder.PRE_RELEASE and not announced):
        return PartOrder.PRE_RELEASE, (PartOrder.PRE_RELEASE, NOTHING, announced)
    return section, (PartOrder.WORD, NOTHING, announced)


def _announced(piece: re.Match[str], word: str, *, semantic: bool) -> str | None:
    """The word that a pre-release is ordered as; ``None`` for any other word."""
    numbered = piece.string[piece.end() : piece.end() + 1].isdigit()
    if word in LETTERS and not piece["mark"] and not numbered:
        return None
    return PRE_RELEASES.get(word, word if semantic and word not in FOLLOWING else None)


def number(digits: str) -> Number:
    """The number in ``digits``; 0 without digits."""
    significant = digits.lstrip("0")
    return len(significant), significant


BUNDLED = pattern(r"^([^.]+)-[0-9a-f]{8}(?=\.)")
"""The mark of a copy in a Python wheel: eight digits of a hash before the first dot, ``libz-00ec42fe.so.1``."""

_DLL = pattern(
    r"(?P<stem>.+?)(?:-[0-9a-f]{32})?(?:-\d+(?:\.\d+)*)?(?:-(?:x64|x86|arm64))?(?:\.dll|(?:\.[^.]+)?\.pyd)",
    re.IGNORECASE,
)
"""A DLL. Copies in Python wheels bear a hash of 32 digits; extension modules bear the interpreter's name."""


_DYLIB = pattern(r"(?P<stem>.+?)(?P<version>(?:\.(?:\d+|[A-Z]))*)\.(?:dylib|tbd)")
"""A dylib, whose version stands before the suffix: ``libz.1.2.11.dylib``, ``libSystem.B.dylib``."""


def unmarked(soname: str) -> str:
    """A SONAME without the mark of a copy: ``libz.so.1`` of ``libz-00ec42fe.so.1``."""
    return BUNDLED.sub(r"\1", soname)


def library_name(soname: str) -> str:
    """``libz`` of ``libz.so.1``, of ``libz-00ec42fe.so.1.3`` and of ``libz-1.3.so``.

    A version before ``.so`` belongs to the name if another version follows: ``libglib-2.0`` of ``libglib-2.0.so.0``.
    Of a dylib it is what stands before the version, in whatever folder: ``libz`` of ``/usr/lib/libz.1.dylib``,
    ``libglib-2.0`` of ``libglib-2.0.0.dylib``. Of a DLL, too: ``libpng16`` of ``libpng16-16.dll``, ``libssl`` of
    ``libssl-3-x64.dll``.
    """
    if soname.endswith((".dylib", ".tbd")) and (dylib := _DYLIB.fullmatch(soname.rpartition("/")[2])):
        return _without_version(dylib["stem"], dylib["version"])
    if soname.lower().endswith((".dll", ".pyd")) and (dll := _DLL.fullmatch(soname)):
        return dll["stem"]
    parts = re.fullmatch(r"(.+?)\.so(\..*)?", unmarked(soname))
    if parts is None:
        return soname
    return parts[1] if parts[2] else re.sub(r"(?<=.)-\d+(\.\d+)+$", "", parts[1])


def family(soname: str) -> str:
    """What all major releases of a library are called: ``libQtCore`` of ``libQt5Core.so.5`` and ``libQt6Core.so.6``."""
    return re.sub(r"[-_.]?\d+(\.\d+)*", "", library_name(soname))


def _without_version(stem: str, version: str) -> str:
    """A stem like ``libglib-2`` ends in a number of the name, which goes on behind the dot: one more number is left."""
    if re.search(r"-\d+$", stem) and version.count(".") > 1:
        return stem + version[: version.rindex(".")]
    return stem


_OF_WINDOWS = (".dll", ".pyd", ".exe", ".ocx", ".drv", ".sys", ".cpl")


def to_bump(name: str) -> str:
    """What to do so that programs of the old release do not load the new one: ``bump the SONAME``."""
    word = name_word(name)
    return "give the DLL a new name" if word == "DLL name" else f"bump the {word}"


def word_on(target: str) -> str:
    """The same as a target shows, such as ``pe-x86_64-64-little``."""
    return {"pe": "DLL name", "macho": "install name"}.get(target.partition("-")[0], "SONAME")


def name_word(name: str) -> str:
    """``SONAME``, ``DLL name`` or ``install name``, as the library's ``name`` shows."""
    if name.lower().endswith(_OF_WINDOWS):
        return "DLL name"
    return "install name" if "/" in name or name.endswith((".dylib", ".tbd")) else "SONAME"


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
