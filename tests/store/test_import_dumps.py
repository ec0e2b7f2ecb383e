"""A project's history of other tools' dumps, imported, and gone on with by the first real ingest."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from abistore.errors import UsageError
from abistore.model.findings import NOT_RECORDED
from abistore.service.history import history
from abistore.service.imports import import_, read_versions, version_in
from abistore.service.ingest import ingest
from abistore.service.ingest_gates import Ingested, IngestPlan
from abistore.service.listing import releases
from abistore.service.log import log
from abistore.service.verdicts import verdict
from tests.build import build_library
from tests.extract.foreign.reading import FORMATS, dumped

COMMON = """
#include <stdlib.h>
typedef enum { LOW, HIGH } level_t;
struct point { int x, y; unsigned flag : 3; };
int use(struct point *p, level_t l) { return p->x; }
double ratio = 1.0;
void fail(void) __attribute__((noreturn)); void fail(void) { abort(); }
"""
SOURCES = {
    "1.0": COMMON + "int old(void) { return 1; }",
    "1.1": COMMON + "int old(void) { return 1; } int more(int a) { return a; }",
    "1.2": COMMON + "int old(void) { return 1; } int more(int a) { return a; } int third(void) { return 3; }",
    "1.3": COMMON + "int old(void) { return 1; } int more(long a) { return a; } int third(void) { return 3; }",
    "1.10": COMMON + "int more(long a) { return a; } int third(void) { return 3; }",
    "2.0": COMMON + "int more(long a) { return a; } int third(void) { return 3; } int new(void) { return 4; }",
}
SYMBOLS = """libcase.so.1 libcase1 #MINVER#
* Build-Depends-Package: libcase-dev
 fail@Base 1.0
 more@Base 1.1-2
 old@Base 1.0
 ratio@Base 1.0
 use@Base 1.0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a project kept: ABIXML of three releases, and a symbols file that names two."""
    tool = FORMATS["abixml"][0]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    kept = tmp_path / "kept"
    kept.mkdir()
    for version in ("1.2", "1.3", "1.10"):
        shutil.copy(dumped(build_library(SOURCES[version]), "abixml"), kept / f"libcase-{version}.abi")
    (kept / "libcase1.symbols").write_text(SYMBOLS)
    (kept / "README").write_text("what we kept")
    return kept


def stored(results: tuple[Ingested, ...]) -> list[tuple[str, str]]:
    return [(result.status, result.release.version if result.release else result.code) for result in results]


@pytest.mark.full
def test_a_folder_of_dumps_is_a_history_that_real_releases_go_on_with(folder: Path, address: str) -> None:
    results = import_(folder, database=address)
    assert stored(results) == [("stored", version) for version in ("1.0", "1.1", "1.2", "1.3", "1.10")]
    (library,) = ingest(build_library(SOURCES["2.0"]), IngestPlan(version="2.0"), database=address)
    assert library.status == "stored"
    (timeline,) = history("libcase", database=address)
    found = [row.release.version for row in timeline.rows]
    assert found == ["1.0", "1.1", "1.2", "1.3", "1.10", "2.0"]
    assert all(row.verdict is not None for row in timeline.rows[1:])
    kinds = {
        version: sorted({each.kind for each in verdict(f"libcase@{version}", database=address).report.changes})
        for version in found[1:]
    }
    assert kinds["1.1"] == ["func_added"]
    assert kinds["1.2"] == ["func_added"]
    assert "func_params_changed" in kinds["1.3"]
    assert kinds["1.10"] == ["func_removed"]
    assert kinds["2.0"] == ["func_added"]
    last = verdict("libcase@2.0", database=address).report
    assert NOT_RECORDED in {each.reason for each in last.not_checked}


@pytest.mark.full
def test_the_log_of_a_declaration_has_no_change_that_only_the_evidence_makes(folder: Path, address: str) -> None:
    import_(folder, database=address)
    ingest(build_library(SOURCES["2.0"]), IngestPlan(version="2.0"), database=address)

    def events(name: str, facet: str) -> list[tuple[str, str]]:
        return [(each.version, each.action) for each in log(name, database=address) if each.facet == facet]

    assert [each for each in events("point", "layout") if each[1] != "not-observed"] == [("1.2", "appeared")]
    assert [each for each in events("fail", "layout") if each[1] != "not-observed"] == [("1.2", "appeared")]
    assert events("use", "symbol") == [("1.0", "appeared")]
    assert events("old", "symbol") == [("1.0", "appeared"), ("1.10", "vanished")]
    assert [each for each in events("more", "layout") if each[1] != "not-observed"] == [
        ("1.2", "appeared"),
        ("1.3", "changed"),
    ]


@pytest.mark.full
def test_importing_again_changes_nothing(folder: Path, address: str) -> None:
    import_(folder, database=address)
    assert {status for status, _ in stored(import_(folder, database=address))} == {"known"}


@pytest.mark.full
def test_a_damaged_dump_fails_alone_and_says_so(folder: Path, address: str) -> None:
    damaged = folder / "libcase-1.3.abi"
    damaged.write_bytes(damaged.read_bytes()[:2000])
    results = import_(folder, database=address)
    assert [(Path(each.path).name, each.code) for each in results if each.status == "failed"] == [
        ("libcase-1.3.abi", "extract")
    ]
    assert [version for status, version in stored(results) if status == "stored"] == ["1.0", "1.1", "1.2", "1.10"]
    assert [each.version for each in releases("libcase", database=address)] == ["1.0", "1.1", "1.2", "1.10"]


@pytest.mark.full
def test_a_list_gives_the_versions(folder: Path, address: str, tmp_path: Path) -> None:
    (folder / "libcase-1.10.abi").rename(folder / "last.abi")
    listed = tmp_path / "versions.csv"
    listed.write_text("file,version\n# the last of the first series\nlast.abi, 1.10\n")
    results = import_(folder, versions=listed, database=address)
    assert ("stored", "1.10") in stored(results)
    listed.write_text("lost.abi,1\n")
    with pytest.raises(UsageError, match=r"lost\.abi is not among"):
        import_(folder, versions=listed, database=address)


@pytest.mark.full
def test_a_dump_without_a_version_fails_and_says_what_to_give(folder: Path, address: str) -> None:
    (folder / "libcase-1.10.abi").rename(folder / "last.abi")
    (failed,) = (each for each in import_(folder, database=address) if each.status == "failed")
    assert "no version" in failed.error
    assert "--versions" in failed.hint


def test_symbols_files_alone_need_a_platform(tmp_path: Path, address: str) -> None:
    path = tmp_path / "libcase1.symbols"
    path.write_text(SYMBOLS)
    (failed,) = import_(path, database=address)
    assert "--target" in failed.hint
    results = import_(path, IngestPlan(target="amd64"), database=address)
    assert stored(results) == [("stored", "1.0"), ("stored", "1.1")]
    ingest(build_library(SOURCES["1.2"]), IngestPlan(version="1.2"), database=address)
    assert not [each for each in verdict("libcase@1.2", database=address).report.changes if each.kind != "func_added"]


def test_a_release_that_was_ingested_is_kept_as_it_is(tmp_path: Path, address: str) -> None:
    ingest(build_library(SOURCES["1.0"]), IngestPlan(version="1.0"), database=address)
    path = tmp_path / "libcase1.symbols"
    path.write_text(SYMBOLS)
    assert stored(import_(path, database=address)) == [("stored", "1.1")]
    first = releases("libcase", database=address)[0]
    assert {each.facet for each in first.evidence if each.state == "full"} == {"symbol", "layout"}


def test_a_folder_without_dumps_is_an_error(tmp_path: Path, address: str) -> None:
    with pytest.raises(UsageError, match="holds no dump"):
        import_(tmp_path, database=address)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("libfoo-1.2.3.abi", "1.2.3"),
        ("foo_1.2.dump", "1.2"),
        ("libfoo.so.1.2.3.abi.xz", "1.2.3"),
        ("libfoo1_1.2.3-4_amd64.symbols", "1.2.3-4"),
        ("foo-v2.0-rc1.dump.tar.gz", None),
        ("foo-2.0rc1.dump.tar.gz", "2.0rc1"),
        ("libfoo1.symbols", None),
        ("x86-64.abi", "64"),
    ],
)
def test_versions_are_read_from_names(name: str, version: str | None) -> None:
    assert version_in(name) == version


def test_lists_of_versions_are_csv_or_toml(tmp_path: Path) -> None:
    path = tmp_path / "v.toml"
    path.write_text('[versions]\n"a.abi" = "1.0"\n')
    assert read_versions(path) == {"a.abi": "1.0"}
    for text in ('"a.abi" = 1.0\n', "= 1", "versions = 3"):
        path.write_text(text)
        with pytest.raises(UsageError):
            read_versions(path)
    other = tmp_path / "v.csv"
    for text in ("a.abi\n", "a.abi,1,2\n", ",1\n"):
        other.write_text(text)
        with pytest.raises(UsageError, match="line 1"):
            read_versions(other)


@pytest.mark.full
def test_a_dump_that_leaves_the_abi_open_joins_the_only_line_that_it_fits(tmp_path: Path, address: str) -> None:
    if shutil.which(FORMATS["abixml"][0]) is None:
        pytest.skip("abidw is not installed")
    flags = ("-g", "-nostdlib")
    library = build_library("int add(int a) { return a; }", compiler="arm-linux-gnueabihf-gcc", flags=flags)
    kept = tmp_path / "libcase-1.0.abi"
    shutil.copy(dumped(library, "abixml"), kept)
    assert stored(ingest(library, IngestPlan(version="1.1"), database=address)) == [("stored", "1.1")]
    assert stored(import_(kept, database=address)) == [("stored", "1.0")]
    (line,) = history("libcase", database=address)
    assert [row.release.version for row in line.rows] == ["1.0", "1.1"]
    assert not verdict("libcase@1.1", against="1.0", database=address).report.changes
