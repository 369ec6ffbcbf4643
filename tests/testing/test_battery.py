"""The battery of tests/field notices each fault that is planted in NumPy."""

import ast
import subprocess
import sys
from pathlib import Path

FIELD = Path(__file__).parents[1] / "field"
PLANTED = FIELD / "planted.py"


def planted():
    """Yield each class of the file, and the test that has to condemn it."""
    for node in ast.parse(PLANTED.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            for line in node.body:
                if ast.unparse(line).startswith("condemned_by"):
                    yield node.name, ast.literal_eval(line.value)


def test_every_planted_fault_is_noticed():
    faults = dict(planted())
    assert len(faults) > 20
    nodes = [f"{PLANTED}::{kind}::{test}" for kind, test in faults.items()]
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-rf", "--tb=no"),
            *("-p", "no:cacheprovider"),
            *(f"{PLANTED}::TestNothingIsWrong", *nodes),
        ],
        capture_output=True,
        text=True,
        cwd=FIELD.parents[1],
    )
    failed = {
        line.split("::")[1]
        for line in ended.stdout.splitlines()
        if line.startswith("FAILED")
    }
    assert failed == set(faults)
