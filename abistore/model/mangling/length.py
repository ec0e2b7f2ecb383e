"""How long a mangled C++ name becomes when it is demangled, told without demangling it.

A name mentions what it has said before by number (``S0_``, ``T_``), so that some hundred letters may stand for
gigabytes. :class:`SymbolReader` reads the name once by its grammar (Itanium C++ ABI, section 5.1) and adds up what each
letter stands for: what a number mentions is a stretch of the name, and as long as what was added up there.
"""

from __future__ import annotations

import re
from typing import Final

from abistore.model.mangling.expressions import SymbolReader
from abistore.model.mangling.letters import MOST_TOLD, EndlessName, UnreadableName

MOST: Final = 1 << 20
"""Names that may become longer are not demangled. What is told is too long by a small factor only."""

MOST_CONVERSIONS: Final = 12
"""Conversions to template parameters: the C++ runtime reads what follows twice, and what is in that twice as often."""

HARD: Final = ("Dp", "sp", "sr")
"""What stands for something several times, and what the runtime of GCC 12 reads for ever where it is ungrammatical."""

_MENTIONS: Final = re.compile(r"(S)[0-9A-Z]*_|T[0-9]*_")
_CONVERSION: Final = re.compile(r"cv[^T]{0,40}T")


def is_short(symbol: str) -> bool:
    """Whether the mangled name ``symbol`` is known to become no longer than about :data:`MOST`.

    It is where even doubling everything with each mention would not make it longer; only other names are read.
    """
    length = len(symbol)
    plain = 20 * length + length * length // 8  # each constructor repeats the name of its class
    mentions = _MENTIONS.findall(symbol)
    within = symbol.count("Z") - 1  # in each function parameters mean something else
    doubled = len(mentions) + within * mentions.count("")
    if doubled < 32 and plain << doubled <= MOST and not any(pair in symbol for pair in HARD):
        return True
    if len(_CONVERSION.findall(symbol)) > MOST_CONVERSIONS:
        return False
    return demangled_length(symbol) <= MOST


def demangled_length(symbol: str) -> int:
    """An upper bound of the length of what ``symbol`` stands for, and of the work to spell it.

    Of what does not follow the grammar, or goes too deep, the bound is beyond all others.
    """
    for nested in (True, False):  # two ways to write a name that depends on a template's parameter
        reader = SymbolReader(symbol, 1, nested=nested)
        try:
            reader.whole()
            if reader.widest > 1:
                reader = SymbolReader(symbol, reader.widest, nested=nested)
                reader.whole()
            return reader.total()
        except EndlessName:
            break
        except (UnreadableName, RecursionError):
            continue
    return MOST_TOLD
