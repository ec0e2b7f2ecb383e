"""Records that a header with exports only declares, as handles, while a header beside it defines them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from abistore.compare.reuse.carrying import Summaries
from abistore.compare.types.mentions import TypeUse
from abistore.model.names import Name
from abistore.model.words.files import is_own_header


class HandleHeaders:
    """Which headers of a C library define handles and nothing that its public headers need.

    Where all headers lie in one folder, a public one is known by the exports that it declares. What it has to include
    is public too: it writes an alias or enumeration down, or holds a record. A pointer to a record needs no more than
    its name, which an alias introduces::

        typedef struct parser_s parser_t;   /* parser.h, with parser_t *parser_new(void) */
        struct parser_s { int depth; };     /* tokens.h, which declares no export */

    Programs that include ``parser.h`` do not see into a parser. A header with types alone may be included by the
    one of the functions, which this does not tell. What has no alias may be declared anywhere: it is a handle where a
    unit calls the functions of ``parser.h`` and knows no definition, since that unit includes all that callers need.
    A function that is known by its definition only may be declared beside the record, and makes that no handle.
    """

    def __init__(
        self, uses: Summaries[TypeUse], files: Mapping[Name, str], exports: Collection[Name], held: Collection[Name]
    ) -> None:
        self._uses = uses
        self._files = files
        self._exports = exports
        self._held = held

    def hide(self, record: Name) -> bool:
        """Whether headers with exports do with the name of ``record``, and one that they do not need defines it."""
        file = self._files.get(record, "")
        return is_own_header(file) and self._is_named(record) and file not in self._public

    def _is_named(self, record: Name) -> bool:
        """Whether a caller does without a definition, or a header with exports gives ``record`` an alias."""
        if record in self._uses and self._uses[record].handle and record not in self._undeclared:
            return True
        return not self._aliases.get(record, set()).isdisjoint(self._declaring)

    @cached_property
    def _aliases(self) -> Mapping[Name, set[str]]:
        """The files of the aliases of each record."""
        found: dict[Name, set[str]] = {}
        for name in self._uses:
            if name.kind == "alias":
                for each in self._uses[name].embeds:
                    found.setdefault(each, set()).add(self._files.get(name, ""))
        return found

    @cached_property
    def _undeclared(self) -> frozenset[Name]:
        """What exports use of which no header is known."""
        unknown = (self._uses[name] for name in self._exports if not is_own_header(self._files.get(name, "")))
        return frozenset(each for use in unknown for each in use.usable)

    @cached_property
    def _declaring(self) -> frozenset[str]:
        """The headers that are known to declare an export."""
        return frozenset(file for name in self._exports if is_own_header(file := self._files.get(name, "")))

    @cached_property
    def _public(self) -> frozenset[str]:
        """The headers that declare exports, or define what programs hold, and all that these include."""
        declared: dict[str, list[Name]] = {}
        for name, file in self._files.items():
            if name in self._uses and is_own_header(file):
                declared.setdefault(file, []).append(name)
        found = set[str]()
        pending = [*((name, False) for name in self._exports), *((name, True) for name in self._held)]
        seen = set(pending)
        while pending:
            name, complete = pending.pop()
            come = set(self._needed(name, complete))
            file = self._files.get(name, "")
            if file in declared and file not in found:
                found.add(file)
                come |= {(each, False) for each in declared[file]}
            pending += come - seen
            seen |= come
        return frozenset(found)

    def _needed(self, name: Name, complete: bool) -> Iterator[tuple[Name, bool]]:
        """What a header that declares ``name`` has to include, and whether with its definition.

        Who only points to an alias, not ``complete``, needs no definition of the record that it stands for.
        """
        use = self._uses[name]
        defining = complete or name.kind != "alias"
        for other in use.usable:
            defined = defining and other in use.by_value
            if other in self._uses and (defined or other.kind != "record"):
                yield other, defined
