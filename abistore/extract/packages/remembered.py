"""What tells a package that was read before: its own digest, and how it was read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from abistore.extract.input_file import InputFile, InputFolder, open_input
from abistore.extract.reader import ExtractOptions


def digest_of(file: InputFile) -> str:
    """The SHA-256 of a package; empty for a folder, which may change without a trace."""
    return "" if isinstance(file, InputFolder) else file.sha256()


def digest_of_libraries(digests: Iterable[str]) -> str:
    """The digest of a folder: SHA-256 over the sorted digests of its libraries.

    It says which libraries came together, and not that a folder was read before.
    """
    return hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()


def how_read(file: InputFile, options: ExtractOptions) -> tuple[str, ...]:
    """What a reading of ``file`` depends on beside it: the patterns that pick, and the packages that stand beside."""
    found = [f"--only {pattern}" for pattern in sorted(set(options.only))]
    for option, paths in (("--debug-package", options.debug_packages), ("--devel-package", options.devel_packages)):
        for path in paths:
            with open_input(path) as other:
                found.append(f"{option} {digest_of(file if path == file.path else other)}")
    return tuple(found)


def is_repeatable(read: tuple[str, ...]) -> bool:
    """Whether a later reading is known to give the same: not beside a folder, which has no digest."""
    return not any(each.endswith(" ") for each in read)
