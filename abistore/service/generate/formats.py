"""What files :mod:`abistore.service.generate.generating` makes."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

GeneratedFormat: TypeAlias = Literal[
    "debian-symbols", "version-script", "abigail-suppressions", "abicc-skip-symbols", "abicc-skip-types"
]
FORMATS: tuple[GeneratedFormat, ...] = get_args(GeneratedFormat)
