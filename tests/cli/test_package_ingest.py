"""One release of several libraries on the command line: stored whole or not at all, judged by one gate."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import packages
from tests.build import build_library
from tests.cli.conftest import Call
from tests.cli.test_packages import ADD, SUM, case, release, user

pytestmark = pytest.mark.full

MORE = f"{ADD} {SUM}"


@pytest.fixture
def first(tmp_path: Path) -> Path:
    library = case()
    return release(tmp_path, "1.0", library, user(library))


def versions(abistore: Call, library: str) -> list[str]:
    return [each["version"] for each in abistore("list", library, "--json").json["releases"] if not each["candidate"]]


def test_a_package_is_one_release_of_its_libraries(abistore: Call, first: Path) -> None:
    done = abistore("ingest", first)
    assert done.code == 0
    assert "stored    libcase 1.0" in done.out
    assert "stored    libuser 1.0" in done.out
    assert "2 libraries of libcase1_1.0_amd64.deb" in done.out
    assert versions(abistore, "libcase") == versions(abistore, "libuser") == ["1.0"]


def test_a_package_that_is_stored_changes_nothing(abistore: Call, first: Path) -> None:
    abistore("ingest", first)
    done = abistore("ingest", first)
    assert done.code == 0
    assert "known     libcase 1.0" in done.out
    assert versions(abistore, "libcase") == ["1.0"]


def test_a_release_that_fails_its_gate_is_not_stored_at_all(abistore: Call, first: Path, tmp_path: Path) -> None:
    abistore("ingest", first, "--set-baseline")
    old, new = case(), case(SUM)
    done = abistore("ingest", release(tmp_path, "2.0", new, user(old)), "--against", "baseline", "--set-baseline")
    assert done.code == 4
    assert "bundle_intra_dep_removed" in done.out
    assert done.out.count("policy strict_abi") == 1  # one report about all libraries
    assert "refused   usr/lib/libuser.so.1" in done.out  # which has no change of its own
    assert versions(abistore, "libcase") == versions(abistore, "libuser") == ["1.0"]


def test_a_release_is_judged_beside_what_its_baselines_leave(abistore: Call, first: Path, tmp_path: Path) -> None:
    """Findings between libraries too, with nothing before it that --against names."""
    abistore("ingest", first, "--set-baseline")
    for label in ("0.9", "1.1"):
        alone = release(tmp_path, label, case())
        done = abistore("ingest", alone, "--against", "prev" if label == "0.9" else "latest", "--set-baseline")
        assert (done.code, "bundle_library_removed" in done.out) == (4, True), done.out
    assert versions(abistore, "libcase") == ["1.0"]


BUMPED = "usr/lib/libcase.so.2.0"
OLD_NAME = "usr/lib/libcase.so.1"
LEADING: dict[str, dict[str, str | None]] = {
    "a link": {OLD_NAME: "libcase.so.2.0"},
    "a link to a link": {OLD_NAME: "libcase.so.2", "usr/lib/libcase.so.2": "libcase.so.2.0"},
    "a development link": {OLD_NAME: "libcase.so", "usr/lib/libcase.so": "libcase.so.2.0"},
    "a copy": {OLD_NAME: None},
    "a link from another folder": {"usr/lib/x86_64-linux-gnu/libcase.so.1": "../libcase.so.2.0"},
}
"""What leads programs that load libcase.so.1 to the new library; ``None`` is its content again."""


@pytest.mark.parametrize("form", ["folder", "tar", "deb"])
@pytest.mark.parametrize("leading", LEADING)
def test_a_bumped_soname_allows_no_break_where_the_old_name_leads_to_the_new_library(
    abistore: Call, tmp_path: Path, form: str, leading: str
) -> None:
    def made(version: str, held: dict[str, Path | bytes | str]) -> Path:
        place = tmp_path / version
        place.mkdir()
        if form == "deb":
            return packages.deb(place, held, version=version)
        return packages.folder(place / "case", held) if form == "folder" else packages.tar(place, held)

    new = case(SUM, "libcase.so.2")
    more: dict[str, Path | bytes | str] = {path: target or new for path, target in LEADING[leading].items()}
    first = made("1.0", {"usr/lib/libcase.so.1.0": case(), OLD_NAME: "libcase.so.1.0"})
    assert abistore("ingest", first, "--version", "1.0", "--set-baseline").code == 0
    alone = made("2.0", {BUMPED: new, "usr/lib/libcase.so.2": "libcase.so.2.0"})
    assert abistore("gate", alone, "--version", "2.0").code == 0
    done = abistore("gate", made("3.0", {BUMPED: new, **more}), "--version", "3.0")
    loaded = "programs load this library as libcase.so.1, although its SONAME is libcase.so.2"
    assert (done.code, loaded in " ".join(done.out.split())) == (4, True)
    stored = abistore("ingest", tmp_path / "3.0" / next((tmp_path / "3.0").iterdir()).name, "--version", "3.0")
    assert stored.code == 0
    assert abistore("verdict", "libcase@3.0", "--against", "1.0").code == 4


def test_a_file_called_by_the_old_soname_is_loaded_by_it(abistore: Call, tmp_path: Path) -> None:
    first = packages.folder(tmp_path / "old", {OLD_NAME: case()})
    assert abistore("ingest", first, "--version", "1.0", "--set-baseline").code == 0
    second = packages.folder(tmp_path / "new", {OLD_NAME: case(SUM, "libcase.so.2")})
    assert abistore("gate", second, "--version", "2.0").code == 4


def test_what_programs_get_by_a_name_of_the_library_is_judged_or_named(abistore: Call, tmp_path: Path) -> None:
    real, plugin = "usr/lib/libcase.so.1.0", "usr/lib/case/real"
    good, without = case(MORE), build_library(SUM, soname=None, name="real")
    other = user(case())
    first: dict[str, Path | bytes | str] = {real: case(), OLD_NAME: "libcase.so.1.0", "usr/lib/libuser.so.1": other}
    release = packages.folder(tmp_path / "old", first)
    assert abistore("ingest", release, "--version", "1.0", "--set-baseline").code == 0
    loaded: dict[str, dict[str, Path | bytes | str]] = {
        plugin: {**first, real: good, plugin: without, OLD_NAME: "case/real"},
        OLD_NAME: {OLD_NAME: other, "usr/lib/libuser.so.1": good},
        "": {**first, real: good, plugin: without, "usr/lib/case/plugin.so": "real"},
    }
    for index, (named, held) in enumerate(loaded.items()):
        done = abistore("gate", packages.folder(tmp_path / f"new{index}", held), "--version", "1.1")
        assert (done.code, bool(named)) in ((0, False), (72, True)), done.out
        assert f"not judged: {named}" in done.err or not named


def test_a_release_that_passes_moves_the_baseline_of_each_library(abistore: Call, first: Path, tmp_path: Path) -> None:
    abistore("ingest", first, "--set-baseline")
    new = case(MORE)
    done = abistore("ingest", release(tmp_path, "1.1", new, user(new)), "--against", "baseline", "--set-baseline")
    assert done.code == 0
    assert "libcase1 1.0 -> libcase1 1.1: COMPATIBLE" in done.out
    for library in ("libcase", "libuser"):
        assert f"{library} 1.1" in abistore("show", f"{library}@baseline").out


def test_a_library_that_left_the_package_fails_the_gate(abistore: Call, first: Path, tmp_path: Path) -> None:
    abistore("ingest", first)
    done = abistore("ingest", release(tmp_path, "2.0", case()), "--against", "prev")
    assert done.code == 4
    assert "bundle_library_removed" in done.out
    assert versions(abistore, "libcase") == ["1.0"]


def test_a_release_that_fails_is_kept_whole_as_candidates(abistore: Call, first: Path, tmp_path: Path) -> None:
    abistore("ingest", first)
    old, new = case(), case(SUM)
    package = release(tmp_path, "2.0", new, user(old))
    done = abistore("ingest", package, "--against", "prev", "--keep-failed")
    assert done.code == 4
    assert "candidate  libcase 2.0" in done.out
    assert "candidate  libuser 2.0" in done.out
    assert versions(abistore, "libuser") == ["1.0"]


def test_a_dry_run_writes_nothing_and_says_what_would_be(abistore: Call, first: Path, tmp_path: Path) -> None:
    abistore("ingest", first)
    old, new = case(), case(SUM)
    package = release(tmp_path, "2.0", new, user(old))
    done = abistore("ingest", package, "--against", "prev", "--dry-run")
    assert done.code == 4
    assert "would be refused   usr/lib/libuser.so.1" in done.out
    passing = abistore("ingest", release(tmp_path, "1.1", old, user(old)), "--dry-run")
    assert "would be stored    " in passing.out
    assert versions(abistore, "libcase") == ["1.0"]


def test_a_library_whose_version_is_taken_leaves_the_store_as_it_was(
    abistore: Call, first: Path, tmp_path: Path
) -> None:
    abistore("ingest", case(SUM), "--version", "1.0")
    done = abistore("ingest", first)
    assert done.code == 68
    assert abistore("list", "libuser").code != 0 or not versions(abistore, "libuser")


def test_a_later_release_of_the_package_takes_its_version_from_it(abistore: Call, first: Path, tmp_path: Path) -> None:
    new = case(MORE)
    assert abistore("ingest", first, release(tmp_path, "1.1", new, user(new)), "--against", "prev").code == 0
    assert versions(abistore, "libcase") == ["1.0", "1.1"]
    assert abistore("ingest", packages.folder(tmp_path / "root", {"libcase.so": case()})).code == 64


def test_one_library_of_a_package_is_stored_like_a_file(abistore: Call, tmp_path: Path) -> None:
    done = abistore("ingest", release(tmp_path, "1.0", case()), "--json")
    (file,) = done.json["files"]
    assert (file["status"], file["members"], file["release"]["version"]) == ("stored", [], "1.0")
    assert file["release"]["provenance"]["package"]["member"] == "usr/lib/libcase.so.1"


def forbid_unpacking(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_words: object) -> None:
        raise AssertionError("the package was unpacked")

    monkeypatch.setattr("abistore.extract.packages.reader.entries", refuse)


@pytest.mark.parametrize("more", [(), ("--against", "latest"), ("--only", "libcase"), ("--only", "lib*")])
def test_a_package_that_is_stored_is_not_unpacked_again(
    more: tuple[str, ...], abistore: Call, first: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = abistore("ingest", first, *more).out
    forbid_unpacking(monkeypatch)
    done = abistore("ingest", first, *more)
    assert done.code == 0
    assert done.out.count("known  ") == said.count("stored  ") > 0
    assert "would be known" in abistore("ingest", first, *more, "--dry-run").out


def test_a_known_package_takes_what_is_said_of_it(abistore: Call, first: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    abistore("ingest", first)
    forbid_unpacking(monkeypatch)
    done = abistore("ingest", first, "--revision", "abc", "--set-baseline")
    assert "metadata corrected: revision" in done.out
    assert "libuser 1.0" in abistore("show", "libuser@baseline").out


def test_a_package_is_read_again_where_that_could_tell_more(abistore: Call, first: Path, tmp_path: Path) -> None:
    abistore("ingest", first, "--only", "libcase")
    assert "stored    libuser 1.0" in abistore("ingest", first).out  # the others
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "case.h").write_text("int case_add(int a, int b);\n")
    devel = ("--devel-package", tmp_path, "--replace")
    assert "replaced  libcase 1.0" in abistore("ingest", first, *devel).out
    assert "known     libcase 2.0" not in abistore("ingest", first, "--version", "2.0").out


def test_a_package_with_its_development_package_is_known(
    abistore: Call, first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = {"usr/include/case.h": b"int case_add(int a, int b);\n"}
    devel = packages.deb(tmp_path, header, name="libcase-dev", version="1.0")
    abistore("ingest", first, "--devel-package", devel)
    forbid_unpacking(monkeypatch)
    assert "known     libcase 1.0" in abistore("ingest", first, "--devel-package", devel).out


def test_a_folder_of_several_libraries_is_one_release_as_a_package_is(abistore: Call, tmp_path: Path) -> None:
    old, new = case(), case(SUM)
    for version, libraries in (("1.0", (old, user(old))), ("1.1", (new, user(old)))):
        folder = tmp_path / version
        folder.mkdir()
        for each in libraries:
            shutil.copy(each, folder / each.name)
        abistore("ingest", folder, "--version", version)
    told = abistore("verdict", "--all-targets", "libuser@1.1").out  # which has no change of its own
    assert "libuser 1.1, 2 libraries: BREAKING, fail over 2 lines" in told
    assert "libuser 1.1: BREAKING, outcome fail; " in abistore("verdict", "--statement", "libuser@1.1").out


def failing(abistore: Call, package: Path, against: str, *words: str) -> list[str]:
    """What fails the gate of a package, between its libraries."""
    done = abistore("ingest", package, "--against", against, "--dry-run", "--json", *words)
    changes = done.json["files"][0]["verdict"]["changes"]
    return [one["id"] for one in changes if one["impact"] == "breaking" and not one["approved"]]


def test_a_library_that_left_came_back_and_leaves_again_needs_another_approval(abistore: Call, tmp_path: Path) -> None:
    """Also where the library is not the first of the package."""
    library = case()
    other = user(library)
    whole, part = (library, other), (library,)
    abistore("ingest", release(tmp_path, "1.0", *whole))
    package = release(tmp_path, "2.0", *part)
    (gone,) = failing(abistore, package, "prev")
    why = ("--library", "libuser", "--reason", "nobody loads it", "--approver", "ana")
    assert abistore("approve", gone, *why).code == 0
    assert abistore("ingest", package, "--against", "prev").code == 0
    assert abistore("ingest", release(tmp_path, "3.0", *whole), "--against", "prev").code == 0
    done = abistore("ingest", again := release(tmp_path, "4.0", *part), "--against", "prev")
    assert (done.code, "was restored after 1.0 and removed again: approve again" in " ".join(done.out.split())) == (
        4,
        True,
    )
    assert abistore("approve", gone, *why).code == 0
    assert abistore("ingest", again, "--against", "prev").code == 0


def test_an_approval_that_a_library_leaves_holds_while_it_stays(abistore: Call, tmp_path: Path) -> None:
    library = case()
    whole = (library, user(library))
    abistore("ingest", release(tmp_path, "1.0", *whole))
    (gone,) = failing(abistore, release(tmp_path, "9.0", library), "prev")
    abistore("approve", gone, "--library", "libuser", "--reason", "nobody loads it", "--approver", "ana")
    assert abistore("ingest", release(tmp_path, "1.1", *whole), "--against", "prev").code == 0
    assert abistore("ingest", release(tmp_path, "2.0", library), "--against", "prev").code == 0
