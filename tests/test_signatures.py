"""Every public name has the signature of the standard, array API 2025.12.

tests/data/signatures.json holds the signatures of each version of the standard:
version -> category -> {"functions": name -> parameters, "constants": names}. A
parameter has a name, a kind and, if it is optional, a default as Python source. A
property has the word "property" in place of parameters.
"""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import refarray

VERSION = "2025.12"
STANDARD: dict[str, Any] = json.loads(
    Path(__file__).with_name("data").joinpath("signatures.json").read_text()
)[VERSION]

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float32 float64 complex64 complex128"
).split()

# Signatures in the standard's text that do not describe something callable by users.
NOT_COMPARED = {
    "array.__init__",  # the standard has no constructor; arrays come from functions
    "data_types.__eq__",  # of dtype objects; tested with them, in value and not in form
}


def standard_names() -> dict[str, Any]:
    """Every dotted name of the standard below the namespace, with its parameters."""
    names: dict[str, Any] = dict.fromkeys(DTYPES, "constant")
    for category, content in STANDARD.items():
        for name in content.get("constants", ()):
            if category != "array_object":
                names[name] = "constant"
        for name, parameters in content["functions"].items():
            if name.startswith("_array."):
                name = name.replace("_array.", "array.")
            elif category in ("fft", "linalg", "data_types"):
                name = f"{category}.{name}"
            elif category == "info" and name != "__array_namespace_info__":
                name = f"info.{name}"
            names[name] = parameters
    return {name: names[name] for name in names if name not in NOT_COMPARED}


NAMES = standard_names()
FUNCTIONS = [name for name, what in NAMES.items() if isinstance(what, list)]
PROPERTIES = [name for name, what in NAMES.items() if what == "property"]


MISSING = object()


def find(name: str) -> Any:
    """Return the object with a name of the standard in refarray, or MISSING."""
    owner, _, last = name.rpartition(".")
    match owner:
        case "array":
            found: Any = type(refarray.zeros(()))
        case "info":
            found = getattr(refarray, "__array_namespace_info__", lambda: None)()
        case "":
            found = refarray
        case extension:
            found = getattr(refarray, extension, None)
    return inspect.getattr_static(found, last, MISSING)


def parameters_of(function: Any, *, method: bool) -> list[inspect.Parameter]:
    assert function is not MISSING
    parameters = list(inspect.signature(function).parameters.values())
    return parameters[1:] if method else parameters


def expected_parameters(parameters: list[dict[str, str]]) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(
            parameter["name"],
            getattr(inspect.Parameter, parameter["kind"].upper()),
            default=(
                ast.literal_eval(parameter["default"])
                if "default" in parameter
                else inspect.Parameter.empty
            ),
        )
        for parameter in parameters
    ]


def form(parameters: list[inspect.Parameter]) -> list[tuple[str, str, str]]:
    """What must agree; defaults as text, so that 0 and 0.0, 1 and True differ."""
    return [
        # Nobody can pass an operand by name; CPython has its own for those in C.
        ("other" if p.name == "value" else p.name, p.kind.description, repr(p.default))
        for p in parameters
        if p.name != "mod"  # nor can a modulus be left out of CPython's pow
    ]


def test_no_name_is_missing() -> None:
    assert [name for name in NAMES if find(name) is MISSING] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters(name: str) -> None:
    method = name.startswith(("array.", "info."))
    assert form(parameters_of(find(name), method=method)) == form(
        expected_parameters(NAMES[name])
    )


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_cannot_be_set(name: str) -> None:
    assert inspect.isdatadescriptor(find(name))
    with pytest.raises(AttributeError):
        setattr(refarray.zeros((2, 2)), name.removeprefix("array."), None)


BINARY = "add and floordiv lshift matmul mod mul or pow rshift sub truediv xor".split()


@pytest.mark.parametrize("prefix", ["r", "i"])
@pytest.mark.parametrize("operator", BINARY)
def test_reflected_and_in_place_operators(prefix: str, operator: str) -> None:
    """The standard asks for both forms of each binary operator, in its prose."""
    method = find(f"array.__{prefix}{operator}__")
    assert form(parameters_of(method, method=True)) == form(
        expected_parameters(NAMES[f"array.__{operator}__"])
    )
