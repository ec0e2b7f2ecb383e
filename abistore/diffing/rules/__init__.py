"""The rules, one module a subject, and the cases that show each kind: ``cases/KIND.md``."""

from pathlib import Path

CASES = Path(__file__).parent / "cases"
"""The cases: Markdown that ``explain`` shows and the tests run."""
