"""What a caller names: files, which are looked at before anything reads them, and stored references."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, cast

from abistore.confinement import status
from abistore.errors import PathDenied
from abistore.interface import HeaderOptions, Ruling, policies, ruling
from abistore.mcp.answers.answer import brief
from abistore.mcp.refusals import Refusal
from abistore.mcp.settings import Settings
from abistore.model.judging.bump import ALLOW_RULES, AllowRule

LANGUAGES = ("c++", "c")
REFERENCES = "name a stored release (libfoo@1.2.0, libfoo@latest, libfoo@baseline) or an absolute path"


def operand(settings: Settings, text: str, argument: str) -> str | Path:
    """A side of a comparison: a file that may be read, or a reference. Raises :class:`Refusal`."""
    if text.startswith("/"):
        return library(settings, text, argument)
    if not text or "/" in text or text[0] in ".~":
        raise Refusal("INVALID_ARGUMENT", f"{argument} is a relative path", REFERENCES)
    return text


def library(settings: Settings, text: str, argument: str) -> Path:
    """A file of a library, or a folder of libraries, as :func:`file`; each file in a folder has the same limits."""
    return file(settings, text, argument, folders=True)


def file(settings: Settings, text: str, argument: str, *, folders: bool = False) -> Path:
    """A regular file that is not too large. Nothing of it is read. Raises :class:`Refusal`.

    Whoever reads it opens it once, and judges again whether it may be read.
    """
    path = Path(text)
    if not path.is_absolute():
        raise Refusal("INVALID_ARGUMENT", f"{argument} is a relative path", "give an absolute path")
    try:
        found = status(path)
    except PathDenied:
        raise _denied(argument) from None
    except (FileNotFoundError, NotADirectoryError):
        raise Refusal("NOT_FOUND", f"File not found for {argument}", REFERENCES) from None
    except (OSError, ValueError):
        raise Refusal("PATH_DENIED", f"{argument} cannot be read", "check the path and its permissions") from None
    if folders and stat.S_ISDIR(found.st_mode):
        return path
    if not stat.S_ISREG(found.st_mode):
        raise Refusal("INVALID_ARGUMENT", f"{argument} is not a regular file", REFERENCES)
    if found.st_size > settings.max_file_size:
        sizes = (
            f"{argument} is {_megabytes(found.st_size)} MB, exceeds limit of {_megabytes(settings.max_file_size)} MB"
        )
        raise Refusal("FILE_TOO_LARGE", sizes, "start the server with a higher --max-file-size")
    if not os.access(path, os.R_OK):
        raise Refusal("PATH_DENIED", f"{argument} cannot be read", "check its permissions")
    return path


def _megabytes(size: int) -> str:
    text = f"{size / (1 << 20):.1f}"
    return text.removesuffix(".0")


def headers_of(
    settings: Settings, given: Sequence[str] | None, folders: Sequence[str] | None, language: str | None, argument: str
) -> HeaderOptions | None:
    """The public headers that an argument names, files or folders; ``None`` for none. Raises :class:`Refusal`."""
    if language is not None and language not in LANGUAGES:
        raise Refusal("INVALID_ARGUMENT", f"Unknown language: {language!r}. Valid languages: {', '.join(LANGUAGES)}")
    include_dirs = tuple(_folder(each, f"include_dirs[{number}]") for number, each in enumerate(folders or ()))
    headers = [_header(settings, each, f"{argument}[{number}]") for number, each in enumerate(given or ())]
    return HeaderOptions.given(headers, include_dirs=include_dirs, language=cast(Literal["c", "c++"] | None, language))


def check_include_dirs(folders: Sequence[str] | None, *headers: Sequence[str] | None) -> None:
    """Raises :class:`Refusal` for folders that no headers are given for."""
    if folders and not any(headers):
        raise Refusal("INVALID_ARGUMENT", "include_dirs are for headers, and none are given", "name them as headers")


def _header(settings: Settings, text: str, argument: str) -> str:
    """A header, or a folder of headers; behind the library whose it is, where that is said: ``libfoo=/include/foo``."""
    library, equals, path = text.partition("=")
    if equals and "/" not in library:
        return f"{library}={_header_path(settings, path, argument)}"
    return str(_header_path(settings, text, argument))


def _header_path(settings: Settings, text: str, argument: str) -> Path:
    path = Path(text)
    is_folder = False
    with suppress(OSError, ValueError, PathDenied):  # what is wrong is said of the file
        is_folder = path.is_absolute() and stat.S_ISDIR(status(path).st_mode)
    return path if is_folder else file(settings, text, argument)


def _folder(text: str, argument: str) -> Path:
    path = Path(text)
    if not path.is_absolute():
        raise Refusal("INVALID_ARGUMENT", f"{argument} is a relative path", "give an absolute path")
    try:
        if stat.S_ISDIR(status(path).st_mode):
            return path
    except PathDenied:
        raise _denied(argument) from None
    except (OSError, ValueError):
        raise Refusal("NOT_FOUND", f"Folder not found for {argument}", "give the folder of the headers") from None
    raise Refusal("INVALID_ARGUMENT", f"{argument} is not a folder", "give the folder of the headers")


def _denied(argument: str) -> Refusal:
    return Refusal("PATH_DENIED", f"{argument} is not below a folder that may be read", PathDenied.usual_hint)


def ruling_of(settings: Settings, policy: str, policy_file: str | None, suppression_file: str | None) -> Ruling | None:
    """What findings are judged by; a file wins over the name of a policy. Raises :class:`Refusal`."""
    if policy not in policies():
        raise Refusal(
            "UNKNOWN_POLICY",
            f"Unknown policy: {policy!r}. Valid policies: {', '.join(sorted(policies()))}",
            "give the path of your own policy as policy_file",
        )
    chosen = str(file(settings, policy_file, "policy_file")) if policy_file else policy
    suppress = [str(file(settings, suppression_file, "suppression_file"))] if suppression_file else []
    return ruling(chosen, suppress)


def allow_rule(word: str) -> AllowRule:
    """The rule of a gate that is called ``word``."""
    rule = next((each for each in ALLOW_RULES if each == word), None)
    if rule is None:
        raise Refusal("INVALID_ARGUMENT", f"allow: no rule is called {brief(word, 40)}", ", ".join(ALLOW_RULES))
    return rule
