"""Every check catches its planted violator and passes the correct double.

Then real libraries: what NumPy breaks was measured on NumPy, and is a fact about it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from dlpack_adapters import NumPy, Refarray

from refarray.testing.adapters import Adapter
from refarray.testing.library import DOUBLES, Library
from refarray.testing.loading import LoadingError
from refarray.testing.rules import RULES, check, page
from refarray.testing.violators import VIOLATORS

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = range(1, len(RULES) + 1)

# Rules about devices that a library without such a device cannot show.
NEEDS_CUDA_OR_ROCM = {15, 17, 18, 19, 58}

# The C exchange API, which a library need not have.
EXCHANGE = set(range(61, 71))

# Violators of these end the process, or need one of their own.
DEADLY = {33, 34, 35}


def verdicts(adapter, rules=None, **options):
    """Rule -> the set of its verdicts."""
    found = {}
    for finding in check(adapter, rules, **options):
        found.setdefault(finding.rule, set()).add(finding.verdict)
    return found


def broken(adapter, rules=None, **options):
    """The rules that are not kept."""
    found = verdicts(adapter, rules, **options)
    return {rule for rule, seen in found.items() if seen & {"fail", "crash"}}


def test_rules_are_numbered_without_a_gap():
    assert list(RULES) == list(NUMBERS) == list(VIOLATORS)


@pytest.mark.parametrize("number", NUMBERS)
def test_violator_is_caught(number):
    violator = VIOLATORS[number]()
    deadly = number in DEADLY
    assert broken(violator, [number], isolate=deadly) == {number}


@pytest.mark.parametrize("number", NUMBERS)
def test_violator_has_one_fault_only(number):
    others = [n for n in NUMBERS if n != number and n not in DEADLY]
    assert broken(VIOLATORS[number](), others, isolate=False) == set()


@pytest.mark.parametrize("number", NUMBERS)
def test_correct_double_passes(number):
    double = DOUBLES.get(number, Library)()
    assert verdicts(double, [number], isolate=False) == {number: {"pass"}}


@pytest.mark.parametrize("double", [Library, *sorted({*DOUBLES.values()}, key=repr)])
def test_doubles_keep_every_rule(double):
    assert broken(double()) == set()


def test_a_crash_is_a_finding_and_the_rest_goes_on():
    found = verdicts(VIOLATORS[35](), [33, 35, 42, 43])
    assert found == {33: {"pass"}, 35: {"crash"}, 42: {"pass"}, 43: {"pass"}}


def test_a_crash_names_its_case():
    (finding,) = check(VIOLATORS[33](), [33])
    assert finding.verdict == "crash"
    assert "SIG" in finding.seen
    assert (
        finding.reproduce == "versioned deleter on a thread that Python does not know"
    )


def test_a_hang_is_a_finding(monkeypatch):
    monkeypatch.setenv("REFARRAY_CHECK_PATIENCE", "0.5")
    (finding,) = check(Hanging(), [43])
    assert finding.verdict == "crash"
    assert finding.seen == "no answer after 0.5 s"


class Hanging(Library):
    def check_version(self, found):
        while True:
            pass


def test_what_a_library_cannot_show_is_skipped_with_the_reason():
    for finding in check(Library(), NEEDS_CUDA_OR_ROCM):
        assert finding.verdict == "skip"
        assert "(1, 0)" in finding.seen


def test_an_adapter_of_ten_lines_is_enough():
    class Minimal(Adapter):
        from_dlpack = staticmethod(NumPy.from_dlpack)

        def make(self, values, shape, dtype):
            return NumPy().make(values, shape, dtype)

        def read(self, array):
            return array.flatten().tolist()

    found = verdicts(Minimal(), isolate=False, rules=[1, 2, 12, 27, 46, 48, 60])
    assert set.union(*found.values()) == {"pass"}


def test_an_adapter_that_a_child_cannot_import_is_skipped_with_the_reason():
    class Local(Library):
        pass

    (finding,) = check(Local(), [43])
    assert finding.verdict == "skip"
    assert "top of a module" in finding.seen


def test_an_adapter_in_a_script_is_found_by_its_file(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from refarray.testing.library import Library\n"
        "from refarray.testing.rules import check\n"
        "class Mine(Library):\n"
        "    pass\n"
        "if __name__ == '__main__':\n"
        "    print(*check(Mine(), [43, 34]))\n"
    )
    ended = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "rule 34 (must): pass rule 43 (must): pass\n"


def test_a_child_that_does_not_start_is_no_finding():
    class Elsewhere(Library):
        pass

    Elsewhere.__module__, Elsewhere.__qualname__ = "no_such_module", "Elsewhere"
    with pytest.raises(LoadingError, match="no_such_module cannot be imported"):
        check(Elsewhere(), [43])


def test_an_error_of_the_adapter_is_not_taken_for_a_pass():
    class Broken(Library):
        def make(self, values, shape, dtype):
            raise OSError("out of order")

    (finding,) = check(Broken(), [1])
    assert finding.verdict == "fail"
    assert "out of order" in finding.seen


def test_an_adapter_without_a_producer_or_consumer_is_skipped():
    class Empty(Adapter):
        pass

    found = verdicts(Empty(), isolate=False)
    assert set.union(*found.values()) == {"skip"}


def test_numpy():
    breaks = {
        24,  # should: data is not NULL for size 0
        40,  # should: __dlpack_device__ is never called
        51,  # NULL data with elements is accepted
        54,  # so what it would have announced is not compared
        56,  # copy=True trusts the producer, and has no fallback for old ones
    }
    version = np.lib.NumpyVersion(np.__version__)
    if version < "2.4.0":
        breaks.add(10)  # ValueError for a device out of reach
    else:
        breaks.add(25)  # should: strides of one element stay as they are (numpy#20336)
    if version < "2.5.0":
        breaks.add(55)  # RuntimeError where the device is out of reach
    found = verdicts(NumPy())
    assert {n for n, seen in found.items() if seen & {"fail", "crash"}} == breaks
    assert {n for n, seen in found.items() if "skip" in seen} == (
        NEEDS_CUDA_OR_ROCM | EXCHANGE
    )


def test_refarray_keeps_every_rule():
    found = check(Refarray())
    assert [str(f) for f in found if f.verdict in ("fail", "crash")] == []
    # 3, 21 and 70 are about arrays that are refused; refarray has none on the CPU.
    skipped = {f.rule for f in found if f.verdict == "skip"}
    assert skipped == NEEDS_CUDA_OR_ROCM | {3, 21, 70}


def test_page_is_current():
    written = (ROOT / "docs" / "reference" / "rules.md").read_text(encoding="utf-8")
    assert written == page(), (
        "python -m refarray.testing.rules > docs/reference/rules.md"
    )


@pytest.mark.slow
def test_a_leak_shows_in_a_process_that_had_more_memory_before():
    before = [bytearray(1 << 20) for _ in range(300)]
    del before
    assert broken(VIOLATORS[31](), [31]) == {31}
    assert broken(Library(), [31]) == set()


def test_the_memory_of_the_double_outlives_python(monkeypatch):
    monkeypatch.setenv("MALLOC_PERTURB_", "165")  # glibc overwrites what is freed
    assert [finding.verdict for finding in check(Library(), [34])] == ["pass"]


def test_a_deleter_that_never_returns_is_found(monkeypatch):
    """Python 3.14 and later keep who asks for the GIL after their end waiting."""
    monkeypatch.setenv("REFARRAY_CHECK_PATIENCE", "0.01")  # no child is as quick
    (found,) = check(NumPy(), [34], isolate=False)
    assert found.verdict == "fail"
    assert "had not ended after 0.01 s" in found.seen
