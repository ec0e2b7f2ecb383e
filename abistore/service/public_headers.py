"""The public headers of a project: those that it installs, else those in the folder where headers usually are."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from abistore.service.built_libraries import TESTS, BuildTree, InstalledFile, shown, text_of

SUFFIXES = frozenset({".h", ".hh", ".hpp", ".hxx", ".h++"})
MOST_PRIVATE = 20
"""So many headers of a folder may be listed as private; where more are, the public ones are listed."""

BUILD_FILES = ("CMakeCache.txt", "build.ninja", "config.status", "Makefile")
"""What lies at the top of build folders, where private headers are generated beside public ones."""

USUAL = ("include", "inc", "includes", "src/include")
_CONTINUED = re.compile(r"\\\n\s*")
_ASSIGNED = re.compile(r"^\s*([\w.]+)\s*[:+?]?=\s*(.*)$", re.MULTILINE)
_VARIABLE = re.compile(r"\$[({]([\w.]+)[)}]")
_AUTOMAKE = re.compile(r"^(?:(?:nobase|dist|nodist)_)*(\w+)_HEADERS$")
_COPIES = re.compile(r"\b(?:install|cp|INSTALL\w*)\b.*include", re.IGNORECASE)
_CPP = re.compile(r"^\s*(?:namespace\s+\w|template\s*<|class\s+\w+[^;]*$)", re.MULTILINE)


class ProjectHeaders(msgspec.Struct, frozen=True):
    """The headers of one library, or of all, in words of ``abistore.toml``. ``found_by`` says how they were found."""

    headers: tuple[str, ...]
    found_by: str
    private: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    library: str | None = None


def public_headers(tree: BuildTree, root: Path, names: Sequence[str]) -> tuple[ProjectHeaders, ...]:
    """The headers of the libraries ``names``: a record for each where the places of headers tell them apart.

    Nothing where none are found.
    """
    installed = [one for each in tree.headers for one in _spread(each)] or list(_written(tree))
    if not installed:
        usual = _usual(root, names)
        return (usual,) if usual else ()
    by = f"installed by {' and '.join(sorted({each.by for each in installed}))}"
    parts = _by_library(installed, names)
    return tuple(_described(some, root, by, library) for library, some in parts.items())


def language_of(tree: BuildTree, root: Path, found: Sequence[ProjectHeaders]) -> str:
    """The language of the public headers: ``c`` or ``c++``; empty without headers."""
    if not found:
        return ""
    places = [root / each for one in found for each in one.headers]
    files = [file for each in places for file in (_headers_below(each) if each.is_dir() else [each])]
    texts = ((file, text_of(file)) for file in files)
    is_cpp = any(file.suffix != ".h" or (_CPP.search(text) and "__cplusplus" not in text) for file, text in texts)
    return "c++" if is_cpp else "c"


def _spread(each: InstalledFile) -> Iterator[InstalledFile]:
    """The headers in what is installed: those of a folder, or the header itself."""
    if each.path.is_dir():
        for path in _headers_below(each.path):
            yield InstalledFile(path, f"{each.place}/{path.relative_to(each.path).as_posix()}".lstrip("/"), each.by)
    elif each.path.suffix in SUFFIXES and each.path.is_file():
        place = each.place if each.place.endswith(each.path.name) else f"{each.place}/{each.path.name}"
        yield InstalledFile(each.path, place.lstrip("/"), each.by)


def _headers_below(folder: Path) -> list[Path]:
    found = (each for each in folder.rglob("*") if each.suffix in SUFFIXES and each.is_file())
    return sorted(each for each in found if str(each).isprintable())


def _written(tree: BuildTree) -> Iterator[InstalledFile]:
    """The headers that Makefiles install, where no build system has recorded them."""
    for path in tree.files:
        if path.name == "Makefile.am":
            yield from _automake(path)
    if not any(path.name == "Makefile.am" for path in tree.files):
        for path in tree.files:
            if path.name in ("Makefile", "GNUmakefile", "makefile"):
                yield from _makefile(path)


def _automake(path: Path) -> Iterator[InstalledFile]:
    """``include_HEADERS``, ``pkginclude_HEADERS`` and headers of folders below ``includedir``."""
    said = _assigned(path)
    for name, text in said.items():
        match = _AUTOMAKE.fullmatch(name)
        if match is None or match[1] in ("noinst", "EXTRA", "check"):
            continue
        folder = said.get(f"{match[1]}dir", "")
        within = "" if match[1] == "include" else folder.partition("$(includedir)")[2].strip("/")
        for word in text.split():
            place = word if "nobase_" in name else Path(word).name
            for found in _named(path.parent, word, said):
                yield InstalledFile(found, f"{within}/{place}".lstrip("/"), "Makefile.am")


def _makefile(path: Path) -> Iterator[InstalledFile]:
    """Headers in lines that copy something to an include folder."""
    said = _assigned(path)
    for line in _CONTINUED.sub(" ", text_of(path)).splitlines():
        if line.startswith("\t") and _COPIES.search(line):
            for word in _expanded(line, said).split():
                if word.endswith(tuple(SUFFIXES)):
                    yield from (InstalledFile(each, each.name, path.name) for each in _named(path.parent, word, said))


def _assigned(path: Path) -> dict[str, str]:
    """The variables of a Makefile, with what ``+=`` adds, and others spelled out."""
    found: dict[str, str] = defaultdict(str)
    for name, value in _ASSIGNED.findall(_CONTINUED.sub(" ", text_of(path))):
        found[name] = f"{found[name]} {value.partition(' #')[0]}".strip()
    return {name: _expanded(value, found) for name, value in found.items()}


def _expanded(text: str, said: dict[str, str], depth: int = 4) -> str:
    spelled = _VARIABLE.sub(lambda found: said.get(found[1], found[0]), text)
    return spelled if spelled == text or not depth else _expanded(spelled, said, depth - 1)


def _named(folder: Path, word: str, said: dict[str, str]) -> Iterator[Path]:
    """The headers that a word of a Makefile names, which may be a pattern."""
    inner = re.sub(r"\$[({](?:top_|abs_)?(?:srcdir|builddir)[)}]/", "", word)
    if "$" in inner or inner.startswith("/"):
        return
    for each in sorted(folder.glob(inner)):
        if each.suffix in SUFFIXES and each.is_file():
            yield each.resolve()


def _by_library(installed: Sequence[InstalledFile], names: Sequence[str]) -> dict[str | None, list[InstalledFile]]:
    """Headers by the library that their place names: ``foo/*`` and ``foo.h`` of ``libfoo``; together where unclear."""
    if len(names) < 2:
        return {None: list(installed)}
    parts: dict[str | None, list[InstalledFile]] = defaultdict(list)
    for each in installed:
        head = each.place.partition("/")[0].partition(".")[0]
        own = [name for name in names if head in (name, name.removeprefix("lib"))]
        if not own:
            return {None: list(installed)}
        parts[own[0]].append(each)
    return dict(sorted(parts.items(), key=lambda part: str(part[0])))


def _described(some: Sequence[InstalledFile], root: Path, by: str, library: str | None) -> ProjectHeaders:
    """Headers as folders where these hold them all, or all but a few, else one by one."""
    by_root: dict[Path | None, list[InstalledFile]] = defaultdict(list)
    for each in some:
        by_root[_include_root(each)].append(each)
    headers: list[str] = []
    private: list[str] = []
    folders: list[str] = []
    for top, below in sorted(by_root.items(), key=lambda part: str(part[0])):
        public = {each.path for each in below}
        is_folder = top is not None and top != root and not any((top / each).exists() for each in BUILD_FILES)
        others = [each for each in _headers_below(top) if each not in public] if top is not None and is_folder else []
        if top is not None and is_folder and len(others) <= min(MOST_PRIVATE, len(public)):
            headers.append(shown(top, root))
            private += [each.relative_to(top).as_posix() for each in others]
        else:
            headers += sorted(shown(each, root) for each in public)
            folders += sorted({shown(top or each.parent, root) for each in public})
    return ProjectHeaders(tuple(headers), by, tuple(private), tuple(dict.fromkeys(folders)), library)


def _include_root(each: InstalledFile) -> Path | None:
    """The folder from which programs include the header; ``None`` where it lies elsewhere than it is installed."""
    parts = Path(each.place).parts
    return each.path.parents[len(parts) - 1] if each.path.parts[-len(parts) :] == parts else None


def _usual(root: Path, names: Sequence[str]) -> ProjectHeaders | None:
    """The headers in ``include``, in a folder named after the library, or with its name."""
    for name in USUAL:
        if _headers_below(root / name):
            return ProjectHeaders((name,), f"the folder {name}")
    stems = dict.fromkeys(each for name in names for each in (name.removeprefix("lib"), name))
    for stem in stems:
        for place in (stem, f"src/{stem}", f"lib/{stem}"):
            if stem not in TESTS and (root / place).is_dir() and _headers_below(root / place):
                folder = Path(place).parent.as_posix()
                return ProjectHeaders((place,), f"the folder {place}", include_dirs=(folder,))
        for place in (f"{folder}{stem}{suffix}" for folder in ("", "src/", "lib/") for suffix in sorted(SUFFIXES)):
            if (root / place).is_file():
                return ProjectHeaders((place,), "the library's name", include_dirs=(Path(place).parent.as_posix(),))
    return None
