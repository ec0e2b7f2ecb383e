"""Files that change while one command reads them: what is judged is of one moment, or an error names what changed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from abistore.extract.headers import clang
from abistore.extract.headers.reader import work
from abistore.extract.headers.subprocess import HeaderLimits
from abistore.extract.reader import HeaderOptions, HeaderReading, HeaderRequest
from abistore.model.snapshot import Target
from tests.build import build_library
from tests.cli.conftest import Call

pytestmark = pytest.mark.full

API = '#pragma once\n#include "part.h"\nint norm(const struct point *p);\n'
PART = "#pragma once\nstruct point { int x, y; };\n"
SOURCE = '#include "api.h"\nint norm(const struct point *p) { return p->x; }\n'
WIDER = PART.replace("y;", "y, z;")

Change = Callable[[Path], object]


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers are read where a test can step in."""

    def read_here(options: HeaderOptions, target: Target, *, limits: HeaderLimits, **said: Any) -> HeaderReading:
        known = (limits.seconds, limits.memory, limits.silence)
        return work(HeaderRequest(options, target, said["cpp_exports"], said["runtime"], None, *known, said["edits"]))

    monkeypatch.setattr(import_module("abistore.extract.headers.subprocess"), "read_apart", read_here)


@pytest.fixture
def include(tmp_path: Path) -> Path:
    """The headers of a release, behind a link as packages install them."""
    for name, part in (("v1", PART), ("v2", WIDER)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "api.h").write_text(API)
        (tmp_path / name / "part.h").write_text(part)
    (tmp_path / "include").symlink_to("v1")
    return tmp_path / "include"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return Path(shutil.copy(build_library(SOURCE, files={"api.h": API, "part.h": PART}), tmp_path / "libcase.so"))


@pytest.fixture
def based(abistore: Call, library: Path, include: Path) -> Call:
    done = abistore("ingest", library, "--version", "1.0", "--header", include, "--set-baseline")
    assert done.code == 0, done.err
    return abistore


def after_parsing(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object], number: int = 1) -> None:
    """Have something happen after libclang parsed for the first time, or for another one."""
    parsed, calls = clang.parsed, []

    def then_changed(*given: Any, **more: Any) -> Any:
        unit = parsed(*given, **more)
        calls.append(unit)
        if len(calls) == number:
            change()
        return unit

    monkeypatch.setattr(clang, "parsed", then_changed)


def replaced(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def retargeted(link: Path, target: str) -> None:
    link.unlink()
    link.symlink_to(target)


CHANGES: dict[str, tuple[Change, str]] = {
    "replaced": (lambda folder: replaced(folder / "part.h", WIDER), "part.h: changed"),
    "written to": (lambda folder: (folder / "part.h").write_text(WIDER), "part.h: changed"),
    "truncated": (lambda folder: os.truncate(folder / "part.h", 0), "part.h: changed"),
    "appended to": (lambda folder: (folder / "api.h").write_text(API + "int more(void);\n"), "api.h: changed"),
    "taken away": (lambda folder: (folder / "part.h").unlink(), "part.h: changed"),
    "a new one": (lambda folder: (folder / "more.h").write_text("int more(void);\n"), "more.h: added"),
    "another folder": (lambda folder: retargeted(folder, "v2"), "api.h: moved to another path"),
}


@pytest.mark.parametrize("how", CHANGES)
def test_headers_that_change_while_they_are_read_are_an_error_that_names_one(
    based: Call, library: Path, include: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    change, said = CHANGES[how]
    after_parsing(monkeypatch, lambda: change(include))
    done = based("ingest", library, "--version", "1.1", "--header", include, "--against", "baseline")
    assert (done.code, f"{said} " in done.err, "while the headers were read" in done.err) == (65, True, True), done
    assert [each["version"] for each in based("list", "libcase", "--json").json["releases"]] == ["1.0"]


def test_a_file_that_comes_into_a_searched_folder_before_one_that_was_read_is_an_error_that_names_it(
    based: Call, library: Path, include: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is searched first decides what a name includes; what came behind it, or is called otherwise, does not."""
    first, last = tmp_path / "first", tmp_path / "last"
    for folder, text in ((first, ""), (last, "#define WIDTH 4\n")):
        folder.mkdir()
        if text:
            (folder / "width.h").write_text(text)
    api = include / "api.h"
    api.write_text(f"#include <width.h>\n{api.read_text()}")
    words = ("--version", "1.1", "--header", include, "--include-dir", first, "--include-dir", last, "--dry-run")
    after_parsing(monkeypatch, lambda: (first / "other.h").write_text("int other(void);\n"))
    assert based("ingest", library, *words).code == 0
    after_parsing(monkeypatch, lambda: (first / "width.h").write_text("#define WIDTH 8\n"))
    done = based("ingest", library, *words)
    assert (done.code, "width.h: added while the headers were read" in done.err) == (65, True), done
    assert based("ingest", library, *words).code == 0


@pytest.mark.parametrize("side", ["--old-header", "--new-header"])
def test_so_they_are_on_each_side_of_a_comparison(
    abistore: Call, library: Path, include: Path, monkeypatch: pytest.MonkeyPatch, side: str
) -> None:
    after_parsing(monkeypatch, lambda: replaced(include / "part.h", WIDER))
    done = abistore("compare", library, library, side, include)
    assert (done.code, "part.h: changed while the headers were read" in done.err) == (65, True), done


def test_a_header_that_is_changed_before_another_reading_of_it_is_seen(
    abistore: Call, library: Path, include: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Headers with errors are parsed again, by themselves: what is changed back in the end was read all the same."""
    parsed, calls = clang.parsed, []

    def changing(*given: Any, **more: Any) -> Any:
        calls.append(given)
        (include / "api.h").write_text(API + f"int wrong(nothing{len(calls)});\n")
        return parsed(*given, **more)

    monkeypatch.setattr(clang, "parsed", changing)
    done = abistore("export", library, "--header", include)
    assert (done.code, "api.h: changed while the headers were read" in done.err) == (65, True), done


def test_a_library_that_is_replaced_while_its_headers_are_read_is_an_error(
    based: Call, library: Path, include: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The headers may be those of the new one."""
    other = Path(shutil.copy(library, library.with_name("other.so")))
    for words in (("ingest", library, "--version", "1.1"), ("compare", "libcase@1.0", library)):
        shutil.copy(library, other)
        after_parsing(monkeypatch, lambda: other.replace(library))
        done = based(*words, "--header" if words[0] == "ingest" else "--new-header", include)
        assert (done.code, f"{library}: was replaced while its headers were read" in done.err) == (65, True), done


def test_so_it_is_for_a_library_that_a_linker_script_names(
    based: Call, library: Path, include: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "libscript.so"
    script.write_text(f"INPUT({library.name})\n")
    other = Path(shutil.copy(library, library.with_name("other.so")))
    after_parsing(monkeypatch, lambda: other.replace(library))
    done = based("ingest", script, "--version", "1.1", "--header", include)
    assert (done.code, f"{library.name}: was replaced while its headers were read" in done.err) == (65, True), done


def test_headers_that_stay_are_read_though_others_are_written_beside_them(
    based: Call, library: Path, include: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notes, objects and the same text again change nothing that was read."""

    def write() -> None:
        (include / "part.o").write_bytes(b"object")
        (include / "part.h").write_text(PART)

    after_parsing(monkeypatch, write)
    assert based("ingest", library, "--version", "1.1", "--header", include, "--against", "baseline").code == 0


def test_a_library_of_a_folder_that_is_replaced_while_another_is_read_is_an_error(
    abistore: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both were never there together."""
    folder = tmp_path / "package"
    folder.mkdir()
    for name in ("liba.so", "libb.so"):
        shutil.copy(build_library(f"int of_{name[3]}(void) {{ return 1; }}", soname=name), folder / name)
    assert abistore("ingest", folder, "--version", "1.0").code == 0
    other = Path(shutil.copy(folder / "liba.so", tmp_path / "other.so"))
    reader = import_module("abistore.extract.packages.reader")
    snapshots, read = reader._snapshots, []

    def then_replaced(*given: Any) -> Any:
        read.append(given)
        if len(read) == 2:
            other.replace(folder / "liba.so")
        return snapshots(*given)

    monkeypatch.setattr(reader, "_snapshots", then_replaced)
    done = abistore("ingest", folder, "--version", "1.1")
    assert (done.code, "liba.so: was replaced or written to while" in done.err) == (65, True), done


def test_a_split_debug_file_that_is_written_to_while_it_is_read_is_an_error(
    abistore: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its units have the ids that the library asks for, whatever else it holds by now."""
    (tmp_path / "case.c").write_text(SOURCE.replace('#include "api.h"', PART.partition("\n")[2]))
    library = tmp_path / "libcase.so"
    command = ["gcc", "-g", "-gsplit-dwarf", "-fPIC", "-shared", "-o", library.name, "case.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    (split,) = tmp_path.glob("*.dwo")
    layout = import_module("abistore.extract.dwarf.layout")
    read = layout._read_reached

    def then_written(*given: Any) -> Any:
        with split.open("ab") as file:
            file.write(b"more")
        return read(*given)

    monkeypatch.setattr(layout, "_read_reached", then_written)
    done = abistore("ingest", library, "--version", "1.0")
    assert (done.code, f"{split.name}: was written to while it was read" in done.err) == (65, True), done
