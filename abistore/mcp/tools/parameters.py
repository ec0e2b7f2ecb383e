"""The arguments that several tools take, with what clients are told of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field


def described(text: str, **more: Any) -> Any:
    """What clients are told of an argument."""
    return Field(description=text, **more)


Library: TypeAlias = Annotated[str, described("Library name as stored, e.g. libfoo")]
Version: TypeAlias = Annotated[str, described("Version label as a string, e.g. '2.10'")]
Cursor: TypeAlias = Annotated[str | None, described("next_cursor of the answer before")]
Limit: TypeAlias = Annotated[int, described("Most items in this page", ge=1, le=200)]
DetailLevel: TypeAlias = Annotated[
    Literal["summary", "normal", "full"], described("How much is told of each item; summary is cheapest")
]
ComparisonId: TypeAlias = Annotated[
    str, described("comparison_id of an earlier answer, or its first 6 or more digits", pattern="^[0-9a-fA-F]{6,32}$")
]
