"""tests/gpu/check_gpu.py runs without a GPU, and says what it leaves out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "gpu" / "check_gpu.py"
STAND_IN = Path(__file__).with_name("stand_in.py")
sys.path.append(str(SCRIPT.parent))

from record import merge  # noqa: E402

pytestmark = pytest.mark.needs("fake CUDA driver")


def check(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """The exit status, and the lines."""
    ended = subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ended.stderr == ""
    return ended.returncode, [json.loads(line) for line in ended.stdout.splitlines()]


# What other libraries, kernels or a suite are needed for.
SKIPPED = {"jax_minus_one", "compute", "import_orders", "speed", "array_api_tests"}
# All but the contract, which the files around run on the fake themselves.
OK = {
    "environment",
    "contexts",
    "attributes",
    "order",
    "exchange",
    "pinned_and_managed",
    "lifetime",
    "costs",
    "negative",
}


def test_on_the_fake(fake_library: Path, tmp_path: Path) -> None:
    status, lines = check("--fake", "--out", str(tmp_path), "--only", *OK, *SKIPPED)
    assert [line for line in lines if line["status"] == "failed"] == []
    assert status == 0
    assert {line["check"] for line in lines if line["status"] == "ok"} == OK
    assert {line["check"] for line in lines if line["status"] == "skipped"} == SKIPPED
    for line in lines:
        assert line["target"] == "fake"
        assert line["seconds"] > 0
        assert (line["held"] == 0) == (line["status"] == "skipped")
        assert (line["reason"] != "") == (line["status"] == "skipped")
    by_name = {line["check"]: line for line in lines}
    assert by_name["environment"]["measured"]["device"] == "Fake device 0"
    assert by_name["exchange"]["left_out"].keys() >= {"cupy", "torch", "jax"}
    assert all(number > 0 for number in by_name["costs"]["measured"].values())
    written = (tmp_path / "check_gpu.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in written] == lines


def test_on_the_simulation() -> None:
    chosen = ("attributes", "compute", "exchange", "import_orders", "order")
    status, lines = check("--simulated", "--only", *chosen)
    assert status == 0, lines
    found = {line["check"]: line["status"] for line in lines}
    assert found == {**dict.fromkeys(chosen, "ok"), "import_orders": "skipped"}


@pytest.mark.parametrize(
    ("name", "held"),
    [("contexts", 11), ("order", 15), ("exchange", 1000), ("pinned_and_managed", 12)],
)
def test_what_is_done_with_other_libraries(
    tmp_path: Path, name: str, held: int
) -> None:
    found = tmp_path / "found.jsonl"
    subprocess.run([sys.executable, STAND_IN, name, found], check=True, timeout=120)
    line = merge(found)
    # refarray knows its own memory again, and orders it untold.
    untold = "if nobody tells it to"
    assert [said for said in line["broken"] if untold not in said] == []
    assert line["held"] >= held


def test_what_is_measured_beside_cupy(tmp_path: Path) -> None:
    found = tmp_path / "found.jsonl"
    subprocess.run([sys.executable, STAND_IN, "speed", found], check=True, timeout=120)
    line = merge(found)
    # The stand-in for a copy copies nothing, so that no addition is as fast.
    assert line["held"] >= 2
    assert "Error" not in line["reason"]
    assert all(said.endswith(("bandwidth", "time")) for said in line["broken"])
    assert len(line["measured"]) == 18


def test_the_reference_has_a_row_for_each_check() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "cuda.md").read_text()
    rows = page.partition("## Not yet confirmed on a GPU")[2]
    for name in {"contract", *OK, *SKIPPED} - {"environment"}:
        assert re.search(rf"^\|.*`{name}`.* \|", rows, re.MULTILINE), name


def test_none_begins_after_the_deadline() -> None:
    status, lines = check("--simulated", "--deadline", "1", "--only", "order", "costs")
    assert status == 0
    for line in lines:
        assert line["status"] == "skipped"
        assert line["reason"] == "the deadline of 1 s leaves no time"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("record.expect(False, 'water is dry')", "water is dry"),
        ("record.equal(1, 2, 'sum')", "sum: 1 is not 2"),
        ("raise KeyError('lost')", "costs: KeyError: 'lost' (checks_driver.py:4)"),
        ("__import__('os')._exit(7)", "ended with 7"),
        ("__import__('os').kill(__import__('os').getpid(), 11)", "ended with -11"),
        ("__import__('time').sleep(60)", "stopped after 6 s"),
    ],
)
def test_what_fails_is_said(tmp_path: Path, code: str, reason: str) -> None:
    # The script with one check that is not its own.
    for name in ("check_gpu.py", "record.py"):
        folder = tmp_path / "tests" / "gpu"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text((SCRIPT.parent / name).read_text())
    lines = ["def costs(record):", "    record.expect(True, 'begun')", "    if True:"]
    (folder / "checks_driver.py").write_text("\n".join([*lines, f"        {code}\n"]))
    ended = subprocess.run(
        [sys.executable, folder / "check_gpu.py", "--only", "costs", "--deadline", "6"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    (line,) = map(json.loads, ended.stdout.splitlines())
    assert (ended.returncode, line["status"], line["reason"]) == (1, "failed", reason)
    assert line["held"] == 1
