"""The registry of change kinds: a rule is one decorated function, and everything else derives from it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Final, Literal, TypeAlias

import msgspec

from abistore.compare.context import Context
from abistore.model.deltas import Delta
from abistore.model.findings import Action, Element, Impact
from abistore.model.judging.kinds import former_names
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

Effect: TypeAlias = Literal["", "place", "size", "alignment", "pointer", "value", "slot", "table", "object", "other"]
"""What of a declaration an effect is about: the place of a member or base, the size or alignment of a record, its
vtable pointer, the value of an enumerator, the slot of a virtual function, the slots of a vtable, the size of an
exported variable, or something else, which no layout explains. Empty for what is no effect."""


class Rule(msgspec.Struct, frozen=True):
    """One kind of change, or a variant of one. ``subjects`` are the deltas it looks at, e.g. ``(Changed, Record)``.

    ``kind`` is the full name: ``func_removed``, or ``func_removed.dispatched`` of a variant, the same change under
    circumstances that give it another impact.
    ``aliases`` are other names for it: those that the field has for the same fact, and what it was called before.
    ``check`` is the function that finds it; its docstring says what the kind means. An ``effect`` often follows from
    another change of the same declaration or of one that it embeds, and is then folded under it: it says what of the
    declaration that is.
    """

    kind: str
    impact: Impact
    evidence: Facet
    element: Element
    action: Action
    subjects: tuple[tuple[type, type], ...]
    aliases: tuple[str, ...]
    effect: Effect
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


PACKAGE: Final = "abistore.compare.rules"

FILE = Path(__file__).with_name("subscriptions.json")
"""What :func:`subscriptions` tells, written by ``python docs/generate.py``: it is known before a rule is imported."""

RULES: dict[str, Rule] = {}
"""The rules that were imported, by kind: all after :func:`load`, those that can have found something before it."""


def rule(
    impact: Impact,
    *,
    evidence: Facet,
    element: Element,
    action: Action,
    variant: str = "",
    aliases: tuple[str, ...] = (),
    effect: Effect = "",
) -> Callable[[Check], Check]:
    """Register a function as the rule of its name; with a ``variant``, ``KIND_VARIANT`` is that of ``KIND``.

    Its first parameter's annotation (``Changed[Record]``, ``Added[Field | InnerField]``) is its subscription; a second
    parameter receives the :class:`Context`. With ``evidence="source"`` it looks at what headers show and at nothing
    else: what the export table alone tells would never reach it. Its docstring is data: the first line is the title,
    the paragraphs after it say what happens to a built consumer, the last one begins with ``Fix:``.
    """

    def register(check: Check) -> Check:
        subjects, takes_context = _parameters(check)
        kind = _full_name(check.__name__, variant)
        if kind in RULES:
            raise ValueError(f"two rules are called {kind}")
        names = (*aliases, *former_names(kind))
        RULES[kind] = Rule(kind, impact, evidence, element, action, subjects, names, effect, takes_context, check)
        return check

    return register


def _full_name(function: str, variant: str) -> str:
    kind = function.removesuffix(f"_{variant}") if variant else function
    if variant and kind == function:
        raise ValueError(f"{function} is a rule of the variant {variant}, and its name does not end so")
    return f"{kind}.{variant}" if variant else kind


@cache
def _sections(check: Check) -> tuple[str, str, str]:
    text = (getdoc(check) or "").replace("``", "`")  # what docstrings mark as code, as everybody else does
    match = re.fullmatch(r"(?P<title>[^\n]+)\n\n(?P<why>.+)\n\nFix: (?P<fix>.+)", text, re.DOTALL)
    if match is None:
        raise ValueError(f"{check.__name__}: the docstring needs a title, a reason and a last paragraph 'Fix: ...'")
    return match["title"], _paragraphs(match["why"]), _paragraphs(match["fix"])


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _parameters(check: Check) -> tuple[tuple[tuple[type, type], ...], bool]:
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
    try:
        return tuple((known[delta], known[shape]) for delta, _, shapes in parts for shape in shapes.split(" | "))
    except KeyError as error:
        raise ValueError(f"{module}: the parameter of a rule is {annotation}, and {error} is not imported") from error


@cache
def load() -> dict[str, Rule]:
    """Import every module of :mod:`abistore.compare.rules` and return all rules, as they stand there."""
    for module in iter_modules(import_module(PACKAGE).__path__):
        import_module(f"{PACKAGE}.{module.name}")
    return dict(sorted(RULES.items(), key=lambda each: _place(each[1].check)))


def _place(check: Check) -> tuple[str, int]:
    return check.__module__, check.__code__.co_firstlineno


class Subscription(msgspec.Struct, frozen=True, array_like=True):
    """That the rule of ``kind``, a full name, in a module of :mod:`abistore.compare.rules`, looks at a delta."""

    module: str
    kind: str
    evidence: Facet


def subscriptions() -> dict[str, list[Subscription]]:
    """Who looks at each delta, in the order of :func:`load`: ``Changed Record`` is the name of one."""
    found: dict[str, list[Subscription]] = {}
    for rule in load().values():
        told = Subscription(rule.check.__module__.rpartition(".")[2], rule.kind, rule.evidence)
        for delta, shape in rule.subjects:
            found.setdefault(f"{delta.__name__} {shape.__name__}", []).append(told)
    return dict(sorted(found.items()))


@cache
def _subscriptions_known() -> Mapping[str, Sequence[Subscription]]:
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, list[Subscription]])


@cache
def rules_for(facet: Facet, subject: tuple[type, type]) -> tuple[Rule, ...]:
    """The rules that look at such deltas, ``(Changed, Record)``, in what ``facet`` shows.

    No module is imported but those that have one.
    """
    delta, shape = subject
    told = _subscriptions_known().get(f"{delta.__name__} {shape.__name__}", ())
    wanted = [each for each in told if each.evidence != "source" or facet == "source"]
    for module in {each.module for each in wanted}:
        import_module(f"{PACKAGE}.{module}")
    return tuple(RULES[each.kind] for each in wanted)
