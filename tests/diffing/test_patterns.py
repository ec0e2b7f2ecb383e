"""Many exports that change in one way are one change, and coincidences are none."""

from __future__ import annotations

import pytest

from abistore.diffing.renamed_exports import find


def mangled(*path: str) -> str:
    return "_ZN" + "".join(f"{len(each)}{each}" for each in path) + "Ei"


def patterns(removed: list[str], added: list[str]) -> list[tuple[str, str, str, int]]:
    found = find(sorted(removed), sorted(added))
    return [(type(each).__name__, each.before, each.after, len(each.pairs)) for _, each in found]


VERBS = ["open", "close", "read", "write"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([f"u_{each}_70" for each in VERBS], [f"u_{each}_71" for each in VERBS], ("Renaming", "_70", "_71", 4)),
        ([f"old_{each}" for each in VERBS], [f"new_{each}" for each in VERBS], ("Renaming", "old_", "new_", 4)),
        (VERBS, [f"lib_{each}" for each in VERBS], ("Renaming", "", "lib_", 4)),
        (
            [mangled("json", each) for each in VERBS],
            [mangled("json", "internal", each) for each in VERBS],
            ("Renaming", "json", "json::internal", 4),
        ),
        (
            [mangled("alpha", each) for each in VERBS],
            [mangled("beta", each) for each in VERBS],
            ("Renaming", "alpha", "beta", 4),
        ),
    ],
)
def test_a_systematic_rename_is_one_pattern(
    before: list[str], after: list[str], expected: tuple[str, str, str, int]
) -> None:
    assert patterns(before, after) == [expected]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["lib_open_70", "lib_close_70"], ["lib_open_71", "lib_close_71"]),
        (["open_file", "close_file", "read_file"], ["connect", "listen", "accept"]),
        ([mangled("lib", each) for each in VERBS], [mangled("lib", each.upper()) for each in VERBS]),
        ([mangled("lib", "v1", each) for each in VERBS], []),
        ([], [f"lib_{each}" for each in VERBS]),
    ],
)
def test_few_or_unlike_exports_are_no_pattern(before: list[str], after: list[str]) -> None:
    assert patterns(before, after) == []


def test_an_export_is_in_one_pattern_at_most() -> None:
    before = [f"u_{each}_70" for each in VERBS] + [mangled("icu", each) for each in VERBS]
    after = [f"u_{each}_71" for each in VERBS] + [mangled("icon", each) for each in VERBS]
    assert sorted(patterns(before, after)) == [("Renaming", "_70", "_71", 4), ("Renaming", "icu", "icon", 4)]
