"""Who hears of changed resources: sessions that subscribed, and streams that listen."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import anyio
from mcp import MCPError
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated
from mcp.types import INVALID_PARAMS, ResourceListChangedNotification

MOST = 256
"""How many subscriptions a server has at once, of all clients together."""

LONGEST = 2_000
"""How many characters an address may have."""

PATIENCE = 5.0
"""The seconds within which a client has to take a message; one that reads no more is told no more."""


class Subscriber:
    """A session of a handshake era, or, without ``session``, a stream of the stateless one, which the bus serves.

    ``lists`` tells whether it wants to know of libraries that come and go.
    """

    def __init__(self, session: ServerSession | None = None) -> None:
        self.session = session
        self.addresses: set[str] = set()
        self.lists = False


class Subscribers:
    """All subscribers by what keeps them: a connection, or a stream."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._all: dict[Hashable, Subscriber] = {}
        self.changed = anyio.Event()
        """Set when somebody subscribes."""

    def __len__(self) -> int:
        return len(self._all)

    @property
    def addresses(self) -> frozenset[str]:
        """All that anybody subscribes to."""
        return frozenset().union(*(one.addresses for one in self._all.values()))

    def add(
        self, key: Hashable, addresses: Iterable[str], *, lists: bool, session: ServerSession | None = None
    ) -> None:
        """Add to what a subscriber wants to be told of. Raises :class:`MCPError` where that is too much."""
        wanted = set(addresses)
        known = self._all.get(key)
        taken = sum(len(one.addresses) for one in self._all.values())
        if taken + len(wanted - (known.addresses if known else set())) > MOST:
            raise MCPError(INVALID_PARAMS, f"at most {MOST} subscriptions are kept at once: unsubscribe from others")
        if any(len(address) > LONGEST for address in wanted):
            raise MCPError(INVALID_PARAMS, f"an address has at most {LONGEST} characters")
        one = self._all.setdefault(key, Subscriber(session))
        one.addresses |= wanted
        one.lists |= lists
        self.changed.set()

    def drop(self, key: Hashable, address: str) -> None:
        """A subscriber wants to be told of an address no more."""
        if key in self._all:
            self._all[key].addresses.discard(address)

    def remove(self, key: Hashable) -> None:
        """A subscriber is gone."""
        self._all.pop(key, None)

    async def tell(self, addresses: Iterable[str], *, lists: bool) -> None:
        """Tell that ``addresses`` say something else and, with ``lists``, that libraries came or went."""
        told = sorted(addresses)
        for address in told:
            await self.bus.publish(ResourceUpdated(uri=address))
        if lists:
            await self.bus.publish(ResourcesListChanged())
        for key, one in list(self._all.items()):
            if one.session is not None:
                with anyio.move_on_after(PATIENCE) as waiting:
                    await _tell(one.session, [each for each in told if each in one.addresses], lists and one.lists)
                if waiting.cancelled_caught:
                    self.remove(key)


async def _tell(session: ServerSession, addresses: Iterable[str], lists: bool) -> None:
    for address in addresses:
        await session.send_resource_updated(address)
    if lists:
        await session.send_notification(ResourceListChangedNotification())
