"""reduce_sum against its record, tests/cases/reduce_sum.py."""

from tests.harness.suite import suite

TestReduceSum = suite("reduce_sum")
