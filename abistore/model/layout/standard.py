"""Types of the C++ standard library whose layout the standard tells."""

from __future__ import annotations

import re

from abistore.model.names import Name
from abistore.model.shapes import Array, Foreign, Special


def standard_array(name: Name, shape: Foreign) -> Array | None:
    """The array that an object of ``std::array`` is and nothing else; ``None`` for every other type."""
    if re.match(r"std::(__\w+::)?array<", name.spelling):
        match shape.arguments:
            case (element, Special(spelling=count)) if re.fullmatch(r"[1-9][0-9]{0,17}", count):
                return Array(element, int(count))
    return None
