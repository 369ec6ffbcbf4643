"""Values of an array and a Python scalar are never compared.

`right_scalar_assert_against_refimpl` returns before it compares whenever the scalar
*is* one that should be looked at: `if filter_(right): return` lacks a `not`. A library
whose `x + 2.0` is anything passes.

Rule: none
Says: the function's docstring
Reported: no report found
Needs: a clone of array-api-tests with its submodule to run in; NumPy
"""

import operator
import os
import sys

os.environ["ARRAY_API_TESTS_MODULE"] = "numpy"
os.environ["ARRAY_API_TESTS_VERSION"] = "2024.12"
sys.path.insert(0, ".")
import numpy as np
from array_api_tests import test_operators_and_elementwise_functions as suite

x, nonsense = np.asarray([1.0]), np.asarray([99.0])
try:
    suite.right_scalar_assert_against_refimpl("add", x, 2.0, nonsense, operator.add)
except AssertionError:
    print("1.0 + 2.0 = 99.0 is found")
else:
    print("1.0 + 2.0 = 99.0 passes")
    sys.exit(1)
