"""What refarray does where the standard leaves a choice, one test for each row.

The table: docs/reference/unspecified.md. A package, so that its files may have the
names of those in tests/standard.
"""
