"""Where the file of a project is; :mod:`abistore.service.project.configuration` reads it for the few that have one."""

from __future__ import annotations

from pathlib import Path

FILE_NAME = "abistore.toml"


def project_file() -> Path | None:
    """The file of the current folder; ``None`` without one."""
    path = Path(FILE_NAME)
    return path if path.is_file() else None
