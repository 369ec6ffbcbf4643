"""What an unknown size makes of the shapes of results: tables, function by function.

`operands.py` has the arrays, `functions.py` and `extensions.py` calls and the shapes of
their results, `refusals.py` calls that fail. The tables are tried on refarray, by
tests/profiles/test_unknown_sizes.py, and on Dask, by tests/field/test_dask.py.
"""
