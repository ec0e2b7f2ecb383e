"""What results look like as plain JSON is what their published schemas say."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from abistore.model.envelope import Envelope
from abistore.model.snapshot import AskedCondition, HeaderOutline, HeadersRead
from abistore.report.plain import answer_schema, plain

READ = HeadersRead(
    ("a.h",),
    conditions=(AskedCondition("#if WIDE", True, ("a.h",), outside=("WIDE=2",)),),
    outlines=(HeaderOutline("a.h", ("b.h",), 2),),
)
SCHEMA = answer_schema("headers", ("show",), {"read": HeadersRead})


def answer(read: HeadersRead) -> dict[str, Any]:
    envelope: dict[str, Any] = plain(Envelope("abistore/show/1", None, 0, None, {"read": read}, (), None))
    return envelope


def test_rows_have_the_names_of_their_fields() -> None:
    document = answer(READ)
    assert document["data"]["read"]["outlines"] == [{"file": "a.h", "includes": ["b.h"], "linked": 2}]
    jsonschema.validate(document, SCHEMA)


@pytest.mark.parametrize("field", ["file", "includes", "linked"])
def test_no_field_of_a_row_is_left_out(field: str) -> None:
    document = answer(replace(READ, conditions=()))
    del document["data"]["read"]["outlines"][0][field]
    with pytest.raises(jsonschema.ValidationError, match=field):
        jsonschema.validate(document, SCHEMA)
