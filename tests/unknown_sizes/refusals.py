"""What needs a size that is not known, or one that an unknown size may differ from."""

from collections.abc import Callable
from typing import Any, NamedTuple


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
