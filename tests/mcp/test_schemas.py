"""Answers are what the schemas say, those that are listed and the whole ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from abistore.mcp.tools.all import TOOLS
from tests.mcp.conftest import Agent
from tests.mcp.every import arguments
from tests.mcp.test_resources import read


@pytest.mark.parametrize("tool", list(TOOLS))
def test_an_answer_fits_the_schema_that_is_listed_and_the_whole_one(
    tool: str, modern: Agent, libraries: dict[str, Path]
) -> None:
    comparison = modern("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", stat=True)["comparison_id"]
    given = arguments(comparison, libraries["2.0"])[tool]
    answer = modern(tool, **given)
    listed: dict[str, Any] = next(each.output_schema or {} for each in modern.tools() if each.name == tool)
    whole = json.loads(read(modern, "abistore://schema"))["answers"][tool]
    for schema in (listed, whole):
        Draft202012Validator.check_schema(schema)
        assert list(Draft202012Validator(schema).iter_errors(answer)) == []
    assert set(listed["properties"]) <= set(answer)
    assert set(answer) <= set(whole["properties"])


def test_an_answer_that_cannot_be_judged_fits_too(modern: Agent) -> None:
    answer = modern("abi_summary", library="libgeo", version="1.0")
    listed = next(each.output_schema for each in modern.tools() if each.name == "abi_summary")
    assert listed is not None
    assert list(Draft202012Validator(listed).iter_errors(answer)) == []
