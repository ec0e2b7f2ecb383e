"""Two comparisons in every format and mode, byte for byte; ``--update-cases`` rewrites the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore import __version__
from abistore.report import plain, render
from abistore.report.model import MODES, Mode, Style, formats, formats_with_modes
from tests.report.golden import REPORTS

GOLDEN = Path(__file__).parents[1] / "golden"
FORMATS: list[tuple[str, Mode]] = [(format, "full") for format in formats()]
FORMATS += [(format, mode) for format in formats_with_modes() for mode in MODES if mode != "full"]
RENDERINGS = [(name, format, mode) for name in REPORTS for format, mode in FORMATS]


def file_name(name: str, format: str, mode: Mode) -> str:
    return f"{name}{format}.txt" if mode == "full" else f"{name}{format}-{mode}.txt"


@pytest.mark.parametrize(("name", "format", "mode"), RENDERINGS)
def test_a_format_renders_the_comparison_as_before(
    name: str, format: str, mode: Mode, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "_documentation", lambda: "https://abistore.test/docs/")
    text = render(REPORTS[name](), format, Style(mode=mode)).replace(f'"{__version__}"', '"VERSION"') + "\n"
    path = GOLDEN / file_name(name, format, mode)
    if request.config.getoption("--update-cases"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_golden_file_belongs_to_a_rendering() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {file_name(*each) for each in RENDERINGS}
