"""The JSON Schema of the snapshot format, derived from the same classes as the format itself."""

from __future__ import annotations

from typing import Any

import msgspec

from abistore.model.shapes import SHORT
from abistore.model.snapshot_file.document import FORMAT_NAME, FORMAT_VERSION, File

DIALECT = "https://json-schema.org/draft/2020-12/schema"
WORDS = {short: word for word, short in SHORT.items()}


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of what :func:`abistore.model.snapshot_file.codec.to_json` writes."""
    _, definitions = msgspec.json.schema_components([File], ref_template="#/$defs/{name}")
    file = definitions.pop("File")
    file["properties"] |= {"format": {"const": FORMAT_NAME}, "version": {"const": FORMAT_VERSION}}
    for described in definitions.values():
        for short, field in described.get("properties", {}).items():
            if short in WORDS:
                field["title"] = WORDS[short]
    return {
        **file,
        "$schema": DIALECT,
        "title": f"abistore snapshot, format {FORMAT_VERSION}",
        "$defs": definitions,
    }


if __name__ == "__main__":
    print(msgspec.json.format(msgspec.json.encode(schema())).decode())
