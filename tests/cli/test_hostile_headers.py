"""Headers that are small, and cost their reader far more than their size."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call

pytestmark = pytest.mark.full


def doubling(number: int, sort: str) -> str:
    """Records of which each holds two of the one before."""
    first = f"{sort} a0 {{ char x; }};\n"
    rest = (f"{sort} a{each} {{ {sort} a{each - 1} p, q; }};\n" for each in range(1, number))
    return f"{first}{''.join(rest)}void use({sort} a{number - 1} *);\nint area(int);\n"


def doubling_bases(number: int) -> str:
    """The same, where the large one is a base."""
    return f"{doubling(number, 'struct')}struct derived : a{number - 1} {{ int y; }};\n"


def nested(number: int) -> str:
    """Records of which each holds one of the one before."""
    first = "struct a0 { char x; };\n"
    rest = (f"struct a{each} {{ struct a{each - 1} p; }};\n" for each in range(1, number))
    return f"{first}{''.join(rest)}int area(int);\n"


@pytest.mark.parametrize(
    ("name", "text", "partial"),
    [
        ("api.h", lambda: doubling(40, "struct"), True),
        ("api.h", lambda: doubling(40, "union"), True),
        ("api.hpp", lambda: doubling_bases(40), True),
        ("api.h", lambda: doubling(8, "struct"), False),
        ("api.h", lambda: nested(90), False),
        ("api.h", lambda: nested(1500), None),
    ],
)
def test_records_of_each_other_cost_no_more_than_seconds(
    abistore: Call, tmp_path: Path, name: str, text: Callable[[], str], partial: bool | None
) -> None:
    """libclang visits every member of every member to tell where one lies, and clang to initialize them with ``{}``."""
    header = tmp_path / name
    header.write_text(text())
    built = build_library("int area(int x) { return x; }")
    start = time.monotonic()
    done = abistore("show", built, "--header", header, "--json")
    assert (done.code, time.monotonic() - start < 20) == (0, True)
    (seen,) = (each for each in done.json["snapshot"]["evidence"] if each["facet"] == "source")
    if partial is not None:
        assert (seen["state"], seen["reason"]) == (("partial", "type-too-large") if partial else ("full", ""))


def test_a_header_that_leaves_something_open_is_told(abistore: Call, old: Path, tmp_path: Path) -> None:
    """The error was placed in the text that includes all headers, and named no cause."""
    header = tmp_path / "open.h"
    header.write_text("struct point { int x;\n")
    done = abistore("show", old, "--header", header)
    assert "at the end of the headers: expected '}'" in done.out + done.err
