"""The case of a kind of change as blocks of a page: paragraphs and code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from abistore.report.documentation import labelled

FENCE = "```"


class Block(NamedTuple):
    """A paragraph, or code."""

    text: str
    is_code: bool


def blocks(markdown: str) -> tuple[Block, ...]:
    """The paragraphs and the code of a case, in order."""
    return tuple(_blocks(labelled(markdown))) if markdown else ()


def _blocks(markdown: str) -> Iterator[Block]:
    for number, part in enumerate(f"\n{markdown}".split(f"\n{FENCE}")):
        if number % 2:
            yield Block(part.partition("\n")[2], True)
        else:
            paragraphs = (text.strip() for text in part.split("\n\n"))
            yield from (Block(text, False) for text in paragraphs if text)
