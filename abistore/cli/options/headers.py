"""The options that name public headers, and what ``abistore.toml`` says of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from abistore.cli.options.project import project_headers, project_option
from abistore.cli.options.shared import FILE
from abistore.errors import UsageError

if TYPE_CHECKING:
    from abistore.service.snapshots import HeaderOptions

Command = Callable[..., Any]

_NAMES = {
    "header": "headers",
    "private_header": "private",
    "include_dir": "include_dirs",
    "define": "defines",
    "standard": "standard",
    "language": "language",
    "compile_commands": "compile_commands",
    "clang_target": "target",
    "sysroot": "sysroot",
    "clang_arg": "clang_args",
}
"""What each option is in :class:`HeaderOptions`."""

_SIDES = ("old_header", "new_header", "old_include_dir", "new_include_dir")


class GivenHeaderOptions(msgspec.Struct, frozen=True):
    """What the options say. ``sides`` has what is said of one side of a comparison alone."""

    said: dict[str, Any]
    sides: dict[str, Any]

    @classmethod
    def taken(cls, named: dict[str, Any]) -> GivenHeaderOptions:
        """What the options say, taken out of the arguments of a command."""
        said = {field: named.pop(option) for option, field in _NAMES.items()}
        sides = {option: value for option in _SIDES if (value := named.pop(option, ()))}
        return cls({field: value for field, value in said.items() if value}, sides)

    def headers(self, side: str = "") -> HeaderOptions | None:
        """The headers of both sides, or of one alone; ``None`` where the command line names none.

        Raises :class:`UsageError` for options that are about headers without any.
        """
        from abistore.service.snapshots import HeaderOptions

        said = dict(self.said)
        if side:
            said["headers"] = self.sides.get(f"{side}_header", ()) or self._shared(side)
            said["include_dirs"] = (*self.sides.get(f"{side}_include_dir", ()), *said.get("include_dirs", ()))
        return HeaderOptions.given(said.pop("headers", ()), **said)

    def _shared(self, side: str) -> tuple[Path, ...]:
        """The headers of both sides, for one that has include folders of its own."""
        shared: tuple[Path, ...] = self.said.get("headers", ())
        return shared if f"{side}_include_dir" in self.sides else ()

    def configured(self) -> HeaderOptions | None:
        """The headers of the project's file, with what the options say about them."""
        found = project_headers()
        if found is None:
            self._check_named()
            return None
        return msgspec.structs.replace(self._with_said(found), others=tuple(map(self._with_said, found.others)))

    def _with_said(self, headers: HeaderOptions) -> HeaderOptions:
        """The headers of one library, with what the options say about all."""
        more = {
            field: (*getattr(headers, field), *value) if isinstance(value, tuple) else value
            for field, value in self.said.items()
        }
        return msgspec.structs.replace(headers, **more)

    def _check_named(self) -> None:
        if self.said:
            option = next(option for option, field in _NAMES.items() if field in self.said)
            shown = {"standard": "std"}.get(option, option).replace("_", "-")
            raise UsageError(f"--{shown} is about headers, and none are given", "name them with --header")


def header_options(command: Command) -> Command:
    """Add the options; :meth:`GivenHeaderOptions.taken` takes their values."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return project_option(command)


def side_header_options(command: Command) -> Command:
    """Add the options for one side of a comparison. They stand above those for both."""
    for option in reversed(_SIDE_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option(
        "--header",
        multiple=True,
        type=FILE,
        metavar="[LIBRARY=]FILE|FOLDER",
        help="A public header of the library, or the folder of all of them. May be repeated. Of a package with several "
        "libraries, LIBRARY says whose it is.",
    ),
    click.option(
        "--private-header",
        multiple=True,
        metavar="PATTERN",
        help="Headers in the folder that are not public, e.g. detail/* or *_p.h. May be repeated.",
    ),
    click.option(
        "--include-dir",
        multiple=True,
        type=FILE,
        metavar="FOLDER",
        help="A folder with what the headers include. May be repeated.",
    ),
    click.option(
        "--define",
        multiple=True,
        metavar="NAME[=VALUE]",
        help="A macro that consumers of the headers define. May be repeated.",
    ),
    click.option("--std", "standard", metavar="STANDARD", help="The standard of the headers, e.g. c++20 or gnu17."),
    click.option(
        "--language", type=click.Choice(("c", "c++")), help="The language of the headers; by default told from them."
    ),
    click.option(
        "--compile-commands",
        type=FILE,
        metavar="FILE",
        help="Take include folders, macros and the standard from this compile_commands.json.",
    ),
    click.option(
        "--clang-target", metavar="TRIPLE", help="Read the headers for this platform; by default for the library's."
    ),
    click.option("--sysroot", type=FILE, metavar="FOLDER", help="The folder with the system of that platform."),
    click.option(
        "--clang-arg", multiple=True, metavar="ARGUMENT", help="Pass this argument on to clang. May be repeated."
    ),
)

_SIDE_OPTIONS = (
    click.option("--old-header", multiple=True, type=FILE, metavar="FILE|FOLDER", help="Like --header, for OLD alone."),
    click.option("--new-header", multiple=True, type=FILE, metavar="FILE|FOLDER", help="Like --header, for NEW alone."),
    click.option(
        "--old-include-dir", multiple=True, type=FILE, metavar="FOLDER", help="Like --include-dir, for OLD alone."
    ),
    click.option(
        "--new-include-dir", multiple=True, type=FILE, metavar="FOLDER", help="Like --include-dir, for NEW alone."
    ),
)
