"""The file ``abistore.toml`` of a project: what commands take where their options say nothing."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec

from abistore.errors import ConfigError
from abistore.extract.reader import HeaderOptions, Language
from abistore.files import open_file, project_file
from abistore.model.decision import ALLOW_RULES, AllowRule
from abistore.model.findings import FailOn
from abistore.model.labels import blank_in
from abistore.model.words import close

MOST_BYTES = 1 << 20
PROFILE = re.compile(r"\w+")
"""What names a policy and no file."""

VersionFrom: TypeAlias = Literal["filename", "folder", "soname"]
"""Where a version comes from when none is given: ``libz.so.1.3.1``, ``1.3.1/libz.so``, or the SONAME."""


class NextCommand(msgspec.Struct, frozen=True):
    """A command line that may be run as it is, and what it shows or does."""

    command: str
    purpose: str = ""


class HeadersTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[headers]``: :class:`HeaderOptions` in words of a file. Paths are relative to the file's folder.

    With ``library``, the headers are of that library only; a file may have several such tables, ``[[headers]]``. There
    are no arguments for clang: they could have it load code of whoever wrote the file.
    """

    headers: tuple[str, ...]
    library: str | None = None
    private: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    standard: str | None = None
    language: Language | None = None
    compile_commands: str | None = None
    target: str | None = None
    sysroot: str | None = None

    def options(self, folder: Path) -> HeaderOptions:
        """The same, with paths from the current folder."""
        return HeaderOptions(
            headers=tuple(folder / each for each in self.headers),
            private=self.private,
            include_dirs=tuple(folder / each for each in self.include_dirs),
            defines=self.defines,
            standard=self.standard,
            language=self.language,
            compile_commands=folder / self.compile_commands if self.compile_commands else None,
            target=self.target,
            sysroot=folder / self.sysroot if self.sysroot else None,
            library=self.library,
            configured=True,
        )


class IngestTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[ingest]``: what the options of this name of ``abistore ingest`` say."""

    against: str | None = None
    set_baseline: str | None = None
    set_baseline_if_none: str | None = None
    keep_failed: bool = False
    version_from: VersionFrom | None = None
    tag: tuple[str, ...] = ()


class GateTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[gate]``: what the options of this name of ``abistore gate`` say."""

    introduced_only: bool = False
    require_signed: bool = False
    version_from: VersionFrom | None = None


class ProjectSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the file says beside the headers. A key is called as the option for which it stands.

    Paths are relative to the file's folder in the file, and to the current folder here.
    """

    library: str | None = None
    profile: str | None = None
    channel: str | None = None
    policy: str | None = None
    suppress: tuple[str, ...] = ()
    strict_suppressions: bool | None = None
    fail_on: FailOn | None = None
    allow: AllowRule | None = None
    deprecation: str | None = None
    require: str | None = None
    source_root: str = ""
    docs_base: str | None = None
    repository: str | None = None
    commit_url: str | None = None
    debug_dir: tuple[str, ...] = ()
    debuginfod: bool = False
    symbols_only: bool = False
    only: tuple[str, ...] = ()
    consumers: bool = False
    site_url: str | None = None
    project_url: str | None = None
    allowed_signers: str | None = None
    revoked_signers: str | None = None
    ingest: IngestTable = IngestTable()
    gate: GateTable = GateTable()


class ConfigurationFile(ProjectSettings, frozen=True, forbid_unknown_fields=True):
    """All that the file may have."""

    headers: HeadersTable | tuple[HeadersTable, ...] | None = None


class Configuration(ProjectSettings, frozen=True):
    """What a project's file says; nothing where there is none. ``path`` is the file."""

    path: Path | None = None
    headers: HeaderOptions | None = None


_TWICE = ("Cannot overwrite a value", "Cannot declare")
"""How :mod:`tomllib` begins what it says of a key or a table that stands twice."""

EMPTY = "give a value, or leave the key out"
NOTHING = Configuration()
TABLES: dict[str, type[msgspec.Struct]] = {"headers": HeadersTable, "ingest": IngestTable, "gate": GateTable}


def configuration(path: Path | None = None) -> Configuration:
    """The configuration at ``path``, else that of the current folder. Raises :class:`ConfigError`."""
    path = path or project_file()
    if path is None:
        return NOTHING
    import tomllib  # few projects have the file

    text = _text(path)
    try:
        said = tomllib.loads(text)
        read = msgspec.convert(said, ConfigurationFile)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _no_toml(path, text, str(error)) from None
    except msgspec.ValidationError as error:
        wrong, _, place = str(error).partition(" - at `")
        raise ConfigError(f"{path}{_line(text, wrong, place)}: {error}", _meant(str(error))) from None
    if (empty := blank_in("$", said)) is not None:
        raise ConfigError(f"{path}{_line(text, '', empty)}: {empty.removeprefix('$.')} is empty", EMPTY)
    return _from_here(read, path)


def _from_here(read: ConfigurationFile, path: Path) -> Configuration:
    folder = path.parent
    said = {name: getattr(read, name) for name in ProjectSettings.__struct_fields__}
    said["debug_dir"] = tuple(str(folder / each) for each in read.debug_dir)
    said["repository"] = str(folder / read.repository) if read.repository else None
    for key in ("allowed_signers", "revoked_signers"):
        said[key] = str(folder / named) if (named := getattr(read, key)) else None
    said["suppress"] = tuple(_suppressions(folder, each) for each in read.suppress)
    if read.policy and not PROFILE.fullmatch(read.policy):
        said["policy"] = str(folder / read.policy)
    return Configuration(**said, path=path, headers=_headers(read.headers, path))


def _headers(said: HeadersTable | tuple[HeadersTable, ...] | None, path: Path) -> HeaderOptions | None:
    """The headers of all tables: those of the first, with the others beside them."""
    tables = said if isinstance(said, tuple) else (said,) if said else ()
    whose = [each.library for each in tables]
    for library in whose:
        if whose.count(library) > 1:
            of = f"of {library}" if library else "without `library`"
            raise ConfigError(f"{path}: two tables [[headers]] are {of}", "say all headers of a library in one")
    if not tables:
        return None
    first, *others = [each.options(path.parent) for each in tables]
    return msgspec.structs.replace(first, others=tuple(others))


def _suppressions(folder: Path, said: str) -> str:
    word, colon, name = said.rpartition(":")
    return f"{word}{colon}{folder / name}"


def _line(text: str, said: str, place: str) -> str:
    """``:LINE`` of the key that is wrong; nothing where it cannot be told.

    TOML is read without lines. The key stands below the head of its table, or first where it is of none.
    """
    words = said.split("`")
    keys = re.findall(r"[A-Za-z_]\w*", place.removeprefix("$"))
    if "unknown field" in said and len(words) > 1:
        keys.append(words[1])
    if not keys:
        return ""
    table, key = ".".join(keys[:-1]), keys[-1]
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[{1,2}\s*([\w.]+)\s*\]", line):
            current = head[1]
            if current == ".".join(keys):
                return f":{number}"
        elif current == table and re.match(rf"\s*\"?{re.escape(key)}\"?\s*=", line):
            return f":{number}"
    return ""


def _no_toml(path: Path, text: str, said: str) -> ConfigError:
    """The error of a file that is no TOML, which what stands twice makes it too: neither would be the one meant."""
    place = re.search(r"at line (\d+)", said)
    if place is None or not said.startswith(_TWICE):
        return ConfigError(f"{path}: not TOML: {said}")
    what = text.splitlines()[int(place[1]) - 1].partition("=")[0].strip()
    return ConfigError(f"{path}:{place[1]}: {what} is given twice", "remove one of them")


def _text(path: Path) -> str:
    try:
        with os.fdopen(open_file(path), "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}", "check the path given with --config") from None
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{path}: is larger than {MOST_BYTES >> 20} MB")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from None


def _meant(said: str) -> str:
    """The hint for a key that there is not, which msgspec quotes in backticks, or for a word that no key takes."""
    if "$.allow" in said:
        return f"it may be {', '.join(ALLOW_RULES)}"
    if "$.fail_on" in said:
        return f"it may be {', '.join(get_args(FailOn))}"
    words = said.split("`")
    if "unknown field" not in said or len(words) < 2:
        return ""
    table = next((table for key, table in TABLES.items() if f"$.{key}" in said), ConfigurationFile)
    known = table.__struct_fields__
    likely = close(words[1], known)
    return f"did you mean {likely[0]}?" if likely else f"it may have {', '.join(known)}"
