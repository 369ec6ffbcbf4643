"""The profile `pedantic`: an error for each row of the table that says so.

The cases: pedantic_cases.py. What is specified, and so does not raise, is in
test_pedantic_specified.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pedantic_cases import CASES, GPU, Case

import refarray as xp
from refarray import profiles

TABLE = Path(__file__).parents[2] / "docs" / "reference" / "unspecified.md"
PEDANTIC = profiles.profile("pedantic", devices=("cpu", GPU))

CALLS = [
    pytest.param(call, id=f"{row[:60]}-{i}")
    for row, calls in CASES.items()
    for i, call in enumerate(calls)
]


def rows() -> dict[str, str]:
    """What the column `pedantic` says, for each row of the table."""
    found = {}
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("|") and len(cells) == 5 and cells[3] != "`pedantic`":
            found[f"{cells[0]}: {cells[1]}"] = cells[3]
    return found


def test_each_row_that_raises_has_cases_and_no_other() -> None:
    raising = {row for row, says in rows().items() if says.startswith("raises")}
    assert raising == set(CASES)


def test_each_row_says_whether_it_raises() -> None:
    words = re.compile("raises|an error anyway$|adversarial$|no[ :]|where `astype` ")
    assert len(rows()) > 120
    for row, says in rows().items():
        assert words.match(says), row


@pytest.mark.parametrize("call", CALLS)
def test_what_is_open_raises(call: Case) -> None:
    with profiles.use(PEDANTIC):
        with pytest.raises(profiles.UnspecifiedError, match="leaves open"):
            call()


@pytest.mark.parametrize("call", CALLS)
def test_strict_has_an_answer(call: Case) -> None:
    with profiles.use(devices=("cpu", GPU)):
        call()


def test_the_error_says_what_where_and_what_instead() -> None:
    with profiles.use("pedantic"), pytest.raises(ValueError) as caught:
        xp.asarray([1, 2]) // 0
    message = str(caught.value)
    for part in ("floor_divide", "zero", "2025.12", "notes", "where"):
        assert part in message


def test_a_refusal_of_strict_comes_first() -> None:
    x = xp.asarray([1, 2])
    with profiles.use("pedantic"):
        for error, call in (
            (OverflowError, lambda: xp.asarray([2**63])),
            (OverflowError, lambda: xp.full(2, 300, dtype=xp.uint8)),
            (IndexError, lambda: x[True]),
            (IndexError, lambda: x[5]),
            (TypeError, lambda: x[[0]]),
            (TypeError, lambda: xp.zeros(2.0)),
            (TypeError, lambda: x + 1.0),
        ):
            with pytest.raises(error) as caught:
                call()
            assert not isinstance(caught.value, profiles.UnspecifiedError)


def test_negative_indices_were_open_before_2024_12() -> None:
    x, last = xp.asarray([1, 2]), xp.asarray([-1])
    with profiles.use("pedantic"):
        assert int(xp.take(x, last)[0]) == 2
    with profiles.use("pedantic", api_version="2023.12"):
        with pytest.raises(profiles.UnspecifiedError, match=r"2024\.12"):
            xp.take(x, last)
        assert int(xp.take(x, xp.asarray([1]))[0]) == 2


def test_elements_are_checked_where_values_are_out_of_reach() -> None:
    x = xp.asarray([2**62, 1])
    with profiles.use("pedantic+dask"), pytest.raises(profiles.UnspecifiedError):
        x * 2
    with profiles.use("pedantic+jit"):
        assert (x + 1).shape == (2,)


def test_a_refused_operation_in_place_changes_nothing() -> None:
    x = xp.asarray([100, 1], dtype=xp.int8)
    with profiles.use("pedantic"):
        for call in (lambda: x.__imul__(2), lambda: x.__setitem__(slice(0, 5), 0)):
            with pytest.raises(profiles.UnspecifiedError):
                call()
    assert [int(element) for element in x] == [100, 1]
