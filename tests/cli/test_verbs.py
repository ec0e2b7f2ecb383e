"""Each command does its job on a store with three releases: 1.0, 1.1 (compatible) and 2.0 (a function is gone)."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import OLD, Call

# --- dump, export, import -----------------------------------------------------------------------------------------


def test_dump_gives_the_same_bytes_on_standard_output_and_in_a_file(process: Call, old: Path, tmp_path: Path) -> None:
    printed = process("export", old)
    assert process("export", old, "-o", tmp_path / "x.json").code == 0
    assert (tmp_path / "x.json").read_text() == printed.out
    assert json.loads(printed.out)["library"] == "libcase"
    assert printed.err == ""


def test_a_failed_dump_leaves_the_earlier_file(process: Call, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("earlier")
    assert process("export", tmp_path / "missing.so", "-o", tmp_path / "x.json").code == 65
    assert (tmp_path / "x.json").read_text() == "earlier"


def test_a_dump_compares_like_its_library(process: Call, old: Path, new: Path, tmp_path: Path) -> None:
    assert process("export", old, "-o", tmp_path / "old.json").code == 0
    files = process("compare", tmp_path / "old.json", new, "--json")
    assert files.code == 4
    assert files.json["changes"] == process("compare", old, new, "--json").json["changes"]


def test_an_export_is_the_dump_of_the_same_library(stored: Call, process: Call, old: Path, tmp_path: Path) -> None:
    assert stored("export", "libcase@1.0", "-o", tmp_path / "x.json").code == 0
    assert (tmp_path / "x.json").read_text() == process("export", old, "--version", "1.0").out


def test_an_import_restores_an_export(stored: Call, tmp_path: Path) -> None:
    assert stored("export", "libcase@1.0", "-o", tmp_path / "x.json").code == 0
    other = ("--db", tmp_path / "other.db")
    assert stored("import", tmp_path / "x.json", *other).code == 0
    assert stored("export", "libcase@1.0", "-o", tmp_path / "y.json", *other).code == 0
    assert (tmp_path / "y.json").read_bytes() == (tmp_path / "x.json").read_bytes()


def test_an_import_refuses_a_library(abistore: Call, old: Path) -> None:
    done = abistore("import", old)
    assert done.code == 65
    assert "abistore ingest" in done.err


# --- compare ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left", ["old", "libcase@1.0", "libcase@baseline", "digest", "json"])
@pytest.mark.parametrize("right", ["new", "libcase@2.0", "libcase@latest"])
def test_operands_of_all_sorts_give_the_same_changes(
    stored: Call, old: Path, new: Path, tmp_path: Path, left: str, right: str
) -> None:
    assert stored("db", "baseline", "set", "libcase@1.0").code == 0
    assert stored("export", "libcase@1.0", "-o", tmp_path / "old.json").code == 0
    digest = stored("show", "libcase@1.0", "--json").json["snapshot"]["digest"]
    operands = {"old": old, "new": new, "digest": digest[:8], "json": tmp_path / "old.json"}
    done = stored("compare", operands.get(left, left), operands.get(right, right), "--json")
    assert done.code == 4, done.err
    assert done.json["verdict"] == "BREAKING"
    assert done.json["changes"] == stored("compare", old, new, "--json").json["changes"]


def test_prev_is_the_release_before_the_latest(stored: Call) -> None:
    done = stored("compare", "libcase@prev", "libcase@latest", "--json")
    assert (done.json["old"]["version"], done.json["new"]["version"]) == ("1.1", "2.0")


def test_a_stored_side_is_of_the_platform_of_the_file_beside_it(stored: Call, narrow: Path) -> None:
    assert stored("ingest", narrow, "--version", "1.0").code == 0
    assert stored("compare", "libcase@1.0", narrow).code == 0
    assert stored("compare", narrow, "libcase@1.0").code == 0


def test_a_word_that_is_no_file_and_no_reference_says_what_could_be_meant(abistore: Call, old: Path) -> None:
    done = abistore("compare", "libcase", old)
    assert done.code == 65
    assert "libcase@latest" in done.err


@pytest.mark.parametrize(("gate", "code"), [("breaking", 4), ("api_break", 4), ("risk", 4), ("never", 0)])
def test_fail_on_decides_the_exit_code_and_the_report_says_so(
    abistore: Call, old: Path, new: Path, gate: str, code: int
) -> None:
    done = abistore("compare", old, new, "--fail-on", gate, "--json")
    assert done.code == done.envelope["exit_code"] == code
    assert done.json["verdict"] == "BREAKING"


def test_a_stripped_side_is_told_and_not_reported_as_a_change(process: Call, old: Path) -> None:
    stripped = build_library(OLD, flags=("-O1",))
    done = process("compare", old, stripped)
    assert done.code == 0
    assert done.out.splitlines()[0].endswith(": NO_CHANGE in what could be checked:")
    assert "Not checked" in done.out
    assert "hint: " in done.out


# --- ingest -------------------------------------------------------------------------------------------------------


def test_the_same_file_again_is_known_and_not_read(abistore: Call, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert abistore("ingest", old, "--version", "1").code == 0
    monkeypatch.setattr("abistore.extract.elf.reader.read", None)
    done = abistore("ingest", old, "--version", "1", "--json")
    assert done.code == 0
    assert [file["status"] for file in done.json["files"]] == ["known"]


def test_another_binary_under_a_taken_version_needs_replace(stored: Call, new: Path) -> None:
    assert stored("ingest", new, "--version", "1.0").code == 68
    done = stored("ingest", new, "--version", "1.0", "--replace", "--json")
    assert done.code == 0
    assert done.json["files"][0]["status"] == "replaced"


@pytest.mark.parametrize(
    ("name", "source", "version"),
    [
        ("libz.so.1.3.1", "filename", "1.3.1"),
        ("libz-2.4.so", "filename", "2.4"),
        ("libz_v2.4-rc1.so", "filename", "2.4-rc1"),
        ("zlib-1.2.13/libz.so", "folder", "1.2.13"),
        ("v3.0/libz.so", "folder", "3.0"),
        ("libz.so", "soname", "1"),
    ],
)
def test_versions_are_taken_from_where_the_caller_says(
    abistore: Call, old: Path, tmp_path: Path, name: str, source: str, version: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    shutil.copy(old, path)
    done = abistore("ingest", path, "--version-from", source, "--json")
    assert done.code == 0, done.out
    assert done.json["files"][0]["release"]["version"] == version


def test_releases_in_folders_are_taken_oldest_first(
    abistore: Call, old: Path, added: Path, new: Path, tmp_path: Path
) -> None:
    paths = []
    for version, library in (("1.10", new), ("1.8", old), ("1.9", added)):
        paths.append(tmp_path / version / "libcase.so")
        paths[-1].parent.mkdir()
        shutil.copy(library, paths[-1])
    done = abistore("ingest", *paths, "--version-from", "folder", "--against", "prev", "--set-baseline", "--json")
    told = [(each["status"], each["exit_code"], each["baseline"]) for each in done.json["files"]]
    assert told == [("stored", 0, "release"), ("stored", 0, "release"), ("refused", 4, None)]
    assert [each["version"] for each in abistore("list", "libcase", "--json").json["releases"]] == ["1.8", "1.9"]


def test_a_verdict_may_name_the_other_release_as_a_reference(stored: Call) -> None:
    short, long = (stored("verdict", "libcase@2.0", "--against", f"{lib}1.0", "--json") for lib in ("", "libcase@"))
    assert short.json["old"]["version"] == long.json["old"]["version"] == "1.0"


def test_a_file_that_another_library_holds_is_stored_for_its_own(abistore: Call, old: Path) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--library", "other").code == 0
    done = abistore("ingest", old, "--version", "1.0", "--set-baseline", "--json")
    assert done.json["files"][0]["release"]["line"]["library"] == "libcase"
    assert [line["line"]["library"] for line in abistore("db", "baseline", "list", "--json").json["baselines"]] == [
        "libcase"
    ]


def test_a_known_file_takes_the_version_that_its_soname_tells(abistore: Call, old: Path) -> None:
    for words, version in (("--version", "9"), "9"), (("--version-from", "soname"), "1"):
        done = abistore("ingest", old, *words, "--json")
        assert done.json["files"][0]["release"]["version"] == version


@pytest.mark.parametrize("folder", ["x86_64", "x86_64-linux-gnu", "lib64", "armv7"])
def test_a_platform_in_a_folder_is_no_version(abistore: Call, old: Path, tmp_path: Path, folder: str) -> None:
    assert abistore("ingest", old, "--version", "1.0").code == 0
    (tmp_path / folder).mkdir()
    path = shutil.copy(old, tmp_path / folder)
    done = abistore("ingest", path, "--version-from", "folder")
    assert done.code == 64
    assert "no version given" in done.err


@pytest.mark.parametrize("version", ["1 2", "1/2"])
def test_a_version_is_one_word(abistore: Call, old: Path, version: str) -> None:
    assert abistore("ingest", old, "--version", version).code == 64


def test_a_version_that_is_begun_is_completed_in_the_hint(stored: Call) -> None:
    assert "did you mean 1.0 or 1.1?" in stored("show", "libcase@1").err


def test_a_name_without_its_scope_is_found_in_the_hint(abistore: Call) -> None:
    library = build_library("namespace a { struct B { int x; }; int f(B *b) { return b->x; } }", compiler="g++")
    assert "did you mean a::B," in abistore("show", library, "B").err
    assert "want of debug information" in abistore("show", library, "B", "--symbols-only").err


@pytest.mark.parametrize("source", ["filename", "folder"])
def test_a_version_that_is_not_there_is_asked_for(abistore: Call, old: Path, source: str) -> None:
    done = abistore("ingest", old, "--version-from", source)
    assert done.code == 64
    assert "--version" in done.err


def test_a_release_that_breaks_the_baseline_fails_the_call_and_does_not_become_it(
    abistore: Call, old: Path, added: Path, new: Path
) -> None:
    def build(path: Path, version: str) -> tuple[int, str | None]:
        done = abistore("ingest", path, "--version", version, "--against", "baseline", "--set-baseline", "--json")
        assert done.envelope["exit_code"] == done.code
        return done.code, done.json["files"][0]["baseline"]

    assert build(old, "1.0") == (0, "release")
    assert build(added, "1.1") == (0, "release")
    assert build(new, "2.0") == (4, None)
    assert abistore("show", "libcase@baseline").out.startswith("libcase 1.1\n")
    assert abistore("show", "libcase@2.0").code == 67


def test_what_cannot_be_judged_is_not_stored(abistore: Call, old: Path) -> None:
    done = abistore("ingest", old, "--version", "1.0", "--against", "baseline", "--json")
    assert done.code == 67
    assert done.json["files"][0]["release"] is None
    assert abistore("list", "--json").json["lines"] == []


def test_the_first_release_is_not_judged_against_a_previous_one_and_says_so(
    abistore: Call, old: Path, new: Path
) -> None:
    first = abistore("ingest", old, "--version", "1.0", "--against", "prev")
    assert first.code == 0
    assert "not judged: there is no previous release" in first.out
    assert abistore("ingest", new, "--version", "2.0", "--against", "prev").code == 4


def test_a_file_is_never_taken_for_a_channel(abistore: Call, old: Path, new: Path) -> None:
    done = abistore("ingest", "--version", "1.0", "--set-baseline", old, new)
    assert done.code == 64
    assert "--set-baseline=CHANNEL" in done.err
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline=main").code == 0
    assert abistore("show", "libcase@baseline:main").code == 0


@pytest.mark.parametrize(
    ("option", "word"),
    [
        ("--version", "latest"),
        ("--version", "baseline:main"),
        ("--version", " 1.0"),
        ("--version", "1\n0"),
        ("--library", "a@b"),
        ("--profile", "\udcff"),
    ],
)
def test_a_label_that_no_reference_could_name_is_refused(abistore: Call, old: Path, option: str, word: str) -> None:
    version = [] if option == "--version" else ["--version", "1"]
    done = abistore("ingest", old, *version, option, word, "--json")
    assert done.code == 64
    assert done.error["code"] == "usage"


def test_a_file_name_that_is_no_text_is_shown_as_one(process: Call, old: Path, tmp_path: Path) -> None:
    library = tmp_path / "lib\udcff.so"
    shutil.copy(old, library)
    assert process("ingest", library, "--version", "1.0", "--json").json["files"][0]["status"] == "stored"
    assert process("export", library, "-o", tmp_path / "x.json").code == 0
    assert process("export", tmp_path / "missing\udcff.so", "--json").error["code"] == "input"


def test_an_output_encoding_that_lacks_characters_is_no_reason_to_fail(process: Call) -> None:
    library = build_library("int размер(void) { return 1; }\n")
    done = process("show", library, "размер", PYTHONIOENCODING="latin-1")
    assert done.code == 0
    assert "\\u0440" in done.out


def test_what_the_caller_says_about_a_release_is_shown(abistore: Call, old: Path) -> None:
    words = ["--revision", "abc123", "--url", "https://ci.example/7", "--released", "2024-05-06", "--actor", "robot"]
    assert abistore("ingest", old, "--version", "1.0", "--library", "libother", *words).code == 0
    shown = abistore("show", "libother@1.0").out
    for text in ("abc123", "https://ci.example/7", "2024-05-06"):
        assert text in shown
    assert "robot" in abistore("db", "audit").out


# --- reading back -------------------------------------------------------------------------------------------------


def test_history_judges_each_release_against_the_one_before_and_the_baseline(stored: Call) -> None:
    assert stored("db", "baseline", "set", "libcase@1.0").code == 0
    done = stored("history", "libcase", "--json")
    (line,) = done.json["histories"]
    assert line["baseline"] == "1.0"
    told = [(row["release"]["version"], row["verdict"], row["against_baseline"], row["churn"]) for row in line["rows"]]
    assert told[0] == ("1.0", None, None, None)
    assert told[1] == ("1.1", "COMPATIBLE", "COMPATIBLE", {"added": 1, "removed": 0, "changed": 0})
    assert told[2][:3] == ("2.0", "BREAKING", "BREAKING")
    assert told[2][3]["removed"] == 1
    table = stored("history", "libcase").out.splitlines()
    assert table[1] == "! incompatible, and not allowed by this line's versioning: 2.0"
    assert table[3].split() == ["version", "date", "exports", "+", "-", "~", "previous", "outcome", "baseline"]
    assert table[6].split()[-4:] == ["BREAKING", "fail", "BREAKING,", "fail"]
    assert table[7:9] == ["SONAME: libcase.so.1 in all releases", "evidence: symbol, layout in all releases"]
    assert max(map(len, table[1:])) <= 80


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_history_fits_the_screen(
    stored: Call, new: Path, columns: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No row is broken: what matters least is left out, and verdicts and outcomes stay."""
    for version in ("2.0-14-g126bde0", "2.1"):
        assert stored("ingest", new, "--version", version).code == 0
    for channel in ("release", "lts"):
        stored("db", "baseline", "set", "libcase@1.0", "--channel", channel)
    whole = stored("history", "libcase").out
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = stored("history", "libcase").out
    assert max(map(len, shown.splitlines())) <= columns
    (head,) = (line.split() for line in shown.splitlines() if line.startswith("version"))
    assert {"version", "previous", "outcome", "baseline"} <= set(head)
    assert len({"+", "-", "~"} & set(head)) in {0, 3}
    assert shown.count("BREAKING, fail") == whole.count("BREAKING, fail") > 0


def test_a_release_without_changes_has_a_verdict(abistore: Call, old: Path) -> None:
    for version in ("1.0", "1.1"):
        assert abistore("ingest", old, "--version", version).code == 0
    assert abistore("db", "baseline", "set", "libcase@1.0").code == 0
    assert abistore("history", "libcase").out.count("NO_CHANGE") == 2
    assert abistore("history", "libcase", "--json").json["histories"][0]["rows"][1]["verdict"] == "NO_CHANGE"


def test_history_of_an_unknown_library_suggests_a_known_one(stored: Call) -> None:
    done = stored("history", "libcas")
    assert done.code == 67
    assert "libcase" in done.err


def test_releases_that_arrive_late_take_their_place(stored: Call) -> None:
    early = build_library(OLD + "int early(void) { return 0; }\n")
    assert stored("ingest", early, "--version", "0.9").code == 0
    done = stored("history", "libcase", "--json")
    assert [row["release"]["version"] for row in done.json["histories"][0]["rows"]] == ["0.9", "1.0", "1.1", "2.0"]


def test_a_library_that_is_not_stored_for_a_target_is_told_from_an_unknown_one(stored: Call) -> None:
    assert "no such library" in stored("history", "other").err
    done = stored("history", "libcase", "--target", "aarch64")
    assert done.code == 67
    assert "stored: libcase (elf-x86_64-64-little" in done.err


def test_log_tells_when_a_type_changed_with_its_declaration_before_and_after(stored: Call) -> None:
    done = stored("log", "point", "--json")
    events = done.json["events"]
    assert [(event["version"], event["action"]) for event in events] == [("1.0", "appeared"), ("2.0", "changed")]
    assert "int z;" not in events[1]["before"][0]
    assert "int z;" in events[1]["after"][0]
    assert any(line.lstrip().startswith("+") and "int z;" in line for line in stored("log", "point").out.splitlines())


def test_log_names_standard_strings_as_people_do(abistore: Call) -> None:
    source = (
        "#include <string>\nstruct Label {{ std::string text; {more} }};\nLabel *make() {{ return new Label(); }}\n"
    )
    for version, more in (("1.0", ""), ("2.0", "std::string colour;")):
        library = build_library(source.format(more=more), compiler="g++")
        assert abistore("ingest", library, "--version", version).code == 0
    lines = abistore("log", "Label").out.splitlines()
    assert sum("basic_string" in line for line in lines) == 0
    assert [line[4:].split() for line in lines if "colour" in line] == [["+", "std::string", "colour;", "//", "32"]]


def test_log_tells_when_a_function_vanished(stored: Call) -> None:
    events = stored("log", "gone", "--json").json["events"]
    assert ("2.0", "vanished") in [(event["version"], event["action"]) for event in events]


def test_log_of_an_unknown_name_is_not_found(stored: Call) -> None:
    assert stored("log", "nothing_of_that_name").code == 67


def test_show_prints_a_record_with_its_offsets(stored: Call, new: Path) -> None:
    for operand in ("libcase@2.0", new):
        done = stored("show", operand, "point")
        assert done.code == 0
        assert "int z;" in done.out
        assert "12 bytes" in done.out


def test_show_tells_holes_and_which_exports_depend_on_a_type(abistore: Call) -> None:
    library = build_library(
        """
        struct pair { char a; long b; };
        long sum(struct pair p) { return p.a + p.b; }
        long first(const struct pair *p) { return p->a; }
        """
    )
    done = abistore("show", library, "pair")
    assert "/* 7 bytes hole */" in done.out
    assert "// reached by value by 1 export: sum" in done.out
    assert "// reached by pointer by 1 export: first" in done.out
    (declared,) = abistore("show", library, "pair", "--json").json["declarations"]
    assert declared["used"] == {"by_value": ["sum"], "by_pointer": ["first"]}


def test_show_finds_a_cxx_function_by_its_source_name(abistore: Call) -> None:
    library = build_library("namespace geo { int area(int side) { return side * side; } }", language="c++")
    for name in ("geo::area", "geo::area(int)", "_ZN3geo4areaEi"):
        assert "int geo::area(int);" in abistore("show", library, name).out


def test_show_of_an_unknown_declaration_suggests_near_ones(stored: Call) -> None:
    done = stored("show", "libcase@1.0", "nrm")
    assert done.code == 67
    assert "norm" in done.err


def test_list_shows_lines_and_releases(stored: Call) -> None:
    assert stored("list", "--json").json["lines"][0]["releases"] == 3
    releases = stored("list", "libcase", "--json").json["releases"]
    assert [release["version"] for release in releases] == ["1.0", "1.1", "2.0"]
    assert "libcase" in stored("list").out
    assert stored("list", "libcase", "--target", "aarch64").code == 67


def test_a_verdict_is_remembered_and_the_same_again(stored: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    done = stored("verdict", "libcase@2.0", "--json")
    assert done.code == 4
    first = done.json
    assert first["changes"] == stored("compare", "libcase@1.1", "libcase@2.0", "--json").json["changes"]
    monkeypatch.setattr("abistore.service.verdicts.concluded", None)
    assert stored("verdict", "libcase@2.0", "--json").json == first
    named = stored("verdict", "libcase@2.0", "--against", "1.1", "--json").json
    assert [each["decision"]["against"].pop("why") for each in (first, named)] == ["previous", "release"]
    assert named == first


def test_the_first_release_passes_and_has_no_verdict(stored: Call) -> None:
    done = stored("verdict", "libcase@1.0")
    assert (done.code, done.out.splitlines()[0]) == (0, "libcase 1.0: no verdict")
    assert "  PASS: libcase 1.0 is the first release of its line: there is no previous release\n" in done.out
    assert stored("verdict", "libcase@1.0", "--json").json["decision"].get("verdict") is None


def test_a_remembered_verdict_carries_the_versions_asked_for(stored: Call, old: Path) -> None:
    again = build_library(OLD, flags=("-g", "-O1", "-Wl,--build-id=none"))
    assert stored("ingest", again, "--version", "1.0.1").code == 0
    assert stored("verdict", "libcase@1.1", "--against", "1.0", "--json").json["old"]["version"] == "1.0"
    assert stored("verdict", "libcase@1.1", "--against", "1.0.1", "--json").json["old"]["version"] == "1.0.1"


def test_baselines_move_with_who_and_why(stored: Call) -> None:
    assert stored("db", "baseline", "set", "libcase@1.0", "--channel", "main", "--reason", "first").code == 0
    assert stored("db", "baseline", "set", "libcase@1.1", "--channel", "main", "--actor", "ann").code == 0
    assert stored("show", "libcase@baseline:main").out.startswith("libcase 1.1\n")
    moves = stored("db", "baseline", "history", "libcase", "--json").json["baselines"]
    assert [(move["version"], move["reason"]) for move in moves] == [("1.0", "first"), ("1.1", "")]
    assert stored("db", "baseline", "clear", "libcase", "--channel", "main").code == 0
    assert stored("db", "baseline", "list", "--json").json["baselines"] == []
    assert stored("show", "libcase@baseline:main").code == 67


def test_versions_are_ordered_as_declared(stored: Call) -> None:
    assert stored("db", "scheme", "libcase").out == "libcase: auto\n"
    assert stored("db", "scheme", "libcase", "debian").code == 0
    assert stored("db", "scheme", "libcase").out == "libcase: debian\n"
    assert stored("db", "scheme", "libnone").code == 67


# --- the catalogue, and the rest ----------------------------------------------------------------------------------


def test_every_kind_of_change_is_listed_and_explained(abistore: Call) -> None:
    listed = abistore("changes", "--json").json
    assert listed["count"] == len(listed["changes"])
    for change in listed["changes"]:
        told = abistore("explain", change["kind"]).out
        assert told.startswith(f"{change['kind']}: ")
        assert "Fix: " in told


def test_two_filters_of_kinds_hold_at_once(abistore: Call) -> None:
    breaking = abistore("changes", "--impact", "breaking", "--element", "functions", "--json").json["changes"]
    assert {change["kind"] for change in breaking} >= {"func_removed"}
    assert {(change["impact"], change["element"]) for change in breaking} == {("breaking", "functions")}


def test_an_unknown_kind_suggests_a_known_one(abistore: Call) -> None:
    done = abistore("explain", "func_remved")
    assert done.code == 64
    assert "func_removed" in done.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(abistore: Call, shell: str) -> None:
    assert "_ABISTORE_COMPLETE" in abistore("config", "completion", shell).out


def test_completion_completes_commands_and_options(process: Call) -> None:
    words = {"_ABISTORE_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    assert "plain,blame" in process(COMP_WORDS="abistore bl", **words).out
    words["COMP_CWORD"] = "2"
    assert "plain,--fail-on" in process(COMP_WORDS="abistore compare --fa", **words).out


def test_completion_completes_what_is_stored_and_what_is_known(stored: Call, process: Call) -> None:
    assert stored("db", "baseline", "set", "libcase@1.0").code == 0

    def offered(*words: str) -> list[str]:
        line = {"COMP_WORDS": " ".join(("abistore", *words)), "COMP_CWORD": str(len(words))}
        done = process(_ABISTORE_COMPLETE="bash_complete", **line)
        assert done.err == ""
        return done.out.split()

    assert offered("history", "lib") == ["plain,libcase"]
    assert offered("verdict", "libcase@1") == ["plain,libcase@1.0", "plain,libcase@1.1"]
    assert offered("compare", "libcase@b") == ["plain,libcase@baseline:release"]
    assert offered("compare", "build/lib") == ["file,build/lib"]
    assert offered("explain", "func_remov") == ["plain,func_removed", *offered("explain", "func_removed.")]
    assert offered("--db", "nowhere.db", "history", "lib") == []


def test_bash_takes_a_reference_for_one_word(tmp_path: Path, stored: Call) -> None:
    script = tmp_path / "completion.bash"
    script.write_text(stored("config", "completion", "bash").out)
    told = subprocess.run(
        ["bash", "--norc", "-c", f'source {script}; echo "$COMP_WORDBREAKS"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "@" not in told.stdout
    assert ":" in told.stdout


def test_every_answer_is_one_json_object(stored: Call, old: Path, tmp_path: Path) -> None:
    calls: list[list[str | Path]] = [
        ["--version"],
        ["export", old],
        ["export", old, "-o", tmp_path / "a.json"],
        ["ingest", old, "--version", "1.0"],
        ["compare", old, old],
        ["history", "libcase"],
        ["log", "norm"],
        ["show", "libcase@1.0"],
        ["show", "libcase@1.0", "norm"],
        ["list"],
        ["list", "libcase"],
        ["db", "baseline", "set", "libcase@1.0"],
        ["db", "baseline", "list"],
        ["db", "baseline", "history", "libcase"],
        ["verdict", "libcase@1.1"],
        ["export", "libcase@1.0"],
        ["export", "libcase@1.0", "-o", tmp_path / "b.json"],
        ["import", tmp_path / "b.json"],
        ["changes"],
        ["explain", "func_removed"],
        ["config", "completion", "bash"],
        *(["db", verb] for verb in ("init", "upgrade", "check", "stats", "vacuum", "audit")),
        ["db", "backup", tmp_path / "backup.db"],
        ["db", "scheme", "libcase"],
        ["compare", old],
        ["nonsense"],
        ["db"],
        [],
    ]
    for words in calls:
        for place in ([*words, "--json"], ["--json", *words]):
            if words[-1:] == [tmp_path / "backup.db"]:
                (tmp_path / "backup.db").unlink(missing_ok=True)
            done = stored(*place)
            printed = json.loads(done.out) if words[0:1] == ["export"] and "-o" not in words else done.envelope
            assert isinstance(printed, dict), words
            assert done.err == "", words


def test_quiet_says_the_verdict_only_and_detail_says_more(abistore: Call, old: Path, new: Path) -> None:
    quiet = abistore("compare", old, new, "-q").out
    assert len(quiet.splitlines()) == 1
    assert "BREAKING" in quiet


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_database_that_is_named_wins_over_the_environment(
    abistore: Call, old: Path, database: Path, tmp_path: Path, place: str
) -> None:
    named = ["--db", str(tmp_path / "named.db")]
    words = ["ingest", str(old), "--version", "1"]
    assert abistore(*(named + words if place == "before" else words + named)).code == 0
    assert (tmp_path / "named.db").exists()
    assert not database.exists()


def test_import_reads_standard_input(process: Call, stored: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = stored("export", "libcase@1.0").out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(snapshot.encode())))
    done = stored("import", "-", "--library", "libcopy")
    assert (done.code, done.out.split()[:3]) == (0, ["stored", "libcopy", "1.0"])
    assert stored("show", "libcopy@1.0").code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "-: the file is empty"), ("nothing", "-: not a JSON snapshot"), ('{"a', "-: malformed snapshot")],
)
def test_what_standard_input_lacks_is_told(stored: Call, monkeypatch: pytest.MonkeyPatch, text: str, said: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    done = stored("import", "-")
    assert done.code == 65
    assert f"error: {said}" in done.err


def test_a_release_is_taken_back(stored: Call) -> None:
    done = stored("db", "forget", "libcase@1.1", "--reason", "a wrong label", "--actor", "ana")
    assert (done.code, done.out.split()[:3]) == (0, ["forgotten", "libcase", "1.1"])
    assert [
        row["release"]["version"] for row in stored("history", "libcase", "--json").json["histories"][0]["rows"]
    ] == [
        "1.0",
        "2.0",
    ]
    last = stored("db", "audit", "--json").json["audit"]
    assert ("ana", "forget") in {(one["actor"], one["action"]) for one in last}
    assert stored("db", "forget", "libcase@1.1").code == 67


def test_a_database_is_completed_as_a_file(process: Call) -> None:
    line = {"COMP_WORDS": "abistore list --db ab", "COMP_CWORD": "3"}
    assert "file,ab" in process(_ABISTORE_COMPLETE="bash_complete", **line).out
