"""What Apache MXNet does in its own interpreter, with NumPy 1 and without refarray.

mxnet_alone.py runs there, and reads and makes capsules with ctypes alone. So it is
known that test_mxnet.py, where MXNet is in the process of refarray, tests it as it is.

Library: mxnet
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from refarray._base.dtypes import BY_NAME

PYTHON = os.environ.get("LIBRARY_PYTHON")
if PYTHON is None:
    reason = "mxnet is not installed; `make field LIBRARIES=mxnet` installs it"
    pytest.skip(reason, allow_module_level=True)

NAMES = ["int8", "int32", "int64", "uint8", "float16", "float32", "float64"]
UNREAD = {"strides": False, "offset": 0, "device": [1, 0], "shape": [2, 3]}


@pytest.fixture(scope="module")
def report():
    program = Path(__file__).with_name("mxnet_alone.py")
    ended = subprocess.run(
        [PYTHON, "-W", "ignore", str(program)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_the_versions(report):
    assert report["version"] == "1.9.1"
    assert report["numpy"].startswith("1.")


@pytest.mark.works
@pytest.mark.parametrize("name", NAMES)
def test_what_it_exports(report, name):
    """In its own interpreter, with NumPy 1, its capsules have the same contents."""
    seen = report["exported"][name]
    dtype = BY_NAME[name]
    assert seen["name"] == "dltensor"
    assert seen["type"] == [dtype.code, dtype.bits, 1]
    assert seen["values"] == [0, 1, 2, 3, 4, 5]
    assert {key: seen[key] for key in UNREAD} == UNREAD


@pytest.mark.works
@pytest.mark.parametrize("name", [*NAMES, "rows"])
def test_what_it_takes(report, name):
    """There too it shares what it takes, and calls each deleter once, at the end."""
    assert report["taken"][name] == {
        "values": [1, 2, 3, 4, 5, 6],
        "shared": True,
        "early": 0,
        "name": "used_dltensor",
        "calls": 1,
    }


@pytest.mark.refuses
@pytest.mark.parametrize("what", ["complex128", "columns"])
def test_what_it_refuses(report, what):
    """There too complex numbers and columns, whose capsules stay as they are."""
    seen = report["taken"][what]
    assert seen["name"] == "dltensor"
    assert seen["calls"] == 0
    assert seen["error"] in ("MXNetError", "UnicodeDecodeError")


def test_its_bugs_are_there_too(report):
    assert report["exported"]["bool"]["type"] == [1, 1, 1]
    values = np.asarray(report["taken"]["offset"]["values"])
    assert values.tolist() == [1, 2, 3, 4, 5, 6], "the byte offset is ignored"
