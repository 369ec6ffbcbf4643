"""The long run, for seconds: it passes, and it sees what is planted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.needs("glibc")

HERE = Path(__file__).parent
PROGRAM = """
import sys
sys.path[:0] = {path!r}
sys.argv = ["long_run.py", "0.05"]
import long_run
import refarray as xp
long_run.SIZES = (1,)
kept = []
{fault}
sys.exit(long_run.main())
"""
FAULTS = {
    "nothing": ("", None),
    "an array": (
        "long_run.EXCHANGES += (lambda n: kept.append(xp.ones(n)),)",
        "something is left",
    ),
    "bytes that are not refarray's": (
        "long_run.EXCHANGES += (lambda n: kept.append(b'x' * 2**18),)",
        "does not stay within 5 MiB",
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_what_is_lost_is_seen(what):
    fault, words = FAULTS[what]
    path = [str(HERE), str(HERE.parents[1])]
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(path=path, fault=fault)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == (0 if words is None else 1), ended.stdout + ended.stderr
    assert words is None or words in ended.stdout
