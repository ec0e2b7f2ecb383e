"""The names by which programs include public headers, and which of them a release took away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from abistore.compare.diff.headers.given import given_files, given_folders, is_absent, not_given
from abistore.compare.side import SideFacts
from abistore.model.snapshot import HeadersRead

_OF_RELEASE: Final = re.compile(r"(?:[^/]*[-_])?v?\d+(?:[._]\d+)*/")
"""A folder that is called after a release, as ``foo-1.2/`` or ``boost-1_83/``: programs search it, and do not name it.

``SDL2/`` is none: a number without a separator is a part of the name.
"""


def include_names_lost(side: SideFacts, other: SideFacts) -> list[str]:
    """The headers of ``other`` that programs cannot include by their names with ``side``, sorted.

    None where ``side`` was not given the folder, or where it is not known what was given.
    """
    own, others = side.snapshot.provenance.headers, other.snapshot.provenance.headers
    if not isinstance(own, HeadersRead) or not isinstance(others, HeadersRead):
        return []
    known_as_given = bool(own.given and others.given)
    unknown = not_given(side, other)
    if any(each.endswith("/") for each in unknown) or not (known_as_given or set(own.files) & set(others.files)):
        return []
    by_themselves = frozenset(given_files(others)) if given_files(own) else frozenset()
    are_alike = bool(given_files(own)) == bool(given_files(others))
    there = frozenset(name for file in own.files for name in _names(file, own, whole=are_alike))
    return sorted(
        file
        for file in frozenset(others.files).difference(own.files, others.others, unknown)
        if there.isdisjoint(_names(file, others, whole=are_alike))
        and (file not in by_themselves or not known_as_given or is_absent(file, own, others))
    )


def _names(file: str, read: HeadersRead, *, whole: bool) -> Iterator[str]:
    """What a header may be included as: by its path in the folder that was given, or in one that this lies in.

    A header that was given by itself says nothing of the folders around it: beside a folder no path is ``whole``.
    """
    name = include_name(file, read)
    yield name
    for folder in given_folders(read):
        yield folder + name
    if not whole:
        yield PurePosixPath(file).name


def include_name(file: str, read: HeadersRead) -> str:
    """The name by which programs include a header: without the folders that they search."""
    folders = given_folders(read)
    given = f"{file.partition('/')[0]}/"
    name = file.removeprefix(given) if len(folders) > 1 and given in folders else file
    while (of_release := _OF_RELEASE.match(name)) is not None:
        name = name[of_release.end() :]
    return name
