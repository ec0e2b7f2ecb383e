"""How many inputs a test draws or damages: the nightly tier takes more of the same."""

from __future__ import annotations

import os

TIMES = int(os.environ.get("ABISTORE_TEST_DRAWS", "1"))
"""How many times as many as usual."""


def draws(usual: int) -> int:
    return usual * TIMES
