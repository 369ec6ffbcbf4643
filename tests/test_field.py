"""The table of exchanges with other libraries, and the tool that writes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: The libraries that the discussion of DLPack named, by their files in tests/field/.
NAMED = {
    *("numpy", "torch", "jax", "tensorflow", "cupy", "tvm_ffi", "mxnet", "numba"),
    *("cudf", "taichi", "quadrants", "paddle", "dpnp", "opencl", "thinc", "dgl"),
    *("mpi4py", "pydlpack", "ctypes_dlpack", "pyarrow", "mlx", "warp", "onnxruntime"),
    *("nanobind", "drjit", "open3d", "cuda_core", "array_api_strict", "c_program"),
}


@pytest.fixture
def field(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import field

    return field


@pytest.fixture
def data(field):
    return json.loads(field.DATA.read_text(encoding="utf-8"))


def test_the_page_is_that_of_the_data(field, data):
    import field_page

    assert field.PAGE.read_text(encoding="utf-8") == field_page.page(data), (
        "python tools/field.py numpy"
    )


def test_the_page_counts_as_the_battery_does(field, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "field")
    import arrays
    import field_page

    assert len(arrays.DTYPES) == field_page.ALL == 14
    assert "refarray's fourteen" in field_page.HEAD
    assert len(arrays.LAYOUTS) == 11
    assert "eleven\nlayouts" in field_page.HEAD


def test_a_bug_has_a_link_to_its_report(field):
    import field_page

    assert field_page.report(None) == ""
    issue = "https://github.com/numpy/numpy/issues/32697"
    assert field_page.report(issue) == f" ([numpy#32697]({issue}))"
    page = "docs/upstream/mlx.md"
    assert field_page.report(page) == " ([shown here](../upstream/mlx.md))"


def test_every_library_has_its_row(field, data):
    assert set(data) >= NAMED
    assert set(data) == set(field.in_the_field()), "python tools/field.py"
    assert all(row["date"] for row in data.values())
    exchanging = [row for row in data.values() if row.get("directions") != "none"]
    assert len([row for row in exchanging if "reason" not in row]) >= 20


def test_a_row_without_a_library_says_what_was_tried(data):
    for row in data.values():
        if "reason" in row:
            assert row["tried"].startswith("pip install ")
            assert row["reason"]


def test_what_ci_installs_is_pinned(field):
    environments = [field.Environment(name) for name in field.in_the_field()]
    in_ci = [e for e in environments if e.line("In CI") == "yes"]
    assert {"numpy", "torch", "jax"} <= {e.name for e in in_ci}
    for environment in in_ci:
        wanted = environment.requirements
        assert all("==" in one for one in wanted), (
            f"{environment.name} is `In CI: yes`, so `Install:` takes NAME==VERSION"
        )


def test_files_of_one_library_run_together(field):
    assert field.test_files("torch") == [
        "tests/field/test_torch.py",
        "tests/field/test_torch_exchange_api.py",
    ]
    assert "torch_exchange_api" not in field.in_the_field()


def test_what_is_lost_is_told(field):
    bug = {"text": "crashes", "url": None}
    old = {
        **{"version": "1", "exchange": [], "tests": 5},
        **{"works": ["a"], "refuses": [], "bug": [bug]},
    }
    assert list(field.losses(old, {**old, "tests": 6})) == []
    assert list(field.losses(old, {**old, "works": [], "bug": []})) == [
        "nothing says any longer: works: a",
        "nothing says any longer: bug: crashes",
    ]
    assert list(field.losses(old, {**old, "tests": 4, "exchange": [{}]})) == [
        "its class of exchange.py states something else",
        "only 4 tests passed, and once 5",
    ]


def test_only_what_passed_is_published(field, monkeypatch, tmp_path):
    monkeypatch.setattr(field, "DATA", tmp_path / "field.json")
    monkeypatch.setattr(field, "PAGE", tmp_path / "field.md")
    torch = field.Environment("torch")
    assert field.publish(torch, field.Failed("1 failed"))[0] is False
    assert not field.DATA.exists()
    assert field.publish(torch, field.NotInstalled("no wheel")) == (
        *(True, "not installed: no wheel"),
    )
    assert "It ended with: no wheel." in field.PAGE.read_text()
    row = {
        **{"name": "PyTorch", "version": "2", "python": "3", "platform": "Linux"},
        **{"date": "2026-11-30", "directions": "both", "exchange": [], "tests": 1},
        **{"works": [], "refuses": [], "bug": []},
    }
    assert field.publish(torch, row)[0]
    assert field.publish(torch, field.NotInstalled("no network"))[0] is False
    assert json.loads(field.DATA.read_text()) == {"torch": row}


def test_a_row_goes_with_its_file(field, monkeypatch, tmp_path):
    monkeypatch.setattr(field, "DATA", tmp_path / "field.json")
    monkeypatch.setattr(field, "PAGE", tmp_path / "field.md")
    field.DATA.write_text(json.dumps({"no longer here": {}}))
    assert field.publish(field.Environment("torch"), field.NotInstalled("no wheel"))[0]
    assert list(json.loads(field.DATA.read_text())) == ["torch"]


def test_ci_takes_no_excuse_but_the_machine(field):
    row = {"version": "1", "exchange": [], "tests": 1, "works": [], "refuses": []}
    row["bug"] = []
    assert field.judge("x", row, row) == (True, "1: 1 tests passed")
    assert field.judge("x", row, None)[0] is False
    assert field.judge("x", field.LeftOut("several GB"), row)[0] is True
    assert field.judge("x", field.NotInstalled("no network"), row)[0] is False
    assert field.judge("x", field.Failed("1 failed"), row)[0] is False


def test_the_tests_write_what_they_state(field, data, tmp_path):
    record = tmp_path / "record.json"
    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("tests/field/test_numpy.py", "--record", str(record)),
        ],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    found = json.loads(record.read_text(encoding="utf-8"))
    assert list(field.losses(data["numpy"], found)) == []
