"""What environments have, and what may ship there."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

import abistore
from abistore.errors import SnapshotNotFound, UsageError
from abistore.interface import CanShip, IngestPlan, OpenStore, open_store
from abistore.model.history import IngestRequest
from abistore.model.snapshot import Evidence
from abistore.store.store import Store
from tests.build import build_library
from tests.laws.histories import history
from tests.shipped import ADDED, BASE, FRESH_MID, GROWN, MID, RELEASES, base, mid, program, user_of_base, user_of_mid
from tests.store.builders import EXPORTED, function, snapshot

ENV = "production"


def stored(store: OpenStore, library: Path, name: str, version: str) -> None:
    (done,) = abistore.ingest(library, IngestPlan(version=version, library=name), database=store)
    assert done.status == "stored", done


@pytest.fixture
def store(tmp_path: Path) -> OpenStore:
    """A store with both libraries and their programs, and an environment with the first version of each."""
    opened = open_store(tmp_path / "store.db", create=True)
    for version, source in RELEASES.items():
        stored(opened, base(source), "libbase", version)
    stored(opened, mid(), "libmid", "1.0")
    abistore.add_consumers([user_of_mid(tmp_path / "a"), user_of_base(tmp_path / "b")], database=opened)
    abistore.env_record(ENV, ["libbase@1.0", "libmid@1.0", "app", "keeper"], database=opened)
    return opened


def ask(store: OpenStore, *releases: str | Path, beside: bool = False) -> CanShip:
    return abistore.env_can_ship(releases, ENV, database=store, beside=beside)


def states(found: CanShip) -> dict[str, str]:
    return {each.label: each.state for each in found.broken}


def labels(store: OpenStore, name: str = ENV) -> list[str]:
    (found,) = abistore.env_list(name, database=store)
    return [each.label for each in found.members]


def test_a_release_that_breaks_a_library_by_a_struct_breaks_what_uses_that_library(store: OpenStore) -> None:
    found = ask(store, "libbase@2.0")
    assert (found.outcome, found.exit_code, found.releases[0].users) == ("fail", 4, 2)
    assert states(found) == {"libmid@1.0": "breaks", "app": "uses-broken"}
    assert found.broken[1].through == "libmid@1.0"
    assert "point" in {each.symbol for each in found.broken[0].broken_by}
    assert (found.releases[0].replaces, found.would_do, found.untried) == (("1.0",), ("1.0", "1.1"), 0)


def test_a_removed_symbol_breaks_what_imports_it(store: OpenStore) -> None:
    found = ask(store, "libbase@3.0")
    assert states(found) == {"libmid@1.0": "breaks", "app": "uses-broken"}
    assert [(each.sort, each.symbol) for each in found.broken[0].broken_by] == [("symbol", "gone")]


def test_a_compatible_release_may_ship(store: OpenStore) -> None:
    found = ask(store, "libbase@1.1")
    assert (found.outcome, found.exit_code, found.broken, found.unknown, found.would_do) == ("pass", 0, (), (), ())


@pytest.mark.parametrize("reference", ["libbase@1.0", "libmid@1.0"])
def test_what_is_recorded_may_ship(store: OpenStore, reference: str) -> None:
    assert ask(store, reference).outcome == "pass"


def test_what_was_broken_before_does_not_count(store: OpenStore) -> None:
    abistore.env_record(ENV, ["libbase@3.0"], database=store)
    stored(store, base(RELEASES["3.0"] + "int later(void) { return 3; }\n"), "libbase", "3.1")
    assert ask(store, "libbase@3.1").outcome == "pass"


def test_beside_the_recorded_version_nothing_breaks_that_loads_that(store: OpenStore) -> None:
    stored(store, base(GROWN, soname="libbase.so.2"), "libbase", "4.0")
    assert states(ask(store, "libbase@4.0")) == {
        "libmid@1.0": "asks-for-another",
        "keeper": "asks-for-another",
        "app": "uses-broken",
    }
    assert ask(store, "libbase@4.0", beside=True).outcome == "pass"
    abistore.env_record(ENV, ["libbase@4.0"], beside=True, database=store)
    assert labels(store) == ["libbase@1.0", "libbase@4.0", "libmid@1.0", "app", "keeper"]
    assert ask(store, "libbase@1.1").releases[0].replaces == ("1.0",)


def test_which_of_two_names_is_replaced_has_to_be_said(store: OpenStore) -> None:
    for version, soname in (("4.0", "libbase.so.2"), ("5.0", "libbase.so.3")):
        stored(store, base(GROWN, soname=soname), "libbase", version)
    abistore.env_record(ENV, ["libbase@4.0"], beside=True, database=store)
    with pytest.raises(UsageError, match="which one does it replace"):
        abistore.env_record(ENV, ["libbase@5.0"], database=store)
    assert "libbase@5.0" not in labels(store)


def test_what_a_release_itself_needs_has_to_be_there(store: OpenStore) -> None:
    stored(store, mid(FRESH_MID, ADDED), "libmid", "2.0")
    found = ask(store, "libmid@2.0")
    assert states(found) == {"libmid@2.0": "breaks", "app": "uses-broken"}
    assert [each.symbol for each in found.broken[0].broken_by] == ["fresh"]
    abistore.env_record(ENV, ["libbase@1.1"], database=store)
    assert ask(store, "libmid@2.0").outcome == "pass"


def test_releases_that_ship_together_are_judged_as_they_run_together(store: OpenStore) -> None:
    stored(store, mid(FRESH_MID, ADDED), "libmid", "2.0")
    assert ask(store, "libmid@2.0").outcome == "fail"
    found = ask(store, "libmid@2.0", "libbase@1.1")
    assert (found.outcome, states(found), found.unknown) == ("pass", {}, ())
    assert [(each.library, each.replaces, each.users) for each in found.releases] == [
        ("libmid", ("1.0",), 1),
        ("libbase", ("1.0",), 1),
    ]
    assert found.headline == (
        "libbase@1.1, libmid@2.0 may ship to production: they break none of 2 members that use them"
    )


def test_a_library_that_is_built_anew_ships_with_the_struct_that_it_was_built_with(store: OpenStore) -> None:
    assert states(ask(store, "libbase@2.0"))["libmid@1.0"] == "breaks"
    stored(store, mid(MID.replace("int x, y;", "long x, y;"), GROWN), "libmid", "1.0.1")
    assert ask(store, "libbase@2.0", "libmid@1.0").outcome == "fail"
    found = ask(store, "libbase@2.0", "libmid@1.0.1")
    assert (found.outcome, states(found)) == ("pass", {})
    assert "libmid@1.0.1 meets changes of point: it must be built with libbase@2.0" in found.not_checked


def test_a_new_build_still_needs_what_the_other_one_takes_away(store: OpenStore) -> None:
    stored(store, mid(MID + "int thrice(int x) { return 3 * x; }\n"), "libmid", "1.1")
    found = ask(store, "libmid@1.1", "libbase@3.0")
    assert states(found) == {"libmid@1.1": "breaks", "app": "uses-broken"}
    assert {each.symbol for each in found.broken[0].broken_by} == {"gone"}


def test_a_symbol_that_moved_to_a_library_which_the_new_one_loads_breaks_nobody(store: OpenStore) -> None:
    moved = build_library("int gone(void) { return 1; }", name="libmoved.so", soname="libmoved.so.1", flags=("-g",))
    linked = ("-g", "-O1", "-Wl,--no-as-needed", str(moved))
    needing = build_library(RELEASES["3.0"], soname="libbase.so.1", name="libbase.so", flags=linked)
    stored(store, moved, "libmoved", "1.0")
    stored(store, needing, "libbase", "3.1")
    assert ask(store, "libbase@3.0", "libmoved@1.0").outcome == "fail"
    assert states(ask(store, "libbase@3.1")) == {"libmid@1.0": "breaks", "app": "uses-broken"}
    found = ask(store, "libbase@3.1", "libmoved@1.0")
    assert (found.outcome, states(found)) == ("pass", {})


def test_who_breaks_is_told_to_which_loaded_library_a_symbol_moved(store: OpenStore, tmp_path: Path) -> None:
    moved = build_library("int gone(void) { return 1; }", name="libmoved.so", soname="libmoved.so.1", flags=("-g",))
    linked = ("-g", "-O1", "-Wl,--no-as-needed", str(moved))
    stored(store, moved, "libmoved", "1.0")
    stored(store, build_library(RELEASES["3.0"], soname="libbase.so.1", flags=linked), "libbase", "3.1")
    user = program(tmp_path / "c", "user", "int gone(void); int main(void) { return gone(); }\n", base())
    abistore.add_consumers([user], database=store)
    details = {
        version: [
            each.detail
            for one in abistore.consumers_broken(f"libbase@{version}", database=store).consumers
            for each in one.broken_by
            if each.symbol == "gone"
        ]
        for version in ("3.0", "3.1")
    }
    assert details == {"3.0": ["not exported"], "3.1": ["not exported; libmoved exports it and is loaded too"]}


def test_two_releases_of_one_line_do_not_ship_together(store: OpenStore) -> None:
    with pytest.raises(UsageError, match=r"libbase: two releases, 1\.1 and 2\.0"):
        ask(store, "libbase@1.1", "libbase@2.0")


@pytest.mark.parametrize("version", ["1.1", "2.0", "3.0"])
def test_a_file_is_judged_as_it_would_be_stored(store: OpenStore, version: str) -> None:
    file, kept = ask(store, base(RELEASES[version])), ask(store, f"libbase@{version}")
    assert (file.outcome, file.broken, file.unknown) == (kept.outcome, kept.broken, kept.unknown)
    assert file.releases == (replace(kept.releases[0], version="build", file="libbase.so"),)
    assert file.would_do == kept.would_do


def test_a_file_and_a_stored_release_ship_together(store: OpenStore) -> None:
    built = mid(FRESH_MID, ADDED)
    assert states(ask(store, built)) == {"libmid@build": "breaks", "app": "uses-broken"}
    assert ask(store, built, "libbase@1.1").outcome == "pass"
    assert [each.version for each in abistore.releases_with_outcomes("libmid", database=store)] == ["1.0"]


def test_a_dependency_that_is_not_recorded_cannot_be_judged(store: OpenStore) -> None:
    abistore.env_remove(ENV, ["libbase"], database=store)
    found = ask(store, "libbase@1.1")
    assert (found.outcome, found.exit_code) == ("undecided", 72)
    assert any("libmid@1.0 uses libbase" in each for each in found.unknown)
    abistore.env_record("new", ["app"], database=store)
    found = abistore.env_can_ship("libmid@1.0", "new", database=store)
    assert found.outcome == "undecided"
    assert "libmid@1.0 needs libbase.so.1, which is not recorded in new" in found.unknown


def test_types_that_nobody_can_see_leave_it_undecided(store: OpenStore) -> None:
    stored(store, base(BASE, debug=False), "libbase", "1.2")
    found = ask(store, "libbase@1.2")
    assert found.outcome == "undecided"
    assert any("no debug information" in each for each in found.unknown)
    assert found.would_do == ("1.0", "1.1")


def test_a_program_that_is_stored_no_longer_leaves_it_undecided(store: OpenStore) -> None:
    abistore.remove_consumers(["keeper"], database=store)
    found = ask(store, "libbase@1.1")
    assert (found.outcome, found.unknown) == ("undecided", ("keeper: what it imports is stored no longer",))


def test_a_release_that_nobody_uses_may_ship(store: OpenStore) -> None:
    abistore.env_record("alone", ["libbase@1.0"], database=store)
    assert abistore.env_can_ship("libbase@2.0", "alone", database=store).outcome == "pass"


def test_recording_again_replaces_and_keeps_what_was(store: OpenStore) -> None:
    done = abistore.env_record(ENV, ["libbase@1.1", "keeper"], actor="ana", database=store)
    assert [each.label for each in done.replaced] == ["libbase@1.0"]
    assert [each.label for each in done.known] == ["keeper"]
    (found,) = abistore.env_list(ENV, database=store)
    assert [(each.label, each.ended_by) for each in found.earlier] == [("libbase@1.0", "ana")]
    assert [each.action for each in abistore.db_audit(database=store)][:1] == ["env-record"]
    assert abistore.db_check(database=store) == ()


def test_what_is_not_recorded_cannot_be_removed(store: OpenStore) -> None:
    with pytest.raises(SnapshotNotFound, match=r"libbase@1\.1: not recorded"):
        abistore.env_remove(ENV, ["app", "libbase@1.1"], database=store)
    assert "app" in labels(store)
    with pytest.raises(SnapshotNotFound, match="no such environment"):
        abistore.env_can_ship("libbase@1.0", "nowhere", database=store)


def test_an_environment_does_not_differ_from_itself(store: OpenStore) -> None:
    assert abistore.env_diff(ENV, ENV, database=store).is_empty
    abistore.env_record("staging", ["libbase@1.1", "libmid@1.0", "keeper"], database=store)
    found = abistore.env_diff(ENV, "staging", database=store)
    assert [each.label for each in found.removed] == ["app"]
    assert [(each.name, each.old[0].version, each.new[0].version) for each in found.changed] == [
        ("libbase", "1.0", "1.1")
    ]


def test_drift_is_a_changed_a_missing_and_a_foreign_file(store: OpenStore, tmp_path: Path) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    installed = {"libbase.so": base(), "libmid.so": mid(), "app": tmp_path / "a" / "app"}
    for name, source in installed.items():
        shutil.copy(source, folder / name)
    shutil.copy(tmp_path / "b" / "keeper", folder / "keeper")
    (folder / "notes.txt").write_text("no binary")
    (folder / "link.so").symlink_to("libbase.so")
    assert abistore.env_drift(folder, ENV, database=store).files == ()
    shutil.copy(base(ADDED), folder / "libbase.so")
    (folder / "keeper").unlink()
    shutil.copy(base(GROWN), folder / "foreign.so")
    found = abistore.env_drift(folder, ENV, database=store)
    assert [(each.state, each.path, each.recorded, each.is_now) for each in found.files] == [
        ("changed", "libbase.so", "libbase@1.0", "libbase@1.1"),
        ("missing", "keeper", "keeper", ""),
        ("unknown", "foreign.so", "", "libbase@2.0"),
    ]
    assert found.as_recorded == 2


def test_a_library_of_a_dump_without_imports_leaves_it_undecided(store: OpenStore) -> None:
    lacking = Evidence("symbol", "full", unrecorded=("Import", "Library.needed"))
    dumped = snapshot("dump", library="libdump", symbols={function("f"): EXPORTED}, layout={})
    with Store.open(store.where, write=True) as opened:
        opened.ingest(replace(dumped, evidence=(lacking, *dumped.evidence[1:])), IngestRequest("1.0"))
    abistore.env_record(ENV, ["libdump@1.0"], database=store)
    found = ask(store, "libbase@1.1")
    reason = "libdump@1.0: its dependencies are not stored: it was read from another tool's dump"
    assert (found.outcome, found.unknown) == ("undecided", (reason,))


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_recorded_may_ship_and_does_not_differ_from_itself(seed: int, tmp_path: Path) -> None:
    """A law of random histories: each release in turn, beside the others or not."""
    database = tmp_path / "drawn.db"
    with Store.open(database, write=True) as opened:
        releases = [
            opened.ingest(each, IngestRequest(f"{number}.0", library="lib")).release
            for number, each in enumerate(history(seed, 6))
        ]
    draw = Random(seed)
    for release in releases:
        abistore.env_record(ENV, [release.reference], beside=draw.random() < 0.5, database=database)
        (found,) = abistore.env_list(ENV, database=database)
        assert release.version in {each.version for each in found.members}
        for each in found.members:
            assert abistore.env_can_ship(each.label, ENV, database=database).outcome == "pass"
        assert abistore.env_diff(ENV, ENV, database=database).is_empty
    with Store.open(database, write=False) as opened:
        assert opened.check() == ()


def test_a_dependency_that_was_never_recorded_decides_only_where_more_is_asked_of_it(store: OpenStore) -> None:
    abistore.env_record("partial", ["libmid@1.0", "app"], database=store)
    for version, source in (("1.1", MID + "int thrice(int x) { return 3 * x; }\n"), ("1.2", FRESH_MID)):
        stored(store, mid(source, ADDED), "libmid", version)
    assert abistore.env_can_ship("libmid@1.1", "partial", database=store).outcome == "pass"
    found = abistore.env_can_ship("libmid@1.2", "partial", database=store)
    assert found.unknown == ("libmid@1.2 needs libbase.so.1, which is not recorded in partial",)
