"""Which macros of consumers headers ask for."""

from __future__ import annotations

import time

import pytest

from abistore.extract.headers.conditions import unasked

pytestmark = pytest.mark.fast


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef FOO\n",
        "# ifndef FOO\n",
        "#if defined(FOO) && BAR\n",
        "#if BAR\n#elif FOO > 1\n",
        "#if BAR || \\\n    FOO\n",
        "#if BAR || \\\r\n  \\\r\n  FOO\r\n",
        "#define HAS_FOO defined(FOO)\n",
        "%:ifdef FOO\n",
    ],
)
def test_a_condition_asks_for_a_macro(text: str) -> None:
    for macro in ("FOO", "FOO=", "FOO=1"):
        assert list(unasked([macro], ["int f(void);\n", text])) == []


def test_a_macro_that_stands_for_nothing_changes_nothing_where_no_condition_asks() -> None:
    text = "#ifdef BAR\nFOO int f(void);\n#endif // FOO\n#define TWICE FOO\n"
    assert list(unasked(["FOO=", "FOO", "FOO=long", "NOWHERE", "BAR"], [text])) == ["FOO=", "NOWHERE"]


def test_what_the_language_reserves_is_asked_for_by_the_system() -> None:
    assert list(unasked(["_GNU_SOURCE", "__STRICT_ANSI__=1"], ["int f(void);\n"])) == []


def test_looking_takes_time_in_proportion_to_the_text() -> None:
    start = time.process_time()
    for line in ("#if " + "\\\n" * 100_000, "#define " + "defined " * 50_000, "#define a" * 50_000, "# " * 200_000):
        assert list(unasked(["FOO"], [line])) == ["FOO"]
    assert time.process_time() - start < 5
