"""How a resource is declared: one function, and the address that its arguments come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import cleandoc

from abistore.mcp.call import Call
from abistore.mcp.resources.text import document

Read = Callable[..., str]
Ask = Callable[..., object]

JSON, MARKDOWN = "application/json", "text/markdown"


@dataclass(frozen=True, slots=True)
class ReadableResource:
    """A resource, or all those whose addresses fit ``uri``, an RFC 6570 template.

    ``priority`` is how much a client should want it, from 0 to 1. What ``lasts`` always has the same text: its address
    has a digest, or it comes with the package.
    """

    read: Read
    uri: str
    mime: str
    priority: float = 0.5
    lasts: bool = False

    @property
    def name(self) -> str:
        """What it is called in a list."""
        return self.read.__name__

    @property
    def description(self) -> str:
        """What clients are told of it."""
        return cleandoc(self.read.__doc__ or "")

    @property
    def is_template(self) -> bool:
        """Whether its address has variables."""
        return "{" in self.uri

    def __call__(self, call: Call, **arguments: str) -> str:
        """Its text."""
        return self.read(call, **arguments)


def resource(
    uri: str, mime: str = JSON, *, priority: float = 0.5, lasts: bool = False
) -> Callable[[Read], ReadableResource]:
    """Declare a function as a resource, whose docstring is what clients are told."""
    return lambda read: ReadableResource(read, uri, mime, priority, lasts)


def answer(uri: str, word: str, *, priority: float = 0.5) -> Callable[[Ask], ReadableResource]:
    """Declare a question to the store as a resource: the JSON of the command line, which has the answer at ``word``."""

    def declared(ask: Ask) -> ReadableResource:
        @wraps(ask)
        def read(call: Call, **arguments: str) -> str:
            with call.store() as store:
                return document({word: ask(store, **arguments)})

        return ReadableResource(read, uri, JSON, priority)

    return declared
