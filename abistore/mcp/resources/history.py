"""``abistore://libraries/...`` and ``abistore://symbols/...``: since when, until when, and what is in releases.

These are judged when they are read, by the strict policy, and nothing is stored.
"""

from __future__ import annotations

from abistore.interface import OpenStore, ReleaseRange, policies, ruling
from abistore.mcp.refusals import Refusal
from abistore.mcp.resources.declaration import answer
from abistore.model.labels.windows import window as read_window

LAST = 100
"""A matrix is of so many releases: more would take an agent's call too long."""


@answer("abistore://libraries/{library}/blame", "blames")
def blame(store: OpenStore, *, library: str) -> object:
    """Each break of the latest release with the release that introduced it, as `abistore blame --json`."""
    return store.blame(library)


@answer("abistore://libraries/{library}/matrix", "matrices")
def matrix(store: OpenStore, *, library: str) -> object:
    """Which of the last 100 releases can replace which, as `abistore matrix --json`."""
    return store.matrix(library, within=ReleaseRange(last=LAST))


@answer("abistore://libraries/{library}/releases/{version}/ledger", "ledgers")
def ledger(store: OpenStore, *, library: str, version: str) -> object:
    """The verdict about a release against every baseline, as `abistore ledger --json`."""
    return store.ledger(f"{library}@{version}")


@answer("abistore://libraries/{library}/releases/{version}/statement", "statement")
def statement(store: OpenStore, *, library: str, version: str) -> object:
    """Whether a release may ship, and what that rests on, as `abistore statement --json`."""
    return store.statement(f"{library}@{version}")


@answer("abistore://libraries/{library}/releases/{version}/statement/{window}", "statement")
def statement_within(store: OpenStore, *, library: str, version: str, window: str) -> object:
    """Whether a release may ship by a deprecation window, `2 minor`, as `abistore statement --deprecation --json`."""
    return store.statement(f"{library}@{version}", deprecation=read_window(window))


@answer("abistore://libraries/{library}/deprecations", "deprecations")
def deprecations(store: OpenStore, *, library: str) -> object:
    """What is deprecated since when, and what was removed, as `abistore deprecations --json`."""
    return store.deprecations(library)


@answer("abistore://libraries/{library}/releases/{version}/lines", "lines")
def lines(store: OpenStore, *, library: str, version: str) -> object:
    """All targets and profiles of a release with one verdict, as `abistore lines --json`."""
    return store.lines_of_release(f"{library}@{version}")


@answer("abistore://libraries/{library}/policies/{policy}/evaluation", "evaluations")
def evaluation(store: OpenStore, *, library: str, policy: str) -> object:
    """The verdicts that move under a built-in policy, as `abistore evaluate --policy --json`."""
    by = ruling(policy) if policy in policies() else None
    if by is None:
        raise Refusal("NOT_FOUND", f"no policy beside strict_abi is called {policy[:40]}", "abistore://docs/policies")
    return store.evaluate(library, by)


@answer("abistore://libraries/{library}/releases/{version}/range", "range")
def compatible_range(store: OpenStore, *, library: str, version: str) -> object:
    """The releases that a program built against this one can run on, as `abistore compatible-range --json`."""
    return store.compatible_range(f"{library}@{version}")


@answer("abistore://libraries/{library}/releases/{version}/exports", "inventory")
def exports(store: OpenStore, *, library: str, version: str) -> object:
    """The exports of a release, with since when they are there and as they are, as `abistore exports --json`."""
    return store.exports(f"{library}@{version}")


@answer("abistore://libraries/{library}/releases/{version}/types", "inventory")
def types(store: OpenStore, *, library: str, version: str) -> object:
    """The types of a release in the same way, as `abistore types --json`."""
    return store.types(f"{library}@{version}")


@answer("abistore://libraries/{library}/releases/{version}/types/{type}/users", "types")
def users(store: OpenStore, *, library: str, version: str, type: str) -> object:
    """The exports of a release that use a type, as `abistore who-uses TYPE --in REFERENCE --json`."""
    return store.who_uses(type, reference=f"{library}@{version}")


@answer("abistore://symbols/{symbol}/providers", "providers")
def providers(store: OpenStore, *, symbol: str) -> object:
    """The libraries that export a symbol or once did, as `abistore provides --json`."""
    return store.provides(symbol)


@answer("abistore://symbols/{symbol}/first-broken", "found")
def first_broken(store: OpenStore, *, symbol: str) -> object:
    """The first release that breaks a symbol, type or finding, and the last good one, as `abistore first-broken`."""
    return store.first_broken(symbol)
