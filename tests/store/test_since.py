"""Since when, until when: every answer is what comparing, or loading, the releases one by one tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

import pytest

from abistore.diffing.judge.judged import compare
from abistore.errors import UsageError
from abistore.model.declarations import Facet, Name
from abistore.model.findings import Finding, Impact, Verdict, identity, place
from abistore.model.shapes import Foreign
from abistore.model.snapshot import Snapshot, evidence_of
from abistore.service import blame as blaming
from abistore.service import matrix as matrices
from abistore.service.bisect import broken_by, first_broken
from abistore.service.blame import blame
from abistore.service.inventory import exports, types
from abistore.service.ledger import ledger_of
from abistore.service.matrix import ReleaseRange, compatible_range, matrix
from abistore.store.store import Store
from tests.laws.histories import history
from tests.store.test_ledger import boxed
from tests.store.test_ledger import release as released
from tests.store.test_ledger import stored as named
from tests.store.test_walking import stored

BREAKS = (Impact.API_BREAK, Impact.BREAKING)


def kept(address: str, seed: int, count: int) -> list[Snapshot]:
    """A random history, ingested in any order; its releases as they are stored, in release order."""
    random, releases = Random(seed), history(seed, count)
    with Store.open(address, write=True) as store:
        found = stored(store, releases, random.sample(range(count), count) if seed % 2 else None)
        return list(store.load_many(found))


def breaks(old: Snapshot, new: Snapshot) -> list[Finding]:
    return [each for each in every(compare(old, new).findings) if each.impact in BREAKS]


def every(findings: Sequence[Finding]) -> Iterator[Finding]:
    for each in findings:
        yield each
        yield from every(each.consequences)


@pytest.mark.parametrize("seed", (0, 2))
def test_each_cell_of_a_matrix_is_the_verdict_of_its_two_releases(
    seed: int, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases = kept(address, seed, 7)
    if seed == 2:
        monkeypatch.setattr(matrices, "MOST_HELD", 0)  # bands of two releases
    (found,) = matrix("lib", database=address, downgrades=True)
    for row, old in enumerate(releases):
        for column, new in enumerate(releases):
            verdict = None if row == column else compare(old, new).verdict
            assert found.verdicts[row][column] == verdict, (row, column)


def test_a_range_of_releases_has_the_same_cells_as_all_of_them(address: str) -> None:
    kept(address, 4, 7)
    (whole,) = matrix("lib", database=address)
    (part,) = matrix("lib", within=ReleaseRange("1.1", "1.5", last=3), database=address)
    assert [each.version for each in part.releases] == ["1.3", "1.4", "1.5"]
    assert part.verdicts == tuple(row[3:6] for row in whole.verdicts[3:6])
    assert whole.verdicts[4][2] is None
    with pytest.raises(UsageError, match=r"no release 9\.9"):
        matrix("lib", within=ReleaseRange("9.9"), database=address)
    with pytest.raises(UsageError, match=r"no release is between 1\.5 and 1\.1"):
        matrix("lib", within=ReleaseRange("1.5", "1.1"), database=address)


@pytest.mark.parametrize("seed", range(2))
def test_a_break_is_blamed_on_a_release_that_has_it_after_one_that_does_not(seed: int, address: str) -> None:
    releases = kept(address, seed, 9)
    (found,) = blame("lib", since="1.0", database=address)
    versions = {each.version: number for number, each in enumerate(releases)}
    last = compare(releases[0], releases[-1])
    expected = sorted(identity(each).hex() for each in last.findings if each.impact in BREAKS)
    assert sorted(each.change.id.partition("-")[0] for each in found.breaks) == expected
    for each in found.breaks:
        wanted, introduced = bytes.fromhex(each.change.place), versions[each.introduced.version]
        good = versions[each.last_good.version]
        assert wanted in {place(one) for one in breaks(releases[0], releases[introduced])}
        assert good == 0 or wanted not in {place(one) for one in breaks(releases[0], releases[good])}
        assert good + 1 + len(each.not_observed) == introduced
        if each.as_now_since is not None:
            same = identity_of(each.change.id)
            now = versions[each.as_now_since.version]
            assert now > introduced
            assert same in {identity(one) for one in breaks(releases[0], releases[now])}


def test_of_a_large_library_that_nobody_judged_the_latest_steps_are_looked_at(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The base is broken by the export that went; the box came later and grew, which only the step tells."""
    monkeypatch.setattr(blaming, "MOST_JUDGED", 1)
    with named(address, released("f"), boxed("ab"), boxed("abc")):
        (found,) = blame("libgeo", database=address)
    assert [each.change.symbol for each in found.breaks] == ["f"]
    assert [(each.change.symbol, each.introduced.version) for each in found.short_lived] == [("box", "1.2")]
    assert found.unjudged == 0


@pytest.mark.parametrize("seed", (4, 15, 22, 27, 30, 32))
def test_what_came_later_and_is_gone_or_another_breaks_who_was_built_between(seed: int, address: str) -> None:
    """What is told is true of the last release before the break, and no release between is broken worse than told."""
    releases = kept(address, seed, 9)
    (found,) = blame("lib", restored=True, database=address)
    places = {each.version: place for place, each in enumerate(releases)}
    start = places[found.base.version]
    known = broken_by(compare(releases[start], releases[-1]))
    for each in found.short_lived:
        broken = broken_by(compare(releases[places[each.last.version]], releases[-1]))
        assert any(
            name.spelling == each.change.symbol and impact > known.get(name, 0) for name, impact in broken.items()
        )
        assert places[each.first.version] <= places[each.last.version] < places[each.introduced.version]
    assert found.unjudged == 0
    with Store.open(address, write=False) as store:
        stored_ones = store.releases("lib")
        ledger = ledger_of(store, stored_ones[-1])
    for release, old in zip(stored_ones[start:-1], releases[start:-1], strict=True):
        if release.recorded_name == stored_ones[-1].recorded_name:
            assert ledger.worst is not None
            assert max(ledger.worst, Verdict.COMPATIBLE_WITH_RISK) >= compare(old, releases[-1]).verdict


def test_an_older_release_is_asked_for_its_own_breaks(address: str) -> None:
    with named(address, released("f", "g"), released("g"), released(), released(soname=2)):
        (old,) = blame("libgeo@1.1", database=address)
        (older,) = blame("libgeo@1.2", database=address)
        (latest,) = blame("libgeo", database=address)
    assert [(each.change.symbol, each.introduced.version) for each in old.breaks] == [("f", "1.1")]
    assert [(each.change.symbol, each.introduced.version) for each in older.breaks] == [("f", "1.1"), ("g", "1.2")]
    assert (old.latest.version, old.earlier, latest.latest.version, latest.breaks) == ("1.1", (), "1.3", ())


def test_accidents_under_earlier_sonames_are_listed_and_new_sonames_are_none(address: str) -> None:
    two = [released(*exports, soname=2) for exports in (("h", "i"), ("h",))]
    with named(address, released("f", "g"), released("g"), *two, released(soname=3)):
        (found,) = blame("libgeo", database=address)
        (since,) = blame("libgeo", since="1.4", database=address)
    assert [(each.release.version, each.previous, each.soname, each.verdict.name) for each in found.earlier] == [
        ("1.1", "1.0", "libgeo.so.1", "BREAKING"),
        ("1.3", "1.2", "libgeo.so.2", "BREAKING"),
    ]
    assert since.earlier == ()


def identity_of(called: str) -> bytes:
    return bytes.fromhex(called.partition("-")[0])


@pytest.mark.parametrize("seed", (0, 2))
def test_breaks_that_were_taken_back_are_told_with_their_releases(seed: int, address: str) -> None:
    releases = kept(address, seed, 8)
    (found,) = blame("lib", since="1.0", restored=True, database=address)
    seen = [set[bytes](), *({place(each) for each in breaks(releases[0], new)} for new in releases[1:])]
    expected = {
        (where.hex(), str(begins), str(ends))
        for ends, (before, after) in enumerate(pairwise(seen), 1)
        for where in before - after
        for begins in [next(number + 1 for number in range(ends - 2, -1, -1) if where not in seen[number])]
    }
    told = {(each.change.place, each.introduced.version[2:], each.restored.version[2:]) for each in found.restored}
    assert told == expected
    assert found.all_restored


@pytest.mark.parametrize("seed", range(2))
def test_the_first_broken_release_breaks_the_name_and_the_last_good_one_does_not(seed: int, address: str) -> None:
    releases = kept(address, seed, 9)
    names = sorted({name for name in releases[0].entries["layout"] if name in releases[-1].entries["layout"]})
    for name in names[::3]:
        found = next(each for each in first_broken(name.spelling, since="1.0", database=address) if each.name == name)
        good = next(number for number, each in enumerate(releases) if each.version == found.last_good.version)
        assert good == 0 or name not in {each.name for each in breaks(releases[0], releases[good])}
        if found.first_broken is None:
            assert name not in {each.name for each in breaks(releases[0], releases[-1])}
        else:
            broken = next(each for each in releases if each.version == found.first_broken.version)
            assert name in {each.name for each in breaks(releases[0], broken)}
            assert {each.id.partition("-")[0] for each in found.changes} == {
                identity(each).hex() for each in breaks(releases[0], broken) if each.name == name
            }


def test_a_program_runs_on_the_releases_up_to_the_first_that_breaks_it(address: str) -> None:
    releases = kept(address, 5, 8)
    found = compatible_range("lib@1.3", database=address)
    verdicts = {new.version: compare(releases[3], new).verdict for new in releases if new.version != "1.3"}
    assert {each.version: each.verdict for each in found.releases} == verdicts
    up, down = (found.runs_up_to, found.needs_at_least)
    for last, step in ((up, 1), (down, -1)):
        fits = 3
        while 0 <= fits + step < 8 and verdicts[f"1.{fits + step}"].name != "BREAKING":
            fits += step
        assert last == f"1.{fits}"


def run_start(releases: Sequence[Snapshot], facets: Sequence[Facet], name: Name, last: int) -> int:
    """The release since which the name is there without a gap, as far as releases show these facets."""
    since = last
    for number in range(last, -1, -1):
        blind = all(evidence_of(releases[number].evidence, facet).state == "missing" for facet in facets)
        if any(name in releases[number].entries.get(facet, {}) for facet in facets):
            since = number
        elif not blind:
            break
    return since


@pytest.mark.parametrize("seed", range(2))
def test_what_is_in_a_release_is_there_since_the_release_that_says_so(seed: int, address: str) -> None:
    releases = kept(address, seed, 8)
    for last in (7, 4):
        shown = releases[last]
        found = exports(f"lib@1.{last}", database=address)
        names = {name for name in shown.entries["symbol"] if name.kind in ("function", "variable")}
        assert {each.name for each in found.items} == names
        for each in found.items:
            since = run_start(releases, ("symbol",), each.name, last)
            assert each.since == f"1.{since}"
            assert each.first_stored == (since == 0)
            assert each.changed == f"1.{changed(releases, each.name, since, last)}"
        described = types(f"lib@1.{last}", database=address)
        expected = {
            name
            for facet in ("layout", "source")
            for name in shown.entries.get(facet, {})
            if name.kind in ("record", "enum", "alias")
            and not any(isinstance(shape, Foreign) for shape in shown.described(name))
        }
        assert {each.name for each in described.items} == expected


def changed(releases: Sequence[Snapshot], name: Name, since: int, last: int) -> int:
    """The last release in which anything of the name differs from the one before, facet by facet."""
    found = since
    facets: tuple[Facet, ...] = ("symbol", "layout", "source")
    for facet in facets:
        shapes, start = releases[last].entries.get(facet, {}).get(name), last
        if shapes is None:
            continue
        for number in range(last, -1, -1):
            if evidence_of(releases[number].evidence, facet).state == "missing":
                continue
            if releases[number].entries.get(facet, {}).get(name) != shapes:
                break
            start = number
        found = max(found, start)
    return found


def test_patterns_choose_by_the_name_in_the_source_or_by_the_symbol(address: str) -> None:
    kept(address, 0, 2)
    every_one = exports("lib", database=address)
    some = exports("lib", "_ZN1P*", database=address)
    assert {each.name.spelling for each in some.items} == {
        each.name.spelling for each in every_one.items if each.name.spelling.startswith("_ZN1P")
    }
    assert some.of == len(every_one.items)
    by_expression = exports("lib", "^_ZN1P", regex=True, database=address)
    assert [each.name for each in by_expression.items] == [each.name for each in some.items]
