"""GitHub's and GitLab's endpoints for comments, on loopback, with the variables that a job there has."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

TOKEN, READER = "the-job's-token", "a-forks-token"
BOT, STRANGER = "github-actions[bot]", "mallory"
NUMBER = 7
GITHUB_LIST = re.compile(r"/github/repos/org/foo/issues/7/comments")
GITHUB_ONE = re.compile(r"/github/repos/org/foo/issues/comments/(\d+)")
GITLAB_LIST = re.compile(r"/gitlab/projects/42/merge_requests/7/notes")
GITLAB_ONE = re.compile(r"/gitlab/projects/42/merge_requests/7/notes/(\d+)")


@dataclass
class Forge:
    """The comments of one request for review. ``refusals`` are statuses of the next requests, ``lost`` answers.

    ``asked`` has the method and path of every request.
    """

    url: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    refusals: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    lost: int = 0
    made: int = 0

    def add(self, body: str, author: str = BOT) -> dict[str, Any]:
        """A comment, as both platforms describe it: each has its own word for the author."""
        self.made += 1
        page = f"https://git.example.org/org/foo/7#{self.made}"
        who = {"user": {"login": author}, "author": {"username": author}}
        self.comments.append({"id": self.made, "body": body, "html_url": page, **who})
        return self.comments[-1]

    def own(self) -> list[str]:
        """The bodies of the bot's comments."""
        return [each["body"] for each in self.comments if each["user"]["login"] == BOT]

    def writes(self) -> list[str]:
        """The methods of the requests that change something."""
        return [method for method, _ in self.asked if method != "GET"]

    def github(self, folder: Path, token: str = TOKEN) -> dict[str, str]:
        """The variables of a job for the pull request."""
        event = folder / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": NUMBER}}))
        return {
            "GITHUB_ACTIONS": "true", "GITHUB_API_URL": f"{self.url}/github", "GITHUB_REPOSITORY": "org/foo",
            "GITHUB_EVENT_PATH": str(event), "GITHUB_TOKEN": token, "no_proxy": "127.0.0.1",
        }  # fmt: skip

    def gitlab(self, token: str = TOKEN) -> dict[str, str]:
        """The variables of a job for the merge request, of a fork: its own project is another one."""
        return {
            "GITLAB_CI": "true", "CI_API_V4_URL": f"{self.url}/gitlab", "CI_MERGE_REQUEST_PROJECT_ID": "42",
            "CI_PROJECT_ID": "43", "CI_MERGE_REQUEST_IID": str(NUMBER), "GITLAB_TOKEN": token, "no_proxy": "127.0.0.1",
        }  # fmt: skip

    def answer(self, method: str, path: str, token: str, body: str) -> tuple[int, Any, dict[str, str]]:
        """The status, the value and the headers of an answer."""
        self.asked.append((method, path))
        if self.refusals:
            status, headers = self.refusals.pop(0)
            return status, {"message": "refused"}, headers
        where, _, query = path.partition("?")
        if token not in (TOKEN, READER):
            return 401, {"message": "Bad credentials"}, {}
        if where == "/github/user":  # a job's token is no user's
            return 403, {"message": "Resource not accessible by integration"}, {}
        if where == "/gitlab/user":
            return 200, {"username": BOT}, {}
        if method != "GET" and token == READER:
            return 403, {"message": "Resource not accessible by integration"}, {}
        return *self._of_comments(method, where, query, body), {}

    def _of_comments(self, method: str, where: str, query: str, body: str) -> tuple[int, Any]:
        listing = GITHUB_LIST.fullmatch(where) or GITLAB_LIST.fullmatch(where)
        one = GITHUB_ONE.fullmatch(where) or GITLAB_ONE.fullmatch(where)
        if listing and method == "GET":
            said = dict(each.split("=") for each in query.split("&"))
            size, page = int(said["per_page"]), int(said["page"])
            return 200, self.comments[size * (page - 1) : size * page]
        if listing and method == "POST":
            return 201, self.add(json.loads(body)["body"])
        found = [each for each in self.comments if one and each["id"] == int(one[1])]
        if found and method == ("PATCH" if where.startswith("/github") else "PUT"):
            found[0]["body"] = json.loads(body)["body"]
            return 200, found[0]
        if found and method == "DELETE":
            self.comments.remove(found[0])
            return 204, None
        return 404, {"message": "Not Found"}


@contextmanager
def serving() -> Iterator[Forge]:
    """A forge on a free port."""
    forge = Forge()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
            token = bearer if self.path.startswith("/github") else self.headers.get("PRIVATE-TOKEN", "")
            status, value, headers = forge.answer(self.command, self.path, token, body)
            if forge.lost and self.command != "GET":
                forge.lost -= 1
                return  # done, and the connection is closed without an answer
            text = b"" if value is None else json.dumps(value).encode()
            self.send_response(status)
            for key, each in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(key, each)
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        forge.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield forge
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def forge() -> Iterator[Forge]:
    with serving() as found:
        yield found
