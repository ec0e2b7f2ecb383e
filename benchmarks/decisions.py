"""The law of one decision over many drawn histories: how much every surface states, and what contradicts."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.laws.decisions import LawOfOneDecision, Tally

SHOWN = 20
"""So many contradictions are listed."""

EVERY = 25
"""After so many histories a line says how far it is."""


def main() -> int:
    """Draw histories, ask every surface about them, and print how often each stated something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=1000, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=1, help="the first one; each history has the next")
    asked = parser.parse_args()
    tally = Tally()
    for number, seed in enumerate(range(asked.seed, asked.seed + asked.histories), 1):
        with tempfile.TemporaryDirectory() as folder:
            LawOfOneDecision(seed, Path(folder), tally).check()
        if number % EVERY == 0:
            said = (
                f"{number} histories, {tally.statements.total()} statements, {len(tally.contradictions)} contradictions"
            )
            print(said, file=sys.stderr, flush=True)
    print(report(asked.histories, tally))
    return 1 if tally.contradictions else 0


def report(histories: int, tally: Tally) -> str:
    """A table of surfaces, and the first contradictions."""
    lines = ["| surface | statements | contradictions |", "|---|--:|--:|"]
    for surface, statements in sorted(tally.statements.items()):
        wrong = sum(each.surface == surface for each in tally.contradictions)
        lines.append(f"| {surface} | {statements} | {wrong} |")
    lines.append(f"| all, in {histories} histories | {tally.statements.total()} | {len(tally.contradictions)} |")
    told = (f"{each.surface}, {each.about}: {each.stated} and not {each.decided}" for each in tally.contradictions)
    return "\n".join((*lines, *list(told)[:SHOWN]))


if __name__ == "__main__":
    raise SystemExit(main())
