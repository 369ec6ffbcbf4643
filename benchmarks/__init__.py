"""Speed of refarray beside other libraries: `make bench`.

harness.py says how anything is measured, libraries.py with what; each rows_*.py holds
the rows of one subject; report.py, plot.py and record.py show and keep what came out;
__main__.py runs it all. Nothing here is a test: a test that depends on time fails on a
busy machine, a ratio of interleaved minima hardly moves.
"""
