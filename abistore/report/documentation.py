"""Where the page about a kind of change is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, metadata


def page(kind: str) -> str:
    """An absolute URI: below the project's documentation where its metadata tells one, else a stable name."""
    base = _documentation()
    return f"{base.rstrip('/')}/kinds/{kind}.html" if base else f"urn:abistore:kind:{kind}"


@cache
def _documentation() -> str:
    try:
        urls: list[str] = metadata("abistore").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    return next((url.partition(", ")[2] for url in urls if url.startswith("Documentation, ")), "")
