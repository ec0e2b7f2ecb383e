"""The registry of change kinds: a rule is one decorated function, and everything else derives from it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from inspect import getdoc
from pkgutil import iter_modules
from typing import Any

import msgspec

from abistore.compare.context import Context
from abistore.model.deltas import Delta
from abistore.model.findings import Action, Element, Impact
from abistore.model.kinds import former_names
from abistore.model.names import Facet, Name


class Note(msgspec.Struct, frozen=True):
    """What a rule states about a delta: the fact that differs, and its two values as people write them.

    ``description`` is one sentence about the subject; ``None`` where a side has no value. ``affected`` names the
    exports concerned where they are not those that reach the subject.
    """

    description: str
    old: str | None = None
    new: str | None = None
    affected: tuple[Name, ...] = ()


Check = Callable[..., Iterator[Note]]


class Rule(msgspec.Struct, frozen=True):
    """One kind of change. ``subjects`` are the deltas it looks at, e.g. ``(Changed, Record)``.

    ``aliases`` are other names for it: those that the field has for the same fact, and what it was called before.
    ``check`` is the function that finds it; its docstring says what the kind means. An ``effect`` often follows from
    another change of the same declaration or of one that it embeds, and is then folded under it: a size, an alignment,
    an offset.
    """

    kind: str
    impact: Impact
    evidence: Facet
    element: Element
    action: Action
    subjects: tuple[tuple[type, type], ...]
    aliases: tuple[str, ...]
    effect: bool
    takes_context: bool
    check: Check

    def notes(self, delta: Delta[Any], context: Context) -> Iterator[Note]:
        """What this rule has to say about ``delta``."""
        return self.check(delta, context) if self.takes_context else self.check(delta)

    @property
    def title(self) -> str:
        """What happened, in one line."""
        return _sections(self.check)[0]

    @property
    def why(self) -> str:
        """What that does to a built consumer."""
        return _sections(self.check)[1]

    @property
    def fix(self) -> str:
        """How to avoid it."""
        return _sections(self.check)[2]


RULES: dict[str, Rule] = {}
"""Every rule by its kind. Filled by :func:`load`."""


def rule(
    impact: Impact,
    *,
    evidence: Facet,
    element: Element,
    action: Action,
    aliases: tuple[str, ...] = (),
    effect: bool = False,
) -> Callable[[Check], Check]:
    """Register a function as the rule of its name.

    Its first parameter's annotation (``Changed[Record]``, ``Added[Field | InnerField]``) is its subscription; a second
    parameter receives the :class:`Context`. With ``evidence="source"`` it looks at what headers show and at nothing
    else. Its docstring is data: the first line is the title, the paragraphs after it say what happens to a built
    consumer, the last one begins with ``Fix:``.
    """

    def register(check: Check) -> Check:
        subjects, takes_context = _subscriptions(check)
        kind = check.__name__
        if kind in RULES:
            raise ValueError(f"two rules are called {kind}")
        names = (*aliases, *former_names(kind))
        RULES[kind] = Rule(kind, impact, evidence, element, action, subjects, names, effect, takes_context, check)
        return check

    return register


@cache
def _sections(check: Check) -> tuple[str, str, str]:
    text = (getdoc(check) or "").replace("``", "`")  # what docstrings mark as code, as everybody else does
    match = re.fullmatch(r"(?P<title>[^\n]+)\n\n(?P<why>.+)\n\nFix: (?P<fix>.+)", text, re.DOTALL)
    if match is None:
        raise ValueError(f"{check.__name__}: the docstring needs a title, a reason and a last paragraph 'Fix: ...'")
    return match["title"], _paragraphs(match["why"]), _paragraphs(match["fix"])


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _subscriptions(check: Check) -> tuple[tuple[tuple[type, type], ...], bool]:
    code = check.__code__
    parameters = code.co_varnames[: code.co_argcount]
    return _named_subjects(check.__module__, check.__annotations__[parameters[0]]), len(parameters) == 2


@cache
def _named_subjects(module: str, annotation: str) -> tuple[tuple[type, type], ...]:
    """The deltas that a rule module's annotation names: ``Added[Field] | Changed[Field | InnerField]`` are three.

    It is text there, and few rules have one of their own.
    """
    known = vars(sys.modules[module])
    parts = (part.removesuffix("]").partition("[") for part in annotation.split("] | "))
    return tuple((known[delta], known[shape]) for delta, _, shapes in parts for shape in shapes.split(" | "))


@cache
def load() -> dict[str, Rule]:
    """Import every module of :mod:`abistore.compare.rules` and return the registry."""
    package = import_module("abistore.compare.rules")
    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    return RULES
