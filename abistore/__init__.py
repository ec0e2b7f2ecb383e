"""abistore stores the ABI of every release of a C or C++ shared library, and compares releases.

The names in ``__all__`` are the interface for Python programs: ``docs/reference/python.md`` describes them, and the
command line
calls the same functions. All modules and packages below are private, however they are called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abistore.interface import *  # noqa: F403

try:
    from abistore._version import __version__ as __version__
except ModuleNotFoundError:  # a checkout that was never built
    __version__ = "0.dev0"


def _names() -> dict[str, Any]:
    """What the names of the interface stand for."""
    named = vars(import_module("abistore.interface"))
    return {name: named[name] for name in sorted(named) if not name.startswith("_") and name != "annotations"}


def _named(name: str) -> Any:
    """A name of the interface, which is imported when one of its names is first asked for."""
    if name == "__all__":
        return list(_names())
    if not name.startswith("__") and name in (names := _names()):
        return names[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(("__all__", "__version__", *_names()))


if not TYPE_CHECKING:
    __getattr__ = _named  # a type checker would take any name for one of the interface
