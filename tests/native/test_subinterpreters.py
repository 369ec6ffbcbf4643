"""Sub-interpreters are refused, by refarray or by NumPy before it; nothing crashes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 12) and np.lib.NumpyVersion(np.__version__) < "2.4.0",
    reason="NumPy before 2.4 fails by itself where there are sub-interpreters",
)

INTERPRETERS = """
import sys

USE = '''
import numpy as np, refarray as xp
x = xp.from_dlpack(np.arange(3.0)) + 1.0
assert float(np.from_dlpack(x)[2]) == 3.0
'''

def main():
    exec(USE)
    print("works")

def sub(isolated):
    if sys.version_info >= (3, 13):
        import _interpreters as interpreters
        number = interpreters.create("isolated" if isolated else "legacy")
        error = interpreters.exec(number, USE)
        print("works" if error is None else error.formatted)
    else:
        import _xxsubinterpreters as interpreters
        number = interpreters.create(isolated=isolated)
        try:
            interpreters.run_string(number, USE)
            print("works")
        except interpreters.RunFailedError as error:
            print(error)
    interpreters.destroy(number)
"""


def said(steps: str) -> str:
    """Run some interpreters, one after the other, and return what they print."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", INTERPRETERS + steps],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_beside_the_main_interpreter() -> None:
    first, *refused, last = said("main(); sub(True); sub(False); main()").splitlines()
    assert first == last == "works"
    assert sum("ImportError" in line for line in refused) == 2


def test_a_sub_interpreter_that_is_the_first() -> None:
    lines = said("sub(False)")
    assert "ImportError" in lines
    # NumPy's own refusal comes first where Python has no GIL.
    ours, numpys = "works in the main interpreter", "support loading in subinterpreters"
    assert ours in lines or numpys in lines
    assert "\nworks" not in lines


@pytest.mark.skipif(
    sys.version_info < (3, 12), reason="interpreters are not isolated before 3.12"
)
def test_a_refusal_leaves_the_main_interpreter_alone() -> None:
    lines = said("sub(True); main()")
    assert "ImportError" in lines
    assert lines.endswith("works\n")
