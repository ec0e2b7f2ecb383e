"""How shapes and type references are written as canonical JSON: short names, and no field that has its default."""

from __future__ import annotations

from typing import Final

import msgspec

TAG: Final = "is"
SHORT: Final = {
    **{"name": "n", "spelling": "s", "size": "z", "target": "to", "sort": "k", "element": "of", "count": "c"},
    **{"qualifiers": "q", "result": "r", "parameters": "p", "owner": "in", "shape": "sh", "display": "d", "type": "t"},
    **{"method": "m", "access": "a", "fields": "f", "offset": "o", "bit_size": "w", "bases": "b", "virtuals": "v"},
    **{"symbol": "y", "slot": "i", "arguments": "g", "alignment": "al", "enumerators": "e", "value": "x"},
}
"""How frequent fields are called in canonical JSON; others have their own names. None may ever change."""


class Encoded(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename=SHORT.get, gc=False):
    """What shapes consist of. Canonical JSON has one object each, without the fields that have their default.

    So a further field with a default changes no digest of what does not use it. Where a default is met is asked by
    identity: it is ``None``, a truth value, a small number, an empty text or tuple, or a word of a ``Literal``.
    """


class Shape(Encoded, frozen=True, tag_field=TAG):
    """What all shapes share: immutable, hashable, told apart by their tags."""
