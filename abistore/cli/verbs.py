"""How a verb of the command line is declared: one function, whose parameters are its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from types import GenericAlias, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import click
import msgspec

from abistore.arguments import Described, described
from abistore.cli import options
from abistore.cli.main import SuggestingGroup
from abistore.cli.options import FILE, SharedSettings
from abistore.service import PROGRAM

Body = Callable[..., "int | None"]
Gives = str | Mapping[str, str]
"""What ``data`` of an answer is: the place of its type, or the place of the type of each key."""

OWN = "Options"
"""The section of what a verb takes itself; the others are those of its groups of options."""

LAST = "Output and database"
FEW = 10
"""So many options are shown whole: a shorter help would save nothing."""


class Options(msgspec.Struct, frozen=True):
    """Options that verbs take together: each field is one. ``beside`` are such as have no value of their own."""

    title: ClassVar[str] = ""
    beside: ClassVar[tuple[click.Option, ...]] = ()

    def check(self) -> None:
        """Raise :class:`UsageError` for options that contradict each other."""


class Verb(click.Command):
    """A command made from its declaration. ``gives`` names what ``data`` of its answer may be."""

    gives: tuple[Gives, ...]
    sections: dict[str, str]
    usual: frozenset[str]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the verb does: all of it, or the first paragraph and the examples."""
        whole = self.help
        if self._is_short(ctx) and whole is not None:
            first, *others = whole.split("\n\n")
            self.help = "\n\n".join((first, *(each for each in others if each.startswith("\b\nabistore "))))
        super().format_help_text(ctx, formatter)
        self.help = whole

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: all of them in their sections, or those used most."""
        every = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        short = self._is_short(ctx)
        kept = [each for each in every if self._is_usual(each, ctx)] if short else every
        rows: dict[str, list[tuple[str, str]]] = {}
        for each in kept:
            if record := each.get_help_record(ctx):
                rows.setdefault(OWN if short else self.sections.get(each.name or "", LAST), []).append(record)
        for title, records in rows.items():
            with formatter.section(title):
                formatter.write_dl(records)
        if short:
            formatter.write_paragraph()
            formatter.write_text(f"More, with {len(every) - len(kept)} other options: {ctx.command_path} --help-all")

    def _is_short(self, ctx: click.Context) -> bool:
        """Whether the help leaves something to ``--help-all``."""
        return HELP_ALL in self.params and not ctx.meta.get(WHOLE)

    def _is_usual(self, option: click.Option, ctx: click.Context) -> bool:
        return option.name in self.usual or option is self.get_help_option(ctx)


WHOLE = "abistore.whole"
"""Whether ``--help-all`` was asked for, in the context's ``meta``."""


def _show_all(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[WHOLE] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def verb(
    name: str,
    *,
    gives: Gives | tuple[Gives, ...],
    inside: click.Group | None = None,
    store: bool = True,
    bisect: bool = False,
    **settings: Any,
) -> Callable[[Body], Verb]:
    """Make a function a verb: its parameters before ``*`` are arguments, those behind it options.

    An :class:`Options` among them stands for all of its fields. ``gives`` says what ``data`` of its answer is, or what
    it may be, by places of types such as ``service.log:log`` (what that returns). ``store``: it takes ``--db``.
    """

    def declared(body: Body) -> Verb:
        groups, own = _split(body)
        made = [*(_parameter(*each) for each in own)]
        sections = {each.name or "": OWN for each in made}
        main = {each.name or "" for each in made}
        for kind in groups.values():
            for field, hint, default in _fields(kind):
                made.append(_parameter(field, hint, default, False))
                sections[field] = kind.title
                main |= {field} if described(hint).main else set()
        shared = [*([options.BISECT_OPTION] if bisect else []), *([options.STORE_OPTION] if store else [])]
        beside = dict.fromkeys(each for kind in groups.values() for each in kind.beside)
        made += [*beside, *shared, *options.OUTPUT_OPTIONS]
        main |= {"json", "db", "help", "help_all"}
        command = Verb(name, callback=_callback(body, groups), help=cleandoc(body.__doc__ or ""), **settings)
        command.gives, command.sections = gives if isinstance(gives, tuple) else (gives,), sections
        command.params, command.usual = made, frozenset(main)
        if len([each for each in made if isinstance(each, click.Option)]) > FEW:
            made.append(HELP_ALL)
        else:
            command.usual = frozenset({"help", *(each.name or "" for each in made)})
        if inside is not None:
            inside.add_command(command)
        return command

    return declared


def group(name: str, help: str, inside: click.Group | None = None) -> SuggestingGroup:
    """A word with verbs below it."""
    made = SuggestingGroup(name, help=help)
    if inside is not None:
        inside.add_command(made)
    return made


HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show all options, and exit.",
)


def declared(root: click.Group) -> Iterator[tuple[tuple[str, ...], Verb]]:
    """Every verb below a group, with the words that call it."""
    context = click.Context(root)
    for name in root.list_commands(context):
        found = root.get_command(context, name)
        if isinstance(found, click.Group):
            yield from (((name, *words), each) for words, each in declared(found))
        elif isinstance(found, Verb):
            yield (name,), found


def answer_types(command: Verb) -> list[Any]:
    """What ``data`` of a verb's answer may be, from where its declaration says: types, or those of its keys."""
    return [
        _type_at(each) if isinstance(each, str) else {key: _type_at(place) for key, place in each.items()}
        for each in command.gives
    ]


def _type_at(place: str) -> Any:
    """A type (``Class[]``: several), the type of a field (``Class.field``), or what a function returns."""
    if place.endswith("[]"):
        return GenericAlias(tuple, (_type_at(place.removesuffix("[]")), ...))
    module, _, name = place.partition(":")
    owner, _, field = name.partition(".")
    home = import_module(module if module == "builtins" else f"abistore.{module}")
    found = vars(home)[owner]
    if field:
        return get_type_hints(found)[field]
    return found if isinstance(found, type) else eval(found.__annotations__["return"], vars(home))


def _split(body: Body) -> tuple[dict[str, type[Options]], list[tuple[str, Any, Any, bool]]]:
    """The groups of options that a function takes, and its own arguments and options."""
    hints = get_type_hints(body, include_extras=True)
    groups: dict[str, type[Options]] = {}
    own: list[tuple[str, Any, Any, bool]] = []
    for each in list(signature(body).parameters.values())[1:]:
        hint = hints[each.name]
        if isinstance(hint, type) and issubclass(hint, Options):
            groups[each.name] = hint
        else:
            own.append((each.name, hint, each.default, each.kind is not Parameter.KEYWORD_ONLY))
    return groups, own


@cache
def _fields(kind: type[Options]) -> tuple[tuple[str, Any, Any], ...]:
    """The options of a group, which several verbs take, with their annotations and defaults."""
    hints = get_type_hints(kind, include_extras=True)
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    required = (Parameter.empty,) * (len(names) - len(defaults))
    defaulted = (Parameter.empty if each is msgspec.NODEFAULT else each for each in defaults)
    return tuple((name, hints[name], default) for name, default in zip(names, (*required, *defaulted), strict=True))


def _callback(body: Body, groups: Mapping[str, type[Options]]) -> Callable[..., Any]:
    """Call a function with its groups of options put together. Verdicts that it gives say who asked for them."""

    def call(**named: Any) -> Any:
        context = click.get_current_context()
        settings = context.ensure_object(SharedSettings)
        for name, kind in groups.items():
            named[name] = made = kind(**{field: named.pop(field) for field in kind.__struct_fields__})
            made.check()
        token = PROGRAM.set(context.command_path)
        try:
            return body(settings, **named)
        finally:
            PROGRAM.reset(token)

    return call


def _parameter(name: str, hint: Any, default: Any, positional: bool) -> click.Parameter:
    """An argument or an option, by the annotation and the default of a parameter."""
    said = described(hint)
    kind, several = _value(get_args(hint)[0] if get_origin(hint) is Annotated else hint)
    complete = getattr(options, f"{said.complete}_words") if said.complete else None
    common: dict[str, Any] = {
        **({} if kind is bool else {"type": _type(kind, said)}),
        "metavar": said.metavar,
        "shell_complete": complete,
        "callback": _checking(kind, said),
        "envvar": said.variable or None,
        "required": default is Parameter.empty,
    }
    if default is not Parameter.empty and (kind is bool or default not in (None, ())):
        common["default"] = default
    if positional:
        return click.Argument([name], nargs=-1 if several else 1, **common)
    names = said.names or (f"--{name.replace('_', '-')}",)
    inner = () if any(not each.startswith("-") for each in names) or _stem(names) == name else (name,)
    help = f"{said.help}  [default: {said.default}]" if said.default else said.help
    return click.Option([*names, *inner], help=help, **common, **_shape(kind, several, said, default))


def _stem(names: tuple[str, ...]) -> str:
    return next(each for each in names if each.startswith("--")).removeprefix("--").replace("-", "_")


def _shape(kind: Any, several: bool, said: Described, default: Any) -> dict[str, Any]:
    shape: dict[str, Any] = {"multiple": True} if several else {}
    if kind is bool:
        shape["is_flag"] = True
    if said.bare is not None:
        shape |= {"is_flag": False, "flag_value": said.bare}
    shape["show_envvar"] = bool(said.variable)
    shape["show_default"] = kind is not bool and default not in (None, (), "", Parameter.empty)
    return shape


def _value(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in (UnionType, Union):
        hint = next(each for each in get_args(hint) if each is not type(None))
    if get_origin(hint) is tuple:
        return get_args(hint)[0], True
    return hint, False


def _type(kind: Any, said: Described) -> Any:
    """What click parses a value as."""
    if said.raw:
        return click.UNPROCESSED
    if said.choices is not None:
        return click.Choice(said.choices())
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is int and (said.least is not None or said.most is not None):
        return click.IntRange(said.least, said.most)
    if kind is datetime:
        return click.DateTime(("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"))
    return {Path: FILE, bool: None}.get(kind, kind if kind in (int, float) else click.STRING)


def _checking(kind: Any, said: Described) -> Callable[..., Any] | None:
    """What makes the value from what was given: a day without a time zone is one in UTC."""
    if kind is datetime:
        return lambda ctx, parameter, value: value.replace(tzinfo=UTC) if value else None
    if said.check is None:
        return None
    check = said.check
    return lambda ctx, parameter, value: value if value is None or ctx.resilient_parsing else check(value)
