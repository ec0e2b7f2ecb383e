"""The beginnings of text stubs."""

from __future__ import annotations

from abistore.patterns import pattern

_YAML = pattern(rb"---[ \t]*(!tapi-tbd\S*|\r?\n(?:.*\r?\n){0,20}?install-name:)")
_JSON = pattern(rb'\s*\{\s*"(?:main_library|libraries|tapi_tbd_version)"\s*:')


def is_stub(head: bytes) -> bool:
    """Whether ``head`` begins a text stub."""
    return _YAML.match(head) is not None or is_json_stub(head)


def is_json_stub(head: bytes) -> bool:
    """Whether ``head`` begins a text stub of version 5, which is JSON as snapshots are."""
    return _JSON.match(head) is not None
