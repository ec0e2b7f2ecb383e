"""The library name in a SONAME: the name that all its releases share."""

from __future__ import annotations

import re

from abistore.patterns import pattern

BUNDLED = pattern(r"^([^.]+)-[0-9a-f]{8}(?=\.)")
"""The mark of a copy in a Python wheel: eight digits of a hash before the first dot, ``libz-00ec42fe.so.1``."""


def library_name(soname: str) -> str:
    """``libz`` of ``libz.so.1``, of ``libz-00ec42fe.so.1.3`` and of ``libz-1.3.so``.

    A version before ``.so`` belongs to the name if another version follows: ``libglib-2.0`` of ``libglib-2.0.so.0``.
    """
    parts = re.fullmatch(r"(.+?)\.so(\..*)?", BUNDLED.sub(r"\1", soname))
    if parts is None:
        return soname
    return parts[1] if parts[2] else re.sub(r"(?<=.)-\d+(\.\d+)+$", "", parts[1])
