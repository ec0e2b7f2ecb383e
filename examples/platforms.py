"""Releases of libraries whose PyPI wheels carry headers and libraries for Linux, Windows and macOS, side by side.

::

    python -m examples.platforms obtain           # the wheels (PROJECT ... for some only)
    python -m examples.platforms ingest           # one command a wheel, into .cache/examples/platforms.db
    python -m examples.platforms compare          # what the platforms say of each release, and where they differ
    python -m examples.platforms document         # write docs/lab/three-platforms.md
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from examples.histories import abistore
from examples.obtain import CACHE, PROJECT, Missing, run

DATABASE = CACHE / "platforms.db"
PAGE = PROJECT / "docs" / "lab" / "three-platforms.md"


STANDARD_LIBRARIES = (
    *((word, "") for word in ("__1::", "__cxx11::", "[abi:cxx11]")),
    ("std::basic_string<char, std::char_traits<char>, std::allocator<char>>", "std::string"),
    *((f"std::basic_{each}<char, std::char_traits<char>>", f"std::{each}") for each in ("ostream", "istream")),
)
"""What libc++ and libstdc++ write into names, with its strings since C++11, and what sources have in its place."""


class Timeline(NamedTuple):
    """A library as one platform knows it."""

    wheel: str
    library: str
    target: str
    called: str


class Project(NamedTuple):
    """A project on PyPI: its releases, which Python its wheels are for, and its timelines."""

    name: str
    releases: Sequence[str]
    python: str
    tags: Mapping[str, Sequence[str]]
    timelines: Sequence[Timeline]
    causes: str


class Told(NamedTuple):
    """What one timeline says of a release against the one before."""

    verdict: str
    findings: frozenset[tuple[str, str]]

    def cell(self) -> str:
        """The verdict and how many findings lead to it, for a table."""
        return f"{self.verdict}, {len(self.findings)}"


def _timelines(windows: str, library: str, intel: str = "macos") -> tuple[Timeline, ...]:
    return (
        Timeline("linux", library, "elf-x86_64-64-little", "Linux x86-64"),
        Timeline("windows", windows, "pe-x86_64-64-little", "Windows x86-64"),
        Timeline("macos", library, "macho-aarch64-64-little", "macOS arm64"),
        Timeline(intel, library, "macho-x86_64-64-little", "macOS x86-64"),
    )


MUJOCO = """### Why they differ

The verdict of each release is the same on all four timelines. The findings differ by what the wheels hold:

- **Headers.** The wheels for Linux and Windows carry headers below `experimental/usd` (15 of 29 in 3.3.5, 19 of 33 in
  3.7.0) that include `pxr/`, which is in no wheel. The wheel for macOS carries 14 headers, and all of them parse. Where
  headers are set aside, an export without a declaration may be declared in one of them: it is `func_removed` or
  `func_added` on Linux and Windows, and `symbols_removed.undeclared` or `symbols_added.undeclared` on macOS, where no
  public header has it (`mj_globalCache`, `mju_isZeroByte`: none of the wheels' headers names them). For the same reason
  a macro or typedef that is new is told on macOS only: elsewhere it may have been in a header that was not read.
- `header_added`, `header_removed`: those headers again, which the wheel for macOS does not have.
- **Names of libraries.** `soname_changed`: SONAME and install name hold the whole version, and the DLL's name none.
- **Systems.** Imports and `runtime_floor_raised` are of the C library that each is linked with.
- **Another build for x86-64 on macOS.** It exports what its C++ runtime left behind (`typeinfo name for ...`), which
  the others hide: `symbols_added.foreign`, `symbols_removed.foreign`.
- **Language of the headers.** The headers of 3.4.0 for arm64 were read as C, those of 3.5.0, which exports a C++
  function, as C++; for x86-64 both were read in one language. abistore lists this under *not checked*
  (`headers-read-differently`) and tells no declaration that only one side has: additions in 3.5.0 are told for x86-64
  only. `typedef_base_changed.respelled` of `mjByteVec` and others (`void` for C, `std::vector` for C++) is false: the
  headers have both, one for each language."""

CASADI = """### Why they differ

The verdict of each release is the same on all four timelines: five are BREAKING, and 3.6.7 and 3.7.2 are API_BREAK.
Names are compared without the words that each standard library puts into them (`__cxx11`, `__1`). The findings differ
by:

- **What compilers export.** The DLL exports the vtables of more classes, and 65 functions in 3.7.0 that the others
  hide or write into programs: `type_symbols_added`, `func_added`, `func_removed`, `symbols_added.inline`. Clang on
  macOS hides the tables of templates (`BinaryMX<false, false>`), which GCC exports: `vtable_slot_count_changed` on
  Linux and Windows.
- **Types of the systems.** `unsigned long` is `unsigned long long` on Windows, a mode of streams is
  `std::_Ios_Openmode` or `unsigned int`, and an iterator of a vector is `__normal_iterator` or `__wrap_iter`: one
  function under two names.
- **Ends of vtables on Windows.** The slot of a pure function is empty there, as what aligns the next object. Where
  the bounds of a table meet, a moved slot tells its growth (`vtable_slot_changed` for `vtable_slot_count_changed`),
  and eight tables of 3.7.0 (`SetNonzeros<false>`), whose named slots are as before, are told on Linux alone.
- **Systems.** Imports, `needed_added`, `runtime_floor_raised`, `system_minimum_widened.macos`, `runpath_changed` and
  foreign exports are of what each wheel was linked with. `CASADI_COMPILER` is a macro with the compiler's version.
- **Not explained yet.** `SharedObject` got another base in 3.7.0, which `type_base_changed` tells everywhere; why
  `rtti_inheritance_changed` is told beside it on Linux and macOS x86-64 alone, and `value_abi_trait_changed` on
  Windows alone, was not looked into; nor was `vtable_slot_changed.override` on Windows."""

PROJECTS = {
    each.name: each
    for each in (
        Project(
            "mujoco",
            ("3.3.4", "3.3.5", "3.3.6", "3.3.7", "3.4.0", "3.5.0", "3.6.0", "3.7.0"),
            "3.12",
            {
                "linux": ("manylinux_2_28_x86_64", "manylinux2014_x86_64"),
                "windows": ("win_amd64",),
                "macos": ("macosx_11_0_arm64",),
            },
            _timelines("mujoco", "libmujoco"),
            MUJOCO,
        ),
        Project(
            "casadi",
            ("3.6.4", "3.6.5", "3.6.6", "3.6.7", "3.7.0", "3.7.1", "3.7.2", "3.8.0"),
            "3.12",
            {
                "linux": ("manylinux2014_x86_64",),
                "windows": ("win_amd64",),
                "macos": ("macosx_11_0_arm64",),
                "macos-intel": ("macosx_11_0_x86_64",),
            },
            _timelines("libcasadi", "libcasadi", intel="macos-intel"),
            CASADI,
        ),
    )
}


def wheel(project: Project, version: str, platform: str) -> Path:
    """The wheel of a release for ``linux``, ``windows`` or ``macos``, from PyPI unless it was obtained before."""
    folder = CACHE / "wheels" / f"{project.name}-{version}-{platform}"
    if not folder.exists():
        work = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        tags = [word for tag in project.tags[platform] for word in ("--platform", tag)]
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
        run([*pip, "--python-version", project.python, *tags, f"{project.name}=={version}"], work)
        work.rename(folder)
    return next(folder.iterdir())


def obtain(project: Project) -> None:
    """Every wheel; those that are there cost nothing."""
    for version in project.releases:
        for platform in project.tags:
            print(wheel(project, version, platform).name, flush=True)


def ingest(project: Project) -> None:
    """Every wheel into the database, oldest release first, one command each."""
    libraries = {each.wheel: each.library for each in project.timelines}
    for version in project.releases:
        for platform, library in libraries.items():
            path = wheel(project, version, platform)
            words = ("ingest", path, "--devel-package", path, "--only", library)
            print(abistore("--db", DATABASE, *words), end="", flush=True)


def _named(finding: Mapping[str, str | None]) -> tuple[str, str]:
    """A finding as all platforms call it: its kind, and what changed in what."""
    part = finding.get("part")
    return str(finding["kind"]), f"{_everywhere(str(finding['display']))}{f' {part}' if part else ''}"


def _everywhere(spelling: str) -> str:
    """A name as sources have it: each standard library puts its own words into what it declares."""
    for word, plain in STANDARD_LIBRARIES:
        spelling = spelling.replace(word, plain)
    return spelling


def told(timeline: Timeline, old: str, new: str) -> Told:
    """What the timeline says of ``new``, the release after ``old``."""
    words = ("verdict", f"{timeline.library}@{new}", "--against", old, "--target", timeline.target, "--json")
    answer = json.loads(abistore("--db", DATABASE, *words))["data"]
    return Told(answer["verdict"], frozenset(_named(each) for each in answer["changes"]))


def releases(project: Project) -> Iterator[tuple[str, Sequence[Told]]]:
    """Each release but the first, and what each timeline says of it."""
    for old, new in pairwise(project.releases):
        yield new, [told(each, old, new) for each in project.timelines]


def differences(project: Project, answers: Sequence[Told]) -> Iterator[tuple[str, str, Sequence[str]]]:
    """The findings that some timelines have and others lack: kind, subject, and the platforms that have it."""
    for kind, subject in sorted(frozenset().union(*(each.findings for each in answers))):
        having = [
            line.called
            for line, each in zip(project.timelines, answers, strict=True)
            if (kind, subject) in each.findings
        ]
        if len(having) < len(project.timelines):
            yield kind, subject, having


def compare(project: Project) -> None:
    """Print what the platforms say of each release, and each finding that only some of them have."""
    for version, answers in releases(project):
        print(version, *(each.cell() for each in answers), sep=" | ")
        for kind, subject, having in differences(project, answers):
            print(f"    {kind} {subject}: {', '.join(having)}")


def document(project: Project) -> None:
    """Write the project's part of the page: the command, the verdicts, and each difference with its cause."""
    _head, *parts = re.split(r"(?m)^## ", PAGE.read_text()) if PAGE.exists() else [""]
    kept = {each.partition("\n")[0]: f"## {each.strip()}" for each in parts}
    kept[project.name] = "\n\n".join(section(project))
    PAGE.write_text("\n\n".join([INTRODUCTION, *(kept[name] for name in PROJECTS if name in kept)]) + "\n")


def section(project: Project) -> Iterator[str]:
    """A project's part of the page."""
    yield f"## {project.name}"
    path = wheel(project, project.releases[-1], "linux").name
    command = f"$ abistore ingest {path} --devel-package {path} --only {project.timelines[0].library}"
    yield f"```console\n{command}\n```"
    rows, differing = [], []
    for version, answers in releases(project):
        rows.append(f"| {version} | {' | '.join(each.cell() for each in answers)} |")
        differing += [(version, *each) for each in differences(project, answers)]
    heads = [each.called for each in project.timelines]
    yield "\n".join([f"| release | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|", *rows])
    yield f"Findings that some timelines have and others lack: {len(differing)}."
    yield "\n".join(["| release | kind | what | told by |", "|---|---|---|---|", *_grouped(differing)])
    yield project.causes


def _grouped(differing: Sequence[tuple[str, str, str, Sequence[str]]]) -> Iterator[str]:
    """A row for each release, kind and set of platforms, with what it was told of."""
    subjects: dict[tuple[str, str, str], list[str]] = {}
    for version, kind, subject, having in differing:
        subjects.setdefault((version, kind, ", ".join(having)), []).append(subject)
    for (version, kind, having), named in subjects.items():
        more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
        yield f"| {version} | `{kind}` | {', '.join(f'`{each}`' for each in named[:SHOWN])}{more} | {having} |"


SHOWN = 4
INTRODUCTION = """# Two projects on three platforms

Eight consecutive releases of each, whose wheels on PyPI carry the library and its headers for Linux, Windows and macOS:
one command for each wheel, one timeline for each platform. Each cell is the verdict against the release before, and how
many findings it has. To make it all again:

```console
$ python -m examples.platforms obtain
$ python -m examples.platforms ingest
$ python -m examples.platforms compare    # every difference between the platforms
$ python -m examples.platforms document   # writes this page
```"""

STEPS: dict[str, Callable[[Project], None]] = {
    "obtain": obtain,
    "ingest": ingest,
    "compare": compare,
    "document": document,
}


def main() -> None:
    """One step for all projects, or for those named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("project", nargs="*", metavar="PROJECT", help=f"of {', '.join(PROJECTS)}")
    asked = parser.parse_args()
    try:
        for project in PROJECTS.values():
            if not asked.project or project.name in asked.project:
                STEPS[asked.step](project)
    except Missing as problem:
        sys.exit(f"error: {problem}")


if __name__ == "__main__":
    main()
