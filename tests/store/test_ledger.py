"""The ledger of a release: against which baselines it is judged, and what several releases tell together."""

from __future__ import annotations

from pathlib import Path

import msgspec

from abistore.model.declarations import Name
from abistore.model.findings import Verdict
from abistore.model.history import IngestRequest, LineKey
from abistore.model.shapes import AnyShape, Function, Library, Named, Symbol
from abistore.model.snapshot import ReleaseTag, Snapshot
from abistore.model.statements import Ledger, worst_of
from abistore.report.ledgers import ledger_tables
from abistore.service.blame import MOST_MEASURED
from abistore.service.ledger import ledger_of
from abistore.service.ruling import ruling
from abistore.store.store import Store
from tests.store.builders import EXPORTED, INT, SELF, X86, function, record, snapshot, struct

LINE = LineKey("libgeo", str(X86))
RUN = function("run")


def release(*exports: str, fields: str | None = "ab", soname: int = 1) -> Snapshot:
    """A library whose run() takes a struct of these fields; stripped where there are none."""
    symbols: dict[Name, AnyShape] = {function(name): EXPORTED for name in ("run", *exports)}
    symbols[SELF] = Library("shared", f"libgeo.so.{soname}")
    if fields is None:
        return snapshot(repr((exports, soname)), symbols=symbols)
    layout: dict[Name, AnyShape] = {function(name): Function(name, INT, ()) for name in exports}
    layout |= {record("parcel"): struct(*fields), RUN: Function("run", INT, (Named(record("parcel")),))}
    return snapshot(repr((exports, soname)), symbols=symbols, layout=layout)


def boxed(fields: str | None, *exports: str, layout: bool = True) -> Snapshot:
    """A library that also exports ``pack``, which takes a struct ``box`` of these fields; without it if ``None``."""
    plain = release(*exports)
    if fields is None:
        return plain
    pack = function("pack")
    entries = {facet: dict(names) for facet, names in plain.entries.items()}
    entries["symbol"][pack] = (EXPORTED,)
    entries["layout"] |= {record("box"): (struct(*fields),), pack: (Function("pack", INT, (Named(record("box")),)),)}
    symbols = {name: shapes[0] for name, shapes in entries["symbol"].items()}
    return snapshot(f"{fields}{exports}", symbols=symbols, layout=entries["layout"] if layout else None)


def stored(address: str, *releases: Snapshot) -> Store:
    store = Store.open(address, write=True)
    for number, each in enumerate(releases):
        store.ingest(each, IngestRequest(f"1.{number}"))
    return store


def told(ledger: Ledger) -> list[tuple[str, str, str]]:
    """Each standing: its roles, the baseline, and the verdict."""
    return [
        (
            ", ".join(each.channel or each.role for each in standing.roles),
            standing.against.version,
            standing.verdict.name if standing.verdict is not None else standing.unjudged,
        )
        for standing in ledger.standings
    ]


def test_a_release_stands_against_the_previous_one_the_sonames_first_and_each_channel(address: str) -> None:
    with stored(address, release("f"), release("f", "g"), release("f", "g", "h"), release("g", "h")) as store:
        store.set_baseline(LINE, "main", "1.2")
        store.set_baseline(LINE, "lts", "1.1")
        store.set_baseline(LINE, "main", "1.3")
        ledger = ledger_of(store, store.resolve("libgeo@1.3"))
        assert told(ledger) == [
            ("previous, main", "1.2", "BREAKING"),
            ("soname", "1.0", "BREAKING"),
            ("lts", "1.1", "BREAKING"),
        ]
        assert (ledger.worst, ledger.channels) == (Verdict.BREAKING, ("main",))
        second = ledger_of(store, store.resolve("libgeo@1.1"))
        assert (told(second), second.channels) == ([("previous, soname", "1.0", "COMPATIBLE")], ("lts",))
        first = ledger_of(store, store.resolve("libgeo@1.0"))
        assert (first.standings, first.worst) == ((), None)


def test_exports_that_came_and_went_are_measured_by_the_last_release_that_had_them(address: str) -> None:
    steps = (release(), release("f", "g"), release("g"), release("h"), release("h"))
    with stored(address, *steps) as store:
        ledger = ledger_of(store, store.resolve("libgeo@1.4"))
        assert told(ledger) == [
            ("previous", "1.3", "NO_CHANGE"),
            ("soname", "1.0", "COMPATIBLE"),
            ("last_with", "1.1", "BREAKING"),
            ("last_with", "1.2", "BREAKING"),
        ]
        assert ledger.worst is Verdict.BREAKING
        assert ledger.remarks == (
            "1.4 lacks f, which 1.1 added and 1.2 removed: programs built against 1.1 may need it",
            "1.4 lacks g, which 1.1 added and 1.3 removed: programs built against 1.1 to 1.2 may need it",
        )
        assert [row[:2] for row in told(ledger_of(store, store.resolve("libgeo@1.2")))] == [
            ("previous", "1.1"),
            ("soname", "1.0"),
        ]


def test_an_export_that_is_back_or_of_another_soname_or_unseen_is_not_gone(address: str) -> None:
    came_back = (release(), release("g"), release(), release("g"))
    with stored(address, *came_back) as store:
        assert [row[0] for row in told(ledger_of(store, store.resolve("libgeo@1.3")))] == ["previous", "soname"]
        store.ingest(release(soname=2), IngestRequest("2.0"))
        store.ingest(release(soname=2), IngestRequest("2.1"))
        store.ingest(release("k", soname=2), IngestRequest("2.2"))
        assert [row[0] for row in told(ledger_of(store, store.resolve("libgeo@2.2")))] == ["previous", "soname"]


def test_a_release_is_measured_by_the_latest_of_many_that_were_the_last_with_exports(address: str) -> None:
    steps = [release(), *(release(f"f{number}") for number in range(MOST_MEASURED + 2)), release()]
    with stored(address, *steps, release()) as store:
        latest = store.resolve(f"libgeo@1.{len(steps)}")
        ledger = ledger_of(store, latest)
        measured = [each.against.version for each in ledger.standings if each.role == "last_with"]
        assert measured == [f"1.{number}" for number in range(3, MOST_MEASURED + 3)]
        assert ledger.remarks[-1].startswith("2 earlier releases broke the previous one: `abistore blame --restored`")


def test_what_nobody_outside_can_need_is_no_baseline_when_it_went(address: str, tmp_path: Path) -> None:
    rules = tmp_path / "mine.yaml"
    rules.write_text("suppressions:\n  - symbol: inner\n    reason: ours\n")
    by = ruling(None, [str(rules)])
    with stored(address, release(), release("inner"), release(), release()) as store:
        assert "last_with" in [row[0] for row in told(ledger_of(store, store.resolve("libgeo@1.3")))]
        ledger = ledger_of(store, store.resolve("libgeo@1.3"), by)
        assert [row[0] for row in told(ledger)] == ["previous", "soname"]
        assert (ledger.worst, ledger.remarks) == (Verdict.NO_CHANGE, ())


def test_a_bumped_soname_begins_anew_and_a_baseline_that_is_no_longer_supported_does_not_count(address: str) -> None:
    with stored(address, release("f"), release(soname=2), release("f", soname=2)) as store:
        store.set_baseline(LINE, "lts", "1.0")
        store.set_baseline(LINE, "old", "1.0")
        store.set_baseline(LINE, "old", None)
        ledger = ledger_of(store, store.resolve("libgeo@1.2"))
        assert [row[:2] for row in told(ledger)] == [("previous, soname", "1.1"), ("lts", "1.0")]
        assert ledger.worst is Verdict.COMPATIBLE_WITH_RISK
        store.tag(store.resolve("libgeo@1.0"), [ReleaseTag("eol")], "ana")
        ledger = ledger_of(store, store.resolve("libgeo@1.2"))
        assert [each.supported for each in ledger.standings] == [True, False]
        assert ledger.worst is Verdict.COMPATIBLE


def test_two_compatible_steps_that_break_together_are_caught_and_said(address: str) -> None:
    with stored(address, release(), release(fields=None), release(fields="abc")) as store:
        ledger = ledger_of(store, store.resolve("libgeo@1.2"))
        assert [row[1:] for row in told(ledger)][1] == ("1.0", "BREAKING")
        assert ledger.worst is Verdict.BREAKING
        (said,) = ledger.remarks
        assert said.startswith("1.0 -> 1.2 is BREAKING though each step is compatible: parcel (1.1 shows less")


def test_what_a_release_restores_is_said_whether_or_not_a_baseline_had_it(address: str) -> None:
    steps = (release("f"), release("f", "g"), release("f"), release("f", "g"))
    with stored(address, *steps) as store:
        assert ledger_of(store, store.resolve("libgeo@1.3")).remarks == ("1.3 restores g, which 1.2 removed",)
        assert ledger_of(store, store.resolve("libgeo@1.2")).remarks == ()


def test_a_layout_that_is_as_it_was_is_restored_and_one_that_nobody_sees_is_not(address: str) -> None:
    with stored(address, release(), release("f"), release(fields="abc"), release()) as store:
        store.set_baseline(LINE, "lts", "1.1")
        ledger = ledger_of(store, store.resolve("libgeo@1.3"))
        expected = "1.3 restores parcel for programs built against 1.0, which 1.2 breaks"
        assert expected in ledger.remarks
        store.ingest(release(fields=None), IngestRequest("1.2.1"))
        unseen = ledger_of(store, store.resolve("libgeo@1.2.1"))
        assert not any("parcel" in said for said in unseen.remarks)


def test_an_unjudged_baseline_is_never_taken_for_a_compatible_one(address: str) -> None:
    with stored(address, release("f"), release("f", "g"), release("f", "g", "h")) as store:
        found = ledger_of(store, store.resolve("libgeo@1.2"))
        assert found.worst is Verdict.COMPATIBLE
    assert worst_of([Verdict.COMPATIBLE, None]) is None
    assert worst_of([Verdict.BREAKING, None]) is Verdict.BREAKING


def test_a_symbol_that_is_another_object_is_no_return(address: str) -> None:
    changed = snapshot("x", symbols={RUN: Symbol("variable"), function("f"): EXPORTED})
    with stored(address, release("f"), changed, release("f")) as store:
        assert store.returned_exports(LINE, store.releases("libgeo")) == ()


def test_a_type_that_came_and_changed_between_is_measured_by_the_last_release_that_had_it_so(address: str) -> None:
    steps = (boxed(None), boxed("ab"), boxed("ab", "f"), boxed("abc", "f"), boxed("abc", "f", "g"))
    with stored(address, *steps) as store:
        ledger = ledger_of(store, store.resolve("libgeo@1.4"))
        assert told(ledger) == [
            ("previous", "1.3", "COMPATIBLE"),
            ("soname", "1.0", "COMPATIBLE"),
            ("last_with", "1.2", "BREAKING"),
        ]
        assert ledger.worst is Verdict.BREAKING
        assert ledger.remarks == ("1.4 breaks box for programs built against 1.1 to 1.2: 1.3 changed it",)
        assert [row[0] for row in told(ledger_of(store, store.resolve("libgeo@1.3")))] == ["previous", "soname"]
        assert [row[0] for row in told(ledger_of(store, store.resolve("libgeo@1.2")))] == ["previous", "soname"]


def test_a_layout_that_was_another_for_a_while_leaves_programs_of_that_while_behind(address: str) -> None:
    steps = (release(), release(fields="abc"), release(), release("f"))
    with stored(address, *steps) as store:
        assert told(ledger_of(store, store.resolve("libgeo@1.3"))) == [
            ("previous", "1.2", "COMPATIBLE"),
            ("soname", "1.0", "COMPATIBLE"),
            ("last_with", "1.1", "BREAKING"),
        ]


def test_a_type_that_is_back_or_broken_anyway_is_no_further_baseline(address: str) -> None:
    with stored(address, boxed(None), boxed("ab"), boxed("abc"), boxed("ab"), boxed("ab", "f")) as store:
        ledger = ledger_of(store, store.resolve("libgeo@1.4"))
        assert told(ledger)[2:] == [("last_with", "1.2", "BREAKING")]
    grown = (release(), release(fields="abc"), release(fields="abcd"), release("f", fields="abcd"))
    with stored(address) as store:
        for number, each in enumerate(grown):
            store.ingest(msgspec.structs.replace(each, library="libgrown"), IngestRequest(f"1.{number}"))
        ledger = ledger_of(store, store.resolve("libgrown@1.3"))
        assert [row[0] for row in told(ledger)] == ["previous", "soname"]
        assert ledger.worst is Verdict.BREAKING


def test_a_change_that_hides_behind_a_stripped_release_is_found(address: str) -> None:
    steps = (boxed(None), boxed("ab"), boxed("ab", "f", layout=False), boxed("abc", "f"), boxed("abc", "f", "g"))
    with stored(address, *steps) as store:
        ledger = ledger_of(store, store.resolve("libgeo@1.4"))
        assert ("last_with", "1.1", "BREAKING") in told(ledger)
        late = ledger_of(store, store.resolve("libgeo@1.3"))
        assert ("last_with", "1.1", "BREAKING") in told(late)


def test_programs_of_a_supported_release_are_not_forgotten_beside_an_unsupported_one(address: str) -> None:
    """The first with the SONAME, the last with an export, the previous release: each may be one that was taken back."""
    with stored(address, release("f"), release("f"), release(), release("g"), release("g", "h")) as store:
        store.tag(store.resolve("libgeo@1.0"), [ReleaseTag("eol")], "ana")
        ledger = ledger_of(store, store.resolve("libgeo@1.4"))
        assert [(row[0], row[1], each.supported) for row, each in zip(told(ledger), ledger.standings, strict=True)] == [
            ("previous", "1.3", True),
            ("soname", "1.1", True),
            ("soname", "1.0", False),
        ]
        assert ledger.worst is Verdict.BREAKING
        store.tag(store.resolve("libgeo@1.3"), [ReleaseTag("withdrawn")], "ana")
        again = ledger_of(store, store.resolve("libgeo@1.4"))
        assert [(row[0], row[1]) for row in told(again)][:2] == [("previous", "1.2"), ("previous", "1.3")]
        assert [str(each.roles[0]) for each in again.standings][:4] == [
            "previous release",
            "previous release (passed over)",
            "first with this SONAME",
            "first with this SONAME (passed over)",
        ]
        rows = {row[0]: row[-1] for table in ledger_tables([again]) for row in table.rows}
        assert (rows["1.3"], rows["1.0"]) == ("withdrawn", "no longer supported")


def test_a_release_that_was_passed_over_is_not_said_to_be_broken_by_the_one_before_it(address: str) -> None:
    with stored(address, release("f"), release("f", "g"), release("f", "g")) as store:
        store.tag(store.resolve("libgeo@1.1"), [ReleaseTag("withdrawn")], "ana")
        ledger = ledger_of(store, store.resolve("libgeo@1.2"))
        assert [each.against.version for each in ledger.standings] == ["1.0", "1.1"]
        assert ledger.remarks == ()


def without_soname(*exports: str, file: str = "libgeo.so") -> Snapshot:
    made = release(*exports)
    entries = {facet: dict(names) for facet, names in made.entries.items()}
    entries["symbol"][SELF] = (Library("shared", None),)
    return msgspec.structs.replace(
        made, entries=entries, provenance=msgspec.structs.replace(made.provenance, file=file)
    )


def test_without_a_soname_the_first_release_of_the_same_file_name_stands_for_all_programs(address: str) -> None:
    steps = (without_soname(), without_soname("f"), without_soname(), without_soname("h"))
    with stored(address, *steps) as store:
        ledger = ledger_of(store, store.resolve("libgeo@1.3"))
        assert told(ledger) == [
            ("previous", "1.2", "COMPATIBLE"),
            ("file_name", "1.0", "COMPATIBLE"),
            ("last_with", "1.1", "BREAKING"),
        ]
        assert str(ledger.standings[1].roles[0]) == "first with this file name"
        store.ingest(without_soname("h", file="libgeo-1.4.so"), IngestRequest("1.4"))
        other = ledger_of(store, store.resolve("libgeo@1.4"))
        assert [row[0] for row in told(other)] == ["previous"]
        assert other.remarks == (
            "1.4 has no SONAME: programs record its file name, libgeo-1.4.so, which no earlier release has",
        )


def test_programs_of_another_soname_between_are_not_left_behind(address: str) -> None:
    """A SONAME that goes forth and back: 1.1 is not loaded in place of 1.2, and what it alone had is not missed."""
    steps = (release("f"), release("f", "g"), release("f", "k", soname=2), release("f", "h"))
    with stored(address, *steps) as store:
        ledger = ledger_of(store, store.resolve("libgeo@1.3"))
        assert [row[:2] for row in told(ledger)] == [("previous", "1.2"), ("soname", "1.0"), ("last_with", "1.1")]
        assert ledger.remarks[-1] == (
            "1.3 lacks g, which 1.1 added and 1.3 removed: programs built against 1.1 may need it"
        )


def test_builds_between_releases_measure_no_release(address: str) -> None:
    """What came and went between two releases broke nobody, and a release is no step from the last commit."""
    steps = (
        ("1.0", release("f")),
        ("1.0-3-gabc1234", release("f", "g")),
        ("1.0-5-gabc1235", release("f", "h")),
        ("1.1", release("f", "h")),
    )
    with Store.open(address, write=True) as store:
        for version, made in steps:
            store.ingest(made, IngestRequest(version))
        latest = ledger_of(store, store.resolve("libgeo@1.1"))
        assert told(latest) == [("previous, soname", "1.0", "COMPATIBLE")]
        assert latest.remarks == ()
        build = ledger_of(store, store.resolve("libgeo@1.0-5-gabc1235"))
        assert [row[:2] for row in told(build)] == [("previous", "1.0-3-gabc1234"), ("soname", "1.0")]
        store.set_baseline(LINE, "main", "1.0-3-gabc1234")
        gated = ledger_of(store, store.resolve("libgeo@1.1"))
        assert told(gated)[-1] == ("main", "1.0-3-gabc1234", "BREAKING")
