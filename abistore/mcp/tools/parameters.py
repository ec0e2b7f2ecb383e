"""The arguments that several tools take, with what clients are told of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field


def described(text: str, **more: Any) -> Any:
    """What clients are told of an argument."""
    return Field(description=text, **more)


Library: TypeAlias = Annotated[str, described("As stored, e.g. libfoo")]
Version: TypeAlias = Annotated[str, described("Label as a string")]
Cursor: TypeAlias = Annotated[str | None, described("next_cursor given before")]
Limit: TypeAlias = Annotated[int, described("At most", ge=1, le=200)]
DetailLevel: TypeAlias = Annotated[Literal["summary", "normal", "full"], described("How much")]
ComparisonId: TypeAlias = Annotated[str, described("Of an earlier answer")]

Operand: TypeAlias = Annotated[str, described("libfoo@1.2.0, @baseline; or absolute path")]
Headers: TypeAlias = Annotated[list[str] | None, described("Files or folders")]
Folders: TypeAlias = Annotated[list[str] | None, described("Of what they include")]
Language: TypeAlias = Annotated[str | None, described("Of the headers", json_schema_extra={"enum": ["c++", "c"]})]
Only: TypeAlias = Annotated[str, described("Of several: library or target")]
Policy: TypeAlias = Annotated[
    str,
    described("Built-in", json_schema_extra={"enum": ["strict_abi", "sdk_vendor", "plugin_abi"]}),
]
PolicyFile: TypeAlias = Annotated[str | None, described("YAML file; wins over policy")]
SuppressionFile: TypeAlias = Annotated[str | None, described("YAML or INI file")]
Line: TypeAlias = Annotated[str | None, described("TARGET[/PROFILE]")]
FailOn: TypeAlias = Annotated[Literal["breaking", "api_break", "risk", "never"], described("Mildest that fails")]
Allow: TypeAlias = Annotated[str, described("Or breaking-on-soname-bump, package, major, never")]
