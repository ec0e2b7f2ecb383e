"""An agent without a model: it chooses the next call by words of its task, in what the server says of its tools.

It starts with a tool that takes all that the person said, and needs no more: the one whose description has the first
word of the task. After each answer it looks for what the task wants to know. Where that is not there, it asks for the
next page, or follows one of the calls that the answer names in ``next``: the one whose description has the first word,
else the first that it has not made. It knows no tool, and no id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from examples.agents.speaking import Speaking

MOST_CALLS = 6
_DOT = re.compile(r"\.(?![^\[]*\])")
_STEP = re.compile(r"(?P<name>\w+)(?:\[(?:(?P<key>\w+)=(?P<value>[^\]]*)|(?P<last>-1)|)\])?")


class Task(NamedTuple):
    """A question. ``given`` is what the person said, by the names of arguments; ``words`` are those that choose calls.

    ``find`` is where the answer stands, as ``events[action=removed].version``, and ``answer`` what it is. ``facts`` are
    further places with what is there, all of which the answers must tell, too.
    """

    name: str
    question: str
    given: Mapping[str, Any]
    words: Sequence[str]
    find: str
    answer: Sequence[Any]
    facts: Mapping[str, Sequence[Any]] = {}
    most_calls: int = 2
    most_bytes: int = 8_000

    @property
    def wanted(self) -> dict[str, Sequence[Any]]:
        """All that the answers must tell, by where it stands."""
        return {self.find: self.answer, **self.facts}

    def missed(self, solved: Solved) -> list[str]:
        """What is wrong with a solution: calls or bytes too many, facts not found, comments that end within code."""
        said = [f"{len(solved.calls)} calls, at most {self.most_calls}"] if len(solved.calls) > self.most_calls else []
        if solved.bytes > self.most_bytes:
            said.append(f"{solved.bytes:,} bytes, at most {self.most_bytes:,}")
        for path, wanted in self.wanted.items():
            if not told(found := solved.facts.get(path, ()), wanted):
                said.append(f"{path}: {found!r}, not {wanted!r}")
        return said + [
            f"a comment ends within code: …{each[-80:]}" for each in solved.comments if each.count("```") % 2
        ]


class Step(NamedTuple):
    """A call that can be made."""

    tool: str
    arguments: Mapping[str, Any]


class Solved(NamedTuple):
    """What was found by where it stands, by which calls, the bytes of all answers, and the comments among them."""

    facts: Mapping[str, tuple[Any, ...]]
    calls: tuple[Step, ...]
    bytes: int
    comments: tuple[str, ...] = ()

    def found(self, task: Task) -> tuple[Any, ...]:
        """The answer to the task."""
        return self.facts.get(task.find, ())


class Follower:
    """An agent that asks one server."""

    def __init__(self, server: Speaking) -> None:
        self._server = server
        listed = server.ask("tools/list")
        self.tools = {tool["name"]: tool for tool in listed.result["tools"]}
        self.listed_bytes = listed.bytes

    def solve(self, task: Task) -> Solved:
        """The answer to a task, or what was found of it after as many calls as it may take, or :data:`MOST_CALLS`."""
        step: Step | None = self._first(task)
        made: list[Step] = []
        facts: dict[str, tuple[Any, ...]] = {}
        comments: list[str] = []
        size = 0
        while step is not None and len(made) < max(MOST_CALLS, task.most_calls):
            answered = self._server.call(step.tool, **step.arguments)
            made.append(step)
            size += answered.bytes
            document = answered.document
            comments += (document[name] for name in ("comment", "content", "report") if name in document)
            found = {path: tuple(dict.fromkeys(extract(document, path))) for path in task.wanted if path not in facts}
            facts |= {path: values for path, values in found.items() if values}
            step = None if task.wanted.keys() == facts.keys() else self._next(task, document, made)
        return Solved(facts, tuple(made), size, tuple(map(str, comments)))

    def _first(self, task: Task) -> Step:
        able = [name for name, tool in self.tools.items() if _takes(tool["inputSchema"], task.given)]
        if not able:
            raise LookupError(f"no tool takes {', '.join(task.given)}, and no more")
        chosen = next((tool for word in task.words for tool in able if _has(self._said(tool), word)), able[0])
        return Step(chosen, self._arguments(task, chosen, {}, frozenset()))

    def _next(self, task: Task, document: Mapping[str, Any], made: Sequence[Step]) -> Step | None:
        last = made[-1]
        if cursor := document.get("next_cursor"):
            return Step(last.tool, {**last.arguments, "cursor": cursor})
        used = frozenset(name for step in made for name in step.arguments)
        hinted = [self._hinted(task, hint, used) for hint in document.get("next", ())]
        new = [step for step in hinted if step not in made]
        ranked = (step for word in task.words for step in new if _has(self._said(step.tool) + repr(step), word))
        return next(ranked, new[0] if new else None)

    def _hinted(self, task: Task, hint: Mapping[str, Any], used: frozenset[str]) -> Step:
        """The call that an answer names in ``next``."""
        return Step(hint["tool"], self._arguments(task, hint["tool"], hint["arguments"], used))

    def _arguments(self, task: Task, tool: str, said: Mapping[str, Any], used: frozenset[str]) -> dict[str, Any]:
        """What a hint says; what the person said and was not told yet; a choice, or a switch, that has a word."""
        chosen = dict(said)
        for name, schema in self.tools[tool]["inputSchema"]["properties"].items():
            words = [word for word in task.words if word in schema.get("enum", ())]
            if name in chosen:
                continue
            if name in task.given and name not in used:
                chosen[name] = task.given[name]
            elif words:
                chosen[name] = words[0]
            elif schema.get("type") == "boolean" and any(
                _has(schema.get("description", ""), word) for word in task.words
            ):
                chosen[name] = True
        return chosen

    def _said(self, tool: str) -> str:
        """All that the server says of a tool."""
        described = self.tools[tool]
        arguments = described["inputSchema"]["properties"].values()
        return " ".join((tool, described["description"], *(each.get("description", "") for each in arguments)))


def told(found: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Whether what was found is what was wanted: as many values, each equal or a text that has it."""
    return len(found) == len(wanted) and all(map(_is, found, wanted))


def _is(found: Any, wanted: Any) -> bool:
    return wanted in found if isinstance(found, str) and isinstance(wanted, str) else bool(found == wanted)


def _takes(schema: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    return set(schema.get("required", ())) <= given.keys() <= schema["properties"].keys()


def extract(document: Any, path: str) -> Iterator[Any]:
    """The values at a path: ``rows[verdict=BREAKING].version``, ``items[].kind``, ``moves[-1].reason``."""
    values: list[Any] = [document]
    for step in _DOT.split(path):
        match = _STEP.fullmatch(step)
        assert match, f"{step}: no step of a path"
        inner = [value[match["name"]] for value in values if isinstance(value, dict) and match["name"] in value]
        values = inner if "[" not in step else [each for found in inner for each in _members(found, match)]
    yield from (value for value in values if value not in (None, "", [], {}))


def _members(found: Any, match: re.Match[str]) -> Sequence[Any]:
    if not isinstance(found, list):
        return ()
    if match["last"]:
        return found[-1:]
    if match["key"]:
        return [each for each in found if isinstance(each, dict) and str(each.get(match["key"], "")) == match["value"]]
    return found


def _has(text: str, word: str) -> bool:
    return word.lower() in " ".join(text.lower().split())
