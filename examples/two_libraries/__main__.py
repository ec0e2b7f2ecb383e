"""Builds both libraries, stores their releases, and writes a site of them.

::

    python -m examples.two_libraries abi.db public      # a new database, and the folder of the site
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from hashlib import sha1
from pathlib import Path
from tempfile import TemporaryDirectory

from abistore.interface import (
    ApprovalPlan,
    ExtractOptions,
    HeaderOptions,
    IngestPlan,
    SitePlan,
    approve,
    build_site,
    ingest,
    set_baseline,
    verdict,
)
from examples.two_libraries.sources import PROJECTS, Project, Step

COMPILERS = {"c": ("gcc", "-std=c11"), "c++": ("g++", "-std=c++17")}
FLAGS = ("-g", "-O1", "-shared", "-fPIC")
TODAY = date(2026, 4, 1)


def releases(project: Project) -> Iterator[tuple[Step, dict[str, str]]]:
    """The releases with their sources, oldest first."""
    files = project.files
    for step in project.steps:
        for edit in step.edits:
            before = files[edit.file]
            if before.count(edit.old) != 1:
                raise ValueError(f"{project.name} {step.version}: {edit.old!r} does not stand once in {edit.file}")
            files = {**files, edit.file: before.replace(edit.old, edit.new)}
        yield step, files


def build(project: Project, version: str, files: dict[str, str], folder: Path) -> Path:
    """Write and compile the sources of a release: its library, with the headers beside it."""
    for name, text in files.items():
        (folder / name).write_text(text)
    compiler, standard = COMPILERS[project.language]
    soname = f"{project.name}.so.{version.partition('.')[0]}"
    made = folder / f"{project.name}.so"
    words = (compiler, standard, *FLAGS, f"-Wl,-soname,{soname}", "-o", made.name, project.source)
    subprocess.run(words, cwd=folder, check=True)
    return made


def store(project: Project, database: Path) -> None:
    """Store all releases of a library, and approve what its history says was approved."""
    for step, files in releases(project):
        with TemporaryDirectory() as folder:
            built = build(project, step.version, files, Path(folder))
            plan = IngestPlan(
                library=project.name,
                version=step.version,
                revision=sha1("".join(files.values()).encode()).hexdigest(),
                released=datetime.combine(date.fromisoformat(step.day), datetime.min.time(), UTC),
                options=ExtractOptions(headers=HeaderOptions((Path(folder) / project.header,))),
            )
            (stored,) = ingest(built, plan, database=database)
        if stored.error:
            raise RuntimeError(f"{project.name} {step.version}: {stored.error}")
        reference = f"{project.name}@{step.version}"
        if step.waiver:
            failing = [
                one.id for one in verdict(reference, database=database).report.changes if one.impact != "compatible"
            ]
            why = ApprovalPlan(reason=step.waiver, approver="release board", until=f"{step.version[0]}.9", today=TODAY)
            approve(failing, why, database=database)
        if step.story != "accident":
            set_baseline(reference, database=database)
        print(f"{reference}  {step.story}")


def main() -> None:
    """Make the database, and the site of it."""
    database, site = map(Path, sys.argv[1:])
    for project in PROJECTS:
        store(project, database)
    print(build_site(site, SitePlan("ABI history"), database=database).index)


if __name__ == "__main__":
    main()
