"""Snapshots in SQL: a temporal, content-addressed history."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _UntilUsed(ModuleType):
    """Stands for a module until somebody asks for one of its names, and imports it then."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def _put_off(name: str, **known: object) -> None:
    """Import a module when it is used. Its ``known`` names are there before."""
    if name not in sys.modules:
        sys.modules[name] = stand_in = _UntilUsed(name)
        vars(stand_in).update(known)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(import_module(parent), child, stand_in)


# SQLAlchemy imports both, a third of its time, and uses them only for asynchronous drivers and for plugins
_put_off("asyncio", iscoroutine=inspect.iscoroutine)
_put_off("importlib.metadata")
