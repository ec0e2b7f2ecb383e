"""The exit code of a verdict, and what a gate makes of it."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from abistore import arguments
from abistore.diffing.reuse import differing
from abistore.model.declarations import Name
from abistore.model.findings import Churn, FailOn, Verdict
from abistore.model.shapes import Import, Symbol
from abistore.model.snapshot import Evidence, Snapshot, Target, sort_variants
from abistore.service.decision import exit_code
from abistore.service.judging import churn
from abistore.service.project import VersionFrom
from tests.public_headers import implementing

TARGET = Target("elf", "x86_64", 64, "little")


@pytest.mark.parametrize(
    ("verdict", "codes"),
    [
        (Verdict.NO_CHANGE, (0, 0, 0, 0)),
        (Verdict.COMPATIBLE, (0, 0, 0, 0)),
        (Verdict.COMPATIBLE_WITH_RISK, (0, 0, 2, 0)),
        (Verdict.API_BREAK, (0, 2, 2, 0)),
        (Verdict.BREAKING, (4, 4, 4, 0)),
    ],
)
def test_a_gate_lets_milder_verdicts_pass(verdict: Verdict, codes: tuple[int, ...]) -> None:
    gates: tuple[FailOn, ...] = ("breaking", "api_break", "risk", "never")
    assert tuple(exit_code(verdict, gate) for gate in gates) == codes


def snapshot(**symbols: Symbol | Import) -> Snapshot:
    entries = {
        Name("import" if isinstance(shape, Import) else "function", name): sort_variants([shape])
        for name, shape in symbols.items()
    }
    return Snapshot("libx", None, TARGET, {"symbol": entries}, (Evidence("symbol", "full"),))


def test_churn_counts_exports_that_came_and_went_and_names_that_differ() -> None:
    strong = Symbol("function")
    weak = Symbol("function", weak=True)
    old = snapshot(kept=strong, weakened=strong, gone=strong, used=Import(weak=False))
    new = snapshot(kept=strong, weakened=weak, fresh=strong, other=strong, used=Import(weak=True))
    assert churn(old, new, differing(old, new)) == Churn(added=2, removed=1, changed=1)
    assert churn(old, old, differing(old, old)) == Churn(added=0, removed=0, changed=0)


def test_churn_counts_public_declarations_where_both_sides_have_headers() -> None:
    both = "#define KEPT 1\nstruct point { int x; };\nint f(struct point);\n"
    old, new = (implementing({"api.h": text}, "c") for text in (f"{both}#define GONE 1\n", f"{both}enum e {{ A }};\n"))
    assert churn(old, new, differing(old, new)) == Churn(added=1, removed=1, changed=0)
    bare = replace(new, entries={"symbol": new.entries["symbol"]})
    assert churn(old, bare, differing(old, bare)) == Churn(added=0, removed=0, changed=0)


def test_arguments_offer_all_gates_and_all_sources_of_a_version() -> None:
    gates, *_ = get_args(arguments.FailOn)
    source, *_ = get_args(arguments.VersionSource)
    assert gates == FailOn
    assert source == VersionFrom | None
