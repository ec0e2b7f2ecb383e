"""YAML of mappings, lists and words alone, read in one pass and no further than its limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

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
                raise fault("a key that is no word", event)
            if key in found:
                raise fault(f"{key!r} is given twice", event)
            found[key] = self.value(next(self.events))
        return found
