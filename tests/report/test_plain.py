"""What results look like as plain JSON is what their published schemas say."""

from __future__ import annotations

import jsonschema
import pytest
from msgspec.structs import replace

from abistore.model.snapshot import AskedCondition, HeaderOutline, HeadersRead
from abistore.report.plain import plain, plain_schema

READ = HeadersRead(
    ("a.h",),
    conditions=(AskedCondition("#if WIDE", True, ("a.h",), outside=("WIDE=2",)),),
    outlines=(HeaderOutline("a.h", ("b.h",), 2),),
)


def test_rows_have_the_names_of_their_fields() -> None:
    schema = plain_schema("headers", read=HeadersRead)
    document = {"status": "ok", "read": plain(READ)}
    assert document["read"]["outlines"] == [{"file": "a.h", "includes": ["b.h"], "linked": 2}]
    jsonschema.validate(document, schema)


@pytest.mark.parametrize("field", ["file", "includes", "linked"])
def test_no_field_of_a_row_is_left_out(field: str) -> None:
    document = {"status": "ok", "read": plain(replace(READ, conditions=()))}
    del document["read"]["outlines"][0][field]
    with pytest.raises(jsonschema.ValidationError, match=field):
        jsonschema.validate(document, plain_schema("headers", read=HeadersRead))
