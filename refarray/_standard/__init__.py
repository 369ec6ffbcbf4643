"""The standard's functions, one file for each category of the specification.

The files have the specification's names. Each function is written out with its real
parameters; its body hands over to the pipeline in `_compute/`, or says what is special.

Read one or two of them, and the rest as a reference:

1. `constants.py`, `creation_functions.py`, `data_type_functions.py`,
   `elementwise_functions.py`, `indexing_functions.py`, `info.py`,
   `linear_algebra_functions.py`, `manipulation_functions.py`, `searching_functions.py`,
   `set_functions.py` with `set_results.py`, `sorting_functions.py`,
   `statistical_functions.py`, `utility_functions.py`: the main namespace.
2. `linalg_decompositions.py`, `linalg_norms.py`, `linalg.py`, and `fft.py`: the
   extensions.
3. `versions.py`, `before_2025_12.py`, `before_2023_12.py`: the namespaces of earlier
   versions.

Next folder: `testing/`, which holds this and other libraries to the rules.
"""
