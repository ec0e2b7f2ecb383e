"""What-if: an edit of headers, judged against the baselines of a library before anything is built."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from abistore.errors import HeaderError, PatchError, SnapshotNotFound, UsageError
from abistore.extract.files import InputFile
from abistore.extract.headers.given import find_headers
from abistore.extract.reader import NO_EDITS, EditedHeader, HeaderEdits, HeaderOptions, Language
from abistore.files import canonical, confined, roots
from abistore.limits import limits_for
from abistore.model.declarations import TYPES, Declared, Name
from abistore.model.findings import FailOn, Verdict
from abistore.model.history import LineKey, Release
from abistore.model.labels import Given
from abistore.model.layout import Layouts
from abistore.model.names.spelling import declaration, declare
from abistore.model.names.symbols import is_mangled
from abistore.model.rules import BoundRule
from abistore.model.shapes import Alias, AnyShape, Enum, Foreign, Named, Record
from abistore.model.snapshot import Evidence, Snapshot, Target, Variants
from abistore.model.structure import references
from abistore.model.words import counted
from abistore.report.model import Report, VerdictName, verdict_of
from abistore.service.binding import names_for, rule_for, ruled
from abistore.service.database import Database, line_target
from abistore.service.decision import DecisionRequest, check_options, decided, promised
from abistore.service.judging import churn
from abistore.service.judging import report as reported
from abistore.service.snapshots import Operands, Selection, is_reference, operands, os_path_exists

if TYPE_CHECKING:
    from abistore.diffing.judge.whatif import HeaderEdit, JudgedEdit, OfferedWay
    from abistore.extract.reader import FacetReading
    from abistore.service.ruling import Ruling

MOST_BYTES: Final = 4 << 20
"""A patch beyond it is not one of headers."""

NOTHING: Final = "/dev/null"
EDITED: Final = "with the edit"


def patched(patch: str, files: Mapping[Path, str], folders: Iterable[Path]) -> tuple[EditedHeader, ...]:
    """What a unified diff makes of header ``files``, which lie in ``folders``.

    The paths of the diff may begin with any folders, as ``a/include/`` of ``git diff``: a file is found by the end of
    its path. Raises :class:`PatchError` for what is no diff, for a file that is not among them or could be several, and
    where the text around a change is not what the diff expects.
    """
    if len(patch) > MOST_BYTES:
        raise PatchError(f"the patch has {len(patch):,} characters, more than {MOST_BYTES:,}", "leave out other files")
    found = tuple(_edited_file(diff, files, tuple(folders)) for diff in _diffs(patch))
    if not found:
        raise PatchError("the patch has no changes in it", "make it with `git diff` or `diff -u`")
    return found


def _diffs(patch: str) -> Iterator[Any]:
    from whatthepatch import parse_patch
    from whatthepatch.exceptions import WhatThePatchException

    try:
        yield from (diff for diff in parse_patch(patch) if diff.header is not None and diff.changes)
    except (WhatThePatchException, ValueError, AssertionError) as error:
        raise PatchError(f"the patch cannot be read: {error}", "make it with `git diff` or `diff -u`") from error


def _edited_file(diff: Any, files: Mapping[Path, str], folders: tuple[Path, ...]) -> EditedHeader:
    from whatthepatch import apply_diff
    from whatthepatch.exceptions import HunkApplyException

    written = diff.header.old_path if diff.header.old_path != NOTHING else diff.header.new_path
    path = _named(written, files)
    if path is None:
        if all(change.old is None for change in diff.changes):
            return EditedHeader(_place(written, folders), _file_text(change.line for change in diff.changes))
        raise PatchError(f"{written}: no header that was given has this name", "give its folder with --header")
    try:
        return EditedHeader(path, _file_text(apply_diff(diff, files[path])) or None)
    except HunkApplyException as error:
        hint = "make the patch against the headers that --header names"
        raise PatchError(f"the patch does not apply to {path.name}: {error}", hint) from error


def _file_text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _named(written: str, files: Collection[Path]) -> Path | None:
    """The one file whose path ends as ``written`` does, in as many folders as possible; ``None`` where none does."""
    longest = max((len(path.parts) for path in files), default=1)
    parts = PurePosixPath(written).parts[-longest:]
    for start in range(len(parts)):
        end = parts[start:]
        found = [path for path in files if path.parts[-len(end) :] == end]
        if len(found) == 1:
            return found[0]
        if found:
            raise PatchError(
                f"{written}: {counted(len(found), 'header')} could be meant: {', '.join(map(str, sorted(found)[:3]))}",
                "make the patch from the folder that --header names",
            )
    return None


def _place(written: str, folders: tuple[Path, ...]) -> Path:
    """Where a new file lies: in the given folder whose name stands in its path, else in the only folder."""
    parts = PurePosixPath(written).parts
    for folder in folders:
        if folder.name in parts[:-1]:
            return folder.joinpath(*parts[parts.index(folder.name) + 1 :])
    if len(folders) == 1:
        return folders[0] / parts[-1]
    raise PatchError(f"{written}: no folder that was given has this new header", "give its folder with --header")


def read_patch(path: Path) -> str:
    """The text of a patch file. Raises :class:`PatchError`, or :class:`InputError` where it cannot be read."""

    with InputFile(path) as file:
        file.check_size(MOST_BYTES)
        return file.read_at(0, file.size).decode("utf-8", "replace")


ALWAYS: Final = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"
WORD: Final = re.compile(r"[A-Za-z_]\w*")
DEFINED: Final = re.compile(
    r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+([A-Za-z_]\w*)\s*(?:final\s*)?[:{]"
)

NAMED_BEHIND: Final = re.compile(r"\btypedef\s+(?:struct|union|enum)\s*\{[^;]*(?:;[^;{}]*)*\}\s*([A-Za-z_]\w*)\s*;")
"""``typedef struct { ... } point;``: a type that has its name from a typedef alone."""


def language_of(snapshot: Snapshot) -> Language:
    """The language of the library's consumers: C++ where it exports mangled names."""
    return "c++" if any(is_mangled(name.spelling) for name in snapshot.entries.get("symbol", ())) else "c"


def prelude(snapshot: Snapshot, text: str, language: Language) -> str:
    """A header with the stored types that ``text`` names and does not define itself.

    Records are only as large and as aligned as those that they stand for; enumerations and aliases are whole. A class
    within a class has no stand-in.
    """
    tagged = frozenset(re.findall(r"\b(?:struct|union|class|enum)\s+([A-Za-z_]\w*)", text))
    made = _StandIns(snapshot, language, frozenset(DEFINED.findall(text)), tagged)
    behind = set(NAMED_BEHIND.findall(text))
    words = set(WORD.findall(text))
    for name in sorted(_types(snapshot)):
        if name.spelling.rpartition("::")[2] in words - behind:
            made.add(name)
    return ALWAYS + "".join(made.lines)


def _types(snapshot: Snapshot) -> Iterator[Name]:
    facets = (snapshot.entries.get(facet, {}) for facet in ("layout", "source"))
    return (name for name in {name for entries in facets for name in entries} if name.kind in TYPES)


class _StandIns:
    """Declares types, those first that others need."""

    def __init__(self, snapshot: Snapshot, language: Language, defined: frozenset[str], tagged: frozenset[str]) -> None:
        self.lines: list[str] = []
        self._tagged_names = tagged
        self._snapshot = snapshot
        self._language = language
        self._defined = defined
        self._layouts = Layouts(snapshot)
        self._seen: set[Name] = set()

    def add(self, name: Name) -> None:
        """Declare ``name``, once."""
        shapes = self._snapshot.variants("layout", name) or self._snapshot.variants("source", name)
        shape = next((each for each in shapes if not isinstance(each, Declared)), None)
        parts = tuple(name.spelling.split("::"))
        if name in self._seen or shape is None or any(WORD.fullmatch(part) is None for part in parts):
            return
        self._seen.add(name)
        if any(Name("record", "::".join(parts[:end])) in self._records for end in range(1, len(parts))):
            return
        if isinstance(shape, Alias):
            for other, _ in references(shape, name):
                self.add(other)
        self._write(parts, self._text(name, parts[-1], shape))

    @property
    def _records(self) -> Iterable[Name]:
        return {*self._snapshot.entries.get("layout", ()), *self._snapshot.entries.get("source", ())}

    def _write(self, parts: tuple[str, ...], text: str) -> None:
        if text:
            opened = "".join(f"namespace {each} {{ " for each in parts[:-1])
            self.lines.append(f"{opened}{text}{' }' * (len(parts) - 1)}\n")

    def _text(self, name: Name, own: str, shape: AnyShape) -> str:
        match shape:
            case Alias(target=target):
                return "" if own in self._defined else f"typedef {self._tagged(declare(target, own), shape)};"
            case Enum():
                return "" if own in self._defined else self._enum(own, shape)
            case Record() | Foreign() if shape.size:
                return self._record(own, name, shape)
        return f"struct {own};{self._same(own)}" if name.kind == "record" else ""

    def _record(self, own: str, name: Name, shape: Record | Foreign) -> str:
        sort = "union" if shape.sort == "union" else "struct"
        if own in self._defined:
            return f"{sort} {own};{self._same(own, sort)}"
        alignment = self._layouts.alignment(Named(name)) or 1
        bytes = f"unsigned char bytes[{shape.size}] __attribute__((aligned({alignment})));"
        if self._language == "c" and own not in self._tagged_names and not self._is_alias(own):
            return f"typedef {sort} {{ {bytes} }} {own};"
        return f"{sort} {own} {{ {bytes} }};{self._same(own, sort)}"

    def _enum(self, own: str, shape: Enum) -> str:
        values = ", ".join(f"{each.name} = {each.value}" for each in shape.enumerators)
        return f"enum {own} {{ {values} }};{self._same(own, 'enum')}"

    def _same(self, own: str, sort: str = "struct") -> str:
        """In C, a tag needs its keyword, which whoever writes one declaration may leave out."""
        return f" typedef {sort} {own} {own};" if self._language == "c" and not self._is_alias(own) else ""

    def _is_alias(self, own: str) -> bool:
        return any(self._snapshot.variants(facet, Name("alias", own)) for facet in ("layout", "source"))

    def _tagged(self, text: str, shape: Alias) -> str:
        target = shape.target
        if self._language == "c++" or not isinstance(target, Named):
            return text
        return f"{'enum' if target.name.kind == 'enum' else 'struct'} {text}" if target.name.kind != "alias" else text


def edit_of(stored: Snapshot, headers: HeaderOptions | None, patch: str, declarations: tuple[str, ...]) -> HeaderEdit:
    """What an edit changes, for the platform of ``stored``.

    Raises :class:`UsageError` for a patch without headers, and what reading headers and applying patches raise.
    """
    if headers is not None:
        return _of_headers(stored, headers, patch, "\n".join(declarations))
    if patch:
        raise UsageError("--header-patch needs the headers that it patches", "pass --header")
    return _of_stored(stored, "\n".join(declarations))


def _of_headers(stored: Snapshot, headers: HeaderOptions, patch: str, declarations: str) -> HeaderEdit:
    from abistore.diffing.judge.whatif import HeaderEdit

    files = _edited(headers, patch) if patch else ()
    before = _read(stored, headers, NO_EDITS)
    after = _read(stored, headers, HeaderEdits(files, declarations))
    _check_parses(before.evidence, after.evidence)
    return HeaderEdit(before.entries, after.entries, bare=after.bare or frozenset())


def _check_parses(before: Evidence, after: Evidence) -> None:
    """Raise :class:`HeaderError` where the edit brings errors: what cannot be read would seem to be taken away."""
    if (after.state, after.reason) != (before.state, before.reason) and after.state != "full":
        raise HeaderError(f"the edited headers do not parse: {after.detail}", after.hint)


def _edited(headers: HeaderOptions, patch: str) -> tuple[EditedHeader, ...]:
    given = find_headers(headers)
    texts = {header.path: _text(header.path) for header in given.headers}
    return patched(patch, texts, [folder.path for folder in given.folders])


def _text(path: Path) -> str:
    with InputFile(path) as file:
        return file.read_at(0, file.size).decode(errors="replace") if file.size else ""


def _read(stored: Snapshot, headers: HeaderOptions, edits: HeaderEdits) -> FacetReading:
    from abistore.extract.capture import headers_of

    reading = headers_of(stored, headers, edits)
    if reading.evidence.state == "missing":
        raise HeaderError(reading.evidence.detail, reading.evidence.hint)
    return reading


# --- without headers ----------------------------------------------------------------------------------------------


def _of_stored(stored: Snapshot, declarations: str) -> HeaderEdit:
    """The stored declarations with an edit, which is parsed after stand-ins for the stored types that it names."""
    from abistore.diffing.judge.whatif import HeaderEdit

    with _scratch() as folder:
        needed, given = folder / "stored" / "types.h", folder / "declared" / "declared.h"
        needed.parent.mkdir()
        given.parent.mkdir()  # what lies beside a header is as public as the header
        language = language_of(stored)
        needed.write_text(prelude(stored, declarations, language))
        given.write_text(f"{declarations}\n")
        options = HeaderOptions((given,), language=language, clang_args=("-include", str(needed)))
        reading = _read(stored, options, NO_EDITS)
    after = {_meant(stored, name): shapes for name, shapes in reading.entries.items() if _is_declared(shapes)}
    before = {name: found for name in after if (found := _stored(stored, name))}
    made = {name: _as_stored(shapes, before.get(name)) for name, shapes in after.items()}
    return HeaderEdit(before, made, whole=False, bare=reading.bare or frozenset())


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder that may be read, wherever other files may be."""
    with TemporaryDirectory(prefix="abistore-") as folder:
        known = roots()
        with confined(None if known is None else (*known, canonical(folder))):
            yield Path(folder)


def _meant(stored: Snapshot, name: Name) -> Name:
    """The type that a declaration replaces: of a ``typedef struct _box box`` that of ``box``, as people call it."""
    if name.kind != "record" or _stored(stored, name):
        return name
    for shape in _stored(stored, Name("alias", name.spelling)):
        if isinstance(shape, Alias) and isinstance(shape.target, Named) and shape.target.name.kind == "record":
            return shape.target.name
    return name


def _is_declared(shapes: Variants) -> bool:
    return any(isinstance(shape, Declared) for shape in shapes)


def _stored(stored: Snapshot, name: Name) -> Variants:
    """What the release says of a declaration: its headers, or else its debug information."""
    if found := stored.variants("source", name):
        return found
    layout = stored.variants("layout", name)
    return (Declared(), *layout) if layout else ()


def _as_stored(shapes: Variants, before: Variants | None) -> Variants:
    """Without what only text tells, where the release was read without headers and knows none of it."""
    if before is None or any(shape == Declared() for shape in before):
        return tuple(Declared() if isinstance(shape, Declared) else shape for shape in shapes)
    return shapes


class WhatIfPlan(Given, frozen=True):
    """An edit: ``patch`` is a unified diff of the ``headers``, or a file with one; ``declarations`` are C or C++ text.

    A declaration takes the place of the one that has its name, in the headers where they are given, else in what is
    stored; a new name is added.
    """

    headers: HeaderOptions | None = None
    patch: str | Path = ""
    declarations: tuple[str, ...] = ()


class WhatIfWay(msgspec.Struct, frozen=True):
    """Another way to make the change of the declaration ``symbol``, and the verdict about it.

    ``declaration`` is what it would be then, in C or C++ with offsets.
    """

    symbol: str
    title: str
    verdict: VerdictName
    declaration: str


class WhatIfRoom(msgspec.Struct, frozen=True):
    """Where the record ``symbol`` has room; ``rooms`` are words such as ``4 bytes of padding at offset 12``."""

    symbol: str
    rooms: tuple[str, ...]


class WhatIfBaseline(msgspec.Struct, frozen=True):
    """What the edit means for programs built against one release, and for the ``channels`` that stand at it."""

    reference: str
    target: str
    profile: str
    channels: tuple[str, ...]
    report: Report
    rooms: tuple[WhatIfRoom, ...]
    ways: tuple[WhatIfWay, ...]
    unsettled: tuple[str, ...]


class WhatIf(msgspec.Struct, frozen=True):
    """An edit judged against each baseline: ``verdict`` is the worst, ``edited`` the declarations that it changes."""

    verdict: VerdictName
    exit_code: int
    edited: tuple[str, ...]
    judged: tuple[WhatIfBaseline, ...]


class _Against(msgspec.Struct, frozen=True):
    """A release, or a file, that the edit is judged against."""

    snapshot: Snapshot
    reference: str
    line: LineKey | None = None
    channels: tuple[str, ...] = ()
    rule: BoundRule | None = None


def whatif(
    operand: str | Path,
    plan: WhatIfPlan,
    *,
    database: Database = None,
    selection: Selection | None = None,
    fail_on: FailOn = "api_break",
    by: Ruling | None = None,
) -> WhatIf:
    """What an edit of headers would mean for programs built against a release.

    ``libfoo`` and ``libfoo@baseline`` stand for every release that a baseline of libfoo stands at, in all channels and
    lines; any other reference, and a file, for itself. What is bound to a library applies. Nothing is stored.

    Raises :class:`UsageError` where there is no edit, :class:`SnapshotNotFound` where no baseline is set,
    :class:`abistore.errors.PatchError` for a diff that does not apply, and what reading headers raises.
    """
    if not (plan.patch or plan.declarations):
        raise UsageError(
            "there is no edit to judge", "give --header-patch FILE.diff, or --declare 'struct foo { ... };'"
        )
    with operands(database, selection) as reader:
        against = tuple(_against(reader, operand, selection or Selection()))
    patch = read_patch(plan.patch) if isinstance(plan.patch, Path) else plan.patch
    edits: dict[Target, HeaderEdit] = {}
    judged = []
    names: set[str] = set()
    for each in against:
        target = each.snapshot.target
        headers = plan.headers.of(each.snapshot.library) if plan.headers else None
        if target not in edits or headers is None:
            edits[target] = edit_of(each.snapshot, headers, patch, plan.declarations)
        names |= {name.spelling for name in edits[target].names}
        judged.append(_judged(each, edits[target], fail_on, by))
    worst = max((verdict_of(each.report) for each in judged), default=Verdict.NO_CHANGE)
    return WhatIf(
        cast(VerdictName, worst.name),
        max((each.report.exit_code for each in judged), default=0),
        tuple(sorted(names)),
        tuple(judged),
    )


# --- against whom -------------------------------------------------------------------------------------------------


def _against(reader: Operands, operand: str | Path, selection: Selection) -> Iterator[_Against]:
    library = _library(operand)
    if library is None:
        found = reader.read(operand)
        release = found.release
        reference = release.reference if release else found.snapshot.label
        rule = _rule(reader, release) if release else None
        yield _Against(found.snapshot, reference, release.line if release else None, rule=rule)
        return
    wanted = line_target(reader.store, selection.target)
    standing: dict[tuple[LineKey, str], list[str]] = {}
    for move in reader.store.baselines(library):
        fits = wanted in (None, move.line.target) and selection.profile in (None, move.line.profile)
        if fits and move.version is not None:
            standing.setdefault((move.line, move.version), []).append(move.channel)
    if not standing:
        raise SnapshotNotFound(
            f"{library}: no baseline is set",
            f"set one with `abistore db baseline set {library}@VERSION`, or name a release",
        )
    for (line, version), channels in sorted(standing.items()):
        release = reader.store.resolve(f"{library}@{version}", target=line.target, profile=line.profile)
        rule = _rule(reader, release)
        yield _Against(reader.store.load(release), release.reference, line, tuple(sorted(channels)), rule)


def _rule(reader: Operands, release: Release) -> BoundRule | None:
    return rule_for(reader.store, names_for(release.line.library, release.soname))


def _library(operand: str | Path) -> str | None:
    """The library of which all baselines are meant; ``None`` where one release or a file is named."""
    if isinstance(operand, Path) or os_path_exists(operand):
        return None
    name, _, version = operand.partition("@")
    if version == "baseline" or not (version or is_reference(operand) or "/" in operand):
        return name
    return None


# --- judging ------------------------------------------------------------------------------------------------------


def _judged(each: _Against, edit: HeaderEdit, fail_on: FailOn, by: Ruling | None) -> WhatIfBaseline:
    from abistore.diffing.judge.whatif import judge_edit

    check_options(each.rule, fail_on, None)
    with limits_for(4 * each.snapshot.weight, f"judging an edit against {each.reference}"):
        found = judge_edit(each.snapshot, edit, ruled(each.rule, by))
        return _told(each, found, fail_on)


def _told(each: _Against, found: JudgedEdit, fail_on: FailOn) -> WhatIfBaseline:
    from abistore.diffing.reuse import differing

    old, new = found.sides
    report = reported(found.comparison, churn(old, new, differing(old, new)), found.sides)
    promise = promised(report)  # by the release's own label
    line = each.line
    asked = DecisionRequest("release", fail_on=fail_on, promise=promise, bound=each.rule)
    return WhatIfBaseline(
        reference=each.reference,
        target=str(each.snapshot.target),
        profile=line.profile if line else "",
        channels=each.channels,
        report=decided(_named_after_edit(report), asked),
        rooms=tuple(WhatIfRoom(room.name.spelling, tuple(map(str, room.rooms))) for room in found.rooms),
        ways=tuple(map(_way, found.ways)),
        unsettled=tuple(name.spelling for name in found.unsettled),
    )


def _named_after_edit(report: Report) -> Report:
    """The report with another name for the new side, which is no release."""
    new = report.new
    named = {"version": f"{new.version} {EDITED}"} if new.version else {"file": EDITED}
    return msgspec.structs.replace(report, new=msgspec.structs.replace(new, **named))


def _way(way: OfferedWay) -> WhatIfWay:
    after = way.sides[1]
    texts: Sequence[str] = [
        declaration(name, shape, after)
        for name in way.declared
        for shape in after.variants("source", name) or after.variants("layout", name)
        if not isinstance(shape, Declared)
    ]
    verdict = cast(VerdictName, way.comparison.verdict.name)
    return WhatIfWay(way.name.spelling, way.title, verdict, "\n".join(texts))
