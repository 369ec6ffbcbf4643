"""Values of `maximum`, `hypot`, `logical_and` and others are never compared.

`_assert_correctness_binary` compares only if it is given `check_values`, and no test
gives it. It serves atan2, hypot, logaddexp, logical_and, logical_or, logical_xor,
maximum, minimum, nextafter, and all tests of functions with a scalar.

Rule: none
Says: -
Reported: no report found
Needs: a clone of array-api-tests with its submodule to run in; NumPy
"""

import os
import sys
from pathlib import Path

os.environ["ARRAY_API_TESTS_MODULE"] = "numpy"
os.environ["ARRAY_API_TESTS_VERSION"] = "2024.12"
sys.path.insert(0, ".")
import numpy as np
from array_api_tests import test_operators_and_elementwise_functions as suite

x, nonsense = np.asarray([1.0]), np.asarray([99.0])
try:
    suite._assert_correctness_binary(
        "maximum", max, [x.dtype, x.dtype], [x.shape, x.shape], (x, x), nonsense
    )
except AssertionError:
    print("maximum(1.0, 1.0) = 99.0 is found")
else:
    uses = Path(suite.__file__).read_text().count("check_values=True")
    print("maximum(1.0, 1.0) = 99.0 passes; check_values=True is passed", uses, "times")
    sys.exit(not uses)
