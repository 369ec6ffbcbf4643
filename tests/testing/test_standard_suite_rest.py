"""refarray has no deviation, and a function of it that is wrong has one.

All checks are held against refarray. Then one function at a time is replaced by a
mutant: one that returns zeros of the right dtype, shape and type, or one that ignores
one of its keywords. As the unchanged library has no deviation, a mutant is caught as
soon as anything is reported. Mutants of the elementwise functions and of the operators
are in test_standard_suite.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import refarray
from refarray.testing import standard
from refarray.testing.standard import MODULES, runner
from refarray.testing.standard.runner import Check, Report

pytest.importorskip("mpmath", reason="the oracle of linalg and fft")

ELSEWHERE = ("check_elementwise", "check_operators", "check_promotion", "check_special")
"""How the files begin whose mutants are in test_standard_suite.py."""
FILES = tuple(file for file in MODULES if not file.startswith(ELSEWHERE))
ALIASES = {
    f"linalg.{name}": name
    for name in ("matmul", "matrix_transpose", "tensordot", "vecdot")
}
UNDEFINED = ("empty", "empty_like")
"""Functions whose values are not defined: zeros are as right as any."""
UNSEEN = {
    "device": "there is one device here, so ignoring it changes nothing",
    "stable": "an unstable sort may be stable",
}


def checks(file: str) -> tuple[Check, ...]:
    found: tuple[Check, ...] = import_module(f"refarray.testing.standard.{file}").CHECKS
    return found


def checks_of(function: str) -> list[Check]:
    subject = ALIASES.get(function, function)
    return [c for file in FILES for c in checks(file) if c.subject == subject]


def find(function: str) -> Any:
    found: Any = refarray
    for name in function.split("."):
        found = getattr(found, name)
    return found


def functions() -> list[str]:
    """The functions that the checks of this half of the suite are about."""
    subjects = dict.fromkeys(c.subject for file in FILES for c in checks(file))
    return [
        s for s in (*subjects, *ALIASES) if runner.exists(refarray, s) and is_name(s)
    ]


def is_name(subject: str) -> bool:
    return " " not in subject and not subject.startswith("__")


def keywords() -> Iterator[tuple[str, str]]:
    """Every function with each of its optional parameters."""
    for function in functions():
        for name, parameter in inspect.signature(find(function)).parameters.items():
            optional = parameter.default is not inspect.Parameter.empty
            named = parameter.kind is not inspect.Parameter.POSITIONAL_ONLY
            if optional and named and name not in UNSEEN:
                yield function, name


class Caught(BaseException):
    """The first deviation: the mutant is found out."""


class FirstDeviation(list[Any]):
    def append(self, deviation: Any) -> None:
        raise Caught(deviation)


class Namespace:
    """refarray with one function replaced."""

    def __init__(self, inner: Any, name: str, replacement: Callable[..., Any]) -> None:
        first, _, rest = name.partition(".")
        self._inner = inner
        self._name = first
        value = Namespace(getattr(inner, first), rest, replacement) if rest else None
        self._value = value or replacement

    def __getattr__(self, name: str) -> Any:
        return self._value if name == self._name else getattr(self._inner, name)


def is_caught(function: str, replacement: Callable[..., Any]) -> bool:
    xp = Namespace(refarray, function, replacement)
    report = Report(xp, deviations=FirstDeviation())
    for check in checks_of(function):
        try:
            check.run(xp, report)
        except Exception:
            return True  # the runner reports this as a deviation
        except Caught:
            return True
    return False


def zeros_of(result: Any) -> Any:
    """Zeros of the type, dtype and shape of what a function returned."""
    if isinstance(result, refarray.Array):
        return refarray.zeros(result.shape, dtype=result.dtype)
    if isinstance(result, tuple):
        parts = [zeros_of(part) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    if isinstance(result, bool | int | float):
        return type(result)(0)
    return None  # a dtype or an info object has no zero


def test_every_file_of_checks_is_run() -> None:
    folder = Path(standard.__file__).parent
    assert sorted(MODULES) == sorted(path.stem for path in folder.glob("check_*.py"))


@pytest.mark.parametrize("file", MODULES)
def test_refarray_has_no_deviation(file: str) -> None:
    report = runner.run(refarray, checks(file))
    assert report.cases > 0
    assert report.deviations == []
    assert report.notes == []


@pytest.mark.parametrize("function", [f for f in functions() if f not in UNDEFINED])
def test_zeros_are_caught(function: str) -> None:
    original = find(function)

    def zeros(*args: Any, **kwargs: Any) -> Any:
        return zeros_of(original(*args, **kwargs))

    def ones(*args: Any, **kwargs: Any) -> Any:
        return refarray.ones_like(original(*args, **kwargs))

    assert is_caught(function, ones if function.startswith("zeros") else zeros)


@pytest.mark.parametrize(("function", "keyword"), list(keywords()))
def test_an_ignored_keyword_is_caught(function: str, keyword: str) -> None:
    original = find(function)

    def mutant(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop(keyword, None)
        return original(*args, **kwargs)

    assert is_caught(function, mutant)
