"""Functions of linalg and fft, with None for unknown sizes."""

from typing import Any

N = None

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
