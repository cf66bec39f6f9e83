"""copy against its record, tests/cases/copy.py."""

from tests.harness.suite import suite

TestCopy = suite("copy")
