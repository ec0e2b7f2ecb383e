"""Every error that a user can meet, with its message, next step, exit code and stable code.

::

    AbistoreError            internal (70)
    ├── UsageError           the call's words are off (64)
    ├── InputError           the file or reference given cannot be used (65)
    │   ├── ExtractError     a file was recognised and cannot be read
    │   │   └── LimitExceeded  reading it would take more than its time, memory or size limit
    │   ├── UnknownFormat    no reader knows this file
    │   └── SnapshotError    a JSON snapshot is malformed, or of a newer format
    ├── Incomparable         both sides can be read, and no verdict can be true (66)
    ├── StoreError           the database refuses (74)
    │   ├── SnapshotNotFound nothing is stored under this reference (67)
    │   ├── VersionTaken     another binary is stored under this version (68)
    │   ├── SchemaMismatch   the database is of another schema, or not one of ours
    │   └── StoreBusy        locked for longer than the busy timeout
    ├── OutputError          the answer cannot be written (73)
    └── PolicyError          a rule, policy or suppression is wrong (64)

A verdict's exit code (0, 2, 4) never collides with these: all of them are 64 or above
(the numbers follow BSD ``sysexits.h`` where it has one).
"""

from __future__ import annotations

from typing import ClassVar


class AbistoreError(Exception):
    """An expected failure: what went wrong (``message``) and what to do next (``hint``).

    ``code`` is stable across releases and safe to match on; ``exit_code`` is what the process returns.
    """

    code: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[type[AbistoreError], tuple[str, str]]:
        return type(self), (self.message, self.hint)


class UsageError(AbistoreError):
    """The call's words are off: an unknown option value, a reference that does not parse."""

    code = "usage"
    exit_code = 64


class InputError(AbistoreError):
    """The file or reference given cannot be used."""

    code = "input"
    exit_code = 65


class ExtractError(InputError):
    """A file was recognised, and cannot be read: truncated, corrupt, not a library."""

    code = "extract"


class LimitExceeded(ExtractError):
    """Reading the file would take more than its time, memory or size limit."""

    code = "limit"


class UnknownFormat(InputError):
    """No reader knows this file."""

    code = "unknown-format"


class SnapshotError(InputError):
    """A JSON snapshot is malformed, or of a format newer than this abistore."""

    code = "snapshot"


class Incomparable(AbistoreError):
    """Both sides can be read, and no verdict about them can be true: another machine, another word size."""

    code = "incomparable"
    exit_code = 66


class StoreError(AbistoreError):
    """The database refuses: unreadable, read-only, full, not reachable."""

    code = "store"
    exit_code = 74


class SnapshotNotFound(StoreError):
    """Nothing is stored under this reference."""

    code = "not-found"
    exit_code = 67


class VersionTaken(StoreError):
    """Another binary is already stored under this version of the line."""

    code = "version-taken"
    exit_code = 68


class SchemaMismatch(StoreError):
    """The database has a newer schema, an older one that may not be upgraded here, or none of ours."""

    code = "schema"


class StoreBusy(StoreError):
    """Another process held the database locked for longer than the busy timeout."""

    code = "busy"


class OutputError(AbistoreError):
    """The answer cannot be written: no such folder, no permission, no space left."""

    code = "output"
    exit_code = 73


class PolicyError(AbistoreError):
    """A rule, policy or suppression is wrong."""

    code = "policy"
    exit_code = 64
