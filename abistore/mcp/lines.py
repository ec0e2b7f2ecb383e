"""Which line of a library is meant, and where its baseline stands."""

from __future__ import annotations

from typing import NamedTuple

from abistore.interface import ListedLine, OpenStore
from abistore.mcp.refusals import Refusal
from abistore.model.history import DEFAULT_CHANNEL


class ChosenLine(NamedTuple):
    """A line of a library; ``baseline`` is the version in the usual channel."""

    library: str
    target: str
    profile: str
    baseline: str | None
    latest: str


def line_of(store: OpenStore, library: str, line: str | None) -> ChosenLine:
    """The line that ``TARGET`` or ``TARGET/PROFILE`` chooses, or the only one. Raises :class:`Refusal`."""
    store.releases(library)  # says what is near to a library that is none
    every = store.lines(library=library)
    found = [listed for listed in every if _is_meant(listed, line)]
    if len(found) == 1:
        one = found[0]
        key = one.line
        return ChosenLine(library, key.target, key.profile, one.baselines.get(DEFAULT_CHANNEL), one.latest)
    choices = ", ".join(f"{listed.line.target}/{listed.line.profile}" for listed in found or every)
    if found:
        raise Refusal("AMBIGUOUS_REF", f"{library} has several lines", f"give one as line: {choices}")
    raise Refusal("NOT_FOUND", f"{library} has no line {line}", f"its lines: {choices}")


def _is_meant(listed: ListedLine, line: str | None) -> bool:
    if line is None:
        return True
    target, _, profile = line.partition("/")
    key = listed.line
    return target in {key.target, key.target.split("-")[1]} and profile in {"", key.profile}
