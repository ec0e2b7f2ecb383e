"""Every error that a user can meet, with its message, next step, exit code and stable code.

::

    AbistoreError            internal (70)
    ├── UsageError           the arguments are wrong (64)
    │   └── ExtraMissing     a package that the arguments need is not installed
    ├── InputError           the file or reference given cannot be used (65)
    │   ├── NoLibrary        a package holds no shared library (71)
    │   ├── PatchError       a patch of headers cannot be read, or does not apply
    │   ├── PathDenied       a file is not below the folders that may be read
    │   ├── ExtractError     a file was recognised and cannot be read
    │   │   ├── HeaderError    public headers cannot be parsed, or declare nothing
    │   │   └── LimitExceeded  the work would take more than its limit of time, memory or size
    │   ├── SigningKeyError  a key cannot sign: not readable, locked, of another type
    │   ├── SignersError     a list of trusted or revoked keys is malformed
    │   ├── UnknownFormat    no reader knows this file
    │   ├── SnapshotError    a JSON snapshot is malformed, or of a newer format
    │   └── BundleError      a bundle is damaged, not complete, or of a newer format
    ├── Incomparable         the sides are for two platforms (66)
    ├── StoreError           the database refuses (74)
    │   ├── SnapshotNotFound nothing is stored under this reference (67)
    │   │   ├── AmbiguousReference  several releases are meant
    │   │   ├── WrongTarget    stored for other platforms only
    │   │   ├── WrongProfile   stored for other build profiles only
    │   │   └── BaselineLost   a line that had a baseline is gated as if it were new
    │   ├── VersionTaken     another binary is stored under this version (68)
    │   ├── StaleBaseline    a baseline, or a release, is not what the caller saw (69)
    │   │   └── SurfaceDiffers a reviewed file is not the public surface of a build
    │   ├── DamagedStore     the stored data are damaged
    │   ├── SchemaMismatch   the database has another schema, or is not one of ours
    │   └── StoreBusy        locked for longer than the busy timeout
    ├── EvidenceMissing      a verdict has less evidence than its gate requires (72)
    ├── OutputError          the answer cannot be written (73)
    ├── SchedulerLost        the scheduler of an archive run cannot be reached (75)
    ├── NotVerified          a signed document, or what it is about, does not verify (76)
    │   ├── MalformedStatement  the file is not such a document
    │   ├── WrongSignature      it was changed after it was signed
    │   ├── UntrustedKey        no trusted key signed it
    │   ├── ExpiredKey          its key was not valid when it signed
    │   ├── RevokedKey          its key is revoked
    │   ├── WrongFile           it is about another file or release
    │   ├── Unsigned            a baseline that must be signed is not
    │   ├── StaleStatement      the same decision is not reached again
    │   └── AuditRewritten      a store's audit is not the one that was signed, or its continuation
    ├── PolicyError          a policy or a suppression is wrong (64)
    └── ConfigError          the project's abistore.toml is wrong (64)

A verdict's exit code (0, 2, 4) never collides with these: all of them are 64 or above
(the numbers follow BSD ``sysexits.h`` where it has one).
"""

from __future__ import annotations

from typing import ClassVar

LONGEST = 10_000
"""The longest message, in characters: what it quotes may have millions."""


class AbistoreError(Exception):
    """An expected failure: what went wrong (``message``) and what to do next (``hint``).

    ``code`` is stable across releases and safe to match on; ``exit_code`` is what the process returns. The default hint
    is the ``usual_hint`` of the class. Passwords and tokens in message and hint are hidden.
    """

    code: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 70
    usual_hint: ClassVar[str] = ""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = _shown(message)
        self.hint = _shown(hint or self.usual_hint)
        super().__init__(self.message)

    def __reduce__(self) -> tuple[type[AbistoreError], tuple[str, str]]:
        return type(self), (self.message, self.hint)


def _shown(text: str) -> str:
    from abistore.urls import masked  # most commands end without an error

    left_out = len(text) - LONGEST
    return masked(text if left_out <= 0 else f"{text[:LONGEST]}... ({left_out:,} more characters)")


class UsageError(AbistoreError):
    """The arguments are wrong: an unknown option value, a reference that does not parse."""

    code = "usage"
    exit_code = 64
    usual_hint = "see `abistore --help`"


class ExtraMissing(UsageError):
    """A package that the arguments need is not installed: one of an extra of abistore."""

    code = "extra-missing"
    usual_hint = "install the extra that the message names"


class InputError(AbistoreError):
    """The file or reference given cannot be used."""

    code = "input"
    exit_code = 65
    usual_hint = "name a shared library or a JSON snapshot that can be read"


class NoLibrary(InputError):
    """A package or a folder can be read, and holds no shared library."""

    code = "no-library"
    exit_code = 71
    usual_hint = "name the package that holds the library"


class PatchError(InputError):
    """A patch of headers cannot be read, or does not apply to the headers that were given."""

    code = "patch"
    usual_hint = "create it with `git diff` or `diff -u` against the headers in --header"


class PathDenied(InputError):
    """A file is not below the folders that may be read. Nothing is told of it, nor whether it exists."""

    code = "path-denied"
    usual_hint = "name a stored release, or start the server with --read-root"


class ExtractError(InputError):
    """A file was recognised and cannot be read: truncated, corrupt, not a library."""

    code = "extract"
    usual_hint = "check that the file is a complete shared library, e.g. with readelf"


class HeaderError(ExtractError):
    """Public headers cannot be found or parsed, or they declare nothing. ``lacks`` are the files that they miss."""

    code = "headers"
    usual_hint = "pass the installed headers with --header, and their include folders with --include-dir"

    def __init__(self, message: str, hint: str = "", lacks: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.lacks = lacks


class LimitExceeded(ExtractError):
    """Reading, judging, storing or showing something would take more than its limit of time, memory or size."""

    code = "limit"
    usual_hint = "the file is probably damaged or hostile; please report a real library that needs more"


class SigningKeyError(InputError):
    """A key cannot sign: it cannot be read, has a passphrase, is not Ed25519, or no agent holds it."""

    code = "signing-key"
    usual_hint = "make one: ssh-keygen -t ed25519 -f KEY"


class SignersError(InputError):
    """A list of trusted signers, or of revoked keys, cannot be read."""

    code = "signers"
    usual_hint = "write it as ssh-keygen(1) describes under ALLOWED SIGNERS"


class UnknownFormat(InputError):
    """No reader knows this file."""

    code = "unknown-format"
    usual_hint = "name an ELF shared library, a Windows DLL, a macOS dylib, a package of them, or a JSON snapshot"


class SnapshotError(InputError):
    """A JSON snapshot is malformed, or of a format newer than this abistore."""

    code = "snapshot"
    usual_hint = "write it again with `abistore export`"


class BundleError(InputError):
    """A bundle is damaged, not complete, says what no store could say, or is of a format newer than this abistore."""

    code = "bundle"
    usual_hint = "write it again with `abistore export --bundle`"


class Incomparable(AbistoreError):
    """The sides are for two platforms, such as two machines or word sizes, so no verdict about them would be true."""

    code = "incomparable"
    exit_code = 66
    usual_hint = "compare builds for the same platform"


class StoreError(AbistoreError):
    """The database cannot be used: unreadable, read-only, full, not reachable."""

    code = "store"
    exit_code = 74
    usual_hint = "check the database with `abistore db check`"


class SnapshotNotFound(StoreError):
    """Nothing is stored under this reference."""

    code = "not-found"
    exit_code = 67
    usual_hint = "see `abistore list` for what is stored"


class AmbiguousReference(SnapshotNotFound):
    """Several releases are meant by this reference."""

    code = "ambiguous"
    usual_hint = "select one: `abistore list` shows the lines"


class WrongTarget(SnapshotNotFound):
    """What is asked for is stored for other platforms only."""

    code = "wrong-target"
    usual_hint = "`abistore list` shows the targets that are stored"


class WrongProfile(SnapshotNotFound):
    """What is asked for is stored for other build profiles only."""

    code = "wrong-profile"
    usual_hint = "`abistore list` shows the profiles that are stored"


class BaselineLost(SnapshotNotFound):
    """A line that once had a baseline has none at this channel: a first build cannot pass there unjudged."""

    code = "baseline-lost"


class VersionTaken(StoreError):
    """Another binary is already stored under this version of the line."""

    code = "version-taken"
    exit_code = 68
    usual_hint = "pass --replace, or another --version or --profile"


class StaleBaseline(StoreError):
    """A baseline stands elsewhere, or a release has other contents, than the caller has seen: somebody was faster."""

    code = "stale-baseline"
    exit_code = 69
    usual_hint = "check the current state, and decide again"


class SurfaceDiffers(StaleBaseline):
    """A reviewed file is not the public surface of a build, or does not exist."""

    code = "surface-differs"
    usual_hint = "review the difference, and write the file again with `abistore export --format surface`"


class DamagedStore(StoreError):
    """The stored data are damaged: they differ from what was stored, or cannot be read."""

    usual_hint = "restore a backup; `abistore db check` shows the damage"


class SchemaMismatch(StoreError):
    """The database has a newer schema, an older one that may not be upgraded here, or is not one of ours."""

    code = "schema"
    usual_hint = "pass another database with --db, or use the abistore version that wrote it"


class StoreBusy(StoreError):
    """Another process held the database locked for longer than the busy timeout."""

    code = "busy"
    usual_hint = "wait for the other process, and retry"


class EvidenceMissing(AbistoreError):
    """A verdict has less evidence than its gate requires, so that a break may have gone unseen."""

    code = "evidence"
    exit_code = 72
    usual_hint = "build with -g, name the folder of the debug file with --debug-dir, or judge with --require none"


class RuleBound(AbistoreError):
    """An option would let pass what a rule that is bound in the store does not."""

    code = "rule-bound"
    exit_code = 64
    usual_hint = "`abistore policy bound` shows the rules and who bound them"


class RuleConflict(RuleBound):
    """Two rules that are bound in the store contradict each other: nothing can pass until one of them is unbound."""

    code = "rule-conflict"
    usual_hint = "unbind one of them: abistore policy unbind PATTERN --reason WHY"


class NotVerified(AbistoreError):
    """A signed document, or what it is about, does not verify."""

    code = "not-verified"
    exit_code = 76
    usual_hint = "do not rely on it"


class MalformedStatement(NotVerified):
    """A file is not a signed document of the kind that was asked for."""

    code = "malformed-statement"
    usual_hint = "name a file that --sign wrote"


class WrongSignature(NotVerified):
    """A document was changed after it was signed, or the signature is that of another one."""

    code = "wrong-signature"


class UntrustedKey(NotVerified):
    """No trusted key signed a document."""

    code = "untrusted-key"
    usual_hint = "if you trust the key, list it in the file of --allowed-signers"


class ExpiredKey(NotVerified):
    """A trusted key signed a document at a time at which it is not valid."""

    code = "expired-key"
    usual_hint = "sign again with the key that replaced it"


class RevokedKey(NotVerified):
    """A revoked key signed a document. When it did does not matter."""

    code = "revoked-key"
    usual_hint = "check what it is about, and sign again with another key"


class WrongFile(NotVerified):
    """A signed statement is about another file, or another release, than the one that was given."""

    code = "wrong-file"
    usual_hint = "ask for the statement about this file"


class Unsigned(NotVerified):
    """A release that must be signed has no signed tag."""

    code = "unsigned"
    usual_hint = "sign it: abistore db release tag LIBRARY@VERSION TAG --sign KEY"


class StaleStatement(NotVerified):
    """The decision in a signed statement is not reached again from what is stored now."""

    code = "stale-statement"
    usual_hint = "judge the release again: abistore verdict LIBRARY@VERSION --statement"


class AuditRewritten(NotVerified):
    """The audit of a store was changed or cut since its head was signed, although it is consistent in itself."""

    code = "audit-rewritten"
    usual_hint = "restore a backup, and find out who can write to the database"


class OutputError(AbistoreError):
    """The answer cannot be written: no such folder, no permission, no space left."""

    code = "output"
    exit_code = 73
    usual_hint = "name another file, or make room"


class SchedulerLost(AbistoreError):
    """The scheduler whose workers read an archive cannot be reached, or its workers cannot do the work."""

    code = "scheduler"
    exit_code = 75
    usual_hint = "start it again, then continue with --resume LOG"


class UndeliveredEvent(OutputError):
    """The command that is called for each event failed as often as it may. Later events wait for this one."""

    code = "undelivered"
    usual_hint = "correct the command, and run `abistore notify` again: it goes on with this event"


class PolicyError(AbistoreError):
    """A policy or a suppression is wrong."""

    code = "policy"
    exit_code = 64
    usual_hint = "see `abistore changes` for the kinds of change"


class ConfigError(AbistoreError):
    """The project's ``abistore.toml`` is wrong."""

    code = "config"
    exit_code = 64
    usual_hint = "docs/reference/configuration.md documents the file"


def named_error(kind: str, message: str, hint: str, otherwise: type[AbistoreError] = ExtractError) -> AbistoreError:
    """The error whose class is called ``kind``, which another process met; ``otherwise`` where no class is."""
    found = globals().get(kind)
    if isinstance(found, type) and issubclass(found, AbistoreError):
        return found(message, hint)
    return otherwise(message, hint)
