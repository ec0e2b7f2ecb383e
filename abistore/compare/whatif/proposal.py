"""Another way to make a change, and what it would be like."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Variants


class Proposal(msgspec.Struct, frozen=True):
    """A way to change the declaration ``name``: ``title`` says how, ``changes`` what is declared then."""

    name: Name
    title: str
    changes: Mapping[Name, Variants | None]


def with_shape(variants: Variants, shape: AnyShape) -> Variants:
    """The same declaration with another shape."""
    return (*(each for each in variants if isinstance(each, Declared)), shape)
