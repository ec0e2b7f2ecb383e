"""Write the generated files that are kept: tables that the package reads at each start, and what a wheel installs.

Run ``python docs/generate.py``; a test fails where they are not current. Hatchling alone builds a wheel, so the manual
page and the completions must be there already. Pages are generated when the site is built: ``docs/site.py``.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import msgspec

from abistore.cli.commands.config import completion_script
from abistore.cli.main import cli
from abistore.diffing.context import FILE as SUBSCRIPTIONS
from abistore.diffing.context import load, subscriptions
from abistore.model.hints import SOURCE as HINTS
from abistore.model.hints import TABLE as HINTS_TABLE
from abistore.model.hints import Hint
from abistore.model.kind_names import variant_of
from abistore.report.model import ChangeKind
from abistore.service.kinds import FILE as KINDS
from docs.manual import manual

INSTALLED = Path(__file__).parent / "installed"


def kinds_file() -> str:
    """The kinds as the package carries them, so that telling what is remembered loads no rule."""
    kinds = (
        ChangeKind(
            **{name: getattr(rule, name) for name in ("kind", "evidence", "element", "action", "aliases")},
            **{name: getattr(rule, name) for name in ("title", "why", "fix")},
            impact=rule.impact.label,
            variant=variant_of(rule.kind),
        )
        for _, rule in sorted(load().items())
    )
    return json.dumps([msgspec.structs.asdict(kind) for kind in kinds], indent=1, ensure_ascii=False) + "\n"


def subscriptions_file() -> str:
    """Who looks at each delta, as the package carries it, so that comparing imports the rules that it needs."""
    lines = (f"{json.dumps(delta)}: {msgspec.json.encode(told).decode()}" for delta, told in subscriptions().items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def hints_file() -> str:
    """The hints as the package carries them for itself."""
    hints = msgspec.toml.decode(HINTS.read_bytes(), type=dict[str, Hint], strict=True)
    lines = (f"{json.dumps(effect)}: {msgspec.json.encode(hint).decode()}" for effect, hint in hints.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


WRITTEN = {
    KINDS: kinds_file,
    SUBSCRIPTIONS: subscriptions_file,
    HINTS_TABLE: hints_file,
    INSTALLED / "abistore.1": partial(manual, cli),
    **{INSTALLED / f"abistore.{shell}": partial(completion_script, shell) for shell in ("bash", "zsh", "fish")},
}


if __name__ == "__main__":
    for path, make in WRITTEN.items():
        path.write_text(make())
