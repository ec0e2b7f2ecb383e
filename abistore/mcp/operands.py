"""Operands of calls: files and references, baselines, handles of comparisons, and questions to a person.

Short ids of comparisons, by which later calls mean them.

An id has digits of both contents, then of both labels, then of these and what they were judged by. So one of stored
releases is found again by every server of the store, by the index of digests and at the same cost however long the
history is; one of files by the server that compared them, for as long as it keeps the report.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import pairwise, product
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, cast

import msgspec

from abistore.errors import PathDenied
from abistore.files import status
from abistore.interface import (
    DecisionRequest,
    HeaderOptions,
    ListedLine,
    OpenStore,
    Release,
    Report,
    ReportedFinding,
    Ruling,
    Side,
    decided,
    lines,
    locate,
    open_store,
    policies,
    releases,
    releases_of_digest,
    reviews,
    ruling,
    verdict_between,
    with_approvals,
    without_said,
)
from abistore.mcp.answers import BESIDE, BYTES, SENT, Page, ReviewItem, asking, brief, encoded, page
from abistore.mcp.settings import Code, Refusal, Settings, write_disabled
from abistore.model.findings import ENGINE
from abistore.model.history import DEFAULT_CHANNEL


class LineWords(TypedDict):
    """The words by which verbs mean a line."""

    target: str
    profile: str


class ChosenLine(NamedTuple):
    """A line of a library; ``baseline`` is the version in the usual channel."""

    library: str
    target: str
    profile: str
    baseline: str | None
    latest: str

    @property
    def words(self) -> LineWords:
        """The words by which verbs mean it."""
        return {"target": self.target, "profile": self.profile}


def line_of(store: OpenStore, library: str, line: str | None) -> ChosenLine:
    """The line that ``TARGET`` or ``TARGET/PROFILE`` chooses, or the only one. Raises :class:`Refusal`."""
    releases(library, database=store)  # says what is near to a library that is none
    every = lines(library=library, database=store)
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


LANGUAGES = ("c++", "c")
A_FILE = "give the absolute path of a file on the server's machine"
REFERENCES = "name a stored release (libfoo@1.2.0, libfoo@latest, libfoo@baseline) or an absolute path"
REMOTE = (
    "the server reads files of its own machine: a build of another one is stored from there and then named "
    'libfoo@VERSION (abistore://docs/tools, "A build of another machine")'
)
"""How a build gets to a server that does not have its file."""


def operand(settings: Settings, text: str, argument: str) -> str | Path:
    """A side of a comparison: a file that may be read, or a reference. Raises :class:`Refusal`."""
    if text.startswith("/"):
        return library(settings, text, argument)
    if not text or "/" in text or text[0] in ".~":
        raise Refusal("INVALID_ARGUMENT", f"{argument} is a relative path", REFERENCES)
    return text


def library(settings: Settings, text: str, argument: str) -> Path:
    """A file of a library, or a folder of libraries, as :func:`file`; each file in a folder has the same limits."""
    return file(settings, text, argument, folders=True)


def file(settings: Settings, text: str, argument: str, *, folders: bool = False) -> Path:
    """A regular file that is not too large. Nothing of it is read. Raises :class:`Refusal`.

    Whoever reads it opens it once, and judges again whether it may be read.
    """
    path = Path(text)
    if not path.is_absolute():
        raise Refusal("INVALID_ARGUMENT", f"{argument} is a relative path", "give an absolute path")
    try:
        found = status(path)
    except PathDenied:
        raise _denied(argument, REMOTE if folders else "") from None
    except (FileNotFoundError, NotADirectoryError):
        hint = f"{REFERENCES}; {REMOTE}" if folders else A_FILE
        raise Refusal("NOT_FOUND", f"File not found for {argument}", hint) from None
    except (OSError, ValueError):
        raise Refusal("PATH_DENIED", f"{argument} cannot be read", "check the path and its permissions") from None
    if folders and stat.S_ISDIR(found.st_mode):
        return path
    if not stat.S_ISREG(found.st_mode):
        raise Refusal("INVALID_ARGUMENT", f"{argument} is not a regular file", REFERENCES)
    if found.st_size > settings.max_file_size:
        sizes = f"{argument} is {_size(found.st_size)}, exceeds limit of {_size(settings.max_file_size)}"
        raise Refusal("FILE_TOO_LARGE", sizes, "start the server with a higher --max-file-size")
    if not os.access(path, os.R_OK):
        raise Refusal("PATH_DENIED", f"{argument} cannot be read", "check its permissions")
    return path


def _size(size: int) -> str:
    """A size in megabytes, as the field words it; a small one in bytes."""
    if size < 1 << 20:
        return f"{size:,} bytes"
    return f"{f'{size / (1 << 20):.1f}'.removesuffix('.0')} MB"


def headers_of(
    settings: Settings, given: Sequence[str] | None, folders: Sequence[str] | None, language: str | None, argument: str
) -> HeaderOptions | None:
    """The public headers that an argument names, files or folders; ``None`` for none. Raises :class:`Refusal`."""
    if language is not None and language not in LANGUAGES:
        raise Refusal("INVALID_ARGUMENT", f"Unknown language: {language!r}. Valid languages: {', '.join(LANGUAGES)}")
    include_dirs = tuple(_folder(each, f"include_dirs[{number}]") for number, each in enumerate(folders or ()))
    headers = [_header(settings, each, f"{argument}[{number}]") for number, each in enumerate(given or ())]
    return HeaderOptions.given(headers, include_dirs=include_dirs, language=cast(Literal["c", "c++"] | None, language))


def check_include_dirs(folders: Sequence[str] | None, *headers: Sequence[str] | None) -> None:
    """Raises :class:`Refusal` for folders that no headers are given for."""
    if folders and not any(headers):
        raise Refusal("INVALID_ARGUMENT", "include_dirs are for headers, and none are given", "name them as headers")


def _header(settings: Settings, text: str, argument: str) -> str:
    """A header, or a folder of headers; behind the library whose it is, where that is said: ``libfoo=/include/foo``."""
    library, equals, path = text.partition("=")
    if equals and "/" not in library:
        return f"{library}={_header_path(settings, path, argument)}"
    return str(_header_path(settings, text, argument))


def _header_path(settings: Settings, text: str, argument: str) -> Path:
    path = Path(text)
    is_folder = False
    with suppress(OSError, ValueError, PathDenied):  # what is wrong is said of the file
        is_folder = path.is_absolute() and stat.S_ISDIR(status(path).st_mode)
    return path if is_folder else file(settings, text, argument)


def _folder(text: str, argument: str) -> Path:
    path = Path(text)
    if not path.is_absolute():
        raise Refusal("INVALID_ARGUMENT", f"{argument} is a relative path", "give an absolute path")
    try:
        if stat.S_ISDIR(status(path).st_mode):
            return path
    except PathDenied:
        raise _denied(argument) from None
    except (OSError, ValueError):
        raise Refusal("NOT_FOUND", f"Folder not found for {argument}", "give the folder of the headers") from None
    raise Refusal("INVALID_ARGUMENT", f"{argument} is not a folder", "give the folder of the headers")


def _denied(argument: str, more: str = "") -> Refusal:
    hint = "; ".join(filter(None, (PathDenied.usual_hint, more)))
    return Refusal("PATH_DENIED", f"{argument} is not below a folder that may be read", hint)


def ruling_of(
    settings: Settings, policy: str, policy_file: str | None, suppression_file: str | None, *, gate: bool = False
) -> Ruling | None:
    """What findings are judged by; a file wins over the name of a policy. Raises :class:`Refusal`.

    A ``gate`` refuses suppressions that have expired or select no declaration.
    """
    if policy not in policies():
        raise Refusal(
            "UNKNOWN_POLICY",
            f"Unknown policy: {policy!r}. Valid policies: {', '.join(sorted(policies()))}",
            "give the path of your own policy as policy_file",
        )
    chosen = str(file(settings, policy_file, "policy_file")) if policy_file else policy
    suppress = [str(file(settings, suppression_file, "suppression_file"))] if suppression_file else []
    return ruling(chosen, suppress, strict=gate)


SUFFIX = ".json"

SYSTEM = tuple(
    PurePosixPath(folder)
    for folder in (
        "/etc",
        "/bin",
        "/sbin",
        "/lib",
        "/usr/bin",
        "/usr/sbin",
        "/usr/lib",
        "/boot",
        "/sys",
        "/proc",
        "/dev",
    )
)
"""Folders in which nothing is written, whatever the export root is."""

CREDENTIALS = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".docker", ".netrc"})
"""Names below which people keep keys; ``.config/gh`` too."""

_PLACE = "name a new .json file below the export root of the server"
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def check_export(settings: Settings, text: str) -> tuple[Path, tuple[str, ...]]:
    """The export root, and the parts of a path below it. Nothing is touched. Raises :class:`Refusal`."""
    path = PurePosixPath(text)
    if not path.is_absolute() or "\0" in text:
        raise Refusal("INVALID_ARGUMENT", "output_path is a relative path", "give an absolute path")
    if path.suffix != SUFFIX:
        raise Refusal("INVALID_ARGUMENT", f"output_path must have a .json extension, got: {path.suffix!r}", _PLACE)
    given = settings.export_root or ""
    root = Path(given).resolve()
    parts = _below(path, (PurePosixPath(given), PurePosixPath(root)))
    place = PurePosixPath(root, *parts)
    if _is_kept_from(place):
        raise Refusal("PATH_DENIED", "output_path is in a folder of the system, or of keys", _PLACE)
    return root, parts


def _below(path: PurePosixPath, roots: tuple[PurePosixPath, ...]) -> tuple[str, ...]:
    """The parts of a path below one of the ways to write the export root."""
    for root in roots:
        if path.is_relative_to(root):
            parts = path.relative_to(root).parts
            if parts and ".." not in parts:
                return parts
    raise Refusal("PATH_DENIED", "output_path is not below the export root", _PLACE)


def _is_kept_from(place: PurePosixPath) -> bool:
    parts = place.parts
    keys = CREDENTIALS.intersection(parts) or (".config", "gh") in pairwise(parts)
    return bool(keys) or any(place.is_relative_to(folder) for folder in SYSTEM)


def write_new(settings: Settings, text: str, data: bytes) -> None:
    """Write a file that is not there yet, all or nothing. Raises :class:`Refusal`."""
    root, parts = check_export(settings, text)
    try:
        folder = _opened(root, parts[:-1])
        try:
            _write(folder, parts[-1], data)
        finally:
            os.close(folder)
    except OSError as error:
        raise _export_denied(error) from None


def _opened(root: Path, folders: tuple[str, ...]) -> int:
    """The folder of a file, reached from the root step by step, so that no link can be put in the way."""
    found = os.open(root, _OPEN_FOLDER)
    for name in folders:
        try:
            inner = os.open(name, _OPEN_FOLDER, dir_fd=found)
        finally:
            os.close(found)
        found = inner
    return found


def _write(folder: int, name: str, data: bytes) -> None:
    """Under another name first: a process that is killed meanwhile leaves no half of a dump."""
    draft = f".abistore-{token_hex(8)}.part"
    with os.fdopen(os.open(draft, _CREATE, 0o644, dir_fd=folder), "wb") as file:
        try:
            file.write(data)
            file.flush()
            os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=folder)


def _export_denied(error: OSError) -> Refusal:
    why = {
        errno.EEXIST: "exists already: nothing is overwritten",
        errno.ENOENT: "is in a folder that does not exist",
        errno.ELOOP: "leads through a symbolic link",
        errno.ENOTDIR: "leads through a symbolic link, or a file",
        errno.ENOSPC: "cannot be written: no space is left",
    }.get(error.errno or 0, "cannot be written")
    return Refusal("PATH_DENIED", f"output_path {why}", _PLACE)


class Question(msgspec.Struct, frozen=True):
    """A question for a person; ``text`` is empty where nobody has to decide.

    ``facts`` are what the decision rests on: the write checks them again, in its transaction.
    """

    text: str
    facts: dict[str, str]


T = TypeVar("T")
MOST_ITEMS = 200
"""The largest ``limit``."""

PAGING = frozenset({"cursor", "limit"})
"""The arguments that choose a page of an answer, and not the answer."""


class Call:
    """One call of a tool, in the process that works on it.

    ``kept`` is the report of the comparison that the arguments name, where the server has it, and ``beside`` that of an
    earlier one; the body sets ``keep`` to have one kept, under its id, for later calls. ``actor`` is who asks, for the
    audit of what is written; ``decided`` the question that a person has decided.
    """

    def __init__(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        settings: Settings,
        *,
        kept: bytes | None = None,
        beside: bytes | None = None,
        actor: str = "",
        decided: Question | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> None:
        self.tool = tool
        self.arguments = arguments
        self.settings = settings
        self.kept = kept
        self.beside = beside
        self.actor = actor
        self.decided = decided
        self.progress = progress
        self.keep: tuple[str, bytes] | None = None
        self._store: OpenStore | None = None

    @contextmanager
    def store(self) -> Iterator[OpenStore]:
        """The store, to which nothing is written; within another ``with``, that one. Raises :class:`StoreError`."""
        if self._store is not None:
            yield self._store
            return
        with open_store(self.settings.database, read_only=True) as self._store:
            try:
                yield self._store
            finally:
                self._store = None

    @contextmanager
    def writing(self, *, create: bool = False) -> Iterator[OpenStore]:
        """The store, to be written to. It is never upgraded. Raises :class:`StoreError`, :class:`Refusal`."""
        if not self.settings.allow_write:
            raise write_disabled(self.tool)
        with open_store(self.settings.database, create=create and self.has_no_store) as store:
            yield store

    @property
    def has_no_store(self) -> bool:
        """Whether the database is a file that does not exist yet."""
        where = locate(self.settings.database)
        return "://" not in where and not Path(where).exists()

    def page(self, items: Sequence[T], *, budget: int, usual: int = 20) -> Page[T]:
        """The page that the arguments ask for: of ``usual`` items and ``budget`` units where they set no bound.

        A ``limit`` or a level of detail that was asked for is bounded by the server's own maximum alone.
        """
        given = self.arguments
        limit, most = given.get("limit"), self.settings.max_response_units // SENT
        if limit is not None or given.get("detail_level", "summary") != "summary":
            budget = max(1, most - BESIDE)
        found = page(items, given.get("cursor"), limit or usual, question=self._question, budget=min(budget, most))
        if found.next_cursor is None:
            return found
        rest = f"{found.left:,} more; one answer has at most {MOST_ITEMS} items and {most * SENT * BYTES:,} bytes."
        more = asking(self.tool, f"Read on: {rest}", **{**given, "cursor": found.next_cursor})
        return found._replace(more=(more,))

    @property
    def _question(self) -> str:
        asked = sorted((name, value) for name, value in self.arguments.items() if name not in PAGING)
        return blake2b(encoded((self.tool, asked)), digest_size=4).hexdigest()


SHOWN = 16
"""The digits that answers show: fewer do not tell what findings were judged by."""

_STRICT = ("strict_abi", "", "", str(ENGINE))


_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.Decoder(Report).decode


def keep(call: Call, report: Report) -> str:
    """The short id of a comparison, whose report is kept for later calls."""
    identity = identity_of(report)
    call.keep = identity, _encode(_ungated(report))
    return identity[:SHOWN]


def _ungated(report: Report) -> Report:
    """The report as no gate has seen it, and nobody has said anything of it: another one may ask, at another time."""
    bare = msgspec.structs.replace(without_said(report), status="ok", code="", error="", hint="")
    before = report.decision
    known = before.promise if before is not None and before.promise and before.promise.rule == "scheme" else None
    return decided(bare, DecisionRequest("release", promise=known))


def identity_of(report: Report) -> str:
    """The whole id of a comparison."""
    ruled = (report.policy, report.policy_digest, report.suppression_digest, report.engine)
    return _identity(report.old, report.new, ruled)


EARLIER = "beside"
"""The argument that names an earlier comparison."""

_HANDLE = re.compile(r"[0-9a-f]{16}", re.IGNORECASE)


def is_handle(text: object) -> bool:
    """Whether a text is an id of a comparison as answers show it; a version or a revision is none."""
    return isinstance(text, str) and _HANDLE.fullmatch(text) is not None


def earlier_report(call: Call, digits: str) -> Report:
    """The report of an earlier comparison, which the argument ``beside`` names. Raises :class:`Refusal`."""
    if call.beside is not None:
        return _decode(call.beside)
    with call.store() as store:
        report = _stored(store, digits.lower(), judge=True)
    if report is None:
        hint = "compare again: comparisons of files are kept by the server that made them"
        raise Refusal("NOT_FOUND", f"no comparison is known by {digits}", hint)
    return report


def kept_report(call: Call) -> Report | None:
    """The report that the server keeps of the comparison which the arguments name."""
    return None if call.kept is None else _decode(call.kept)


def report_of(call: Call, digits: str, *, judge: bool = True) -> Report:
    """The report of the comparison whose id begins with ``digits``. Raises :class:`Refusal`.

    With ``judge=False`` only what the server keeps and what the store remembers is told.
    """
    report = kept_report(call)
    if report is None and len(digits) >= SHOWN:
        with call.store() as store:
            report = _stored(store, digits.lower(), judge)
    if report is None:
        raise Refusal(
            "NOT_FOUND",
            f"no comparison is known by {digits}",
            "compare again with abi_compare or abi_summary: comparisons of files are kept by the server that made them",
        )
    keep(call, report)
    return _ungated(report)


def told_report(call: Call, digits: str) -> Report:
    """The same with what people say of its findings by now: nothing that was withdrawn lets a gate pass."""
    report = report_of(call, digits)
    if call.has_no_store:
        return report
    with call.store() as store:
        return with_approvals(report, database=store)


def findings_of(report: Report) -> tuple[ReportedFinding, ...]:
    """Everything that a comparison found: what counts, what is suppressed, advice, and the consequences of each."""
    top = (*report.changes, *report.suppressed, *report.advice)
    return tuple(each for change in top for each in (change, *change.consequences))


def one_finding(found: Iterable[ReportedFinding], digits: str) -> ReportedFinding:
    """The one whose id begins with ``digits``. Raises :class:`Refusal` where none does, or several do."""
    meant = {each.id: each for each in reversed(tuple(found)) if each.id.startswith(digits.lower())}
    if len(meant) == 1:
        return next(iter(meant.values()))
    code: Code = "AMBIGUOUS_REF" if meant else "NOT_FOUND"
    hint = f"give more digits: {', '.join(sorted(meant)[:3])}" if meant else "abi_findings lists them"
    raise Refusal(code, f"{len(meant) or 'no'} findings begin with {brief(digits, 80)}", hint)


def reviewed(call: Call, library: str) -> Mapping[str, ReviewItem]:
    """What people said of findings in a library, by identity."""
    if call.has_no_store:
        return {}
    with call.store() as store:
        said = reviews(library, database=store)
    return {one.identity: ReviewItem(one.state, brief(one.note), one.actor) for one in said}


def _stored(store: OpenStore, digits: str, judge: bool) -> Report | None:
    """The verdict about two stored releases of a line, by the strict policy, where it has this id."""
    pairs = {_identity(old.side, new.side, _STRICT): (old, new) for old, new in _pairs(store, digits)}
    found = [identity for identity in sorted(pairs) if identity.startswith(digits)]
    if len(found) > 1:
        told = "; ".join(f"{identity} is {pairs[identity][0].side} -> {pairs[identity][1].side}" for identity in found)
        raise Refusal("AMBIGUOUS_REF", f"comparison_id {digits}: {told}", "give more digits")
    return verdict_between(*pairs[found[0]], database=store, judge=judge).report if found else None


def _pairs(store: OpenStore, digits: str) -> Iterator[tuple[Release, Release]]:
    """The pairs of releases of one line whose comparison may have an id that begins so: an index has them."""
    for old, new in product(*(_sides(store, digits, place) for place in (0, 1))):
        if old != new and old.line == new.line:
            yield old, new


def _sides(store: OpenStore, digits: str, place: Literal[0, 1]) -> list[Release]:
    content, label = digits[4 * place : 4 * place + 4], digits[8 + 2 * place : 10 + 2 * place]
    found = releases_of_digest(content, database=store)
    return [release for release in found if _label(release.side).startswith(label)]


def _identity(old: Side, new: Side, ruled: tuple[str, ...]) -> str:
    """Four digits of each content, two of each label, and twenty of everything."""
    every = b"\0".join((_key(old), _key(new), encoded(ruled)))
    whole = blake2b(every, digest_size=10).hexdigest()
    return f"{old.digest[:4]:0<4}{new.digest[:4]:0<4}{_label(old)}{_label(new)}{whole}"


def _label(side: Side) -> str:
    return blake2b(_key(side), digest_size=1).hexdigest()


def _key(side: Side) -> bytes:
    return encoded((side.library, side.version, side.digest, side.target))
