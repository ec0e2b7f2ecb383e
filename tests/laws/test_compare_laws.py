"""Laws of comparison: nothing is invented, nothing is lost, weight is never hidden, more evidence never says less."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abistore.diffing.context import load
from abistore.diffing.judge.judged import compare, verdict_of
from abistore.errors import Incomparable
from abistore.model.declarations import Declared, Name
from abistore.model.findings import Finding, Verdict
from abistore.model.shapes import AnyShape, Function, Variable
from abistore.model.snapshot import Evidence, Snapshot, Target, Variants
from tests.draws import draws
from tests.laws.strategies import SHAPES_OF, entries, libraries, snapshots, variants

TARGET = Target("elf", "x86_64", 64, "little")
SYMBOLS = [
    *("one", "two", "add", "lib_open_1", "lib_open_2", "_Z3addii", "_Z3addi", "_ZN3BoxIiE3getEv"),
    *("_ZN3lib2v13getEv", "_ZN3lib2v23getEv", "_ZN1P3getEv", "_ZNK1P3getEv", "_ZTV1P", "_ZTI1P"),
    *("_ZN1PC1Ev", "_ZN1PC2Ev", "_ZNSt6vectorIiSaIiEE5clearEv", "_ZThn16_N1P3getEv"),
]
exports = st.builds(Name, st.sampled_from(["function", "variable"]), st.sampled_from(SYMBOLS))
relaxed = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None, max_examples=draws(25)
)


@st.composite
def releases(draw: st.DrawFn) -> tuple[Snapshot, Snapshot]:
    """Two snapshots of one library: the second keeps, drops, alters and adds declarations of the first."""
    old = {"symbol": draw(_exported()), "layout": draw(entries(False, 8))}
    old["layout"].update({name: draw(variants(SHAPES_OF[False, name.kind])) for name in draw(_some(old["symbol"]))})
    new = {facet: draw(_altered(held, facet == "symbol")) for facet, held in old.items()}
    return _snapshot(old), _snapshot(new)


@st.composite
def _exported(draw: st.DrawFn) -> dict[Name, Variants]:
    found = draw(entries(True, 3))
    names = draw(st.lists(exports, unique_by=lambda name: name.spelling, max_size=12))
    taken = {name.spelling for name in found}
    found.update({name: draw(variants(SHAPES_OF[True, name.kind])) for name in names if name.spelling not in taken})
    return found


def _some(held: dict[Name, Variants]) -> st.SearchStrategy[list[Name]]:
    names = sorted(name for name in held if name.kind in ("function", "variable"))
    return st.lists(st.sampled_from(names), unique=True) if names else st.just([])


@st.composite
def _altered(draw: st.DrawFn, held: dict[Name, Variants], symbols: bool) -> dict[Name, Variants]:
    found = dict(held)
    for name in sorted(held):
        match draw(st.sampled_from(["keep", "keep", "drop", "alter"])):
            case "drop" if name.kind != "library":
                del found[name]
            case "alter":
                of: st.SearchStrategy[AnyShape] = libraries if name.kind == "library" else SHAPES_OF[symbols, name.kind]
                found[name] = draw(st.builds(lambda shape: (shape,), of))
    if symbols:
        taken = {name.spelling for name in found}
        found.update({name: each for name, each in draw(_exported()).items() if name.spelling not in taken})
    return found


def _snapshot(held: dict[str, dict[Name, Variants]]) -> Snapshot:
    evidence = tuple(Evidence(facet, "full") for facet in held)
    return Snapshot("lib", None, TARGET, held, evidence)


def without_layout(snapshot: Snapshot) -> Snapshot:
    return msgspec.structs.replace(
        snapshot,
        entries={"symbol": snapshot.entries["symbol"]},
        evidence=(Evidence("symbol", "full"), Evidence("layout", "missing", "no-debug-info")),
    )


def exported(snapshot: Snapshot) -> set[str]:
    return {name.spelling for name in snapshot.entries["symbol"] if name.kind in ("function", "variable")}


def everything(findings: tuple[Finding, ...]) -> Iterator[Finding]:
    for finding in findings:
        yield finding
        yield from everything(finding.consequences)


@relaxed
@given(snapshots())
def test_a_snapshot_compared_with_itself_has_no_findings(snapshot: Snapshot) -> None:
    comparison = compare(snapshot, snapshot)
    assert comparison.findings == ()
    assert comparison.verdict is Verdict.NO_CHANGE


@relaxed
@given(snapshots(), snapshots())
def test_any_two_snapshots_give_a_comparison_or_are_incomparable(old: Snapshot, new: Snapshot) -> None:
    if old.target == new.target:
        compare(old, new)
    else:
        with pytest.raises(Incomparable):
            compare(old, new)


@relaxed
@given(releases())
def test_every_export_that_went_is_named_by_a_finding_and_none_comes_silently(pair: tuple[Snapshot, Snapshot]) -> None:
    old, new = pair
    comparison = compare(old, new)
    named = {name.spelling for finding in everything(comparison.findings) for name in (finding.name, *finding.affected)}
    assert exported(old) - exported(new) <= named
    assert comparison.findings or exported(old) == exported(new)


@relaxed
@given(releases())
def test_swapping_the_sides_swaps_what_came_and_what_went(pair: tuple[Snapshot, Snapshot]) -> None:
    old, new = pair
    forward, backward = compare(old, new), compare(new, old)
    removed = {
        finding.name for finding in everything(forward.findings) if finding.kind in ("func_removed", "var_removed")
    }
    added = {finding.name for finding in everything(backward.findings) if finding.kind in ("func_added", "var_added")}
    assert removed <= added


@relaxed
@given(releases())
def test_the_verdict_is_the_worst_finding_and_no_consequence_outweighs_its_cause(
    pair: tuple[Snapshot, Snapshot],
) -> None:
    comparison = compare(*pair)
    assert comparison.verdict is verdict_of(comparison.findings)
    for finding in everything(comparison.findings):
        assert all(each.impact <= finding.impact for each in finding.consequences)


@relaxed
@given(releases())
def test_the_same_pair_always_gives_the_same_findings_in_the_same_order(pair: tuple[Snapshot, Snapshot]) -> None:
    old, new = pair
    shuffled = msgspec.structs.replace(
        new, entries={facet: dict(reversed(list(held.items()))) for facet, held in reversed(list(new.entries.items()))}
    )
    assert compare(old, new) == compare(old, shuffled)


@relaxed
@given(releases())
def test_debug_information_never_hides_what_the_export_table_shows(pair: tuple[Snapshot, Snapshot]) -> None:
    old, new = pair
    bare = compare(without_layout(old), without_layout(new))
    full = compare(old, new)
    seen = {name for finding in everything(full.findings) for name in (finding.name, *finding.affected)}
    for finding in everything(bare.findings):
        assert finding.name in seen
    assert max((each.impact for each in full.findings), default=0) >= max(
        (each.impact for each in bare.findings if not is_private(old, each.name)), default=0
    )


def is_private(release: Snapshot, name: Name) -> bool:
    """Whether debug information tells that programs cannot use a member, the loss of which is a risk."""
    shapes = release.variants("layout", name)
    methods = [each.method for each in shapes if isinstance(each, Function) and each.method is not None]
    members = [each for each in shapes if isinstance(each, Variable) and each.owner is not None]
    return any(each.access == "private" for each in (*methods, *members))


@relaxed
@given(releases())
def test_headers_that_show_what_debug_information_shows_add_no_finding(pair: tuple[Snapshot, Snapshot]) -> None:
    twice = {name for side in pair for name, held in side.entries["layout"].items() if len(held) > 1}
    old, new = (_with_headers(side, twice) for side in pair)
    found = compare(old, new).findings
    shown = tuple(each for each in found if load()[each.kind].evidence != "source")  # text alone tells the others
    assert shown == compare(*pair).findings


def _with_headers(side: Snapshot, twice: Collection[Name]) -> Snapshot:
    """The same library with headers that include what its debug information shows, and may show more.

    What units define ``twice`` no header can: it would not compile.
    """
    shown = (
        (name, [each for each in held if not isinstance(each, Declared)])
        for name, held in side.entries["layout"].items()
        if name not in twice
    )
    entries = {**side.entries, "source": {name: tuple(held) for name, held in shown if held}}
    others = tuple(each for each in side.evidence if each.facet != "source")
    return msgspec.structs.replace(side, entries=entries, evidence=(*others, Evidence("source", "partial")))
