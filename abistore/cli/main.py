"""The entry point: finds the command, and turns every outcome into an exit code."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import NoReturn

import click

from abistore import __version__
from abistore.cli.groups import SuggestingGroup
from abistore.cli.options.shared import BISECT, SharedSettings, output_options, store_option
from abistore.errors import AbistoreError, OutputError, UsageError

INTERRUPTED = 130
BAD, SKIP = 1, 125
"""What ``git bisect run`` takes for a bad revision, and for one that cannot be tested."""

VERDICTS = frozenset({2, 4})
"""The exit codes of breaks."""

BROKEN_PIPE = 141
PLAIN = {
    **{"→": "->", "…": "...", "⋮": ":", "·": "-", "◐": "(!)", **dict.fromkeys("🔴🟠🟣🟢🟡⚪", "*")},
    **dict(zip("▁▂▃▄▅▆▇█▏▎▍▌▋▊▉", "_.:-=+*#  .:-=+", strict=True)),
}
"""The characters of reports that are not ASCII, and what stands for them."""

NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO})
COMPLETION = "_ABISTORE_COMPLETE"
"""What the completion scripts of ``abistore completion`` set when they ask for words."""

COMMANDS: dict[str, tuple[str, str]] = {
    "approvals": ("said.approvals", "List and withdraw accepted breaks, and keep them in a reviewed file."),
    "approve": ("said.approvals", "Accept a break, so that gates let it through and say why."),
    "baseline": ("baseline", "Set and list the releases that others are judged against."),
    "blame": ("asking.since", "Show since when each break of the latest release stands."),
    "changes": ("changes", "List the kinds of change that are detected."),
    "compare": ("compare", "Compare two snapshots and judge the difference."),
    "compatible-range": ("asking.matrix", "Show the releases that a program can run on."),
    "completion": ("setup.completion", "Print the completion script of a shell."),
    "config": ("setup.config", "Show what a project's abistore.toml settles."),
    "consumers": ("asking.consumers", "Store what programs use of libraries, and ask whom a release breaks."),
    "db": ("db", "Create, upgrade, check and back up the database."),
    "deprecations": ("asking.deprecations", "List what is deprecated, when it may go, and what went too early."),
    "dump": ("dump", "Write the snapshot of a library as JSON, without a database."),
    "explain": ("changes", "Explain a kind of change or a finding: what happens, why, how to fix it."),
    "export": ("transfer", "Write a stored snapshot as JSON."),
    "evaluate": ("asking.ledger", "Judge all history by another policy, and show which verdicts move."),
    "exports": ("asking.inventory", "List the exports of a release, with since when they are there."),
    "first-broken": ("asking.since", "Show the first release that breaks a symbol, a type or a finding."),
    "gate": ("gating.gate", "Say whether a build may be merged and released."),
    "generate": ("asking.generate", "Write a file for another tool: Debian symbols, a version script, skip lists."),
    "history": ("history", "Show the releases of a library, with their verdicts."),
    "import": ("transfer", "Store JSON snapshots."),
    "ingest": ("ingest", "Store the snapshots of libraries, and judge them against a baseline."),
    "last-good": ("asking.since", "Show the last release before something broke."),
    "ledger": ("asking.ledger", "Show the verdict about a release against every baseline."),
    "lines": ("asking.ledger", "Show all targets and profiles of a release, with one verdict."),
    "list": ("show", "List what is stored."),
    "log": ("history", "Show every release in which a symbol or type appeared, changed or vanished."),
    "matrix": ("asking.matrix", "Show which release can replace which."),
    "mcp": ("mcp", "Serve agents by MCP, and help to set that up."),
    "policy": ("policy", "Show and check policies, which give findings another impact."),
    "prune": ("keeping.pruning", "Remove builds that are no releases; releases stay."),
    "provides": ("asking.inventory", "List the libraries that export a symbol."),
    "release": ("said.release", "Correct the day, revision or CI job of a stored release, and tag it."),
    "review": ("said.release", "Say what people think of findings. No verdict depends on it."),
    "show": ("show", "Show a snapshot, or one of its declarations as C or C++."),
    "site": ("site", "Write the history as static HTML pages."),
    "statement": ("asking.statement", "State whether a release may ship, and what that rests on."),
    "suppress": ("suppress", "Suggest, check and list suppressions."),
    "types": ("asking.inventory", "List the types of a release, with since when they are there."),
    "verify": ("db", "Verify every row and digest of the database, and report damage."),
    "verdict": ("verdict", "Show the verdict about a stored release."),
    "whatif": ("verdict", "Judge an edit of headers before it is built."),
    "who-uses": ("asking.inventory", "List the exports that use a type."),
}
"""Every command: its module in :mod:`abistore.cli.commands`, imported when it runs, and its line in the overview."""

SECTIONS: dict[str, tuple[str, ...]] = {
    "Store releases": ("ingest", "import", "export", "release", "baseline", "prune", "verify"),
    "Judge": (
        *("compare", "gate", "verdict", "history", "ledger", "statement"),
        *("lines", "evaluate", "matrix", "compatible-range", "whatif"),
    ),
    "Since when, until when": ("blame", "deprecations", "first-broken", "last-good", "log"),
    "Whom it hurts": ("consumers",),
    "Look into releases": ("site", "list", "show", "exports", "types", "who-uses", "provides", "dump", "generate"),
    "Rules and reviews": ("changes", "explain", "policy", "suppress", "approve", "approvals", "review"),
    "Set up": ("config", "db", "mcp", "completion"),
}
"""The overview's sections; what is in none of them comes last."""


class LazyGroup(SuggestingGroup):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or ``None`` where there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"abistore.cli.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = vars(module)[f"{cmd_name.replace('-', '_')}_command"]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview without importing the commands."""
        placed = {name for names in SECTIONS.values() for name in names}
        rest = tuple(name for name in self.list_commands(ctx) if name not in placed)
        for title, names in (*SECTIONS.items(), ("More", rest)):
            if names:
                with formatter.section(title):
                    formatter.write_dl([(name, COMMANDS[name][1]) for name in names])


def print_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Answer ``--version``."""
    if value and not ctx.resilient_parsing:
        as_json = ctx.ensure_object(SharedSettings).json
        click.echo(f'{{"status":"ok","version":"{__version__}"}}' if as_json else f"abistore {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Show the version and exit.",
)
@store_option
@output_options
def cli() -> None:
    """Remember the ABI of every release of a C or C++ shared library, and answer from that memory.

    Start with `ingest`, which stores a release, `history`, which shows verdicts, or `compare`,
    which judges two files without a database.

    A REFERENCE is a stored release (libfoo@1.2.0, libfoo@latest, libfoo@prev, libfoo@baseline,
    libfoo@baseline:CHANNEL) or the first six or more digits of a snapshot's digest. An OPERAND
    is a reference, or a library, package, JSON snapshot or dump on disk.

    Exit codes: 0, 2 and 4 are verdicts (compatible, source break, binary break); 64 and above are failures.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Errors are printed, never raised."""
    code = answered(arguments)
    return _as_git_reads(code) if BISECT in _before_rest(arguments) else code


def _as_git_reads(code: int) -> int:
    """An exit code for ``git bisect run``, to which all below 128 but 0 and 125 are bad. An interrupt ends it."""
    return code if code in {0, INTERRUPTED} else BAD if code in VERDICTS else SKIP


def answered(arguments: Sequence[str]) -> int:
    """Run one command line and return its own exit code."""
    as_json = wants_json(arguments)
    try:
        result = call(arguments)
        sys.stdout.flush()
    except click.exceptions.Exit as outcome:
        return outcome.exit_code
    except AbistoreError as error:
        return fail(error, as_json)
    except click.exceptions.NoArgsIsHelpError as error:
        return fail(UsageError("no command given", "see `abistore --help`"), True) if as_json else show_help(error)
    except click.ClickException as error:
        return fail(usage_error(error), as_json)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return BROKEN_PIPE
    except OSError as error:
        if error.errno not in NO_ROOM or error.filename is not None:
            return internal(error, arguments)
        discard_output()
        return fail(OutputError(f"the answer cannot be written: {error.strerror}"), as_json=False)
    except Exception as error:
        return INTERRUPTED if _is_interrupt(error) else internal(error, arguments)
    return result if isinstance(result, int) else 0


def _is_interrupt(error: BaseException) -> bool:
    """Whether an interrupt is behind ``error``: Python wraps one that comes while a class is made.

    Before 3.12, what ``__set_name__`` raises comes as the cause of a ``RuntimeError``.
    """
    cause = error.__cause__
    return isinstance(cause, KeyboardInterrupt) or (cause is not None and _is_interrupt(cause))


def call(arguments: Sequence[str]) -> object:
    """Parse and run one command line.

    ``cli.main`` would exit by itself, with 1 when the reader of our output has closed it.
    """
    settings = SharedSettings(json=wants_json(arguments))
    with cli.make_context("abistore", list(arguments), obj=settings) as context:
        return cli.invoke(context)


def main() -> NoReturn:
    """The ``abistore`` command."""
    _open_what_is_closed()
    codecs.register_error("abistore", in_plain_letters)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="abistore")  # a character that the terminal lacks is no failure
    if COMPLETION in os.environ:
        cli.main(prog_name="abistore")
    code = run(sys.argv[1:])
    if debugging(sys.argv[1:]):
        sys.exit(code)  # the usual way, for profilers
    sys.stderr.flush()
    os._exit(code)  # all is written and closed; freeing the interpreter's memory costs 0.05 s


def _open_what_is_closed() -> None:
    """Let an output that whoever starts us has closed lead nowhere: no other file is to get its number.

    Whoever wants no answer wants the exit code.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8"))  # noqa: SIM115, PTH123


def in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """What replaces characters that an encoding lacks; ``\\xff`` for a byte of a file name that is no text."""
    assert isinstance(error, UnicodeEncodeError)
    letters = error.object[error.start : error.end]
    return "".join(PLAIN.get(letter) or _escaped(letter) for letter in letters), error.end


def _escaped(letter: str) -> str:
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:  # how Python keeps such a byte (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    return letter.encode("ascii", "backslashreplace").decode()


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the arguments ask for JSON. The answer is needed even where they do not parse."""
    words = _before_rest(arguments)
    pairs = pairwise(words)
    return "--json" in words or "--format=json" in words or ("--format", "json") in pairs


def _before_rest(arguments: Sequence[str]) -> Sequence[str]:
    """The words among which options stand: those before ``--``."""
    words = list(arguments)
    return words[: words.index("--")] if "--" in words else words


def usage_error(error: click.ClickException) -> AbistoreError:
    """A click exception as one of ours."""
    context = getattr(error, "ctx", None)
    hint = f"see `{context.command_path} --help`" if context is not None else "see `abistore --help`"
    return UsageError(" ".join(error.format_message().split()), hint)


def show_help(error: click.exceptions.NoArgsIsHelpError) -> int:
    """Answer a group without a command with its help."""
    click.echo(error.format_message(), err=True)
    return UsageError.exit_code


def fail(error: AbistoreError, as_json: bool) -> int:
    """Print an expected error, in two lines or as one JSON object."""
    if as_json:
        from abistore.cli.output import error_document, write_json

        write_json(error_document(error))
    else:
        from abistore.cli.output import say_error

        say_error(error.message, error.hint)
    return error.exit_code


def debugging(arguments: Sequence[str]) -> bool:
    """Whether the traceback of a bug is wanted."""
    return bool(os.environ.get("ABISTORE_DEBUG")) or "-vv" in arguments


def internal(error: Exception, arguments: Sequence[str]) -> int:
    """Print a bug: one line, and the traceback where it was asked for."""
    if debugging(arguments):
        import traceback

        from abistore.urls import masked

        sys.stderr.write(masked("".join(traceback.format_exception(error))))
    what = f"internal error: {type(error).__name__}: {error}"
    hint = "this is a defect of abistore; run again with ABISTORE_DEBUG=1 for the traceback, and report it"
    return fail(AbistoreError(what, hint), wants_json(arguments))


def discard_output() -> None:
    """Send the last flush nowhere: the reader has closed our output, or the disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
