"""Which judging gave a verdict: stored verdicts are valid as long as this number stays."""

from __future__ import annotations

from typing import Final

ENGINE: Final = 155
"""Raised whenever the same two releases may give other findings than before."""

CORPUS: Final = "6b7be50cf88fa320"
"""The digest of what all cases of the rules find. :mod:`tests.test_engine` fails where they find something else."""
