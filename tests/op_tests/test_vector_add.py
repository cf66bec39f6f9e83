"""vector_add against its record, tests/cases/vector_add.py."""

from tests.harness.suite import suite

TestVectorAdd = suite("vector_add")
