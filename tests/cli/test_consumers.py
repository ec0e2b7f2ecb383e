"""``consumers``: what programs use is stored, and tells whom a release hurts."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.build import CACHE, build_library
from tests.cli.conftest import Call

HEADER = "struct point { int x, y; };\nint norm(const struct point *p);\nint gone(void);\nint kept(int value);\n"
OLD = f'#line 1 "case.h"\n{HEADER}#line 1 "case.c"\n' + (
    "int norm(const struct point *p) { return p->x + p->y; }\n"
    "int gone(void) { return 1; }\nint kept(int value) { return value; }\nint idle(void) { return 0; }\n"
)
NEW = (
    OLD.replace("int x, y;", "long x, y;")
    .replace("int gone(void) { return 1; }\n", "")
    .replace("return p", "return (int)p")
)


def program(folder: Path, text: str, library: Path, name: str, *options: str) -> Path:
    """A program that is linked with a release, from sources that include its header."""
    source, built = folder / f"{name}.c", folder / name
    (folder / "case.h").write_text(HEADER)
    source.write_text(f'#include "case.h"\n{text}')
    subprocess.run(["gcc", "-w", "-g", *options, str(source), "-o", str(built), str(library)], check=True, cwd=folder)
    return built


@pytest.fixture(scope="module")
def old() -> Path:
    return build_library(OLD)


@pytest.fixture
def stored(abistore: Call, tmp_path: Path, old: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with two releases, and a folder with programs: they call, measure, ask, or have no types."""
    monkeypatch.setenv("ABISTORE_DB", str(tmp_path / "store.db"))
    for version, library in (("1.0", old), ("2.0", build_library(NEW))):
        done = abistore("ingest", library, "--library", "libcase", "--version", version)
        assert done.code in {0, 4}, done.err
    folder = tmp_path / "programs"
    folder.mkdir()
    program(folder, "int main(void) { return gone(); }", old, "caller")
    program(folder, "int main(void) { struct point p = {1, 2}; return norm(&p); }", old, "measurer")
    asks = "void *dlsym(void *, const char *); int main(void) { return kept(dlsym(0, kept) != 0); }"
    program(folder, asks, old, "asker")
    program(folder, "int main(void) { return kept(1); }", old, "plain", "-g0")
    (folder / "notes.txt").write_text("no program")
    return folder


def add(abistore: Call, *paths: Path) -> None:
    done = abistore("consumers", "add", *paths)
    assert done.code == 0, done.err


def test_a_release_breaks_the_programs_that_use_what_it_broke(abistore: Call, stored: Path) -> None:
    add(abistore, *(stored / name for name in ("caller", "measurer", "asker", "plain")))
    done = abistore("consumers", "broken", "libcase@2.0", "--json")
    assert done.code == 4, done.err
    release = done.json["release"]
    states = {each["name"]: each["state"] for each in release["consumers"]}
    assert states == {"caller": "breaks", "measurer": "breaks", "asker": "runs", "plain": "runs"}
    why = {each["name"]: {(one["sort"], one["symbol"]) for one in each["broken_by"]} for each in release["consumers"]}
    assert why["caller"] == {("symbol", "gone")}
    assert ("type", "point") in why["measurer"]
    unseen = {each["name"]: " ".join(each["not_checked"]) for each in release["consumers"]}
    assert "dlsym" in unseen["asker"] and "no debug information" in unseen["plain"] and not unseen["caller"]
    text = abistore("consumers", "broken", "libcase@2.0").out
    assert "breaks 2 of 4 known consumers, judged against 1.0" in text
    assert "missing symbol gone" in text


def rebuilt(folder: Path) -> Path:
    """A program that was built with the types of the later release, which it is linked with."""
    (folder / "again").mkdir()
    library = build_library(NEW)
    text = "int main(void) { struct point p = {1, 2}; return norm(&p); }"
    built = folder / "again" / "measurer"
    source = folder / "again" / "measurer.c"
    (folder / "again" / "case.h").write_text(HEADER.replace("int x, y;", "long x, y;"))
    source.write_text(f'#include "case.h"\n{text}')
    subprocess.run(["gcc", "-w", "-g", str(source), "-o", str(built), str(library)], check=True)
    return built


def test_a_program_that_was_built_again_is_not_hurt_by_what_changed_before(
    abistore: Call, stored: Path, tmp_path: Path
) -> None:
    add(abistore, rebuilt(tmp_path))
    done = abistore("consumers", "broken", "libcase@2.0", "--json")
    assert (done.code, done.json["release"]["consumers"][0]["broken_by"]) == (0, [])


def test_a_program_that_asks_for_another_soname_has_to_be_built_again(abistore: Call, stored: Path) -> None:
    add(abistore, stored / "caller")
    library = build_library(NEW, soname="libcase.so.2")
    assert abistore("ingest", library, "--library", "libcase", "--version", "3.0").code in {0, 4}
    done = abistore("consumers", "broken", "libcase@3.0", "--json")
    assert (done.code, done.json["release"]["rebuild"]) == (0, 1)
    assert done.json["release"]["consumers"][0]["state"] == "asks-for-another"


def test_who_uses_a_symbol_and_a_type_is_told(abistore: Call, stored: Path) -> None:
    add(abistore, stored / "caller", stored / "measurer", stored / "asker")
    found = abistore("consumers", "using", "libcase", "gone", "--json").json["use"]
    assert ([each["name"] for each in found["users"]], found["consumers"]) == (["caller"], 3)
    assert found["unseen"] == ["asker"]
    found = abistore("consumers", "using", "libcase", "point", "--json").json["use"]
    assert {each["name"] for each in found["users"]} == {"measurer"}
    assert abistore("consumers", "using", "libcase", "nowhere").code == 67


def test_exports_that_no_known_consumer_uses_are_told_against_how_many(abistore: Call, stored: Path) -> None:
    refused = abistore("show", "--exports", "libcase@1.0", "--unused")
    assert refused.code == 64
    assert "no consumer of it is stored" in refused.err
    add(abistore, stored / "caller", stored / "measurer", stored / "asker")
    found = abistore("show", "--exports", "libcase@1.0", "--unused", "--json").json["unused"]
    assert [each["display"] for each in found["inventory"]["items"]] == ["idle"]
    assert (found["consumers"], found["unseen"]) == (3, ["asker"])
    assert "unused by all of 3 known consumers" in abistore("show", "--exports", "libcase@1.0", "--unused").out


def test_the_releases_that_satisfy_a_program_are_told_of_a_file_and_of_a_stored_one(
    abistore: Call, stored: Path
) -> None:
    add(abistore, stored / "plain")
    for app, last in ((stored / "caller", "1.0"), (stored / "measurer", "1.0"), ("plain", "2.0")):
        done = abistore("matrix", "--program", app, "libcase", "--json")
        assert done.code == 0, done.err
        (found,) = done.json["ranges"]
        assert (found["first"], found["last"]) == ("1.0", last)


def test_a_folder_of_programs_is_added_listed_shown_and_removed(abistore: Call, stored: Path) -> None:
    add(abistore, stored)
    listed = abistore("consumers", "list", "libcase", "--json").json["consumers"]
    names = ["programs:asker", "programs:caller", "programs:measurer", "programs:plain"]
    assert [each["details"]["name"] for each in listed] == names
    assert "known" in abistore("consumers", "add", stored).out
    shown = abistore("consumers", "show", "programs:measurer").out
    assert "norm" in shown and "built with record point" in shown
    assert abistore("consumers", "remove", "programs:*").code == 0
    assert abistore("consumers", "list").out.strip() == "no consumers"
    assert abistore("consumers", "show", "programs:plain").code == 67
    assert abistore("db", "check").code == 0
    assert "remove-consumer" in abistore("db", "audit").out


PLATFORMS = {
    "windows": ("-target x86_64-windows-gnu -nostdlib", "case.dll", "-Wl,--export-all-symbols,--out-implib,case.lib"),
    "macos": ("-target aarch64-macos", "libcase.1.dylib", "-Wl,-install_name,@rpath/libcase.1.dylib"),
}
ENTRY = "int __attribute__((stdcall)) DllMainCRTStartup(void *dll, unsigned long why, void *rest) { return 1; }\n"


def linked(platform: str) -> Path:
    """A library of two releases and a program of the first, for another platform: built once, by content."""
    target, name, naming = PLATFORMS[platform]
    parts = {"old.c": "int gone(void) { return 1; }\n", "new.c": ""}
    parts = {file: f"int kept(void) {{ return 0; }}\n{text}" for file, text in parts.items()}
    parts["app.c"] = "int gone(void);\nint main(void) { return gone(); }\n"
    if platform == "windows":  # whose main is called by a runtime, which takes long to be built
        parts = {file: text + ENTRY for file, text in parts.items() if file != "app.c"}
        parts["app.c"] = "int gone(void);\nint start(void) { return gone(); }\n"
    compiler = [sys.executable, "-m", "ziglang", "cc", *target.split(), "-g", "-O1", "-fno-stack-protector"]
    links = ["case.lib", "-Wl,-e,start"] if platform == "windows" else [name]
    program = ["app.c", *links, "-o", "app"]
    commands = [
        [*compiler, "-shared", "old.c", naming, "-o", name],
        [*compiler, *program],
        [*compiler, "-shared", "new.c", naming, "-o", f"new/{name}"],
    ]
    key = hashlib.sha256(repr((parts, commands[0][1:], program)).encode()).hexdigest()[:24]
    folder = CACHE / key
    if not (folder / "new" / name).exists():
        (folder / "new").mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(CACHE / "zig")}
        for file, text in parts.items():
            (folder / file).write_text(text)
        for command in commands:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)
    return folder


@pytest.mark.full
@pytest.mark.parametrize("platform", sorted(PLATFORMS))
def test_programs_of_other_platforms_are_consumers_too(
    abistore: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setenv("ABISTORE_DB", str(tmp_path / "store.db"))
    folder, name = linked(platform), PLATFORMS[platform][1]
    for version, library in (("1.0", folder / name), ("2.0", folder / "new" / name)):
        done = abistore("ingest", library, "--library", "case", "--version", version)
        assert done.code in {0, 4}, done.err
    add(abistore, folder / "app")
    done = abistore("consumers", "broken", "case@2.0", "--json")
    (found,) = done.json["release"]["consumers"]
    assert (done.code, found["state"]) == (4, "breaks")
    assert [(one["sort"], one["symbol"]) for one in found["broken_by"]] == [("symbol", "gone")]
    assert any("debug information" in each for each in found["not_checked"])
    compared = abistore("compare", folder / name, folder / "new" / name, "--for", folder / "app", "--json")
    assert [each["kind"] for each in compared.json["changes"]] == ["func_removed"]


def hurt(report: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    return {(each["kind"], each["symbol"]): each["consumers"] for each in report["changes"] if each["consumers"]}


EXPECTED = {("func_removed", "gone"): ["caller"], ("type_field_type_changed", "point"): ["measurer"]}


def test_reports_name_the_consumers_that_each_break_hurts(abistore: Call, stored: Path, old: Path) -> None:
    add(abistore, *(stored / name for name in ("caller", "measurer", "asker", "plain")))
    new = build_library(NEW)
    of_files = abistore("compare", old, new, "--consumers", "--json").json
    of_releases = abistore("compare", "libcase@1.0", "libcase@2.0", "--consumers", "--json").json
    verdict = abistore("verdict", "libcase@2.0", "--consumers", "--json").json
    for report in (of_files, of_releases, verdict):
        found = hurt(report)
        assert {key: found.get(key) for key in EXPECTED} == EXPECTED
        assert {name for names in found.values() for name in names} == {"caller", "measurer"}
        (told,) = (each for each in report["notes"] if each.startswith("affects"))
        assert told.startswith("affects 2 of 4 known consumers of ") and told.endswith(": caller, measurer")
        unsure = "not checked of 2 known consumers (asker, plain): "
        assert any(each.startswith(unsure) and "dlsym" in each for each in report["notes"])
    silent = abistore("verdict", "libcase@2.0", "--json").json
    assert not hurt(silent) and not any("known consumer" in each for each in silent["notes"])


def test_a_gate_names_the_consumers_that_each_break_hurts(abistore: Call, stored: Path) -> None:
    add(abistore, stored / "caller", stored / "measurer")
    assert abistore("db", "baseline", "set", "libcase@1.0").code == 0
    words = ("gate", build_library(NEW), "--library", "libcase", "--version", "2.1", "--consumers")
    done = abistore(*words, "--json")
    assert done.code == 4, done.err
    found = hurt(done.json["files"][0]["judged"]["verdict"])
    assert {key: found.get(key) for key in EXPECTED} == EXPECTED
    assert "affects caller" in abistore(*words).out


@pytest.mark.parametrize("format", ["text", "markdown", "html", "sarif", "junit", "json"])
def test_every_format_names_the_consumers(abistore: Call, stored: Path, format: str) -> None:
    add(abistore, (stored / "caller").rename(stored / "zebra"))
    shown = abistore("verdict", "libcase@2.0", "--consumers", "--format", format).out
    assert "zebra" in shown
    assert "zebra" not in abistore("verdict", "libcase@2.0", "--format", format).out


def test_a_program_that_was_built_for_the_new_type_is_not_named(abistore: Call, stored: Path, tmp_path: Path) -> None:
    add(abistore, rebuilt(tmp_path))
    report = abistore("verdict", "libcase@2.0", "--consumers", "--json").json
    assert not hurt(report)
    assert "affects 0 of 1 known consumer of libcase" in report["notes"]


def test_a_program_that_asks_for_another_soname_is_told_apart(abistore: Call, stored: Path) -> None:
    add(abistore, stored / "caller")
    new = build_library(NEW, soname="libcase.so.2")
    report = abistore("compare", "libcase@1.0", new, "--consumers", "--json").json
    assert not hurt(report)
    assert "1 known consumer has to be rebuilt for another SONAME: caller" in report["notes"]


def test_a_report_says_that_no_consumer_is_known(abistore: Call, stored: Path) -> None:
    report = abistore("verdict", "libcase@2.0", "--consumers", "--json").json
    assert [each for each in report["notes"] if "no known consumer of libcase" in each]


def test_packages_name_the_consumers_of_each_library(abistore: Call, stored: Path, tmp_path: Path, old: Path) -> None:
    add(abistore, stored / "caller")
    sides = []
    for name, library in (("old", old), ("new", build_library(NEW))):
        (tmp_path / name).mkdir()
        sides.append(Path(shutil.copy(library, tmp_path / name / "libcase.so.1")).parent)
    report = abistore("compare", *sides, "--consumers", "--json").json
    assert hurt(report)["func_removed", "gone"] == ["caller"]


def test_a_new_build_of_a_program_takes_the_place_of_the_one_before(
    abistore: Call, stored: Path, tmp_path: Path, old: Path
) -> None:
    add(abistore, stored / "caller")
    assert abistore("consumers", "broken", "libcase@2.0").code == 4
    (tmp_path / "new").mkdir()
    add(abistore, program(tmp_path / "new", "int main(void) { return kept(1); }", old, "caller"))
    assert len(abistore("consumers", "list", "--json").json["consumers"]) == 1
    shown = abistore("consumers", "show", "caller", "--json").json["consumer"]["symbols"]
    assert [each["symbol"] for each in shown if each["symbol"] in {"gone", "kept"}] == ["kept"]
    assert abistore("consumers", "broken", "libcase@2.0").code == 0
    assert abistore("consumers", "using", "libcase", "gone", "--json").json["use"]["users"] == []
    assert abistore("consumers", "remove", "caller").code == 0
    assert abistore("consumers", "broken", "libcase@2.0", "--json").json["release"]["consumers"] == []
    assert abistore("db", "check").code == 0
