"""The pipeline: from the arguments of a function to a kernel on memory.

One path for functions and operators, on every device: operands, device, dtype category,
promotion, broadcasting, output, kernel. What depends on the dtypes alone is worked out
once for each combination and kept as a plan.

Next: `clip.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from refarray._base import dtypes, profile
from refarray._base.devices import Device
from refarray._base.dtypes import DType
from refarray._base.layout import broadcast_shapes
from refarray._base.promotion import held_error, promote, scalar_dtype
from refarray._compute import freedom, pedantic, repairs
from refarray._compute.engine import (
    NUMPY_DTYPES,
    Kernel,
    call,
    compute,
    elementwise,
    view,
    will_write,
)
from refarray._memory.native import ArrayBase

if TYPE_CHECKING:
    # Defined above the pipeline, which makes arrays through `allocate`.
    from refarray._compute.array import Array

ResultRule = Callable[[DType], DType]


class Category:
    """The dtypes that a function takes, by the standard's word for them."""

    __slots__ = ("words", "dtypes", "keys")

    def __init__(self, words: str, dtypes: frozenset[DType]) -> None:
        self.words = words
        self.dtypes = dtypes
        self.keys = frozenset([dtype.key for dtype in dtypes])


_K = dtypes.KINDS
ANY = Category("any", frozenset(dtypes.STANDARD))
NUMERIC = Category("a numeric", _K["numeric"])
REAL = Category("a real-valued", _K["integral"] | _K["real floating"])
FLOATING = Category("a floating-point", _K["real floating"] | _K["complex floating"])
REAL_FLOATING = Category("a real floating-point", _K["real floating"])
COMPLEX = Category("a complex floating-point", _K["complex floating"])
INTEGRAL = Category("an integer", _K["integral"])
INTEGRAL_OR_BOOL = Category("an integer or boolean", _K["integral"] | _K["bool"])
BOOL = Category("a boolean", _K["bool"])


# What the dtype of the result is, given that in which the operands meet.
def same(dtype: DType) -> DType:
    """Result of the operands' own dtype."""
    return dtype


def boolean(dtype: DType) -> DType:
    """Result of dtype bool: comparisons and predicates."""
    return dtypes.bool


def component(dtype: DType) -> DType:
    """Result of the dtype of a complex number's components: abs, real, imag."""
    return _COMPONENT.get(dtype, dtype)


_COMPONENT = {
    dtypes.complex64: dtypes.float32,
    dtypes.complex128: dtypes.float64,
}


class Plan:
    """What to do for one combination of function and operand dtypes."""

    __slots__ = ("kernel", "common", "result", "converts")

    def __init__(self, kernel: Kernel, common: DType, result: DType) -> None:
        self.kernel = kernel
        self.common = common
        self.result = result
        # NumPy's ufuncs convert mixed operands themselves, block by block; a kernel of
        # ours is given operands of one dtype.
        self.converts = isinstance(kernel, np.ufunc)


_plans: dict[tuple[str, int, object], Plan] = {}


# What is left of a plan when nothing needs to be asked of the operands: by function and
# by number the kernel, and the dtype of the result. In C `elementwise` finds it there.
ready: defaultdict[str, dict[int, tuple[Kernel, DType]]] = defaultdict(dict)


def remember(name: str, kernel: Kernel, result: DType, *operands: object) -> None:
    """Let `elementwise` call a kernel for all operands of these dtypes or types."""
    number = 0
    for x in operands:
        key = x.dtype.key if isinstance(x, ArrayBase) else _SCALAR_KEYS.get(type(x))
        if key is None:
            return
        number = 16 * number + key
    ready[name][number] = (kernel, result)


# Of the dtypes that are only held, which have no plans.
_SCALAR_KEYS: dict[type, int] = {int: 14, float: 15}


def _make_plan(
    name: str, category: Category, common: DType, result: ResultRule
) -> Plan:
    if common not in category.dtypes:
        raise category_error(name, category, common)
    kernel = repairs.kernel(name, common)
    return Plan(kernel, common, result(common))


def category_error(name: str, category: Category, dtype: DType) -> TypeError:
    """Return the error for an array whose dtype the function does not take."""
    if dtype.family == "held":
        return held_error(dtype)
    return TypeError(
        f"{name} takes arrays of {category.words} dtype, got {dtype} "
        f"(array API 2025.12, {name})"
    )


# Operands ----------------------------------------------------------------------------


def check_array(name: str, x: object) -> None:
    """Raise TypeError unless `x` is an array of this library."""
    if not isinstance(x, ArrayBase):
        raise operand_error(name, x)


def operand_error(name: str, x: object) -> TypeError:
    """Return the error for an operand that is no array of this library."""
    given = type(x).__name__
    if type(x).__module__ == "numpy":
        if isinstance(x, np.generic):
            advice = f"convert the NumPy scalar to a Python one: {given}.item()"
        else:
            advice = "convert it with refarray.asarray or refarray.from_dlpack"
    elif isinstance(x, (list, tuple, bool, int, float, complex)):
        advice = "make an array of it with refarray.asarray"
    else:
        advice = "convert it with refarray.from_dlpack if it is an array"
    return TypeError(f"{name} takes arrays of refarray, got {given}; {advice}")


def device_error(name: str, first: Device, second: Device) -> ValueError:
    """Return the error for operands on different devices."""
    return ValueError(
        f"{name} takes arrays on one device, got {first!r} and {second!r}; copy one of "
        "them with to_device (array API 2025.12, device support: no implicit transfer)"
    )


# The types of Python scalars; bool before int, of which it is a subclass.
SCALARS: tuple[type, ...] = (bool, int, float, complex)


def is_scalar(x: object) -> bool:
    """Tell whether `x` is a Python scalar; np.float64, a subclass of float, is none."""
    return type(x) in SCALARS or (
        isinstance(x, SCALARS) and not isinstance(x, np.generic)
    )


def plain_scalar(x: Any) -> bool | int | float | complex:
    """Return a Python scalar, perhaps of a subclass such as IntEnum, as exactly one."""
    for kind in SCALARS:
        if isinstance(x, kind):
            plain: bool | int | float | complex = kind(x)
            return plain
    raise AssertionError(x)


# Elementwise -------------------------------------------------------------------------


def unary(name: str, category: Category, x: Array, result: ResultRule = same) -> Array:
    """Apply an elementwise function of one array."""
    out: Array | None = elementwise(ready[name], x)
    if out is not None:
        return out
    if not isinstance(x, ArrayBase):
        raise operand_error(name, x)
    dtype = x.dtype
    plan = _plans.get((name, dtype.key, None))
    if plan is None:
        plan = _plans[name, dtype.key, None] = _make_plan(name, category, dtype, result)
    if plan.converts:
        remember(name, plan.kernel, plan.result, x)
    if profile.guarded:
        pedantic.unary(name, dtype, x._view)
        if (shared := freedom.unary_view(name, x)) is not None:
            return shared
    out = compute(plan.kernel, x._shape, plan.result, x.device, x)
    if profile.guarded:
        freedom.settle_unary(name, x._view, dtype, out._view)
    return out


def binary(
    name: str,
    category: Category,
    x1: Array | complex,
    x2: Array | complex,
    result: ResultRule = same,
) -> Array:
    """Apply an elementwise function of two operands, one of which may be a scalar."""
    out: Array | None = elementwise(ready[name], x1, x2)
    if out is not None:
        return out
    v1: Any
    v2: Any
    if isinstance(x1, ArrayBase) and isinstance(x2, ArrayBase):
        plan = _plans.get((name, x1.dtype.key, x2.dtype.key))
        if plan is None:
            plan = _plan_for_arrays(name, category, x1, x2, result)
        shape, device = x1._shape, x1.device
        if x2.device is not device:
            raise device_error(name, device, x2.device)
        if x2._shape != shape:
            shape = broadcast_shapes(shape, x2._shape)
        v1, v2 = x1, x2
        if not plan.converts:
            v1, v2 = _converted(x1, plan), _converted(x2, plan)
    elif isinstance(x1, ArrayBase):
        plan = plan_for_scalar(name, category, x1, x2, result)
        shape, device = x1._shape, x1.device
        v1, v2 = _converted(x1, plan), _scalar_operand(x2, plan)
    elif isinstance(x2, ArrayBase):
        plan = plan_for_scalar(name, category, x2, x1, result)
        shape, device = x2._shape, x2.device
        v1, v2 = _scalar_operand(x1, plan), _converted(x2, plan)
    else:
        raise operand_error(name, x1)
    if plan.converts:
        remember(name, plan.kernel, plan.result, x1, x2)
    if profile.guarded:
        v1 = view(v1) if isinstance(v1, ArrayBase) else v1
        v2 = view(v2) if isinstance(v2, ArrayBase) else v2
        pedantic.binary(name, plan.common, v1, v2)
    out = compute(plan.kernel, shape, plan.result, device, v1, v2)
    if profile.guarded:
        freedom.settle_binary(name, v1, v2, plan.common, out._view)
    return out


def check_writable(x: ArrayBase) -> None:
    """Raise ValueError if writing to the memory of `x` is refused."""
    if profile.guarded:
        profile.check_mutable()
    if x._read_only:
        raise ValueError(
            "this array is read-only: it is a view of a broadcast array, or of memory "
            "whose owner forbids writing; copy it with refarray.asarray(x, copy=True)"
        )
    will_write(x)


def _plan_for_arrays(
    name: str, category: Category, x1: ArrayBase, x2: ArrayBase, result: ResultRule
) -> Plan:
    for x in (x1, x2):
        if x.dtype not in category.dtypes:
            raise category_error(name, category, x.dtype)
    plan = _make_plan(name, category, promote(x1.dtype, x2.dtype), result)
    _plans[name, x1.dtype.key, x2.dtype.key] = plan
    return plan


def plan_for_scalar(
    name: str, category: Category, x: ArrayBase, scalar: object, result: ResultRule
) -> Plan:
    """Return the plan for an array and a Python scalar; TypeError where none can be."""
    kind = type(scalar)
    if kind not in SCALARS:
        if not is_scalar(scalar):
            if not _is_python_scalar_too(scalar, x.dtype):
                raise operand_error(name, scalar)
            profile.unspecified(
                f"{name} with a NumPy scalar, {scalar!r}",
                "mixing arrays with Python scalars",
                "convert it with item()",
            )
        kind = type(plain_scalar(scalar))
    plan = _plans.get((name, x.dtype.key, kind))
    if plan is None:
        if x.dtype not in category.dtypes:
            raise category_error(name, category, x.dtype)
        plan = _make_plan(name, category, scalar_dtype(kind, x.dtype), result)
        _plans[name, x.dtype.key, kind] = plan
    return plan


def _is_python_scalar_too(scalar: object, dtype: DType) -> bool:
    """Tell whether a NumPy scalar can pass for the Python scalar that it is as well.

    np.float64 is a float and np.complex128 a complex, but NumPy lets them widen float32
    where a Python scalar does not. Beside these two dtypes both rules give the same.
    """
    return isinstance(scalar, (float, complex)) and dtype in _WIDEST


_WIDEST = (dtypes.float64, dtypes.complex128)


def _converted(x: ArrayBase, plan: Plan) -> Any:
    if plan.converts:
        return x
    return view(x).astype(NUMPY_DTYPES[plan.common], copy=False)


def _scalar_operand(scalar: Any, plan: Plan) -> Any:
    """Return a Python scalar as a kernel takes it."""
    if type(scalar) is float and plan.converts and not profile.guarded:
        # A ufunc gives it the precision of the other operand itself, and sooner.
        return scalar
    return scalar_value(scalar, plan.common)


def scalar_value(scalar: Any, dtype: DType) -> Any:
    """Return a Python scalar as a NumPy scalar of `dtype`.

    OverflowError for an integer that `dtype` cannot hold.
    """
    if type(scalar) not in SCALARS:
        scalar = plain_scalar(scalar)
    if type(scalar) is int:
        from refarray._base.limits import check_int_range

        check_int_range(scalar, dtype)
    if profile.guarded:
        pedantic.scalar(scalar, dtype)
    try:
        return call(_SCALAR_TYPES[dtype.key], scalar)
    except OverflowError:
        from refarray._base.limits import too_large_error

        raise too_large_error(scalar, dtype) from None


_SCALAR_TYPES = {dtype.key: NUMPY_DTYPES[dtype].type for dtype in dtypes.STANDARD}
