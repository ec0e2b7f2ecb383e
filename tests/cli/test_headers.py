"""Public headers on the command line: for one file, for each side of a comparison, and by the project's own file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from abistore.errors import ConfigError
from abistore.model.layout import STRANGERS_HINT
from abistore.service.project import configuration
from tests.build import build_library
from tests.cli.conftest import Call, Done

HEADER = "#ifndef API\n#define API\nstruct point { int x, y; };\nint norm(const struct point *p);\n#endif\n"
SOURCE = '#include "api.h"\nint norm(const struct point *p) { return p->x; }\nint hidden(void) { return 1; }\n'
LATER = HEADER.replace("int x, y;", "int x, y, z;")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return build_library(SOURCE, files={"api.h": HEADER})


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return build_library(SOURCE, files={"api.h": LATER})


@pytest.fixture
def include(tmp_path: Path) -> Path:
    return written(tmp_path / "include" / "api.h", HEADER).parent


def test_headers_that_declare_no_export_leave_what_is_undeclared_public(abistore: Call, tmp_path: Path) -> None:
    """They are of another library, or an entry to headers that lie elsewhere."""
    old, new = (
        build_library("int f(void) { return 1; }\nint g(void) { return 2; }"),
        build_library("int f(void) { return 1; }"),
    )
    types = written(tmp_path / "types.h", "struct t { int a; };\n")
    done = abistore("compare", old, new, "--header", types, "--json")
    assert done.code == 4
    assert [each["reason"] for each in done.json["not_checked"] if each["facet"] == "source"] == ["no-export-declared"]
    assert abistore("compare", old, old, "--header", types, "--require", "source").code == 72
    calls = written(tmp_path / "calls.h", "int f(void);\n")
    assert abistore("compare", old, new, "--header", calls).code == 0


def test_a_removed_function_is_placed_in_its_header(abistore: Call, old: Path, include: Path) -> None:
    """Without headers only the source file is known, which is not where people read of it."""
    new = build_library("int hidden(void) { return 1; }\n")

    def places(*words: str | Path) -> dict[str, str]:
        changes = abistore("compare", old, new, *words, "--json").json["changes"]
        return {each["symbol"]: each["source_location"] for each in changes if each["kind"] == "func_removed"}

    assert places("--old-header", include, "--new-header", include) == {"norm": "api.h:4"}
    assert places()["norm"].endswith(".c:2")


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def source(done: Done, side: str = "") -> str:
    """How much of the source facet an answer says was seen."""
    answer = done.json[side] if side else done.json
    (seen,) = [each for each in answer["evidence"] if each["facet"] == "source"] or [{"state": "none"}]
    return str(seen["state"])


def test_a_dump_has_what_the_headers_declare(abistore: Call, old: Path, include: Path, tmp_path: Path) -> None:
    done = abistore("export", old, "--header", include, "-o", tmp_path / "d.json", "--json")
    assert source(done) == "full"
    snapshot = json.loads((tmp_path / "d.json").read_text())
    assert snapshot["provenance"]["headers"]["files"] == ["api.h"]
    assert "source" in snapshot["facets"]


def test_show_says_how_many_headers_were_read(abistore: Call, old: Path, include: Path) -> None:
    assert "source facet  full; from headers; 1 of 1 header read" in abistore("show", old, "--header", include).out


def test_each_side_has_its_own_headers(abistore: Call, old: Path, new: Path, include: Path, tmp_path: Path) -> None:
    later = written(tmp_path / "later" / "api.h", LATER)
    done = abistore("compare", old, new, "--old-header", include, "--new-header", later, "--json")
    assert (source(done, "old"), source(done, "new")) == ("full", "full")
    done = abistore("compare", old, new, "--new-header", later, "--json")
    assert (source(done, "old"), source(done, "new")) == ("none", "full")
    done = abistore("compare", old, new, "--header", include, "--json")
    assert (source(done, "old"), source(done, "new")) == ("full", "full")


def test_each_side_has_its_own_include_folders(abistore: Call, old: Path, tmp_path: Path) -> None:
    header = written(tmp_path / "h" / "api.h", f"#include <part.h>\n{HEADER}")
    for side in ("old", "new"):
        written(tmp_path / side / "part.h", f"typedef int {side}_t;\n")
    sides = ("--old-include-dir", tmp_path / "old", "--new-include-dir", tmp_path / "new")
    done = abistore("compare", old, old, "--header", header, *sides, "--json")
    assert (source(done, "old"), source(done, "new")) == ("full", "full")
    assert abistore("compare", old, old, "--header", header, "--json").error["code"] == "headers"


def test_headers_that_an_ingest_read_are_there_later(abistore: Call, old: Path, new: Path, include: Path) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--header", include).code == 0
    written(include / "api.h", LATER)
    assert abistore("ingest", new, "--version", "1.1", "--header", include).code == 0
    written(include / "api.h", "gone")
    done = abistore("compare", "libcase@1.0", "libcase@1.1", "--json")
    assert (source(done, "old"), source(done, "new")) == ("full", "full")
    assert "source facet  full" in abistore("show", "libcase@1.0").out


def test_the_same_file_and_headers_are_known(abistore: Call, old: Path, include: Path) -> None:
    words = ("ingest", old, "--version", "1.0", "--header", include, "--json")
    assert [abistore(*words).json["files"][0]["status"] for _ in range(2)] == ["stored", "known"]
    written(include / "more.h", "int more(void);")
    assert abistore(*words).json["files"][0]["code"] == "version-taken"


def test_a_failed_ingest_leaves_the_store_as_it_was(abistore: Call, old: Path, include: Path) -> None:
    abistore("ingest", old, "--version", "1.0", "--header", include)
    before = abistore("list", "--json").out
    written(include / "api.h", "int (((;")
    done = abistore("ingest", old, "--version", "1.1", "--header", include, "--json")
    assert (done.code, done.json["files"][0]["code"]) == (65, "headers")
    assert "api.h:1: " in done.json["files"][0]["error"]
    assert abistore("list", "--json").out == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("compare", "libcase@1.0", "NEW", "--old-header", "INC"),
            "headers were given for libcase@1.0, which is stored",
        ),
        (
            ("compare", "libcase@1.0", "libcase@1.0", "--header", "INC"),
            "headers were given for libcase@1.0, which is stored",
        ),
        (("show", "libcase@1.0", "--header", "INC"), "headers were given for libcase@1.0, which is stored"),
        (("compare", "JSON", "JSON", "--header", "INC"), "neither side is a library file"),
        (("compare", "JSON", "NEW", "--old-header", "INC"), "headers cannot be added to a JSON snapshot"),
        (("export", "JSON", "--header", "INC"), "headers cannot be added to a JSON snapshot"),
        (("export", "NEW", "--std", "c99"), "--std needs headers"),
        (("compare", "NEW", "NEW", "--define", "A"), "--define needs headers"),
    ],
)
def test_headers_of_what_has_its_own_are_a_wrong_command(
    words: tuple[str, ...], said: str, abistore: Call, old: Path, include: Path, tmp_path: Path
) -> None:
    abistore("ingest", old, "--version", "1.0")
    abistore("export", old, "-o", tmp_path / "d.json")
    values = {"NEW": old, "INC": include, "JSON": tmp_path / "d.json"}
    done = abistore(*(values.get(word, word) for word in words), "--json")
    assert (done.code, done.error["code"]) == (64, "usage")
    assert said in done.error["message"]


def test_headers_are_for_the_file_where_the_other_side_has_its_own(
    abistore: Call, old: Path, include: Path, tmp_path: Path
) -> None:
    abistore("ingest", old, "--version", "1.0", "--header", include)
    abistore("export", old, "--header", include, "-o", tmp_path / "d.json")
    for other in ("libcase@1.0", tmp_path / "d.json"):
        done = abistore("compare", other, old, "--header", include, "--json")
        assert (source(done, "old"), source(done, "new")) == ("full", "full")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--header", "/nowhere"), "no such header or folder"),
        (("--header", "EMPTY"), "contains no header"),
        (("--header", "INC", "--private-header", "*.h"), "excludes all 1 header"),
        (("--header", "INC", "--include-dir", "/nowhere"), "not a readable folder"),
        (("--header", "INC", "--sysroot", "/nowhere"), "not a readable folder"),
        (("--header", "INC", "--compile-commands", "/nowhere"), "cannot be read"),
        (("--header", "INC", "--std", "c++99"), "libclang failed"),
    ],
)
def test_what_is_wrong_with_headers_is_an_input_error(
    options: tuple[str, ...], said: str, abistore: Call, old: Path, include: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    values = {"INC": include, "EMPTY": tmp_path / "empty"}
    done = abistore("export", old, *(values.get(word, word) for word in options), "--json")
    assert (done.code, done.error["code"]) == (65, "headers")
    assert said in done.error["message"]
    assert done.error["hint"]


# --- abistore.toml ---------------------------------------------------------------------------------------------------


def test_a_project_names_its_headers_once(
    abistore: Call, old: Path, include: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(include / "detail" / "inner.h", "int (((;\n")
    written(tmp_path / "abistore.toml", '[headers]\nheaders = ["include"]\nprivate = ["detail"]\nstandard = "c11"\n')
    monkeypatch.chdir(tmp_path)
    done = abistore("export", old, "-o", tmp_path / "d.json", "--json")
    assert source(done) == "full"
    options = json.loads((tmp_path / "d.json").read_text())["provenance"]["headers"]["options"]
    assert options == ["--private-header detail", "--std c11"]
    assert abistore("export", "d.json").code == 0
    assert abistore("ingest", old, "--version", "1.0").code == 0
    assert "source facet  full" in abistore("show", "libcase@1.0").out
    compared = abistore("compare", old, old, "--json")
    assert (source(compared, "old"), source(compared, "new")) == ("none", "full")
    assert source(abistore("compare", "libcase@1.0", old, "--json"), "new") == "full"
    assert abistore("compare", "d.json", "d.json").code == 0


def test_a_projects_file_may_be_named_and_its_paths_are_its_own(abistore: Call, old: Path, include: Path) -> None:
    file = written(include.parent / "ci" / "abi.toml", '[headers]\nheaders = ["../include"]\n')
    assert "source facet  full" in abistore("show", old, "--config", file).out
    assert "1 of 1 header" in abistore("show", old, "--config", file, "--define", "A=1").out


def test_headers_of_another_library_are_not_read(abistore: Call, old: Path, include: Path) -> None:
    file = written(include.parent / "abi.toml", '[headers]\nlibrary = "libother"\nheaders = ["include"]\n')
    assert "source facet" not in abistore("show", old, "--config", file).out
    file.write_text('[headers]\nlibrary = "libcase"\nheaders = ["include"]\n')
    assert "source facet  full" in abistore("show", old, "--config", file).out


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("[headers", "not TOML", ""),
        ("[header]\nheaders = []\n", "unknown field `header`", "did you mean headers?"),
        (
            '[headers]\nheaders = ["a"]\ninclude_dir = ["b"]\n',
            "unknown field `include_dir`",
            "did you mean include_dirs?",
        ),
        ('[headers]\nheaders = ["a"]\nclang_args = ["-fplugin=x.so"]\n', "unknown field `clang_args`", ""),
        ("[headers]\nheaders = [3]\n", "Expected `str`, got `int`", ""),
        ('[headers]\nheaders = ["a"]\nlanguage = "rust"\n', "Invalid enum value 'rust'", ""),
        ("[headers]\n", "missing required field `headers`", ""),
        ("a = " + "[" * 100_000, "not TOML", ""),
    ],
)
def test_a_wrong_project_file_is_an_error_that_says_where(text: str, said: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        configuration(written(tmp_path / "abistore.toml", text))
    assert said in error.value.message
    assert hint in error.value.hint
    assert (error.value.code, error.value.exit_code) == ("config", 64)


def test_a_project_file_that_is_not_there_or_is_no_text_is_an_error(abistore: Call, old: Path, tmp_path: Path) -> None:
    done = abistore("export", old, "--config", tmp_path / "no.toml", "--json")
    assert (done.code, done.error["code"]) == (64, "config")
    (tmp_path / "no.toml").write_bytes(b"\xff\xfe")
    assert "not UTF-8" in abistore("export", old, "--config", tmp_path / "no.toml").err


def test_a_command_without_headers_loads_no_clang(old: Path) -> None:
    import subprocess
    import sys

    program = (
        "import sys\nfrom abistore.cli.main import run\n"
        f"run(['export', {str(old)!r}, '-o', '/dev/null'])\n"
        "found = [name for name in sys.modules if name.partition('.')[0] == 'clang' or '.headers.' in name]\n"
        "assert found == [], found\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


STRANGERS = "headers and binary do not match: point is "


@pytest.fixture
def foreign(tmp_path: Path) -> tuple[Path, Path]:
    """A library with debug information, and headers of another release."""
    built = build_library(SOURCE, flags=("-g",), files={"api.h": LATER})
    return built, written(tmp_path / "foreign" / "api.h", HEADER)


def test_a_dump_tells_that_headers_are_not_those_of_the_library(
    abistore: Call, foreign: tuple[Path, Path], tmp_path: Path
) -> None:
    library, header = foreign
    words = ("export", library, "-o", tmp_path / "dump.json", "--header")
    done = abistore(*words, header)
    assert f"{STRANGERS}8 bytes in the headers and 12 bytes in the debug information" in done.err
    said, hint, *_ = abistore(*words, header, "--json").envelope["notes"]
    assert said.startswith(STRANGERS)
    assert hint == STRANGERS_HINT
    assert STRANGERS in abistore("export", library, "--header", header).err
    assert STRANGERS not in str(abistore(*words, library.parent / "api.h", "--json").envelope["notes"])


def test_ingest_tells_that_headers_are_not_those_of_the_library(abistore: Call, foreign: tuple[Path, Path]) -> None:
    library, header = foreign
    words = ("ingest", library, "--library", "libcase", "--version")
    assert STRANGERS in (done := abistore(*words, "1", "--header", header)).out + done.err
    assert STRANGERS_HINT in done.err
    (result,) = abistore(*words, "2", "--header", header, "--json").json["files"]
    assert [each[: len(STRANGERS)] for each in result["notes"]] == [STRANGERS]
    (result,) = abistore(*words, "3", "--header", library.parent / "api.h", "--json").json["files"]
    assert result["notes"] == []


def test_show_tells_what_is_exported_and_not_declared_and_the_reverse(abistore: Call, tmp_path: Path) -> None:
    header = written(tmp_path / "more.h", HEADER.replace("#endif", "int promised(void);\n#endif"))
    library = build_library(SOURCE, files={"api.h": HEADER})
    words = ("show", library, "--header", header)
    assert abistore(*words, "--json").json["snapshot"]["headers"] == {
        "undeclared": ["hidden"],
        "unexported": ["promised"],
    }
    short, full = abistore(*words).out, abistore(*words, "-v").out
    assert "1 exported, but in no public header" in short
    assert "1 declared, but not exported" in short
    assert "hidden" not in short
    assert "hidden" in full
    assert "promised" in full
    assert abistore("show", library, "--json").json["snapshot"]["headers"] is None


POINT = "struct point {{ {fields} }};\n"
USES_POINT = '#include "point.h"\nstruct point *make(void);\n'


@pytest.mark.parametrize(
    ("hidden", "flags", "verdict"),
    [((), "-g", "BREAKING"), ((), "-s", "BREAKING"), (("--private-header", "point.h"), "-g", "COMPATIBLE_WITH_RISK")],
)
def test_programs_see_into_what_a_given_header_includes_from_its_folder(
    hidden: tuple[str, ...], flags: str, verdict: str, abistore: Call, tmp_path: Path
) -> None:
    words: list[str | Path] = []
    for side, fields in (("old", "int x; int y;"), ("new", "long y; int x;")):
        files = {"point.h": POINT.format(fields=fields), "api.h": USES_POINT}
        for name, text in files.items():
            written(tmp_path / side / name, text)
        code = '#include "api.h"\nstatic struct point one;\nstruct point *make(void) { return &one; }\n'
        words.append(build_library(code, flags=(flags,), files=files))
    for side in ("old", "new"):
        words += [f"--{side}-header", tmp_path / side / "api.h"]
    assert abistore("compare", *words, *hidden, "--json").json["verdict"] == verdict
