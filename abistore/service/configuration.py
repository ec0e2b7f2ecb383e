"""The file ``abistore.toml`` of a project: which headers of its library are public, and what its gates allow."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from abistore.confinement import open_file
from abistore.errors import ConfigError
from abistore.extract.headers.options import HeaderOptions, Language
from abistore.model.judging.bump import ALLOW_RULES, AllowRule
from abistore.model.words.nearness import close

FILE_NAME = "abistore.toml"
MOST_BYTES = 1 << 20


class HeadersTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[headers]``: :class:`HeaderOptions` in words of a file. Paths are relative to the file's folder.

    With ``library``, the headers are of that library only. There are no arguments for clang: they could have it load
    code of whoever wrote the file.
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


class ConfigurationFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that the file may have."""

    source_root: str = ""
    allow: AllowRule | None = None
    headers: HeadersTable | None = None


class Configuration(msgspec.Struct, frozen=True):
    """What a project's file says; nothing where there is none.

    Paths below ``source_root``, the folder of the sources in the build, are told relative to it.
    ``allow`` is the rule of gates that are told none: which releases may break.
    """

    headers: HeaderOptions | None = None
    source_root: str = ""
    allow: AllowRule | None = None


def configuration(path: Path | None = None) -> Configuration:
    """The configuration at ``path``, else that of the current folder. Raises :class:`ConfigError`."""
    if path is None:
        path = Path(FILE_NAME)
        if not path.is_file():
            return Configuration()
    import tomllib  # few projects have the file

    try:
        read = msgspec.convert(tomllib.loads(_text(path)), ConfigurationFile)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: is no TOML: {error}") from None
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {error}", _meant(str(error))) from None
    return Configuration(read.headers.options(path.parent) if read.headers else None, read.source_root, read.allow)


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
        raise ConfigError(f"{path}: is no UTF-8: {error.reason} at byte {error.start}") from None


def _meant(said: str) -> str:
    """The hint for a key that there is not, which msgspec quotes in backticks."""
    if "$.allow" in said:
        return f"it may be {', '.join(ALLOW_RULES)}"
    words = said.split("`")
    if "unknown field" not in said or len(words) < 2:
        return ""
    table = HeadersTable if "$.headers" in said else ConfigurationFile
    known = table.__struct_fields__
    likely = close(words[1], known)
    return f"did you mean {likely[0]}?" if likely else f"it may have {', '.join(known)}"
