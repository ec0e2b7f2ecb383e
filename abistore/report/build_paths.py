"""Cutting the paths of a build to what differs: ``include/foo.h`` for ``/home/ci/build-7/foo/include/foo.h``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import commonpath, normpath
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from abistore.patterns import pattern
from abistore.report.model import Report, ReportedFinding, every

if TYPE_CHECKING:
    from collections.abc import Callable

SYSTEM = ("/usr/", "/opt/", "/lib/", "/nix/store/")
"""Where headers of the system stand. Their paths are no paths of a build, and stay whole."""

NUMBER = pattern(r"[0-9]+(?:\.[0-9]+)*")
"""What differs in the names of folders in which two releases are built."""

LISTS = ("changes", "suppressed", "advice")


def with_short_paths(report: Report, source_root: str = "") -> Report:
    """The report with paths below ``source_root`` relative to it, and absolute others to the folder that they share.

    A relative ``source_root`` is one of the folder of the compilation, as relative paths are, or of the current one.
    Two builds in folders beside each other have a folder each.
    """
    roots = [normpath(source_root), str(Path(source_root).absolute())] if source_root else []
    others = {
        file: gone
        for file, gone in _files(report)
        if _is_of_build(file) and not any(_below(file, root) for root in roots)
    }
    if not others and not source_root:
        return report
    shared = _two_builds(others, (report.old.file, report.new.file)) or [_shared(others)]

    def short(location: str) -> str:
        file, colon, line = location.rpartition(":")
        for folder in (*roots, *(shared if _is_of_build(file) else ())):
            if _below(file, folder):
                return f"{file[len(folder) :].lstrip('/')}{colon}{line}"
        return location

    lists = {name: tuple(_cut(getattr(report, name), short)) for name in LISTS}
    return replace(report, **lists)


def _two_builds(files: Mapping[str, bool], libraries: Sequence[str]) -> list[str] | None:
    """The folders of both builds where these lie beside each other: ``/ci/old/src`` and ``/ci/new/src``.

    Each file comes with whether what stands there is gone. The parts of one build lie beside each other too, such as
    ``src`` and ``include``. Those of two have the old and the new library in them; or they are called alike but for a
    number, ``geo-1.2`` and ``geo-1.3``, and what is gone stood in the one, and all else stands in the other.
    """
    shared = _shared(files)
    parts = {file: _part_of(file, shared) for file in files}
    builds = sorted(set(parts.values()))
    if not shared or len(builds) != 2 or "" in builds:
        return None
    holding = sorted(each.partition("/")[0] for each in libraries if "/" in each)
    if holding != builds and not (_are_numbered(builds) and _tell_apart(files, parts)):
        return None
    roots = [f"{shared}/{each}" for each in builds]
    within = commonpath([_folder(file)[len(f"{shared}/{part}") + 1 :] for file, part in parts.items()])
    return [f"{root}/{within}".rstrip("/") for root in roots]


def _are_numbered(folders: Sequence[str]) -> bool:
    return len({NUMBER.sub("0", each) for each in folders}) == 1


def _tell_apart(files: Mapping[str, bool], parts: Mapping[str, str]) -> bool:
    """Whether no part has both what is gone and what is there."""
    return len({(part, files[file]) for file, part in parts.items()}) == 2 == len({*files.values()})


def _part_of(file: str, folder: str) -> str:
    """The folder in ``folder`` in which a file is, however deep; empty where it is in ``folder`` itself."""
    return _folder(file)[len(folder) :].lstrip("/").partition("/")[0]


def _shared(files: Iterable[str]) -> str:
    return commonpath({_folder(each) for each in files} or [""])


def _folder(file: str) -> str:
    return str(PurePosixPath(file).parent)


def _files(report: Report) -> Iterator[tuple[str, bool]]:
    """The files of the report, each with whether what stands there is gone."""
    removals = {each.kind for each in report.kinds if each.action == "removed"}
    for name in LISTS:
        for finding in every(getattr(report, name)):
            if finding.source_location is not None:
                yield finding.source_location.rpartition(":")[0], finding.kind in removals


def _is_of_build(file: str) -> bool:
    return file.startswith("/") and not file.startswith(SYSTEM)


def _below(file: str, folder: str) -> bool:
    return folder not in ("", "/") and file.startswith(f"{folder}/")


def _cut(findings: Iterable[ReportedFinding], short: Callable[[str], str]) -> Iterator[ReportedFinding]:
    for finding in findings:
        location = finding.source_location and short(finding.source_location)
        within = tuple(_cut(finding.consequences, short))
        same = location == finding.source_location and within == finding.consequences
        yield finding if same else replace(finding, source_location=location, consequences=within)
