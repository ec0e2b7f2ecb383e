"""Whether this process may be copied by ``fork``."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def may_fork() -> bool:
    """Whether no other thread runs, also none of a library in C: it may hold locks that nobody opens in the copy."""
    if not hasattr(os, "fork"):
        return False
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1  # proc(5)
    except OSError:
        return threading.active_count() == 1
