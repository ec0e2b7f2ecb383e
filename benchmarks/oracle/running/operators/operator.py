"""What an operator is, and all of them by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.oracle.running.draft import Draft

Change: TypeAlias = Callable[[Draft], object]
"""Changes a draft and returns what it changed; raises ``Nothing`` where there is nothing to change."""


@dataclass(frozen=True)
class Operator:
    """A change with its name and subject. ``unshown`` says why a program that runs alike proves nothing."""

    name: str
    subject: str
    change: Change
    unshown: str = ""


OPERATORS: dict[str, Operator] = {}
"""By name; filled by the modules beside this one."""


def operator(subject: str, *, unshown: str = "") -> Callable[[Change], Change]:
    """Make an operator of a function: its name is the operator's."""

    def made(change: Change) -> Change:
        name = change.__name__.replace("_", " ")
        OPERATORS[name] = Operator(name, subject, change, unshown)
        return change

    return made
