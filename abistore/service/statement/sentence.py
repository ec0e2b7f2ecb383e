"""The sentence that a statement begins with: whether the release may ship, and what decides that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from abistore.model.findings import Verdict
from abistore.model.history import LineKey
from abistore.model.judging.standing import FoldedRelease, Ledger, Standing
from abistore.model.words.counting import of_all


class Decisive(NamedTuple):
    """The standing that asks most of a release, beside the one of the previous release, and the line of both."""

    line: LineKey
    standing: Standing
    previous: Standing | None


def decisive(ledger: Ledger) -> Standing | None:
    """The standing that asks most of a release in one line: a refused one, then the worst, then the previous release.

    One that was not judged comes before those that pass. Baselines that are no longer supported do not count.
    """
    supported = [each for each in ledger.standings if each.supported]
    return max(supported, key=_weight, default=None)


def previous_of(ledger: Ledger) -> Standing | None:
    """The standing beside the previous release; ``None`` for the first."""
    return next((each for each in ledger.standings if each.role == "previous"), None)


def is_allowed(found: FoldedRelease) -> bool | None:
    """Whether every line may ship; ``None`` where that is not known, and none is refused."""
    every = [_is_allowed(each) for each in _supported(found)]
    if False in every:
        return False
    return None if None in every or found.holes else True


def sentence(found: FoldedRelease) -> str:
    """``1.9.1 removes 3 functions under the same SONAME: call it 2.0.0 ...``; ``1.9.2 breaks nothing of 1.9.1``."""
    ledgers = [(row.line, row.ledger) for row in found.rows if row.ledger]
    asked = [Decisive(line, each, previous_of(ledger)) for line, ledger in ledgers if (each := decisive(ledger))]
    if not asked:
        first = f"{found.version} is the first release of {found.library} that is stored: nothing tells what it breaks"
        return "; ".join((first, *_holes(found)))
    chosen = max(asked, key=lambda each: _weight(each.standing))
    where = f", on {_line(chosen.line, asked)}" if len(asked) > 1 and _differ(asked) else ""
    said = f"{_said(found.version, chosen.standing)}{where}"
    return "; ".join((said, *_last_step(found.version, chosen, asked), *_holes(found)))


def _supported(found: FoldedRelease) -> Iterator[Standing]:
    yield from (each for row in found.rows if row.ledger for each in row.ledger.standings if each.supported)


def _is_allowed(standing: Standing) -> bool | None:
    if standing.bump is None:
        return None
    return standing.bump.allowed or bool(standing.passed_by)


def _weight(standing: Standing) -> tuple[bool, bool, Verdict]:
    """How much a standing asks; of equal ones the first is taken, which is the previous release."""
    allowed = _is_allowed(standing)
    return allowed is False, allowed is None, standing.verdict or Verdict.NO_CHANGE


def _said(version: str, standing: Standing) -> str:
    old, bump = standing.against.version, standing.bump
    if bump is None:
        return f"{version} was not judged against {old}: {standing.unjudged}"
    verdict = "not judged" if standing.verdict is None else standing.verdict.name
    said = bump.sentence or f"{version} is {verdict} against {old}"
    if standing.evidence_gap:
        said = f"{said}; in what could be checked: {standing.evidence_gap}"
    return f"{said}; it passes by approval: {standing.passed_by}" if standing.passed_by else said


def _last_step(version: str, chosen: Decisive, asked: Sequence[Decisive]) -> Iterator[str]:
    """That no line is refused for the previous release, where an older baseline is what refuses a release."""
    steps = [each.previous for each in asked if each.previous]
    if chosen.previous in (None, chosen.standing) or _is_allowed(chosen.standing) is not False:
        return
    if not all(map(_is_allowed, steps)):
        return
    versions = sorted({each.against.version for each in steps})
    old = f"{versions[0]}, the previous release," if len(versions) == 1 else "the previous releases"
    if any(each.verdict is not None and each.verdict >= Verdict.API_BREAK for each in steps):
        yield f"the step from {old} is allowed"
    else:
        seen = " that could be checked" if any(each.evidence_gap for each in steps) else ""
        yield f"of {old} {version} breaks nothing{seen}"


def _differ(asked: Sequence[Decisive]) -> bool:
    return len({each.standing.verdict for each in asked}) > 1


def _line(line: LineKey, asked: Sequence[Decisive]) -> str:
    words = [line.target]
    if len({each.line.library for each in asked}) > 1:
        words.insert(0, line.library)
    if len({each.line.profile for each in asked}) > 1:
        words.append(line.profile)
    return " ".join(words)


def _holes(found: FoldedRelease) -> Iterator[str]:
    if found.holes:
        missing = sorted(f"{row.line.target} {row.line.profile}" for row in found.rows if row.ledger is None)
        yield f"{of_all(found.holes, len(found.rows), 'line')} missing ({', '.join(missing)})"
