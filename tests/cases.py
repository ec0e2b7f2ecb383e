"""Markdown cases: the sources of two releases, and every finding that comparing them gives."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from abistore.compare.comparison import compare
from abistore.compare.releases.comparison import ComparedRelease, compare_releases
from abistore.compare.rules import CASES
from abistore.extract.capture import read as read_file
from abistore.extract.headers.options import Language
from abistore.extract.reader import ExtractOptions
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import without_parameters
from abistore.model.cpp_names.spelling import declaration
from abistore.model.findings import Comparison, Finding
from abistore.model.mangling.symbols import is_mangled
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_file.codec import from_json
from tests.build import build_library
from tests.public_headers import beside, implementing

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


def judged(case: Case) -> Comparison:
    """Builds or reads both sides and compares them."""
    if case.is_release:
        return compare_releases(release_of(case, "old"), release_of(case, "new"))
    return compare(snapshot_of(case, "old"), snapshot_of(case, "new"))


def against_itself(case: Case, side: str) -> Comparison:
    """One side of a case compared with itself."""
    if case.is_release:
        return compare_releases(release_of(case, side), release_of(case, side))
    snapshot = snapshot_of(case, side)
    return compare(snapshot, snapshot)


def release_of(case: Case, side: str) -> ComparedRelease:
    """One side of a case as a release: each of its libraries compiled, and linked with those that it ``needs``."""
    own = [fence for fence in case.fences if fence.side in (side, "") and "library" in fence.options]
    built = [read_file(_member(case, side, fence.options["library"]), ExtractOptions()) for fence in own]
    return ComparedRelease("case", None, built)


def _member(case: Case, side: str, library: str) -> Path:
    """A library of a release. What it needs is of its own side, or of another one: ``needs=old:libcase``."""
    named = (each for each in case.fences if each.options.get("library") == library and each.side in (side, ""))
    fence = next(named)
    needed = (each.rpartition(":") for each in fence.options.get("needs", "").split(",") if each)
    others = [str(_member(case, before or side, name)) for before, _, name in needed]
    files = {_file(each) or "": each.body for each in case.fences if each.language == "map" and each.side in (side, "")}
    wanted = {name: body for name, body in files.items() if name in fence.options.get("flags", "")}
    return build_library(
        fence.body,
        language="c" if fence.language == "c" else "c++",
        flags=("-g", "-O1", *shlex.split(fence.options.get("flags", "")), "-Wl,--no-as-needed", *others),
        soname=fence.options.get("soname", f"{library}.so.1"),
        files=wanted,
        name=f"{library}.so",
    )


def snapshot_of(case: Case, side: str) -> Snapshot:
    """One side of a case: its source compiled and read, what its public headers declare, or its snapshot."""
    own = [fence for fence in case.fences if fence.side in (side, "")]
    if any(fence.is_snapshot for fence in own):
        return from_json(snapshot_file(case, side).read_bytes())
    sources = [fence for fence in own if fence.language in ("c", "cpp") and "file" not in fence.options]
    headers = [fence for fence in own if fence.language == "header"]
    public = [each for each in headers if each.is_public or not (sources or each.is_included)]
    binary = _built(own, sources[0]) if sources else None
    if not public:
        assert binary is not None, f"{case.label}: neither a source nor a header"
        return binary
    options = public[0].options
    files = {_file(fence) or "": fence.body for fence in public}
    included = {_file(fence) or "": fence.body for fence in headers if fence.is_included}
    language: Language = "c" if options.get("language") == "c" else "c++"
    standard = options.get("std", "")
    if binary is None:
        return implementing(files, language, standard)
    return beside(binary, files, language, standard, included=included)


def library_of(own: Sequence[Fence], main: Fence) -> Path:
    """The library that a side's source makes."""
    return build_library(
        main.body,
        language="c" if main.language == "c" else "c++",
        compiler=main.options.get("compiler"),
        flags=tuple(shlex.split(main.options.get("flags", "-g -O1"))),
        soname=main.options.get("soname"),
        files={name: fence.body for fence in own if (name := _file(fence))},
    )


def _built(own: Sequence[Fence], main: Fence) -> Snapshot:
    return _read(library_of(own, main), layout=main.options.get("layout", "yes") == "yes")


@cache
def _read(path: Path, *, layout: bool) -> Snapshot:
    """What a library is read as: laws over all cases ask again and again."""
    return read_file(path, ExtractOptions(library="libcase", layout=layout))


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
    if finding.old_value is not None or finding.new_value is not None:
        line += f"  {_value(finding.old_value)} -> {_value(finding.new_value)}"
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
