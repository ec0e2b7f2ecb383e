"""The export tables of both sides."""

from __future__ import annotations

from abistore.compare.consumers.consumers import Owner
from abistore.compare.context import Context
from abistore.model.names import EXPORTS


class ExportTables:
    """Both export tables by spelling, and the spellings that only one side has."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.old = context.old.exports.names
        self.new = context.new.exports.names
        names = (name for name in context.differing["symbol"] if name.kind in EXPORTS)
        self.differing = sorted({name.spelling for name in names})

    @property
    def removed(self) -> list[str]:
        """What only the old side exports, sorted."""
        return [each for each in self.differing if each in self.old and each not in self.new]

    @property
    def added(self) -> list[str]:
        """What only the new side exports, sorted."""
        return [each for each in self.differing if each in self.new and each not in self.old]

    def lost(self, spelling: str) -> Owner:
        """Whose an export is that only the old side has."""
        context = self.context
        return context.old.consumers.owner(self.old[spelling], context.new.exporting, gone=True)

    def gained(self, spelling: str) -> Owner:
        """Whose an export is that only the new side has."""
        context = self.context
        return context.new.consumers.owner(self.new[spelling], context.old.exporting, gone=False)
