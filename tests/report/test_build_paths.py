"""Paths of a build are cut to what differs, in every format."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.cli.main import run
from abistore.model.snapshot import Location
from abistore.report import render
from abistore.report.model import ChangeKind, Report, Style, formats
from abistore.report.outline import outline
from abistore.service.judging import told_apart
from tests.build import build_library
from tests.report.comparisons import ADDED, MOVED, SIZE, comparison

HEADER, SOURCE = "/home/ci/build-7/geo/include/geo.h", "/home/ci/build-7/geo/src/area.cc"


def report(*files: str) -> Report:
    found = (MOVED, SIZE, ADDED)
    placed = (replace(each, location=Location(file, 7)) for each, file in zip(found, files, strict=False))
    return outline(comparison(*placed))


@pytest.mark.parametrize("format", formats())
def test_the_folder_that_all_files_share_is_cut_off(format: str) -> None:
    text = render(report(HEADER, SOURCE, "/usr/include/stdio.h"), format, Style(limit=None))
    assert "include/geo.h" in text and "src/area.cc" in text and "/usr/include/stdio.h" in text
    assert "build-7" not in text


@pytest.mark.parametrize("format", formats())
def test_the_folder_of_the_sources_is_cut_off(format: str) -> None:
    text = render(report(HEADER, "/home/ci/other/x.h"), format, Style(limit=None, source_root="/home/ci/build-7/geo/"))
    assert "include/geo.h" in text and "build-7" not in text and "/home" not in text


def test_what_follows_from_a_finding_is_cut_too() -> None:
    inner = replace(SIZE, location=Location(SOURCE, 3))
    text = render(
        outline(comparison(replace(MOVED, location=Location(HEADER, 2), consequences=(inner,)))), "json", Style()
    )
    assert '"src/area.cc:3"' in text


def test_relative_paths_are_cut_by_a_relative_root_only() -> None:
    made = report("lib/geo/geo.h", "lib/geo/area.cc")
    assert "(lib/geo/geo.h:7)" in render(made, "text", Style())
    assert "(geo.h:7)" in render(made, "text", Style(source_root="./lib/geo"))


def test_a_folder_of_a_similar_name_is_no_root() -> None:
    made = report("/home/ci/build-70/a/geo.h", "/home/ci/build-7/b/geo.h")
    text = render(made, "json", Style(source_root="/home/ci/build-7"))
    assert '"b/geo.h:7"' in text and '"/build-70' not in text


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("/tmp/v1/libgeo.so", "/tmp/v2/libgeo.so", ("v1/libgeo.so", "v2/libgeo.so")),
        ("/tmp/v1/lib/libgeo.so", "/tmp/v2/libgeo.so", ("v1/lib/libgeo.so", "v2/libgeo.so")),
        ("/tmp/libgeo.so.1", "/tmp/libgeo.so.2", ("libgeo.so.1", "libgeo.so.2")),
        ("/tmp/libgeo.so", "/tmp/libgeo.so", ("libgeo.so", "libgeo.so")),
        ("", "/tmp/libgeo.so", ("", "libgeo.so")),
    ],
)
def test_files_are_called_by_as_much_of_their_paths_as_differs(old: str, new: str, told: tuple[str, str]) -> None:
    assert told_apart(old, new) == told


def test_a_title_names_the_files_where_there_is_no_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder, source in (("v1", "int f(void) { return 1; }"), ("v2", "int g(void) { return 1; }")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "libcase.so").write_bytes(build_library(source).read_bytes())
    operands = [str(tmp_path / folder / "libcase.so") for folder in ("v1", "v2")]
    for format in formats():
        assert run(["compare", *operands, "--format", format]) == 4
        said = capsys.readouterr().out
        assert format == "github" or ("v1/libcase.so" in said and "v2/libcase.so" in said)
        assert str(tmp_path) not in said


@pytest.fixture
def sides() -> list[str]:
    found = []
    for members in ("int a;", "int a, b;"):
        source = f'#line 1 "/ci/geo/src/p.c"\nstruct P {{ {members} }};\nint f(struct P *p) {{ return p->a; }}\n'
        found.append(str(build_library(source)))
    return found


def test_the_root_can_be_given_on_the_command_line(sides: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *sides, "--format", "sarif", "--source-root", "/ci/geo"]) == 4
    assert '"uri": "src/p.c"' in capsys.readouterr().out


def test_the_file_of_the_project_names_the_root(
    sides: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "abistore.toml").write_text('source_root = "/ci/geo"\n')
    assert run(["compare", *sides, "--format", "github"]) == 4
    assert "file=src/p.c" in capsys.readouterr().out
    assert run(["compare", *sides, "--format", "github", "--source-root", "/ci"]) == 4
    assert "file=geo/src/p.c" in capsys.readouterr().out
    (tmp_path / "abistore.toml").write_text('source_rot = "/ci/geo"\n')
    assert run(["compare", *sides]) not in (0, 2, 4)
    assert "did you mean source_root?" in capsys.readouterr().err


GONE = replace(ADDED, kind="func_removed", gone=True, old_value="int f(void);", new_value=None)
REMOVED = ChangeKind(
    "func_removed", "A function is gone.", "Why.", "Fix.", "breaking", "symbol", "functions", "removed"
)


def built_twice(gone: str, there: str, libraries: tuple[str, str] = ("", "")) -> Report:
    """A report of two builds, with what is gone and what is there in these files."""
    found = (replace(each, location=Location(file, 7)) for each, file in ((GONE, gone), (MOVED, there)))
    made = outline(comparison(*found), kinds=[REMOVED])
    old, new = (replace(side, file=file) for side, file in zip((made.old, made.new), libraries, strict=True))
    return replace(made, old=old, new=new)


@pytest.mark.parametrize("format", formats())
@pytest.mark.parametrize(
    ("folders", "libraries"),
    [
        (("geo-1.2", "geo-1.10"), ("", "")),
        (("old", "new"), ("old/lib/libgeo.so", "new/lib/libgeo.so")),
        (("old/geo", "new/geo"), ("old/libgeo.so", "new/libgeo.so")),
    ],
)
def test_two_builds_beside_each_other_have_a_folder_each(
    format: str, folders: tuple[str, str], libraries: tuple[str, str]
) -> None:
    old, new = folders
    made = built_twice(f"/home/ci/{old}/src/area.cc", f"/home/ci/{new}/include/geo.h", libraries)
    text = render(made, format, Style(limit=None))
    assert "src/area.cc" in text and "include/geo.h" in text
    assert f"{old}/src" not in text and f"{new}/include" not in text


@pytest.mark.parametrize(
    ("gone", "there", "libraries"),
    [
        ("src/area.cc", "include/geo.h", ("", "")),
        ("src/area.cc", "include/geo.h", ("old/libgeo.so", "new/libgeo.so")),
        ("area.cc", "include/geo.h", ("", "")),
        ("part1/area.cc", "part2/geo.h", ("", "")),
    ],
)
def test_two_parts_of_one_build_keep_their_folders(gone: str, there: str, libraries: tuple[str, str]) -> None:
    made = built_twice(f"/home/ci/{gone}", f"/home/ci/{there}", libraries)
    if gone.startswith("part"):
        both = replace(GONE, name=SIZE.name, location=Location("/home/ci/part2/x.cc", 7))
        made = replace(made, changes=(*made.changes, *outline(comparison(both), kinds=[REMOVED]).changes))
    text = render(made, "json", Style())
    assert f'"{gone}:7"' in text and f'"{there}:7"' in text
