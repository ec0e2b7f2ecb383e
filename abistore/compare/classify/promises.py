"""What functions promise their callers by attributes, and which of it another declaration does not keep."""

from __future__ import annotations

import re

from abistore.model.declared import COPIED, Declared

ALIGNED = re.compile(r"assume_aligned\((\d+)\)")


def broken_promises(first: Declared, second: Declared) -> tuple[str, ...]:
    """What callers of ``first`` were compiled by that ``second`` does not say; nothing of what programs compile."""
    if COPIED & {*first.traits, *second.traits}:
        return ()
    return tuple(each for each in first.promises if not any(_implies(other, each) for other in second.promises))


def _implies(promise: str, other: str) -> bool:
    """Whether a function that keeps ``promise`` keeps ``other`` too."""
    if promise == other or (promise, other) == ("const", "pure"):
        return True
    aligned, less = ALIGNED.fullmatch(promise), ALIGNED.fullmatch(other)
    return aligned is not None and less is not None and int(aligned[1]) >= int(less[1])
