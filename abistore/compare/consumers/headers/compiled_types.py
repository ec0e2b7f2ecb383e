"""Which types the code of public headers has compiled in: inline bodies, templates, default arguments, macros."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

from abistore.compare.consumers.headers.texts import HeaderText
from abistore.model.names import EXPORTS, Name
from abistore.model.references import embedded
from abistore.model.snapshot import Variants
from abistore.model.words.wildcards import ANY, matcher


class CompiledTypes:
    """The types of which code in headers has objects, or uses members; each with the declaration whose code that is.

    ``source`` are the declarations of headers, ``texts`` what is said of them.
    """

    def __init__(self, source: Mapping[Name, Variants], texts: Mapping[Name, HeaderText]) -> None:
        self._source = source
        self._texts = texts

    def __contains__(self, type: object) -> bool:
        return type in self._users

    def users(self, type: Name) -> Sequence[Name]:
        """The public declarations whose code has the layout of ``type``, sorted."""
        return sorted(self._users.get(type, ()))

    def callers(self, export: Name) -> Sequence[Name]:
        """The public declarations whose code uses ``export``, sorted."""
        return sorted(self._callers.get(export.spelling, ()))

    @cached_property
    def _callers(self) -> Mapping[str, set[Name]]:
        found: dict[str, set[Name]] = {}
        for name in self._source:
            for call in self._texts[name].calls:
                found.setdefault(call, set()).add(name)
        return found

    def called_beside(self, type: Name) -> Sequence[Name]:
        """The functions that code with the layout of ``type`` calls, and whose parameters no given header tells."""
        calls = {call for user in self.users(type) for call in self._texts[user].calls}
        names = (Name(kind, call) for call in calls for kind in EXPORTS)
        return sorted(name for name in names if name not in self._source)

    def may_use(self, name: str, members: Collection[str]) -> bool:
        """Whether macros may be written that use an export of this name, or one of these members of a class."""
        return self._is_pasted(name) or not self._members.isdisjoint(members)

    @cached_property
    def _is_pasted(self) -> Callable[[str], bool]:
        return matcher(call for name in self._source for call in self._texts[name].calls if ANY in call)

    @cached_property
    def _members(self) -> frozenset[str]:
        """The members that macros name of classes which no header defines."""
        fields = (field for name in self._source for field in self._texts[name].fields)
        return frozenset(field.removeprefix("::") for field in fields if field.startswith("::"))

    @cached_property
    def _users(self) -> Mapping[Name, set[Name]]:
        found: dict[Name, set[Name]] = {}
        for name in self._source:
            text = self._texts[name]
            owners = (each.rpartition("::")[0] for each in text.fields)
            pending = [*text.objects, *(Name("record", owner) for owner in owners if owner)]
            seen = set[Name]()
            while pending:
                each = pending.pop()
                if each not in seen:
                    seen.add(each)
                    found.setdefault(each, set()).add(name)
                    pending += (part for shape in self._source.get(each, ()) for part in embedded(shape))
        return found
