"""The test suites that `clients.py` runs: versions, commands, wanted counts."""

from __future__ import annotations

from dataclasses import dataclass, field

#: What each environment has installed, beside pytest, array-api-strict and refarray.
ENVIRONMENTS: dict[str, list[str]] = {
    # With dask and sparse, which its tests compare the namespaces of.
    "array-api-compat": [
        *("array-api-compat==1.16.0", "numpy==2.5.5", "dask[array]==2026.8.0"),
        "sparse",
    ],
    "array-api-extra": [
        *("array-api-extra==0.11.5", "array-api-compat==1.16.0", "numpy==2.5.5"),
        *("scipy==1.18.1", "hypothesis==6.170.17"),
        *("pytest-run-parallel", "typing-extensions"),
    ],
    "scipy": [
        *("scipy==1.18.1", "numpy==2.5.5", "hypothesis==6.170.17"),
        *("pytest-run-parallel", "pooch", "marray==0.0.12"),
    ],
    "scikit-learn": [
        *("scikit-learn==1.9.1", "scipy==1.18.1", "numpy==2.5.5", "pandas"),
    ],
    "xarray": [
        *("xarray==2026.9.0", "numpy==2.5.5", "dask[array]==2026.8.0"),
    ],
    "probes": [
        *("hypothesis==6.170.17", "einops==0.8.2", "marray==0.0.12", "pint==0.26.2"),
        *("fftarray==0.5.2", "array-api-compat==1.16.0", "numpy==2.5.5"),
    ],
}


@dataclass(frozen=True)
class Suite:
    """Tests of a client, and what is wanted of them."""

    name: str
    environment: str
    about: str
    #: Arguments of pytest; {root} is the checkout of refarray.
    arguments: tuple[str, ...]
    #: Tests that should pass at least, and may fail at most.
    passed: int
    failed: int = 0
    variables: dict[str, str] = field(default_factory=dict)
    ini: str = "[pytest]\n"
    #: Installed tests that pytest runs in a copy, where they expect a checkout.
    copied: str | None = None
    #: Whether it asks for array-api-strict by name.
    stand_in: bool = True
    #: Tests that are known to fail on refarray and not on array-api-strict, and why.
    alone: tuple[str, ...] = ()
    why: str = ""

    @property
    def wanted(self) -> str:
        """What is wanted, in words."""
        failed = f"at most {self.failed}" if self.failed else "none"
        return f"{self.passed} passed, {failed} failed"


# The markers, and the filter, of array-api-extra's own configuration.
_EXTRA_INI = """\
[pytest]
filterwarnings = error
markers =
    skip_xp_backend(library, reason=None): skip the test for a library
    xfail_xp_backend(library, reason=None, strict=None): the same for a known failure
"""

_SCIPY = {"SCIPY_ARRAY_API": '["array_api_strict"]'}
_SCIPY_CHOICE = ("-m", "array_api_backends", "-k", "array_api_strict")

SUITES = (
    Suite(
        "array-api-extra",
        "array-api-extra",
        "Its tests on its backends `array_api_strict` and `array_api_strictest`.",
        ("--pyargs", "array_api_extra.tests.main", "-k", "strict"),
        passed=2148,
        ini=_EXTRA_INI,
    ),
    Suite(
        "array-api-compat",
        "array-api-compat",
        "Its tests that name array-api-strict, copied to a folder of their own, as one "
        "of them wants to be run from a checkout.",
        ("tests", "-k", "strict"),
        passed=50,
        copied="array_api_compat/tests",
    ),
    Suite(
        "scipy-1",
        "scipy",
        "SciPy's modules constants, cluster, fft, spatial.transform and differentiate, "
        "logsumexp, windows and cubature.",
        (
            "--pyargs",
            *("scipy.constants", "scipy.cluster", "scipy.fft"),
            *("scipy.special.tests.test_logsumexp", "scipy.signal.tests.test_windows"),
            *("scipy.spatial.transform", "scipy.integrate.tests.test_cubature"),
            *("scipy.differentiate", *_SCIPY_CHOICE),
        ),
        passed=2876,
        variables=_SCIPY,
    ),
    Suite(
        "scipy-2",
        "scipy",
        "SciPy's tests of quantiles, variation, entropy, devices and dtypes, filter "
        "design, signal tools, special functions, interpolation, measurements, "
        "quadrature, root finding and linear algebra.",
        (
            "--pyargs",
            *("scipy.stats.tests.test_quantile", "scipy.stats.tests.test_variation"),
            *("scipy.stats.tests.test_entropy", "scipy.stats.tests.test_device_dtype"),
            "scipy.signal.tests.test_filter_design",
            "scipy.signal.tests.test_signaltools",
            "scipy.special.tests.test_support_alternative_backends",
            "scipy.interpolate.tests.test_rbfinterp",
            "scipy.interpolate.tests.test_bsplines",
            "scipy.ndimage.tests.test_measurements",
            "scipy.integrate.tests.test_tanhsinh",
            "scipy.optimize.tests.test_chandrupatla",
            "scipy.optimize.tests.test_bracket",
            "scipy.linalg.tests.test_basic",
            "scipy.sparse.linalg.tests.test_interface",
            *_SCIPY_CHOICE,
        ),
        passed=14621,
        failed=56,
        variables=_SCIPY,
        alone=("TestFiltFilt::test_sine", "TestSOSFiltFilt::test_sine"),
        why="These tests call `np.abs` on an array of the namespace under test, and so "
        "leave it: array-api-strict lets NumPy compute there, refarray does not.",
    ),
    Suite(
        "scikit-learn",
        "scikit-learn",
        "The modules of scikit-learn that dispatch to array API namespaces.",
        (
            "--pyargs",
            *(
                "sklearn.utils.tests.test_array_api",
                "sklearn.metrics.tests.test_common",
            ),
            "sklearn.preprocessing.tests.test_data",
            "sklearn.decomposition.tests.test_pca",
            "sklearn.linear_model.tests.test_ridge",
            *(
                "sklearn.utils.tests.test_extmath",
                "sklearn.utils.tests.test_validation",
            ),
            "sklearn.utils.tests.test_indexing",
            "sklearn.model_selection.tests.test_split",
            "sklearn.tests.test_discriminant_analysis",
            "sklearn.tests.test_naive_bayes",
            *("-k", "array_api_strict"),
        ),
        passed=635,
        variables={"SCIPY_ARRAY_API": "1"},
    ),
    Suite(
        "xarray",
        "xarray",
        "xarray's tests of array API namespaces, named arrays and dtypes.",
        (
            "--pyargs",
            *("xarray.tests.test_array_api", "xarray.tests.test_namedarray"),
            "xarray.tests.test_dtypes",
        ),
        passed=122,
    ),
    Suite(
        "probes",
        "probes",
        "Clients whose own tests are not installed, or have no place for another "
        "namespace: hypothesis, einops, marray, pint and fftarray, each in a short "
        "program of ours on `refarray` under its own name: `tools/probes`.",
        ("{root}/tools/probes",),
        passed=18,
        stand_in=False,
    ),
)
