"""Policies and suppressions as YAML documents."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from abistore.diffing.context import load
from abistore.diffing.policy import (
    IMPACTS,
    PROFILES,
    Condition,
    Expression,
    InNamespace,
    Internal,
    LocatedIn,
    MemberIs,
    OfCategory,
    OfKind,
    Override,
    Policy,
    SymbolIs,
    SymbolMatches,
    TypeIs,
    TypeMatches,
    Weighty,
    glob,
    meant,
    profile,
    resolve_category,
    resolve_kind,
)
from abistore.errors import PolicyError
from abistore.files import open_file
from abistore.model.findings import Impact, RulingFile
from abistore.model.names.qualified import normal_name
from abistore.urls import masked

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

DEEPEST = 20
"""How deep a document may nest."""

MOST_VALUES = 50_000
"""How many keys, words, lists and mappings a document may have: some 10,000 suppressions."""

_PARSER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""PyYAML's parser in C where it is built with one: twenty times as fast."""


def read(text: str) -> Any:
    """The document as dictionaries, lists and strings: ``1.10`` and ``no`` stay what they are.

    Raises :class:`yaml.YAMLError` for anything else: aliases, tags, a key that is given twice, too much of it.
    """
    parser = _PARSER(text)
    try:
        events = _events(parser)
        next(events)
        reader = _Reader(events)
        value = reader.value(next(reader.events))
        after = next(reader.events, None)
        if isinstance(after, yaml.DocumentStartEvent):
            raise fault("a second document", after)
        return value
    except StopIteration:
        return None
    finally:
        parser.dispose()


def fault(what: str, event: Any) -> yaml.MarkedYAMLError:
    """The error for what is wrong at ``event``."""
    return yaml.MarkedYAMLError(problem=what, problem_mark=event.start_mark)


def _events(parser: Any) -> Iterator[Any]:
    """What the parser meets: the beginning of each document and what is in it."""
    while parser.check_event():
        event = parser.get_event()
        if not isinstance(event, yaml.StreamStartEvent | yaml.DocumentEndEvent | yaml.StreamEndEvent):
            yield event


class _Reader:
    def __init__(self, events: Iterator[Any]) -> None:
        self.events = events
        self._values = 0
        self._depth = 0

    def value(self, event: Any) -> Any:
        """The value that begins with ``event``."""
        self._check(event)
        match event:
            case yaml.ScalarEvent():
                return event.value
            case yaml.SequenceStartEvent():
                found: Any = list(self._until(yaml.SequenceEndEvent))
            case yaml.MappingStartEvent():
                found = self._mapping()
            case _:
                raise fault("a second document", event)
        self._depth -= 1
        return found

    def _check(self, event: Any) -> None:
        self._values += 1
        if self._values > MOST_VALUES:
            raise fault(f"more than {MOST_VALUES:,} values; split the file", event)
        if isinstance(event, yaml.AliasEvent):
            raise fault("aliases are not supported", event)
        if getattr(event, "tag", None):
            raise fault("tags are not supported", event)
        if not isinstance(event, yaml.ScalarEvent):
            self._depth += 1
            if self._depth > DEEPEST:
                raise fault("nested too deep", event)

    def _until(self, end: type[Any]) -> Iterator[Any]:
        while not isinstance(event := next(self.events), end):
            yield self.value(event)

    def _mapping(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.value(event)
            if not isinstance(event, yaml.ScalarEvent):
                raise fault("a key that is not a word", event)
            if key in found:
                raise fault(f"{key!r} is given twice", event)
            found[key] = self.value(next(self.events))
        return found


MOST_BYTES = 4 << 20
"""The largest file that is read."""

MOST_ENTRIES = 50_000
"""How many sections or lines a file may have that say something."""


class StrictDocument(BaseModel):
    """A part of a file in which unknown keys are errors. ``described`` names the page that tells the file's keys."""

    described: ClassVar[str] = "docs/questions/policies.md and docs/questions/suppressions.md"
    model_config = ConfigDict(extra="forbid", frozen=True)


Checked = TypeVar("Checked", bound=StrictDocument)


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _day(value: Any) -> Any:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"{value!r} is not a date; write it as 2027-01-31") from error


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
    return source_of(path, data)


def source_of(path: Path, data: bytes) -> SourceFile:
    """The text of a file, or of a member of a package, and what it is known by. Raises :class:`PolicyError`."""
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
        value = read(source.text)
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


class Selecting(StrictDocument):
    """Which findings an entry is about: all keys that are given must hold, of the values of one key any."""

    symbol: Words = Field((), description="Exports: linker names, or qualified names with or without parameters.")
    symbol_pattern: Words = Field((), description="Regular expressions that match one of these names completely.")
    type: Words = Field((), description="Types by their qualified names.")
    type_pattern: Words = Field((), description="Regular expressions that match a type's qualified name completely.")
    member: Words = Field((), description="Fields, enumerators, bases or parameters of the declaration.")
    namespace: Words = Field((), description="Enclosing namespaces or classes; * is any name, ** any path.")
    change_kind: Words = Field((), description="Kinds of change, or their aliases.")


def conditions_of(entry: Selecting, where: str, files: Words) -> tuple[Condition, ...]:
    """The conditions that an entry states; ``files`` are globs of the files that declare. Raises PolicyError."""
    try:
        found = tuple(_conditions(entry, where, files))
    except PolicyError as error:
        raise PolicyError(_placed(where, error.message), error.hint) from error
    if not found:
        raise PolicyError(f"{where}: selects nothing", "give a symbol, a type, a namespace or a change_kind")
    return found


def _placed(where: str, message: str) -> str:
    return message if message.startswith(where) else f"{where}: {message}"


def _conditions(entry: Selecting, where: str, files: Words) -> Iterator[Condition]:
    for key, values in ((key, value) for key, value in entry if isinstance(value, tuple)):
        if any(not value.strip() for value in values):
            raise PolicyError(f"{where}: {key} is empty", "leave the key out, or give it a value")
    if entry.change_kind:
        kinds = {kind for word in entry.change_kind for kind in resolve_kind(word, where)}
        yield OfKind(tuple(sorted(kinds)))
    if entry.symbol:
        yield SymbolIs(entry.symbol)
    if entry.type:
        yield TypeIs(tuple(map(type_name, entry.type)))
    if entry.symbol_pattern:
        yield SymbolMatches(tuple(map(Expression, entry.symbol_pattern)))
    if entry.type_pattern:
        yield TypeMatches(tuple(map(Expression, entry.type_pattern)))
    if entry.member:
        yield MemberIs(entry.member)
    if entry.namespace:
        yield InNamespace(namespaces(entry.namespace))
    if files:
        yield LocatedIn(tuple(glob(file, "/") for file in files))


def type_name(text: str) -> str:
    """A type's name as it is compared: in normal form, without ``struct`` or its like."""
    return normal_name(re.sub(r"^(?:struct|class|union|enum)\s+", "", text.strip()))


def namespaces(words: Words) -> tuple[Expression, ...]:
    """Patterns of namespaces: ``*`` stands for one name, ``**`` for any path, and ``geo::**`` for ``geo`` as well."""
    plain = [word.strip().removesuffix("::") for word in words]
    inner = (word.removesuffix("::**") for word in plain if word.endswith("::**"))
    return tuple(glob(word, ":") for word in dict.fromkeys((*plain, *inner)))


def _impact(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip().replace("-", "_")
    return value


ImpactWord = Annotated[Literal["notice", "compatible", "risk", "api_break", "breaking"], BeforeValidator(_impact)]


class OverrideDocument(StrictDocument):
    """Another impact, and why."""

    impact: ImpactWord
    reason: str = Field(description="The reason, shown with every finding that this changes.", min_length=1)
    expires: Day | None = Field(None, description="The last valid date, e.g. 2027-01-31.")


class SelectiveOverride(OverrideDocument, Selecting):
    """Another impact for the findings that all given keys select."""

    label: str = Field("", description="A name for this entry.")
    category: str = Field("", description="Kinds of this category.")
    header: Words = Field((), description="Globs of the declaring files; one without a slash matches in any folder.")


class PolicyDocument(StrictDocument):
    """A policy file."""

    name: str = Field("", description="The name in reports; by default the file's name.")
    base: Literal["strict_abi", "sdk_vendor", "plugin_abi"] = Field(
        "strict_abi", description="The profile for everything that this file does not decide."
    )
    versioning: Literal["auto", "pep440", "semver", "debian", "plain"] = Field(
        "auto", description="The order of versions in the ranges of suppressions."
    )
    internal_namespaces: Words = Field((), description="Internal namespaces, which consumers do not use.")
    frozen_namespaces: Words = Field((), description="Frozen namespaces, where every change is breaking.")
    kinds: dict[str, OverrideDocument] = Field({}, description="Impacts by kind of change.")
    categories: dict[str, OverrideDocument] = Field({}, description="Impacts by category.")
    overrides: tuple[SelectiveOverride, ...] = Field(
        (), description="Impacts of selected findings; the first match decides."
    )


def read_policy(path: Path, today: date) -> Policy:
    """The policy in a file. Raises :class:`PolicyError`.

    The most particular override decides: ``overrides`` in their order, frozen namespaces, internal ones, ``kinds``,
    ``categories``, and last the base profile.
    """
    return _policy(read_source(path), today)


def policy_in_text(text: str, name: str, today: date) -> Policy:
    """The same of a text that is kept elsewhere under a ``name``. Raises :class:`PolicyError`."""
    return _policy(SourceFile(Path(name), text, RulingFile(name, sha256(text.encode()).hexdigest())), today)


def _policy(source: SourceFile, today: date) -> Policy:
    path = source.path
    document = read_yaml(source, PolicyDocument)
    name = document.name.strip() or path.stem
    _check_name(name, path)
    base = profile(document.base)
    every = [*_particular(document, path), *_by_namespace(document, path), *_by_kind(document, path), *base.overrides]
    return Policy(
        name=name,
        base=document.base,
        overrides=tuple(each for each in every if not is_over(each.expires, today)),
        scheme=document.versioning,
        expired=tuple(each for each in every if is_over(each.expires, today)),
        file=source.file,
    )


def _check_name(name: str, path: Path) -> None:
    """Raise :class:`PolicyError` for a name that a reader may take for that of a built-in policy."""
    if not (name.isascii() and name.isprintable()):
        raise PolicyError(f"{path}: not a policy's name: {name[:40]!r}", "give it a `name` of ASCII letters")
    like = next((known for known in PROFILES if _looks(known) in _looks(name)), None)
    if like is not None:
        raise PolicyError(f"{path}: {name[:40]} is too similar to the built-in policy {like}", "give it another `name`")


def _looks(name: str) -> str:
    """What is left of a name where signs that look alike are one, without case and without what separates words."""
    text = name.casefold().translate(_ALIKE)
    for written, read in (("rn", "m"), ("vv", "w")):
        text = text.replace(written, read)
    return "".join(letter for letter in text if letter.isalnum())


_ALIKE = str.maketrans("01l|!5$", "oiiiiss")


def find_policy(word: str, today: date) -> Policy:
    """The profile or the file called ``word``. Raises :class:`PolicyError`."""
    path = Path(word)
    if "/" in word or path.suffix or path.exists():
        return read_policy(path, today)
    raise PolicyError(f"no policy and no file named {word!r}", meant(word, PROFILES, ""))


def _particular(document: PolicyDocument, path: Path) -> Iterator[Override]:
    for number, entry in enumerate(document.overrides, 1):
        place = f"overrides, entry {number}" + (f" ({entry.label})" if entry.label else "")
        where = f"{path}: {place}"
        category = (OfCategory(resolve_category(entry.category, where)),) if entry.category else ()
        selecting = entry.model_dump(include=set(Selecting.model_fields))
        given = entry.header or any(selecting.values())
        selected = conditions_of(entry, where, entry.header) if given or not category else ()
        for condition in selected:
            if isinstance(condition, OfKind):
                _refuse_advice(condition.kinds, where)
        yield _override((*category, *selected), entry, place, where)


def _by_namespace(document: PolicyDocument, path: Path) -> Iterator[Override]:
    if document.frozen_namespaces:
        frozen = InNamespace(_namespaces(document.frozen_namespaces, f"{path}: frozen_namespaces"))
        yield Override((frozen, Weighty()), Impact.BREAKING, "the namespace is frozen", "frozen_namespaces")
    if document.internal_namespaces:
        internal = Internal(_namespaces(document.internal_namespaces, f"{path}: internal_namespaces"))
        yield Override((internal,), Impact.COMPATIBLE, "the namespace is internal", "internal_namespaces")


def _namespaces(words: Words, where: str) -> Any:
    if any(not word.strip() for word in words):
        raise PolicyError(f"{where}: an empty name", "name the namespace")
    return namespaces(words)


def _by_kind(document: PolicyDocument, path: Path) -> Iterator[Override]:
    decided: dict[str, str] = {}
    for word, decision in _ordered(document.kinds):
        where = f"{path}: kinds, {word}"
        kinds = resolve_kind(word, where)
        _refuse_advice(kinds, where)
        for kind in kinds:
            if kind in decided:
                raise PolicyError(f"{where}: repeats the kind of {decided[kind]}", "remove one of them")
            decided[kind] = word
        yield _override((OfKind(kinds),), decision, f"kinds, {word}", where)
    for word, decision in _ordered(document.categories):
        where = f"{path}: categories, {word}"
        yield _override((OfCategory(resolve_category(word, where)),), decision, f"categories, {word}", where)


def _refuse_advice(kinds: tuple[str, ...], where: str) -> None:
    """Raise :class:`PolicyError` where only advice is given another impact: it would have none."""
    if kinds and all(load()[kind].impact is Impact.ADVICE for kind in kinds):
        raise PolicyError(
            f"{where}: {', '.join(kinds)} is advice and does not affect the verdict",
            "give the change itself an impact, e.g. soname_changed",
        )


def _ordered(decisions: Mapping[str, OverrideDocument]) -> Iterable[tuple[str, OverrideDocument]]:
    return sorted(decisions.items())


def _override(conditions: tuple[Condition, ...], decision: OverrideDocument, place: str, where: str) -> Override:
    if not decision.reason.strip():
        raise PolicyError(f"{where}: reason is empty", "state why this impact is right for your consumers")
    return Override(conditions, IMPACTS[decision.impact], masked(decision.reason.strip()), place, decision.expires)
