"""Results of the service as plain JSON values, and the documentation of kinds."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import Enum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from abistore.errors import UsageError
from abistore.model.declarations import Name
from abistore.model.envelope import Envelope, schema_of
from abistore.model.findings import Impact, Verdict
from abistore.model.kind_names import kind_of
from abistore.model.snapshot import Location, Target
from abistore.urls import masked

PLACE = "{kind}"
SCHEMES = frozenset({"file", "http", "https"})


def page(kind: str, docs: str = "") -> str:
    """The absolute URI of a kind's page, which has its variants: below ``docs``, else as the project's metadata say.

    ``docs`` has ``{kind}`` in place of the kind, or is the site that ``python -m docs`` builds. Without either address
    the URI is a name that opens nothing (``urn:abistore:kind:KIND``).
    """
    base, kind = docs or _documentation(), kind_of(kind)
    if not base:
        return f"urn:abistore:kind:{kind}"
    return base.replace(PLACE, kind) if PLACE in base else f"{base.rstrip('/')}/reference/kinds/{kind}.html"


def check_docs(docs: str) -> None:
    """Raise :class:`UsageError` if ``docs`` is no absolute URL, or has a password, which every report would show."""
    try:
        parts = urlsplit(docs)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in SCHEMES or not (parts.netloc or parts.path.startswith("/")) or " " in docs:
        raise UsageError(f"not the address of documentation: {docs}", "e.g. https://example.org/abistore/kinds/{kind}")
    if masked(docs) != docs:
        raise UsageError(
            f"the address of documentation has a password or token: {docs}", "it would appear in every report"
        )


@cache
def _documentation() -> str:
    from importlib.metadata import PackageNotFoundError, metadata  # few answers name pages

    try:
        urls: list[str] = metadata("abistore").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    return next((url.partition(", ")[2] for url in urls if url.startswith("Documentation, ")), "")


# --- cases --------------------------------------------------------------------------------------------------------

LINES_SHOWN = 3
"""How many lines of one finding are shown."""

OPTIONS = re.compile(r"\b(?:compiler|flags)=(?:\"([^\"]*)\"|(\S+))")
FENCE = re.compile(r"^```(?P<info>[^\n`]+)$", re.MULTILINE)
FINDINGS = re.compile(r"^```findings\n.*?^```$", re.MULTILINE | re.DOTALL)
SIDES = {"old": "Before", "new": "After"}
LANGUAGES = {"findings": "text", "header": "c", "map": "text"}
FILES = {"header": "the header `case.h`", "map": "the version script"}


def labelled(markdown: str, width: int | None = None) -> str:
    """A case with a line above each block that says what it is: before, after, or the findings.

    Findings that have more than ``width`` columns are wrapped, and cut after a few lines.
    """
    if width is not None:
        markdown = FINDINGS.sub(lambda match: "\n".join(_wrapped(match[0].split("\n"), width)), markdown)
    return FENCE.sub(_labelled, markdown)


def _wrapped(lines: Iterable[str], width: int) -> Iterator[str]:
    for line in lines:
        yield textwrap.fill(
            line,
            width,
            subsequent_indent=" " * 12,
            max_lines=LINES_SHOWN,
            placeholder=" ...",
            break_long_words=False,
            break_on_hyphens=False,
        )


def _labelled(match: re.Match[str]) -> str:
    language, *words = match["info"].split()
    if language == "findings":
        return "What abistore finds:\n\n```text"
    side = next((SIDES[word] for word in words if word in SIDES), "Before and after")
    named = re.search(r"\bfile=\"?([^\s\"]+)", match["info"])
    what = f"`{named[1]}`" if named else "a snapshot" if "snapshot" in words else FILES.get(language, "")
    compiled = " ".join(quoted or bare for quoted, bare in OPTIONS.findall(match["info"]))
    notes = ", ".join(filter(None, (what, f"`{compiled}`" if compiled else "")))
    return f"{side}{f' ({notes})' if notes else ''}:\n\n```{LANGUAGES.get(language, language)}"


PLAIN = frozenset({bool, int, float, str})


def plain(value: Any) -> Any:
    """``value`` in JSON's own types: names as ``{kind, symbol}``, verdicts by name, times in ISO 8601.

    What is unset is left out.
    """
    if value is None or type(value) in PLAIN:
        return value
    match value:
        case Verdict():
            return value.name
        case Impact():
            return value.label
        case Enum():
            return value.value
        case Name():
            return {"kind": value.kind, "symbol": value.spelling}
        case Target() | Location() | Path():
            return str(value)
        case date():
            return value.isoformat()
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case msgspec.Struct():
            fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
            return {name: plain(item) for name, item in fields if item is not msgspec.UNSET}
        case tuple() | list():
            return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


_TEXT = {"type": "string"}
_WRITTEN: dict[str, dict[str, Any]] = {
    "Verdict": {"enum": [verdict.name for verdict in Verdict]},
    "Impact": {"enum": [impact.label for impact in Impact]},
    "Name": {"type": "object", "properties": {"kind": _TEXT, "symbol": _TEXT}, "required": ["kind", "symbol"]},
    "Target": _TEXT,
    "Location": _TEXT,
}
"""What :func:`plain` writes otherwise than msgspec does."""


SCHEMA = "https://json-schema.org/draft/2020-12/schema"


def answer_schema(title: str, words: tuple[str, ...], *data: Any) -> dict[str, Any]:
    """The JSON Schema (2020-12) of what a verb prints, by what ``data`` may be: a type, or the types of its keys.

    Every field is required that is not left out where it is unset, so that readers need no defaults.
    """
    (answer,), definitions = _answers({words: data})
    return {"$schema": SCHEMA, "title": title, **answer, "$defs": definitions}


def answers_schema(verbs: Mapping[tuple[str, ...], Sequence[Any]]) -> dict[str, Any]:
    """The same of all verbs, each below ``$defs/verb WORDS``."""
    answers, definitions = _answers(verbs)
    named = {f"verb {' '.join(words)}": answer for words, answer in zip(verbs, answers, strict=True)}
    return {"$schema": SCHEMA, "title": "answers of abistore", "$defs": {**named, **definitions}}


def _answers(verbs: Mapping[tuple[str, ...], Sequence[Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The schema of what each verb prints, and the definitions that these share."""
    kinds = [each if isinstance(each, Mapping) else {"": each} for every in verbs.values() for each in every]
    shapes, definitions = _written([*kinds, {"": Envelope}])
    envelope, told = definitions.pop("Envelope"), map(_data, shapes)
    answers = [_enveloped(envelope, words, [*islice(told, len(every))]) for words, every in verbs.items()]
    return answers, definitions


def _data(properties: dict[str, Any]) -> dict[str, Any]:
    """What data may be: of one type, or an object with exactly these keys."""
    whole: dict[str, Any] | None = properties.get("")
    if whole is not None:
        return whole
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _enveloped(envelope: dict[str, Any], words: tuple[str, ...], data: Sequence[dict[str, Any]]) -> dict[str, Any]:
    own = {"schema": {"const": schema_of(words)}, "data": {"anyOf": [*data, {"type": "null"}]}}
    return {
        "type": "object",
        "properties": envelope["properties"] | own,
        "required": envelope["required"],
        "additionalProperties": False,
    }


def _written(answers: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The properties of each answer, and the definitions that they share."""
    types = [each for answer in answers for each in answer.values()]
    references, components = msgspec.json.schema_components(types, schema_hook=_hook, ref_template="#/$defs/{name}")
    rows = {each.__name__: each.__struct_fields__ for each in _rows(msgspec.Struct)}
    told = iter(references)
    definitions = {
        name: _WRITTEN.get(name) or _complete(each, rows.get(name)) for name, each in sorted(components.items())
    }
    return [{key: next(told) for key in answer} for answer in answers], definitions


def _hook(kind: type) -> dict[str, Any]:
    if issubclass(kind, Path):
        return _TEXT
    raise NotImplementedError(kind)


def _rows(above: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    """The classes that msgspec writes as a row of values, and :func:`plain` with the names of its fields."""
    for each in above.__subclasses__():
        if each.__struct_config__.array_like:
            yield each
        yield from _rows(each)


def _complete(component: dict[str, Any], fields: Sequence[str] | None) -> dict[str, Any]:
    if fields is not None and "prefixItems" in component:
        return _with_names(component, fields)
    properties = component.get("properties")
    if properties is None:
        return component
    told = {field: _without_default(each) for field, each in properties.items()}
    required = [field for field in properties if field in component["required"] or "default" in properties[field]]
    return {**component, "properties": told, "required": required}


def _with_names(component: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    items = map(_without_default, component["prefixItems"])
    about = {key: component[key] for key in ("title", "description")}
    properties = dict(zip(fields, items, strict=True))
    return {**about, "type": "object", "properties": properties, "required": list(fields)}


def _without_default(field: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in field.items() if key != "default"}
