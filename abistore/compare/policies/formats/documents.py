"""The files of policies and suppressions: bounded, plain YAML, checked by a model."""

from __future__ import annotations

import os
import stat
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from abistore.compare.policies.formats import plain_yaml
from abistore.compare.policies.vocabulary import meant
from abistore.confinement import open_file
from abistore.errors import PolicyError
from abistore.model.findings import RulingFile

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MOST_BYTES = 4 << 20
"""The largest file that is read."""

MOST_ENTRIES = 50_000
"""How many sections or lines a file may have that say something."""


class StrictDocument(BaseModel):
    """A part of a file in which unknown keys are errors. ``described`` names the page that tells the file's keys."""

    described: ClassVar[str] = "docs/policies.md and docs/suppressions.md"
    model_config = ConfigDict(extra="forbid", frozen=True)


Checked = TypeVar("Checked", bound=StrictDocument)


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _day(value: Any) -> Any:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"{value!r} is not a day; write it as 2027-01-31") from error


Words = Annotated[tuple[str, ...], BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...])]
"""One word, or a list of them."""

Day = Annotated[date, BeforeValidator(_day)]
"""A day as ISO 8601 writes it."""


def is_over(expires: date | None, today: date) -> bool:
    """Whether an entry that holds through the day on which it expires no longer holds."""
    return expires is not None and expires < today


class SourceFile(NamedTuple):
    """A file as it was read."""

    path: Path
    text: str
    file: RulingFile


def read_source(path: Path) -> SourceFile:
    """The file's text and what it is known by. Raises :class:`PolicyError`."""
    try:
        with os.fdopen(open_file(path), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise PolicyError(f"{path}: is not a regular file", "copy it to a regular file first")
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise PolicyError(f"{path}: cannot be read: {what}", "name a file that can be read") from error
    if len(data) > MOST_BYTES:
        raise PolicyError(f"{path}: larger than {MOST_BYTES >> 20} MiB", "split it")
    try:
        name = path.name.encode(errors="surrogateescape").decode(errors="replace")
        return SourceFile(path, data.decode("utf-8-sig"), RulingFile(name, sha256(data).hexdigest()))
    except UnicodeDecodeError as error:
        raise PolicyError(f"{path}: not text in UTF-8", "name a file of YAML") from error


def read_yaml(source: SourceFile, model: type[Checked]) -> Checked:
    """The YAML document in a file, checked by ``model``. Raises :class:`PolicyError`."""
    path = source.path
    try:
        value = plain_yaml.read(source.text)
    except yaml.YAMLError as error:
        raise PolicyError(f"{path}: not valid YAML: {_problem(error)}", "correct it there") from error
    if not isinstance(value, dict):
        raise PolicyError(f"{path}: not a mapping of keys to values", f"its keys are: {', '.join(model.model_fields)}")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _refused(path, error.errors()[0], model) from error


def _problem(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark
        place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        return f"{error.problem or error.context}{place}"
    return " ".join(str(error).split())


def _refused(path: Path, fault: ErrorDetails, model: type[StrictDocument]) -> PolicyError:
    """The first fault that the model found, at its place in the file."""
    places = fault["loc"]
    what = fault["msg"].removeprefix("Value error, ")
    hint = f"see {model.described}"
    if fault["type"] == "extra_forbidden":
        places, what = places[:-1], f"unknown key {str(fault['loc'][-1])!r}"
        hint = meant(str(fault["loc"][-1]), _keys(model, places), "")
    elif fault["type"] == "missing":
        what = "missing"
    elif fault["type"] == "literal_error":
        hint = meant(
            str(fault["input"]), fault["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", "), ""
        )
    return PolicyError(f"{path}: {place_of(places)}{what}", hint)


def place_of(places: tuple[int | str, ...]) -> str:
    """A place in a document for people: ``suppressions, entry 3, symbol: ``."""
    said = [f"entry {place + 1}" if isinstance(place, int) else str(place) for place in places]
    return f"{', '.join(said)}: " if said else ""


def _keys(model: type[BaseModel], places: tuple[int | str, ...]) -> list[str]:
    """The keys that are known at a place of a document."""
    for place in places:
        if isinstance(place, str) and place in model.model_fields:
            inner = _model_within(model.model_fields[place].annotation)
            model = inner or model
    return list(model.model_fields)


def _model_within(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    arguments = getattr(annotation, "__args__", ())
    return next((found for each in arguments if (found := _model_within(each))), None)
