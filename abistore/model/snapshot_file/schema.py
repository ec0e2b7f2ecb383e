"""The JSON Schema of the snapshot format, derived from the same annotations as the format itself."""

from __future__ import annotations

import types
import typing
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from abistore.model import shapes
from abistore.model.names import FACETS, Name
from abistore.model.snapshot import Evidence, Exported, Provenance, Target
from abistore.model.snapshot_file.codec import FORMAT_NAME, FORMAT_VERSION
from abistore.model.snapshot_file.wire import SHAPE_CLASSES, TYPE_CLASSES, plan

DIALECT = "https://json-schema.org/draft/2020-12/schema"

NUMBER = {"type": "integer", "minimum": 0}


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of what :func:`abistore.model.snapshot_file.codec.to_json` writes."""
    (target, evidence, provenance, exported), objects = msgspec.json.schema_components(
        [Target, Evidence, Provenance, Exported], ref_template="#/$defs/{name}"
    )
    rows = {struct.__name__: _row(struct) for struct in (*TYPE_CLASSES, *SHAPE_CLASSES, *_nested())}
    properties: dict[str, Any] = {
        "format": {"const": FORMAT_NAME},
        "version": {"const": FORMAT_VERSION},
        "digest": {
            "type": ["string", "null"],
            "description": "Of all the rest: 16 bytes of BLAKE2b in hexadecimal. Files of older versions have none.",
        },
        "library": {"type": "string"},
        "release": {"type": ["string", "null"], "description": "The version label of the library."},
        "target": target,
        "evidence": _list(evidence),
        "provenance": provenance,
        "exported": _described(exported, "What the store said about the release; only in files that `export` wrote."),
        "entries": {
            "type": "object",
            "description": "By facet, rows of a name's number and the numbers of its shapes.",
            "propertyNames": {"enum": list(FACETS)},
            "additionalProperties": _list({**_list(NUMBER), "minItems": 2}),
        },
        "locations": _described(
            _list(_tuple([NUMBER, NUMBER, {"type": "integer"}])), "Rows of a name's number, a file's number and a line."
        ),
        "files": _list({"type": "string"}),
        "names": _list(_type(Name, direct=True)),
        "types": _described(_list(_any(TYPE_CLASSES)), "Type references; a row mentions only rows before it."),
        "shapes": _list(_any(SHAPE_CLASSES)),
    }
    return {
        "$schema": DIALECT,
        "title": f"abistore snapshot, format {FORMAT_VERSION}",
        "description": "Rows of a table are mentioned by their number, from 0. Trailing defaults are left out of rows.",
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in {"digest", "exported"}],
        "additionalProperties": False,
        "$defs": {**objects, **rows},
    }


def _nested() -> list[type[msgspec.Struct]]:
    """The structs without a tag that stand inside rows."""
    found: dict[type[msgspec.Struct], None] = {}
    pending: list[type[msgspec.Struct]] = [*TYPE_CLASSES, *SHAPE_CLASSES]
    while pending:
        for slot in plan(pending.pop()).slots:
            if slot.struct is not None and slot.struct not in found:
                found[slot.struct] = None
                pending.append(slot.struct)
    return sorted(found, key=lambda struct: struct.__name__)


def _row(struct: type[msgspec.Struct]) -> dict[str, Any]:
    form = plan(struct)
    hints = typing.get_type_hints(struct, vars(shapes))
    tag = [{"const": form.tag}] if form.tag is not None else []
    items = [*tag, *(_described(_type(hints[field]), field) for field in struct.__struct_fields__)]
    return {**_tuple(items), "minItems": len(tag) + form.required}


def _type(hint: Any, *, direct: bool = False) -> dict[str, Any]:
    """The schema of one field; names and types are numbers there unless they are meant ``direct``."""
    arguments = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if hint == shapes.TypeRef or (hint is Name and not direct):
        return NUMBER
    if hint is Name:
        return _tuple([_type(typing.get_type_hints(Name)["kind"]), {"type": "string"}])
    if hint in SIMPLE:
        return {"type": SIMPLE[hint]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return _list(_type(arguments[0])) if arguments[-1] is Ellipsis else _tuple([_type(item) for item in arguments])
    if origin in (typing.Union, types.UnionType):
        if set(arguments) - {type(None)} == set(TYPE_CLASSES):
            return {"anyOf": [NUMBER, {"type": "null"}]}
        return {"anyOf": [_type(item) for item in arguments]}
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return {"$ref": f"#/$defs/{hint.__name__}"}
    raise TypeError(f"no schema for {hint}")


SIMPLE = {str: "string", bool: "boolean", int: "integer", type(None): "null"}


def _any(structs: Sequence[type[msgspec.Struct]]) -> dict[str, Any]:
    return {"oneOf": [{"$ref": f"#/$defs/{struct.__name__}"} for struct in structs]}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _tuple(items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "array", "prefixItems": list(items), "items": False, "minItems": len(items)}


def _described(value: dict[str, Any], text: str) -> dict[str, Any]:
    return {**value, "description": text}


if __name__ == "__main__":
    print(msgspec.json.format(msgspec.json.encode(schema())).decode())
