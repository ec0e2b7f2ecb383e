"""``db release`` and ``db baseline``: facts about stored releases, and baselines."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from abistore.arguments import Actor, Channel, Described, LibraryName, OptionalLibrary, Reason, ReleaseName
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, table
from abistore.cli.reading_options import FactOptions, LineOptions
from abistore.cli.verbs import group, verb

if TYPE_CHECKING:
    from abistore.model.history import Amendment, BaselineMove

release_group = group("release", "Correct the day, revision or CI job of a stored release, and tag it.")


@verb("edit", inside=release_group, gives={"amendment": "service.administration:release_edit"})
def edit_command(
    settings: SharedSettings,
    reference: ReleaseName,
    *,
    clear: Annotated[
        tuple[Literal["released", "revision", "url"], ...], Described("Clear this fact. May be repeated.")
    ] = (),
    reason: Reason = "",
    actor: Actor = "",
    said: FactOptions,
    line: LineOptions,
) -> None:
    """Correct what is recorded about the stored release REFERENCE (libfoo@1.2.0).

    Day, source revision and CI job can be corrected. The snapshot stays as it is; the audit keeps the former values.
    """
    from abistore.model.history import ReleaseFacts
    from abistore.service.administration import EditPlan, release_edit

    facts = ReleaseFacts(said.released, said.revision, said.url)
    plan = EditPlan(facts, clear, reason, actor, line.target, line.profile)
    done = release_edit(reference, plan, database=settings.database)
    answer(settings, {"amendment": done}, lambda: "\n".join(_lines(done)))


@verb("tag", inside=release_group, gives={"tagged": "service.administration:release_tag"})
def tag_command(
    settings: SharedSettings,
    reference: ReleaseName,
    tag: str,
    *,
    note: Annotated[str, Described("What to know about it.")] = "",
    remove: Annotated[bool, Described("Take the tag away.")] = False,
    actor: Actor = "",
    line: LineOptions,
) -> None:
    """Put the word TAG, such as lts, on the stored release REFERENCE (libfoo@1.2.0).

    Four words mean something: no release is compared with the one before it where that is `withdrawn` or `yanked`, but
    with the one before that; and what breaks of a release that is tagged so, or `eol` or `unsupported`, counts in no
    ledger and no statement. Gates ask their baseline's channel, whatever its release is tagged. A tag that is there
    stays as it is, with its note.

    \b
    abistore db release tag libfoo@1.2.0 withdrawn --note "lost data"
    """
    from abistore.service.administration import TagPlan, release_tag

    plan = TagPlan(note, remove, actor, target=line.target, profile=line.profile)
    done = release_tag(reference, tag, plan, database=settings.database)
    tags = ", ".join(one.name for one in done.release.tags) or "no tags"
    said = "" if done.changed else ", as before"
    answer(settings, {"tagged": done}, lambda: f"{done.release.line.library} {done.release.version}: {tags}{said}")


def _lines(done: Amendment) -> list[str]:
    release = done.release
    changes = [
        f"  {fact}: {_shown(getattr(release, fact))} (was {_shown(getattr(done.before, fact))})"
        for fact in done.changed
    ]
    return [
        f"{release.line.library} {release.version}: {'metadata mended' if changes else 'nothing changed'}",
        *changes,
    ]


def _shown(value: datetime | str | None) -> str:
    return f"{value:%Y-%m-%d}" if isinstance(value, datetime) else value or "-"


BASELINE_HEADS = ("library", "target", "profile", "channel", "version", "digest", "moved", "by", "reason")

baseline_group = group("baseline", "Set and list the releases that others are judged against.")


@verb("set", inside=baseline_group, gives={"baselines": "service.administration:set_release_baseline"})
def baseline_set_command(
    settings: SharedSettings,
    reference: ReleaseName,
    *,
    channel: Channel = "release",
    expect: Annotated[
        str | None,
        Described("Move it only if it is there; `none`: only if it is not set.", metavar="VERSION"),
    ] = None,
    all_lines: Annotated[
        bool,
        Described(
            "Move it in all targets and profiles of this version, and in the libraries of its package: all or none."
        ),
    ] = False,
    reason: Reason = "",
    actor: Actor = "",
    line: LineOptions,
) -> None:
    """Point a baseline at the stored release REFERENCE (libfoo@1.2.0)."""
    from abistore.service.administration import BaselinePlan, set_baseline, set_release_baseline

    move = BaselinePlan(channel, reason, actor, line.target, line.profile, expect=expect)
    if all_lines:
        moved = set_release_baseline(reference, move, database=settings.database)
    else:
        moved = (set_baseline(reference, move, database=settings.database),)
    _answer_moved(settings, moved)


@verb("clear", inside=baseline_group, gives={"baselines": "service.administration:clear_baseline"})
def baseline_clear_command(
    settings: SharedSettings,
    library: LibraryName,
    *,
    channel: Channel = "release",
    reason: Reason = "",
    actor: Actor = "",
    line: LineOptions,
) -> None:
    """Clear a baseline of LIBRARY: nothing is judged against it until it is set again."""
    from abistore.service.administration import BaselinePlan, clear_baseline

    move = BaselinePlan(channel, reason, actor, line.target, line.profile)
    _answer_moved(settings, clear_baseline(library, move, database=settings.database))


def _answer_moved(settings: SharedSettings, moved: tuple[BaselineMove, ...]) -> None:
    answer(
        settings,
        {"baselines": moved},
        lambda: "\n".join(f"{one.line}: baseline {one.channel} is {one.version or 'cleared'}" for one in moved),
    )


@verb("promote", inside=baseline_group, gives={"baselines": "service.administration:set_release_baseline"})
def promote_command(
    settings: SharedSettings,
    library: LibraryName,
    source: Annotated[str, Described(metavar="FROM", complete="channel")],
    channel: Annotated[str, Described(metavar="TO", complete="channel")],
    *,
    reason: Annotated[str, Described("Why, for the history.")],
    expect: Annotated[
        str | None, Described("Only if TO is there; `none`: only if it is not set.", metavar="VERSION")
    ] = None,
    actor: Actor = "",
    line: LineOptions,
) -> None:
    """Move the channel TO of LIBRARY to the release of the channel FROM.

    abistore db baseline promote libfoo candidate release --reason "the tests passed" --expect 1.2.0
    """
    from abistore.service.administration import BaselinePlan, set_baseline

    move = BaselinePlan(channel, reason, actor, line.target, line.profile, expect=expect)
    moved = set_baseline(f"{library}@baseline:{source}", move, database=settings.database)
    answer(
        settings,
        {"baselines": (moved,)},
        lambda: f"{moved.line}: baseline {moved.channel} is {moved.version}, as {source} is",
    )


@verb("list", inside=baseline_group, gives={"baselines": "service.administration:baselines"})
def baseline_list_command(settings: SharedSettings, library: OptionalLibrary = None) -> None:
    """List the baselines of one LIBRARY, or of all, with the release each points at."""
    from abistore.service.administration import baselines

    _show(settings, baselines(library, database=settings.database), "no baselines are set")


@verb("history", inside=baseline_group, gives={"baselines": "service.administration:baseline_history"})
def history_command(
    settings: SharedSettings,
    library: LibraryName,
    *,
    channel: Annotated[str | None, Described("Only this baseline.", complete="channel")] = None,
) -> None:
    """List every move of a LIBRARY's baselines: when, by whom, why."""
    from abistore.service.administration import baseline_history

    moves = baseline_history(library, channel=channel, database=settings.database)
    _show(settings, moves, "no baseline of this library was ever set")


def _show(settings: SharedSettings, moves: tuple[BaselineMove, ...], nothing: str) -> None:
    rows = [
        (
            move.line.library,
            move.line.target,
            move.line.profile,
            move.channel,
            move.version or "(cleared)",
            (move.digest or "")[:12],
            f"{move.moved:%Y-%m-%d %H:%M}",
            move.actor,
            move.reason,
        )
        for move in moves
    ]
    answer(settings, {"baselines": moves}, lambda: table(BASELINE_HEADS, rows) if rows else nothing)
