"""Template names in normal form, cached by argument: most names repeat the same arguments."""

from __future__ import annotations

from abistore.model.cpp_names.normal import normal_name
from abistore.model.cpp_names.qualified import plain_template


class TemplateNames:
    """Gives what :func:`normal_name` gives for names as debug information spells them, and remembers their parts."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._arguments: dict[str, str] = {}

    def normal(self, name: str) -> str:
        """The normal form of an unqualified or qualified name."""
        found = self._names.get(name)
        if found is None:
            parts = split(name) if name[-1:] == ">" else None
            found = normal_name(name) if parts is None else self._join(*parts)
            self._names[name] = self._names[found] = found
        return found

    def _join(self, head: str, arguments: list[str]) -> str:
        return f"{head}<{', '.join([self._argument(argument) for argument in arguments])}>"

    def _argument(self, text: str) -> str:
        found = self._arguments.get(text)
        if found is None:
            parts = split(text) if text[-1:] == ">" else None
            # An argument that is no plain template is read in its place, not as a name: it may be a type or a value.
            found = normal_name(f"T<{text}>")[2:-1] if parts is None else self._join(*parts)
            self._arguments[text] = found
        return found


def split(text: str) -> tuple[str, list[str]] | None:
    """The name and the arguments of a plain template whose own name is in normal form."""
    found = plain_template(text)
    return found if found is not None and _is_plain(found[0]) else None


def _is_plain(head: str) -> bool:
    return head.replace("::", "").isidentifier() and normal_name(head) == head
