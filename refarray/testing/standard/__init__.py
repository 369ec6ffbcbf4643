"""The value suite of the Python array API standard, for any namespace.

The official test suite proves names, shapes and dtypes; this one proves values: special
cases, extremes, accuracy, views, promotion, errors. Run it with

    python -m refarray.testing.standard numpy

or from Python with `run`; both need mpmath. Nothing here imports the library beside it:
the namespace under test is an argument, and the oracles are exact Python integers,
mpmath and, where it is exact, NumPy. Read `runner.py` first: it says what a check is.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from refarray.testing.standard import runner
from refarray.testing.standard.runner import Case, Check, Deviation, Report

__all__ = ["MODULES", "Case", "Check", "Deviation", "Report", "all_checks", "run"]

MODULES: tuple[str, ...] = (
    "check_elementwise_accuracy",
    "check_elementwise_exact",
    "check_elementwise_layouts",
    "check_elementwise_scalars",
    "check_elementwise_errors",
    "check_operators",
    "check_operators_overlap",
    "check_promotion",
    "check_special_cases",
    "check_special_reductions",
    "check_creation",
    "check_manipulation",
    "check_joining",
    "check_statistical",
    "check_sums",
    "check_accumulating",
    "check_searching",
    "check_sorting",
    "check_set",
    "check_indexing",
    "check_assignment",
    "check_data_types",
    "check_array_object",
    "check_inspection",
    "check_devices",
    "check_aliasing",
    "check_dlpack",
    "check_products",
    "check_linalg",
    "check_decompositions",
    "check_fft",
    "check_large",
)
"""The files of checks, in the order in which they run."""


def all_checks() -> tuple[Check, ...]:
    """Every check of the suite."""
    found: list[Check] = []
    for name in MODULES:
        found.extend(import_module(f"{__name__}.{name}").CHECKS)
    return tuple(found)


def run(xp: Any, only: str = "*") -> Report:
    """Hold the namespace ``xp`` to the standard.

    ``only`` is a shell-style pattern for the functions to check, such as ``"fft.*"``.
    Nothing that the namespace does raises here: the report holds the deviations.
    """
    return runner.run(xp, all_checks(), only=only)
