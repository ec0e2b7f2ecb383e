"""Lists of versions: which release each file of a folder is, as CSV or TOML."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

from abistore.errors import UsageError
from abistore.service.snapshots import InputFile

MOST_BYTES = 16 << 20
HEADER = ["file", "version"]


def read_versions(path: Path) -> dict[str, str]:
    """The version of each file by its name.

    CSV has a row for each: ``libfoo-old.abi,1.2``, below an optional ``file,version``. TOML has a key for each:
    ``"libfoo-old.abi" = "1.2"``, at the top or in ``[versions]``. Raises :class:`UsageError`, :class:`InputError`.
    """
    with InputFile(path) as file:
        file.check_size(MOST_BYTES)
        text = file.read_at(0, file.size).decode("utf-8-sig", "replace")
    found = _toml(path, text) if path.suffix == ".toml" else _csv(path, text)
    return {Path(name).name: version for name, version in found.items()}


def _toml(path: Path, text: str) -> dict[str, str]:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: is no TOML: {error}", 'write "FILE" = "VERSION" in each line') from error
    table = document.get("versions", document)
    if not isinstance(table, dict) or not all(isinstance(version, str) for version in table.values()):
        raise UsageError(f"{path}: a version is no text", 'write "FILE" = "VERSION" in each line')
    return table


def _csv(path: Path, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    try:
        for number, row in enumerate(csv.reader(text.splitlines()), 1):
            cells = [cell.strip() for cell in row]
            if not any(cells) or cells[0].startswith("#") or (number == 1 and cells == HEADER):
                continue
            if len(cells) != 2 or not all(cells):
                raise UsageError(f"{path}: line {number} is not FILE,VERSION", "write a file and its version in each")
            found[cells[0]] = cells[1]
    except csv.Error as error:
        raise UsageError(f"{path}: is no CSV: {error}", "write FILE,VERSION in each line") from error
    return found
