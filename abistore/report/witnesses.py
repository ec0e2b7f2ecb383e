"""A witness as lines: the program, its files, the commands, and what each release made of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from abistore.report.model import Witness

REFUTED: Final = "the program behaves the same with both releases: this finding may be a false alarm"


def witness_lines(witness: Witness) -> Iterator[str]:
    """What every report shows of a witness; ``>`` marks the lines of the program that matter."""
    if witness.state == "none":
        yield f"no program shows it: {witness.reason}"
        return
    for number, line in enumerate(witness.program.rstrip().splitlines(), 1):
        yield f"{'>' if number in witness.lines else '|'} {line}"
    for name, text in witness.files:
        yield name
        yield from (f"| {line}" for line in text.rstrip().splitlines())
    if witness.state == "written":
        yield f"not compiled: {witness.reason}"
        return
    yield from (f"$ {command}" for command in witness.commands)
    if witness.reason:
        yield witness.reason
    yield from _printed("before", witness.before)
    yield from _printed("after", witness.after)
    if witness.state == "refuted":
        yield REFUTED


def _printed(label: str, text: str) -> Iterator[str]:
    lines = text.rstrip().splitlines() or ["(nothing)"]
    yield f"{label + ':':8}{lines[0]}"
    yield from (f"{'':8}{line}" for line in lines[1:])


def witness_title(witness: Witness) -> str:
    """The heading of a witness, in a few words."""
    match witness.state:
        case "none":
            return "no program shows it"
        case "written":
            return "a program, not compiled"
        case "refuted":
            return "a program that refutes it"
        case _:
            return f"a program that shows it ({witness.sort})"
