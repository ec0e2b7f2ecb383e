"""How a resource is declared: one function, and the address that its arguments come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc

from abistore.mcp.call import Call

Read = Callable[..., str]

JSON, MARKDOWN = "application/json", "text/markdown"


@dataclass(frozen=True, slots=True)
class ReadableResource:
    """A resource, or all those whose addresses fit ``uri``, an RFC 6570 template."""

    read: Read
    uri: str
    mime: str

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


def resource(uri: str, mime: str = JSON) -> Callable[[Read], ReadableResource]:
    """Declare a function as a resource, whose docstring is what clients are told."""
    return lambda read: ReadableResource(read, uri, mime)
