"""Flags win over the environment, which wins over the defaults; no bound can be switched off."""

from __future__ import annotations

import pytest

from abistore.cli.main import run
from abistore.errors import UsageError
from abistore.mcp.settings import BOUNDS, Settings, variable


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("value", [0, -1])
def test_a_bound_is_positive(name: str, value: int) -> None:
    with pytest.raises(UsageError, match=f"--{name.replace('_', '-')} {value}: is not positive"):
        Settings(**{name: value})


def test_a_flag_wins_over_the_environment_and_that_over_the_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable("timeout"), "-5")
    assert run(["mcp", "serve", "--check"]) == UsageError.exit_code
    assert "--timeout -5.0: is not positive" in capsys.readouterr().err
    assert run(["mcp", "serve", "--check", "--timeout", "-7"]) == UsageError.exit_code
    assert "--timeout -7.0" in capsys.readouterr().err
    monkeypatch.delenv(variable("timeout"))
    monkeypatch.setenv("ABISTORE_DB", "/nowhere/abi.db")
    assert run(["mcp", "serve", "--check"]) == 74
    assert "no such database" in capsys.readouterr().err
