"""``abistore://libraries/...`` and ``abistore://symbols/...``: since when, until when, and what is in releases.

These are judged when they are read, by the strict policy, and nothing is stored.
"""

from __future__ import annotations

from abistore.interface import ReleaseRange, policies, ruling
from abistore.mcp.call import Call
from abistore.mcp.refusals import Refusal
from abistore.mcp.resources.declaration import resource
from abistore.mcp.resources.text import document
from abistore.model.labels.windows import window as read_window

LAST = 100
"""A matrix is of so many releases: more would take an agent's call too long."""


@resource("abistore://libraries/{library}/blame")
def blame(call: Call, *, library: str) -> str:
    """Each break of the latest release with the release that introduced it, as `abistore blame --json`."""
    with call.store() as store:
        return document({"blames": store.blame(library)})


@resource("abistore://libraries/{library}/matrix")
def matrix(call: Call, *, library: str) -> str:
    """Which of the last 100 releases can replace which, as `abistore matrix --json`."""
    with call.store() as store:
        return document({"matrices": store.matrix(library, within=ReleaseRange(last=LAST))})


@resource("abistore://libraries/{library}/releases/{version}/ledger")
def ledger(call: Call, *, library: str, version: str) -> str:
    """The verdict about a release against every baseline, as `abistore ledger --json`."""
    with call.store() as store:
        return document({"ledgers": store.ledger(f"{library}@{version}")})


@resource("abistore://libraries/{library}/releases/{version}/statement")
def statement(call: Call, *, library: str, version: str) -> str:
    """Whether a release may ship, and what that rests on, as `abistore statement --json`."""
    with call.store() as store:
        return document({"statement": store.statement(f"{library}@{version}")})


@resource("abistore://libraries/{library}/releases/{version}/statement/{window}")
def statement_within(call: Call, *, library: str, version: str, window: str) -> str:
    """Whether a release may ship by a deprecation window, `2 minor`, as `abistore statement --deprecation --json`."""
    with call.store() as store:
        return document({"statement": store.statement(f"{library}@{version}", deprecation=read_window(window))})


@resource("abistore://libraries/{library}/deprecations")
def deprecations(call: Call, *, library: str) -> str:
    """What is deprecated since when, and what was removed, as `abistore deprecations --json`."""
    with call.store() as store:
        return document({"deprecations": store.deprecations(library)})


@resource("abistore://libraries/{library}/releases/{version}/lines")
def lines(call: Call, *, library: str, version: str) -> str:
    """All targets and profiles of a release with one verdict, as `abistore lines --json`."""
    with call.store() as store:
        return document({"lines": store.lines_of_release(f"{library}@{version}")})


@resource("abistore://libraries/{library}/policies/{policy}/evaluation")
def evaluation(call: Call, *, library: str, policy: str) -> str:
    """The verdicts that move under a built-in policy, as `abistore evaluate --policy --json`."""
    by = ruling(policy) if policy in policies() else None
    if by is None:
        raise Refusal("NOT_FOUND", f"no policy beside strict_abi is called {policy[:40]}", "abistore://docs/policies")
    with call.store() as store:
        return document({"evaluations": store.evaluate(library, by)})


@resource("abistore://libraries/{library}/releases/{version}/range")
def compatible_range(call: Call, *, library: str, version: str) -> str:
    """The releases that a program built against this one can run on, as `abistore compatible-range --json`."""
    with call.store() as store:
        return document({"range": store.compatible_range(f"{library}@{version}")})


@resource("abistore://libraries/{library}/releases/{version}/exports")
def exports(call: Call, *, library: str, version: str) -> str:
    """The exports of a release, with since when they are there and as they are, as `abistore exports --json`."""
    with call.store() as store:
        return document({"inventory": store.exports(f"{library}@{version}")})


@resource("abistore://libraries/{library}/releases/{version}/types")
def types(call: Call, *, library: str, version: str) -> str:
    """The types of a release in the same way, as `abistore types --json`."""
    with call.store() as store:
        return document({"inventory": store.types(f"{library}@{version}")})


@resource("abistore://libraries/{library}/releases/{version}/types/{type}/users")
def users(call: Call, *, library: str, version: str, type: str) -> str:
    """The exports of a release that use a type, as `abistore who-uses TYPE --in REFERENCE --json`."""
    with call.store() as store:
        return document({"types": store.who_uses(type, reference=f"{library}@{version}")})


@resource("abistore://symbols/{symbol}/providers")
def providers(call: Call, *, symbol: str) -> str:
    """The libraries that export a symbol or once did, as `abistore provides --json`."""
    with call.store() as store:
        return document({"providers": store.provides(symbol)})


@resource("abistore://symbols/{symbol}/first-broken")
def first_broken(call: Call, *, symbol: str) -> str:
    """The first release that breaks a symbol, type or finding, and the last good one, as `abistore first-broken`."""
    with call.store() as store:
        return document({"found": store.first_broken(symbol)})
