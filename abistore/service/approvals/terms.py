"""Where and until when an approval holds, as people write it: ``--scope branch:main --until 2026-12-31``."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from abistore.errors import UsageError
from abistore.model.history import DEFAULT_CHANNEL, DEFAULT_PROFILE, Release
from abistore.model.judging.approvals import (
    EVERY_TARGET,
    FOREVER,
    Approval,
    ApprovedFacts,
    GatePlace,
    called_by_facts,
    state_at,
)
from abistore.model.judging.identity import is_whole
from abistore.model.labels.blanks import check_not_blank
from abistore.model.labels.naming import EVERY_PROFILE
from abistore.model.labels.steps import AUTO
from abistore.model.labels.versions import check_version
from abistore.patterns import pattern
from abistore.service.database import line_target
from abistore.service.labels import check_label

if TYPE_CHECKING:
    from abistore.store.store import Store

DAY = pattern(r"\d{4}-\d{2}-\d{2}")
SONAME = pattern(r".+\.(?:so|dylib|dll)(?:\..*)?")
SCOPES = "release:VERSION, branch:CHANNEL or forever"
KINDS = ("date", "version", "soname")


def scope_of(text: str, version: str | None = None) -> str:
    """A scope in full: ``release`` alone means ``version``, ``branch`` alone the default channel.

    Raises :class:`UsageError`.
    """
    word, colon, named = text.strip().partition(":")
    if word == FOREVER and not colon:
        return FOREVER
    if colon:
        check_not_blank(f"what --scope says behind {word}:", named)
    named = named or {"release": version or "", "branch": DEFAULT_CHANNEL}.get(word, "")
    if word not in {"release", "branch"} or not named:
        told = "no stored release has the finding" if word == "release" else f"not a scope: {text[:40]!r}"
        raise UsageError(told, f"give {SCOPES}")
    check_label("version" if word == "release" else "channel", named)
    return f"{word}:{named}"


def target_of(store: Store, library: str, text: str) -> str:
    """A target in full, and empty for ``all``. It may be left out where the library is stored for one only.

    Raises :class:`UsageError` where it is left out and several are stored: what is harmless on one may break another.
    """
    if text.strip():
        return "" if text == EVERY_TARGET else line_target(store, text.strip()) or ""
    known = sorted({line.target for line in store.lines() if line.library == library})
    if len(known) > 1:
        hint = f"--target {EVERY_TARGET}, or one of {', '.join(known)}"
        raise UsageError(f"{library} is stored for {len(known)} targets, and nobody says where this holds", hint)
    return known[0] if known else ""


def profile_of(store: Store, library: str, target: str, text: str) -> str:
    """A build profile. It may be left out where the library is stored in one only.

    Raises :class:`UsageError` where it is left out and there are several: what no debug build needs may break others.
    """
    if named := text.strip():
        if named != EVERY_PROFILE:
            check_label("profile", named)
        return named
    known = sorted({line.profile for line in store.lines() if line.library == library and target in {"", line.target}})
    if len(known) > 1:
        hint = f"--profile {EVERY_PROFILE}, or one of {', '.join(known)}"
        raise UsageError(f"{library} is stored in {len(known)} build profiles, and nobody says where this holds", hint)
    return known[0] if known else DEFAULT_PROFILE


def until_of(text: str, scheme: str = AUTO) -> str:
    """The end of an approval with what it is: ``date:2026-12-31``, ``version:2.1``, ``soname:libfoo.so.1``.

    The word may be left out where the text tells. Raises :class:`UsageError` for what is none, or no version that
    ``scheme`` can order.
    """
    if not text:
        return ""
    check_not_blank("--until", text)
    said = text.strip()
    word, marked, last = said.partition(":")
    if not marked or word not in KINDS:
        word = "date" if DAY.fullmatch(said) else "soname" if SONAME.fullmatch(said) else "version"
        last = said
    check_not_blank(f"what --until says behind {word}:", last)
    if word == "date":
        return f"date:{_day(last).isoformat()}"
    if word == "version":
        check_label("version", last)
        check_version(last, scheme)
    elif not last.isprintable() or not last.strip():
        raise UsageError(f"not a SONAME: {last[:40]!r}", "give it as `abistore show` does: soname:libfoo.so.1")
    return f"{word}:{last}"


def check_to_come(until: str, today: date) -> None:
    """Raise :class:`UsageError` for an end that is a day of the past."""
    word, _, last = until.partition(":")
    if word == "date" and date.fromisoformat(last) < today:
        raise UsageError(f"the end {last} is over already", "name a day to come, or leave it out")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"not a day: {text[:40]!r}", "write it as 2027-01-31") from error


def idle(store: Store, said: Approval, found_in: Release | None, today: date) -> str:
    """Why an approval lets nothing through by now, of the release that has the finding; empty where it does.

    An end that is over already, a target or a channel without a baseline, is misspelled more often than it is meant.
    """
    if said.target and said.target not in {line.target for line in store.lines() if line.library == said.library}:
        return f"{said.library} is not stored for {said.target} yet"
    if said.profile not in {EVERY_PROFILE, *(line.profile for line in store.lines() if line.library == said.library)}:
        return f"{said.library} is not stored in the build profile {said.profile} yet"
    scope, _, named = said.scope.partition(":")
    if scope == "branch" and named not in {move.channel for move in store.baselines(said.library)}:
        return f"no baseline {named} of {said.library} stands yet"
    if (
        found_in is None
        or said.target not in {"", found_in.line.target}
        or said.profile not in {EVERY_PROFILE, found_in.line.profile}
        or (scope == "release" and named != found_in.version)
    ):
        return ""
    line = found_in.line
    at = GatePlace(
        today, found_in.version, found_in.soname, named, store.scheme(said.library), line.target, line.profile
    )
    if state_at(said, at) != "expired":
        return ""
    return f"that is over for {found_in.version}, which has the finding"


def check_finding(called: str, facts: ApprovedFacts | None) -> None:
    """Raise :class:`UsageError` for what is no identity, and where it stands for another finding than is said."""
    if not is_whole(called):
        raise UsageError(f"not the identity of a finding: {called[:40]!r}", "give all of its twenty digits")
    if facts is None:
        return
    if called_by_facts(facts, facts.covers or ()) != called.partition("-")[0]:
        raise UsageError(
            f"{called} is not what is said of it: {facts.kind} of {facts.symbol[:80]!r}",
            "copy identity and values from one report, as `abistore approvals export` does",
        )
