"""Libraries that a dylib re-exports now, and which were not read: what it lost may be there."""

from __future__ import annotations

from abistore.compare.context import Context
from abistore.model.labels.sonames import library_name


def unread_reexports(context: Context) -> tuple[str, ...]:
    """The libraries that the new release re-exports and the old one does not, sorted.

    Those that are at hand were read: :func:`abistore.compare.releases.reexported.without_read` leaves them out.
    """
    old, new = context.old.library, context.new.library
    if old is None or new is None or not new.on_macho.reexports:
        return ()
    known = {library_name(each) for each in old.on_macho.reexports}
    return tuple(sorted(each for each in new.on_macho.reexports if library_name(each) not in known))
