"""Identical headers tell no change, whatever of the headers that they include was not found for one side."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from abistore.diffing.judge.judged import compare
from abistore.model.findings import Impact
from abistore.model.snapshot import Snapshot
from tests.cases import RULES, Case, cases, sides_of
from tests.public_headers import beside, implementing
from tests.sides import Side

SAMPLE = 40
"""Of so many cases one is read."""

OWN, OTHERS = "case.h", "others.h"
HERE, MORE = "int found_without_others(int);\n", "int come_since(int);\n"

_BRACE = re.compile(r"[{}]")


def with_headers() -> list[Case]:
    found = [case for path in sorted(RULES.glob("*.md")) for case in cases(path) if _splittable(case)]
    return found[::SAMPLE]


def _splittable(case: Case) -> bool:
    return (
        not case.is_drawn and not case.is_release and any(True for side in sides_of(case, "old") for _ in splits(side))
    )


def splits(side: Side) -> Iterator[tuple[str, str]]:
    """The public header of a side in two, wherever a declaration ends: what another library has of it, and the rest."""
    if len(side.public) != 1 or side.included or "#" in side.public[0][1]:
        return
    lines, depth = side.public[0][1].splitlines(keepends=True), 0
    for number, line in enumerate(lines[:-1], 1):
        depth += sum(1 if each == "{" else -1 for each in _BRACE.findall(line))
        if depth == 0 and line.rstrip().endswith((";", "}")):
            yield "".join(lines[:number]), "".join(lines[number:])


def read(side: Side, others: str, own: str, *, found: bool) -> Snapshot:
    """What is known of the library where the headers of others are ``found``, and where they are not."""
    if side.source is None:
        whole = implementing(dict(side.public), side.language, side.standard)
        library = replace(whole, entries={"symbol": whole.entries["symbol"]}, locations={})
    else:
        library = dataclasses.replace(side, public=()).read()
    public = {OWN: f"#pragma once\n#include <{OTHERS}>\n{own}", "all.h": f'#include "{OWN}"\n{HERE}'}
    included = {OTHERS: f"#pragma once\n{others}"} if found else {"nothing.h": ""}
    return beside(library, public, side.language, side.standard, included=included)


@pytest.mark.parametrize("case", with_headers(), ids=lambda case: case.label)
def test_identical_headers_tell_no_change_where_others_were_not_found(case: Case) -> None:
    for side in sides_of(case, "old"):
        for others, own in list(splits(side))[:2]:
            whole, part = (read(side, others, own, found=each) for each in (True, False))
            for old, new in ((whole, part), (part, whole)):
                kinds = [each.kind for each in compare(old, new).findings]
                assert [each for each in kinds if each != "evidence_narrowed"] == []


@pytest.mark.parametrize("case", with_headers(), ids=lambda case: case.label)
def test_what_errors_touch_is_unknown_in_headers_that_changed(case: Case) -> None:
    for side in sides_of(case, "old"):
        for others, own in list(splits(side))[:2]:
            whole, part = (read(side, others, own, found=each) for each in (True, False))
            later = {each: read(side, others, f"{own}\n{MORE}", found=each) for each in (True, False)}
            for old, new in ((whole, later[False]), (part, later[True])):
                weighing = [each for each in compare(old, new).findings if each.impact > Impact.COMPATIBLE]
                assert [each.kind for each in weighing if "come_since" not in each.name.spelling] == []
