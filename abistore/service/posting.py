"""The one comment on a pull request or merge request that a pipeline writes, updates and removes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

import msgspec

from abistore.errors import OutputError, UsageError
from abistore.model.labels import Given
from abistore.patterns import pattern

PAGE: Final = 100
"""Comments in one answer: the most that both platforms give."""

MOST_PAGES: Final = 50
MOST_BYTES: Final = 16 << 20
"""Of one answer."""

LONGEST_PAUSE: Final = 60.0
"""Seconds, whatever ``Retry-After`` asks for."""

BOT: Final = "github-actions[bot]"
"""Who writes by the token of a job, which may not ask ``/user`` for its own name."""

_NAME = pattern(r"[\w.+-]{1,80}")

Done = Literal["created", "updated", "unchanged", "removed", "nothing"]


class CommentPlan(Given, frozen=True):
    """Which comment is meant, and how often the platform is asked.

    Each ``name`` has its own comment. Where the platform does not answer it is asked ``attempts`` times at most, with
    pauses that double from ``pause`` seconds; a request takes ``timeout`` seconds at most.
    """

    name: str = "abi"
    attempts: int = 4
    pause: float = 1.0
    timeout: float = 30.0


class PostedComment(msgspec.Struct, frozen=True):
    """What was done with the comment on ``request``, such as ``org/foo#7``; ``url`` is its page, where it has one."""

    done: Done
    request: str
    url: str = ""


class _Found(NamedTuple):
    """A comment of the platform: its number, its text and who wrote it."""

    id: int
    body: str
    author: str
    url: str


class _Refused(OutputError):
    """The platform does not answer now. ``wait``: seconds after which it may, where it says so."""

    code = OutputError.code

    def __init__(self, message: str, hint: str, wait: float = 0.0) -> None:
        super().__init__(message, hint)
        self.wait = wait


class _SameAddress(HTTPRedirectHandler):
    """Follows no redirection: the token would be sent to another host."""

    def redirect_request(self, *_asked: Any) -> None:
        """Leave the answer an error."""


class _Api(NamedTuple):
    """JSON requests to one address, with the token."""

    url: str
    headers: Mapping[str, str]
    timeout: float
    opener: OpenerDirector

    def ask(self, method: str, path: str, value: Mapping[str, str] | None = None) -> Any:
        """The answer as JSON, ``None`` where it is empty. Raises :class:`OutputError`."""
        body = None if value is None else msgspec.json.encode(value)
        headers = {**self.headers, "Content-Type": "application/json", "User-Agent": "abistore"}
        request = Request(f"{self.url}{path}", body, headers, method=method)
        try:
            with self.opener.open(request, timeout=self.timeout) as answer:
                text = answer.read(MOST_BYTES + 1)
        except HTTPError as error:
            with error:
                raise _refusal(error, method, path) from None
        except (URLError, HTTPException, OSError) as error:
            raise _Refused(f"{self.url}: no answer: {error}", "is the address of the platform right?") from None
        if len(text) > MOST_BYTES:
            raise OutputError(f"{self.url}{path}: the answer is longer than {MOST_BYTES} bytes")
        try:
            return msgspec.json.decode(text) if text.strip() else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise OutputError(f"{self.url}{path}: the answer is not JSON", "is it the address of the API?") from None

    def pages(self, path: str) -> Iterator[Mapping[str, Any]]:
        """All members of a list that comes in pages."""
        for number in range(1, MOST_PAGES + 1):
            page = self.ask("GET", f"{path}?per_page={PAGE}&page={number}")
            if not isinstance(page, list):
                raise OutputError(f"{self.url}{path}: the answer is not a list", "is it the address of the API?")
            yield from page
            if len(page) < PAGE:
                return


def _refusal(error: HTTPError, method: str, path: str) -> OutputError:
    said = f"{method} {path}: HTTP {error.code} {error.reason}"
    wait = error.headers.get("Retry-After", "")
    if error.code == 429 or error.code >= 500 or (error.code == 403 and wait):
        return _Refused(said, "run it again later", float(wait) if wait.isdecimal() else 0.0)
    if error.code in (401, 403, 404):
        return OutputError(said, "the token may not write comments here: a job for a fork has a token that only reads")
    return OutputError(said, "see the platform's page of this request")


class _Platform(Protocol):
    """Where a request for review lies, and how its comments are read and written."""

    @property
    def api(self) -> _Api: ...
    @property
    def request(self) -> str: ...
    def me(self) -> str: ...
    def list_path(self) -> str: ...
    def path_of(self, comment: _Found) -> str: ...
    def found(self, member: Mapping[str, Any]) -> _Found: ...
    @property
    def update(self) -> str: ...


class _GitHub(NamedTuple):
    """A pull request (docs.github.com, REST API, "Issue comments")."""

    api: _Api
    repository: str
    number: int
    update: str = "PATCH"

    @property
    def request(self) -> str:
        return f"{self.repository}#{self.number}"

    def me(self) -> str:
        try:
            return str(self.api.ask("GET", "/user")["login"])
        except _Refused:
            raise
        except OutputError:
            return BOT

    def list_path(self) -> str:
        return f"/repos/{self.repository}/issues/{self.number}/comments"

    def path_of(self, comment: _Found) -> str:
        return f"/repos/{self.repository}/issues/comments/{comment.id}"

    def found(self, member: Mapping[str, Any]) -> _Found:
        author = member.get("user") or {}  # a deleted account
        return _Found(member["id"], member.get("body") or "", author.get("login", ""), member.get("html_url", ""))


class _GitLab(NamedTuple):
    """A merge request (docs.gitlab.com, REST API, "Notes")."""

    api: _Api
    project: str
    number: int
    update: str = "PUT"

    @property
    def request(self) -> str:
        return f"{self.project}!{self.number}"

    def me(self) -> str:
        return str(self.api.ask("GET", "/user")["username"])

    def list_path(self) -> str:
        return f"/projects/{quote(self.project, safe='')}/merge_requests/{self.number}/notes"

    def path_of(self, comment: _Found) -> str:
        return f"{self.list_path()}/{comment.id}"

    def found(self, member: Mapping[str, Any]) -> _Found:
        return _Found(member["id"], member.get("body") or "", (member.get("author") or {}).get("username", ""), "")


USUAL: Final = CommentPlan()


def post_comment(text: str, environment: Mapping[str, str], plan: CommentPlan = USUAL) -> PostedComment:
    """Make ``text`` the comment on the request for review that a job is for; an empty text removes the comment.

    ``environment`` are the variables of the job, as GitHub Actions and GitLab CI set them, with ``GITHUB_TOKEN`` or
    ``GITLAB_TOKEN``. Only comments of the token's own account count. Raises :class:`UsageError` where no job for such a
    request runs or the token is missing, and :class:`OutputError` where the platform refuses.
    """
    if not _NAME.fullmatch(plan.name):
        raise UsageError(f"not a name of a comment: {plan.name[:80]!r}", "use letters, digits, '.', '+', '_' and '-'")
    if plan.attempts < 1 or plan.timeout <= 0:
        raise UsageError("attempts and timeout begin at 1", "pass larger numbers")
    platform = _platform(environment, plan.timeout)
    marker = f"<!-- abistore comment {plan.name} -->"
    for attempt in range(plan.attempts - 1):
        try:
            return _settled(platform, marker, text)
        except _Refused as error:
            time.sleep(min(max(error.wait, plan.pause * 2**attempt), LONGEST_PAUSE))
    return _settled(platform, marker, text)


def _settled(platform: _Platform, marker: str, text: str) -> PostedComment:
    """One attempt, which begins with what is there: an earlier one may have written without an answer."""
    found = (platform.found(each) for each in platform.api.pages(platform.list_path()))
    marked = [each for each in found if each.body.startswith(marker)]
    me = platform.me() if marked else ""
    own = [each for each in marked if each.author == me]
    keep = own[:1] if text.strip() else []
    for each in own[len(keep) :]:
        platform.api.ask("DELETE", platform.path_of(each))
    body = f"{marker}\n{text.strip()}\n"
    if not text.strip():
        return PostedComment("removed" if own else "nothing", platform.request)
    if not keep:
        made = platform.found(platform.api.ask("POST", platform.list_path(), {"body": body}))
        return PostedComment("created", platform.request, made.url)
    if keep[0].body.strip() == body.strip():
        return PostedComment("unchanged", platform.request, keep[0].url)
    platform.api.ask(platform.update, platform.path_of(keep[0]), {"body": body})
    return PostedComment("updated", platform.request, keep[0].url)


# --- the job --------------------------------------------------------------------------------------------------------


def _platform(environment: Mapping[str, str], timeout: float) -> _Platform:
    if environment.get("GITHUB_ACTIONS") == "true":
        return _github(environment, timeout)
    if environment.get("GITLAB_CI") == "true":
        return _gitlab(environment, timeout)
    raise UsageError("not a job of GitHub Actions or GitLab CI", "run it in a job for a pull request or merge request")


def _github(environment: Mapping[str, str], timeout: float) -> _GitHub:
    event = Path(_needed(environment, "GITHUB_EVENT_PATH"))
    try:
        number = msgspec.json.decode(event.read_bytes(), type=_Event).pull_request
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"{event}: is not an event of GitHub: {error}") from None
    if number is None:
        raise UsageError("the job is not for a pull request", "run it on pull_request")
    headers = {
        "Authorization": f"Bearer {_needed(environment, 'GITHUB_TOKEN')}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    api = _api(environment, "GITHUB_API_URL", headers, timeout)
    return _GitHub(api, _needed(environment, "GITHUB_REPOSITORY"), number.number)


class _PullRequest(msgspec.Struct, frozen=True):
    number: int


class _Event(msgspec.Struct, frozen=True):
    pull_request: _PullRequest | None = None


def _gitlab(environment: Mapping[str, str], timeout: float) -> _GitLab:
    number = environment.get("CI_MERGE_REQUEST_IID", "")
    if not number.isdecimal():
        raise UsageError("the job is not for a merge request", "run it in pipelines of merge requests")
    headers = {"PRIVATE-TOKEN": _needed(environment, "GITLAB_TOKEN")}
    api = _api(environment, "CI_API_V4_URL", headers, timeout)
    # the project of the merge request: for a fork, CI_PROJECT_ID is another one
    return _GitLab(api, _needed(environment, "CI_MERGE_REQUEST_PROJECT_ID"), int(number))


def _needed(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "").strip()
    if not value:
        hint = "pass it to the job; jobs for forks may have none" if name.endswith("TOKEN") else "the platform sets it"
        raise UsageError(f"{name} is not set", hint)
    return value


def _api(environment: Mapping[str, str], name: str, headers: Mapping[str, str], timeout: float) -> _Api:
    url = _needed(environment, name)
    if not url.startswith(("https://", "http://")):
        raise UsageError(f"{name} is not a web address", "the platform sets it")
    return _Api(url.rstrip("/"), headers, timeout, build_opener(_SameAddress))
