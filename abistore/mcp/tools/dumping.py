"""``abi_dump``: what one library's ABI is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from abistore.errors import InputError
from abistore.interface import Dump, ExtractOptions, dump
from abistore.mcp.answers.answer import Answer, asking, brief
from abistore.mcp.answers.compared import Gap, extent
from abistore.mcp.answers.units import units
from abistore.mcp.answers.written import MOST_UNITS
from abistore.mcp.call import Call
from abistore.mcp.operands import check_include_dirs, headers_of, library
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import Folders, Headers, Language, Only, described
from abistore.model.digest import snapshot_digest
from abistore.model.words.counting import counted

MOST_KEPT = 16 << 20
"""The longest snapshot that the server keeps, in bytes: longer ones `abistore dump` writes to a file."""


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
    next: tuple[str, ...] = ()


@tool()
def abi_dump(
    call: Call,
    *,
    library_path: Annotated[str, described("Absolute path: library or JSON snapshot")],
    headers: Headers = None,
    include_dirs: Folders = None,
    version: Annotated[str, described("Label as a string")] = "unknown",
    language: Language = None,
    inline: Annotated[bool, described("Send the snapshot, if short")] = False,
    only: Only = "",
) -> DumpAnswer:
    """Read one library and tell what its ABI has: functions, variables, types, and how much could be seen.

    Writes nothing. To judge a file, give abi_compare its path.
    """
    read = read_library(call, library_path, headers, include_dirs, (version, language, only))
    return dump_answer(read, inline=inline)


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


def dump_answer(read: ReadLibrary, *, inline: bool) -> DumpAnswer:
    """What is told of a library that was read."""
    made, path = read
    summary = _summary(made)
    length = units(made.json)
    seen = [evidence for evidence in made.snapshot.evidence if evidence.reason]
    how = {"missing": "could not be seen", "partial": "was seen in part", "full": "was seen"}
    missing = [f"{each.facet} {how[each.state]}: {each.detail or each.reason}" for each in seen if each.state != "full"]
    long = [f"the snapshot has {length:,} units and is not sent with the answer: read snapshot_uri"]
    digest = snapshot_digest(made.snapshot).hex()
    sent = inline and length <= MOST_UNITS
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
        warnings=(*map(brief, missing), *(long if inline and not sent else [])),
        next=(asking("abi_compare", old_input=f"{summary.library}@baseline", new_input=path.name),),
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
