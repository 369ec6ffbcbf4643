"""Functions of the main namespace, indexing, attributes; None for unknown sizes."""

from typing import Any

from refarray.testing.standard.functions import FUNCTIONS

N = None

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
