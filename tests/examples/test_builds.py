"""One release of a real library built in several ways: no build breaks another, and the report says what it missed."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from contextlib import redirect_stdout
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from abistore.cli.main import run
from examples.independent_recipes import CLIPPER
from examples.recipes import LZ4, Recipe
from tests.releases import UNOPTIMISED_JSONNET, release

pytestmark = pytest.mark.full

CLIPPER_17 = replace(CLIPPER, flags=(*CLIPPER.flags, "-std=c++17"))
LIBRARIES: dict[str, tuple[Recipe, str]] = {
    "liblz4": (LZ4, "1.9.4"),
    "libpolyclipping": (CLIPPER_17, CLIPPER.version_numbers()[-1]),
    "libjsonnet": (UNOPTIMISED_JSONNET, "0.20.0"),
}

CLANG = {"gcc": "clang", "g++": "clang++"}
OTHER_STANDARD = {"gcc": "-std=gnu11", "g++": "-std=c++20"}
"""Beside gcc's gnu17, and beside the C++17 of the recipes."""

LARGE = {"libjsonnet": ("clang",)}
"""How one is built that takes half a minute to compile."""

WAYS = [(library, way) for library in LIBRARIES for way in LARGE.get(library, ("clang", "unoptimised", "standard"))]

BAD = ("breaking", "api_break")


def built(library: str, way: str) -> Path:
    recipe, version = LIBRARIES[library]
    match way:
        case "clang":
            return release(recipe, version, compiler=CLANG[recipe.compiler])
        case "unoptimised":
            return release(recipe, version, "-O0")
        case "standard":
            return release(recipe, version, OTHER_STANDARD[recipe.compiler])
        case _:
            return release(recipe, version)


def printed(*words: str | Path) -> tuple[int, str]:
    """The exit code of ``abistore``, and what it prints."""
    output = io.StringIO()
    with redirect_stdout(output):
        return run([*map(str, words)]), output.getvalue()


def compared(old: Path, new: Path) -> tuple[int, dict[str, Any]]:
    """The exit code and the report of ``abistore compare``."""
    code, text = printed("compare", old, new, "--json")
    answer = json.loads(text)["data"]
    assert isinstance(answer, dict)
    return code, answer


@pytest.mark.parametrize(("library", "way"), WAYS)
def test_another_build_of_a_real_release_is_at_most_a_risk(library: str, way: str) -> None:
    for old, new in permutations([built(library, "usual"), built(library, way)]):
        code, answer = compared(old, new)
        assert [change for change in answer["changes"] if change["impact"] in BAD] == []
        assert (code, answer["summary"]["breaking"], answer["summary"]["api_breaks"]) == (0, 0, 0)
        for missed in answer["not_checked"]:
            assert missed["reason"]
            assert missed["hint"]
        if (library, way) == ("libjsonnet", "clang"):  # describes some types in other units only
            assert "layout" in {missed["facet"] for missed in answer["not_checked"]}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_stripped_build_of_a_real_release_is_no_change_and_its_layout_is_said_to_be_unchecked(
    library: str, tmp_path: Path
) -> None:
    full = built(library, "usual")
    bare = tmp_path / full.name
    shutil.copy(full, bare)
    subprocess.run(["strip", "--strip-unneeded", bare], check=True)
    for old, new, side in ((full, bare, "new"), (bare, full, "old")):
        code, answer = compared(old, new)
        assert (code, answer["verdict"]) == (0, "NO_CHANGE")
        assert ("layout", side, "no-debug-info") in {
            (missed["facet"], missed["side"], missed["reason"]) for missed in answer["not_checked"]
        }
        _, text = printed("compare", old, new)
        assert "Not checked" in text
        assert "(no-debug-info)" in text
