"""Which exported functions programs compile for themselves, since the headers that declare them define them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from abistore.compare.consumers.export_table import is_weak
from abistore.compare.consumers.headers.texts import HeaderText
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import entity, plain_template, scope
from abistore.model.mangling.symbols import OF_CLASS, is_local, is_mangled
from abistore.model.names import Name
from abistore.model.snapshot import HeadersRead, Snapshot


class CompiledFunctions:
    """The functions that whoever calls them has compiled; ``texts`` are what the headers say.

    In a DLL programs call the library's all the same, where its class is imported. What a header that is left out
    declares may have no definition there.
    """

    def __init__(self, snapshot: Snapshot, texts: Mapping[Name, HeaderText]) -> None:
        self._symbols = snapshot.entries.get("symbol", {})
        self._texts = texts
        read = snapshot.provenance.headers
        all_read = not (isinstance(read, HeadersRead) and read.set_aside)
        self._known = all_read and snapshot.target.format != "pe"

    def has(self, export: Name, declared: Name | None) -> bool:
        """Whether headers define ``export``, which they have ``declared``, or the template that it is made of."""
        if export.kind != "function" or not self._known:
            return False
        if declared is not None:
            return self._texts[declared].defined
        if not is_mangled(export.spelling) or is_local(export.spelling) or export.spelling.startswith(OF_CLASS):
            return False
        return is_weak(self._symbols.get(export, ())) and self._is_instance(entity(demangle(export.spelling)))

    def _is_instance(self, qualified: str) -> bool:
        """Whether ``qualified`` is an instance of a defined function template, or a member of a class template's."""
        templates = map(_template, (scope(qualified), qualified))
        return any(each in self._templates for each in templates) or self._is_within(qualified)

    def _is_within(self, qualified: str) -> bool:
        """Whether ``qualified`` is a member of a class that stands in an instance: ``Box<int>::Rows::clear``."""
        outer = scope(scope(qualified))
        while "<" in outer:
            found = plain_template(outer)
            if found is not None and found[1] and found[0] in self._around:
                return True
            outer = scope(outer)
        return False

    @cached_property
    def _templates(self) -> frozenset[str]:
        """The defined templates: with all partial specialisations and overloads."""
        told = ((_plain(name, text), text.defined) for name, text in self._texts.items() if text.template)
        return _without_exception(told)

    @cached_property
    def _around(self) -> frozenset[str]:
        """The class templates whose inner classes are defined."""
        records = ((name, text) for name, text in self._texts.items() if text.template and name.kind == "record")
        return _without_exception((_plain(name, text), text.defined_within) for name, text in records)


def _template(qualified: str) -> str:
    """The template of which ``qualified`` is an instance, if it is one. A pack may be empty: ``log<>``."""
    if qualified.endswith("<>"):
        return qualified.removesuffix("<>")
    found = plain_template(qualified)
    return found[0] if found is not None else ""


def _plain(name: Name, text: HeaderText) -> str:
    """What a template is called, without the arguments of a partial specialisation."""
    return re.sub(r"<.*", "", text.template) if name.kind == "record" else text.template


def _without_exception(told: Iterable[tuple[str, bool]]) -> frozenset[str]:
    """The names of which the same is told each time."""
    found: dict[str, bool] = {}
    for name, holds in told:
        found[name] = found.get(name, True) and holds
    return frozenset(name for name, holds in found.items() if holds)
