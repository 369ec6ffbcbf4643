"""The stand-in for array-api-strict, each time in a process of its own.

More than 400 lines: the programs of those processes stand in it as text.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

START = """
from refarray.testing.as_array_api_strict import install
xp = install()
"""


def run(program, *, start=START, **variables):
    environment = {k: v for k, v in os.environ.items() if k != "REFARRAY_PROFILE"}
    ended = subprocess.run(
        [sys.executable, "-c", start + textwrap.dedent(program)],
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


# The module --------------------------------------------------------------------------


def test_it_is_the_module_that_is_imported_and_that_arrays_name():
    run(
        """
        import importlib.util, pydoc, sys
        import array_api_strict
        import array_api_strict._array_object as parts
        from array_api_strict import ArrayAPIStrictFlags, linalg, sum
        from array_api_strict._array_object import Array
        from array_api_strict._dtypes import DType
        import refarray

        assert array_api_strict is xp and xp.__name__ == "array_api_strict"
        assert importlib.util.find_spec("array_api_strict") is xp.__spec__
        assert sum is refarray.sum and linalg is refarray.linalg
        x = xp.asarray([1.0])
        assert isinstance(x, Array) and isinstance(x.dtype, DType)
        for version in (None, "2021.12", "2024.12", "2025.12"):
            assert x.__array_namespace__(api_version=version) is xp
            assert (x + 1).__array_namespace__(api_version=version) is xp
        assert xp.__array_api_version__ == "2025.12"
        assert tuple(map(int, xp.__version__.split("+")[0].split("."))) >= (2, 3)
        for name in ("Array", "dlpack", "__path__", "__file__", "sumo"):
            assert not hasattr(xp, name), name
        try:
            x.__array_namespace__(api_version="2020.12")
        except ValueError as error:
            assert "2020.12" in str(error)
        else:
            raise AssertionError
        assert "linalg" in dir(xp) and "linalg" in xp.__all__
        """
    )


def test_it_has_every_name_of_the_standard():
    wanted = Path(__file__).parents[1] / "data" / "signatures.json"
    names = [
        name
        for category, kinds in json.loads(wanted.read_text())["2025.12"].items()
        if category not in ("array_object", "data_types", "info", "linalg", "fft")
        for listed in kinds.values()
        for name in listed
    ]
    assert "broadcast_shapes" in names
    run(f"assert not [name for name in {names!r} if not hasattr(xp, name)]")


def test_array_api_strict_itself_must_not_be_there_already():
    run(
        """
        import sys, types
        from refarray.testing.as_array_api_strict import install
        import refarray
        sys.modules["array_api_strict"] = real = types.ModuleType("array_api_strict")
        real.__file__ = "somewhere.py"
        try:
            install()
        except RuntimeError as error:
            assert "somewhere.py" in str(error)
        else:
            raise AssertionError
        assert refarray.asarray(1).__array_namespace__() is refarray
        """,
        start="",
    )


def test_it_goes_without_a_trace():
    run(
        """
        import sys
        import refarray
        from refarray import profiles
        from refarray.testing.as_array_api_strict import uninstall
        assert profiles.active().name == "array_api_strict"
        assert install() is xp
        uninstall()
        assert not [name for name in sys.modules if name.startswith("array_api_strict")]
        assert refarray.asarray(1).__array_namespace__() is refarray
        assert profiles.active().name == "strict"
        assert len(refarray.__array_namespace_info__().devices()) == 1
        uninstall()
        assert install() is not xp
        """
    )


def test_pickles_and_copies():
    made = run(
        """
        import copy, pickle
        x = xp.asarray([1.0, 2.0])
        y = xp.asarray([3], device=xp.Device("device1"))
        everything = {"x": x, "y": y, "xp": xp, "dtype": x.dtype, "device": x.device}
        assert copy.deepcopy(everything)["xp"] is xp
        print(pickle.dumps(everything).hex())
        """
    )
    # The namespace brings the stand-in with it: what the array on device1 needs.
    run(
        f"""
        import pickle, sys
        found = pickle.loads(bytes.fromhex({made.strip()!r}))
        import array_api_strict as xp
        assert found["xp"] is xp and found["dtype"] is xp.float64
        assert found["device"] == xp.Device("CPU_DEVICE")
        assert found["y"].device == xp.Device("device1")
        assert memoryview(found["x"]).tolist() == [1, 2]
        assert found["x"].__array_namespace__() is xp
        """,
        start="import refarray.testing.as_array_api_strict as s; s.install()\n",
    )


def test_the_page_that_explains_it():
    howto = Path(__file__).parents[2] / "docs" / "howto"
    text = howto.joinpath("replace-array-api-strict.md").read_text()
    blocks = re.findall(r"```(python|text)\n(.*?)```", text, re.DOTALL)
    program = "".join(code for kind, code in blocks if kind == "python")
    promised = "".join(output for kind, output in blocks if kind == "text")
    assert run(program, start="") == promised


# Devices -----------------------------------------------------------------------------


def test_devices():
    run(
        """
        import numpy as np
        info = xp.__array_namespace_info__()
        cpu, one, two = map(xp.Device, ("CPU_DEVICE", "device1", "device2"))
        assert info.devices() == (cpu, one, two)
        assert xp.Device() == info.default_device() == xp.zeros(1).device == cpu
        assert len({cpu, one, two}) == 3 and cpu != one
        x = xp.asarray([1.0, 2.0], device=one)
        assert (x + 1).device == one and x.dtype == xp.float64
        assert xp.ones(2, device=two).dtype == xp.float32
        assert info.default_dtypes(device=two)["complex floating"] == xp.complex64
        for outside in (np.asarray, memoryview, np.from_dlpack):
            try:
                outside(x)
            except (TypeError, BufferError):
                pass
            else:
                raise AssertionError(outside)
        assert np.asarray(x.to_device(cpu)).tolist() == [1, 2]
        try:
            x + xp.asarray([1.0, 2.0])
        except ValueError as error:
            assert "device1" in str(error)
        else:
            raise AssertionError
        """
    )


def test_devices_on_request():
    run(
        """
        for name in ("no_float64", "device3"):
            try:
                xp.Device(name)
            except ValueError as error:
                assert "'device1'" in str(error)
            else:
                raise AssertionError(name)
        try:
            from refarray.testing.as_array_api_strict import uninstall
            uninstall()
            install("no_float32")
        except ValueError as error:
            assert "no_x64" in str(error)
        else:
            raise AssertionError
        xp = install("no_float64", "no_x64")
        info = xp.__array_namespace_info__()
        assert len(info.devices()) == 5
        device = xp.Device("no_float64")
        assert {"float64", "complex128"} == set(info.dtypes()) - set(
            info.dtypes(device=device)
        )
        assert xp.ones(2, device=device).dtype == xp.float32
        assert xp.arange(2, device=device).dtype == xp.int64
        device = xp.Device("no_x64")
        assert len(info.dtypes(device=device)) == 9
        assert xp.arange(2, device=device).dtype == xp.int32
        """
    )


# Flags -------------------------------------------------------------------------------


def test_flags():
    run(
        """
        def refused(error, call):
            try:
                call()
            except error as caught:
                return str(caught)
            raise AssertionError(call)

        usual = {
            "api_version": "2025.12",
            "boolean_indexing": True,
            "data_dependent_shapes": True,
            "enabled_extensions": ("linalg", "fft"),
        }
        assert xp.get_array_api_strict_flags() == usual
        x = xp.asarray([1, 1, 2])
        with xp.ArrayAPIStrictFlags(
            boolean_indexing=False, data_dependent_shapes=False, enabled_extensions=()
        ):
            assert xp.get_array_api_strict_flags()["enabled_extensions"] == ()
            assert not hasattr(xp, "linalg") and "fft" not in dir(xp)
            assert "boolean indexing" in refused(RuntimeError, lambda: x[x == 1])
            assert "data-dependent shapes" in refused(
                RuntimeError, lambda: xp.unique_values(x)
            )
            assert not xp.__array_namespace_info__().capabilities()["boolean indexing"]
            with xp.ArrayAPIStrictFlags(data_dependent_shapes=True):
                assert xp.unique_values(x).shape == (2,)
                refused(RuntimeError, lambda: x[x == 1])
            refused(RuntimeError, lambda: xp.nonzero(x))
        assert xp.get_array_api_strict_flags() == usual
        assert x[x == 1].shape == (2,) and xp.linalg.trace

        xp.set_array_api_strict_flags(api_version="2023.12", enabled_extensions=["fft"])
        assert xp.__array_api_version__ == "2023.12"
        assert hasattr(xp, "cumulative_sum") and not hasattr(xp, "isin")
        assert "2025.12" in refused(AttributeError, lambda: xp.isin)
        assert x.__array_namespace__() is xp and not hasattr(xp, "linalg")
        xp.set_array_api_strict_flags(boolean_indexing=False)
        assert xp.__array_api_version__ == "2023.12"
        xp.reset_array_api_strict_flags()
        assert xp.get_array_api_strict_flags() == usual

        message = refused(
            ValueError, lambda: xp.set_array_api_strict_flags(api_version="2020.12")
        )
        assert "'2021.12'" in message
        message = refused(
            ValueError, lambda: xp.ArrayAPIStrictFlags(enabled_extensions=["sparse"])
        )
        assert "fft, linalg" in message
        assert xp.get_array_api_strict_flags() == usual
        """
    )


def test_flags_of_a_block_end_with_it_and_stay_in_its_thread():
    run(
        """
        import sys
        from concurrent.futures import ThreadPoolExecutor
        from refarray import profiles
        flags = xp.get_array_api_strict_flags

        def elsewhere():
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(flags).result()

        usual = flags()
        block = xp.ArrayAPIStrictFlags(boolean_indexing=False)
        # Python's rule: from 3.14 on a thread may begin with its starter's context.
        inherits = getattr(sys.flags, "thread_inherit_context", False)
        with block, block:
            assert elsewhere() == (flags() if inherits else usual)
            # Set in the block, gone after it.
            xp.set_array_api_strict_flags(api_version="2022.12")
            assert flags()["api_version"] == "2022.12"
            assert flags()["boolean_indexing"] is False
            xp.reset_array_api_strict_flags()
            assert flags() == usual
            xp.set_array_api_strict_flags(data_dependent_shapes=False)
            assert elsewhere() == (flags() if inherits else usual)
        assert flags() == usual
        # Those of the process are in its threads, but take nothing from a block.
        with profiles.use("jax32"):
            xp.set_array_api_strict_flags(api_version="2024.12")
            assert flags()["api_version"] == "2025.12"
        assert flags() == elsewhere() == usual | {"api_version": "2024.12"}
        assert profiles.active().mutable
        """
    )


def test_flags_that_a_task_sets_in_a_block_are_its_own():
    run(
        """
        import asyncio
        flags = xp.get_array_api_strict_flags

        async def task():
            xp.set_array_api_strict_flags(api_version="2024.12")
            await asyncio.sleep(0)
            return flags()

        async def main():
            usual = flags()
            with xp.ArrayAPIStrictFlags(boolean_indexing=False):
                here = flags()
                began = asyncio.create_task(task())
                await asyncio.sleep(0)
                assert flags() == here
            assert flags() == usual
            assert await began == here | {"api_version": "2024.12"}
            assert flags() == usual

        asyncio.run(main())
        """
    )


def test_a_flag_set_again_and_again_changes_nothing():
    run(
        """
        from refarray import profiles
        before = profiles.active()
        xp.set_array_api_strict_flags(api_version="2025.12")
        assert profiles.active() is before
        xp.set_array_api_strict_flags(api_version="2024.12", boolean_indexing=False)
        assert profiles.active().name == before.name == "array_api_strict"
        """
    )


def test_flags_of_the_environment():
    run(
        """
        assert xp.get_array_api_strict_flags() == {
            "api_version": "2022.12",
            "boolean_indexing": False,
            "data_dependent_shapes": True,
            "enabled_extensions": (),
        }
        """,
        ARRAY_API_STRICT_API_VERSION="2022.12",
        ARRAY_API_STRICT_BOOLEAN_INDEXING="False",
        ARRAY_API_STRICT_DATA_DEPENDENT_SHAPES="true",
        ARRAY_API_STRICT_ENABLED_EXTENSIONS="",
    )
    run(
        """
        import sys
        from refarray.testing.as_array_api_strict import install
        try:
            install()
        except ValueError as error:
            assert "ARRAY_API_STRICT_BOOLEAN_INDEXING" in str(error)
        else:
            raise AssertionError
        assert "array_api_strict" not in sys.modules
        """,
        start="",
        ARRAY_API_STRICT_BOOLEAN_INDEXING="no",
    )


@pytest.mark.parametrize(
    ("profile", "devices", "test"),
    [
        ("immutable", "cpu device1 device2", "not profiles.active().mutable"),
        ("jax32", "cpu device1 device2", "xp.ones(1, device=one).dtype == xp.float32"),
        ("gpu", "gpu cpu device1 device2", "xp.ones(1).device.name == 'gpu'"),
        ("adversarial,seed=7", "cpu device1 device2", "profiles.active().seed == 7"),
    ],
)
def test_a_profile_beneath(profile, devices, test):
    run(
        f"""
        from refarray import profiles
        one = xp.Device("device1")
        info = xp.__array_namespace_info__()
        assert " ".join(device.name for device in info.devices()) == {devices!r}
        assert xp.Device("CPU_DEVICE") in info.devices()
        for flag in (False, True):
            xp.set_array_api_strict_flags(boolean_indexing=flag)
            assert {test}
            assert profiles.active().name == "array_api_strict+{profile}"
        """,
        REFARRAY_PROFILE=profile,
    )


# The plugin --------------------------------------------------------------------------

CLIENT = {
    "conftest.py": """
        import array_api_strict

        array_api_strict.set_array_api_strict_flags(api_version="2025.12")
    """,
    "test_client.py": """
        import pytest

        xp = pytest.importorskip("array_api_strict")


        def test_client():
            x = xp.asarray([1.0], device=xp.Device("device1"))
            assert x.__array_namespace__().__name__ == "array_api_strict"


        def test_profile():
            from refarray import profiles

            print(profiles.active().name, xp.__array_namespace_info__().devices())
    """,
}


@pytest.fixture
def client(tmp_path):
    for name, text in CLIENT.items():
        tmp_path.joinpath(name).write_text(textwrap.dedent(text))

    def pytest_run(*arguments):
        plugin = ("-p", "refarray.testing.as_array_api_strict")
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-s", *plugin, *arguments, tmp_path],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return pytest_run


def test_a_client_that_imports_it_in_its_conftest(client):
    ended = client()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "array_api_strict: refarray" in ended.stdout
    assert "2 passed" in ended.stdout
    assert "array_api_strict (Device('cpu'), Device('device1')" in ended.stdout


def test_the_options_of_the_plugin(client):
    ended = client("--strict-device", "no_x64")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Device('device2'), Device('no_x64'))" in ended.stdout
    ended = client("--strict-device", "no_such")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "known: no_float64, no_x64" in ended.stderr


@pytest.mark.parametrize("first", [True, False])
def test_a_profile_chosen_by_the_other_plugin(client, first):
    other = ("-p", "refarray.testing.profile", "--refarray-profile=immutable")
    ended = client(*other) if first else client(*other[2:], *other[:2])
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "array_api_strict+immutable (Device('cpu'), Device('dev" in ended.stdout
