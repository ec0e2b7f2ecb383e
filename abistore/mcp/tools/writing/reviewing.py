"""``abi_review``: say what people think of a finding."""

from __future__ import annotations

from typing import Annotated

from abistore.interface import ReviewPlan, review
from abistore.mcp.answers.answer import Answer, asking, brief
from abistore.mcp.call import Call
from abistore.mcp.handles import findings_of, one_finding, report_of
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import described
from abistore.model.history import ReviewState


class ReviewAnswer(Answer, frozen=True, kw_only=True):
    """What holds of a finding now; ``created`` where something else did before."""

    created: bool
    library: str
    finding_id: str
    state: ReviewState
    note: str
    next: tuple[str, ...] = ()


@tool(writes=True)
def abi_review(
    call: Call,
    *,
    finding_id: Annotated[str, described("id of a finding, or its first digits")],
    state: Annotated[ReviewState, described("open takes a review back")],
    note: Annotated[str, described("What to know about it")] = "",
    comparison_id: Annotated[str | None, described("Which has it; else: all stored verdicts")] = None,
) -> ReviewAnswer:
    """Say that people have seen a finding, mean it (intended), or will mend it (defect). It changes no verdict.

    It holds wherever the library has this finding, until its facts change. abi_findings(state='reviewed') lists them.
    """
    library, identity = (None, finding_id) if comparison_id is None else _found(call, comparison_id, finding_id)
    plan = ReviewPlan(state, note, call.actor, library)
    with call.writing() as store:
        done = review(identity, plan, database=store)
    said = done.review
    return ReviewAnswer(
        headline=f"{'REVIEWED' if done.changed else 'UNCHANGED'}: {said.library} {said.identity}: {said.state}",
        created=done.changed,
        library=said.library,
        finding_id=said.identity,
        state=said.state,
        note=brief(said.note),
        next=(asking("abi_finding", finding_id=said.identity, comparison_id=comparison_id),),
    )


def _found(call: Call, comparison_id: str, digits: str) -> tuple[str, str]:
    """The library and the whole identity of the one finding of a comparison that begins so."""
    report = report_of(call, comparison_id)
    return report.new.library, one_finding(findings_of(report), digits).id
