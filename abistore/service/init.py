"""The first ``abistore.toml`` of a project, written from what its folders, build systems and tags show."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from abistore.errors import NoLibrary, OutputError, UsageError
from abistore.files import FILE_NAME, write_whole
from abistore.model.labels import Step
from abistore.model.versions import next_label
from abistore.service.built_libraries import BuildTree, BuiltLibrary, build_tree, built_libraries, shown, text_of
from abistore.service.commits import git
from abistore.service.project import NextCommand
from abistore.service.public_headers import ProjectHeaders, language_of, public_headers

NO_VERSION = "0.1.0"
TAG = re.compile(r"(?P<prefix>(?:.*?[-_/])??)[vV]?(?P<version>\d+(?:[._]\d+){1,3})")
"""A release in a tag: ``v1.2.3``, ``1.2``, ``libfoo-1.2.3``, ``FOO_1_2_3``."""

IN_FILE_NAME = re.compile(r"\.so\.(\d+(?:\.\d+)+)$|\.(\d+(?:\.\d+)+)\.dylib$")
PROJECT_VERSIONS = {
    "CMakeLists.txt": re.compile(r"\bproject\s*\([^)]*?\bVERSION\s+(\d+(?:\.\d+)+)", re.IGNORECASE),
    "meson.build": re.compile(r"\bproject\s*\([^)]*?\bversion\s*:\s*'(\d+(?:\.\d+)+)'"),
    "Cargo.toml": re.compile(r'^version\s*=\s*"(\d+(?:\.\d+)+)"', re.MULTILINE),
    "configure.ac": re.compile(r"\bAC_INIT\s*\(\s*\[?[^,\]]*\]?\s*,\s*\[?(\d+(?:\.\d+)+)"),
}
BUILDS = {
    "CMakeLists.txt": "cmake -B build -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build",
    "meson.build": "meson setup build --buildtype=debugoptimized && meson compile -C build",
    "configure": "./configure CFLAGS='-g -O2' && make",
    "configure.ac": "autoreconf -i && ./configure CFLAGS='-g -O2' && make",
    "Makefile": "make CFLAGS='-g -O2 -fPIC'",
    "Cargo.toml": "cargo build",
}
"""How a project is built that has a file of this name, best first."""

SOURCES = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++", ".rs"})


class ReleaseTags(NamedTuple):
    """The newest release that tags name, and how far the checkout is behind it: ``commits`` after its tag."""

    tag: str
    version: str
    commits: int


class InitialisedProject(msgspec.Struct, frozen=True):
    """What was found in a project, and the file that says it.

    ``version`` is that of the newest release; ``version_from`` names where it was found, and is empty where nothing
    names one. ``commands`` may be run in ``folder``. ``notes`` say what is unclear or missing. With a dry run,
    ``written`` is false.
    """

    folder: str
    file: str
    written: bool
    libraries: tuple[BuiltLibrary, ...]
    headers: tuple[ProjectHeaders, ...]
    language: str
    version: str
    version_from: str
    commands: tuple[NextCommand, ...]
    notes: tuple[str, ...]
    text: str


def init(
    folder: str | Path | None = None,
    *,
    build_dirs: Sequence[Path] = (),
    replace: bool = False,
    dry_run: bool = False,
) -> InitialisedProject:
    """Write ``abistore.toml`` for the project in ``folder``: by default the current folder, or its git checkout's root.

    ``build_dirs`` are build folders outside of it. Raises :class:`UsageError` where the file exists and ``replace`` is
    false, :class:`NoLibrary` where no shared library is built, and :class:`OutputError`.
    """
    root = _root(folder)
    file = root / FILE_NAME
    if file.exists() and not replace and not dry_run:
        raise UsageError(f"{file}: exists already", "pass --replace to write it again, or --dry-run to see it")
    tree = build_tree([root, *(each.resolve() for each in build_dirs)])
    libraries = built_libraries(tree, root)
    if not libraries:
        raise _nothing(tree, root)
    found = _found(tree, root, libraries)
    if not dry_run:
        try:
            write_whole(file, [found.text.encode()])
        except OSError as error:
            raise OutputError(f"{file}: cannot be written: {error.strerror}") from None
    return msgspec.structs.replace(found, written=not dry_run)


def _root(folder: str | Path | None) -> Path:
    """The folder itself where one is given, else the root of the checkout around the current folder."""
    start = Path(folder or ".").resolve()
    if not start.is_dir():
        raise UsageError(f"{folder}: not a folder", "name the folder of a project")
    if folder is not None:
        return start
    return next((each for each in (start, *start.parents) if (each / ".git").exists()), start)


def _found(tree: BuildTree, root: Path, libraries: tuple[BuiltLibrary, ...]) -> InitialisedProject:
    headers = public_headers(tree, root, [each.name for each in libraries])
    tags = _tags(root, [each.name for each in libraries])
    version, version_from = _version(root, libraries, tags)
    project = InitialisedProject(
        *(str(root), str(root / FILE_NAME), False, libraries, headers),
        language_of(tree, root, headers),
        version or NO_VERSION,
        version_from,
        tuple(_commands(root, libraries, version or NO_VERSION)),
        tuple(_notes(libraries, headers, tags, version)),
        "",
    )
    return msgspec.structs.replace(project, text="\n".join(_toml(project)) + "\n")


def _tags(root: Path, names: Sequence[str]) -> ReleaseTags | None:
    """The newest release of this project among the tags of the commits before; tags of its name come first."""
    stems = {stem for name in names for stem in (name.lower(), name.lower().removeprefix("lib"))}
    found: list[tuple[bool, tuple[int, ...], str, str]] = []
    for tag in git(root, "for-each-ref", "--merged=HEAD", "--format=%(refname:short)", "refs/tags").split():
        match = TAG.fullmatch(tag)
        prefix = match["prefix"].rstrip("-_/").lower() if match else ""
        if match and prefix in {"", "release", "rel", root.name.lower(), *stems}:
            version = match["version"].replace("_", ".")
            found.append((prefix in stems, tuple(map(int, version.split("."))), version, tag))
    if not found:
        return None
    _, _, version, tag = max(found)
    commits = git(root, "rev-list", "--count", f"refs/tags/{tag}..HEAD").strip()
    return ReleaseTags(tag, version, int(commits or 0))


def _version(root: Path, libraries: Sequence[BuiltLibrary], tags: ReleaseTags | None) -> tuple[str, str]:
    """The newest release, and where it is named: a tag, a file of the build system, or the library's file name."""
    if tags is not None:
        return tags.version, f"the tag {tags.tag}"
    for name, pattern in PROJECT_VERSIONS.items():
        if match := pattern.search(text_of(root / name)):
            return match[1], name
    for each in libraries:
        if match := IN_FILE_NAME.search(Path(root, each.path).resolve().name):
            return match[1] or match[2], match.string
    return "", ""


def _commands(root: Path, libraries: Sequence[BuiltLibrary], version: str) -> Iterator[NextCommand]:
    files = shlex.join(each.path for each in libraries)
    if Path.cwd() != root:
        yield NextCommand(f"cd {shlex.quote(str(root))}", "where abistore.toml is")
    yield NextCommand(f"abistore ingest {files} --version {version}", "store this build as the release, the baseline")
    later = next_label(version, Step.MINOR) or f"{version}.1"
    yield NextCommand(f"abistore gate {files} --version {later}", "judge the next build, and store nothing")


def _notes(
    libraries: Sequence[BuiltLibrary],
    headers: Sequence[ProjectHeaders],
    tags: ReleaseTags | None,
    version: str,
) -> Iterator[str]:
    bare = [each.name for each in libraries if not each.debug_information]
    if bare:
        yield f"{', '.join(bare)}: no debug information, so only symbols and headers are compared: build with -g"
    if not headers:
        yield "no public headers found: name them in abistore.toml, or verdicts include private types"
    if len(libraries) > 1:
        yield f"{len(libraries)} libraries: remove from the commands what is not released"
    if tags is not None and tags.commits:
        after = "commit" if tags.commits == 1 else "commits"
        yield f"this checkout is {tags.commits} {after} after {tags.tag}: store a build of the tag as {tags.version}"
    if not version:
        yield f"no tag or file names a version: replace {NO_VERSION} by yours"


def _toml(project: InitialisedProject) -> Iterator[str]:
    yield "# Written by `abistore init`: what commands of abistore take where their options say nothing."
    yield from ("# All keys: docs/reference/configuration.md", "")
    if len(project.libraries) == 1:
        (library,) = project.libraries
        yield f"library = {_quoted(library.name)}  # {'its SONAME' if library.soname else 'its file name'}"
    else:
        yield f"# libraries: {', '.join(_quoted(each.name) for each in project.libraries)}"
    yield from _headers(project)
    yield from (
        "",
        "[ingest]",
        'set_baseline = "release"  # builds are compared with the last release that passed',
    )


def _headers(project: InitialisedProject) -> Iterator[str]:
    if not project.headers:
        yield from ("", "# [headers]", '# headers = ["include"]  # the folder or files that programs include')
    for each in project.headers:
        yield ""
        yield "[headers]" if len(project.headers) == 1 else "[[headers]]"
        if each.library:
            yield f"library = {_quoted(each.library)}"
        yield from _list("headers", each.headers, each.found_by)
        if each.private:
            yield from _list("private", each.private, "not installed")
        if each.include_dirs:
            yield from _list("include_dirs", each.include_dirs, "where these headers are")


def _list(key: str, values: Sequence[str], why: str) -> Iterator[str]:
    if len(values) == 1:
        yield f"{key} = [{_quoted(values[0])}]  # {why}"
        return
    yield from (f"{key} = [  # {why}", *(f"    {_quoted(each)}," for each in values), "]")


def _quoted(text: str) -> str:
    """A text as TOML has it, whose basic strings are JSON's."""
    return json.dumps(text, ensure_ascii=False)


def _nothing(tree: BuildTree, root: Path) -> NoLibrary:
    """Why there is nothing to compare, and what to do."""
    suffixes = {each.suffix for each in tree.files}
    static = next((shown(each, root) for each in tree.files if each.suffix in (".a", ".lib")), "")
    if not suffixes & SOURCES and suffixes & {".h", ".hh", ".hpp", ".hxx"}:
        return NoLibrary(
            f"{root}: has headers only, and no shared library",
            "abistore compares shared libraries: nothing to do for a header-only library",
        )
    command = next((command for name, command in BUILDS.items() if (root / name).exists()), "build it with -g")
    hint = f"build one first: {command}; or name a build folder elsewhere: --build-dir FOLDER"
    return NoLibrary(f"{root}: no shared library is built{f', only {static}' if static else ''}", hint)
