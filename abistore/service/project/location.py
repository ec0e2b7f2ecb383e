"""Where a project's file is; :mod:`abistore.service.project.configuration`, which most commands can do without, reads it."""

from __future__ import annotations

from pathlib import Path

FILE_NAME = "abistore.toml"


def project_file() -> Path | None:
    """The file of the current folder; ``None`` without one."""
    path = Path(FILE_NAME)
    return path if path.is_file() else None
