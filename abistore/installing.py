"""The command that installs an extra of abistore, from wherever this abistore was installed.

No package index has abistore: a hint that named it there would install whatever a stranger puts there.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

REQUIRED: Final[Mapping[str, str]] = {
    "dask": "distributed>=2026.1",
    "mcp": "mcp>=2.3,<3",
    "postgres": "psycopg[binary]>=3.2",
    "sign": "cryptography>=44",
}
"""What each extra requires: what to install where nobody knows where abistore came from."""


class Source(NamedTuple):
    """What abistore was installed from: a folder or a wheel that is still there, or a URL that pip can read."""

    path: Path | None = None
    url: str = ""
    editable: bool = False

    def with_extra(self, extra: str) -> str:
        """The requirement of abistore with ``extra``, which names no package index (PEP 508)."""
        return f"abistore[{extra}] @ {self.path.as_uri() if self.path else self.url}"


def how_to_install(extra: str) -> str:
    """The command that adds what ``extra`` requires to the Python that runs this."""
    found = source()
    if found is None:
        wanted = [REQUIRED[extra]]
    elif found.path:
        wanted = [*(["-e"] if found.editable else []), f"{found.path}[{extra}]"]
    else:
        wanted = [found.with_extra(extra)]
    python = sys.executable or "python3"
    pip = [python, "-m", "pip", "install"] if find_spec("pip") else ["uv", "pip", "install", "--python", python]
    return shlex.join([*pip, *wanted])


def source() -> Source | None:
    """What abistore was installed from; ``None`` where that is not recorded, or no longer there."""
    from importlib.metadata import PackageNotFoundError, distribution  # few commands need it, and it takes long

    try:
        recorded = distribution("abistore").read_text("direct_url.json")
    except PackageNotFoundError:
        return checkout(Path(__file__).parents[1])
    return recorded_source(json.loads(recorded)) if recorded else None


def checkout(folder: Path) -> Source | None:
    """A checkout that is run without being installed."""
    return Source(folder, editable=True) if (folder / "pyproject.toml").is_file() else None


def recorded_source(recorded: Mapping[str, Any]) -> Source | None:
    """What ``direct_url.json`` records (PEP 610); ``None`` for a folder or file that was removed since."""
    url = str(recorded["url"])
    if control := recorded.get("vcs_info"):
        return Source(url=f"{control['vcs']}+{url}@{control['commit_id']}")
    address = urlsplit(url)
    if address.scheme != "file":
        return Source(url=url)
    path = Path(unquote(address.path))
    return Source(path, editable=bool(recorded.get("dir_info", {}).get("editable"))) if path.exists() else None
