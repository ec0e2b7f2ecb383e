"""Cutting the paths of a build to what differs: ``include/foo.h`` for ``/home/ci/build-7/foo/include/foo.h``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os.path import commonpath, normpath
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from abistore.report.model import Report, ReportedFinding, every

if TYPE_CHECKING:
    from collections.abc import Callable

SYSTEM = ("/usr/", "/opt/", "/lib/", "/nix/store/")
"""Where headers of the system stand. Their paths are no paths of a build, and stay whole."""

LISTS = ("changes", "suppressed", "advice")


def with_short_paths(report: Report, source_root: str = "") -> Report:
    """The report with paths below ``source_root`` relative to it, and absolute others to the folder that they share.

    A relative ``source_root`` is one of the folder of the compilation, as relative paths are, or of the current one.
    """
    folders = sorted({str(PurePosixPath(file).parent) for file in _files(report) if _is_of_build(file)})
    if not folders and not source_root:
        return report
    roots = [normpath(source_root), str(Path(source_root).absolute())] if source_root else []
    others = [each for each in folders if not any(_below(f"{each}/", root) for root in roots)]
    shared = commonpath(others or [""])

    def short(location: str) -> str:
        file, colon, line = location.rpartition(":")
        for folder in (*roots, shared if _is_of_build(file) else ""):
            if _below(file, folder):
                return f"{file[len(folder) :].lstrip('/')}{colon}{line}"
        return location

    lists = {name: tuple(_cut(getattr(report, name), short)) for name in LISTS}
    return replace(report, **lists)


def _files(report: Report) -> Iterator[str]:
    for name in LISTS:
        for finding in every(getattr(report, name)):
            if finding.source_location is not None:
                yield finding.source_location.rpartition(":")[0]


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
