"""Namespaces of the earlier versions of the standard: `namespace("2023.12")`.

The main namespace is that of 2025.12. An earlier one has the names of its version and
no later one, and its own form of the few functions whose results have changed since:
`before_2025_12.py` and `before_2023_12.py`. Such a namespace is an object; nothing is
switched or loaded again, and namespaces of several versions serve side by side.

The arrays are the same in every version: a complex array stays complex when a namespace
of 2021.12 gets it, and its operators and methods are those of 2025.12. A function also
takes the arguments, the dtypes and the Python scalars that later versions allow. Under
a profile with an earlier `api_version`, no new array is of a dtype that came later.

Next: `before_2025_12.py`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from refarray._compute import operators

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

# The names that came later than the first version. All of `fft` came at once.
_SINCE = {
    name: version
    for version, names in {
        "2022.12": "complex64 complex128 conj fft imag isdtype real take",
        "2023.12": "__array_namespace_info__ clip copysign cumulative_sum hypot "
        "maximum minimum moveaxis repeat searchsorted signbit tile unstack",
        "2024.12": "count_nonzero cumulative_prod diff nextafter reciprocal "
        "take_along_axis",
        "2025.12": "broadcast_shapes isin",
    }.items()
    for name in names.split()
}
_LINALG_SINCE = {"eig": "2025.12", "eigvals": "2025.12"}

# refarray's own names, which no versioned namespace contains.
_BESIDE = ("Array", "Device", "dlpack", "memory", "namespace", "__array_api_version__")

_EXTENSIONS = ("linalg", "fft")


class Namespace(ModuleType):
    """The namespace of one version of the standard, or its linear algebra."""

    __array_api_version__: str
    __all__: list[str]
    _since: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        if name in self.__all__:
            # The only names not kept here, so that a profile can lack them.
            return _extension(name, self.__array_api_version__)
        if name in self._since:
            raise AttributeError(
                f"{name} came with version {self._since[name]} of the array API "
                f"standard, and this is {self.__name__}; ask for a later version"
            )
        raise AttributeError(f"{self.__name__} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted(["__array_api_version__", *self.__all__])


def namespace(api_version: str | None = None) -> ModuleType:
    """Return the namespace of a version of the standard; None means the newest.

    "2021.12" to "2025.12", the last of which is refarray itself. ValueError for any
    other. The same object every time.

    Source: array API 2025.12, array.__array_namespace__; versioning.
    """
    if api_version is None or api_version == VERSIONS[-1]:
        return operators.standard
    if api_version not in VERSIONS:
        known = ", ".join(map(repr, VERSIONS))
        raise ValueError(
            f"refarray knows no version {api_version!r} of the array API standard; "
            f"known versions: {known}"
        )
    name = f"refarray.namespace({api_version!r})"
    public = [n for n in operators.standard.__all__ if n not in _BESIDE]
    names = [*public, *_EXTENSIONS]
    return _find(name, api_version, operators.standard, names, _SINCE)


def _extension(name: str, version: str) -> ModuleType:
    newest: ModuleType = getattr(operators.standard, name)
    if name == "fft":
        return newest
    name = f"refarray.namespace({version!r}).linalg"
    return _find(name, version, newest, newest.__all__, _LINALG_SINCE)


_namespaces: dict[str, Namespace] = {}


def _find(
    name: str, version: str, newest: ModuleType, names: list[str], since: dict[str, str]
) -> Namespace:
    """Return the namespace of that name, made when it is first asked for."""
    if name in _namespaces:
        return _namespaces[name]
    made = Namespace(name, f"The array API standard, version {version}.")
    made.__array_api_version__ = version
    made.__all__ = [n for n in names if since.get(n, VERSIONS[0]) <= version]
    made._since = since
    for public in made.__all__:
        if public not in _EXTENSIONS:
            setattr(made, public, _form(public, version, newest))
    return _namespaces.setdefault(name, made)


def _form(name: str, version: str, newest: ModuleType) -> Any:
    # Not with the package: few programs ask for an earlier version.
    from refarray._standard import before_2023_12, before_2025_12

    # Until the version named, the functions in the module had another form.
    for change, earlier in (("2023.12", before_2023_12), ("2025.12", before_2025_12)):
        if version < change and name in earlier.__all__:
            return getattr(earlier, name)
    return getattr(newest, name)
