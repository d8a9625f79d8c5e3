"""Fuzzers: files and command lines that were damaged, or made to do harm, and what became of them.

``python -m benchbuild.fuzzing`` runs them for as long as one likes; the tests run a few hundred
trials of each. Every trial is seeded, so that one that went wrong can be repeated.
"""
