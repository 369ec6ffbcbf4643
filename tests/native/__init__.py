"""Memory, structs and plain C under the arrays.

A package, so that its files may have the names of those in tests/dlpack.
"""
