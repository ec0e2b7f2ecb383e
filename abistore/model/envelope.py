"""What a command prints with ``--json``: one object of the same shape for every verb."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from abistore.errors import AbistoreError
from abistore.model.decision import Decision, Outcome, deciding
from abistore.model.findings import Verdict

VERSION: Final = 1
"""The version of every verb's answer. New keys keep it; a key that goes or changes its meaning raises it."""


class AnswerError(msgspec.Struct, frozen=True):
    """Why a command failed: the stable ``code``, what happened, and what to do next."""

    code: str
    message: str
    hint: str


class Conclusion(NamedTuple):
    """What a call concludes: the verdict, and whether the release may ship; ``None`` where it says neither."""

    verdict: Verdict | None = None
    outcome: Outcome | None = None


def concluded(decisions: Iterable[Decision | None], exit_code: int) -> Conclusion:
    """What the decision concludes that gives a call its exit code: nothing, where an error outweighs them all."""
    found = deciding((each for each in decisions if each is not None), exit_code)
    if found is None:
        return Conclusion()
    return Conclusion(Verdict[found.verdict] if found.verdict else None, found.outcome)


class HeldAnswer(NamedTuple):
    """An answer that is written once the exit code is known: to ``files``, and if ``printed`` to standard output.

    ``size`` in bytes is what the limits of writing go by.
    """

    value: Any
    conclusion: Conclusion | None = None
    error: AbistoreError | AnswerError | None = None
    files: tuple[Path, ...] = ()
    printed: bool = True
    size: int = 0


class Envelope(msgspec.Struct, frozen=True):
    """The answer of a command.

    ``schema`` names the verb and the version of its answer, as ``abistore/compare/1``. ``exit_code`` is the process's.
    ``outcome`` and ``verdict`` are ``None`` where nothing is decided or judged. ``data`` is the verb's result, ``None``
    where an error left none. ``notes`` are remarks, which stand on standard error without ``--json``. ``error`` is
    there whenever the exit code is neither 0 nor that of a verdict.
    """

    schema: str
    outcome: Outcome | None
    exit_code: int
    verdict: Verdict | None
    data: Any
    notes: tuple[str, ...]
    error: AnswerError | None


def schema_of(words: tuple[str, ...]) -> str:
    """The name of the schema of a verb's answer, by the words that call it; of an error where no verb was found."""
    return f"abistore/{'-'.join(words) or 'error'}/{VERSION}"
