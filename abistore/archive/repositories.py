"""Where items of an archive come from: manifests, folders, and the index of a Debian or RPM repository.

Of a repository, a library is paired with the packages of the same source that have its debug information and its
headers, and with the development packages that those depend on, as far as they are at hand.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree

from abistore.archive.items import Item, folder_items, is_file_to_read, manifest_items, standard_input_items
from abistore.errors import InputError, UsageError
from abistore.extract.files import InputFolder, open_input
from abistore.extract.packages.libraries import is_binary
from abistore.extract.packages.reader import MOST_BYTES, MOST_PACKAGES
from abistore.extract.packages.streams import (
    Counted,
    UnpackBounds,
    control_fields,
    damage_told,
    from_control,
    part,
    unpacked,
)
from abistore.files import is_file

STANDARD_INPUT: Final = "-"
DEBIAN: Final = re.compile(r"Packages(?:\.(?:gz|xz|bz2|zst))?")
"""What Debian's index is called."""

RPM: Final = "repomd.xml"


class IndexedPackage(NamedTuple):
    """A package in a repository's index.

    ``source`` is its source package with its version, and ``place`` the index; one for ``development`` has headers.
    ``built_with`` are the packages of which
    it needs one version alone, ``needs`` what it depends on, and ``provides`` the names by which others depend on it.
    """

    name: str
    version: str
    architecture: str
    source: str
    path: Path
    place: Path
    suite: str
    is_library: bool
    built_with: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    development: bool = False


class ListedItems(NamedTuple):
    """The items of all sources, each once, and remarks about what is not among them."""

    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()


def items_of(sources: Sequence[str | Path]) -> ListedItems:
    """The items of manifests, folders, repositories and single files, and of ``-``, standard input.

    Packages of all repositories are paired with each other: debug information often has an index of its own. Raises
    :class:`UsageError` where there is no item, and for a manifest that is wrong.
    """
    found: list[Item] = []
    indexed: list[IndexedPackage] = []
    for source in sources:
        if str(source) != STANDARD_INPUT and (indexes := indexes_at(Path(source))):
            indexed += (each for index in indexes for each in packages_of(index))
        else:
            found += _items(str(source))
    paired, notes = paired_items(indexed)
    items = {item.key: item for item in (*found, *paired)}
    if not items:
        hint = "name a manifest, a folder with libraries, or the index of a repository"
        raise UsageError("; ".join(("no library is listed or found", *notes)), hint)
    return ListedItems(tuple(items.values()), notes)


def _items(source: str) -> Iterator[Item]:
    if source == STANDARD_INPUT:
        yield from standard_input_items()
        return
    path = Path(source)
    with open_input(path) as file:
        if isinstance(file, InputFolder):
            yield from folder_items(path)
        elif is_binary(file.head) or is_file_to_read(file):
            yield Item(path)
        else:
            yield from manifest_items(path)


def indexes_at(path: Path) -> list[Path]:
    """The index that a path names, or those of the repository in a folder; none where it is no repository."""
    if path.is_file():
        return [path] if path.name == RPM or DEBIAN.fullmatch(path.name) else []
    if (found := path / "repodata" / RPM).is_file():
        return [found]
    by_folder = defaultdict[Path, list[Path]](list)
    for place in (path, path / "dists"):
        pattern = "*" if place == path else "*/*/binary-*/*"
        for each in sorted(place.glob(pattern)):
            if DEBIAN.fullmatch(each.name):
                by_folder[each.parent].append(each)
    return [each[0] for each in by_folder.values()]  # the same index, compressed in several ways


def packages_of(index: Path) -> Iterator[IndexedPackage]:
    """The libraries in an index, and the packages with headers and debug information. Raises :class:`InputError`."""
    return _of_rpm(index) if index.name == RPM else _of_debian(index)


# --- Debian -------------------------------------------------------------------------------------------------------

_RELATED = re.compile(r"-(?:dbgsym|dbg)$")


def _of_debian(index: Path) -> Iterator[IndexedPackage]:
    parts = index.absolute().parts
    at = parts.index("dists") if "dists" in parts else None
    root = index.parent if at is None else Path(*parts[:at])
    suite = "" if at is None else parts[at + 1]
    with _unpacked(index) as stream:
        text = b"".join(iter(lambda: stream.read(1 << 20), b""))
    for stanza in re.split(rb"\n\s*\n", text):
        said = control_fields(stanza)
        name, section = said.get("Package", ""), said.get("Section", "").rpartition("/")[2]
        development = name.endswith("-dev") or section == "libdevel"  # krb5-multidev
        related = development or _RELATED.search(name) is not None
        if not name or "Filename" not in said or not (related or section in {"libs", "oldlibs"}):
            continue
        identity, version = from_control(stanza), said.get("Version", "")
        yield IndexedPackage(
            name,
            version,
            said.get("Architecture", ""),
            _source(said.get("Source", name), version),
            root / said["Filename"],
            index,
            suite,
            not related and said.get("Architecture") != "all",
            identity.built_with,
            identity.needs,
            (name, *re.findall(r"(?:^|,)\s*([a-z0-9][a-z0-9+.-]*)", said.get("Provides", ""))),
            development,
        )


def _source(text: str, version: str) -> str:
    """The source package with its version, which is given only where it differs from that of the package."""
    name, _, own = text.partition(" ")
    return f"{name} {own.strip('()') or version}"


# --- RPM ----------------------------------------------------------------------------------------------------------

_COMMON, _RPM = "{http://linux.duke.edu/metadata/common}", "{http://linux.duke.edu/metadata/rpm}"
_REPOSITORY = "{http://linux.duke.edu/metadata/repo}"
_LIBRARY = re.compile(r"[^()/ ]+\.so(?:\.[^()/ ]+)?\(\)(?:\(64bit\))?")
"""What a package provides that has a library: ``libfoo.so.1()(64bit)``."""


def _of_rpm(index: Path) -> Iterator[IndexedPackage]:
    root = index.parent.parent
    with _unpacked(index) as stream, _parsed(index):
        document = ElementTree.parse(stream).getroot()
    data = (each for each in document.iter(f"{_REPOSITORY}data") if each.get("type") == "primary")
    for each in data:
        location = each.find(f"{_REPOSITORY}location")
        primary = root / (location.get("href", "") if location is not None else "")
        with _unpacked(primary) as stream, _parsed(primary):
            for _, element in ElementTree.iterparse(stream):
                if element.tag == f"{_COMMON}package":
                    if (found := _rpm_package(element, root, index)) is not None:
                        yield found
                    element.clear()


def _rpm_package(element: ElementTree.Element, root: Path, index: Path) -> IndexedPackage | None:
    name, location = element.findtext(f"{_COMMON}name", ""), element.find(f"{_COMMON}location")
    version = element.find(f"{_COMMON}version")
    provides = _rpm_names(element, "provides")
    related = name.endswith(("-devel", "-debuginfo"))
    is_library = not related and any(map(_LIBRARY.fullmatch, provides))
    if location is None or version is None or not (related or is_library):
        return None
    needs = _rpm_names(element, "requires")
    return IndexedPackage(
        name,
        f"{version.get('ver')}-{version.get('rel')}",
        element.findtext(f"{_COMMON}arch", ""),
        element.findtext(f"{_COMMON}format/{_RPM}sourcerpm", ""),
        root / location.get("href", ""),
        index,
        "",
        is_library,
        frozenset(each.partition("(")[0] for each in needs),
        needs,
        (name, *provides),
        name.endswith("-devel"),
    )


def _rpm_names(element: ElementTree.Element, what: str) -> tuple[str, ...]:
    entries = element.iterfind(f"{_COMMON}format/{_RPM}{what}/{_RPM}entry")
    return tuple(dict.fromkeys(each.get("name", "") for each in entries))


@contextmanager
def _parsed(path: Path) -> Iterator[None]:
    try:
        yield
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: not the index of an RPM repository: {error}", "create it with createrepo") from error


# --- both ---------------------------------------------------------------------------------------------------------


@contextmanager
def _unpacked(path: Path) -> Iterator[Counted]:
    """What an index unpacks to, within bounds. Raises :class:`InputError`."""
    with open_input(path) as file, damage_told(str(path)):
        yield unpacked(part(file, 0, file.size), UnpackBounds(str(path), file.size, MOST_BYTES))


def paired_items(packages: Iterable[IndexedPackage]) -> tuple[list[Item], tuple[str, ...]]:
    """An item for each library package that is at hand, with the packages that belong to it; remarks about others."""
    there, absent = list[IndexedPackage](), 0
    for each in packages:
        if is_file(each.path):
            there.append(each)
        else:
            absent += each.is_library
    pool = _Pool(there)
    items = [pool.item(each) for each in there if each.is_library]
    notes = (f"{absent:,} library packages of the index are not in the repository's folder",) if absent else ()
    return items, notes


class _Pool:
    """Packages at hand, by what others find them by."""

    def __init__(self, packages: Iterable[IndexedPackage]) -> None:
        self._by_source = defaultdict[str, list[IndexedPackage]](list)
        self._by_name = defaultdict[str, list[IndexedPackage]](list)
        for each in packages:
            self._by_source[each.source].append(each)
            if each.development:
                for name in each.provides:
                    self._by_name[name].append(each)

    def item(self, library: IndexedPackage) -> Item:
        """A library with its debug information, and its headers and those that they need."""
        siblings = [each for each in self._by_source[library.source] if _fits(each, library)]
        names = {f"{library.name}-{end}" for end in ("dbgsym", "dbg", "debuginfo")}
        debug = [each.path for each in siblings if each.name in names]
        development = [each for each in siblings if each.development]
        own = [each for each in development if library.name in each.built_with] or development
        return Item(
            library.path,
            suite=library.suite or None,
            debug=tuple(dict.fromkeys(debug)),
            devel=tuple(each.path for each in self._with_needed(own, library)),
        )

    def _with_needed(self, own: Sequence[IndexedPackage], library: IndexedPackage) -> list[IndexedPackage]:
        """Development packages, and those that they depend on, as far as they are at hand."""
        found, pending = dict.fromkeys(own), list(own)
        while pending and len(found) < MOST_PACKAGES:
            for name in pending.pop(0).needs:
                fitting = [each for each in self._by_name.get(name, ()) if _fits(each, library)]
                beside = next((each for each in fitting if each.place == library.place), None)
                needed = beside or next(iter(fitting), None)
                if needed is not None and needed not in found:
                    found[needed] = None
                    pending.append(needed)
        return list(found)[:MOST_PACKAGES]


def _fits(package: IndexedPackage, library: IndexedPackage) -> bool:
    """Whether a package can be installed beside a library, by its architecture."""
    return package.architecture in {library.architecture, "all", "noarch"}
