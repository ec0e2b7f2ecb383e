"""Policies from YAML files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from abistore.compare.policies.conditions import Condition, InNamespace, Internal, OfCategory, OfKind, Weighty
from abistore.compare.policies.formats.documents import Day, StrictDocument, Words, is_over, read_source, read_yaml
from abistore.compare.policies.formats.selecting import Selecting, conditions_of, namespaces
from abistore.compare.policies.policy import PROFILES, Override, Policy, profile
from abistore.compare.policies.vocabulary import IMPACTS, meant, resolve_category, resolve_kind
from abistore.compare.rule import load
from abistore.errors import PolicyError
from abistore.model.findings import Impact
from abistore.urls import masked


def _impact(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip().replace("-", "_")
    return value


ImpactWord = Annotated[Literal["notice", "compatible", "risk", "api_break", "breaking"], BeforeValidator(_impact)]


class Decision(StrictDocument):
    """Another impact, and why."""

    impact: ImpactWord
    reason: str = Field(description="Why; it stands beside every finding that this moves.", min_length=1)
    expires: Day | None = Field(None, description="The last day on which it holds, as 2027-01-31.")


class SelectiveDecision(Decision, Selecting):
    """Another impact for the findings that all given keys select."""

    label: str = Field("", description="A name for this entry.")
    category: str = Field("", description="Kinds of this category.")
    header: Words = Field((), description="Globs of the files that declare it; one without a slash means any folder.")


class PolicyDocument(StrictDocument):
    """A policy file."""

    name: str = Field("", description="What reports call it; by default the file's name.")
    base: Literal["strict_abi", "sdk_vendor", "plugin_abi"] = Field(
        "strict_abi", description="The profile that decides where this file does not."
    )
    versioning: Literal["auto", "pep440", "semver", "debian", "plain"] = Field(
        "auto", description="How versions are ordered in the ranges of suppressions."
    )
    internal_namespaces: Words = Field((), description="Namespaces that consumers do not use.")
    frozen_namespaces: Words = Field((), description="Namespaces in which every change breaks.")
    kinds: dict[str, Decision] = Field({}, description="Impacts by kind of change.")
    categories: dict[str, Decision] = Field({}, description="Impacts by category.")
    overrides: tuple[SelectiveDecision, ...] = Field((), description="Impacts of selected findings; the first decides.")


def read_policy(path: Path, today: date) -> Policy:
    """The policy in a file. Raises :class:`PolicyError`.

    The most particular override decides: ``overrides`` in their order, frozen namespaces, internal ones, ``kinds``,
    ``categories``, and last the base profile.
    """
    source = read_source(path)
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
        raise PolicyError(f"{path}: {name[:40]} reads like the built-in policy {like}", "give it another `name`")


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
    raise PolicyError(f"no policy and no file is called {word!r}", meant(word, PROFILES, ""))


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
                raise PolicyError(f"{where}: the same kind as {decided[kind]}", "decide it once")
            decided[kind] = word
        yield _override((OfKind(kinds),), decision, f"kinds, {word}", where)
    for word, decision in _ordered(document.categories):
        where = f"{path}: categories, {word}"
        yield _override((OfCategory(resolve_category(word, where)),), decision, f"categories, {word}", where)


def _refuse_advice(kinds: tuple[str, ...], where: str) -> None:
    """Raise :class:`PolicyError` where only advice is given another impact: it would have none."""
    if kinds and all(load()[kind].impact is Impact.ADVICE for kind in kinds):
        raise PolicyError(
            f"{where}: {', '.join(kinds)} is advice and has no part in a verdict",
            "give the change itself an impact, e.g. soname_changed",
        )


def _ordered(decisions: Mapping[str, Decision]) -> Iterable[tuple[str, Decision]]:
    return sorted(decisions.items())


def _override(conditions: tuple[Condition, ...], decision: Decision, place: str, where: str) -> Override:
    if not decision.reason.strip():
        raise PolicyError(f"{where}: reason is empty", "say why this impact is right for your consumers")
    return Override(conditions, IMPACTS[decision.impact], masked(decision.reason.strip()), place, decision.expires)
