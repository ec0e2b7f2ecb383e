"""Generated decoders: an abbreviation's layout as straight-line Python, one unpacking for each run of fixed forms."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes import leb
from abistore.extract.dwarf.bytes.forms import (
    EMPTY,
    LEB_FORMS,
    MEANINGS,
    SIZES,
    Decoder,
    Skipping,
    Specification,
    UnitFormat,
    fixed_forms,
    skip_function,
    variable_reader,
)

SKIP_LEB = "while b[p]>127:p+=1\n p+=1"
BLOCK_FORMS = frozenset({dw.FORM_BLOCK, dw.FORM_EXPRLOC})


class _Source:
    """The lines of one function ``f(b, p, u)`` under construction: data, position, unit."""

    def __init__(self, specifications: tuple[Specification, ...], format: UnitFormat, kept: frozenset[int]) -> None:
        self.scope: dict[str, Any] = {"uleb": leb.unsigned, "sleb": leb.signed}
        self.lines: list[str] = []
        self.results: list[tuple[int, str]] = []
        self._layout: list[str] = []
        self._run: list[str] = []
        self._size = 0
        self._format = format
        fixed = fixed_forms(format)
        for attribute, form, constant in specifications:
            wanted = attribute in kept
            if form in EMPTY:
                if wanted:
                    self.results.append((attribute, repr(constant)))
            elif form in fixed:
                self._fixed(attribute, form, fixed[form], wanted)
            else:
                self._flush()
                self._variable(attribute, form, wanted)
        self._flush()

    def _result(self, attribute: int, form: int, variable: str) -> None:
        self.results.append((attribute, MEANINGS.get(form, "{v}").format(v=variable)))

    def _fixed(self, attribute: int, form: int, code: str, wanted: bool) -> None:
        self._size += SIZES[code]
        if wanted:
            variable = f"v{len(self.results)}"
            self._layout.append(code)
            self._run.append(variable)
            self._result(attribute, form, variable)
        else:
            self._layout.append(f"{SIZES[code]}x")

    def _flush(self) -> None:
        if self._run:
            name = f"S{len(self.scope)}"
            self.scope[name] = struct.Struct(self._format.prefix + "".join(self._layout)).unpack_from
            self.lines.append(f"{','.join(self._run)},={name}(b,p)")
        if self._size:
            self.lines.append(f"p+={self._size}")
        self._layout, self._run, self._size = [], [], 0

    def _variable(self, attribute: int, form: int, wanted: bool) -> None:
        variable = f"v{len(self.results)}"
        if form in LEB_FORMS:
            self.lines.append(
                f"{variable}=b[p];p+=1\n if {variable}>127:{variable},p=uleb(b,p-1)" if wanted else SKIP_LEB
            )
        elif form == dw.FORM_SDATA:
            self.lines.append(f"{variable},p=sleb(b,p)" if wanted else SKIP_LEB)
        elif form in BLOCK_FORMS:
            self.lines.append("e=b[p];p+=1\n if e>127:e,p=uleb(b,p-1)")
            self.lines.append(f"{variable}=b[p:p+e];p+=e" if wanted else "p+=e")
        else:
            name = f"F{len(self.scope)}"
            self.scope[name] = variable_reader(attribute, form) if wanted else skip_function(form)
            self.lines.append(f"{variable},p={name}(b,p,u)" if wanted else f"p={name}(b,p,u)")
        if wanted:
            self._result(attribute, form, variable)

    def compile(self, result: str) -> Callable[..., Any]:
        """The function whose last line returns ``result``."""
        exec("def f(b,p,u):\n " + "\n ".join([*self.lines, f"return {result}"]), self.scope)
        function: Callable[..., Any] = self.scope["f"]
        return function


def generate_decoder(specifications: tuple[Specification, ...], format: UnitFormat) -> Decoder:
    """A function that does what ``decode`` of a fresh abbreviation does."""
    source = _Source(specifications, format, dw.KEPT)
    return source.compile("p,{" + ",".join(f"{attribute}:{value}" for attribute, value in source.results) + "}")


def generate_skipper(specifications: tuple[Specification, ...], format: UnitFormat, *, leads: bool) -> Skipping:
    """A function that does what ``next`` of a fresh abbreviation does; ``leads``: to the sibling that is recorded."""
    if not leads:
        return _Source(specifications, format, frozenset()).compile("p")
    source = _Source(specifications, format, frozenset({dw.AT_SIBLING}))
    source.lines.insert(0, "s=p")
    source.lines += [f"h={source.results[0][1]}", "e=h-u.base"]
    return source.compile("e if s<e<=u.limit else u.forward(h,s)")
