"""refarray in the place of array-api-strict, for test suites that ask for it by name.

    pytest -p refarray.testing.as_array_api_strict --pyargs scipy.fft ...

From then on `import array_api_strict` gives refarray, and the arrays say that this is
their namespace. Its devices are CPU_DEVICE, device1 and device2; `no_float64` and
`no_x64`, on which many suites fail, are there if `--strict-device` names them. Outside
pytest, `install()` does the same.

The flags of array-api-strict are flags of the profile in force: see
`refarray/profiles.py`. Those that are set hold for the process, those of a `with
ArrayAPIStrictFlags(...)` for the block, in its thread or task alone. A profile of
refarray (REFARRAY_PROFILE, or `--refarray-profile`) is kept beneath them.

Next folder: `standard/`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from contextlib import AbstractContextManager, ExitStack, suppress
from contextvars import ContextVar, Token
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import refarray
from refarray import profiles
from refarray.profiles import Place, Profile

if TYPE_CHECKING:
    import pytest

__all__ = ["install", "uninstall"]

NAME = "array_api_strict"

#: The release of array-api-strict whose interface this is.
RELEASE = "2.6.1"

_EXTENSIONS = ("linalg", "fft")
_BESIDE_THE_STANDARD = frozenset({"Array", "Device", "dlpack", "memory", "namespace"})
_STANDARD = (
    *(name for name in refarray.__all__ if name not in _BESIDE_THE_STANDARD),
    *_EXTENSIONS,
)

# Devices -----------------------------------------------------------------------------


def _places() -> dict[str, Place]:
    """Return the devices of array-api-strict, by their names in refarray."""
    return {
        "cpu": profiles.place("cpu"),
        "device1": profiles.place("device1"),
        # As torch on the CPU.
        "device2": profiles.place(
            "device2", real=refarray.float32, complex=refarray.complex64
        ),
    }


def _restricted(name: str) -> Place:
    """Return one of the devices that are there on request."""
    dtypes = refarray.__array_namespace_info__().dtypes
    if name == "no_float64":
        lacks, integer = {"float64", "complex128"}, refarray.int64
    elif name == "no_x64":
        lacks, integer = {"float64", "complex128", "int64", "uint64"}, refarray.int32
    else:
        raise ValueError(
            f"no device on request is named {name!r}; known: no_float64, no_x64"
        )
    return profiles.place(
        name,
        [dtype for name, dtype in dtypes().items() if name not in lacks],
        real=refarray.float32,
        complex=refarray.complex64,
        integral=integer,
        indexing=integer,
    )


class Device:
    """`Device("CPU_DEVICE")`: array-api-strict's name for refarray's `Device("cpu")`.

    The other names are the same in both.
    """

    def __new__(cls, device: str = "CPU_DEVICE") -> Any:
        return refarray.Device("cpu" if device == "CPU_DEVICE" else device)


# Flags -------------------------------------------------------------------------------

# The profile of the process: now, and with every flag as it was in the beginning.
_process = _beginning = profiles.active()

# What the `with ArrayAPIStrictFlags(...)` in force here has entered.
_block: ContextVar[ExitStack | None] = ContextVar("array_api_strict", default=None)


def get_array_api_strict_flags() -> dict[str, Any]:
    """Return the flags in force here, by name."""
    now = profiles.active()
    return {
        "api_version": now.api_version,
        "boolean_indexing": now.boolean_indexing,
        "data_dependent_shapes": now.data_dependent_shapes != "raise",
        "enabled_extensions": tuple(n for n in _EXTENSIONS if n in now.extensions),
    }


def set_array_api_strict_flags(
    *,
    api_version: str | None = None,
    boolean_indexing: bool | None = None,
    data_dependent_shapes: bool | None = None,
    enabled_extensions: Collection[str] | None = None,
) -> None:
    """Set flags: of the `with ArrayAPIStrictFlags(...)` around, else of the process.

    None leaves a flag as it is. ValueError for an unknown version or extension.
    """
    _set(
        api_version=api_version,
        boolean_indexing=boolean_indexing,
        data_dependent_shapes=data_dependent_shapes,
        enabled_extensions=enabled_extensions,
    )


def reset_array_api_strict_flags() -> None:
    """Set all flags as they were in the beginning."""
    _put_in_force(_beginning)


class ArrayAPIStrictFlags:
    """A `with` block under other flags, in this thread or task alone.

    Arguments and errors: see `set_array_api_strict_flags`.
    """

    def __init__(
        self,
        *,
        api_version: str | None = None,
        boolean_indexing: bool | None = None,
        data_dependent_shapes: bool | None = None,
        enabled_extensions: Collection[str] | None = None,
    ) -> None:
        self._flags = {
            "api_version": api_version,
            "boolean_indexing": boolean_indexing,
            "data_dependent_shapes": data_dependent_shapes,
            "enabled_extensions": enabled_extensions,
        }
        self._entered: list[tuple[ExitStack, Token[ExitStack | None]]] = []
        _changed(profiles.active(), self._flags)

    def __enter__(self) -> None:
        entered = ExitStack()
        new = _changed(profiles.active(), self._flags)
        entered.enter_context(profiles.use(new))
        self._entered.append((entered, _block.set(entered)))

    def __exit__(self, *error: object) -> None:
        entered, token = self._entered.pop()
        _block.reset(token)
        entered.close()


def _set(**flags: Any) -> None:
    _put_in_force(
        _changed(_process if _block.get() is None else profiles.active(), flags)
    )


def _put_in_force(new: Profile) -> None:
    global _process
    block = _block.get()
    if block is not None:
        entered = profiles.use(new)
        entered.__enter__()
        block.callback(_leave, entered)
    elif new is not _process:
        profiles.set_default(new)
        _process = new


def _leave(entered: AbstractContextManager[Profile]) -> None:
    # Tasks that began in the block may set flags too: those hold in the task alone.
    with suppress(RuntimeError):
        entered.__exit__(None, None, None)


def _changed(old: Profile, flags: dict[str, Any]) -> Profile:
    """Return a profile with those flags of array-api-strict changed that are not None.

    The same one if that changes nothing: scikit-learn sets a flag all the time.
    """
    mine = {name: value for name, value in flags.items() if value is not None}
    if "data_dependent_shapes" in mine:
        # A profile may have unknown sizes, which are none of array-api-strict's flags.
        there = "unknown" if old.data_dependent_shapes == "unknown" else "allow"
        mine["data_dependent_shapes"] = (
            there if mine["data_dependent_shapes"] else "raise"
        )
    if "enabled_extensions" in mine:
        mine["extensions"] = frozenset(mine.pop("enabled_extensions"))
    if all(getattr(old, name) == value for name, value in mine.items()):
        return old
    new = profiles.profile(old, **mine)
    return new._replace(name=old.name, transferred=old.transferred)


def _flags_of_environment() -> dict[str, Any]:
    flags: dict[str, Any] = {}
    for flag in get_array_api_strict_flags():
        variable = f"ARRAY_API_STRICT_{flag.upper()}"
        text = os.environ.get(variable)
        if text is None:
            continue
        if flag == "api_version":
            flags[flag] = text
        elif flag == "enabled_extensions":
            flags[flag] = [name for name in text.split(",") if name]
        elif text.lower() in ("true", "false"):
            flags[flag] = text.lower() == "true"
        else:
            raise ValueError(f"{variable} is true or false, not {text!r}")
    return flags


# The module --------------------------------------------------------------------------


class StandIn(ModuleType):
    """The module `array_api_strict`: the standard's names, and those of the flags."""

    def __getattr__(self, name: str) -> Any:
        version = profiles.active().api_version
        if name == "__array_api_version__":
            return version
        if name in _STANDARD:
            return getattr(_namespace_of_version(version), name)
        if name == "__all__":
            return dir(self)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        here = [name for name in _STANDARD if hasattr(self, name)]
        return sorted([*here, *_BESIDE])

    # cloudpickle, for example, sends namespaces to other processes.
    def __reduce__(self) -> tuple[Any, ...]:
        return install, ()


_BESIDE = {
    "__version__": f"{RELEASE}+refarray.{refarray.__version__}",
    "Device": Device,
    "ArrayAPIStrictFlags": ArrayAPIStrictFlags,
    "get_array_api_strict_flags": get_array_api_strict_flags,
    "set_array_api_strict_flags": set_array_api_strict_flags,
    "reset_array_api_strict_flags": reset_array_api_strict_flags,
}

# refarray's own; arrays look for it under its name whenever they are asked.
_namespace_of_version = refarray.namespace


def _announced(api_version: str | None = None) -> ModuleType:
    """Return the stand-in, for every version: array-api-strict has but one module.

    ValueError for an unknown version. Nothing changes: the version is a flag.
    """
    if api_version is not None:
        _namespace_of_version(api_version)
    return sys.modules[NAME]


_SUBMODULES: dict[str, dict[str, Any]] = {
    "_array_object": {"Array": refarray.Array},
    "_dtypes": {"DType": type(refarray.float64)},
}

_before: list[Profile] = []


def install(*devices: str) -> ModuleType:
    """Put refarray in the place of array-api-strict, and return that module.

    `devices` are more devices: "no_float64", "no_x64". RuntimeError if array-api-strict
    itself has been imported.
    """
    module = sys.modules.get(NAME)
    if isinstance(module, StandIn):
        return module
    if module is not None:
        raise RuntimeError(
            f"{NAME} is imported already, from {module.__file__}: refarray can take "
            "its place only before that"
        )
    _before.append(_begin(profiles.active(), devices))
    module = StandIn(NAME, __doc__)
    module.__spec__ = ModuleSpec(NAME, None, origin=__file__)
    vars(module).update(_BESIDE)
    sys.modules[NAME] = module
    for part, names in _SUBMODULES.items():
        submodule = ModuleType(f"{NAME}.{part}")
        vars(submodule).update(names)
        sys.modules[submodule.__name__] = submodule
        setattr(module, part, submodule)
    # The one thing of refarray that is replaced.
    refarray.__dict__["namespace"] = _announced
    return module


def uninstall() -> None:
    """Take refarray out of that place again, and put the profile back."""
    if isinstance(sys.modules.get(NAME), StandIn):
        refarray.__dict__["namespace"] = _namespace_of_version
        profiles.set_default(_before.pop())
        for name in (NAME, *(f"{NAME}.{part}" for part in _SUBMODULES)):
            del sys.modules[name]


def _begin(profile: Profile, devices: Collection[str]) -> Profile:
    """Add the devices and flags of array-api-strict to a profile, for the process.

    Returns the profile that the process had.
    """
    global _process, _beginning
    places = _places() | {name: _restricted(name) for name in devices}
    own = {place.name: place for place in profile.devices or ()}
    if own.keys() <= {"cpu"}:
        mine = Profile(NAME, tuple(places.values()))
        new = profiles.profile(profile, mine)
    else:
        # The first is the default device, and stays it.
        both = own | {name: p for name, p in places.items() if name not in own}
        new = profiles.profile(profile, devices=tuple(both.values()))
    name = NAME if profile.name == "strict" else f"{NAME}+{profile.name}"
    new = _changed(new._replace(name=name), _flags_of_environment())
    _process = _beginning = new
    return profiles.set_default(new)


# The plugin --------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option."""
    parser.getgroup("refarray").addoption(
        "--strict-device",
        action="append",
        default=[],
        metavar="NAME",
        help="also have this device of array-api-strict: no_float64, no_x64",
    )


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Install the stand-in before any conftest.py imports array-api-strict."""
    import pytest

    try:
        install(*early_config.known_args_namespace.strict_device)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_sessionstart(session: pytest.Session) -> None:
    """Keep the devices and flags, if another plugin has chosen a profile since."""
    if profiles.active() is not _process:
        devices: Any = session.config.getoption("--strict-device")
        _begin(profiles.active(), devices)


def pytest_report_header() -> str:
    """Say what the suite runs on."""
    return f"{NAME}: refarray {refarray.__version__} in its place"
