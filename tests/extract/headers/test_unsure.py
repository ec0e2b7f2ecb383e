"""Which parts of a header depend on macros that nobody knows."""

from __future__ import annotations

import pytest

from abistore.extract.headers.faults import unsure


def parts(
    text: str, *, errors: tuple[int, ...] = (), defined: frozenset[str] | None = frozenset({"KNOWN"})
) -> list[str]:
    return sorted(text[first:last] for first, last in unsure(text.encode(), errors, defined))


@pytest.mark.parametrize(
    "condition",
    [
        "ifdef KNOWN",
        "ifndef __GNUC__",
        "if defined(KNOWN) && 1 > 0x1F",
        "if KNOWN // NOBODY",
        "if KNOWN /* a\nNOBODY */",
    ],
)
def test_a_condition_is_known_that_asks_for_defined_and_reserved_macros(condition: str) -> None:
    assert parts(f"#{condition}\nint a;\n#else\nint b;\n#endif\n") == []


def test_both_branches_of_an_unknown_condition_are_unsure_and_nothing_behind_it() -> None:
    assert parts("int a;\n# if NOBODY(1, 2) \\\n > 2\nint b;\n#else\nint c;\n#endif\nint d;") == [
        "# if NOBODY(1, 2) \\\n > 2\nint b;\n#else\nint c;\n#endif"
    ]


def test_what_follows_an_unknown_branch_is_unsure() -> None:
    assert parts("#ifdef KNOWN\nint a;\n#elif NOBODY\nint b;\n#else\nint c;\n#endif") == [
        "#elif NOBODY\nint b;\n#else\nint c;\n#endif"
    ]


def test_without_missing_files_only_conditions_with_errors_are_unknown() -> None:
    text = "#if NOBODY\n#endif\n#if NOBODY(1)\n#endif"
    assert parts(text, defined=None) == []
    assert parts(text, errors=(text.index("NOBODY(1)"),), defined=None) == ["#if NOBODY(1)\n#endif"]


def test_an_unknown_packing_holds_up_to_the_next_one() -> None:
    assert parts("#pragma pack(push, NOBODY)\nint a;\n#pragma pack(pop)\nint b;\n#pragma pack(push, 4)\nint c;") == [
        "#pragma pack(push, NOBODY)\nint a;\n"
    ]


def test_a_condition_without_an_end_holds_up_to_the_end() -> None:
    assert parts("#if NOBODY\nint a;") == ["#if NOBODY\nint a;"]
