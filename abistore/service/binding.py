"""Rules that are bound in the store: who binds them, and how gates obey them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.errors import PolicyError, SnapshotNotFound, UsageError
from abistore.model.declarations import FACETS
from abistore.model.findings import RulingKey
from abistore.model.labels import AUTO, Given, check_not_blank, library_name
from abistore.model.rules import Binding, BoundRule, in_force, rule_of
from abistore.service.database import Database, user, using
from abistore.service.decision import check_options, needed, refused
from abistore.service.judging import EvidenceRequirement, requirement
from abistore.service.snapshots import check_note
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.model.history import LineKey, Release
    from abistore.service.ingest_gates import Gate
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store

MOST_PATTERN = 200


def rule_for(store: Store, libraries: Iterable[str]) -> BoundRule | None:
    """What is bound to any of some libraries. Raises :class:`RuleConflict`."""
    return rule_of(store.rules(), libraries)


def rule_of_line(bindings: Sequence[Binding], line: LineKey, releases: Sequence[Release]) -> BoundRule | None:
    """What is bound to a line with these releases, of which the last has the SONAME. Raises :class:`RuleConflict`."""
    return rule_of(bindings, names_for(line.library, releases[-1].soname if releases else None))


def names_for(library: str, soname: str | None) -> tuple[str, ...]:
    """The names that a rule may be bound to: that of the line, and the stem of the SONAME that programs load."""
    return (library, *((library_name(soname),) if soname else ()))


def ruled(rule: BoundRule | None, by: Ruling | None, today: date | None = None) -> Ruling | None:
    """The ruling of a gate: the bound policy, and without one the strict policy.

    Raises :class:`RuleBound` for another policy, and for suppressions.
    """
    if rule is None:
        return by
    bound = _ruling(rule.policy, rule.policy_text, today or datetime.now(UTC).date())
    if by is None:
        return bound
    if by.suppressions.entries or by.suppressions.expired:
        raise refused(rule, "suppressions do not apply", "leave --suppress out; `abistore approve` accepts a break")
    if not _says_the_same(by, rule):
        raise refused(rule, f"policy {by.policy.name} does not apply", "leave --policy out")
    return bound


def ruling_of_line(store: Store, line: LineKey, releases: Sequence[Release], by: Ruling | None) -> Ruling | None:
    """What a line with these releases is judged by: the policy that is bound to it, else ``by``.

    Raises as :func:`ruled`.
    """
    return ruled(rule_of_line(store.rules(), line, releases), by)


def _says_the_same(by: Ruling, rule: BoundRule) -> bool:
    if by.policy.file is None:
        return not rule.policy_text and by.policy.name == (rule.policy or RulingKey().policy)
    return by.policy.file.sha256 == sha256(rule.policy_text.encode()).hexdigest()


@lru_cache(maxsize=32)
def _ruling(policy: str, text: str, today: date) -> Ruling | None:
    from abistore.service.ruling import Ruling, ruling

    if not text:
        return ruling(policy or None, today=today)
    from abistore.diffing.policy_documents import policy_in_text

    return Ruling(policy_in_text(text, policy, today))


def evidence_for(
    rule: BoundRule | None, require: EvidenceRequirement | None, default: EvidenceRequirement
) -> EvidenceRequirement:
    """The evidence that a gate needs, where ``require`` was asked for, and ``default`` holds without that.

    Raises :class:`RuleBound` for ``--require none``.
    """
    if rule is None:
        return default if require is None else require
    if require is not None and require == EvidenceRequirement():
        raise refused(rule, "--require none does not apply", "leave --require out")
    asked = default if require is None else replace(require, no_less=require.no_less or default.no_less)
    return needed(rule, asked)


def obeyed(store: Store, gate: Gate, names: Collection[str]) -> Gate:
    """The gate as what is bound to these libraries makes it. Raises :class:`RuleBound` for a looser one."""
    rule = rule_for(store, names)
    if rule is None:
        return gate if gate.rule is None else replace(gate, rule=None)
    check_options(rule, gate.fail_on, gate.allow)
    default = replace(gate, require=None).required
    require = evidence_for(rule, gate.require, default)
    return replace(gate, rule=rule, by=ruled(rule, gate.by, gate.today), require=require)


def bound_rule(library: str, soname: str | None = None, *, database: Database = None) -> BoundRule | None:
    """What the store binds to a library, all rules together. Raises :class:`RuleConflict`."""
    check_not_blank("the library", library)
    check_not_blank("the SONAME", soname)
    with using(database) as store:
        return rule_for(store, names_for(library, soname))


# --- who binds ----------------------------------------------------------------------------------------------------

Scheme: TypeAlias = Literal["", "auto", "pep440", "semver", "debian", "plain"]


class BindingPlan(Given, frozen=True):
    """What is bound, and why.

    ``policy`` is a profile or a file, whose text is stored. ``scheme`` says which releases may break. ``require`` are
    facets, separated by commas. With ``since_soname``, a release must not break any earlier one of its SONAME.
    """

    reason: str = ""
    policy: str | None = None
    scheme: Scheme = ""
    require: str | None = None
    since_soname: bool = False
    actor: str = ""


class BoundPattern(msgspec.Struct, frozen=True):
    """A rule that holds now, or held: ``changed`` where that is new. ``libraries`` are the stored ones that it meets.

    ``replaced`` held before.
    """

    rule: Binding
    changed: bool
    libraries: tuple[str, ...]
    replaced: Binding | None = None


def bind(pattern: str, plan: BindingPlan, *, database: Database = None) -> BoundPattern:
    """Bind a library, or those that a pattern matches, to a rule, in place of what was bound to this pattern.

    Gates obey it from now on. Raises :class:`UsageError`, :class:`PolicyError`, and :class:`RuleConflict` where a
    stored library would be bound to two policies, or two schemes.
    """
    _check(pattern, plan.reason, plan.actor)
    if not _is_closed(pattern):
        raise UsageError(f"not a pattern of libraries: {pattern!r}: no ] closes the [", "write a literal [ as [[]")
    said = _rule(pattern, plan)
    with using(database, write=True) as store, store.transaction():
        before = next((one for one in in_force(store.rules()) if one.pattern == pattern), None)
        changed = store.bind(said)
        libraries = _met(store, said)
        for library in libraries:
            rule_for(store, (library,))
        return BoundPattern(said, changed, libraries, before if changed else None)


def unbind(pattern: str, *, reason: str, actor: str = "", database: Database = None) -> BoundPattern:
    """Remove the rule that is bound to a pattern. Raises :class:`SnapshotNotFound` where nothing is."""
    _check(pattern, reason, actor)
    with using(database, write=True) as store, store.transaction():
        before = next((one for one in in_force(store.rules()) if one.pattern == pattern), None)
        if before is None:
            raise SnapshotNotFound(f"nothing is bound to {pattern!r}", "`abistore policy bound` shows the patterns")
        gone = Binding(pattern, reason.strip(), actor or user(), datetime.now(UTC), withdrawn=True)
        changed = store.bind(gone)
        return BoundPattern(gone, changed, _met(store, before), before)


def bound(library: str | None = None, *, database: Database = None) -> tuple[BoundPattern, ...]:
    """The rules that hold, of all patterns or of those that match one library."""
    check_not_blank("the library", library)
    with using(database) as store:
        found = [one for one in in_force(store.rules()) if library is None or one.matches(library)]
        return tuple(BoundPattern(one, False, _met(store, one)) for one in found)


def _met(store: Store, rule: Binding) -> tuple[str, ...]:
    return tuple(sorted({key.library for key in store.lines() if rule.matches(key.library)}))


def _check(pattern: str, reason: str, actor: str) -> None:
    check_note("actor", actor)
    check_note("reason", reason)
    if not reason.strip():
        raise UsageError("no reason is given", "pass --reason: whoever meets the rule has nothing else")
    if not pattern.strip() or not pattern.isprintable() or " " in pattern or len(pattern) > MOST_PATTERN:
        raise UsageError(f"not a pattern of libraries: {pattern[:60]!r}", "give a name, or a pattern such as 'lib*'")


def _is_closed(pattern: str) -> bool:
    """Whether each set of characters in a pattern has an end: without one, no library has such a name."""
    rest = pattern
    while "[" in rest:
        inner = rest.partition("[")[2].removeprefix("!")
        if "]" not in inner[1:]:
            return False
        rest = inner[1:].partition("]")[2]
    return True


def _rule(pattern: str, plan: BindingPlan) -> Binding:
    name, text = _policy(plan.policy)
    require = requirement(plan.require) if plan.require is not None else None
    if require is not None and (require.no_less or not require.facets):
        raise UsageError(f"--require {plan.require}: not evidence", f"some of {', '.join(FACETS)}, with commas")
    scheme = "" if plan.scheme == AUTO else plan.scheme
    facets = require.facets if require else ()
    actor, now = plan.actor or user(), datetime.now(UTC)
    return Binding(pattern, plan.reason.strip(), actor, now, name, text, scheme, facets, plan.since_soname)


def _policy(word: str | None) -> tuple[str, str]:
    """The name of a policy, and the text of one that is in a file. Raises :class:`PolicyError`."""
    if word is None:
        return "", ""
    from abistore.diffing.policy import PROFILES
    from abistore.diffing.policy_documents import read_source
    from abistore.service.ruling import policy_card

    name = policy_card(word).name
    if word in PROFILES:
        return name, ""
    text = read_source(Path(word)).text
    if masked(text) != text:  # the store keeps the file as it is: reports compare its digest
        raise PolicyError(f"{word}: has a password or token", "remove it: everyone who reads the store could read it")
    return name, text
