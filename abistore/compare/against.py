"""Judging many releases against one, the baseline: what is found of a declaration is kept until something differs."""

from __future__ import annotations
