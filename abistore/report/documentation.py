"""The address of the page about a kind of change."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from urllib.parse import urlsplit

from abistore.errors import UsageError
from abistore.urls import masked

PLACE = "{kind}"
SCHEMES = frozenset({"file", "http", "https"})


def page(kind: str, docs: str = "") -> str:
    """The absolute URI of a kind's page: below ``docs``, else below the address in the project's metadata.

    ``docs`` has ``{kind}`` in place of the kind, or is the folder that holds ``kinds/KIND.md``. Without either address
    the URI is a name that opens nothing (``urn:abistore:kind:KIND``).
    """
    base = docs or _documentation()
    if not base:
        return f"urn:abistore:kind:{kind}"
    return base.replace(PLACE, kind) if PLACE in base else f"{base.rstrip('/')}/kinds/{kind}.md"


def check_docs(docs: str) -> None:
    """Raise :class:`UsageError` if ``docs`` is no absolute URL, or has a password, which every report would show."""
    try:
        parts = urlsplit(docs)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in SCHEMES or not (parts.netloc or parts.path.startswith("/")) or " " in docs:
        raise UsageError(f"not the address of documentation: {docs}", "e.g. https://example.org/abistore/kinds/{kind}")
    if masked(docs) != docs:
        raise UsageError(
            f"the address of documentation has a password or token: {docs}", "it would stand in every report"
        )


@cache
def _documentation() -> str:
    try:
        urls: list[str] = metadata("abistore").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    return next((url.partition(", ")[2] for url in urls if url.startswith("Documentation, ")), "")
