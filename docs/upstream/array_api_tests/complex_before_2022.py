"""In 2021.12, which has no complex numbers, tests draw them and fail.

`hypothesis_helpers.all_dtypes` has the complex types in every version, and Hypothesis
refuses to make arrays of them for 2021.12. Some 25 tests fail for every library.

Rule: none
Says: array API 2021.12, data types
Reported: no report found
Needs: a clone of array-api-tests with its submodule to run in; NumPy
"""

import os
import subprocess
import sys

ended = subprocess.run(
    [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *("--max-examples", "50", "--disable-deadline"),
        "array_api_tests/test_creation_functions.py::test_zeros_like",
    ],
    env={
        **os.environ,
        "ARRAY_API_TESTS_MODULE": "numpy",
        "ARRAY_API_TESTS_VERSION": "2021.12",
    },
    capture_output=True,
    text=True,
)
found = "not recognised" in ended.stdout and "complex" in ended.stdout
refusals = [line for line in ended.stdout.splitlines() if "InvalidArgument" in line]
print(refusals[-1].strip()[:80] if found else ended.stdout[-200:])
sys.exit(found)
