"""The benchmark: what is measured, how it is timed, checked and shown; docs/benchmarking.md explains it."""
