"""What an unknown size makes of the shapes of results: a table, function by function.

Each case is a function of the standard, a call of it, and the shape of each result,
with None for an unknown size. `Operands` has the arrays. The cases run on refarray, in
test_unknown_sizes.py, and on Dask, in tests/interop/test_dask.py.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from refarray.testing.standard.functions import FUNCTIONS

Shape = tuple[int | None, ...]
N = None


class Case(NamedTuple):
    function: str
    number: int
    call: Callable[[Any, Any], Any]
    shapes: list[Shape]

    def __str__(self) -> str:
        return f"{self.function}-{self.number}"


class Operands:
    """Arrays with known sizes, and others with sizes that depend on values.

    The known sizes include the true ones of the others, so that what fits by chance is
    seen: every unknown size is 3.
    """

    def __init__(self, xp: Any) -> None:
        self.v = xp.asarray([0.5, 0.25, 0.75, 0.125, 0.625])  # (5,)
        self.k = xp.asarray([0.5, 0.25, 0.75])  # (3,)
        self.one = xp.asarray([0.5])  # (1,)
        self.x = xp.asarray([[1.0, 2, 3], [0, 1, 1], [4, 0, 9], [2, 7, 1]])  # (4, 3)
        self.u = self.v[self.v > 0.3]  # (None,)
        self.w = self.v[self.v < 0.55]  # (None,)
        self.m = self.x[self.x[:, 0] > 0.5]  # (None, 3)
        self.q = self.m[:, self.k > 0.1]  # (None, None)
        self.mask = self.u > 0.6  # (None,)
        self.ints = xp.astype(self.u * 8, xp.int64)  # (None,)
        self.other_ints = xp.astype(self.w * 8, xp.int64)  # (None,)
        self.places = xp.nonzero(self.v > 0.3)[0]  # (None,)
        self.complex = xp.astype(self.u, xp.complex128)  # (None,)
        self.complex_m = xp.astype(self.m, xp.complex128)  # (None, 3)

    def pair(self, dtypes: tuple[str, ...]) -> tuple[Any, Any]:
        """Two vectors of unknown sizes, of a dtype that a function takes."""
        if "float64" in dtypes:
            return self.u, self.w
        if "int64" in dtypes:
            return self.ints, self.other_ints
        if "complex128" in dtypes:
            return self.complex, self.complex
        return self.mask, self.mask


# Elementwise: one array alone, two of unknown sizes, one and a size of one.


def _unary(name: str, dtypes: tuple[str, ...]) -> Any:
    return lambda xp, a: getattr(xp, name)(a.pair(dtypes)[0])


def _binary(name: str, dtypes: tuple[str, ...]) -> Any:
    return lambda xp, a: getattr(xp, name)(*a.pair(dtypes))


def _with_one(name: str, dtypes: tuple[str, ...]) -> Any:
    def call(xp: Any, a: Any) -> Any:
        x = a.pair(dtypes)[0]
        return getattr(xp, name)(x, xp.ones((2, 1), dtype=x.dtype))

    return call


ELEMENTWISE: dict[str, list[Any]] = {}
for _name, _function in FUNCTIONS.items():
    if _function.operands == 1:
        ELEMENTWISE[_name] = [(_unary(_name, _function.dtypes), (N,))]
    else:
        ELEMENTWISE[_name] = [
            (_binary(_name, _function.dtypes), (N,)),
            (_with_one(_name, _function.dtypes), (2, N)),
        ]

OTHERS: dict[str, list[Any]] = {
    # ---- Elementwise with more operands, and operators -------------------------------
    "clip": [
        (lambda xp, a: xp.clip(a.m, 1.0, 2.0), (N, 3)),
        (lambda xp, a: xp.clip(a.m, a.k, 5.0), (N, 3)),
        (lambda xp, a: xp.clip(xp.ones((2, 1)), a.u, a.u), (2, N)),
    ],
    "__add__": [
        (lambda xp, a: a.u + a.w, (N,)),
        (lambda xp, a: 1.0 - a.u, (N,)),
        (lambda xp, a: a.m + a.k, (N, 3)),
        (lambda xp, a: a.m + a.u[:, None], (N, 3)),
        (lambda xp, a: a.u[:, None] + a.w[None, :], (N, N)),
        (lambda xp, a: a.u + a.one, (N,)),
        (lambda xp, a: a.u + xp.asarray(1.0), (N,)),
        (lambda xp, a: -a.u, (N,)),
    ],
    "where": [
        (lambda xp, a: xp.where(a.mask, a.u, 0.0), (N,)),
        (lambda xp, a: xp.where(a.mask, a.u, a.w), (N,)),
        (lambda xp, a: xp.where(a.m > 1.0, a.m, a.k), (N, 3)),
        (lambda xp, a: xp.where(a.k > 0.3, a.m, 0.0), (N, 3)),
    ],
    # ---- Indexing --------------------------------------------------------------------
    "__getitem__": [
        (lambda xp, a: a.v[a.v > 0.3], (N,)),
        (lambda xp, a: a.x[a.x > 1.0], (N,)),
        (lambda xp, a: a.x[:, a.k > 0.3], (4, N)),
        (lambda xp, a: a.x[..., a.k > 0.3], (4, N)),
        (lambda xp, a: a.m[:, a.k > 0.3], (N, N)),
        (lambda xp, a: a.u[a.mask], (N,)),
        (lambda xp, a: a.m[a.mask, :], (N, 3)),
        (lambda xp, a: a.u[:], (N,)),
        (lambda xp, a: a.u[...], (N,)),
        (lambda xp, a: a.u[None, :], (1, N)),
        (lambda xp, a: a.u[:2], (N,)),
        (lambda xp, a: a.u[1:], (N,)),
        (lambda xp, a: a.u[::-1], (N,)),
        (lambda xp, a: a.u[5:], (N,)),
        (lambda xp, a: a.u[0], ()),
        (lambda xp, a: a.u[-1], ()),
        (lambda xp, a: a.m[0, :], (3,)),
        (lambda xp, a: a.m[:, 0], (N,)),
        (lambda xp, a: a.m[:, 1:], (N, 2)),
        (lambda xp, a: a.v[a.places], (N,)),
        (lambda xp, a: a.x[a.places[:2], :], (N, 3)),
        (lambda xp, a: a.u[xp.asarray([0, 1])], (2,)),
        (lambda xp, a: a.m[xp.asarray([0, 1]), :], (2, 3)),
        (lambda xp, a: a.m[:, xp.asarray([0, 1])], (N, 2)),
        (lambda xp, a: a.m[xp.asarray([0, 1]), xp.asarray([1, 2])], (2,)),
        (lambda xp, a: a.m[:, xp.asarray(1)], (N,)),
    ],
    "take": [
        (lambda xp, a: xp.take(a.v, a.places), (N,)),
        (lambda xp, a: xp.take(a.x, a.places[:1], axis=1), (4, N)),
        (lambda xp, a: xp.take(a.u, xp.asarray([0, 1])), (2,)),
        (lambda xp, a: xp.take(a.m, xp.asarray([0, 1]), axis=1), (N, 2)),
    ],
    "take_along_axis": [
        (
            lambda xp, a: xp.take_along_axis(a.m, xp.argsort(a.m, axis=1), axis=1),
            (N, 3),
        ),
        (
            lambda xp, a: xp.take_along_axis(a.m, xp.asarray([[0, 1]]), axis=1),
            (N, 2),
        ),
        (
            lambda xp, a: xp.take_along_axis(a.m, xp.asarray([[0, 1, 1]]), axis=0),
            (1, 3),
        ),
        (lambda xp, a: xp.take_along_axis(a.v, a.places, axis=0), (N,)),
    ],
    # ---- Sizes that depend on values -------------------------------------------------
    "nonzero": [
        (lambda xp, a: xp.nonzero(a.x > 1.0), [(N,), (N,)]),
        (lambda xp, a: xp.nonzero(a.m > 1.0), [(N,), (N,)]),
        (lambda xp, a: sum(xp.nonzero(a.x > 1.0)), (N,)),
    ],
    "unique_all": [
        (lambda xp, a: xp.unique_all(a.x), [(N,), (N,), (4, 3), (N,)]),
        (lambda xp, a: xp.unique_all(a.m), [(N,), (N,), (N, 3), (N,)]),
    ],
    "unique_counts": [(lambda xp, a: xp.unique_counts(a.x), [(N,), (N,)])],
    "unique_inverse": [
        (lambda xp, a: xp.unique_inverse(a.x), [(N,), (4, 3)]),
        (lambda xp, a: xp.unique_inverse(a.u), [(N,), (N,)]),
    ],
    "unique_values": [(lambda xp, a: xp.unique_values(a.x), (N,))],
    "repeat": [
        (lambda xp, a: xp.repeat(a.u, 2), (N,)),
        (lambda xp, a: xp.repeat(a.m, 2), (N,)),
        (lambda xp, a: xp.repeat(a.m, 2, axis=0), (N, 3)),
        (lambda xp, a: xp.repeat(a.m, 2, axis=1), (N, 6)),
        (lambda xp, a: xp.repeat(a.v, xp.asarray([1, 2, 0, 1, 1])), (N,)),
        (lambda xp, a: xp.repeat(a.x, xp.asarray([2]), axis=0), (N, 3)),
        (lambda xp, a: xp.repeat(a.x, xp.asarray([1, 0, 2]), axis=1), (4, N)),
        (lambda xp, a: xp.repeat(a.m, xp.asarray([1, 0, 2]), axis=1), (N, N)),
        (lambda xp, a: xp.repeat(a.u, a.ints), (N,)),
    ],
    # ---- Creation --------------------------------------------------------------------
    "asarray": [
        (lambda xp, a: xp.asarray(a.m), (N, 3)),
        (lambda xp, a: xp.asarray(a.m, copy=True), (N, 3)),
        (lambda xp, a: xp.asarray(a.m, dtype=xp.float32), (N, 3)),
    ],
    "empty_like": [(lambda xp, a: xp.empty_like(a.m) * 0 == 5, (N, 3))],
    "full_like": [(lambda xp, a: xp.full_like(a.m, 2.0), (N, 3))],
    "ones_like": [(lambda xp, a: xp.ones_like(a.u), (N,))],
    "zeros_like": [(lambda xp, a: xp.zeros_like(a.q, dtype=xp.int8), (N, N))],
    "meshgrid": [
        (lambda xp, a: xp.meshgrid(a.u, a.v), [(5, N), (5, N)]),
        (lambda xp, a: xp.meshgrid(a.u, a.v, indexing="ij"), [(N, 5), (N, 5)]),
    ],
    "tril": [(lambda xp, a: xp.tril(a.m), (N, 3))],
    "triu": [(lambda xp, a: xp.triu(a.q, k=1), (N, N))],
    # ---- Data types ------------------------------------------------------------------
    "astype": [
        (lambda xp, a: xp.astype(a.m, xp.float32), (N, 3)),
        (lambda xp, a: xp.astype(a.m, a.m.dtype, copy=False), (N, 3)),
    ],
    # ---- Manipulation ----------------------------------------------------------------
    "broadcast_arrays": [
        (lambda xp, a: xp.broadcast_arrays(a.u, xp.ones((2, 1))), [(2, N), (2, N)]),
        (lambda xp, a: xp.broadcast_arrays(a.m, a.k), [(N, 3), (N, 3)]),
        (lambda xp, a: xp.broadcast_arrays(a.u, a.w), [(N,), (N,)]),
    ],
    "concat": [
        (lambda xp, a: xp.concat([a.u, a.w]), (N,)),
        (lambda xp, a: xp.concat([a.u, a.v]), (N,)),
        (lambda xp, a: xp.concat([a.x, a.m]), (N, 3)),
        (lambda xp, a: xp.concat([a.m, a.m], axis=1), (N, 6)),
        (lambda xp, a: xp.concat([a.x, a.m], axis=None), (N,)),
        (lambda xp, a: xp.concat([a.u]), (N,)),
    ],
    "expand_dims": [(lambda xp, a: xp.expand_dims(a.m, axis=1), (N, 1, 3))],
    "flip": [
        (lambda xp, a: xp.flip(a.m), (N, 3)),
        (lambda xp, a: xp.flip(a.m, axis=1), (N, 3)),
    ],
    "moveaxis": [(lambda xp, a: xp.moveaxis(a.m, 0, 1), (3, N))],
    "permute_dims": [(lambda xp, a: xp.permute_dims(a.m, (1, 0)), (3, N))],
    "reshape": [
        (lambda xp, a: xp.reshape(a.u, (-1,)), (N,)),
        (lambda xp, a: xp.reshape(a.m, (-1,)), (N,)),
        (lambda xp, a: xp.reshape(a.m, (-1,), copy=True), (N,)),
        (lambda xp, a: xp.reshape(a.u, (-1, 1)), (N, 1)),
        (lambda xp, a: xp.reshape(a.m, (3, -1)), (3, N)),
        (lambda xp, a: xp.reshape(a.q[:, ::-1], (-1,)), (N,)),
    ],
    "roll": [
        (lambda xp, a: xp.roll(a.m, 1), (N, 3)),
        (lambda xp, a: xp.roll(a.u, 1, axis=0), (N,)),
        (lambda xp, a: xp.roll(a.m, 1, axis=1), (N, 3)),
    ],
    "squeeze": [(lambda xp, a: xp.squeeze(a.m[:, None, :], axis=1), (N, 3))],
    "stack": [
        (lambda xp, a: xp.stack([a.u, a.w]), (2, N)),
        (lambda xp, a: xp.stack([a.m, a.m], axis=-1), (N, 3, 2)),
    ],
    "tile": [
        (lambda xp, a: xp.tile(a.u, (2,)), (N,)),
        (lambda xp, a: xp.tile(a.m, (2, 1, 2)), (2, N, 6)),
    ],
    "unstack": [(lambda xp, a: xp.unstack(a.m, axis=1), [(N,), (N,), (N,)])],
    # ---- Searching and sorting -------------------------------------------------------
    "argmax": [
        (lambda xp, a: xp.argmax(a.u), ()),
        (lambda xp, a: xp.argmax(a.m, axis=0), (3,)),
        (lambda xp, a: xp.argmax(a.m, axis=1), (N,)),
        (lambda xp, a: xp.argmax(a.m, axis=0, keepdims=True), (1, 3)),
        (lambda xp, a: xp.argmax(a.m, axis=1, keepdims=True), (N, 1)),
    ],
    "argmin": [(lambda xp, a: xp.argmin(a.m, axis=1), (N,))],
    "count_nonzero": [
        (lambda xp, a: xp.count_nonzero(a.m), ()),
        (lambda xp, a: xp.count_nonzero(a.m, axis=1), (N,)),
        (lambda xp, a: xp.count_nonzero(a.m, axis=0), (3,)),
    ],
    "searchsorted": [
        (lambda xp, a: xp.searchsorted(xp.sort(a.v), a.u), (N,)),
        (lambda xp, a: xp.searchsorted(xp.sort(a.u), a.v), (5,)),
        (lambda xp, a: xp.searchsorted(a.u, a.x, sorter=xp.argsort(a.u)), (4, 3)),
        (lambda xp, a: xp.searchsorted(xp.sort(a.u), 0.5), ()),
    ],
    "argsort": [(lambda xp, a: xp.argsort(a.m, axis=0), (N, 3))],
    "sort": [
        (lambda xp, a: xp.sort(a.u), (N,)),
        (lambda xp, a: xp.sort(a.m, axis=0, descending=True), (N, 3)),
    ],
    "isin": [
        (lambda xp, a: xp.isin(a.m, a.k), (N, 3)),
        (lambda xp, a: xp.isin(a.v, a.u), (5,)),
        (lambda xp, a: xp.isin(a.u, 0.5), (N,)),
    ],
    # ---- Statistics and utilities ----------------------------------------------------
    "sum": [
        (lambda xp, a: xp.sum(a.u), ()),
        (lambda xp, a: xp.sum(a.m, axis=0), (3,)),
        (lambda xp, a: xp.sum(a.m, axis=1), (N,)),
        (lambda xp, a: xp.sum(a.m, axis=-1), (N,)),
        (lambda xp, a: xp.sum(a.m, axis=(0, 1)), ()),
        (lambda xp, a: xp.sum(a.m, keepdims=True), (1, 1)),
        (lambda xp, a: xp.sum(a.m, axis=0, keepdims=True), (1, 3)),
        (lambda xp, a: xp.sum(a.m, axis=1, keepdims=True), (N, 1)),
        (lambda xp, a: xp.sum(xp.astype(a.m, xp.int8), axis=1), (N,)),
    ],
    "prod": [(lambda xp, a: xp.prod(a.m, axis=1), (N,))],
    "mean": [
        (lambda xp, a: xp.mean(a.u), ()),
        (lambda xp, a: xp.mean(a.m, axis=0), (3,)),
        (lambda xp, a: xp.mean(a.complex_m, axis=1), (N,)),
    ],
    "max": [
        (lambda xp, a: xp.max(a.u), ()),
        (lambda xp, a: xp.max(a.m, axis=0), (3,)),
    ],
    "min": [(lambda xp, a: xp.min(a.m, axis=1), (N,))],
    "std": [
        (lambda xp, a: xp.std(a.u), ()),
        (lambda xp, a: xp.std(a.m, axis=0, correction=0.5), (3,)),
        (lambda xp, a: xp.std(a.m, axis=1), (N,)),
    ],
    "var": [
        (lambda xp, a: xp.var(a.m, axis=0, correction=1), (3,)),
        (lambda xp, a: xp.var(a.m, axis=1, keepdims=True), (N, 1)),
    ],
    "cumulative_sum": [
        (lambda xp, a: xp.cumulative_sum(a.u), (N,)),
        (lambda xp, a: xp.cumulative_sum(a.u, include_initial=True), (N,)),
        (lambda xp, a: xp.cumulative_sum(a.m, axis=1), (N, 3)),
        (lambda xp, a: xp.cumulative_sum(a.m, axis=1, include_initial=True), (N, 4)),
    ],
    "cumulative_prod": [
        (lambda xp, a: xp.cumulative_prod(a.u), (N,)),
        (lambda xp, a: xp.cumulative_prod(a.m, axis=0, include_initial=True), (N, 3)),
    ],
    "all": [
        (lambda xp, a: xp.all(a.mask), ()),
        (lambda xp, a: xp.all(a.m > 0.0, axis=1), (N,)),
    ],
    "any": [
        (lambda xp, a: xp.any(a.mask), ()),
        (lambda xp, a: xp.any(a.m > 0.0, axis=0), (3,)),
    ],
    "diff": [
        (lambda xp, a: xp.diff(a.u), (N,)),
        (lambda xp, a: xp.diff(a.u, n=2, prepend=a.one, append=a.u), (N,)),
        (lambda xp, a: xp.diff(a.m, axis=1), (N, 2)),
    ],
    # ---- Linear algebra --------------------------------------------------------------
    "matmul": [
        (lambda xp, a: xp.matmul(a.m, xp.permute_dims(a.x, (1, 0))), (N, 4)),
        (lambda xp, a: xp.matmul(a.x, xp.permute_dims(a.m, (1, 0))), (4, N)),
        (lambda xp, a: xp.matmul(xp.permute_dims(a.m, (1, 0)), a.m), (3, 3)),
        (lambda xp, a: xp.matmul(a.m, xp.permute_dims(a.m, (1, 0))), (N, N)),
        (lambda xp, a: xp.matmul(a.m, a.k), (N,)),
        (lambda xp, a: xp.matmul(a.u, a.m), (3,)),
        (lambda xp, a: xp.matmul(a.u, a.u), ()),
    ],
    "matrix_transpose": [(lambda xp, a: xp.matrix_transpose(a.m), (3, N))],
    "T": [(lambda xp, a: a.m.T, (3, N))],
    "mT": [(lambda xp, a: a.m.mT, (3, N))],
    "tensordot": [
        (lambda xp, a: xp.tensordot(a.m, a.x, axes=((1,), (1,))), (N, 4)),
        (lambda xp, a: xp.tensordot(a.u, a.x, axes=0), (N, 4, 3)),
        (lambda xp, a: xp.tensordot(a.m, a.u, axes=((0,), (0,))), (3,)),
    ],
    "vecdot": [
        (lambda xp, a: xp.vecdot(a.m, a.k), (N,)),
        (lambda xp, a: xp.vecdot(a.u, a.w), ()),
        (lambda xp, a: xp.vecdot(a.m, a.m, axis=-2), (3,)),
    ],
}

LINALG: dict[str, list[Any]] = {
    "cholesky": [
        (lambda xp, a: xp.linalg.cholesky(a.m.mT @ a.m), (3, 3)),
        (lambda xp, a: xp.linalg.cholesky(a.m @ a.m.mT), (N, N)),
        (lambda xp, a: xp.linalg.cholesky(a.m @ a.m.mT, upper=True), (N, N)),
    ],
    "cross": [(lambda xp, a: xp.linalg.cross(a.m, a.k), (N, 3))],
    "det": [
        (lambda xp, a: xp.linalg.det(a.q), ()),
        (lambda xp, a: xp.linalg.det(a.u[:, None, None]), (N,)),
    ],
    "diagonal": [
        (lambda xp, a: xp.linalg.diagonal(a.m), (N,)),
        (lambda xp, a: xp.linalg.diagonal(a.m.T, offset=1), (N,)),
        (lambda xp, a: xp.linalg.diagonal(a.m[:, None, :]), (N, 1)),
    ],
    "eig": [(lambda xp, a: xp.linalg.eig(a.q), [(N,), (N, N)])],
    "eigh": [
        (lambda xp, a: xp.linalg.eigh(a.m @ a.m.mT), [(N,), (N, N)]),
        (lambda xp, a: xp.linalg.eigh(a.u[:, None, None]), [(N, 1), (N, 1, 1)]),
    ],
    "eigvals": [(lambda xp, a: xp.linalg.eigvals(a.q), (N,))],
    "eigvalsh": [(lambda xp, a: xp.linalg.eigvalsh(a.m @ a.m.mT), (N,))],
    "inv": [(lambda xp, a: xp.linalg.inv(a.q), (N, N))],
    "matrix_norm": [
        (lambda xp, a: xp.linalg.matrix_norm(a.m), ()),
        (lambda xp, a: xp.linalg.matrix_norm(a.m, keepdims=True), (1, 1)),
        (lambda xp, a: xp.linalg.matrix_norm(a.u[:, None, None], ord=2), (N,)),
    ],
    "matrix_power": [(lambda xp, a: xp.linalg.matrix_power(a.q, 2), (N, N))],
    "matrix_rank": [
        (lambda xp, a: xp.linalg.matrix_rank(a.m), ()),
        (lambda xp, a: xp.linalg.matrix_rank(a.u[:, None, None], rtol=a.u), (N,)),
    ],
    "outer": [(lambda xp, a: xp.linalg.outer(a.u, a.v), (N, 5))],
    "pinv": [(lambda xp, a: xp.linalg.pinv(a.m), (3, N))],
    "qr": [
        (lambda xp, a: xp.linalg.qr(a.m), [(N, N), (N, 3)]),
        (lambda xp, a: xp.linalg.qr(a.m, mode="complete"), [(N, N), (N, 3)]),
        (lambda xp, a: xp.linalg.qr(a.m[:, None, :]), [(N, 1, 1), (N, 1, 3)]),
    ],
    "slogdet": [(lambda xp, a: xp.linalg.slogdet(a.u[:, None, None]), [(N,), (N,)])],
    "solve": [
        (lambda xp, a: xp.linalg.solve(a.q, a.q[0, :]), (N,)),
        (lambda xp, a: xp.linalg.solve(a.q, a.q), (N, N)),
        (lambda xp, a: xp.linalg.solve(a.q, xp.ones((2, 1, 1)) * a.q), (2, N, N)),
    ],
    "svd": [
        (lambda xp, a: xp.linalg.svd(a.m), [(N, N), (N,), (3, 3)]),
        (lambda xp, a: xp.linalg.svd(a.m, full_matrices=False), [(N, N), (N,), (N, 3)]),
    ],
    "svdvals": [(lambda xp, a: xp.linalg.svdvals(a.m), (N,))],
    "trace": [
        (lambda xp, a: xp.linalg.trace(a.m), ()),
        (lambda xp, a: xp.linalg.trace(a.u[:, None, None]), (N,)),
    ],
    "vector_norm": [
        (lambda xp, a: xp.linalg.vector_norm(a.m), ()),
        (lambda xp, a: xp.linalg.vector_norm(a.m, axis=0), (3,)),
        (lambda xp, a: xp.linalg.vector_norm(a.m, axis=1), (N,)),
        (lambda xp, a: xp.linalg.vector_norm(a.m, axis=1, keepdims=True), (N, 1)),
    ],
}

FFT: dict[str, list[Any]] = {
    "fft": [
        (lambda xp, a: xp.fft.fft(a.complex), (N,)),
        (lambda xp, a: xp.fft.fft(a.complex, n=4), (4,)),
        (lambda xp, a: xp.fft.fft(a.complex_m, axis=1), (N, 3)),
        (lambda xp, a: xp.fft.fft(a.complex_m, n=4, axis=1), (N, 4)),
    ],
    "ifft": [(lambda xp, a: xp.fft.ifft(a.complex_m, axis=0, norm="ortho"), (N, 3))],
    "fftn": [
        (lambda xp, a: xp.fft.fftn(a.complex_m), (N, 3)),
        (lambda xp, a: xp.fft.fftn(a.complex_m, s=(4, 2), axes=(0, 1)), (4, 2)),
    ],
    "ifftn": [(lambda xp, a: xp.fft.ifftn(a.complex_m, axes=(1,)), (N, 3))],
    "rfft": [
        (lambda xp, a: xp.fft.rfft(a.u), (N,)),
        (lambda xp, a: xp.fft.rfft(a.m, axis=1), (N, 2)),
    ],
    "irfft": [
        (lambda xp, a: xp.fft.irfft(a.complex), (N,)),
        (lambda xp, a: xp.fft.irfft(a.complex_m, axis=1), (N, 4)),
    ],
    "rfftn": [(lambda xp, a: xp.fft.rfftn(a.m), (N, 2))],
    "irfftn": [(lambda xp, a: xp.fft.irfftn(a.complex_m), (N, 4))],
    "hfft": [(lambda xp, a: xp.fft.hfft(a.complex), (N,))],
    "ihfft": [(lambda xp, a: xp.fft.ihfft(a.u), (N,))],
    "fftshift": [(lambda xp, a: xp.fft.fftshift(a.m), (N, 3))],
    "ifftshift": [(lambda xp, a: xp.fft.ifftshift(a.m, axes=0), (N, 3))],
}


def _cases(table: dict[str, list[Any]], prefix: str = "") -> list[Case]:
    return [
        Case(prefix + name, i, call, shape if isinstance(shape, list) else [shape])
        for name, calls in table.items()
        for i, (call, shape) in enumerate(calls)
    ]


CASES = [
    *_cases({name: ELEMENTWISE[name] for name in ELEMENTWISE.keys() - OTHERS.keys()}),
    *_cases(OTHERS),
    *_cases(LINALG, "linalg."),
    *_cases(FFT, "fft."),
]


# What needs a size that is not known, or one that an unknown size may differ from.
class Refusal(NamedTuple):
    name: str
    call: Callable[[Any, Any], Any]
    error: type[Exception]
    message: str

    def __str__(self) -> str:
        return self.name


def _assign(x: Any, key: Any, value: Any) -> None:
    x[key] = value


def _add_to(x: Any, value: Any) -> None:
    x += value


NEEDS = "needs a size that depends on values .* profile 'dask'"
MAY_DIFFER = "sizes None and 3 at axis -1 may differ: None depends on values.*'dask'"

REFUSALS = [
    Refusal(
        "reshape a vector",
        lambda xp, a: xp.reshape(a.u, (3,)),
        ValueError,
        f"reshape to a shape without -1 {NEEDS}",
    ),
    Refusal("reshape a matrix", lambda xp, a: xp.reshape(a.m, (9,)), ValueError, NEEDS),
    Refusal(
        "reshape to the true shape",
        lambda xp, a: xp.reshape(a.m, (3, 3)),
        ValueError,
        NEEDS,
    ),
    Refusal("iterate", lambda xp, a: list(a.u), ValueError, f"iteration {NEEDS}"),
    Refusal("unpack", lambda xp, a: (lambda *rows: rows)(*a.m), ValueError, NEEDS),
    Refusal("in", lambda xp, a: 0.5 in a.u, ValueError, f"iteration {NEEDS}"),
    Refusal(
        "unstack",
        lambda xp, a: xp.unstack(a.m),
        ValueError,
        f"unstack along axis 0 {NEEDS}",
    ),
    Refusal(
        "broadcast_to the true size",
        lambda xp, a: xp.broadcast_to(a.u, (3,)),
        ValueError,
        MAY_DIFFER,
    ),
    Refusal(
        "broadcast_to more",
        lambda xp, a: xp.broadcast_to(a.u, (2, 3)),
        ValueError,
        "sizes 3 and None at axis -1 may differ",
    ),
    Refusal(
        "broadcast_to an unknown shape",
        lambda xp, a: xp.broadcast_to(a.one, a.u.shape),
        TypeError,
        "is an integer, not None: .*'dask'",
    ),
    Refusal(
        "zeros of an unknown shape",
        lambda xp, a: xp.zeros(a.m.shape),
        TypeError,
        "is an integer, not None: .*'dask'",
    ),
    Refusal("add the true size", lambda xp, a: a.u + a.k, ValueError, MAY_DIFFER),
    Refusal(
        "add another size",
        lambda xp, a: a.v + a.u,
        ValueError,
        r"shapes \(5,\) and \(None,\) do not broadcast",
    ),
    Refusal(
        "add matrices",
        lambda xp, a: a.m + a.x[:3, :],
        ValueError,
        "sizes None and 3 at axis -2 may differ",
    ),
    Refusal(
        "where",
        lambda xp, a: xp.where(a.k > 0.3, a.u, 0.0),
        ValueError,
        "sizes 3 and None at axis -1 may differ",
    ),
    Refusal("maximum", lambda xp, a: xp.maximum(a.u, a.k), ValueError, MAY_DIFFER),
    Refusal(
        "concat beside a known size",
        lambda xp, a: xp.concat([a.m, a.x[:3, :]], axis=1),
        ValueError,
        r"agree elsewhere, got \(None, 3\) and \(3, 3\)",
    ),
    Refusal(
        "stack",
        lambda xp, a: xp.stack([a.u, a.k]),
        ValueError,
        r"one shape, got \(None,\) and \(3,\)",
    ),
    Refusal(
        "matmul",
        lambda xp, a: xp.matmul(xp.permute_dims(a.m, (1, 0)), a.x[:3, :]),
        ValueError,
        "axes of one size, got None and 3",
    ),
    Refusal(
        "tensordot",
        lambda xp, a: xp.tensordot(a.u, a.k, axes=1),
        ValueError,
        "pairs of axes of one size",
    ),
    Refusal(
        "vecdot",
        lambda xp, a: xp.vecdot(a.u, a.k),
        ValueError,
        "one size, got None and 3",
    ),
    Refusal(
        "squeeze",
        lambda xp, a: xp.squeeze(a.u[:1], axis=0),
        ValueError,
        "axis 0 has size None",
    ),
    Refusal(
        "a mask of the true size",
        lambda xp, a: a.u[a.k > 0.3],
        IndexError,
        r"mask of shape \(3,\) does not select from axes of sizes \(None,\)",
    ),
    Refusal(
        "a mask for a known size",
        lambda xp, a: a.k[a.u > 0.3],
        IndexError,
        r"mask of shape \(None,\) does not select from axes of sizes \(3,\)",
    ),
    Refusal(
        "assign to a known size",
        lambda xp, a: _assign(a.v, slice(3), a.u),
        ValueError,
        r"values of shape \(None,\) do not broadcast to the selected shape \(3,\)",
    ),
    Refusal(
        "assign a known size",
        lambda xp, a: _assign(a.u, slice(None), a.k),
        ValueError,
        r"values of shape \(3,\) do not broadcast to the selected shape \(None,\)",
    ),
    Refusal(
        "assign a known size to a mask",
        lambda xp, a: _assign(a.v, a.v > 0.3, a.k),
        ValueError,
        r"values of shape \(3,\) do not broadcast to the selected shape \(None,\)",
    ),
    Refusal("add in place", lambda xp, a: _add_to(a.k, a.u), ValueError, "may differ"),
    Refusal(
        "add in place to one",
        lambda xp, a: _add_to(a.one, a.u),
        ValueError,
        r"cannot turn float64 of shape \(1,\) into float64 of shape \(None,\)",
    ),
    Refusal(
        "a matrix that may not be square",
        lambda xp, a: xp.linalg.inv(a.m),
        ValueError,
        r"square matrices, .* got shape \(None, 3\)",
    ),
    Refusal(
        "as many repeats",
        lambda xp, a: xp.repeat(a.u, xp.asarray([1, 2, 1])),
        ValueError,
        r"takes an array of 1 or None repeats, got shape \(3,\)",
    ),
    Refusal(
        "arithmetic with a size", lambda xp, a: a.u.shape[0] + 1, TypeError, "NoneType"
    ),
    Refusal("a number of elements", lambda xp, a: 1 / a.m.size, TypeError, "NoneType"),
]
