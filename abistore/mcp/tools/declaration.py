"""How a tool is declared: one function, whose signature and docstring say all that clients are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, cleandoc, signature
from typing import Any, get_type_hints

import msgspec

from abistore.mcp.call import Call
from abistore.mcp.questions import Question

Body = Callable[..., msgspec.Struct]
Ask = Callable[..., Question]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. ``writes``: it changes the database; ``destroys``: what it changes may be lost.

    ``asks`` takes the same arguments, and tells what a person decides before it writes.
    """

    body: Body
    writes: bool = False
    destroys: bool = False
    asks: Ask | None = None

    @property
    def name(self) -> str:
        """What clients call it."""
        return self.body.__name__

    @property
    def description(self) -> str:
        """What clients are told of it."""
        return cleandoc(self.body.__doc__ or "")

    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments it takes, with their types."""
        hints = get_type_hints(self.body, include_extras=True)
        own = (each for each in signature(self.body).parameters.values() if each.name != "call")
        return tuple(each.replace(annotation=hints[each.name]) for each in own)

    def answer_type(self) -> type[msgspec.Struct]:
        """The type of its answers."""
        found: type[msgspec.Struct] = get_type_hints(self.body)["return"]
        return found

    def __call__(self, call: Call, **arguments: Any) -> msgspec.Struct:
        """The answer to a call."""
        return self.body(call, **arguments)


def tool(*, writes: bool = False, destroys: bool = False, asks: Ask | None = None) -> Callable[[Body], Tool]:
    """Declare a function as a tool: its name, docstring and annotations are what clients see."""
    return lambda body: Tool(body, writes, destroys, asks)
