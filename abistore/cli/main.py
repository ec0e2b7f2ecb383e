"""The entry point: finds the command, and turns every outcome into an exit code."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NoReturn

import click

from abistore import __version__
from abistore.cli.options import BISECT, OUTPUT_OPTIONS, STORE_OPTION, SharedSettings
from abistore.errors import AbistoreError, OutputError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

OTHER_WORDS: Final = {
    "add": "ingest",
    "diff": "compare",
    "dump": "export FILE",
    "exports": "show LIBRARY --exports",
    "extract": "export FILE",
    "ls": "list",
    "remove": "db forget",
    "statement": "verdict LIBRARY@VERSION --statement",
    "store": "ingest",
    "suppressions": "policy suppress",
    "types": "show LIBRARY --types",
    "withdraw": "db release tag LIBRARY@VERSION withdrawn",
    "yank": "db release tag LIBRARY@VERSION withdrawn",
}
"""What people call a command that has another name."""

WORDS: Final = "abistore.words"
"""What stands behind a command's name, in the context's ``meta``."""

GIVEN: Final = "abistore.given"
"""The options with one value that a command line has so far, in the context's ``meta``."""


class SuggestingGroup(click.Group):
    """A group that answers a name that it has not with those nearest to it, and with the place where one stands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options before a command's name. Raises :class:`UsageError` for one given twice, or empty."""
        if ctx.parent is None and not ctx.resilient_parsing:
            _check_given(ctx, self, args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names. Raises :class:`UsageError` with what was likely meant as the hint."""
        word, known = args[0], self.list_commands(ctx)
        if word not in known and not word.startswith("-") and not ctx.resilient_parsing:
            from abistore.model.words import did_you_mean, near

            meant = [f"`{each}`" for each in _elsewhere(ctx.find_root(), word)] or near(word, known)
            raise UsageError(f"no command named {word}", did_you_mean(meant, f"see `{ctx.command_path} --help`"))
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            ctx.meta[WORDS] = tuple(rest)
            settings = ctx.ensure_object(SharedSettings)
            settings.words = (*settings.words, command.name or "")
            own = click.Context(command, ctx, command.name, **command.context_settings)
            if not isinstance(command, DefaultGroup):  # its words are those of a command below it
                _check_given(own, command, rest)
        return name, command, rest


class DefaultGroup(SuggestingGroup):
    """A group that takes what names no command of it for the arguments of one: ``approve FINDING``."""

    def __init__(self, name: str, *, default: str, help: str) -> None:
        super().__init__(name, help=help)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the default command before arguments that begin with none."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands, and what the first argument of the default command may be."""
        first = next(each for each in self.commands[self.default].params if isinstance(each, click.Argument))
        return [*super().shell_complete(ctx, incomplete), *first.shell_complete(ctx, incomplete)]


def _check_given(ctx: click.Context, command: click.Command, words: Sequence[str]) -> None:
    """Raise :class:`UsageError` where an option that takes one value has two, and where any value is empty.

    Of two only the last would count, unsaid, whether it stands before the command's name or behind it. An empty one
    would be taken for none.
    """
    values, _, given = command.make_parser(ctx).parse_args(list(words))
    for each in given:
        if each.name is not None and isinstance(values.get(each.name), str | list | tuple):
            from abistore.model.labels import check_not_blank  # the overview gives no values

            shown = each.opts[0] if isinstance(each, click.Option) else each.human_readable_name
            check_not_blank(shown, values.get(each.name))
    seen: set[str] = ctx.meta.setdefault(GIVEN, set())
    for each in given:
        if isinstance(each, click.Option) and not (each.multiple or each.is_flag or each.count):
            if each.opts[0] in seen:
                raise UsageError(f"{each.opts[0]} is given twice", "remove one of them")
            seen.add(each.opts[0])


def _elsewhere(root: click.Context, word: str) -> Iterator[str]:
    """Commands that may be meant: those of this name in other groups, and what other tools call by it."""
    program = root.command_path
    if word in OTHER_WORDS:
        yield f"{program} {OTHER_WORDS[word]}"
    yield from (f"{program} {' '.join(words)}" for words in _named(root, root.command, word))


def _named(root: click.Context, command: click.Command, word: str) -> Iterator[tuple[str, ...]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(root):
            if name == word:
                yield (name,)
            inner = command.get_command(root, name)
            if inner is not None:
                yield from ((name, *rest) for rest in _named(root, inner, word))


INTERRUPTED = 130
BAD, SKIP = 1, 125
"""What ``git bisect run`` takes for a bad revision, and for one that cannot be tested."""

VERDICTS = frozenset({2, 4})
"""The exit codes of breaks."""

BROKEN_PIPE = 141
PLAIN = {
    **{"→": "->", "…": "...", "⋮": ":", "·": "-", **dict.fromkeys("🔴🟠🟣🟢🟡⚪", "*")},
    **dict(zip("▁▂▃▄▅▆▇█▏▎▍▌▋▊▉", "_.:-=+*#  .:-=+", strict=True)),
}
"""The characters of reports that are not ASCII, and what stands for them."""

NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO})
COMPLETION = "_ABISTORE_COMPLETE"
"""What the completion scripts of ``abistore config completion`` set when they ask for words."""

COMMANDS: dict[str, tuple[str, str]] = {
    "archive": ("archive", "Store whole archives: thousands of files, by many processes or machines."),
    "approve": ("approvals", "Approve a break, so that gates pass and show the reason; list and withdraw approvals."),
    "blame": ("history", "Show since when a library or a declaration breaks programs, and the last good release."),
    "changes": ("policy", "List the kinds of change that are detected."),
    "comment": ("notify", "Write, update or remove the one comment of a pipeline on a pull request."),
    "compare": ("compare", "Compare two snapshots and judge the difference."),
    "config": ("config", "Show what a project's abistore.toml says; schemas; completion for shells."),
    "consumers": ("consumers", "Store the imports of programs, and find the ones that a release breaks."),
    "db": ("db", "Create, check, merge and clean the database; baselines and facts of releases."),
    "env": ("environments", "Record what production, a suite or a product has, and ask what may ship there."),
    "explain": ("policy", "Explain a kind of change or a finding: what happens, why, how to fix it."),
    "export": ("ingest", "Write a snapshot as JSON, or a file for another tool, such as Debian symbols."),
    "gate": ("gate", "Say whether a build may be merged and released."),
    "history": ("history", "Show the releases of a library, with their verdicts."),
    "import": ("ingest", "Store JSON snapshots."),
    "ingest": ("ingest", "Store the snapshots of libraries, and judge them against a baseline."),
    "init": ("init", "Write a project's abistore.toml, and show the next commands; --demo needs no project."),
    "list": ("inventory", "List what is stored, and which libraries export a symbol."),
    "log": ("history", "Show every release in which a symbol or type was added, changed or removed."),
    "matrix": ("ledger", "Show which release can replace which, and where a program can run."),
    "mcp": ("mcp", "Serve agents by MCP, and set up clients."),
    "notify": ("notify", "Show what happened since a cursor, or call a command for each event."),
    "policy": ("policy", "Show and check policies and suppressions; bind libraries to rules."),
    "show": ("inventory", "Show a snapshot, its exports and types, or a declaration as C or C++."),
    "site": ("ingest", "Write the history as static HTML pages."),
    "verdict": ("compare", "Show the verdict about a stored release: one, all baselines, or a statement."),
    "witness": ("witness", "Show each break by a program that an old user could have written."),
    "whatif": ("compare", "Judge an edit of headers before it is built."),
}
"""Every command: its module in :mod:`abistore.cli.commands`, imported when it runs, and its line in the overview."""

SECTIONS: dict[str, tuple[str, ...]] = {
    "Store": ("ingest", "archive", "import", "export"),
    "Judge": ("compare", "gate", "verdict", "history", "log", "blame", "matrix"),
    "Look": ("show", "list", "consumers", "env"),
    "Decide": ("whatif", "witness", "approve", "policy", "explain", "changes"),
    "Set up": ("init", "site", "notify", "comment", "db", "mcp", "config"),
}
"""The overview's sections."""


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
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in names])


def print_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Answer ``--version``."""
    if value and not ctx.resilient_parsing:
        settings = ctx.ensure_object(SharedSettings)
        settings.words = ("version",)
        if settings.json:
            from abistore.cli.output import answer

            answer(settings, {"version": __version__}, str)
        else:
            click.echo(f"abistore {__version__}")
        ctx.exit()


VERSION_OPTION = click.Option(
    ["-V", "--version"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Show the version and exit.",
)

cli = LazyGroup(
    "abistore",
    params=[VERSION_OPTION, STORE_OPTION, *OUTPUT_OPTIONS],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="""Store the ABI of every release of a C or C++ shared library, and compare releases.

    Start with `init` in a project, or `init --demo` anywhere; `ingest` stores a release, `history`
    shows verdicts, and `compare` judges two files without a database.

    A REFERENCE is a stored release (libfoo@1.2.0, libfoo@latest, libfoo@prev, libfoo@baseline,
    libfoo@baseline:CHANNEL) or the first six or more digits of a snapshot's digest. An OPERAND
    is a reference, or a library, package, JSON snapshot or dump on disk.

    Exit codes: 0, 2 and 4 are verdicts (compatible, source break, binary break); 64 and above are failures.
    """,
)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Errors are printed, never raised."""
    settings = SharedSettings(json=wants_json(arguments), bisect=BISECT in _before_rest(arguments))
    return _shown_code(settings, answered(arguments, settings))


def _shown_code(settings: SharedSettings, code: int) -> int:
    """The exit code of the process: with ``--bisect`` what `git bisect run` reads.

    To that all below 128 but 0 and 125 are bad. An interrupt ends it.
    """
    if not settings.bisect:
        return code
    return code if code in {0, INTERRUPTED} else BAD if code in VERDICTS else SKIP


def answered(arguments: Sequence[str], settings: SharedSettings) -> int:
    """Run one command line, write its answer, and return its own exit code."""
    try:
        return _delivered(settings, _called(arguments, settings))
    except AbistoreError as error:  # the answer is too large, or its file cannot be written
        return _delivered(settings, fail(error, settings))
    except (click.exceptions.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return BROKEN_PIPE
    except OSError as error:
        if error.errno not in NO_ROOM or error.filename is not None:
            return internal(error, arguments, settings)
        discard_output()
        settings.json = False
        return fail(OutputError(f"the answer cannot be written: {error.strerror}"), settings)
    except Exception as error:
        return INTERRUPTED if _is_interrupt(error) else internal(error, arguments, settings)


def _called(arguments: Sequence[str], settings: SharedSettings) -> int:
    """Run one command line; the exit code is that of its verb, or of the command line that is none."""
    try:
        result = call(arguments, settings)
    except click.exceptions.Exit as outcome:
        return outcome.exit_code
    except AbistoreError as error:
        return fail(error, settings)
    except click.exceptions.NoArgsIsHelpError as error:
        missing = UsageError("no command given", "see `abistore --help`")
        return fail(missing, settings) if settings.json else show_help(error)
    except click.ClickException as error:
        return fail(usage_error(error), settings)
    return result if isinstance(result, int) else 0


def _delivered(settings: SharedSettings, code: int) -> int:
    if settings.answer is not None:
        from abistore.cli.output import deliver

        deliver(settings, _shown_code(settings, code))
    sys.stdout.flush()
    return code


def _is_interrupt(error: BaseException) -> bool:
    """Whether an interrupt is behind ``error``: Python wraps one that comes while a class is made.

    Before 3.12, what ``__set_name__`` raises comes as the cause of a ``RuntimeError``.
    """
    cause = error.__cause__
    return isinstance(cause, KeyboardInterrupt) or (cause is not None and _is_interrupt(cause))


def call(arguments: Sequence[str], settings: SharedSettings) -> object:
    """Parse and run one command line.

    ``cli.main`` would exit by itself, with 1 when the reader of our output has closed it.
    """
    words = [*arguments[1:], "--help"] if arguments[:1] == ["help"] else list(arguments)
    with cli.make_context("abistore", words, obj=settings) as context:
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
    if isinstance(error, click.NoSuchOption) and context is not None:
        return UsageError(f"No such option '{error.option_name}'.", _option_hint(error.option_name, context))
    hint = f"see `{context.command_path} --help`" if context is not None else "see `abistore --help`"
    return UsageError(" ".join(error.format_message().split()), hint)


def _option_hint(option: str, context: click.Context) -> str:
    """The option of this command that was likely meant, else the commands that have the one that was said."""
    from abistore.model.words import did_you_mean, near

    known = [name for each in context.command.get_params(context) for name in each.opts if name.startswith("--")]
    see = f"see `{context.command_path} --help`"
    if meant := near(option, known):
        return did_you_mean(meant, see)
    root = context.find_root()
    commands = ((name, cli.get_command(root, name)) for name in COMMANDS)
    having = [f"`abistore {name} {option}`" for name, each in commands if each and _has(each, option)]
    return did_you_mean(having, see)


def _has(command: click.Command, option: str) -> bool:
    return any(option in each.opts for each in command.params)


def show_help(error: click.exceptions.NoArgsIsHelpError) -> int:
    """Answer a group without a command with its help."""
    click.echo(error.format_message(), err=True)
    return UsageError.exit_code


def fail(error: AbistoreError, settings: SharedSettings) -> int:
    """Say an expected error, in two lines or as the answer, and return its exit code."""
    from abistore.cli import output

    output.fail(settings, error)
    return error.exit_code


def debugging(arguments: Sequence[str]) -> bool:
    """Whether the traceback of a bug is wanted."""
    return bool(os.environ.get("ABISTORE_DEBUG")) or "-vv" in arguments


def internal(error: Exception, arguments: Sequence[str], settings: SharedSettings) -> int:
    """Print a bug: one line, and the traceback where it was asked for."""
    if debugging(arguments):
        import traceback

        from abistore.urls import masked

        sys.stderr.write(masked("".join(traceback.format_exception(error))))
    what = f"internal error: {type(error).__name__}: {error}"
    hint = "this is a defect of abistore; run again with ABISTORE_DEBUG=1 for the traceback, and report it"
    return _delivered(settings, fail(AbistoreError(what, hint), settings))


def discard_output() -> None:
    """Send the last flush nowhere: the reader has closed our output, or the disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
