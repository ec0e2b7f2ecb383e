"""Values that are empty, as unset variables of scripts give them: no verb takes one for none."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest

import abistore as interface
from abistore.cli.main import cli
from abistore.errors import UsageError
from abistore.model.labels import Given
from abistore.service.database import locate
from abistore.service.project import ConfigurationFile, HeadersTable
from tests.cli.commands import commands
from tests.cli.conftest import Call

BLANKS = ("", " ", "\t", "\N{NO-BREAK SPACE}", "\N{ZERO WIDTH SPACE}")


def valued() -> Iterator[tuple[tuple[str, ...], click.Parameter]]:
    """Each parameter of each command that takes a value, those of the program itself too."""
    for words, command in (((), cli), *commands()):
        for parameter in command.params:
            if not (isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count)):
                yield words, parameter


def spelled(parameter: click.Parameter, value: str) -> Iterator[list[str]]:
    """The ways to write a value."""
    if isinstance(parameter, click.Argument):
        yield [value]
        return
    for name in parameter.opts:
        yield [f"{name}={value}"] if name.startswith("--") else [name, value]


@pytest.mark.parametrize("blank", BLANKS)
def test_no_parameter_of_any_command_takes_an_empty_value(abistore: Call, blank: str) -> None:
    seen = 0
    for words, parameter in valued():
        for given in spelled(parameter, blank):
            done = abistore(*words, *given, *(("list",) if not words else ()))
            assert (done.code, "is empty" in done.err) == (64, True), (words, given, done)
            seen += 1
    assert seen > 400


def test_an_empty_value_among_others_is_one(abistore: Call, old: Path) -> None:
    for words in (("--tag", "lts", "--tag", ""), ("--suppress", "x.yaml", "--suppress", "")):
        assert abistore("ingest", old, "--version", "1.0", *words).code == 64
    assert abistore("ingest", old, "", "--version", "1.0").code == 64
    assert abistore("list").code == 74


@pytest.mark.parametrize(
    "words",
    [
        ("verdict", "libcase@1.0", "--against", "baseline:"),
        ("verdict", "libcase@baseline:"),
        ("verdict", "libcase@"),
        ("verdict", "libcase@candidate:"),
        ("verdict", "@1.0"),
        ("gate", "FILE", "--version", "1.1", "--suppress", "skip-symbols:"),
        ("gate", "FILE", "--version", "1.1", "--header", "libcase="),
        ("gate", "FILE", "--version", "1.1", "--require", "layout,"),
        ("ingest", "FILE", "--version", "1.1", "--against", "libcase@"),
        ("ingest", "FILE", "--version", "1.1", "--against", "baseline:"),
        ("approve", "add", "0123456789abcdefabcd", "--library", "libcase", "--reason", "x", "--scope", "branch:"),
        ("approve", "add", "0123456789abcdefabcd", "--library", "libcase", "--reason", "x", "--until", "version:"),
        ("blame", "gone", "--library", "libcase", "--since", "baseline:"),
    ],
    ids=" ".join,
)
def test_a_value_that_ends_where_a_variable_was_is_empty(abistore: Call, old: Path, words: tuple[str, ...]) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    done = abistore(*(old if word == "FILE" else word for word in words))
    assert (done.code in {64, 67}, done.out) == (True, "")


def keys() -> Iterator[str]:
    """A file for each key of ``abistore.toml`` that takes a text or several, where it is empty."""
    for table, fields in (("", ConfigurationFile), ("headers", HeadersTable)):
        for field in msgspec.structs.fields(fields):
            if "str" in str(field.type) and field.name not in {"headers", "ingest", "gate"}:
                value = '[""]' if "tuple" in str(field.type) else '""'
                head = f"[{table}]\n" if table else ""
                needed = 'headers = ["include"]\n' if table else ""
                yield f"{head}{needed}{field.name} = {value}\n"
    yield '[ingest]\nagainst = " "\n'
    yield '[ingest]\ntag = [""]\n'


@pytest.mark.parametrize("text", list(keys()))
def test_no_key_of_the_project_s_file_takes_an_empty_value(
    abistore: Call, old: Path, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "abistore.toml"
    path.write_text(text)
    done = abistore("ingest", old, "--version", "1.0", "--config", path)
    assert done.code == 64
    assert "is empty" in done.err or "Invalid enum value" in done.err
    assert abistore("list").code == 74


def test_an_empty_variable_names_no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABISTORE_DB", "")
    with pytest.raises(UsageError, match="ABISTORE_DB is empty"):
        locate()
    with pytest.raises(UsageError, match="is empty"):
        locate("")


def plans() -> Iterator[tuple[type[Given], str]]:
    """Each field of what a caller of the interface may give, of which ``None`` says that it is left out."""
    for plan in Given.__subclasses__():
        names, defaults = plan.__struct_fields__, plan.__struct_defaults__
        for name, default in zip(names[len(names) - len(defaults) :], defaults, strict=True):
            if default is None and plan.__annotations__[name] == "str | None":
                yield plan, name


@pytest.mark.parametrize(("plan", "field"), list(plans()), ids=lambda each: getattr(each, "__name__", each))
def test_no_plan_of_the_interface_takes_an_empty_value(plan: type[Given], field: str) -> None:
    needed = dict.fromkeys(
        plan.__struct_fields__[: len(plan.__struct_fields__) - len(plan.__struct_defaults__)], ("x",)
    )
    with pytest.raises(UsageError, match=f"{field} is empty"):
        plan(**{**needed, field: ""})


def questions() -> Iterator[tuple[str, str]]:
    """The functions of the interface that only read, with each argument that may be left out."""
    for name in interface.__all__:
        function = getattr(interface, name)
        if inspect.isfunction(function) and "database" in inspect.signature(function).parameters:
            for parameter in inspect.signature(function).parameters.values():
                if "str | None" in str(parameter.annotation) and parameter.default is None:
                    yield name, parameter.name


@pytest.mark.parametrize(("name", "argument"), list(questions()))
def test_no_function_of_the_interface_takes_an_empty_value(
    abistore: Call, old: Path, database: Path, name: str, argument: str
) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    function = getattr(interface, name)
    report = interface.compare("libcase@1.0", "libcase@1.0", database=database)
    given = {"by": None, "plan": None, "report": report, "named": "1.0"}
    needed = {
        each.name: given.get(each.name, "libcase@1.0" if "reference" in each.name else "libcase")
        for each in inspect.signature(function).parameters.values()
        if each.default is inspect.Parameter.empty
    }
    with pytest.raises(interface.AbistoreError):
        function(**{**needed, argument: "", "database": database})
