"""The names of a site's files: no text of others becomes a path, on no file system."""

from __future__ import annotations

import re
from hashlib import blake2b

from abistore.model.history import LineKey

LONGEST = 40
OTHERS = re.compile(r"[^a-z0-9]+")
OURS = re.compile(r"[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9]+)?")
"""What the name of each of our files and folders is made of."""


def address(shown: str, *meant: str) -> str:
    """A name of small letters, digits and hyphens for what ``meant`` says, exactly; ``shown`` is its readable part.

    The digest tells apart what file systems take for one (``libA``, ``liba``), and what was cut.
    """
    said = "\0".join(meant or (shown,)).encode("utf-8", "surrogatepass")
    readable = OTHERS.sub("-", shown.lower())[:LONGEST].strip("-")
    return "-".join(filter(None, (readable, blake2b(said, digest_size=8).hexdigest())))


def library_folder(library: str) -> str:
    """The folder of a library's pages."""
    return address(library)


def release_file(line: LineKey, version: str) -> str:
    """The page of a release, in its library's folder."""
    return f"{address(version, line.target, line.profile, version)}.html"
