"""Which public headers one side was given and the other was not, so that they are not gone but unknown."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from abistore.compare.side import SideFacts
from abistore.model.names import Name
from abistore.model.snapshot import HeadersRead


def not_given(side: SideFacts, other: SideFacts) -> tuple[str, ...]:
    """What ``other`` was given with ``--header`` and ``side`` was not: ``b.h``, or a folder ``extra/``.

    A header that is gone from a folder is no such thing, where both sides were given one. Its name is no matter:
    ``foo-1.2/`` stands for ``foo-1.3/``, and a header that is the only one for another that is. Nor is one that was
    given by itself and that the other side's folder does not hold.
    """
    own, others = side.snapshot.provenance.headers, other.snapshot.provenance.headers
    if not isinstance(own, HeadersRead) or not isinstance(others, HeadersRead):
        return ()
    if own.given == others.given or not own.given or not others.given or _are_single(own, others):
        return ()
    lacking = (file for file in _lacking(own, given_files(others)) if not is_absent(file, own, others))
    return (*lacking, *_folders_beyond(own, others))


def is_left_to_others(name: Name, old: SideFacts, new: SideFacts) -> bool:
    """Whether one side's headers have a declaration in a file that the other's leave to another library."""
    for side, other in ((old, new), (new, old)):
        read = other.snapshot.provenance.headers
        if isinstance(read, HeadersRead) and read.others and side.files.get(name) in read.others:
            return True
    return False


def lying_there(side: SideFacts, files: Iterable[str]) -> tuple[str, ...]:
    """Those of the ``files`` that lie beside the headers that ``side`` was given."""
    read = side.snapshot.provenance.headers
    beside = {name for folder in read.folders for name in folder.beside} if isinstance(read, HeadersRead) else ()
    return tuple(file for file in files if file in beside)


def read_otherwise(side: SideFacts, other: SideFacts) -> frozenset[str]:
    """The options with which the headers of only one side were read, but those that its headers do not ask for."""
    own, others = side.snapshot.provenance.headers, other.snapshot.provenance.headers
    if not isinstance(own, HeadersRead) or not isinstance(others, HeadersRead):
        return frozenset()
    apart = frozenset(own.options) ^ frozenset(others.options)
    return apart - frozenset(own.unasked) - frozenset(others.unasked)


def selects(option: str) -> bool:
    """Whether an option chooses between declarations of one name, so that others of them are not seen.

    Names that the language reserves are the compiler's own business.
    """
    return option.startswith(("--clang-", "--define ")) and not option.startswith("--define _")


def _are_single(own: HeadersRead, others: HeadersRead) -> bool:
    """Whether each side was given one header, or one folder."""
    return len(own.given) == len(others.given) == 1 and bool(given_files(own)) == bool(given_files(others))


def given_files(read: HeadersRead) -> tuple[str, ...]:
    """The headers that were given by themselves."""
    return tuple(each for each in read.given if not each.endswith("/"))


def given_folders(read: HeadersRead) -> frozenset[str]:
    """The folders of which all headers were given: ``include/``."""
    return frozenset(read.given) - frozenset(given_files(read))


def _lacking(read: HeadersRead, files: Iterable[str]) -> list[str]:
    """Those of the ``files`` that were not read, by themselves or anywhere in a folder."""
    names = _names(read) if given_folders(read) else frozenset()
    known = frozenset(read.files)
    return [file for file in files if file not in known and PurePosixPath(file).name not in names]


def is_absent(file: str, own: HeadersRead, others: HeadersRead) -> bool:
    """Whether the folder in which the other side's ``file`` lies was listed for this side, and does not hold it.

    A folder is that of the other side where headers were given of both that have one name, or where each side has one.
    In it base names are kept apart: what comes before them depends on which headers of other folders were given.
    """
    folders = [folder for folder in others.folders if file in folder.given]
    known = {name for folder in folders for name in folder.given}
    same = [folder for folder in own.folders if not known.isdisjoint(folder.given)]
    if not same and folders and len(own.folders) == len(others.folders) == 1:
        same = [*own.folders]
    lying = {PurePosixPath(name).name for folder in same for name in (*folder.given, *folder.beside)}
    return bool(same) and PurePosixPath(file).name not in lying


def _names(read: HeadersRead) -> frozenset[str]:
    return frozenset(PurePosixPath(each).name for each in read.files)


def _folders_beyond(own: HeadersRead, others: HeadersRead) -> tuple[str, ...]:
    """The folders that only the other side was given, if it was given more of them and has headers of its own there."""
    if len(given_folders(others)) <= len(given_folders(own)):
        return ()
    names = _names(own)
    if all(PurePosixPath(each).name in names for each in others.files):
        return ()
    return tuple(sorted(given_folders(others) - given_folders(own)))
