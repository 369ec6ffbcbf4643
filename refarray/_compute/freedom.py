"""Freedom: what the standard leaves to the library, decided by a seed.

Under a profile with a seed (`adversarial`), results are right in all that the standard
specifies, and differ from call to call in the rest: memory shared or not, the order of
unique values and eigenvalues, signs of eigenvectors, rounding of sums, values where
there is no right one, what `empty` finds in memory. Errors stay as they are: code that
meets one learns more from it than from a wrong value.

Choke points ask here under `if profile.guarded:` alone. Without a seed each function
gives back what it was given, or None.

Next: `pedantic.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from refarray._base import profile
from refarray._base.devices import CPU
from refarray._base.dtypes import BY_NAME, KINDS, DType
from refarray._base.limits import IINFO
from refarray._compute.engine import NUMPY_DTYPES, call
from refarray._compute.engine import view as kernel_view
from refarray._memory.native import allocate, view, wrap

if TYPE_CHECKING:
    from numpy.random import Generator

    from refarray._compute.array import Array


# Memory: copies where views were hoped for, and the other way round ------------------


def apart(x: Array) -> Array:
    """Return `x`, or by chance its elements in new memory, its axes in any order."""
    if not profile.coin(_nbytes(x)):
        return x
    out = _somewhere(x)
    call(np.copyto, kernel_view(out), kernel_view(x))
    return out


def _nbytes(x: Array) -> int:
    return x._size * x.dtype.bits // 8


def _somewhere(x: Array) -> Array:
    """Return new memory for an array like `x`, where any axis may be the dense one."""
    numbers = profile.chance()
    assert numbers is not None
    order = numbers.permutation(x.ndim)
    shape = x._shape
    out: Array = allocate(tuple(shape[i] for i in order), x.dtype, x.device, False)
    strides = out._strides
    back = tuple(strides[i] for i in order.argsort())
    out = view(out, 0, shape, back, False)
    return out


def another(x: Array) -> Array:
    """Return `x`, or by chance another array over its memory."""
    out: Array = view(x, 0, x._shape, x._strides, False) if profile.coin() else x
    return out


def unchanged(x: Any, shape: tuple[int, ...]) -> Array | None:
    """Return by chance a view of `x` as a result that has its elements, or None.

    None also for a result of another shape than that of `x`.
    """
    # One that nobody may write to would be no surprise but an error.
    if x._shape != shape or x._read_only or not profile.coin():
        return None
    out: Array = view(x, 0, shape, x._strides, False)
    return out


def _chance(values: Any) -> Generator | None:
    """Return random numbers for a kernel's array; None if it is better left alone."""
    if isinstance(values, np.ndarray) and values.nbytes <= profile.SURPRISE:
        return profile.chance()
    return None


_REAL = KINDS["integral"] | KINDS["real floating"]

# Elementwise functions that give back the elements of these dtypes as they are.
_IDENTITIES = {
    "abs": KINDS["unsigned integer"],
    "ceil": KINDS["integral"],
    "conj": _REAL,
    "floor": KINDS["integral"],
    "positive": KINDS["numeric"],
    "real": _REAL,
    "round": KINDS["integral"],
    "trunc": KINDS["integral"],
}


def unary_view(name: str, x: Array) -> Array | None:
    """Return by chance a view of `x` as the result of an elementwise function, or None.

    Source: array API 2025.12, conj and real, notes: the same underlying memory.
    """
    if x.dtype in _IDENTITIES.get(name, ()):
        return unchanged(x, x._shape)
    lendable = x.device is CPU and x.size is not None and not x._read_only
    if name in ("real", "imag") and lendable and profile.coin():
        part = getattr(kernel_view(x), name)
        lent = memoryview(part)
        out: Array = wrap(lent, BY_NAME[part.dtype.name], lent.format)
        return out
    return None


# Values where there is no right one --------------------------------------------------


def poison(x: Array) -> Array:
    """Fill new memory with what memory may hold, and lay it out in any way."""
    numbers = _chance(kernel_view(x))
    if numbers is None:
        return x
    out = _somewhere(x)
    call(np.copyto, kernel_view(out), _anything(numbers, out.dtype, out._shape))
    return out


def _anything(numbers: Generator, dtype: DType, shape: tuple[int, ...]) -> Any:
    """Return elements of any value: NaN, the largest, the least, and others."""
    kernel_dtype = NUMPY_DTYPES[dtype]
    if kernel_dtype.kind == "b":
        return numbers.integers(2, size=shape).astype(bool)
    if kernel_dtype.kind in "iu":
        limits = np.iinfo(kernel_dtype)
        return numbers.integers(
            limits.min, limits.max, size=shape, dtype=kernel_dtype, endpoint=True
        )
    out: Any = np.empty(shape, kernel_dtype)
    for part in (out.real, out.imag) if kernel_dtype.kind == "c" else (out,):
        most = np.finfo(part.dtype).max
        special = np.array([np.nan, np.inf, -np.inf, most, -most, 1e-30, -0.0])
        part[...] = numbers.choice(special.astype(part.dtype), size=shape)
    return out


def fill(out: Any, dtype: DType, where: Any) -> None:
    """Write anything at all into a kernel's array, where the standard has no value."""
    numbers = _chance(out)
    if numbers is not None and where.any():
        where = np.broadcast_to(where, out.shape)
        out[where] = _anything(numbers, dtype, (int(np.count_nonzero(where)),))


# Functions of which the standard asks for an approximation (accuracy); hypot as well,
# but its values beside a zero are exact.
_APPROXIMATE = frozenset(
    "acos acosh asin asinh atan atan2 atanh cos cosh exp expm1 log log1p log2 log10 "
    "logaddexp pow sin sinh tan tanh".split()
)

# Functions that choose between zeros of either sign as they like.
_ZEROS = ("maximum", "minimum")

# By which second operands integers have no result that the standard names. A shift by
# the width and more has one: zeros are appended, or the sign spreads.
_OPEN_INTEGERS: dict[str, Callable[[Any], Any]] = {
    "bitwise_left_shift": lambda x2: x2 < 0,
    "bitwise_right_shift": lambda x2: x2 < 0,
    "floor_divide": lambda x2: x2 == 0,
    "remainder": lambda x2: x2 == 0,
}


def settle_unary(name: str, x: Any, dtype: DType, out: Any) -> None:
    """Write what the standard leaves open into the result of an elementwise function.

    Source: array API 2025.12, abs and negative, notes: the least integer; accuracy.
    """
    if name in ("abs", "negative") and dtype in KINDS["signed integer"]:
        fill(out, dtype, x == IINFO[dtype].min)
    elif name in _APPROXIMATE and dtype in KINDS["real floating"]:
        _round_again(out)


def settle_binary(name: str, x1: Any, x2: Any, dtype: DType, out: Any) -> None:
    """Write what the standard leaves open into the result of an elementwise function.

    `dtype` is that in which the operands meet. Source: array API 2025.12, the notes of
    the functions in the tables above; accuracy.
    """
    numbers = _chance(out)
    if numbers is None:
        return
    if name in _ZEROS and dtype in KINDS["real floating"]:
        # Equal, and yet two: zeros of either sign.
        choice = np.where(numbers.integers(2, size=out.shape), x1, x2)
        call(np.copyto, out, choice, where=np.equal(x1, x2))
    elif name in _OPEN_INTEGERS and dtype in KINDS["integral"]:
        fill(out, dtype, _OPEN_INTEGERS[name](x2))
    elif name in _APPROXIMATE and dtype in KINDS["real floating"]:
        _round_again(out)


def _round_again(out: Any) -> None:
    """Change by chance the last digit of a function's results, towards zero.

    Not of whole numbers, subnormal ones, infinities and NaN, among which the values
    are that the standard asks for exactly.
    """
    numbers = _chance(out)
    if numbers is None:
        return
    tiny = np.finfo(out.dtype).smallest_normal
    fractions = (out != np.rint(out)) & (np.abs(out) > tiny) & np.isfinite(out)
    chosen = fractions & (numbers.random(out.shape) < 0.5)
    call(np.nextafter, out, out.dtype.type(0), out=out, where=chosen)


# Orders ------------------------------------------------------------------------------


def permutation(values: Any, axis: int = 0) -> Any:
    """Return the indices along an axis in any order, or None."""
    numbers = _chance(values)
    return None if numbers is None else numbers.permutation(values.shape[axis])


def shuffled(values: Any, axis: int) -> tuple[Any, Any]:
    """Return slices of a kernel's array along an axis in any order, and that order."""
    order = permutation(values, axis)
    return (values, None) if order is None else (values.take(order, axis), order)


def one_of_each(ordered: Any, begins: Any) -> Any:
    """Return an element of each group of equal ones, `begins` their first indices.

    Zeros of either sign are equal, and the library chooses which is the unique one.
    """
    numbers = _chance(ordered)
    if numbers is None:
        return ordered[begins]
    return ordered[numbers.integers(begins, np.append(begins[1:], len(ordered)))]


def regrouped(values: Any, axes: tuple[int, ...] | None) -> Any:
    """Return a kernel's array with elements that are reduced to one in any order.

    The rounding of a sum depends on it; so does which zero is the greatest.
    """
    for axis in range(values.ndim) if axes is None else axes:
        if values.shape[axis] > 1:
            return shuffled(values, axis)[0]
    return values


def paired(x1: Any, axis1: int, x2: Any, axis2: int) -> tuple[Any, Any]:
    """Return two kernel's arrays whose products along axes are summed in any order."""
    order = permutation(x1, axis1)
    if order is None or x2.nbytes > profile.SURPRISE:
        return x1, x2
    return x1.take(order, axis1), x2.take(order, axis2)


def nan_first() -> bool:
    """Tell whether sorting puts NaN first: under odd seeds, always.

    `sort`, `argsort` and `searchsorted` have to agree.
    Source: array API 2025.12, sorting functions, note; searchsorted, notes.
    """
    seed = profile.active().seed
    return seed is not None and seed % 2 == 1


# Matrices ----------------------------------------------------------------------------


def hermitian(values: Any) -> Any:
    """Return Hermitian matrices, or by chance their conjugate transposes.

    They are the same, unless a caller counts on one triangle being read.
    """
    return values.swapaxes(-1, -2).conj() if profile.coin() else values


def eigensystem(values: Any, vectors: Any, dtype: DType) -> tuple[Any, Any]:
    """Return eigenvalues in any order, and eigenvectors times any factor of modulus 1.

    `dtype` is that of the matrices, which says whether a factor is more than a sign.
    Source: array API 2025.12, eig and eigh, notes: sort order, non-uniqueness.
    """
    order = permutation(values, -1)
    if order is None or vectors.nbytes > profile.SURPRISE:
        return values, vectors
    vectors = vectors[..., order]
    return values[..., order], vectors * _factors(vectors, dtype)[..., None, :]


def eigenvalues(values: Any) -> Any:
    """Return eigenvalues in any order."""
    return shuffled(values, -1)[0]


def singular_vectors(u: Any, vh: Any, pairs: int, dtype: DType) -> tuple[Any, Any]:
    """Return singular vectors times any factor of modulus 1, the same in each pair.

    Source: array API 2025.12, svd, notes: non-uniqueness.
    """
    left = _factors(u, dtype)
    right = _factors(vh.swapaxes(-1, -2), dtype)
    if left is None or right is None:
        return u, vh
    right[..., :pairs] = left[..., :pairs]
    return u * left[..., None, :], vh * right.conj()[..., None]


def triangular(q: Any, r: Any) -> tuple[Any, Any]:
    """Return a QR decomposition with other signs: columns of Q and rows of R together.

    Source: array API 2025.12, qr, notes: unique up to the sign.
    """
    signs = _factors(q, None)
    if signs is None:
        return q, r
    return q * signs[..., None, :], r * signs[..., : r.shape[-2], None]


def _factors(columns: Any, dtype: DType | None) -> Any:
    """Return a sign, or a complex number of modulus 1, for each column of a matrix."""
    numbers = _chance(columns)
    if numbers is None:
        return None
    shape = (*columns.shape[:-2], columns.shape[-1])
    if dtype in KINDS["complex floating"]:
        return np.exp(2j * np.pi * numbers.random(shape)).astype(columns.dtype)
    return numbers.choice(np.array([-1, 1], columns.real.dtype), size=shape)
