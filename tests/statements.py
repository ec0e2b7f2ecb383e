"""The statements that something runs on a database: what damage it meets, and what damage it cannot meet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from sqlalchemy import Connection, Engine, event

Statement: TypeAlias = frozenset[str]
"""The words of a statement, names of tables and columns among them."""


@contextmanager
def recorded(target: Connection | type[Engine] = Engine) -> Iterator[list[Statement]]:
    """Collects what is run meanwhile: by one connection that is open, or by all that this process opens."""
    found: list[Statement] = []

    def note(connection: object, cursor: object, statement: str, *rest: object) -> None:
        found.append(frozenset(re.findall(r"\w+", statement)))

    event.listen(target, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(target, "before_cursor_execute", note)
