"""Public headers of several libraries that are read at once: each has its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from abistore.errors import ConfigError
from abistore.service.project import configuration
from tests.build import build_library
from tests.cli.conftest import Call

PARTS = {
    "one": "struct one_state { int a; };\nint one_init(struct one_state *s);\n",
    "two": "struct two_state { int a; };\nint two_init(struct two_state *s);\n",
}


def package(folder: Path, **later: str) -> Path:
    """A folder with libone.so and libtwo.so, and beside it the header of each."""
    (folder / "lib").mkdir(parents=True)
    (folder / "include").mkdir()
    for name, header in {**PARTS, **later}.items():
        (folder / "include" / f"{name}.h").write_text(header)
        source = f'#include "{name}.h"\nint {name}_init(struct {name}_state *s) {{ return s->a; }}\n'
        built = build_library(source, files={f"{name}.h": header}, soname=f"lib{name}.so.1")
        (folder / "lib" / f"lib{name}.so.1").write_bytes(built.read_bytes())
    return folder / "lib"


def named(folder: Path, *libraries: str) -> list[str]:
    """The options that name the headers of these libraries."""
    return [word for each in libraries for word in ("--header", f"lib{each}={folder.parent}/include/{each}.h")]


def dumped(abistore: Call, tmp_path: Path, library: Path, *words: str) -> dict[str, object]:
    path = tmp_path / "dump.json"
    done = abistore("export", library, *words, "-o", path)
    assert done.code == 0, done.err
    return json.loads(path.read_text())["provenance"].get("headers") or {}


def test_each_library_of_a_folder_has_its_own_headers(abistore: Call, tmp_path: Path) -> None:
    lib = package(tmp_path / "p")
    for name in PARTS:
        assert dumped(abistore, tmp_path, lib, "--only", f"lib{name}*", *named(lib, name))["files"] == [f"{name}.h"]


def test_a_release_of_several_libraries_is_ingested_with_the_headers_of_each(abistore: Call, tmp_path: Path) -> None:
    lib = package(tmp_path / "p")
    assert abistore("ingest", lib, "--version", "1.0", *named(lib, "one", "two")).code == 0
    for name, other in (("one", "two"), ("two", "one")):
        shown = abistore("show", "--exports", f"lib{name}@1.0").out
        assert f"{name}_init" in shown
        said = abistore("show", f"lib{name}@1.0").out
        assert "1 of 1 header read" in said
        assert f"{other}_init" not in said, "declared for the other library, and not missing here"


def test_without_names_all_headers_are_of_every_library(abistore: Call, tmp_path: Path) -> None:
    lib = package(tmp_path / "p")
    words = ["--only", "libone*", "--header", str(lib.parent / "include")]
    assert dumped(abistore, tmp_path, lib, *words)["files"] == ["one.h", "two.h"]


def test_a_library_with_headers_of_its_own_has_no_others(abistore: Call, tmp_path: Path) -> None:
    lib = package(tmp_path / "p")
    words = ["--only", "libone*", "--header", str(lib.parent / "include"), *named(lib, "one")]
    assert dumped(abistore, tmp_path, lib, *words)["files"] == ["one.h"]
    words = ["--only", "libtwo*", "--header", str(lib.parent / "include" / "two.h"), *named(lib, "one")]
    assert dumped(abistore, tmp_path, lib, *words)["files"] == ["two.h"]


def test_a_private_change_of_one_library_is_no_break_of_the_other(abistore: Call, tmp_path: Path) -> None:
    grown = PARTS["two"].replace("int a;", "int a, b;")
    old, new = package(tmp_path / "old"), package(tmp_path / "new", two=grown)
    sides = [
        word
        for lib, side in ((old, "--old-header"), (new, "--new-header"))
        for name in PARTS
        for word in (side, f"lib{name}={lib.parent}/include/{name}.h")
    ]
    done = abistore("compare", old, new, *sides, "--json")
    verdicts = {each["name"]: each["verdict"] for each in done.json["libraries"]}
    assert verdicts == {"libone": "NO_CHANGE", "libtwo": "BREAKING"}


def test_a_name_that_is_not_there_is_an_error(abistore: Call, tmp_path: Path) -> None:
    lib = package(tmp_path / "p")
    done = abistore("ingest", lib, "--version", "1.0", *named(lib, "one"), "--header", "libtow=x.h", "--json")
    assert (done.code, done.error["code"]) == (64, "usage")
    assert "libtow" in done.error["message"] and "libone, libtwo" in done.error["hint"]
    assert "nothing is stored" in abistore("list").out


def test_headers_that_leave_out_the_only_library_are_an_error(abistore: Call, tmp_path: Path) -> None:
    lib = package(tmp_path / "p")
    done = abistore("export", lib / "libtwo.so.1", *named(lib, "one"), "--json")
    assert (done.code, done.error["code"]) == (64, "usage")
    assert "is libtwo, but headers were given for libone" in done.error["message"]


def test_a_folder_with_an_equals_sign_in_its_name_is_a_folder(abistore: Call, tmp_path: Path) -> None:
    lib = package(tmp_path / "p")
    folder = tmp_path / "a=b"
    (lib.parent / "include").rename(folder)
    assert dumped(abistore, tmp_path, lib / "libone.so.1", "--header", str(folder))["files"] == ["one.h", "two.h"]


TABLES = """\
[[headers]]
library = "libone"
headers = ["p/include/one.h"]
[[headers]]
library = "libtwo"
headers = ["p/include/two.h"]
"""


def test_a_project_says_the_headers_of_each_library(abistore: Call, tmp_path: Path) -> None:
    lib = package(tmp_path / "p")
    file = tmp_path / "abistore.toml"
    file.write_text(TABLES)
    for name in PARTS:
        found = dumped(abistore, tmp_path, lib / f"lib{name}.so.1", "--config", str(file))
        assert found["files"] == [f"{name}.h"]
    shown = abistore("config", "show", "--config", file, "--json", "export")
    keys = {each["key"]: each["value"] for each in shown.json["settings"] if each["key"].startswith("headers")}
    assert keys["headers.libone.headers"] == [str(tmp_path / "p/include/one.h")]
    assert keys["headers.libtwo.headers"] == [str(tmp_path / "p/include/two.h")]


def test_what_is_wrong_in_one_of_several_tables_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "abistore.toml"
    file.write_text(TABLES + 'privat = ["x"]\n')
    with pytest.raises(ConfigError, match=r"abistore\.toml:7: ") as caught:
        configuration(file)
    assert caught.value.hint == "did you mean private?"


def test_two_tables_of_one_library_are_an_error(tmp_path: Path) -> None:
    file = tmp_path / "abistore.toml"
    file.write_text(TABLES.replace("libtwo", "libone"))
    with pytest.raises(ConfigError, match="libone"):
        configuration(file)
