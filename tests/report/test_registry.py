"""The registry of formats: every module in ``formats/`` is a format, and nothing else is."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from abistore.errors import UsageError
from abistore.report import formats as package
from abistore.report.model import ReportFormat, format_named, format_of_file, formats, formats_with_modes

FOLDER = Path(package.__file__).parent


def test_the_formats_are_the_modules_of_their_folder() -> None:
    assert formats() == tuple(sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"))
    assert not [path for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"]


@pytest.mark.parametrize("name", formats())
def test_a_module_of_the_folder_defines_a_format(name: str) -> None:
    assert isinstance(import_module(f"{package.__name__}.{name}").FORMAT, ReportFormat)


def test_a_file_name_asks_for_one_format() -> None:
    suffixes = [format_named(name).suffix for name in formats() if format_named(name).suffix]
    assert len(suffixes) == len(set(suffixes))
    assert {suffix: format_of_file(suffix) for suffix in (".html", ".md", ".xml", ".log", "")} == {
        ".html": "html",
        ".md": "markdown",
        ".xml": "junit",
        ".log": "text",
        "": "text",
    }


def test_modes_are_for_people() -> None:
    assert formats_with_modes() == ("markdown", "text")


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no report format is called pdf") as refused:
        format_named("pdf")
    assert "html" in refused.value.hint
