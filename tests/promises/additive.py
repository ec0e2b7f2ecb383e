"""Whether a JSON Schema only adds to a kept one: for those who read what it describes, or for those who write it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

Schema: TypeAlias = Mapping[str, Any]
Direction: TypeAlias = Literal["read", "written"]

CLOSED = frozenset({"verdict", "outcome", "impact", "exit_code", "status"})
"""Keys of answers whose words are all known: a reader may decide by them. Other lists of words may grow."""

IGNORED = frozenset({"description", "title", "default", "examples", "$schema", "additionalProperties"})
"""What of a schema promises nothing. Readers ignore keys that they do not know."""


def stripped(schema: Any, *, names: bool = False) -> Any:
    """A schema without what promises nothing; of ``additionalProperties`` the type of a mapping's values is kept."""
    if isinstance(schema, list | tuple):
        return [stripped(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        key: stripped(value, names=key in ("properties", "$defs") and not names)
        for key, value in schema.items()
        if names or key not in IGNORED
    }
    if not names and isinstance(values := schema.get("additionalProperties"), dict):
        found["additionalProperties"] = stripped(values)
    return found


class Part(NamedTuple):
    """A schema, the name of its definition if it has one, and how it is called in answers of the comparison."""

    schema: Schema
    place: str
    name: str = ""


def breaches(kept: Schema, today: Schema, direction: Direction) -> list[str]:
    """What breaks those who read what a schema describes, or who write it; verbs among the definitions count too."""
    comparing = _Comparing(kept, today, direction)
    found = comparing.both(Part(kept, ""), Part(today, ""))
    for name, definition in kept.get("$defs", {}).items():
        if name.startswith("verb "):
            other = today.get("$defs", {}).get(name)
            found += [f"{name} is missing"] if other is None else []
            found += comparing.both(Part(definition, name), Part(other, name)) if other is not None else []
    for each in comparing.known.values():
        found += each
    return list(dict.fromkeys(found))


class _Comparing:
    """Compares parts of two documents, each pair of definitions once: they may contain themselves."""

    def __init__(self, kept: Schema, today: Schema, direction: Direction) -> None:
        self.kept = kept
        self.today = today
        self.direction = direction
        self.known: dict[tuple[str, str], list[str]] = {}
        """What is wrong with pairs of definitions that are meant to be the same."""

    def both(self, old: Part, new: Part) -> list[str]:
        """What is wrong with one part."""
        olds, news = _alternatives(self.kept, old), _alternatives(self.today, new)
        given, taken = (news, olds) if self.direction == "read" else (olds, news)
        unknown = [sort for sort in given if sort not in taken]
        found = []
        if unknown and "any" not in taken and not (unknown == ["integer"] and "number" in taken):
            said = "may be" if self.direction == "read" else "may no longer be"
            found.append(f"{old.place} {said} {', '.join(unknown)}")
        for sort in olds.keys() & news.keys():
            for each in olds[sort]:
                found += self._nearest(each, news[sort])
        return found

    def _nearest(self, old: Part, news: Sequence[Part]) -> list[str]:
        """What is wrong with one alternative: compared with that of its name, else with the most similar one."""
        named = [new for new in news if old.name and new.name == old.name] or news
        if len(named) > 1:
            named = [max(named, key=lambda new: len(_keys(old) & _keys(new)))]
        (new,) = named
        if not (old.name and new.name):
            return self._alike(old, new)
        pair = old.name, new.name
        if pair not in self.known:
            self.known[pair] = []  # it may contain itself
            self.known[pair] = self._alike(old, new)
        return []

    def _alike(self, old: Part, new: Part) -> list[str]:
        """What is wrong with a part that is of the same sort."""
        found = list(self._words(old, new))
        parts = new.schema.get("properties", {})
        for name, part in old.schema.get("properties", {}).items():
            place = f"{old.place}.{name}"
            found += (
                self.both(Part(part, place), Part(parts[name], place)) if name in parts else [f"{place} is missing"]
            )
        before, after = (set(each.schema.get("required", ())) for each in (old, new))
        if self.direction == "read":
            found += [f"{old.place}.{name} may be missing" for name in sorted((before - after) & parts.keys())]
        else:
            found += [f"{old.place}.{name} is required" for name in sorted(after - before)]
        for inner in ("items", "additionalProperties"):
            values = old.schema.get(inner), new.schema.get(inner)
            if isinstance(values[0], dict) and isinstance(values[1], dict):
                place = f"{old.place}[]"
                found += self.both(Part(values[0], place), Part(values[1], place))
        return found

    def _words(self, old: Part, new: Part) -> Iterator[str]:
        if "const" in old.schema and old.schema["const"] != new.schema.get("const"):
            yield f"{old.place} is no longer {old.schema['const']!r}"
        before, after = (set(each.schema.get("enum", ())) for each in (old, new))
        if after and (lost := before - after):
            yield f"{old.place} has lost {', '.join(map(str, sorted(lost)))}"
        is_closed = self.direction == "read" and old.place.rpartition(".")[2] in CLOSED
        if is_closed and before and (added := after - before):
            yield f"{old.place} has new words: {', '.join(map(str, sorted(added)))}"


def _keys(part: Part) -> set[str]:
    return set(part.schema.get("properties", ()))


def _alternatives(document: Schema, part: Part) -> dict[str, list[Part]]:
    """What a value may be, by its sort; references are followed."""
    schema = part.schema
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        definition = document["$defs"][name]
        inner = _alternatives(document, Part(definition, name, name))
        # a list of words is known by the key that has it
        return {
            sort: [each if _keys(each) else Part(each.schema, part.place) for each in some]
            for sort, some in inner.items()
        }
    if several := schema.get("anyOf") or schema.get("oneOf"):
        found: dict[str, list[Part]] = {}
        for each in several:
            for sort, some in _alternatives(document, Part(each, part.place)).items():
                found.setdefault(sort, []).extend(some)
        return found
    sorts = schema.get("type")
    if sorts is None:
        values = [schema["const"]] if "const" in schema else schema.get("enum", ())
        return {_sort(each): [part] for each in values} or {"any": [part]}
    return {sort: [part] for sort in ([sorts] if isinstance(sorts, str) else sorts)}


def _sort(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return names[type(value)]
