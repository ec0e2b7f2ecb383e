"""How a tool is declared, and the arguments that several tools take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, cleandoc, signature
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

import msgspec
from pydantic import BeforeValidator, Field

from abistore import arguments
from abistore.mcp.operands import MOST_ITEMS, Call, Question

Body = Callable[..., msgspec.Struct]
Ask = Callable[..., Question]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. ``title`` is for people. ``writes``: it changes the database; ``destroys``: what it changes may be lost.

    ``asks`` takes the same arguments, and tells what a person decides before it writes.
    """

    body: Body
    title: str = ""
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
        """The arguments it takes, with their types and what clients are told of them."""
        hints = self.hints()
        own = (each for each in signature(self.body).parameters.values() if each.name in hints)
        return tuple(each.replace(annotation=_told(hints[each.name])) for each in own)

    def hints(self) -> dict[str, Any]:
        """The annotations of its arguments, as they are declared."""
        hints = get_type_hints(self.body, include_extras=True)
        return {name: hint for name, hint in hints.items() if name not in {"call", "return"}}

    def answer_type(self) -> type[msgspec.Struct]:
        """The type of its answers."""
        found: type[msgspec.Struct] = get_type_hints(self.body)["return"]
        return found

    def __call__(self, call: Call, **arguments: Any) -> msgspec.Struct:
        """The answer to a call."""
        return self.body(call, **arguments)


def tool(
    title: str, *, writes: bool = False, destroys: bool = False, asks: Ask | None = None
) -> Callable[[Body], Tool]:
    """Declare a function as a tool: its name, title, docstring and annotations are what clients see."""
    return lambda body: Tool(body, title, writes, destroys, asks)


def described(text: str, **more: Any) -> Any:
    """What clients are told of an argument."""
    return Field(description=text, **more)


def like(argument: Any) -> arguments.Described:
    """What is said of an argument of verbs, and its choices, for one of another type."""
    words = arguments.choices(argument)
    return arguments.described(argument)._replace(choices=(lambda: words) if words else None)


def _told(hint: Any) -> Any:
    """An annotation as the SDK reads it: what is said of an argument of verbs, for agents."""
    said = arguments.described(hint)
    if not said.agents:
        return hint
    choices = {"json_schema_extra": {"enum": list(said.choices())}} if said.choices else {}
    told = described(said.agents, ge=said.least, le=said.most, **choices)
    return Annotated[hint.__origin__, *(told if each is said else each for each in hint.__metadata__)]


Library: TypeAlias = Annotated[str, like(arguments.LibraryName)]
SomeLibrary: TypeAlias = Annotated[str | None, like(arguments.LibraryName)]
Version: TypeAlias = Annotated[str, like(arguments.BuildVersion)]
Cursor: TypeAlias = Annotated[str | None, described("next_cursor given before")]
Limit: TypeAlias = Annotated[int | None, described("Most items", ge=1, le=MOST_ITEMS)]
DetailLevel: TypeAlias = Annotated[Literal["summary", "normal", "full"], described("full: nothing is cut")]
ComparisonId: TypeAlias = Annotated[str, described("From an earlier answer")]
FoundIn: TypeAlias = Annotated[str | None, described("Else: all stored verdicts")]
Inline: TypeAlias = Annotated[bool, described("Send the snapshot, if short")]

Operand: TypeAlias = Annotated[str, like(arguments.Operand)]


def _as_list(given: Any) -> Any:
    """One path where a list is taken: agents leave the brackets out."""
    return [given] if isinstance(given, str) else given


Headers: TypeAlias = Annotated[list[str] | None, BeforeValidator(_as_list), like(arguments.Headers)]
Folders: TypeAlias = Annotated[list[str] | None, BeforeValidator(_as_list), like(arguments.IncludeFolders)]
Language: TypeAlias = Annotated[str | None, like(arguments.Language)]
Only: TypeAlias = Annotated[str, like(arguments.Only)]
Policy: TypeAlias = Annotated[
    str, like(arguments.Policy), Field(json_schema_extra={"enum": ["strict_abi", "sdk_vendor", "plugin_abi"]})
]
PolicyFile: TypeAlias = Annotated[str | None, described("YAML file; wins over policy")]
SuppressionFile: TypeAlias = Annotated[str | None, like(arguments.Suppressions)]
Line: TypeAlias = Annotated[str | None, described("TARGET[/PROFILE]")]
LibraryPath: TypeAlias = Annotated[str, described("Absolute path: library or JSON snapshot")]
