"""What a wrong message is answered with: the table in ``reference/mcp.md``, on every transport and in both eras."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.types import PROTOCOL_VERSION_META_KEY

from tests.mcp.over_http import INITIALIZE, LAUNCH, META, MODERN, Served, result, served

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "mcp.md"
NOTHING = "no answer"


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "case", "method": method, "params": params}


WRONG: dict[str, tuple[Any, tuple[str, str, str, str]]] = {
    "no JSON": ("{no json", ("-32700", "400 -32700", "-32700", "400 -32700")),
    "bytes that are not UTF-8": (b"\xff\xfe\n", ("-32700", "400 -32700", "-32700", "400 -32700")),
    "200,000 brackets": ("[" * 200_000, ("-32700", "400 -32700", "-32700", "400 -32700")),
    "a batch": ([request("tools/list")] * 2, ("-32600", "400 -32602", "-32600", "400 -32600")),
    "no method": ({"jsonrpc": "2.0", "id": "case"}, ("-32600", "400 -32602", "-32600", "400 -32600")),
    "JSON-RPC 1.0": (
        {**request("tools/list"), "jsonrpc": "1.0"},
        ("-32600", "400 -32602", "-32600", "400 -32600"),
    ),
    "params that are not an object": (
        {**request("tools/list"), "params": [1]},
        ("-32602", "400 -32602", "-32602", "400 -32600"),
    ),
    "an unknown method": (request("nothing/there"), ("-32601", "200 -32601", "-32601", "404 -32601")),
    "params that do not fit": (request("tools/call"), ("-32602", "200 -32602", "-32602", "400 -32602")),
    "an unknown tool": (request("tools/call", name="abi_lst"), ("-32602", "200 -32602", "-32602", "400 -32602")),
    "an unknown resource": (
        request("resources/read", uri="abistore://nothing"),
        ("-32602", "200 -32602", "-32602", "400 -32602"),
    ),
    "an unknown prompt": (request("prompts/get", name="nothing"), ("-32602", "200 -32602", "-32602", "400 -32602")),
    "a prompt without its arguments": (
        request("prompts/get", name="review_release"),
        ("-32602", "200 -32602", "-32602", "400 -32602"),
    ),
    "arguments that do not fit a tool": (
        request("tools/call", name="abi_list", arguments={"limit": "many"}),
        ("isError", "200 isError", "isError", "200 isError"),
    ),
    "an unknown notification": (
        {"jsonrpc": "2.0", "method": "notifications/nothing"},
        (NOTHING, "202", NOTHING, "202"),
    ),
}
"""Each message, with what it is answered with: on stdio and over HTTP after a handshake, then the same without one."""

HTTP_ONLY: dict[str, tuple[dict[str, Any], str]] = {
    "a request before the handshake": ({"body": request("tools/list")}, "400 -32600"),
    "a handshake without params": ({"body": request("initialize")}, "200 answered"),
    "a session that has ended": ({"body": request("ping"), "Mcp_Session_Id": "ended"}, "404 -32600"),
    "a header of an unknown version": (
        {
            "body": request("tools/list", _meta={**META, PROTOCOL_VERSION_META_KEY: "2099-01-01"}),
            "MCP_Protocol_Version": "2099-01-01",
            "Mcp_Method": "tools/list",
        },
        "400 -32022",
    ),
    "a header of another version than the message": (
        {"body": request("tools/list", _meta=META), "MCP_Protocol_Version": "2099-01-01"},
        "400 -32020",
    ),
    "a header of another method than the message": (
        {"body": request("tools/list", _meta=META), "MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/call"},
        "400 -32020",
    ),
    "no `_meta` in a message without handshake": (
        {"body": request("tools/list"), "MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/list"},
        "400 -32602",
    ),
    "another content type": ({"body": request("ping"), "Content_Type": "text/plain"}, "400"),
    "an answer that the client does not accept": ({"body": request("ping"), "Accept": "text/html"}, "406 -32600"),
    "a body above `--max-body-size`": ({"body": "x" * ((4 << 20) + 1)}, "413"),
    "no token, or an unknown one": ({"body": request("ping"), "subject": ""}, "401"),
    "an unknown `Host`": ({"body": request("ping"), "Host": "evil.example"}, "421"),
    "an unknown `Origin`": ({"body": request("ping"), "Origin": "http://evil.example"}, "403"),
}


@pytest.fixture(scope="module")
def server(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("http"), stored) as found:
        yield found


def modern(message: Any) -> Any:
    """A message as the era without a handshake has it."""
    params = message.get("params", {}) if isinstance(message, dict) else None
    if not isinstance(params, dict) or "method" not in message:
        return message
    return {**message, "params": {**params, "_meta": META}}


def routing(message: Any) -> dict[str, str]:
    """The headers that go with a message of that era."""
    found = {"MCP_Protocol_Version": MODERN}
    if isinstance(message, dict) and "method" in message:
        found["Mcp_Method"] = message["method"]
        params = message.get("params", {})
        name = (params.get("name") or params.get("uri")) if isinstance(params, dict) else None
        found |= {"Mcp_Name": name} if name else {}
    return found


def over_http(response: httpx2.Response) -> str:
    code = response.status_code
    try:
        said = outcome(result(response))
    except ValueError:
        return str(code)
    return f"{code} {said}".strip()


def outcome(message: Mapping[str, Any]) -> str:
    if "error" in message:
        return str(message["error"].get("code", "")) if isinstance(message["error"], dict) else ""
    return "isError" if message["result"].get("isError") else "answered"


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_message_over_http_has_its_code(case: str, server: Served) -> None:
    message, (_, handshake, _, stateless) = WRONG[case]
    assert over_http(server.post(message, Mcp_Session_Id=server.session())) == handshake
    assert over_http(server.post(modern(message), **routing(message))) == stateless


@pytest.mark.parametrize("case", HTTP_ONLY)
def test_a_wrong_request_over_http_has_its_code(case: str, server: Served) -> None:
    given, expected = HTTP_ONLY[case]
    assert over_http(server.post(**given)) == expected


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2099-01-01", "none"])
def test_a_handshake_of_another_version_is_answered_with_one_that_is_spoken(version: str, server: Served) -> None:
    params = {**INITIALIZE["params"], "protocolVersion": version}
    told = result(server.post({**INITIALIZE, "params": params}))["result"]["protocolVersion"]
    assert told == (version if version.startswith(("2024", "2025")) else "2025-11-25")


def test_a_handshake_may_leave_everything_out(server: Served) -> None:
    told = result(server.post({**INITIALIZE, "params": {}}))["result"]
    assert told["protocolVersion"] == "2025-11-25"
    lines = json.dumps({**INITIALIZE, "params": {}}) + "\n"
    done = subprocess.run(
        [sys.executable, *LAUNCH], input=lines, capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(done.stdout)["result"]["protocolVersion"] == "2025-11-25"


@pytest.fixture(scope="module", params=["handshake", "stateless"])
def stdio(request: pytest.FixtureRequest, stored: Path) -> tuple[int, dict[str, str]]:
    """What a process says to all wrong messages, one after the other; it goes on until its input ends."""
    is_modern = request.param == "stateless"
    opening = [] if is_modern else [INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    sent = [json.dumps(message).encode() for message in opening]
    last = {"jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": {"name": "abi_help", "arguments": {}}}
    for case, (message, _) in {"first": ({**last, "id": "first"}, ()), **WRONG, "last": (last, ())}.items():
        if isinstance(message, dict):
            message = {**message, "id": case} if "id" in message else message
            message = modern(message) if is_modern else message
        data = message.encode() if isinstance(message, str) else message
        sent.append(data.rstrip(b"\n") if isinstance(data, bytes) else json.dumps(data).encode())
    command = [sys.executable, *LAUNCH, "--db", str(stored)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"\n".join(sent) + b"\n")
        process.stdin.flush()
        answers: dict[str, str] = {}
        nameless: list[str] = []
        while not {"first", "last", *ANSWERED} <= answers.keys() or len(nameless) < len(NAMELESS):
            told = json.loads(process.stdout.readline())
            if told.get("id") is None:
                nameless.append(outcome(told))
            else:
                answers[str(told["id"])] = outcome(told)
        answers |= dict(zip(NAMELESS, nameless, strict=True))  # read one after the other, and answered so
        process.stdin.close()
        assert process.wait(60) == 0
        assert process.stdout.read() == b""
    assert (answers["first"], answers["last"]) == ("answered", "answered")
    return (2 if is_modern else 0), answers


NAMELESS = [case for case, (message, _) in WRONG.items() if not isinstance(message, dict)]
"""Lines of which no id can be told: the answer has none."""

ANSWERED = [case for case, (_, expected) in WRONG.items() if expected[0] != NOTHING and case not in NAMELESS]


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_line_on_standard_input_has_its_code(case: str, stdio: tuple[int, dict[str, str]]) -> None:
    column, answers = stdio
    assert answers.get(case, NOTHING) == WRONG[case][1][column]


def test_the_page_tells_the_codes() -> None:
    page = PAGE.read_text()
    for case, (_, told) in WRONG.items():
        assert f"| {case} | {' | '.join(told)} |\n" in page
    for case, (_, code) in HTTP_ONLY.items():
        assert f"| {case} | {code} |\n" in page
