"""`test_from_dlpack` fails for every library in 2022.12 and before.

It asks for `xp.__array_namespace_info__`, which the suite looks up from 2023.12 on, so
it fails with AttributeError whatever the library has. It lacks
`@pytest.mark.min_version("2023.12")`.

Rule: none
Says: -
Reported: no report found
Needs: a clone of array-api-tests with its submodule to run in; NumPy
"""

import os
import subprocess
import sys

ended = subprocess.run(
    [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *("--max-examples", "5", "--disable-deadline"),
        "array_api_tests/test_dlpack.py::test_from_dlpack",
    ],
    env={
        **os.environ,
        "ARRAY_API_TESTS_MODULE": "numpy",
        "ARRAY_API_TESTS_VERSION": "2022.12",
    },
    capture_output=True,
    text=True,
)
found = "has no attribute '__array_namespace_info__'" in ended.stdout
print("AttributeError: __array_namespace_info__" if found else ended.stdout[-200:])
sys.exit(found)
