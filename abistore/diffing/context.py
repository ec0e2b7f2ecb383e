"""The context of rules: both sides, the rules themselves, the values that they state, and how a rule is declared."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

import msgspec

from abistore.diffing.reuse import Differing, differing
from abistore.diffing.side import SideFacts, exported, still_meets
from abistore.diffing.types.equivalence import Equivalence, find_renames
from abistore.diffing.types.sameness import Sameness
from abistore.model.declarations import Delta, Facet, Name
from abistore.model.findings import Action, Element, Impact, Side
from abistore.model.kind_names import former_names
from abistore.model.names import spelling
from abistore.model.names.spelling import Mention, bare
from abistore.model.names.symbols import INTEGERS
from abistore.model.shapes import AnyShape, Function, Primitive, TypeRef

if TYPE_CHECKING:
    from abistore.diffing.scopes import Move

T = TypeVar("T")


class Renames(msgspec.Struct, frozen=True):
    """Records and enums that the releases have under two names: the new name by the old one, and the reverse."""

    targets: Mapping[Name, Name]
    origins: Mapping[Name, Name]


class Context:
    """The old and the new release, and questions about both that cost more than a look-up.

    Everything that takes two types takes the old release's first. Answers are kept. What is known of the two already
    (the names that differ, the renames, their cards) need not be worked out again. Where scopes made ``moves``,
    the new release is told under the old names.
    """

    def __init__(
        self,
        old: SideFacts,
        new: SideFacts,
        *,
        differing: Differing | None = None,
        renames: Renames | None = None,
        cards: tuple[Side, Side] | None = None,
        moves: Sequence[Move] = (),
    ) -> None:
        self.old, self.new = old, new
        self.moves = moves
        self.cards = cards
        self._differing = differing
        self._renames = renames
        self._affected: dict[Name, tuple[Name, ...]] = {}
        self._passed_with: dict[Name, Sequence[Name]] = {}
        self._worked_out: dict[tuple[object, ...], tuple[object, Any]] = {}

    @cached_property
    def differing(self) -> Differing:
        """The names that the two releases show in different ways."""
        return self._differing or differing(self.old.snapshot, self.new.snapshot)

    @cached_property
    def renames(self) -> Renames:
        """The types that were renamed."""
        if self._renames is not None:
            return self._renames
        # types are compared as if nothing was renamed until this is known: by an equivalence that is not kept
        unaware = Equivalence(self.old.types, self.new.types)
        both = all("layout" in side.snapshot.entries for side in (self.old, self.new))
        targets = find_renames(unaware, self.differing["layout" if both else "source"])
        return Renames(targets, {new: old for old, new in targets.items()})

    @cached_property
    def equivalence(self) -> Equivalence:
        """How far types of both releases are the same."""
        return Equivalence(self.old.types, self.new.types, self.renames.targets)

    def stored(self, old: TypeRef, new: TypeRef) -> Sameness:
        """How far memory laid out as ``old`` can be used as ``new``: fields, variables, what pointers point to."""
        return self.equivalence.stored(old, new)

    def passed(self, old: TypeRef, new: TypeRef) -> Sameness:
        """How far a value passed or returned as ``old`` arrives as ``new``; outermost ``const`` does not count."""
        return self.equivalence.passed(old, new)

    def once(self, work_out: Callable[..., T], *of: object) -> T:
        """What ``work_out`` gives for these objects and this context, kept for all rules that ask the same."""
        key = (work_out, *map(id, of))
        if key not in self._worked_out:
            self._worked_out[key] = of, work_out(*of, self)
        found: T = self._worked_out[key][1]
        return found

    @cached_property
    def same_toolchain(self) -> bool:
        """Whether both releases are known to come from the same compilers with the same recorded options."""
        old, new = (each.snapshot.provenance.compilers for each in (self.old, self.new))
        return bool(old) and set(old) == set(new)

    def mentioned_alike(self, name: Name) -> bool:
        """Whether a declaration mentions ``name`` in the same type in both releases, and so changed along with it.

        Where all uses changed too, as from ``callback *`` to ``callback``, they have findings of their own.
        """
        from abistore.diffing.types.equivalence import mentions_alike  # few findings ask

        users = self.old.reach.users(name)
        return any(mentions_alike(name, user, self.old.snapshot, self.new.snapshot) for user in users)

    def exported(self, name: Name) -> bool:
        """Whether both releases export ``name``: only then can a consumer use it before and after."""
        return bool(self.old.variants("symbol", name) and self.new.variants("symbol", name))

    def has_own_copy(self, name: Name) -> bool:
        """Whether built programs have a function compiled in, or none: they do not call the old release's for it."""
        if not self.old.variants("symbol", name):
            return True
        return self.old.consumers.owner(name, self.new.exporting, gone=True) in ("inline", "foreign")

    def affected(self, name: Name) -> tuple[Name, ...]:
        """The exports of both releases through which programs built against the old one meet ``name``, sorted.

        For a function or variable that is itself. Exports that are gone have findings of their own and are left out,
        and so are those that no consumer can name.
        """
        if name.kind in ("function", "variable"):
            return (name,)
        if name not in self._affected:
            self._affected[name] = self._meeting(name)
        return self._affected[name]

    def _meeting(self, type: Name) -> tuple[Name, ...]:
        found, kept = self.old.met_through(type), self.new.snapshot.entries.get("symbol", {})
        plain = [each for each in found if kept.get(each) and len(kept[each]) == 1]
        if len(plain) == len(found):
            return tuple(plain)
        several = [each for each in found if still_meets(self.old, self.new, each, type)]
        return tuple(sorted({exported(self.old, self.new, each) for each in several}))

    def concerns(self, name: Name) -> bool:
        """Whether programs built against the old release meet ``name``: through exports, or in its public headers."""
        consumers = self.old.consumers
        return bool(self.affected(name)) or consumers.offers(name) or bool(consumers.compilers_of(name))

    @cached_property
    def taking_numbers(self) -> tuple[Name, ...]:
        """The exports of both releases that take or return a plain integer, sorted: constants pass through them."""
        side = self.old
        return tuple(
            name
            for name in sorted(side.exports.names.values())
            if self.exported(name) and _passes_integer(side, name) and side.consumers.can_name(name)
        )

    def passed_with(self, name: Name) -> Sequence[Name]:
        """What is or embeds ``name`` and is passed by value: by kept exports, callbacks and virtual methods."""
        if name not in self._passed_with:
            self._passed_with[name] = self.old.consumers.passed_with(name, self.exported)
        return self._passed_with[name]

    def taken_with(self, name: Name) -> Sequence[Name]:
        """What of :meth:`passed_with` is a parameter somewhere, and not only a result."""
        return self.old.consumers.taken_with(name, self.exported)


def _passes_integer(side: SideFacts, name: Name) -> bool:
    shape = side.shape(name)
    if not isinstance(shape, Function):
        return False
    types = (side.types.resolve(each) for each in (shape.result, *shape.parameters))
    return any(isinstance(each, Primitive) and each.spelling in INTEGERS for each in types)


class Spelled(str):
    """A value in which types have bare names, and which can be made again with other mentions of them.

    The identity of a finding is of the bare names: whether a side tells its tags makes no difference.
    """

    make: Callable[[Mention], str]

    def __new__(cls, make: Callable[[Mention], str]) -> Spelled:
        """The value that ``make`` gives for bare names."""
        value = super().__new__(cls, make(bare))
        value.make = make
        return value

    def __add__(self, behind: str) -> Spelled:
        return Spelled(lambda mention: self.make(mention) + in_c(behind, mention))


def spell(type: TypeRef) -> Spelled:
    """A type without a declarator's name."""
    return Spelled(lambda mention: spelling.spell(type, mention))


def declare(type: TypeRef, name: str) -> Spelled:
    """``name`` declared with a type."""
    return Spelled(lambda mention: spelling.declare(type, name, mention))


def signature(shape: Function, *, c: bool = False) -> Spelled:
    """A function without what is before its result."""
    return Spelled(lambda mention: spelling.signature(shape, mention, c=c))


def declaration(name: Name, shape: AnyShape) -> Spelled:
    """A shape as the declaration of ``name``."""
    return Spelled(lambda mention: spelling.declaration(name, shape, mention=mention))


def listed(values: Iterable[str], separator: str = ", ") -> Spelled:
    """Values in one text."""
    every = tuple(values)
    return Spelled(lambda mention: separator.join(in_c(each, mention) for each in every))


def in_c(value: str, mention: Mention) -> str:
    """A value whose types are mentioned so; any text that is not :class:`Spelled` as it is."""
    return value.make(mention) if isinstance(value, Spelled) else value


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


PACKAGE: Final = "abistore.diffing.rules"

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
    """Import every module of :mod:`abistore.diffing.rules` and return all rules, as they stand there."""
    for module in iter_modules(import_module(PACKAGE).__path__):
        import_module(f"{PACKAGE}.{module.name}")
    return dict(sorted(RULES.items(), key=lambda each: _place(each[1].check)))


def _place(check: Check) -> tuple[str, int]:
    return check.__module__, check.__code__.co_firstlineno


class Subscription(msgspec.Struct, frozen=True, array_like=True):
    """That the rule of ``kind``, a full name, in a module of :mod:`abistore.diffing.rules`, looks at a delta."""

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
