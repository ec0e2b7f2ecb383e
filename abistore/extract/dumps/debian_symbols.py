"""The lines of a Debian symbols file, and the releases that it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from abistore.errors import ExtractError, LimitExceeded
from abistore.extract.dumps.gathering import is_data, target_called
from abistore.model.declarations import Name
from abistore.model.names.qualified import normal_demangled
from abistore.model.shapes import AnyShape, Symbol
from abistore.model.snapshot import Target, Variants, sort_variants
from abistore.model.versions import ReleasePosition, position

HEADER: Final = re.compile(r"(?P<name>[^\s#|*(]\S*\.so(?:\.\S+)?|[^\s#|*(]\S*) +(?P<package>[a-z0-9][a-z0-9.+-]*)\b.*")
SYMBOL: Final = re.compile(
    r"\s+(?:\((?P<tags>[^)]*)\))?(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<plain>[^\s\"'(]\S*))\s+(?P<version>\S+)(?:\s.*)?"
)
MISSING: Final = re.compile(r"#\s*(?:MISSING|DEPRECATED):\s*(?P<version>[^#\s]+)\s*#\s*(?P<rest>.+)")
INCLUDE: Final = re.compile(r'(?:\((?P<tags>[^)]*)\))?#include\s+"(?P<name>[^"]+)"')
MOST_INCLUDED: Final = 100
MOST_DEPTH: Final = 8


class SymbolLine(msgspec.Struct, frozen=True):
    """One symbol, or a pattern of some: ``version`` is the one that ``name`` ends with behind ``@``.

    ``since`` is the lowest package version that has it, ``gone`` the first that has it no more.
    """

    name: str
    version: str
    since: str
    tags: tuple[tuple[str, str], ...] = ()
    gone: str = ""

    def tag(self, name: str) -> str | None:
        """The value of a tag, empty for one without a value; ``None`` where it is not there."""
        return dict(self.tags).get(name)


class SymbolsOfLibrary(msgspec.Struct, frozen=True):
    """What a file says of one library."""

    soname: str
    package: str
    symbols: list[SymbolLine]


def read_lines(text: str, label: str, include: Callable[[str], str]) -> list[SymbolsOfLibrary]:
    """The libraries of a file. ``include`` gives the text of another file. Raises :class:`ExtractError`."""
    found: list[SymbolsOfLibrary] = []
    for number, line, tags in _Included(label, include).lines(text):
        stripped = line.strip()
        if not stripped or (stripped.startswith(("|", "*")) and not line[:1].isspace()):
            continue
        if line.startswith("#") and not MISSING.match(line):
            continue
        if not line[:1].isspace() and not line.startswith(("#", "(")):
            match = HEADER.fullmatch(line.rstrip())
            if match is None:
                raise _malformed(label, number)
            found.append(SymbolsOfLibrary(match["name"], match["package"], []))
            continue
        symbol = _symbol(line.rstrip(), tags)
        if symbol is None or not found:
            raise _malformed(label, number)
        found[-1].symbols.append(symbol)
    return found


def _malformed(label: str, number: int) -> ExtractError:
    return ExtractError(f"{label}: line {number} is not valid in a symbols file", "see deb-symbols(5)")


def _symbol(line: str, around: str) -> SymbolLine | None:
    gone = ""
    if missing := MISSING.fullmatch(line.strip()):
        gone, line = missing["version"], f" {missing['rest']}"
    match = SYMBOL.fullmatch(line if line[:1].isspace() else f" {line}")
    if match is None:
        return None
    whole = match["double"] or match["single"] or match["plain"] or ""
    name, at, version = whole.rpartition("@")
    tags = _tags("|".join(filter(None, (around, match["tags"]))))
    if not at:
        name, version = whole, ""
    if not name.strip():
        return None
    return SymbolLine(name, version, match["version"], tags, gone)


def _tags(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (part.partition("=") for part in text.split("|") if part)
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)


class _Included:
    """The lines of a file with those of the files that it includes in their place."""

    def __init__(self, label: str, include: Callable[[str], str]) -> None:
        self._label = label
        self._include = include
        self._count = 0

    def lines(self, text: str, tags: str = "", depth: int = 0) -> Iterator[tuple[int, str, str]]:
        """Each line with its number and the tags that hold for all of its file."""
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.fullmatch(line.strip())
            if match is None:
                yield number, line, tags
                continue
            self._count += 1
            if depth >= MOST_DEPTH or self._count > MOST_INCLUDED:
                raise LimitExceeded(f"{self._label}: includes more than {MOST_INCLUDED} files, or too deeply")
            inner = "|".join(filter(None, (tags, match["tags"])))
            yield from self.lines(self._include(match["name"]), inner, depth + 1)


Here = Literal["yes", "no", "unknown"]

EPOCH: Final = re.compile(r"\d+:")
REVISION: Final = re.compile(r"-[^-]*$")
BASE: Final = "Base"
MOST_RELEASES: Final = 1000


class PackageRelease(NamedTuple):
    """One release: its label, and the symbols that are there, are not, and may be."""

    label: str
    entries: dict[Name, Variants]
    unknown: tuple[str, ...]


def label_of(version: str) -> str:
    """The upstream version in a package's: ``1.2.3`` of ``1:1.2.3-4`` and of ``1.2.3~``."""
    upstream = REVISION.sub("", EPOCH.sub("", version, count=1))
    return upstream.rstrip("~") or version


def labels(symbols: Sequence[SymbolLine]) -> list[str]:
    """The releases that symbols name, oldest first."""
    found: dict[str, ReleasePosition] = {}
    for line in symbols:
        for version in filter(None, (line.since, line.gone)):
            found.setdefault(label_of(version), _key(label_of(version)))
    return sorted(found, key=lambda label: (found[label], label))[-MOST_RELEASES:]


def release_at(symbols: Sequence[SymbolLine], label: str | None, target: Target | None) -> PackageRelease:
    """The symbols of the release ``label``; without one, of the release that the file is for."""
    entries: dict[Name, list[AnyShape]] = {}
    unknown: set[str] = set()
    for line in symbols:
        here = _here(line, label, target)
        if here == "no":
            continue
        pattern = _pattern(line)
        if pattern or here == "unknown":
            unknown.add(pattern or _exactly(line))
            continue
        spelling = (normal_demangled(line.name) if line.tag("c++") is not None else line.name) or line.name
        name = Name("variable" if is_data(spelling) else "function", spelling)
        version = None if line.version in ("", BASE) else line.version
        entries.setdefault(name, []).append(Symbol("unknown", version=version))
    shapes = {name: sort_variants(found) for name, found in entries.items()}
    return PackageRelease(label or "", shapes, tuple(sorted(unknown)))


def optional(symbols: Sequence[SymbolLine]) -> tuple[str, ...]:
    """The patterns of the symbols that may be there or not: see :mod:`abistore.model.format_gaps`."""
    return tuple(_pattern(line) or _exactly(line) for line in symbols if line.tag("optional") is not None)


def _key(label: str) -> ReleasePosition:
    """The place of a release among others; labels that are no Debian versions come by themselves."""
    return position(label, 0, "debian")


def _here(line: SymbolLine, label: str | None, target: Target | None) -> Here:
    """Whether a release has a symbol. What is optional may be there or not."""
    if label is not None and _key(label_of(line.since)) > _key(label):
        return "no"
    if line.gone and (label is None or _key(label_of(line.gone)) <= _key(label)):
        return "no"
    fits = _fits(line, target)
    return "unknown" if fits == "yes" and line.tag("optional") is not None else fits


def _fits(line: SymbolLine, target: Target | None) -> Here:
    """Whether the architecture tags of a symbol are true of a target."""
    asked = {tag: value for tag, value in line.tags if tag in ("arch", "arch-bits", "arch-endian")}
    if not asked:
        return "yes"
    if target is None:
        return "unknown"
    if asked.get("arch-bits", str(target.bits)) != str(target.bits):
        return "no"
    if asked.get("arch-endian", target.endianness) != target.endianness:
        return "no"
    return _among(asked["arch"], target) if "arch" in asked else "yes"


def _among(words: str, target: Target) -> Here:
    """Whether a list of architectures (``amd64 arm64``, ``!i386``) allows that of a target."""
    listed, refused = words.split(), False
    for word in listed:
        refused = refused or word.startswith("!")
        cpu = word.removeprefix("!").removeprefix("any-").removeprefix("linux-")
        known = target_called(cpu)
        if cpu in ("any", "linux-any") or (known is not None and known.machine == target.machine):
            return "no" if word.startswith("!") else "yes"
        if known is None and not cpu.startswith(("hurd", "kfreebsd")) and "hurd" not in cpu:
            return "unknown"
    return "yes" if refused else "no"


def _pattern(line: SymbolLine) -> str:
    """The fact that nobody knows which symbols a pattern stands for; empty for a symbol's own name."""
    demangled = line.tag("c++") is not None
    tail = f"@{line.version}" if line.version else ""
    if line.tag("regex") is not None:
        _check(line.name + tail)
        return f"exports{' demangled' if demangled else ''} ~{line.name}{tail}"
    if line.tag("symver") is not None:
        return f"exports ~@{re.escape(line.name or line.version)}$"
    return f"exports ~@{re.escape(line.version)}$" if line.name == "*" else ""


def _check(pattern: str) -> None:
    """Raise :class:`ExtractError` for a pattern that RE2 cannot match: Perl has more than it takes."""
    import re2  # type: ignore[import-untyped]  # few files have patterns

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        raise ExtractError(f"the pattern {pattern} cannot be read", "use the syntax of RE2") from error


def _exactly(line: SymbolLine) -> str:
    if line.tag("c++") is not None:
        return f"exports demangled ~^{re.escape(normal_demangled(line.name))}@"
    return f"exports ~^{re.escape(line.name)}@{re.escape(line.version)}$"
