"""What happened in an archive: what broke, whom it affects, which gates are red, and what could not be read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

import abistore
from abistore.archive.log import LoggedItem
from abistore.cli.main import run as command
from tests.build import build_library

pytestmark = pytest.mark.fast

FIRST = "int base_add(int a) { return a; } int base_gone(int a) { return a; }"
SECOND = "int base_add(int a) { return a; }"
USER = "int base_gone(int a); int user_run(int a) { return base_gone(a); }"
OTHER = "int base_add(int a); int other_run(int a) { return base_add(a); }"


def built(name: str, source: str, *flags: str) -> Path:
    return build_library(source, name=f"{name}.so", soname=f"{name}.so.1", flags=("-g", *flags))


def linked(base: Path, name: str = "libbase.so") -> tuple[str, ...]:
    """What has a library need another one."""
    return "-Wl,--no-as-needed", f"-L{base.parent}", f"-l:{name}"


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library whose second release drops an export, one library that imports it, and one that imports another."""
    path = tmp_path / "abi.db"
    monkeypatch.setenv("ABISTORE_DB", str(path))
    base = built("libbase", FIRST)
    channel = abistore.IngestPlan(version="1.0", gate=abistore.Gate(channel="release"))
    for file in (base, built("libuser", USER, *linked(base)), built("libother", OTHER, *linked(base))):
        assert abistore.ingest(file, channel, database=path)[0].status == "stored"
    abistore.ingest(built("libbase", SECOND), abistore.IngestPlan(version="1.1"), database=path)
    return path


def since() -> str:
    return f"{datetime.now(UTC) - timedelta(days=1):%Y-%m-%d}"


def test_nothing_is_judged_and_what_is_not_is_counted(database: Path) -> None:
    found = abistore.archive_report(since(), database=database)
    assert (found.lines, found.releases, found.unjudged) == (3, 4, 1)
    assert (found.broken, found.red) == ((), ())


def test_a_break_names_the_libraries_that_import_what_breaks(database: Path) -> None:
    abistore.history("libbase", database=database)
    (broken,) = abistore.archive_report(since(), database=database).broken
    assert (broken.line.library, broken.against, broken.version, broken.outcome) == ("libbase", "1.0", "1.1", "fail")
    assert broken.libraries == ("libuser",)
    assert broken.kinds == {"func_removed": 1}
    assert broken.names == ("base_gone",)


def test_a_break_names_the_programs_that_import_what_breaks(database: Path) -> None:
    base = built("libbase", FIRST)
    program = built("app", "int base_gone(int a); int main(void) { return base_gone(1); }", *linked(base))
    abistore.add_consumers([program], database=database)
    abistore.history("libbase", database=database)
    (broken,) = abistore.archive_report(since(), database=database).broken
    assert len(broken.programs) == 1


def test_a_break_names_what_loads_an_affected_library_in_turn(database: Path) -> None:
    user = built("libuser", USER, *linked(built("libbase", FIRST)))
    top = built("libtop", "int user_run(int a); int top(int a) { return user_run(a); }", *linked(user, "libuser.so"))
    abistore.ingest(top, abistore.IngestPlan(version="1.0"), database=database)
    caller = "int top(int a); int main(void) { return top(1); }"
    abistore.add_consumers([built("app", caller, *linked(top, "libtop.so"))], name="app", database=database)
    abistore.history("libbase", database=database)
    (broken,) = abistore.archive_report(since(), database=database).broken
    assert (broken.programs, broken.libraries, broken.through) == ((), ("libuser",), ("app", "libtop"))


def test_a_program_gets_a_symbol_of_a_library_that_another_one_loads(database: Path) -> None:
    """It is linked with libother alone, which loads libbase: the loader looks there, too."""
    other = built("libother", OTHER, *linked(built("libbase", FIRST)))
    source = "int base_gone(int a); int main(void) { return base_gone(1); }"
    app = built("app", source, *linked(other, "libother.so"), "-Wl,--unresolved-symbols=ignore-all")
    abistore.add_consumers([app], name="app", database=database)
    abistore.history("libbase", database=database)
    (broken,) = abistore.archive_report(since(), database=database).broken
    assert (broken.programs, broken.libraries, broken.through) == (("app",), ("libuser",), ())


def test_a_symbol_that_moved_to_a_library_which_is_loaded_affects_nobody(database: Path) -> None:
    moved = built("libmoved", "int base_gone(int a) { return a; }")
    abistore.ingest(moved, abistore.IngestPlan(version="1.0"), database=database)
    base = built("libbase", SECOND, *linked(moved, "libmoved.so"))
    abistore.ingest(base, abistore.IngestPlan(version="1.2"), database=database)
    abistore.history("libbase", database=database)
    (broken,) = abistore.archive_report(since(), database=database).broken
    assert (broken.version, broken.libraries) == ("1.1", ())


@pytest.mark.parametrize(
    ("source", "moved_to"),
    [
        (FIRST, ("libmoved.so.1",)),
        (SECOND, ()),
    ],
    ids=["all of them", "one of them"],
)
def test_a_break_names_the_needed_library_that_exports_the_symbols_now(
    tmp_path: Path, source: str, moved_to: tuple[str, ...]
) -> None:
    path = tmp_path / "abi.db"
    moved = built("libmoved", source)
    for version, file in (
        ("1.0", built("libbase", FIRST)),
        ("1.1", built("libbase", "", *linked(moved, "libmoved.so"))),
    ):
        abistore.ingest(file, abistore.IngestPlan(version=version), database=path)
    abistore.ingest(moved, abistore.IngestPlan(version="1.0"), database=path)
    abistore.history("libbase", database=path)
    (broken,) = abistore.archive_report(since(), database=path).broken
    assert broken.moved_to == moved_to


def test_red_are_gates_that_do_not_pass_and_builds_that_were_kept(database: Path) -> None:
    abistore.history("libbase", database=database)
    kept = abistore.Gate(against="baseline", keep_failed=True)
    abistore.ingest(built("libuser", "int less(void) { return 1; }"), abistore.IngestPlan(version="2", gate=kept))
    red = abistore.archive_report(since(), database=database).red
    assert [(each.line.library, each.version, each.candidate) for each in red] == [
        ("libbase", "1.1", False),
        ("libuser", "2", True),
    ]
    for each in abistore.history("libbase", database=database)[0].rows[1:]:
        assert each.baseline_decision is not None
        assert red[0].headline == each.baseline_decision.headline


def test_an_approved_break_is_not_red(database: Path) -> None:
    judged = abistore.verdict("libbase@1.1", against="baseline", database=database).report
    abistore.approve(judged.changes, abistore.ApprovalPlan("agreed", library="libbase"), database=database)
    found = abistore.archive_report(since(), database=database)
    assert [each.outcome for each in found.broken] == ["pass"]
    assert found.red == ()


def test_a_release_stands_for_its_moment(database: Path) -> None:
    abistore.history("libbase", database=database)
    assert abistore.archive_report("libbase@1.1", database=database).releases == 1
    tomorrow = f"{datetime.now(UTC) + timedelta(days=2):%Y-%m-%d}"
    later = abistore.archive_report(tomorrow, database=database)
    assert (later.releases, later.broken) == (0, ())
    with pytest.raises(abistore.UsageError):
        abistore.archive_report("2026-13-01", database=database)
    with pytest.raises(abistore.SnapshotNotFound):
        abistore.archive_report("libnone@1", database=database)


def test_what_could_not_be_read_is_grouped_by_cause(database: Path, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    codes = ("extract", "limit", "extract")
    lines = [
        LoggedItem(f"{number}.so", "failed", 65, now, code=code, error=f"{code} failed")
        for number, code in enumerate(codes)
    ]
    log = tmp_path / "run.jsonl"
    log.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in lines))
    found = abistore.archive_report(since(), run=log, database=database).unread
    assert [(each.code, each.count, each.path) for each in found] == [("extract", 2, "0.so"), ("limit", 1, "1.so")]


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
def test_every_format_says_what_broke(
    database: Path, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    abistore.history("libbase", database=database)
    assert command(["archive", "report", "--since", since(), "--format", form]) == 0
    printed = capsys.readouterr().out
    assert "base_gone" in printed.replace("\\", "")
    assert "libuser" in printed
    path = tmp_path / "report"
    assert command(["archive", "report", "--since", since(), "--format", form, "-o", str(path)]) == 0
    assert "base_gone" in path.read_text().replace("\\", "")
