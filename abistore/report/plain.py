"""Results of the service as plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from abistore.model.findings import Impact, Verdict
from abistore.model.names import Name
from abistore.model.snapshot import Location, Target


def plain(value: Any) -> Any:
    """``value`` in JSON's own types: names as ``{kind, symbol}``, verdicts by name, times in ISO 8601.

    What is unset is left out.
    """
    match value:
        case Verdict():
            return value.name
        case Impact():
            return value.label
        case Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case Name():
            return {"kind": value.kind, "symbol": value.spelling}
        case Target() | Location() | Path():
            return str(value)
        case date():
            return value.isoformat()
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case msgspec.Struct():
            fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
            return {name: plain(item) for name, item in fields if item is not msgspec.UNSET}
        case tuple() | list():
            return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")
