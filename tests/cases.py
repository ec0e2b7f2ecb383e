"""Markdown cases: the sources of two releases, and every finding that comparing them gives."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import msgspec

from abistore.diffing.judge.bundles import ComparedRelease, compare_releases
from abistore.diffing.judge.judged import compare
from abistore.diffing.rules import CASES
from abistore.model.findings import Comparison, Finding
from abistore.model.names.qualified import demangle, without_parameters
from abistore.model.names.spelling import declaration
from abistore.model.names.symbols import is_mangled
from abistore.model.snapshot import PackageRead, Snapshot
from abistore.model.snapshot_files import from_json
from tests.build import COMPILERS
from tests.kept import kept_or_read
from tests.public_headers import Texts
from tests.sides import Side, Source

Reading: TypeAlias = Callable[[Side, str], Snapshot]
"""How a side of a subject becomes a snapshot."""

RULES = CASES
"""Where the cases of the rules are: a file a kind, beside the rules."""

SNAPSHOTS = RULES / "snapshots"
"""What no compiler here writes. Such a side is shown in its case as C, and read from a file here."""

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
SILENT = "## Stays silent"


@dataclass(frozen=True)
class Fence:
    """One fenced block: its language, its side (``old``, ``new`` or none) and its ``key=value`` options.

    A ``public`` header is one that consumers include; so are all headers of a case without a source. One that is
    ``included`` lies elsewhere, as those of other libraries do, and is found when a public one includes it.
    """

    language: str
    side: str
    options: Mapping[str, str]
    is_snapshot: bool
    is_public: bool
    is_included: bool
    body: str
    span: tuple[int, int]


@dataclass
class Case:
    """A pair of releases within a file. ``expected`` is the block of findings, ``where`` its place in the text."""

    path: Path
    number: int
    fences: list[Fence] = field(default_factory=list)
    silent: bool = False
    expected: str = ""
    where: tuple[int, int] = (0, 0)

    @property
    def is_release(self) -> bool:
        """Whether its sides are releases of several libraries, each a fence with ``library=NAME``."""
        return any("library" in fence.options for fence in self.fences)

    @property
    def is_drawn(self) -> bool:
        """Whether its sides are snapshots that no compiler here writes."""
        return any(fence.is_snapshot for fence in self.fences)

    @property
    def subject(self) -> str:
        """The first word of its kind, by which cases are tested and kept together; ``quiet`` of those of no kind."""
        return re.split("[_-]", self.path.stem)[0]

    @property
    def label(self) -> str:
        """How the case is called in test output."""
        return f"{self.path.stem}-{self.number}"


def cases(path: Path) -> list[Case]:
    """All pairs of a file, in order; each ends with its ``findings`` block."""
    text = path.read_text()
    boundary = text.find(SILENT) if SILENT in text else len(text)
    found: list[Case] = []
    pending = Case(path, 1)
    for match in FENCE.finditer(text):
        fence = _fence(match)
        if fence.language == "findings":
            pending.expected, pending.where = fence.body, fence.span
            pending.silent = match.start() > boundary
            found.append(pending)
            pending = Case(path, len(found) + 1)
        else:
            pending.fences.append(fence)
    assert not pending.fences, f"{path.name}: fences without a findings block after them"
    return found


def _fence(match: re.Match[str]) -> Fence:
    words = shlex.split(match["info"])
    side = next((word for word in words[1:2] if word in ("old", "new")), "")
    options = dict(word.split("=", 1) for word in words[1:] if "=" in word)
    return Fence(
        words[0] if words else "",
        side,
        options,
        "snapshot" in words,
        "public" in words,
        "included" in words,
        match["body"],
        match.span("body"),
    )


def judged(case: Case, sides: tuple[str, str] = ("old", "new"), read: Reading = kept_or_read) -> Comparison:
    """Compares two sides of a case."""
    old, new = (libraries_of(case, side, read) for side in sides)
    if case.is_release:
        return compare_releases(ComparedRelease("case", None, old), ComparedRelease("case", None, new))
    return compare(old[0], new[0])


def snapshot_of(case: Case, side: str) -> Snapshot:
    """One side of a case; of a release, its first library."""
    return libraries_of(case, side)[0]


def libraries_of(case: Case, side: str, read: Reading = kept_or_read) -> Sequence[Snapshot]:
    """The libraries of one side of a case: one, or all of a release."""
    if case.is_drawn:
        return [from_json(snapshot_file(case, side).read_bytes())]
    found = [read(each, case.subject) for each in sides_of(case, side)]
    if not case.is_release:
        return found
    options = [fence.options for fence in _members(case, side)]
    return [_in_package(each, said) if "package" in said else each for each, said in zip(found, options, strict=True)]


def _in_package(snapshot: Snapshot, said: Mapping[str, str]) -> Snapshot:
    """The snapshot as it is read from a package of Debian: ``package=NAME depends=libfoo1,libbar2``."""
    name, depends = said["package"], tuple(filter(None, said.get("depends", "").split(",")))
    package = PackageRead(f"{name}.deb", name, member=f"usr/lib/{snapshot.provenance.file}", depends=depends)
    return msgspec.structs.replace(snapshot, provenance=msgspec.structs.replace(snapshot.provenance, package=package))


def sides_of(case: Case, side: str) -> Sequence[Side]:
    """What one side of a case is compiled and read from: none where it is drawn, several of a release."""
    if case.is_drawn:
        return ()
    return members_of(case, side) if case.is_release else (_side(case, side),)


def members_of(case: Case, side: str) -> Sequence[Side]:
    """The libraries of a release, each linked with those that it ``needs``."""
    return [Side(_member(case, side, fence.options["library"]), library=None) for fence in _members(case, side)]


def _members(case: Case, side: str) -> Sequence[Fence]:
    return [fence for fence in case.fences if fence.side in (side, "") and "library" in fence.options]


def _member(case: Case, side: str, library: str) -> Source:
    """A library of a release. What it needs is of its own side, or of another one: ``needs=old:libcase``."""
    named = (each for each in case.fences if each.options.get("library") == library and each.side in (side, ""))
    fence = next(named)
    needed = (each.rpartition(":") for each in fence.options.get("needs", "").split(",") if each)
    files = {_file(each) or "": each.body for each in case.fences if each.language == "map" and each.side in (side, "")}
    wanted = {name: body for name, body in files.items() if name in fence.options.get("flags", "")}
    language = _language(fence)
    return Source(
        fence.body,
        language,
        compiler=COMPILERS[language],
        flags=("-g", "-O1", *shlex.split(fence.options.get("flags", "")), "-Wl,--no-as-needed"),
        soname=fence.options.get("soname", f"{library}.so.1"),
        files=_texts(wanted),
        name=f"{library}.so",
        needs=tuple(_member(case, before or side, name) for before, _, name in needed),
    )


def _side(case: Case, side: str) -> Side:
    own = [fence for fence in case.fences if fence.side in (side, "")]
    sources = [fence for fence in own if fence.language in ("c", "cpp") and "file" not in fence.options]
    headers = [fence for fence in own if fence.language == "header"]
    public = [each for each in headers if each.is_public or not (sources or each.is_included)]
    assert sources or public, f"{case.label}: neither a source nor a header"
    options = public[0].options if public else {}
    return Side(
        source_of(own, sources[0]) if sources else None,
        layout=not sources or sources[0].options.get("layout", "yes") == "yes",
        public=_texts({_file(fence) or "": fence.body for fence in public}),
        included=_texts(
            {_file(fence) or "": fence.body for fence in headers if fence.is_included and public and sources}
        ),
        language="c" if options.get("language") == "c" else "c++",
        standard=options.get("std", ""),
    )


def source_of(own: Sequence[Fence], main: Fence) -> Source:
    """The source of a library that a side shows."""
    language = _language(main)
    return Source(
        main.body,
        language,
        compiler=main.options.get("compiler") or COMPILERS[language],
        flags=tuple(shlex.split(main.options.get("flags", "-g -O1"))),
        soname=main.options.get("soname"),
        files=_texts({name: fence.body for fence in own if (name := _file(fence))}),
    )


def _texts(files: Mapping[str, str]) -> Texts:
    return tuple(sorted(files.items()))


def _language(fence: Fence) -> str:
    return "c" if fence.language == "c" else "c++"


def snapshot_file(case: Case, side: str) -> Path:
    """Where the snapshot of one side of a case is."""
    return SNAPSHOTS / f"{case.path.stem}-{case.number}-{side}.json"


def shown(snapshot: Snapshot) -> str:
    """A snapshot as C: its declarations, and in comments what its tables of symbols tell and what was not seen."""
    lines = [f"// {snapshot.label}"] if snapshot.version else []
    seen = ((evidence.facet, evidence) for evidence in snapshot.evidence if evidence.facet in snapshot.entries)
    lines += [f"// {facet} facet: {each.state}, {each.reason}" for facet, each in seen if each.state != "full"]
    for facet, held in snapshot.entries.items():
        for name, shapes in sorted(held.items()):
            for shape in shapes:
                text = declaration(name, shape, snapshot)
                if facet == "symbol":
                    text = "\n".join(f"// {line}" for line in text.splitlines())
                elif is_mangled(name.spelling):
                    text = _demangled(text, name.spelling)
                lines += text.splitlines()
    return "".join(f"{line}\n" for line in lines)


def _demangled(text: str, symbol: str) -> str:
    """A declaration by the name that the source has for a symbol; its parameters may be there already."""
    readable = demangle(symbol)
    return text.replace(f"{symbol}(", f"{without_parameters(readable)}(").replace(symbol, readable)


def _file(fence: Fence) -> str | None:
    names = {"header": "case.h", "map": "case.map"}
    return fence.options.get("file") or names.get(fence.language)


def rendered(comparison: Comparison) -> str:
    """The advice and the findings as the block of a case holds them."""
    lines = [line for finding in (*comparison.advice, *comparison.findings) for line in _lines(finding, "")]
    lines += [
        f"not_checked  {each.facet}  {each.side}  {each.reason}"
        + ("  " + " ".join(name.spelling for name in each.names) if each.names else "")
        for each in comparison.not_checked
    ]
    return "".join(f"{line}\n" for line in lines) or "none\n"


def _lines(finding: Finding, indent: str) -> Iterator[str]:
    subject = " ".join(filter(None, (finding.name.kind, finding.name.spelling, finding.part)))
    line = f"{indent}{finding.impact.label:<11} {finding.kind}  {subject}"
    if finding.shown != (None, None):
        line += f"  {' -> '.join(map(_value, finding.shown))}"
    others = [name.spelling for name in finding.affected if name != finding.name]
    if others and not indent:
        line += f"  affects {' '.join(others)}"
    yield line
    for consequence in finding.consequences:
        yield from _lines(consequence, indent + "  ")


def _value(value: str | None) -> str:
    return "(none)" if value is None else " ".join(value.split())


def kinds(comparison: Comparison) -> set[str]:
    """Every kind that a comparison reports, folded ones too."""

    def walk(finding: Finding) -> Iterator[str]:
        yield finding.kind
        for consequence in finding.consequences:
            yield from walk(consequence)

    return {kind for finding in (*comparison.advice, *comparison.findings) for kind in walk(finding)}
