"""Work that never ends."""

from __future__ import annotations

from typing import Any, NoReturn


def endless(*arguments: Any, **named: Any) -> NoReturn:
    while True:
        pass
