"""softmax against its record, tests/cases/softmax.py."""

from tests.harness.suite import suite

TestSoftmax = suite("softmax")
