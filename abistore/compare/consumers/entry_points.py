"""Functions that no header of the library declares, since their callers look them up by name."""

from __future__ import annotations

import re

from abistore.model.names import Name
from abistore.model.snapshot import Snapshot

PLUGINS = r"lib(pi_|ur_adapter_|ur_loader)\w*"
"""Libraries that the DPC++ runtime opens for each backend: plugin interface (pi), later unified runtime (ur)."""

ENTRY_POINT = r"(pi|ur)(?=[A-Z])\w+"


def is_entry_point(name: Name, snapshot: Snapshot) -> bool:
    """Whether ``name`` is a function of the plugin interface, exported by a plugin."""
    return (
        name.kind == "function"
        and re.fullmatch(PLUGINS, snapshot.library) is not None
        and re.fullmatch(ENTRY_POINT, name.spelling) is not None
    )
