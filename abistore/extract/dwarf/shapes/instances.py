"""Names of template instances, completed with the arguments that the compiler left out of them.

Clang leaves the arguments out (``-gsimple-template-names``) or spells enumerators by name, and GCC does not number
closures: the entries of arguments and enumerations tell what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.walk import Die, parts, tagged
from abistore.extract.dwarf.names.closures import ordinal_of
from abistore.extract.dwarf.names.templates import split
from abistore.extract.dwarf.shapes.enumerators import EnumeratorSpellings
from abistore.extract.dwarf.shapes.records import TEMPLATE_PARAMETERS, fit
from abistore.extract.dwarf.shapes.types import MAX_DEPTH, SORTS, TRANSPARENT, TypeReferences
from abistore.model.cpp_names.declarators import spell
from abistore.model.cpp_names.normal import normal_name
from abistore.model.cpp_names.qualified import CLOSURE, number_closure
from abistore.model.shapes import Named, Primitive, TypeRef

if TYPE_CHECKING:
    from abistore.extract.dwarf.entries.info import DebugInfo
    from abistore.extract.dwarf.names.spellings import Spellings

FORMAL_PARAMETERS: Final = frozenset({dw.TAG_FORMAL_PARAMETER})
NAMED_TAGS: Final = frozenset(SORTS)
LOOKED_THROUGH: Final = TRANSPARENT | {
    dw.TAG_POINTER_TYPE,
    dw.TAG_REFERENCE_TYPE,
    dw.TAG_RVALUE_REFERENCE_TYPE,
    dw.TAG_ARRAY_TYPE,
}


class CanonicalTypes(TypeReferences):
    """Types as template arguments spell them: through aliases, and without entering what they mention."""

    def __init__(self, info: DebugInfo, spellings: Spellings) -> None:
        super().__init__(info, TemplateInstances, runtime=False)
        self.spellings = spellings

    def define(self, spelling: str, handle: int, die: Die) -> TypeRef:
        """The mention of the record or enum ``spelling``."""
        return self.references.named("enum" if die[1].tag == dw.TAG_ENUMERATION_TYPE else "record", spelling)

    def _alias(self, handle: int, die: Die) -> TypeRef:
        return self.anonymous.named_by(handle, die[3]) or self.of(die[3])


class TemplateInstances:
    """Completes the names of classes and functions by their template arguments, each once.

    A name that needs nothing is remembered as text: other units repeat it.
    """

    def __init__(self, info: DebugInfo, spellings: Spellings) -> None:
        self._info = info
        self._spellings = spellings
        self._types = CanonicalTypes(info, spellings)
        self._known: dict[int, str] = {}
        self._settled: dict[str, str] = {}
        self._enumerators = EnumeratorSpellings(self._types)

    def name(self, handle: int, name: str, *, by_clang: bool) -> str:
        """The unqualified normal name of the entry ``handle`` that is spelled ``name``, with all its arguments."""
        found = self._settled.get(name) or self._known.get(handle)
        if found is None:
            plain = self._spellings.normal(name)
            self._known[handle] = plain  # a class among its own arguments ends here
            found = self._known[handle] = self._completed(handle, plain, by_clang)
            if found == plain and "<" in plain and CLOSURE not in plain:
                self._settled[name] = plain
        return found

    def _completed(self, handle: int, name: str, by_clang: bool) -> str:
        if CLOSURE in name:
            return self._with_closures(name, self._info.die(handle))
        if not by_clang:
            return name
        if "<" not in name:
            return self._from_arguments(name, self._info.die(handle))
        return normal_name(name, self._enumerators.value) if self._enumerators.within(name) else name

    # --- closures -------------------------------------------------------------------------------------------------

    def _with_closures(self, name: str, die: Die) -> str:
        """``name`` with the numbers of the closures in its arguments; unchanged where its entries do not match."""
        written = split(name)
        if written is None:
            return name
        head, arguments = written
        entries = list(self._arguments(die))
        if len(entries) != len(arguments):
            return name
        return f"{head}<{', '.join(map(self._argument, arguments, entries))}>"

    def _argument(self, text: str, entry: Die) -> str:
        is_type = entry[1].tag == dw.TAG_TEMPLATE_TYPE_PARAMETER
        return self._type_argument(text, entry[3]) if is_type and CLOSURE in text else text

    def _type_argument(self, text: str, attributes: Attributes) -> str:
        """``text`` with the complete names of all classes that the type mentions."""
        position = 0
        mentioned = list(self._mentioned(attributes))
        for handle in mentioned:
            entry = self._info.attributes(handle)
            plain, full = self._plain(handle, entry), self._spellings.of(handle, entry)
            if full is None or plain is None:
                ordinal = ordinal_of(self._info, handle) if len(mentioned) == 1 else None
                return text if ordinal is None else number_closure(text, ordinal)
            at = text.find(plain, position)
            if at >= 0:
                text = f"{text[:at]}{full}{text[at + len(plain) :]}"
                position = at + len(full)
        return text

    def _mentioned(self, attributes: Attributes, depth: int = 0) -> Iterator[int]:
        """The records and enums that an entry's type is made of, in the order in which it is spelled."""
        handle: int = attributes.get(dw.AT_TYPE, -1)
        if handle < 0 or depth > MAX_DEPTH:
            return
        die = self._info.die(handle)
        tag, inner = die[1].tag, die[3]
        if tag in NAMED_TAGS:
            signature: int = inner.get(dw.AT_SIGNATURE, handle)
            if signature >= 0:
                yield signature
        elif tag in LOOKED_THROUGH:
            yield from self._mentioned(inner, depth + 1)
        elif tag == dw.TAG_SUBROUTINE_TYPE:
            yield from self._mentioned(inner, depth + 1)
            yield from self._of_parameters(die, depth)
        elif tag == dw.TAG_PTR_TO_MEMBER_TYPE:
            owner = {dw.AT_TYPE: inner.get(dw.AT_CONTAINING_TYPE, -1)}
            target = self._info.die(inner[dw.AT_TYPE]) if inner.get(dw.AT_TYPE, -1) >= 0 else die
            function = target[1].tag == dw.TAG_SUBROUTINE_TYPE
            yield from self._mentioned(target[3] if function else inner, depth + 1)
            yield from self._mentioned(owner, depth + 1)
            if function:
                yield from self._of_parameters(target, depth)

    def _of_parameters(self, function: Die, depth: int) -> Iterator[int]:
        for _, _, part in parts(function, FORMAL_PARAMETERS):
            if dw.AT_ARTIFICIAL not in part:
                yield from self._mentioned(part, depth + 1)

    def _plain(self, handle: int, attributes: Attributes) -> str | None:
        """The qualified name of a class as names that mention it spell it; ``None`` where it has no name."""
        name = attributes.get(dw.AT_NAME)
        if name is None:
            return None
        found: str = self._spellings.normal(name)
        scope = self._info.scope(handle)
        if scope and isinstance(scope[-1], int):
            outer = self._plain(scope[-1], self._info.attributes(scope[-1]))
            return None if outer is None else f"{outer}::{found}"
        return f"{self._spellings.spell(scope)}::{found}" if scope else found

    # --- names without arguments ----------------------------------------------------------------------------------

    def _from_arguments(self, name: str, die: Die) -> str:
        """``name`` with the arguments that its entry has; unchanged where it has none or one has no spelling."""
        if not self._is_simplified(name, die):
            return name
        arguments = [self._spelled(entry) for entry in self._arguments(die)]
        if None in arguments:
            return name
        return self._spellings.normal(f"{name}<{', '.join(map(str, arguments))}>")

    def _is_simplified(self, name: str, die: Die) -> bool:
        """Whether an entry with a plain name is a template's instance: Clang puts a class's arguments first."""
        unit, abbreviation, position, attributes = die
        if not abbreviation.has_children:
            return False
        if abbreviation.tag in dw.RECORD_TAGS:
            return unit.at(position)[0].tag in TEMPLATE_PARAMETERS
        return abbreviation.tag == dw.TAG_SUBPROGRAM and f"{name}I" in attributes.get(dw.AT_LINKAGE_NAME, "")

    def _spelled(self, entry: Die) -> str | None:
        """A template argument in normal form; ``None`` where its entry does not tell it."""
        attributes = entry[3]
        match entry[1].tag:
            case dw.TAG_TEMPLATE_TYPE_PARAMETER:
                return spell(self._types.of(attributes))
            case dw.TAG_TEMPLATE_VALUE_PARAMETER:
                return self._value(entry)
        name = attributes.get(dw.AT_GNU_TEMPLATE_NAME)
        return None if name is None else normal_name(name)

    # --- arguments ------------------------------------------------------------------------------------------------

    def _arguments(self, die: Die) -> Iterator[Die]:
        """The entries of the template arguments, those in packs one by one."""
        unit, abbreviation, position, _ = die
        if abbreviation.has_children:
            for _, child, after in tagged(unit, position, TEMPLATE_PARAMETERS):
                end, attributes = child.decode(unit.data, after, unit)
                entry = unit, child, end, attributes
                if child.tag == dw.TAG_GNU_TEMPLATE_PARAMETER_PACK:
                    yield from self._arguments(entry)
                else:
                    yield entry

    def _value(self, entry: Die) -> str | None:
        """An integer or enumerator; ``None`` for any other value."""
        unit, _, _, attributes = entry
        value: Any = attributes.get(dw.AT_CONST_VALUE)
        of = self._types.of(attributes)
        if isinstance(value, bytes):
            value = int.from_bytes(value, unit.order)
        if type(value) is not int or not isinstance(of, Named | Primitive):
            return None
        value = fit(value, 8 * self._types.byte_size(attributes), self._types.is_signed(attributes))
        return normal_name(f"T<({spell(of)}){value}>")[2:-1]
