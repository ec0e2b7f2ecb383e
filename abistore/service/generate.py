"""Files for other tools, made from the history of a library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from abistore.errors import UsageError
from abistore.limits import limits_for
from abistore.model.approvals import Approval
from abistore.model.declarations import EXPORTS, TYPES, Name
from abistore.model.findings import Verdict
from abistore.model.history import Release
from abistore.model.shapes import Symbol
from abistore.model.snapshot import Snapshot
from abistore.model.words import counted, in_line
from abistore.service.database import Database, using
from abistore.service.declarations import declared_exports
from abistore.service.listing import released, releases_of

if TYPE_CHECKING:
    from abistore.store.store import Store

GeneratedFormat: TypeAlias = Literal[
    "debian-symbols", "version-script", "abigail-suppressions", "abicc-skip-symbols", "abicc-skip-types", "conda-pin"
]
FORMATS: tuple[GeneratedFormat, ...] = get_args(GeneratedFormat)

SHOWN = 120


def check_names(file: str, names: Iterable[str], marks: str = "") -> None:
    """Raise :class:`UsageError` for a name that has a character which is not printable, or one of ``marks``.

    Whoever made the library chose its names: a line feed in one is an entry that nobody asked for.
    """
    for name in names:
        if not name.isprintable() or not set(marks).isdisjoint(name):
            raise UsageError(f"{file} cannot name {in_line(name, SHOWN)}", "generate another format")


class SymbolAge(msgspec.Struct, frozen=True, order=True):
    """An exported symbol in one of its versions (``""`` where it has none), and the release since which it is there."""

    symbol: str
    version: str
    since: str


class AgedLibrary(msgspec.Struct, frozen=True):
    """The exports of the last of ``releases``, which all have its SONAME, oldest first; by symbol and version."""

    snapshot: Snapshot
    releases: tuple[Release, ...]
    symbols: tuple[SymbolAge, ...]


def aged(store: Store, releases: Sequence[Release]) -> AgedLibrary:
    """The exports of the last release, each with the release since which it is there under this SONAME.

    Each release costs what differs from the one before.
    """
    run = _of_one_soname(releases)
    walk = store.walk()
    since: dict[Name, dict[str, str]] = {}
    for release in run:
        step = walk.step(release)
        symbols = step.snapshot.entries.get("symbol", {})
        for name in step.changed if since else symbols:
            if name.kind in EXPORTS:
                before = since.pop(name, {})
                if now := _versions(symbols.get(name, ())):
                    since[name] = {version: before.get(version, release.version) for version in now}
    ages = (SymbolAge(name.spelling, version, first) for name, held in since.items() for version, first in held.items())
    return AgedLibrary(step.snapshot, tuple(run), tuple(sorted(ages)))


def _of_one_soname(releases: Sequence[Release]) -> Sequence[Release]:
    last = releases[-1].soname
    start = len(releases)
    while start and releases[start - 1].soname == last:
        start -= 1
    return releases[start:]


def _versions(shapes: Iterable[object]) -> list[str]:
    return [shape.version or "" for shape in shapes if isinstance(shape, Symbol)]


def by_version(symbols: Iterable[SymbolAge]) -> Mapping[str, list[str]]:
    """The symbols of each version, sorted; of an unversioned library those of each release that brought them."""
    found: dict[str, list[str]] = {}
    for each in symbols:
        found.setdefault(each.version, []).append(each.symbol)
    return found


def debian_symbols(library: AgedLibrary) -> str:
    """The file for the library's package, as ``dpkg-gensymbols`` writes it. Raises :class:`UsageError`.

    Each version definition stands among the symbols, as it does in the export table, with the release that brought it.
    """
    soname = library.snapshot.facts.name if library.snapshot.facts else None
    if library.snapshot.target.format != "elf" or not soname:
        raise UsageError(
            f"{library.snapshot.label}: Debian's symbols files are for ELF libraries with a SONAME",
            "generate another format",
        )
    check_names("a symbols file", [soname, *(each.symbol + each.version for each in library.symbols)], " @")
    since = {(each.symbol, each.version or "Base"): each.since for each in library.symbols}
    order = {release.version: place for place, release in enumerate(library.releases)}
    for each in library.symbols:
        node = (each.version, each.version)
        if each.version and order[each.since] <= order[since.get(node, each.since)]:
            since[node] = each.since
    lines = [f" {symbol}@{version} {first}" for (symbol, version), first in sorted(since.items())]
    return "\n".join([f"{soname} {package_of(soname)} #MINVER#", *lines, ""])


def package_of(soname: str) -> str:
    """The package's name by Debian's policy, section 8.1: ``libfoo1`` of ``libfoo.so.1``, ``libfoo2-1`` of
    ``libfoo2.so.1``.
    """
    name, _, version = soname.partition(".so")
    version = version.removeprefix(".")
    joint = "-" if version and name[-1:].isdigit() else ""
    return f"{name}{joint}{version}".lower().replace("_", "-")


PLAIN = re.compile(r"[\w.$@+-]+", re.ASCII)


def version_script(library: AgedLibrary) -> str:
    """The script. A library with symbol versions keeps them; one without gets a node for each release that added some.

    A node builds on the one before. All that no node names is local. Raises :class:`UsageError`.
    """
    if library.snapshot.target.format != "elf":
        raise UsageError(f"{library.snapshot.label}: only ELF linkers take version scripts", "generate another format")
    nodes = _kept(library) if any(each.version for each in library.symbols) else _by_release(library)
    check_names("a version script", [name for name, _ in nodes], ' {}();:,"*?[#/')
    check_names("a version script", [symbol for _, symbols in nodes for symbol in symbols], '"')
    parts, before = [], ""
    for name, symbols in nodes:
        held = [*(["global:"] if symbols else []), *(f"    {_quoted(symbol)};" for symbol in symbols)]
        held += ["local:", "    *;"] if not before else []
        body = "\n".join(f"  {line}" for line in held)
        parts.append(f"{name} {{\n{body}\n}}{f' {before}' if before else ''};\n")
        before = name
    return "\n".join(parts)


def _quoted(symbol: str) -> str:
    """A symbol that is no plain word in quotes, where it is neither a pattern nor the end of its line."""
    return symbol if PLAIN.fullmatch(symbol) else f'"{symbol}"'


def _kept(library: AgedLibrary) -> list[tuple[str, Sequence[str]]]:
    """The nodes that the library has, the oldest first; symbols without one are in the first."""
    place = {release.version: number for number, release in enumerate(library.releases)}
    born: dict[str, int] = {}
    for each in library.symbols:
        born[each.version] = min(place[each.since], born.get(each.version, len(place)))
    held = dict(by_version(library.symbols))
    bare = held.pop("", [])
    order = sorted(held, key=lambda name: (born[name], _natural(name)))
    return [(name, sorted([*held[name], *(bare if not number else [])])) for number, name in enumerate(order)]


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """``V_1.9`` before ``V_1.10``."""
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name)]


def _by_release(library: AgedLibrary) -> list[tuple[str, Sequence[str]]]:
    stem = re.sub(r"\W", "_", library.snapshot.library).upper()
    held: dict[str, list[str]] = {}
    for each in library.symbols:
        held.setdefault(each.since, []).append(each.symbol)
    versions = [release.version for release in library.releases if release.version in held]
    return [(f"{stem}_{re.sub(r'[^0-9A-Za-z_.]', '_', version)}", held[version]) for version in versions]


class Skipped(msgspec.Struct, frozen=True, order=True):
    """A symbol or type to leave out, and why."""

    name: str
    is_type: bool
    why: str


def skipped(snapshot: Snapshot, accepted: Sequence[Approval]) -> tuple[Skipped, ...]:
    """The exports that no public header declares, where headers were read, and what approvals are about; sorted."""
    found = {each.name: each for each in [*_undeclared(snapshot), *_accepted(accepted)]}
    return tuple(found[name] for name in sorted(found))


def _undeclared(snapshot: Snapshot) -> Iterator[Skipped]:
    told = declared_exports(snapshot)
    for symbol in told.undeclared if told else ():
        yield Skipped(symbol, False, "no public header declares it")


def _accepted(accepted: Sequence[Approval]) -> Iterator[Skipped]:
    for one in accepted:
        if one.facts and one.facts.symbol:
            why = in_line(f"accepted by {one.approver}: {one.reason}")
            yield Skipped(one.facts.symbol, one.facts.subject in TYPES, why)


def abigail_suppressions(found: Sequence[Skipped]) -> str:
    """A suppression file of libabigail (its manual, "Suppression specifications")."""
    return "\n".join(part for each in found for part in _sections(each))


def _sections(each: Skipped) -> Iterator[str]:
    if each.is_type:
        yield f"[suppress_type]\n  label = {each.why}\n  name = {each.name}\n"
        return
    for kind in ("function", "variable"):
        yield f"[suppress_{kind}]\n  label = {each.why}\n  symbol_name = {each.name}\n"


def abicc_symbols(found: Sequence[Skipped]) -> str:
    """A list for ``abi-compliance-checker -skip-symbols``: one symbol a line."""
    return "".join(f"{each.name}\n" for each in found if not each.is_type)


def abicc_types(found: Sequence[Skipped]) -> str:
    """A list for ``abi-compliance-checker -skip-types``: one type a line."""
    return "".join(f"{each.name}\n" for each in found if each.is_type)


PINS: Final = ("x", "x.x", "x.x.x")
"""The pins of conda, the loosest first: so many numbers of its version a release must share to replace another."""

NUMBERS: Final = re.compile(r"\D*(\d+(?:\.\d+)*)")
MOST_BREAKS: Final = 3


class ReleaseStep(NamedTuple):
    """A release and the next one, and why programs built against the first do not run on the second; empty if they do.

    ``partial``: one of the two shows less than the other, so that a break may be undetected.
    """

    old: Release
    new: Release
    broken: str
    partial: bool

    @property
    def shared(self) -> int:
        """How many numbers of their versions are the same, up to the first that differs."""
        old, new = (_numbers(each.version) for each in (self.old, self.new))
        return next((place for place, pair in enumerate(zip(old, new, strict=False)) if len(set(pair)) > 1), 3)

    @property
    def said(self) -> str:
        """The step, and why it broke programs."""
        return f"{self.old.version} -> {self.new.version} ({in_line(self.broken, SHOWN)})"


def _numbers(version: str) -> tuple[int, ...]:
    """The first three numbers of a version; missing ones are 0, as conda has them."""
    found = NUMBERS.match(version)
    numbers = [int(each) for each in found[1].split(".")[:3]] if found else []
    return (*numbers, *[0] * (3 - len(numbers)))


def conda_pin(store: Store, releases: Sequence[Release]) -> str:
    """The ``run_exports`` of a conda recipe, with the loosest pin that no step between two releases contradicts.

    Raises :class:`UsageError` where no two releases share a major version: nothing supports a pin then.
    """
    if not any(_numbers(old.version)[0] == _numbers(new.version)[0] for old, new in pairwise(releases)):
        what = f"{releases[-1].reference}: no two releases share a major version, so nothing supports a pin"
        raise UsageError(what, "ingest more releases")
    steps = list(_steps(store, releases))
    package, last = releases[-1].line.library, releases[-1]
    check_names("a recipe", [package, *(each.version for each in releases)], "\"'{}#")
    within = {pin: [each for each in steps if each.shared > place] for place, pin in enumerate(PINS)}
    fitting = next((pin for pin, inside in within.items() if not any(each.broken for each in inside)), None)
    bound = f'max_pin="{fitting}"' if fitting else "exact=True"
    new_bound = f'upper_bound="{fitting}"' if fitting else "exact=True"
    return "\n".join(
        [
            f"# run_exports of {package}, from {counted(len(releases), 'release')} of {last.line.target}: "
            f"{releases[0].version} to {last.version}",
            *(f"# {pin:<6} {_found(inside)}" for pin, inside in within.items()),
            "build:",
            "  run_exports:",
            f'    - {{{{ pin_subpackage("{package}", {bound}) }}}}',
            "# in a recipe.yaml of rattler-build, below requirements:",
            f"#   run_exports: ['${{{{ pin_subpackage(\"{package}\", {new_bound}) }}}}']",
            "",
        ]
    )


def _steps(store: Store, releases: Sequence[Release]) -> Iterator[ReleaseStep]:
    from abistore.service.binding import ruling_of_line  # judging, which the other formats do without
    from abistore.service.matrix import replacing

    by = ruling_of_line(store, releases[-1].line, releases, None)
    for old, new in pairwise(releases):
        (found,) = replacing(store, old, [new], by)
        broken = "" if found.verdict is not None else f"not judged: {found.reason}"
        broken = "BREAKING" if found.verdict is Verdict.BREAKING else broken
        yield ReleaseStep(old, new, broken or ("another SONAME" if old.soname != new.soname else ""), found.partial)


def _found(steps: Sequence[ReleaseStep]) -> str:
    """On how many steps a pin rests, and which contradict it."""
    broken = [each.said for each in steps if each.broken]
    partial = sum(each.partial for each in steps)
    more = f" and {len(broken) - MOST_BREAKS} more" if len(broken) > MOST_BREAKS else ""
    said = f"{', '.join(broken[:MOST_BREAKS])}{more} broke programs" if broken else "none broke programs"
    doubt = f"; {partial} judged with less evidence on one side" if partial else ""
    found = f"{said}{doubt}" if steps else "nothing supports it"
    return f"{counted(len(steps), 'step')} between releases that share it: {found}"


OF_HISTORY: Mapping[str, Callable[[AgedLibrary], str]] = {
    "debian-symbols": debian_symbols,
    "version-script": version_script,
}
OF_DECISIONS: Mapping[str, Callable[[Sequence[Skipped]], str]] = {
    "abigail-suppressions": abigail_suppressions,
    "abicc-skip-symbols": abicc_symbols,
    "abicc-skip-types": abicc_types,
}


class GeneratedFile(msgspec.Struct, frozen=True):
    """The text of a file, the release that it was made for, and the oldest one that it counts from."""

    format: GeneratedFormat
    release: str
    counted_from: str
    text: str


def generate(
    format: GeneratedFormat,
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> GeneratedFile:
    """A file for another tool, about a release or the latest one of a library.

    Ages are counted from the oldest stored release with the same SONAME. Raises :class:`SnapshotNotFound`, and
    :class:`UsageError` for a format that is not for this library.
    """
    with using(database) as store, store.reading():
        release = released(store, reference, target, profile)
        with limits_for(release.declarations << 12, f"generating {format} of {release.reference}"):
            if format == "conda-pin":
                ordered = _up_to(store, release)
                first, text = ordered[0], conda_pin(store, ordered)
            elif format in OF_HISTORY:
                library = aged(store, _up_to(store, release))
                first, text = library.releases[0], OF_HISTORY[format](library)
            else:
                first, text = release, OF_DECISIONS[format](_skipped(store, release))
    return GeneratedFile(format, release.reference, first.version, text)


def _up_to(store: Store, release: Release) -> Sequence[Release]:
    ordered = releases_of(store, release.line)
    return ordered[: next(place for place, each in enumerate(ordered) if each.sequence == release.sequence) + 1]


def _skipped(store: Store, release: Release) -> Sequence[Skipped]:
    from abistore.model.approvals import in_force
    from abistore.service.approved_gates import of_library

    accepted = in_force(of_library(store.approvals(), release.line.library))
    found = skipped(store.walk().step(release).snapshot, accepted)
    check_names("a list for another checker", [each.name for each in found])
    return found
