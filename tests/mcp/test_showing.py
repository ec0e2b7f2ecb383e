"""Declarations are shown whole, or as what differs; lists say since when each of them is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.interface import IngestPlan, ingest, open_store
from tests.build import build_library
from tests.mcp.conftest import Agent
from tests.mcp.histories import FIELDS, FUNCTIONS, LIBRARY


def test_a_long_declaration_is_shown_whole_with_offsets(wide_agent: Agent) -> None:
    """It was cut in the middle at every level of detail."""
    (item,) = wide_agent("abi_show", reference=f"{LIBRARY}@2.2", name="wide_loop")["items"]
    assert all(f"field_number_{number};" in item["text"] for number in range(FIELDS))
    assert "added_by_release_7;" in item["text"]
    assert item["text"].endswith("};  // 360 bytes")
    assert "..." not in item["text"]
    assert (item["since"], item["first_stored"], item["changed"]) == ("1.0", True, "2.2")
    assert item["used_by_count"] == FUNCTIONS - 20


def test_a_difference_is_told_line_by_line_and_no_text_twice(wide_agent: Agent) -> None:
    sides = {"reference": f"{LIBRARY}@1.4", "against": f"{LIBRARY}@1.3"}
    told = wide_agent("abi_show", **sides, name="wide_loop")
    (item,) = told["items"]
    assert told["headline"] == f"wide_loop: changed from {LIBRARY}@1.3 to {LIBRARY}@1.4"
    assert "text" not in item
    assert "+     void* added_by_release_4;" in item["diff"]
    assert item["diff"].count("added_by_release_4") == 1
    assert "! };  // 312 bytes -> 328 bytes" in item["diff"]
    same = wide_agent("abi_show", **sides, name="wide_function_3")
    assert (same["headline"].partition(":")[2].split()[:2], "diff" in same["items"][0]) == (["the", "same"], False)


def test_a_file_is_shown_and_compared_with_a_release(wide_agent: Agent, wide_build: tuple[Path, Path]) -> None:
    library, header = map(str, wide_build)
    asked = {"reference": library, "name": "wide_loop", "headers": [header]}
    (item,) = wide_agent("abi_show", **asked)["items"]
    assert "added_by_release_8;" in item["text"]
    told = wide_agent("abi_show", **asked, against=f"{LIBRARY}@2.2")
    assert "+     void* added_by_release_8;" in told["items"][0]["diff"]
    (following,) = told["next"]
    assert following["arguments"] == {"old_input": f"{LIBRARY}@2.2", "new_input": library, "headers": [header]}


def test_names_are_listed_by_prefix(wide_agent: Agent) -> None:
    told = wide_agent("abi_show", reference=LIBRARY, name="wide_function_2*")
    assert told["headline"] == f"10 declarations of {LIBRARY}@latest"
    assert told["items"][0]["text"] == "int wide_function_20(struct wide_loop* loop, int how);"


def test_exports_and_types_are_listed_with_their_lives(modern: Agent, libraries: dict[str, Path]) -> None:
    exports = modern("abi_show", reference="libgeo@2.0", what="exports")
    assert {each["name"]: each["since"] for each in exports["items"]} == {"norm": "1.0", "fresh": "1.1"}
    late = modern("abi_show", reference="libgeo@2.0", what="exports", since="1.1")
    assert (late["headline"], [each["name"] for each in late["items"]]) == (
        "1 of 2 exports of libgeo@2.0",
        ["fresh"],
    )
    types = modern("abi_show", reference="libgeo@2.0", what="types")
    assert [(each["name"], each["changed"]) for each in types["items"]] == [("point", "2.0")]
    of_file = modern("abi_show", reference=str(libraries["2.0"]), what="exports")
    assert {each["name"]: each["text"] for each in of_file["items"]}["fresh"] == "int fresh(int);"


def test_what_is_gone_says_until_when_it_was_there(modern: Agent) -> None:
    (item,) = modern("abi_show", reference="libgeo@1.1", name="gone")["items"]
    assert (item["since"], item["until"]) == ("1.0", "2.0")


def test_the_exports_that_use_a_type_are_told(modern: Agent, libraries: dict[str, Path]) -> None:
    for reference in ("libgeo@2.0", str(libraries["2.0"])):
        told = modern("abi_show", reference=reference, what="users", name="point")
        assert [(each["name"], each["how"]) for each in told["items"]] == [("norm", "by_pointer")], reference


def test_what_texts_do_not_show_is_said(modern: Agent, tmp_path: Path) -> None:
    """A type that is meant by its typedef, and was by its tag, is spelled alike."""
    inner = "typedef struct inner {{ int a; }} inner; struct outer {{ {} x; int b; }};"
    uses = 'extern "C" int use(outer *one) { return one->b; }'
    sides = [
        str(build_library(f"{inner.format(spelled)} {uses}", language="c++", soname="libin.so.1", name="libin.so"))
        for spelled in ("struct inner", "inner")
    ]
    (item,) = modern("abi_show", reference=sides[1], against=sides[0], name="outer")["items"]
    assert item["said"] == ["inner is meant as a typedef, and was as a struct, class or union"]
    assert "diff" not in item


def test_every_page_has_other_exports(wide_agent: Agent) -> None:
    asked = {"reference": f"{LIBRARY}@1.0", "what": "exports", "limit": 25}
    first = wide_agent("abi_show", **asked)
    second = wide_agent("abi_show", **asked, cursor=first["next_cursor"])
    assert not {each["name"] for each in first["items"]} & {each["name"] for each in second["items"]}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"reference": "libgeo@2.0"}, "name is missing"),
        ({"reference": "libgeo@2.0", "name": "nrom"}, "libgeo: no declaration named nrom"),
        ({"reference": "libgeo@9.9", "name": "norm"}, "libgeo@9.9: no such version"),
    ],
)
def test_what_cannot_be_shown_is_refused(asked: dict[str, str], said: str, modern: Agent) -> None:
    assert said in modern.refused("abi_show", **asked)["error"]


def test_a_function_of_parameters_is_no_pattern(modern: Agent, tmp_path: Path) -> None:
    library = build_library("int twice(char *text) { return *text; }", language="c++", soname="libcc.so.1")
    database = str(tmp_path / "cc.db")
    with open_store(database, create=True) as store:
        (done,) = ingest(library, IngestPlan(library="libcc", version="1.0"), database=store)
        assert done.status == "stored", done.error
    told = modern.set(database=database)("abi_show", reference="libcc@1.0", name="twice(char*)")
    assert [each["text"] for each in told["items"]] == ["int twice(char*);"]
