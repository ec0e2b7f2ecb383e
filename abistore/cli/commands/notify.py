"""``notify`` and ``comment``: what happened since a cursor, and the comment of a pipeline."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from abistore.arguments import Described
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, note
from abistore.cli.verbs import verb
from abistore.errors import UsageError
from abistore.model.words import counted


@verb("notify", gives=("service.notifying:events", "service.notifying:notify"))
def notify_command(
    settings: SharedSettings,
    *,
    since: Annotated[
        str, Described("Begin behind this cursor: that of an event, start or now.", metavar="CURSOR")
    ] = "start",
    cursor_file: Annotated[
        Path | None,
        Described(
            "Begin behind the cursor in this file, and write the new one to it. Without a file, begin at --since.",
            metavar="FILE",
            complete="file",
        ),
    ] = None,
    execute: Annotated[
        str | None,
        Described(
            "Call this command for each event, in order, with the event on standard input. No shell reads it.",
            ("--exec", "execute"),
            metavar="COMMAND",
        ),
    ] = None,
    template: Annotated[
        str | None,
        Described(
            "Show the events as a text: comment, issue, mail, or a Jinja template. With --exec, one text for each.",
            metavar="NAME|FILE",
            complete="file",
        ),
    ] = None,
    attempts: Annotated[int, Described("With --exec: so many calls for an event at most.", least=1)] = 5,
    timeout: Annotated[int, Described("With --exec: so many seconds for a call at most.", least=1)] = 60,
    limit: Annotated[int | None, Described("So many events at most.", least=1)] = None,
) -> None:
    """Show what happened in the store since a cursor: releases, verdicts, approvals, baselines and rules.

    Each event is one line of JSON with its cursor; the last line has the cursor to go on from.

    With --exec, a command gets each event. One that fails is called again after 1, 2, 4 and more seconds; where it
    failed --attempts times, the exit code is 73 and the cursor stays before that event. No event is left out; one may
    come twice where a call was interrupted. Use one cursor file for each command.

    With --template mail, a text with a subject; issue is empty unless a release may not ship. An empty text calls no
    command.

    \b
    abistore notify
    abistore notify --since now
    abistore notify --cursor-file issue.cursor --template issue --exec ./open-issue.sh
    abistore notify --cursor-file mail.cursor --exec ./mail.sh
    """
    from abistore.service.notifying import NotifyPlan, notify

    if execute is None:
        _list(settings, since, cursor_file, limit, template)
        return
    plan = NotifyPlan(execute, cursor_file, since, attempts, timeout, limit=limit, template=template or "")
    done = notify(plan, database=settings.database)
    line = f"{counted(done.delivered, 'event')} delivered; cursor {done.cursor}"
    answer(settings, done, lambda: line)


def _list(
    settings: SharedSettings, since: str, cursor_file: Path | None, limit: int | None, template: str | None
) -> None:
    """Print events, and write the cursor once they are printed."""
    from abistore.service.notifying import events, keep_cursor, kept_cursor, notice

    found = events(kept_cursor(cursor_file, since), limit=limit, database=settings.database)
    if template is None:
        text = "\n".join((*(each.line for each in found.events), f'{{"cursor":"{found.cursor}"}}'))
    else:
        text = notice(found.events, template)
    answer(settings, found, lambda: text)
    sys.stdout.flush()
    keep_cursor(cursor_file, found.cursor)
    if found.more:
        note(settings, f"there are more: --since {found.cursor} shows the next")


@verb("comment", store=False, gives="service.posting:post_comment")
def comment_command(
    settings: SharedSettings,
    file: Annotated[Path, Described(metavar="FILE", complete="file")],
    *,
    name: Annotated[str, Described("Which comment: each name has its own.")] = "abi",
    attempts: Annotated[int, Described("Ask a platform that does not answer so many times at most.", least=1)] = 4,
    timeout: Annotated[int, Described("So many seconds for a request at most.", least=1)] = 30,
) -> None:
    """Make FILE the pipeline's one comment on the pull request or merge request that the job is for.

    The comment of an earlier run is updated, and an empty FILE removes it, as `gate --comment` writes where nothing is
    broken. Comments of other accounts are never touched. Runs in jobs of GitHub Actions (with GITHUB_TOKEN) and GitLab
    CI (with GITLAB_TOKEN), and asks nothing but the API of that platform.

    Exits with 64 outside of such a job or without a token, and 73 where the platform refuses.

    \b
    abistore gate build/libfoo.so --comment abi.md; abistore comment abi.md
    """
    from abistore.service.posting import CommentPlan, post_comment

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise UsageError(f"{file}: cannot be read: {why}", "name the file that `gate --comment` wrote") from error
    done = post_comment(text, os.environ, CommentPlan(name, attempts, timeout=timeout))
    said = "no comment" if done.done == "nothing" else f"comment {done.done}"
    answer(settings, done, lambda: f"{said}: {done.request}{f', {done.url}' if done.url else ''}")
