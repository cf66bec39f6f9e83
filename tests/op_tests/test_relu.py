"""relu against its record, tests/cases/relu.py."""

from tests.harness.suite import suite

TestRelu = suite("relu")
