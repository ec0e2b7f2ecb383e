"""``abi_list``, ``abi_store_stats`` and ``abi_dump``: what is stored, and what one library's ABI is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from abistore.errors import InputError
from abistore.interface import (
    Dump,
    ExtractOptions,
    ListedLine,
    ListedRelease,
    OpenStore,
    StoreStats,
    db_stats,
    dump,
    lines,
    lines_with_outcomes,
    releases_with_outcomes,
)
from abistore.mcp.answers import BESIDE, SENT, Answer, Gap, NextCall, asking, brief, extent, units
from abistore.mcp.operands import Call, check_include_dirs, headers_of, library
from abistore.mcp.tools.declaration import (
    Cursor,
    Folders,
    Headers,
    Inline,
    Language,
    LibraryPath,
    Limit,
    Only,
    SomeLibrary,
    Version,
    described,
    tool,
)
from abistore.model.decision import Outcome
from abistore.model.history import DEFAULT_CHANNEL
from abistore.model.snapshot import snapshot_digest
from abistore.model.words import counted

BUDGET = 800

SURFACE = 1
"""Raised when a tool, an argument or a URI changes its meaning or goes; what is added does not count."""


class StoredItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A library's line, or one release of a library; ``baselines`` maps channels to versions.

    ``outcome`` is that of the release, or of the latest one, as far as its verdict is stored.
    """

    library: str
    version: str | None = None
    target: str
    profile: str
    released_at: str | None = None
    soname: str | None = None
    exports: int | None = None
    digest: str | None = None
    candidate: bool = False
    tags: tuple[str, ...] = ()
    releases: int | None = None
    first: str | None = None
    latest: str | None = None
    baselines: Mapping[str, str] = {}
    outcome: Outcome | None = None


class Stored(Answer, frozen=True, kw_only=True):
    """A page of what is stored; ``total`` counts all of it."""

    items: tuple[StoredItem, ...]
    total: int
    returned: int
    next_cursor: str | None = None
    next: tuple[NextCall, ...] = ()


@tool("List what is stored")
def abi_list(
    call: Call,
    *,
    library: SomeLibrary = None,
    prefix: Annotated[str | None, described("Beginning of names, or of versions")] = None,
    cursor: Cursor = None,
    limit: Limit = None,
) -> Stored:
    """List what is stored: all libraries, or the releases of one library. Start here.

    Use it to find names, versions, baselines and digests; abi_history has the verdicts.
    Example: library="libfoo", prefix="1.".
    """
    with call.store() as store:
        items = _releases(store, library) if library else _lines(store)
    shown = [item for item in items if (item.version or item.library).startswith(prefix or "")]
    page = call.page(shown, budget=BUDGET)
    kept = sum(item.candidate for item in shown)
    and_kept = f" and {counted(kept, 'candidate')}" if kept else ""
    what = f"{counted(len(shown) - kept, 'release')}{and_kept} of {library}" if library else counted(len(shown), "line")
    return Stored(
        headline=f"{what} stored",
        items=page.items,
        total=len(shown),
        returned=len(page.items),
        next_cursor=page.next_cursor,
        next=(*page.more, *_next(library, shown)),
    )


def _next(library: str | None, shown: list[StoredItem]) -> tuple[NextCall, ...]:
    if not shown:
        return (asking("abi_help", "Read how to begin.", topic="workflow"),)
    first = shown[0].library
    lines = dict.fromkeys(f"{item.target}/{item.profile}" for item in shown if item.library == first)
    line = next(iter(lines)) if len(lines) > 1 else None
    if library:
        history = asking("abi_history", "Read the verdict about each release.", library=first, line=line)
        return (history, _about_last(library, line, shown))
    listed = asking("abi_list", "List the releases of the first library.", library=first)
    return (listed, asking("abi_history", "Read the verdict about each of them.", library=first, line=line))


def _about_last(library: str, line: str | None, shown: list[StoredItem]) -> NextCall:
    """The verdict about the latest release, or what a build would have broken that failed its gate and was kept."""
    of_line = [item for item in shown if line in {None, f"{item.target}/{item.profile}"}]
    kept = [item.version for item in of_line if item.candidate]
    if not kept or len(kept) == len(of_line):
        return asking("abi_summary", "Read the verdict about the latest release.", library=library, line=line)
    sides = {"old_input": f"{library}@latest", "new_input": f"{library}@candidate:{kept[-1]}"}
    return asking("abi_compare", "See what the refused build would have broken.", **sides, line=line)


def _lines(store: OpenStore) -> list[StoredItem]:
    return [_line(listed) for listed in lines_with_outcomes(database=store)]


def _line(listed: ListedLine) -> StoredItem:
    return StoredItem(
        library=listed.line.library,
        target=listed.line.target,
        profile=listed.line.profile,
        releases=listed.releases,
        first=listed.first or None,
        latest=listed.latest or None,
        baselines=dict(sorted(listed.baselines.items())),
        outcome=listed.outcome,
    )


def _releases(store: OpenStore, library: str) -> list[StoredItem]:
    return [_release(release) for release in releases_with_outcomes(library, database=store)]


def _release(release: ListedRelease) -> StoredItem:
    return StoredItem(
        library=release.line.library,
        version=release.version,
        target=release.line.target,
        profile=release.line.profile,
        released_at=f"{release.released or release.ingested:%Y-%m-%d}",
        soname=release.soname,
        exports=release.exports,
        digest=release.digest[:12],
        candidate=release.candidate,
        tags=tuple(tag.name for tag in release.tags),
        outcome=release.outcome,
    )


class BoundsInForce(msgspec.Struct, frozen=True):
    """What one call may take."""

    timeout: float
    max_file_size: int
    max_memory: int
    max_concurrency: int
    max_response_units: int
    history_limit: int


class StatsAnswer(Answer, frozen=True, kw_only=True):
    """How much the store holds, and the settings of the server."""

    surface_version: int
    allow_write: bool
    store: StoreStats
    limits: BoundsInForce
    next: tuple[NextCall, ...] = ()


@tool("Size and limits of the store")
def abi_store_stats(call: Call) -> StatsAnswer:
    """Tell how much the store holds, its schema, and the limits of each call.

    Use it when a call was refused for its time or size.
    """
    with call.store() as store:
        stats = db_stats(database=store)
    settings = call.settings
    return StatsAnswer(
        headline=f"{counted(stats.releases, 'release')} of {counted(stats.libraries, 'library', 'libraries')} stored",
        surface_version=SURFACE,
        allow_write=settings.allow_write,
        store=stats,
        limits=BoundsInForce(**{name: getattr(settings, name) for name in BoundsInForce.__struct_fields__}),
        next=(asking("abi_list", "List what is stored."),),
    )


MOST_KEPT = 16 << 20
"""The longest snapshot that the server keeps, in bytes: longer ones `abistore export` writes to a file."""


class DumpSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot in numbers; ``evidence`` says how much each facet could see."""

    library: str
    version: str
    platform: str
    functions: int
    variables: int
    types: int
    enums: int
    evidence: tuple[str, ...]


class DumpAnswer(Answer, frozen=True, kw_only=True):
    """A library's snapshot in numbers, where it is read, and whole where that was asked for and is short."""

    summary: DumpSummary
    digest: str
    build_id: str | None
    bytes: int
    output_path: str | None = None
    not_checked: tuple[Gap, ...] = ()
    snapshot: Any = None
    snapshot_uri: str = ""
    warnings: tuple[str, ...] = ()
    next: tuple[NextCall, ...] = ()


@tool("Read one library")
def abi_dump(
    call: Call,
    *,
    library_path: LibraryPath,
    headers: Headers = None,
    include_dirs: Folders = None,
    version: Version = "unknown",
    language: Language = None,
    inline: Inline = False,
    only: Only = "",
) -> DumpAnswer:
    """Read one library and tell what its ABI has: functions, variables, types, and how much could be seen.

    Use it to look at one file; writes nothing. To judge a file, give abi_review_build or abi_compare its path.
    Example: library_path="/ci/libfoo.so", headers=["/ci/include"].
    """
    read = read_library(call, library_path, headers, include_dirs, (version, language, only))
    return dump_answer(call, read, inline=inline)


class ReadLibrary(NamedTuple):
    """A library that was read."""

    made: Dump
    path: Path


def read_library(
    call: Call,
    library_path: str,
    headers: list[str] | None,
    include_dirs: list[str] | None,
    said: tuple[str, str | None, str],
) -> ReadLibrary:
    """The snapshot of a library; ``said`` are its version and language, and which of several it is."""
    version, language, chosen = said
    path = library(call.settings, library_path, "library_path")
    named = headers_of(call.settings, headers, include_dirs, language, "headers")
    check_include_dirs(include_dirs, headers)
    most = call.settings.max_file_size
    options = ExtractOptions(version=version, max_bytes=most, headers=named, progress=call.progress)
    made = _dumped(path, options, chosen)
    if len(made.json) <= MOST_KEPT:
        call.keep = snapshot_digest(made.snapshot).hex(), made.json
    return ReadLibrary(made, path)


def _dumped(path: Path, options: ExtractOptions, chosen: str) -> Dump:
    """The library that is chosen of several by its name in a package, or by its target in a universal file."""
    try:
        return dump(path, options=replace(options, only=(chosen,) if chosen else ()))
    except InputError as error:
        if chosen and error.hint and "--target" in error.hint:
            return dump(path, options=options, target=chosen)
        error.hint = error.hint and error.hint.replace("--only or --target", "only").replace("--only", "only")
        raise


def _after_dump(call: Call, library: str) -> NextCall:
    """To judge the file by what is stored of its library; the call takes the same path and headers."""
    given = call.arguments
    if call.has_no_store:
        return asking("abi_help", "Read how to begin.", topic="workflow")
    with call.store() as store:
        of_library = lines(library=library, database=store)
    if len(of_library) != 1 or not of_library[0].releases or given.get("only"):
        return asking("abi_list", "See what it can be compared with.", library=library if of_library else None)
    has_baseline = DEFAULT_CHANNEL in of_library[0].baselines
    old, say = ("baseline", "its baseline") if has_baseline else ("latest", "the latest release")
    headers = {"new_headers": given.get("headers"), "include_dirs": given.get("include_dirs")}
    sides = {"old_input": f"{library}@{old}", "new_input": given["library_path"]}
    return asking("abi_compare", f"Compare it with {say}.", **sides, **headers, language=given.get("language"))


TWO_DIGESTS = ("give digest, not snapshot.digest, as expected_digest: the latter is a checksum of the snapshot's text",)


def dump_answer(call: Call, read: ReadLibrary, *, inline: bool) -> DumpAnswer:
    """What is told of a library that was read."""
    made = read.made
    summary = _summary(made)
    length = units(made.json)
    seen = [evidence for evidence in made.snapshot.evidence if evidence.reason]
    how = {"missing": "could not be seen", "partial": "was seen in part", "full": "was seen"}
    missing = [f"{each.facet} {how[each.state]}: {each.detail or each.reason}" for each in seen if each.state != "full"]
    long = [f"the snapshot has {length:,} units and is not sent with the answer: read snapshot_uri"]
    digest = snapshot_digest(made.snapshot).hex()
    sent = inline and length <= (call.settings.max_response_units - BESIDE) // SENT
    parts = (counted(summary.functions, "function"), counted(summary.variables, "variable"))
    held = ", ".join((*parts, counted(summary.types, "type")))
    return DumpAnswer(
        headline=f"{summary.library} {summary.version}: {held}; {', '.join(summary.evidence)}",
        summary=summary,
        digest=digest,
        snapshot_uri=f"abistore://dumps/{digest}/snapshot.json" if len(made.json) <= MOST_KEPT else "",
        build_id=made.snapshot.provenance.build_id,
        bytes=len(made.json),
        snapshot=json.loads(made.json) if sent else None,
        warnings=(*map(brief, missing), *(long if inline and not sent else []), *(TWO_DIGESTS if sent else ())),
        next=(_after_dump(call, made.snapshot.library),),
    )


def _summary(made: Dump) -> DumpSummary:
    snapshot = made.snapshot
    names = {name for entries in snapshot.entries.values() for name in entries}
    kinds = [name.kind for name in names]
    return DumpSummary(
        library=brief(snapshot.library, 80),
        version=snapshot.version or "unknown",
        platform=str(snapshot.target),
        functions=kinds.count("function"),
        variables=kinds.count("variable"),
        types=kinds.count("record") + kinds.count("alias") + kinds.count("enum"),
        enums=kinds.count("enum"),
        evidence=tuple(map(extent, snapshot.evidence)),
    )
