"""What a release is compared with where nobody says with what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from abistore.model.history import Release
from abistore.model.judging.approvals import no_later
from abistore.model.judging.standing import is_withdrawn
from abistore.model.labels.promises import is_unreleased
from abistore.service.listing import releases_of

if TYPE_CHECKING:
    from abistore.store.store import Store


class Predecessors:
    """The releases of one line up to some place, of which the last that counts is compared with what follows.

    A release follows the last one that was released: what broke in a build between them (``1.4.0-12-gabc1234``), its
    users get with it. Such a build follows whatever is before it. Releases that were withdrawn are passed over. Where
    nothing else is there, a build or a withdrawn release counts.
    """

    def __init__(self, earlier: Iterable[Release] = ()) -> None:
        self._last: Release | None = None
        self._standing: Release | None = None
        self._released: Release | None = None
        for each in earlier:
            self.add(each)

    def add(self, release: Release) -> None:
        """Go on by one release."""
        self._last = release
        if not is_withdrawn(release):
            self._standing = release
            if not is_unreleased(release.version):
                self._released = release

    def of(self, version: str) -> Release | None:
        """What a version is compared with that comes next; ``None`` for the first of its line."""
        before = None if is_unreleased(version) else self._released
        return before or self._standing or self._last


def passed_over(store: Store, old: Release, version: str) -> tuple[str, ...]:
    """Remarks about the releases between ``old`` and the one called ``version`` that were withdrawn."""
    ordered = releases_of(store, old.line)
    after = ordered[ordered.index(old) + 1 :] if old in ordered else ()
    scheme = store.scheme(old.line.library)
    gone = [each.version for each in after if is_withdrawn(each) and each.version != version]
    between = [each for each in gone if no_later(each, version, scheme)]
    if not between:
        return ()
    were = "was" if len(between) == 1 else "were"
    return (f"compared with {old.version}: {', '.join(between)} {were} withdrawn",)


def beside_itself(release: Release) -> str:
    """The remark where a release is judged against itself, in which nothing can be found."""
    return f"{release.version} is the release that it is judged against: no other one was compared"


def leads_here(release: Release, soname: str | None) -> str:
    """The remark where the old SONAME leads to the new library in its package: another SONAME keeps nobody apart."""
    return f"{release.soname} leads to this library, whatever it calls itself ({soname}): programs load it by that name"


def before_it_moves(release: Release, channel: str | None) -> str:
    """The remark where a release is judged against the one that a baseline is about to leave."""
    return f"compared with {release.version}, at which the baseline {channel} stands, before it moves"


def before(store: Store, release: Release) -> list[Release]:
    """The releases before one, in release order; before a candidate those that its version would follow."""
    ordered = releases_of(store, release.line)
    if release in ordered:
        return list(ordered[: ordered.index(release)])
    previous = store.previous(release)
    return list(ordered[: ordered.index(previous) + 1]) if previous else []
