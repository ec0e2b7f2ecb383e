"""Copies of the runtime's templates, which a library only happens to export."""

from __future__ import annotations

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import SELF, Name
from abistore.model.findings import Verdict
from abistore.model.shapes import Symbol
from abistore.model.snapshot import Evidence, Snapshot
from tests.diffing.model import CODE, LIBRARY, TARGET

COPIES = ("_ZNSt6vectorI{0}SaI{0}EE4sizeEv", "_ZNSt4listI{0}SaI{0}EE4sizeEv", "_ZNSt5dequeI{0}SaI{0}EE4sizeEv")
STRING = "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"


def built(string: str) -> Snapshot:
    """A library with a C interface that uses ``string`` inside."""
    names = [Name("function", copy.format(string)) for copy in COPIES]
    weak = {name: (Symbol("function", weak=True),) for name in names}
    symbols = {SELF: (LIBRARY,), Name("function", "open_c"): (CODE,), **weak}
    return Snapshot("lib", None, TARGET, {"symbol": symbols}, (Evidence("symbol", "full"),))


def test_the_other_string_inside_a_library_with_a_c_interface_breaks_nobody() -> None:
    found = compare(built(STRING), built("Ss"))
    assert found.verdict < Verdict.API_BREAK
    assert "glibcxx_dual_abi_flip_detected" not in {each.kind for each in found.findings}
