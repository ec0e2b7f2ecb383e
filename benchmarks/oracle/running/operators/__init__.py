"""The operators: each changes a draft of a library in one way."""

from benchmarks.oracle.running.operators import building, classes, declared, functions, headers, members
from benchmarks.oracle.running.operators.operator import OPERATORS, Operator

__all__ = ["OPERATORS", "Operator", "building", "classes", "declared", "functions", "headers", "members"]
