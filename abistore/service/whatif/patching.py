"""Patches of header files: what the files hold after one, without writing them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from abistore.errors import PatchError
from abistore.extract.headers.options import EditedHeader
from abistore.model.words.counting import counted

MOST_BYTES: Final = 4 << 20
"""A patch beyond it is not one of headers."""

NOTHING: Final = "/dev/null"


def patched(patch: str, files: Mapping[Path, str], folders: Iterable[Path]) -> tuple[EditedHeader, ...]:
    """What a unified diff makes of header ``files``, which lie in ``folders``.

    The paths of the diff may begin with any folders, as ``a/include/`` of ``git diff``: a file is found by the end of
    its path. Raises :class:`PatchError` for what is no diff, for a file that is not among them or could be several, and
    where the text around a change is not what the diff expects.
    """
    if len(patch) > MOST_BYTES:
        raise PatchError(f"the patch has {len(patch):,} characters, more than {MOST_BYTES:,}", "leave out other files")
    found = tuple(_edited(diff, files, tuple(folders)) for diff in _diffs(patch))
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


def _edited(diff: Any, files: Mapping[Path, str], folders: tuple[Path, ...]) -> EditedHeader:
    from whatthepatch import apply_diff
    from whatthepatch.exceptions import HunkApplyException

    written = diff.header.old_path if diff.header.old_path != NOTHING else diff.header.new_path
    path = _named(written, files)
    if path is None:
        if all(change.old is None for change in diff.changes):
            return EditedHeader(_place(written, folders), _text(change.line for change in diff.changes))
        raise PatchError(f"{written}: no header that was given has this name", "give its folder with --header")
    try:
        return EditedHeader(path, _text(apply_diff(diff, files[path])) or None)
    except HunkApplyException as error:
        hint = "make the patch against the headers that --header names"
        raise PatchError(f"the patch does not apply to {path.name}: {error}", hint) from error


def _text(lines: Iterable[str]) -> str:
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
    from abistore.extract.input_file import InputFile

    with InputFile(path) as file:
        file.check_size(MOST_BYTES)
        return file.read_at(0, file.size).decode("utf-8", "replace")
