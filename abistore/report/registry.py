"""The report formats: every module in ``abistore/report/formats/`` is one."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import UsageError
from abistore.model.words.characters import visible
from abistore.report import formats as package

if TYPE_CHECKING:
    from abistore.report.model import Report
    from abistore.report.style import Style


class ReportFormat(msgspec.Struct, frozen=True):
    """What a module of ``formats/`` defines as ``FORMAT``.

    ``suffix`` is that of file names: ``-o abi.html`` means HTML. ``has_modes`` says that ``--mode`` applies. ``escape``
    is the last step; it makes control characters and commands of CI runners harmless. A format that ``is_complete`` has
    long texts whole; others cut them.
    """

    render: Callable[[Report, Style], str]
    suffix: str = ""
    has_modes: bool = False
    escape: Callable[[str], str] = visible
    is_complete: bool = False


def formats() -> tuple[str, ...]:
    """The names of all formats, sorted. No format is imported."""
    return tuple(sorted(module.name for module in iter_modules(package.__path__)))


def format_named(name: str) -> ReportFormat:
    """The format of this name. Raises :class:`UsageError`."""
    if name not in formats():
        raise UsageError(f"no report format is called {name}", f"one of: {', '.join(formats())}")
    found: ReportFormat = import_module(f"{package.__name__}.{name}").FORMAT
    return found


def formats_with_modes() -> tuple[str, ...]:
    """The formats to which ``--mode`` applies."""
    return tuple(name for name in formats() if format_named(name).has_modes)


def format_of_file(suffix: str) -> str:
    """The format of files that end in ``suffix``; text if there is none."""
    named = (name for name in formats() if suffix and format_named(name).suffix == suffix)
    return next(named, "text")
