"""An edit as what headers declare before and after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from abistore.confinement import canonical, confined, roots
from abistore.errors import HeaderError, UsageError
from abistore.extract.headers.given import find_headers
from abistore.extract.headers.options import NO_EDITS, EditedHeader, HeaderEdits, HeaderOptions
from abistore.extract.input_file import InputFile
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.snapshot import Evidence, Snapshot, Variants
from abistore.service.whatif.patching import patched
from abistore.service.whatif.prelude import language_of, prelude

if TYPE_CHECKING:
    from abistore.compare.whatif.edited import HeaderEdit
    from abistore.extract.facets import FacetReading


def edit_of(stored: Snapshot, headers: HeaderOptions | None, patch: str, declarations: tuple[str, ...]) -> HeaderEdit:
    """What an edit changes, for the platform of ``stored``.

    Raises :class:`UsageError` for a patch without headers, and what reading headers and applying patches raise.
    """
    if headers is not None:
        return _of_headers(stored, headers, patch, "\n".join(declarations))
    if patch:
        raise UsageError("--header-patch needs the headers that it patches", "name them with --header")
    return _of_stored(stored, "\n".join(declarations))


def _of_headers(stored: Snapshot, headers: HeaderOptions, patch: str, declarations: str) -> HeaderEdit:
    from abistore.compare.whatif.edited import HeaderEdit

    files = _edited(headers, patch) if patch else ()
    before = _read(stored, headers, NO_EDITS)
    after = _read(stored, headers, HeaderEdits(files, declarations))
    _check_parses(before.evidence, after.evidence)
    return HeaderEdit(before.entries, after.entries)


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
    from abistore.compare.whatif.edited import HeaderEdit

    with _scratch() as folder:
        needed, given = folder / "stored" / "types.h", folder / "declared" / "declared.h"
        needed.parent.mkdir()
        given.parent.mkdir()  # what lies beside a header is as public as the header
        language = language_of(stored)
        needed.write_text(prelude(stored, declarations, language))
        given.write_text(f"{declarations}\n")
        options = HeaderOptions((given,), language=language, clang_args=("-include", str(needed)))
        reading = _read(stored, options, NO_EDITS)
    after = {name: shapes for name, shapes in reading.entries.items() if _is_declared(shapes)}
    before = {name: found for name in after if (found := _stored(stored, name))}
    return HeaderEdit(
        before, {name: _as_stored(shapes, before.get(name)) for name, shapes in after.items()}, whole=False
    )


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder that may be read, wherever other files may be."""
    with TemporaryDirectory(prefix="abistore-") as folder:
        known = roots()
        with confined(None if known is None else (*known, canonical(folder))):
            yield Path(folder)


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
