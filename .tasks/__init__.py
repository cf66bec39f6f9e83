"""Private helpers of the noxfile: plain functions that take the nox session first.

Standard library and nox only: they run in nox's own Python, before any other package is there.
"""
