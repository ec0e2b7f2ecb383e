"""Ways round a gate by names: files called like releases, options given twice, channels, a release beside itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Call

pytestmark = pytest.mark.full


@pytest.fixture
def based(abistore: Call, old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """A store whose one release is the baseline, in a folder of its own."""
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    monkeypatch.chdir(tmp_path)
    return abistore


def test_a_file_called_like_the_baseline_does_not_take_its_place(based: Call, new: Path) -> None:
    assert based("compare", "libcase@baseline", new).code == 4
    Path("libcase@baseline").write_bytes(new.read_bytes())
    done = based("compare", "libcase@baseline", new)
    assert (done.code, "could be a stored release or a file in this folder" in done.err) == (64, True)
    assert "./libcase@baseline" in done.err
    assert based("compare", "./libcase@baseline", new).code == 0
    for words in (("show",), ("show", "--exports")):
        assert based(*words, "libcase@1.0").code == 0


def test_a_file_called_like_a_digest_is_the_file(based: Call, new: Path) -> None:
    Path("abcdef12").write_bytes(new.read_bytes())
    assert based("compare", "libcase@baseline", "abcdef12").code == 4


@pytest.mark.parametrize(
    "words",
    [
        ("ingest", "{}", "--version", "2.0", "--against", "baseline", "--against", "1.0"),
        ("gate", "{}", "--version", "2.0", "--channel", "release", "--channel=main"),
        ("gate", "{}", "--version", "2.0", "--fail-on", "risk", "--fail-on", "never"),
        ("db", "baseline", "set", "libcase@1.0", "--channel", "a", "--channel", "b"),
        ("--db", "a.db", "--db", "b.db", "list"),
        ("--db", "a.db", "list", "--db", "b.db"),
        ("db", "stats", "--db=a.db", "--db", "b.db"),
        ("--color", "always", "--color", "never", "list"),
        ("--color", "always", "list", "--color", "never"),
    ],
)
def test_an_option_that_takes_one_value_is_refused_with_two(based: Call, new: Path, words: tuple[str, ...]) -> None:
    """The last one counted, and nothing said that the first did not."""
    done = based(*(word.replace("{}", str(new)) for word in words))
    assert (done.code, "is given twice" in done.err) == (64, True)


def test_options_that_take_several_values_and_flags_may_be_repeated(based: Call, new: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.yaml"
    known.write_text("suppressions: []\n")
    words = ("--suppress", known, "--suppress", known, "--json", "--json")
    assert based("gate", new, "--version", "2.0", *words).code == 4
    assert based("-v", "list", "-v", "-v").code == based("-q", "-q", "list", "-q").code == 0


def test_an_option_wins_over_the_environment(based: Call, tmp_path: Path) -> None:
    """The one is said for this call, the other for all."""
    assert "libcase" in based("list").out
    assert "libcase" not in based("--db", tmp_path / "empty.db", "list").out


@pytest.mark.parametrize("words", [("-q", "-v", "list"), ("-v", "list", "-q"), ("list", "-v", "-q"), ("-qv", "list")])
def test_saying_less_and_more_is_refused(based: Call, words: tuple[str, ...]) -> None:
    done = based(*words)
    assert (done.code, "-q and -v exclude each other" in done.err) == (64, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('fail_on = "never"\nfail_on = "risk"\n', ":2: fail_on is given twice"),
        ("[ingest]\nkeep_failed = true\nkeep_failed = false\n", ":3: keep_failed is given twice"),
        ("[ingest]\nkeep_failed = true\n\n[ingest]\n", ":4: [ingest] is given twice"),
        ('ingest = {against = "prev"}\n[ingest]\n', ":2: [ingest] is given twice"),
    ],
)
def test_what_a_project_says_twice_is_refused(based: Call, new: Path, text: str, said: str) -> None:
    Path("abistore.toml").write_text(text)
    done = based("gate", new, "--version", "2.0")
    assert (done.code, f"abistore.toml{said}" in done.err) == (64, True)


@pytest.mark.parametrize("channel", ["--force", "-", " release", ""])
def test_a_channel_is_not_called_like_an_option(based: Call, channel: str) -> None:
    done = based("db", "baseline", "set", "libcase@1.0", "--channel", channel)
    assert done.code == 64


def test_a_release_that_is_judged_against_itself_says_so(based: Call, new: Path) -> None:
    assert based("ingest", new, "--version", "2.0").code == 0
    done = based("ingest", new, "--version", "2.0", "--against", "2.0")
    assert (done.code, "2.0 is its own baseline" in done.out) == (0, True)
    assert "is its own baseline" not in based("ingest", new, "--version", "2.0", "--against", "1.0").out


@pytest.mark.usefixtures("either_database")
def test_a_baseline_that_was_cleared_is_not_taken_for_the_first(based: Call, new: Path) -> None:
    """A channel that never had one is new, whatever stands in others."""
    first = ("--against", "baseline:main", "--set-baseline-if-none=main")
    assert based("db", "baseline", "clear", "libcase").code == 0
    done = based("ingest", new, "--version", "2.0", "--against", "baseline", "--set-baseline-if-none")
    assert (done.code, "release was set to 1.0" in done.err) == (67, True)
    assert [each["version"] for each in based("list", "libcase", "--json").json["releases"]] == ["1.0"]
    assert based("ingest", new, "--version", "2.0", *first).code == 0


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_output_changes_no_exit_code(old: Path, new: Path, database: Path, closed: str) -> None:
    """It ended with an internal error."""
    environment = {**os.environ, "ABISTORE_DB": str(database)}

    null = subprocess.DEVNULL

    def code(*words: str | Path) -> int:
        command = [sys.executable, "-m", "abistore", *map(str, words)]
        shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *command]
        return subprocess.run(shell, env=environment, timeout=60, stdout=null, stderr=null).returncode

    assert code("ingest", old, "--version", "1.0", "--set-baseline") == 0
    assert code("gate", old, "--version", "1.1") == 0
    assert code("gate", new, "--version", "1.1") == 4
    assert code("gate", new, "--version", "1.1", "--channel", "other") == 67
    assert code("db", "check") == 0


@pytest.mark.parametrize("optimised", ["1", "2"])
def test_no_gate_rests_on_what_python_leaves_out(
    based: Call, process: Call, new: Path, old: Path, optimised: str
) -> None:
    """Assertions go with PYTHONOPTIMIZE."""
    for library, code in ((new, 4), (old, 0)):
        assert process("gate", library, "--version", "2.0", PYTHONOPTIMIZE=optimised).code == code


@pytest.mark.parametrize("words", [("-o", "/dev/full"), ("--gitlab", "/dev/full"), ("--show-only", "added")])
def test_what_is_shown_of_a_verdict_lets_nothing_pass(based: Call, new: Path, words: tuple[str, ...]) -> None:
    assert based("gate", new, "--version", "2.0", *words).code in (4, 73)


SETTINGS = [
    ('channel = "mine"', ("--bootstrap",), 67),
    ('library = "libother"', ("--bootstrap",), 67),
    ('symbols_only = true\nrequire = "none"', (), 4),
    ("[gate]\nintroduced_only = true", (), 4),
    ('allow = "scheme"', (), 4),
    ('[headers]\nheaders = ["."]\nprivate = ["*"]', (), 65),
]


@pytest.mark.parametrize(("text", "words", "code"), SETTINGS)
def test_settings_of_a_project_let_no_break_pass_unsaid(
    based: Call, new: Path, text: str, words: tuple[str, ...], code: int
) -> None:
    Path("abistore.toml").write_text(text)
    Path("api.h").write_text("int gone(void);\n")
    assert based("gate", new, "--version", "1.1", *words).code == code


def test_the_hint_for_a_channel_that_is_not_set_sets_that_one(based: Call, new: Path) -> None:
    done = based("ingest", new, "--version", "2.0", "--against", "baseline:nightly")
    assert (done.code, "baseline set libcase@VERSION --channel nightly" in done.err) == (67, True)


def test_a_verdict_of_a_release_against_itself_says_so(based: Call) -> None:
    """`verdict --against baseline` of the release the baseline stands is no check of it."""
    said = "1.0 is its own baseline: nothing else was compared"
    assert said in " ".join(based("verdict", "libcase@1.0", "--against", "baseline").out.split())
