"""One law asked of many subjects, in a test that lists every subject that breaks it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import pytest

Subject = TypeVar("Subject")


def assert_each(
    subjects: Iterable[Subject], law: Callable[[Subject], object], *, named: Callable[[Subject], object] = str
) -> None:
    """Call ``law`` with every subject, and fail with a list of the subjects for which it raised.

    An unexpected exception is its subject's failure. A law without a subject fails: it could never fail otherwise.
    """
    __tracebackhide__ = True
    asked = tuple(subjects)
    broken = []
    for subject in asked:
        try:
            law(subject)
        except (Exception, pytest.fail.Exception) as error:
            broken.append(f"{named(subject)}: {_explained(error)}")
    if broken or not asked:
        pytest.fail("\n".join([f"{len(broken)} of {len(asked)} break the law", *broken]))


def _explained(error: BaseException) -> str:
    """What an assertion compared, or an exception's last line, and the line that raised it."""
    *_, frame = traceback.extract_tb(error.__traceback__)
    told = str(error) if isinstance(error, AssertionError) else traceback.format_exception_only(error)[-1]
    lines = "\n    ".join(line for line in told.splitlines() if line.strip())
    return f"{Path(frame.filename).name}:{frame.lineno}: {lines}"
