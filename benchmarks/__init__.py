"""Speed of refarray beside other libraries: `make bench`.

harness.py says how anything is measured; each rows_*.py holds the rows of one subject;
__main__.py runs them. Nothing here is a test: a test that depends on time fails on a
busy machine, a ratio of interleaved minima hardly moves.
"""
