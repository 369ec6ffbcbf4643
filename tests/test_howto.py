"""The code of the how-to pages runs, as a reader would run it."""

import re
from pathlib import Path

import numpy as np
import pytest

from refarray._memory import device_release
from refarray.testing import simulated_driver

pytest_plugins = ["pytester"]

PAGES = Path(__file__).parents[1] / "docs" / "howto"


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (PAGES / page).read_text(), re.DOTALL)


def test_what_find_what_is_not_portable_prints(capsys):
    page = "find-what-is-not-portable.md"
    text = (PAGES / page).read_text()
    namespace = {}
    for block in blocks(page):
        exec(compile(block, page, "exec"), namespace)
    promised = "".join(re.findall(r"```text\n(.*?)```", text, re.DOTALL))
    assert capsys.readouterr().out == promised


@pytest.fixture
def add_dlpack():
    namespace = {}
    for block in blocks("add-dlpack.md"):
        exec(compile(block, "add-dlpack.md", "exec"), namespace)
    return namespace


def test_the_mapped_file_of_add_dlpack(add_dlpack, tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(4.0).tobytes())
    a = np.from_dlpack(add_dlpack["Mapped"](path))
    a[1] = 7.0
    b = np.from_dlpack(add_dlpack["Mapped"](path))
    assert b.tolist() == [0.0, 7.0, 2.0, 3.0]


def test_the_address_of_add_dlpack(add_dlpack):
    a = np.from_dlpack(add_dlpack["tensor"])
    assert a.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert not a.flags.writeable


def test_the_doubles_of_test_your_dlpack(pytester):
    pytester.makepyfile(test_mine="\n\n".join(blocks("test-your-dlpack.md")))
    ended = pytester.runpytest_inprocess(
        *("-p", "refarray.testing.plugin", "-p", "no:cacheprovider", "-q", "-rf")
    )
    failed = {
        line.partition("[")[2].partition("]")[0]
        for line in ended.outlines
        if line.startswith("FAILED")
    }
    assert failed == {
        "data NULL with 6 elements",
        "announced (2, 0), capsule on (1, 0)",
        "announced (1, 0), capsule on (3, 0)",
    }
    assert ended.parseoutcomes()["failed"] == 3
    assert "errors" not in ended.parseoutcomes()


def test_the_message_of_test_your_dlpack(pytester):
    page = (PAGES / "test-your-dlpack.md").read_text()
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    (pytester.path / "test_mine.py").write_text(
        "from refarray.testing.violators import VIOLATORS\n"
        + "\n" * 28
        + "def test_mine(dlpack_doubles):\n"
        + "    double = dlpack_doubles.producer()\n"
        + "    VIOLATORS[45]().from_dlpack(double.array)\n"
    )
    ended = pytester.runpytest_inprocess(
        *("-p", "refarray.testing.plugin", "-p", "no:cacheprovider")
    )
    # On CI (variable CI) the summary at the end repeats the message, without the E.
    seen = [line[1:].strip() for line in ended.outlines if line.startswith("E ")]
    assert [line.strip() for line in shown.splitlines()] == [
        line for line in seen if line.startswith(("AssertionError: ", "capsule 1, "))
    ]
    assert ended.parseoutcomes() == {"passed": 1, "errors": 1}


# ---- CUDA, on simulated devices ------------------------------------------------------


@pytest.fixture
def no_gpu(monkeypatch):
    """A machine without a GPU, for simulated_cuda without `force`."""
    monkeypatch.setattr(simulated_driver, "real_devices", lambda: 0)


def cuda_parts():
    """The two halves of the page: with a device, and without."""
    text = (PAGES / "cuda.md").read_text()
    device, nothing = text.split("\n## Without a GPU\n")
    found = []
    for part in (device, nothing):
        found.append(
            (
                re.findall(r"```python\n(.*?)```", part, re.DOTALL),
                "".join(re.findall(r"```text\n(.*?)```", part, re.DOTALL)),
            )
        )
    return found


def test_a_device_as_cuda_says(no_gpu, capsys, monkeypatch):
    monkeypatch.setattr(device_release, "_limit", device_release._limit)
    code, promised = cuda_parts()[0]
    theirs = [block for block in code if "import cupy" in block or "torch" in block]
    assert len(theirs) == 2  # for which it takes a GPU
    namespace = {}
    with simulated_driver.simulated_cuda():
        for block in code:
            program = compile(block, "cuda.md", "exec")
            if block not in theirs:
                exec(program, namespace)
        assert namespace["milliseconds"] >= 0
        assert 0 < namespace["free"] <= namespace["total"]
        namespace.clear()
    assert capsys.readouterr().out == promised


def test_no_device_as_cuda_says(no_gpu, capsys):
    code, promised = cuda_parts()[1]
    namespace = {}
    for block in code:
        exec(compile(block, "doubled.py", "exec"), namespace)
    address = re.compile("0x[0-9a-f]+")
    assert address.sub("0x", capsys.readouterr().out) == address.sub("0x", promised)
