"""What a page is made of, in short: a page whose key is as before is not written again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable

from abistore import __version__
from abistore.model.judging.engine import ENGINE


def key(*facts: object) -> str:
    """The digest of the facts that a page shows, and of what renders them."""
    said = repr((*facts, renderer())).encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=12).hexdigest()


@cache
def renderer() -> str:
    """The digest of what renders pages: another one means that all pages are made anew."""
    digest = blake2b(f"{__version__} {ENGINE}".encode(), digest_size=12)
    for name, text in sorted(_sources(files("abistore.report"), "")):
        digest.update(name.encode() + b"\0" + text)
    digest.update(files("abistore.service").joinpath("kinds.json").read_bytes())
    return digest.hexdigest()


def _sources(folder: Traversable, where: str) -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _sources(each, f"{where}{each.name}/")
        elif each.name.endswith((".py", ".html", ".css", ".js")):
            yield f"{where}{each.name}", each.read_bytes()
