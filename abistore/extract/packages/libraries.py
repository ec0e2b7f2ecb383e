"""The shared libraries in a package or a folder, each file with its first bytes."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PureWindowsPath
from typing import BinaryIO, NamedTuple

import msgspec

from abistore.errors import ExtractError, InputError, LimitExceeded
from abistore.extract.elf.container import DT_SONAME, MAGIC, DynamicSection, ElfFile
from abistore.extract.files import HEAD_BYTES, InputFile, InputFolder, open_input
from abistore.extract.packages import formats
from abistore.extract.packages.streams import PackageIdentity, PackageMember, UnpackBounds, damage_told, link_target
from abistore.model.labels import library_name


class PackageFormat(NamedTuple):
    """One format of packages: which files are of it, what a package says of itself, and its files and links."""

    accepts: Callable[[bytes], bool]
    identity: Callable[[InputFile, UnpackBounds], PackageIdentity]
    members: Callable[[InputFile, UnpackBounds], Iterator[PackageMember]]


FORMATS: tuple[PackageFormat, ...] = (
    PackageFormat(formats.accepts_deb, formats.deb_identity, formats.deb_members),
    PackageFormat(formats.accepts_rpm, formats.rpm_identity, formats.rpm_members),
    PackageFormat(formats.accepts_zip, formats.zip_identity, formats.zip_members),
    PackageFormat(formats.accepts_archive, formats.archive_identity, formats.archive_members),
)
"""Asked in this order."""


class Entry(NamedTuple):
    """A file with its first bytes and what opens it, or a link to another entry.

    ``keep`` is called before the next entry is asked for. What it gives stays after the package is closed, and goes
    with this process, however that ends.
    """

    path: str
    head: bytes = b""
    keep: Callable[[], InputFile] | None = None
    link: str | None = None


def format_of(head: bytes) -> PackageFormat | None:
    """The format of a package that begins with ``head``."""
    return next((each for each in FORMATS if each.accepts(head)), None)


def entries(file: InputFile, bounds: UnpackBounds) -> Iterator[Entry]:
    """The files and links of a package or a folder."""
    if isinstance(file, InputFolder):
        yield from _in_folder(file, bounds)
    elif (format := format_of(file.head)) is not None:
        for member in format.members(file, bounds):
            yield _entry(file.path, member)
    else:
        hint = "name a .deb, .rpm, .whl, .conda, .zip or tar archive, or a folder"
        raise InputError(f"{file.path}: not a package", hint)


def _entry(package: Path, member: PackageMember) -> Entry:
    content = member.content
    if content is None:
        return Entry(member.path, link=member.link)
    head = _head(content)
    return Entry(member.path, head, lambda: _kept(package / member.path, head, content))


def _head(content: BinaryIO) -> bytes:
    head = b""
    while len(head) < HEAD_BYTES and (piece := content.read(HEAD_BYTES - len(head))):
        head += piece
    return head


def _kept(path: Path, head: bytes, content: BinaryIO) -> InputFile:
    """The member in a file without a name, which the system removes with the process that has it open."""
    with tempfile.TemporaryFile() as file:
        file.write(head)
        shutil.copyfileobj(content, file, 1 << 20)
        file.flush()
        return InputFile(path, os.dup(file.fileno()))


def _in_folder(folder: InputFolder, bounds: UnpackBounds) -> Iterator[Entry]:
    """Regular files and links below ``folder``. Links to folders are not followed."""
    for place, below, names in os.walk(folder.path):
        below.sort()
        for name in sorted(names):
            bounds.take_member()
            path = Path(place, name)
            inner = path.relative_to(folder.path).as_posix()
            if path.is_symlink():
                target = str(path.readlink())
                yield Entry(inner, link="" if target.startswith("/") else link_target(inner, target))
            elif path.is_file() and path.stat().st_size:
                with InputFile(path) as file:
                    head = file.head
                yield Entry(inner, head, lambda path=path: folder.taken(path))  # type: ignore[misc]


MOST_SUPPRESSIONS, MOST_SUPPRESSION_BYTES, MOST_UNPACKED = 20, 4 << 20, 4 << 30
"""Files of suppressions in a package, bytes of each, and of all that is unpacked to find them."""

MOST_LINKS = 40
"""How many links to links are followed, as Linux does."""

MOST_LIBRARIES = 400
"""Each is an open file, of which a process may have some 1,000."""

PACKAGE = "(package)"
PACKAGES = (".deb", ".rpm", ".whl", ".conda", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")
"""How the names of packages in a package end."""

NAMED_LIKE_ONE = re.compile(r"lib[^/]*\.so(\.\d[^/]*)?|[^/]+\.dll|[^/]+\.dylib", re.IGNORECASE)
_TO_LINK = re.compile(r"(lib[^/]+?)\.(?:so|a|dll\.a|la)(?:\.\d[^/]*)?|([^/]+)\.lib", re.IGNORECASE)
_BY_OPTION, _BY_FILE = re.compile(r"(?<!\S)-l([\w.+-]+)"), re.compile(r"lib[\w.+-]+?\.so[.\d]*")
"""What linker scripts name: ``INPUT(libncurses.so.6 -ltinfo)``."""

_VERSIONED = re.compile(r"\.so\.\d")
"""In a SONAME that does not begin with ``lib``: of a library. Plugins may have one, too: ``enchant_aspell.so``."""

_MOST_SCRIPT = 1 << 12
_ITSELF = re.compile(r"[^/]+\.(?:dylib|tbd|dll)", re.IGNORECASE)

_MACHO = tuple(bytes.fromhex(magic) for magic in ("feedface", "cefaedfe", "feedfacf", "cffaedfe"))
_UNIVERSAL = bytes.fromhex("cafebabe")
_ET_REL, _ET_EXEC, _PT_INTERP = 1, 2, 3


class FoundLibrary(msgspec.Struct, frozen=True):
    """A library of a package, and the entry that it is."""

    path: str
    file: InputFile


class PackagedLibraries(msgspec.Struct):
    """The libraries of a package; ``left_out`` tells of the binaries that are none, each with a word.

    ``links`` and ``copies`` lead from a path to what it leads to: another entry, or the one with the same content.
    ``others`` are the paths of binaries that are no libraries, ``suppressions`` those of files for abidiff.
    """

    libraries: list[FoundLibrary] = []
    left_out: list[str] = []
    others: set[str] = set()
    links: dict[str, str] = {}
    copies: dict[str, str] = {}
    suppressions: list[str] = []

    def names(self, path: str) -> tuple[str, ...]:
        """What programs call the library at a path that load it by a link or a copy, beside its own file name."""
        places = (*self.links, *self.copies)
        found = {each.rpartition("/")[2] for each in places if self._end(each) == path}
        return tuple(sorted(found - {path.rpartition("/")[2]}))

    def loaded(self, soname: str) -> set[str]:
        """The binaries that a program gets which asks for ``soname``: of that name, or linked by it."""
        binaries = {each.path for each in self.libraries} | self.others
        places = (*self.links, *self.copies, *binaries)
        return {self._end(each) for each in places if each.rpartition("/")[2] == soname} & binaries

    def passed_over(self, library: str) -> set[str]:
        """The binaries that are no libraries by themselves, and that programs load by a name of ``library``."""
        names = [each for each in self.links if library_name(each.rpartition("/")[2]) == library]
        return {self._end(each) for each in names} & self.others

    def _end(self, path: str) -> str:
        for _ in range(MOST_LINKS):
            if path not in self.links and path not in self.copies:
                break
            path = self.links.get(path) or self.copies.get(path, "")
        return path


def libraries_in(entries: Iterable[Entry], only: Sequence[str], package: str) -> PackagedLibraries:
    """Each library once, whatever links lead to it; with ``only``, the binaries that one of these patterns fits.

    Raises :class:`InputError`, :class:`LimitExceeded`.
    """
    found, places = PackagedLibraries(), Counter[str]()
    for entry in entries:
        places[entry.path] += 1
        if entry.keep is not None and is_suppression_file(entry.path):
            found.suppressions.append(entry.path)
        if entry.link is not None and is_named_like_one(entry.path):
            found.links[entry.path] = entry.link
        if entry.keep is None or not is_binary(entry.head):
            found.left_out += [f"{entry.path} {PACKAGE}"] if _is_package(entry) and not only else []
            continue
        if only and not _fits(entry.path, only):
            continue
        file = entry.keep()
        word = "" if only else other_than_library(entry.path, file)
        if word:
            file.close()
            found.left_out += [f"{entry.path} ({word})"] if word != "object" else []
            found.others.add(entry.path)
            continue
        found.libraries.append(FoundLibrary(entry.path, file))
        if len(found.libraries) > MOST_LIBRARIES:
            raise LimitExceeded(f"{package}: contains more than {MOST_LIBRARIES} libraries", "select some with --only")
    _refuse_twice(found, places, package)
    ordered = sorted(found.libraries, key=lambda each: (each.path.count("/"), each.path))
    found.libraries = list(_once(ordered, found.copies))
    found.left_out.sort()
    found.suppressions.sort()
    return found


def is_suppression_file(path: str) -> bool:
    """Whether a file of this name has suppressions for libabigail, as projects and packages ship them."""
    return path.lower().endswith((".abignore", ".abignore.ini"))


def _is_package(entry: Entry) -> bool:
    """Whether a member is a package itself, which is not unpacked."""
    return entry.keep is not None and entry.path.lower().endswith(PACKAGES)


def _refuse_twice(found: PackagedLibraries, places: Mapping[str, int], package: str) -> None:
    """Raise for two members with one path: which of them is installed depends on what unpacks them."""
    digests: dict[str, set[str]] = {}
    for each in found.libraries:
        if places[each.path] > 1:
            digests.setdefault(each.path, set()).add(each.file.sha256())
    for path in sorted({*digests, *(each for each in found.links if places[each] > 1)}):
        if path in found.links or len(digests[path]) > 1:
            raise ExtractError(
                f"{package}: has several members named {path[:200]!r}",
                "build or download it again: a valid package has each name once",
            )


def _once(libraries: Sequence[FoundLibrary], copies: dict[str, str]) -> Iterator[FoundLibrary]:
    """Each content once: wheels have copies where others have links, ``libfoo.so`` and ``libfoo.so.1``.

    ``copies`` is told which path has the content of which other one.
    """
    sizes, seen = Counter(each.file.size for each in libraries), dict[str, str]()
    for each in libraries:
        content = each.file.sha256() if sizes[each.file.size] > 1 else each.path
        if content in seen:
            each.file.close()
            copies[each.path] = seen[content]
        else:
            seen[content] = each.path
            yield each


def is_binary(head: bytes) -> bool:
    """Whether a file begins like a library or program of any system."""
    universal = head[:4] == _UNIVERSAL and len(head) > 8 and int.from_bytes(head[4:8], "big") < 20  # else Java's
    return head.startswith((MAGIC, b"MZ", *_MACHO)) or universal


def library_to_link(name: str) -> str:
    """The library that programs link to with a file of this name; empty for other files.

    A development package has a link, a linker script, an archive or an import library, or the library itself. Numbers
    at the end belong to the name: programs link to ``libusb-1.0.so`` with ``-lusb-1.0``.
    """
    if match := _TO_LINK.fullmatch(name):
        return match[1] or match[2]
    return library_name(name) if _ITSELF.fullmatch(name) else ""


def libraries_to_link(entry: Entry) -> Iterator[str]:
    """The libraries that programs link to with an entry: that of its name, and what a link or a linker script names.

    The library itself, without a link to it, is called as its file is.
    """
    name = entry.path.rpartition("/")[2]
    if not (linked := library_to_link(name)):
        return
    yield linked
    if entry.link is not None:
        yield library_name(entry.link.rpartition("/")[2])
    elif is_binary(entry.head):
        yield library_name(name)
    elif name.endswith(".so") and entry.keep is not None and not entry.head.startswith(b"!<arch>"):
        with entry.keep() as script:
            text = script.read_at(0, min(script.size, _MOST_SCRIPT)).decode("utf-8", "replace")
        yield from (f"lib{each}" for each in _BY_OPTION.findall(text))
        yield from map(library_name, _BY_FILE.findall(text))


def is_named_like_one(path: str) -> bool:
    """Whether a file of this name is taken for a library, whatever else it may be."""
    return NAMED_LIKE_ONE.fullmatch(path.rpartition("/")[2]) is not None


def is_debug_file(path: str) -> bool:
    """Whether a path is one that separate debug information has."""
    trees = "usr/lib/debug/" in f"{path}/" or "/.dwz/" in f"/{path}"
    return trees or path.endswith((".debug", ".dwp")) or is_in_bundle(path)


def is_in_bundle(path: str) -> bool:
    """Whether a path is that of the debug information in a ``.dSYM`` bundle, which is called like the library."""
    return ".dsym/contents/resources/dwarf/" in path.lower()


def _fits(path: str, only: Sequence[str]) -> bool:
    name = path.rpartition("/")[2]
    return any(fnmatchcase(each, pattern) for pattern in only for each in (path, name, library_name(name)))


def other_than_library(path: str, file: InputFile) -> str:
    """What a binary is if not a library that programs link to; else empty."""
    if is_debug_file(path):
        return "debug information"
    if is_named_like_one(path):
        return ""
    if not file.head.startswith(MAGIC):
        return "no library by its name"
    try:
        elf = ElfFile(file)
        dynamic = DynamicSection.of(elf)
        soname = dynamic.text(DT_SONAME) if dynamic is not None else None
        if soname and (is_named_like_one(soname) or _VERSIONED.search(soname)):
            return ""
    except LimitExceeded:
        raise
    except InputError:
        return "damaged, and no library by its name"
    if elf.type == _ET_REL:
        return "object"
    is_program = elf.type == _ET_EXEC or any(segment.type == _PT_INTERP for segment in elf.segments)
    return "program" if is_program else "plugin"


def suppression_files(path: Path) -> tuple[tuple[str, bytes], ...]:
    """The suppressions for libabigail that a package or a folder ships, by their paths in it, sorted.

    Raises :class:`InputError` for what is no package.
    """
    with open_input(path) as file, damage_told(str(path)):
        found: dict[str, bytes] = {}
        for entry in entries(file, UnpackBounds(str(path), file.size, MOST_UNPACKED)):
            if entry.keep is not None and is_suppression_file(entry.path):
                with entry.keep() as kept:
                    kept.check_size(MOST_SUPPRESSION_BYTES)
                    found[entry.path] = kept.read_at(0, kept.size)
            if len(found) > MOST_SUPPRESSIONS:
                raise LimitExceeded(f"{path}: ships more than {MOST_SUPPRESSIONS} files of suppressions")
        return tuple(sorted(found.items()))


_PDB = b"Microsoft C/C++ MSF 7.00"


def debug_files(entries: Iterable[Entry], libraries: Iterable[InputFile]) -> Iterator[InputFile]:
    """The files that may describe one of ``libraries``, and those that ``dwz`` moved common parts to."""
    ends = tuple({end for library in libraries for end in _ends(library)})
    for entry in entries:
        if entry.keep is not None and _may_describe(entry, ends):
            yield entry.keep()


def _may_describe(entry: Entry, ends: tuple[str, ...]) -> bool:
    path = f"/{entry.path}"
    if entry.head.startswith(MAGIC) and "/.dwz/" in path:
        return True
    if entry.head.startswith(_PDB) or (is_binary(entry.head) and not entry.head.startswith((MAGIC, b"MZ"))):
        return path.lower().endswith(ends) and (entry.head.startswith(_PDB) or is_in_bundle(path))
    return is_binary(entry.head) and path.endswith(ends)


def _ends(library: InputFile) -> Iterator[str]:
    """How the paths of a library's debug files end."""
    if library.head.startswith(b"MZ"):
        yield from _ends_of_dll(library)
    elif not library.head.startswith(MAGIC):
        yield f".dsym/contents/resources/dwarf/{library.path.name.lower()}"
    try:
        elf = ElfFile(library) if library.head.startswith(MAGIC) else None
        build_id, link = (elf.build_id, elf.debuglink) if elf else (None, None)
    except InputError:
        return  # what is wrong with it is said when it is read
    if build_id and len(build_id) > 2:
        yield f"/{build_id[:2]}/{build_id[2:]}.debug"
    if link:
        yield f"/{link[0].rpartition('/')[2]}"
    yield f"/{library.path.name}.debug"


def _ends_of_dll(library: InputFile) -> Iterator[str]:
    from abistore.extract.pe.container import PeFile, pdb_link

    try:
        pe = PeFile(library)
        link, split = pdb_link(pe), pe.debuglink
    except InputError:
        return  # what is wrong with it is said when it is read
    if link:
        yield f"/{PureWindowsPath(link.path).name.lower()}"
    if split:
        yield f"/{PureWindowsPath(split[0]).name}"
