"""Profiles: names, flags, where they are in force, and what each of them says.

More than 400 lines: a section for each of the twelve profiles, to be read side by side.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import refarray as xp
from refarray import profiles

INFO = xp.__array_namespace_info__()


def in_child(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ---- Where a profile is in force -----------------------------------------------------


def test_a_profile_is_in_force_in_its_block_alone() -> None:
    with profiles.use("immutable"):
        with profiles.use("gpu"):
            assert profiles.active().name == "gpu"
            xp.zeros(2)[0] = 1
        assert profiles.active().name == "immutable"
        with pytest.raises(TypeError, match="immutable"):
            xp.zeros(2)[0] = 1
    assert profiles.active().name == "strict"
    xp.zeros(2)[0] = 1


def test_it_ends_with_an_error_too() -> None:
    with pytest.raises(ZeroDivisionError), profiles.use("mps"):
        _ = 1 / 0
    assert profiles.active().name == "strict"


def test_one_thread_leaves_another_alone() -> None:
    inside, done = threading.Barrier(2), threading.Barrier(2)
    seen: list[Any] = []

    def other() -> None:
        inside.wait()
        seen.append((profiles.active().name, xp.zeros(1).device, xp.zeros(1).dtype))
        xp.zeros(1)[0] = 1
        done.wait()

    thread = threading.Thread(target=other)
    thread.start()
    with profiles.use("mps+immutable"):
        inside.wait()
        assert xp.zeros(1).dtype is xp.float32
        with pytest.raises(TypeError, match="immutable"):
            xp.zeros(1)[0] = 1
        done.wait()
    thread.join()
    assert seen == [("strict", xp.Device("cpu"), xp.float64)]


def test_two_threads_have_two_profiles_at_a_time() -> None:
    meeting = threading.Barrier(2)

    def work(name: str) -> list[str]:
        names = []
        with profiles.use(name):
            for _ in range(50):
                meeting.wait()
                names.append(xp.zeros(1).device.name)
        return names

    with ThreadPoolExecutor(2) as pool:
        gpu, mps = pool.map(work, ["gpu", "mps"])
    assert set(gpu) == {"gpu"}
    assert set(mps) == {"mps"}


def test_a_task_keeps_its_profile_after_the_block() -> None:
    async def later(go: asyncio.Event) -> str:
        await go.wait()
        return xp.zeros(1).device.name

    async def main() -> tuple[str, str]:
        go = asyncio.Event()
        with profiles.use("gpu"):
            task = asyncio.create_task(later(go))
        go.set()
        return await task, xp.zeros(1).device.name

    assert asyncio.run(main()) == ("gpu", "cpu")


def test_a_context_can_be_run_elsewhere() -> None:
    with profiles.use("gpu"):
        context = contextvars.copy_context()
    assert context.run(lambda: xp.zeros(1).device.name) == "gpu"


def suspended(name: str) -> Generator[str, None, None]:
    with profiles.use(name):
        while True:
            yield profiles.active().name


def test_generators_are_closed_in_any_order() -> None:
    first, second = suspended("gpu"), suspended("mps")
    assert [next(first), next(second)] == ["gpu", "mps"]
    first.close()
    assert profiles.active().name == "mps"
    second.close()
    assert profiles.active().name == "strict"


def test_only_who_entered_a_profile_can_leave_it() -> None:
    block = suspended("gpu")
    with ThreadPoolExecutor(1) as pool:
        pool.submit(next, block).result()
    with pytest.raises(RuntimeError, match="'gpu' was put in force by another thread"):
        block.close()
    assert profiles.active().name == "strict"


def test_threads_start_from_the_default_of_the_process() -> None:
    before = profiles.set_default("gpu")
    try:
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(lambda: xp.zeros(1).device.name).result() == "gpu"
        with profiles.use("strict"):
            assert xp.zeros(1).device.name == "cpu"
    finally:
        profiles.set_default(before)
    assert xp.zeros(1).device.name == "cpu"


@pytest.mark.parametrize("default", ["jax32", "torch"])
def test_a_block_wins_over_the_default_of_the_process(default: str) -> None:
    # Kernels run in a context of their own, where the default is in force.
    before = profiles.set_default(default)
    try:
        with profiles.use("strict"):
            x = xp.asarray([3.0, 1.0, 2.0])
            i = xp.asarray([2, 0], dtype=xp.uint64)
            results = [
                xp.sort(xp.unique_values(x)),
                xp.take(x, xp.argsort(x)),
                xp.linalg.inv(xp.eye(3)),
                x[x > 1],
                x[i],
                xp.repeat(x, xp.asarray([1, 2, 3])),
                xp.unique_values(i),
            ]
    finally:
        profiles.set_default(before)
    assert {out.dtype for out in results[:-1]} == {xp.float64}
    assert results[-1].dtype is xp.uint64
    assert xp.all(results[1] == xp.asarray([1.0, 2.0, 3.0]))


def test_strict_costs_nothing_by_its_name() -> None:
    code = (
        "import refarray as xp\n"
        "with xp.profiles.use('strict'):\n"
        "    xp.profiles.set_default('strict')\n"
        "from refarray._base import profile\n"
        "print(profile.guarded)"
    )
    assert in_child(code) == in_child(code, REFARRAY_PROFILE="strict") == "False"


def test_the_numbers_of_the_program_are_left_alone() -> None:
    random.seed(1)
    first = random.random()
    random.seed(1)
    seeds = {profiles.profile("adversarial").seed}
    assert random.random() == first
    random.seed(1)
    assert profiles.profile("adversarial").seed not in seeds


def test_the_environment_sets_the_default() -> None:
    code = (
        "import refarray as xp, threading\n"
        "out = []\n"
        "def work(): out.append(xp.zeros(1).device.name)\n"
        "t = threading.Thread(target=work); t.start(); t.join()\n"
        "print(xp.profiles.active().name, *out)"
    )
    assert in_child(code, REFARRAY_PROFILE="gpu+immutable") == "gpu+immutable gpu"
    assert in_child(code, REFARRAY_PROFILE="strict") == "strict cpu"
    assert in_child(code, REFARRAY_PROFILE="") == "strict cpu"


@pytest.mark.parametrize("text", ["gqu", "gpu,mutable", "strict,devices="])
def test_an_error_in_the_environment_says_so(text: str) -> None:
    code = (
        "try: import refarray\n"
        "except ValueError as error: print(error, error.__suppress_context__)"
    )
    out = in_child(code, REFARRAY_PROFILE=text)
    assert out.startswith(f"the environment has REFARRAY_PROFILE={text}, and ")
    assert out.endswith("True")


def test_a_profile_can_be_sent_to_another_process() -> None:
    code = (
        "import pickle, refarray as xp\n"
        f"gpu = pickle.loads({pickle.dumps(profiles.profile('gpu'))!r})\n"
        "with xp.profiles.use(gpu): print(xp.zeros(1).device)\n"
        "own = xp.profiles.Place('npu')\n"
        "with xp.profiles.use(devices=[own, 'cpu']): print(xp.zeros(1).device)"
    )
    assert in_child(code).split() == ["gpu", "npu"]


def test_a_version_query_changes_nothing() -> None:
    older = xp.zeros(1).__array_namespace__(api_version="2022.12")
    assert not hasattr(older, "isin")
    assert xp.zeros(1).__array_namespace__() is xp
    assert hasattr(xp, "isin")
    assert profiles.active().api_version == "2025.12"


def test_the_version_of_a_profile_is_what_arrays_announce() -> None:
    with profiles.use(api_version="2022.12"):
        assert xp.zeros(1).__array_namespace__().__array_api_version__ == "2022.12"
    assert xp.zeros(1).__array_namespace__() is xp


# ---- Names and flags -----------------------------------------------------------------


def test_the_names_are_those_documented() -> None:
    assert profiles.NAMES == (
        *("strict", "pedantic", "strictest", "gpu", "mps", "jax32", "torch", "dask"),
        *("jit", "immutable", "adversarial", "numpy_interop"),
    )


@pytest.mark.parametrize("name", profiles.NAMES)
def test_each_name_can_be_used_and_read_back(name: str) -> None:
    with profiles.use(name) as profile:
        xp.zeros(3)
        again = profiles.profile(profile.name)
        for flag in profiles.FLAGS:
            assert getattr(again, flag) == getattr(profile, flag)
    # A profile object is as good as its name.
    with profiles.use(profile) as once_more:
        assert once_more.devices == profile.devices


def test_every_flag_names_a_library_that_behaves_so() -> None:
    libraries = ("JAX", "Dask", "torch", "CuPy", "NumPy", "array-api-strict", "ndonnx")
    for flag, (_, text) in profiles.FLAGS.items():
        if flag not in ("devices", "api_version", "extensions"):
            assert any(library in text for library in libraries), flag


@pytest.mark.parametrize(
    ("arguments", "flags", "message"),
    [
        (["gqu"], {}, r"'gqu'; known profiles: strict, pedantic.*numpy_interop"),
        (["gpu+"], {}, "no profile is named ''"),
        ([], {"mutabel": True}, "'mutabel'; known flags: devices, .*seed"),
        (["gpu,mutabel=True"], {}, "known flags"),
        (["gpu,mutable"], {}, "'mutable' is not flag=value"),
        ([], {"mutable": 1}, "True, False, not 1"),
        ([], {"values": "no"}, "'allow', 'raise', not 'no'"),
        ([], {"transfers": None}, "'allow', 'record', 'raise'"),
        ([], {"api_version": "2020.12"}, "'2021.12'.*'2025.12'"),
        ([], {"extensions": {"signal"}}, "fft, linalg"),
        (
            [],
            {"extensions": "fft"},
            "a set of .'fft', 'linalg'., or of none, not 'fft'",
        ),
        ([], {"extensions": None}, "or of none, not None"),
        ([], {"extensions": [1, "x"]}, "no extension is named"),
        ([], {"devices": 5}, "a sequence of at least one place"),
        (["adversarial,seed=\N{SUPERSCRIPT TWO}"], {}, "from 1 up"),
        ([], {"seed": 2**63}, "from 1 up, below"),
        ([], {"devices": []}, "at least one place"),
        ([], {"devices": "gpu"}, "a sequence of at least one place"),
        ([], {"devices": ["a", "a"]}, "names one twice"),
        ([], {"seed": 0}, "from 1 up"),
        ([], {"seed": "x"}, "from 1 up"),
        (["jit+dask"], {}, "contradict each other in data_dependent_shapes"),
        (["gpu+mps"], {}, "contradict each other in devices"),
        (["numpy_interop+jit"], {}, "contradicts values"),
    ],
)
def test_bad_profiles_are_refused(
    arguments: list[str], flags: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        profiles.profile(*arguments, **flags)
    with pytest.raises(ValueError, match=message):
        profiles.set_default(*arguments, **flags)
    assert profiles.active().name == "strict"


def test_an_object_is_no_name() -> None:
    unnamed: Any
    for unnamed in (3, None, b"gpu", ["gpu"], xp.float64):
        with pytest.raises(TypeError, match="by name, not as"):
            profiles.profile(unnamed)
        with pytest.raises(TypeError, match="a device has a name"):
            profiles.place(unnamed)
        with pytest.raises(TypeError, match="a label is a string"):
            profiles.restart(unnamed)


def test_places_are_checked() -> None:
    held: Any = [xp.float64, "complex128"]
    with pytest.raises(TypeError, match=r"dtypes such as .* not 'complex128'"):
        profiles.place("npu", held)
    one: Any = xp.float64
    with pytest.raises(TypeError, match=r"several dtypes, such as .*, not refarray"):
        profiles.place("npu", one)
    for use in ("complex", "integral", "indexing"):
        wrong: Any = {use: xp.float32}
        with pytest.raises(ValueError, match=f"default {use} dtype is a .* one, not"):
            profiles.place("npu", **wrong)


def test_a_flag_settles_a_contradiction() -> None:
    both = profiles.profile("jit+dask", data_dependent_shapes="raise")
    assert both.data_dependent_shapes == "raise"
    assert both.name == "jit+dask,data_dependent_shapes=raise"
    both = profiles.profile("gpu+mps", devices=["cpu"])
    assert [place.name for place in both.devices or ()] == ["cpu"]
    assert both.name == "gpu+mps,devices=cpu"
    assert profiles.profile("gpu,devices=npu|cpu").name == "gpu,devices=npu|cpu"
    assert profiles.profile("gpu,devices=None,seed=None").devices is None


def test_the_name_of_a_profile_made_of_profiles_brings_it_back() -> None:
    seed, raising = profiles.profile("adversarial,seed=5"), "gpu,transfers=raise"
    for made in (
        profiles.profile(seed, "gpu"),
        profiles.profile(raising, seed),
        profiles.profile(profiles.profile(raising), seed, mutable=False),
        profiles.profile(seed, seed=6),
        profiles.profile(profiles.profile(raising), transfers="allow"),
    ):
        again = profiles.profile(made.name)
        assert again == made
    assert profiles.profile(seed, seed=6).name == "adversarial,seed=6"
    with pytest.raises(ValueError, match="mutable is given as True and as False"):
        profiles.profile("gpu,mutable=True", "strict,mutable=False")


def test_profiles_combine() -> None:
    with profiles.use("gpu+jax32"):
        x = xp.zeros(2)
        assert (x.device.name, x.dtype) == ("gpu", xp.float32)
        with pytest.raises(ValueError, match=r"does not support float64"):
            xp.zeros(2, dtype=xp.float64)
        with pytest.raises(TypeError, match="immutable"):
            x[0] = 1


# ---- Devices and dtypes --------------------------------------------------------------


def test_only_the_devices_of_the_profile_are_there() -> None:
    with profiles.use("gpu"):
        assert [d.name for d in INFO.devices()] == ["gpu", "cpu"]
        gpu = INFO.default_device()
        assert xp.Device("gpu") is gpu
        assert xp.zeros(1, device=xp.Device("cpu")).device.name == "cpu"
        with pytest.raises(ValueError, match="known devices: 'gpu', 'cpu'"):
            xp.Device("mps")
    assert INFO.devices() == (xp.Device("cpu"),)
    with pytest.raises(ValueError, match="known devices: 'cpu'"):
        xp.Device("gpu")
    with pytest.raises(ValueError, match=r"profile 'strict' has no Device\('gpu'\)"):
        xp.zeros(1, device=gpu)


def test_an_array_from_a_block_can_be_computed_with_after_it() -> None:
    with profiles.use("gpu"):
        x = xp.asarray([1.0, 2.0])
    for out in (x + x, xp.zeros_like(x), xp.full_like(x, 3), xp.asarray(x, copy=True)):
        assert out.device is x.device
    with pytest.raises(ValueError, match=r"'strict' has no Device\('gpu'\)"):
        xp.zeros_like(x, device=x.device)


def test_devices_of_ones_own() -> None:
    small = profiles.place(
        "small", [xp.bool, xp.int32, xp.float32], real=xp.float32, complex=xp.complex64,
        integral=xp.int32, indexing=xp.int32,
    )  # fmt: skip
    with profiles.use(devices=[small, "cpu"]):
        assert list(INFO.dtypes()) == ["bool", "int32", "float32"]
        assert list(INFO.dtypes(kind="integral")) == ["int32"]
        assert len(INFO.dtypes(device=xp.Device("cpu"))) == 13
        assert INFO.default_dtypes()["real floating"] is xp.float32
        assert xp.asarray([1, 2]).dtype is xp.int32
        assert xp.asarray([1.5]).dtype is xp.float32
        assert xp.full(2, 3).dtype is xp.int32
        assert xp.arange(3).dtype is xp.int32
        assert xp.arange(3.0).dtype is xp.float32
        assert xp.linspace(0, 1, 3).dtype is xp.float32
        assert xp.eye(2).dtype is xp.float32
        assert xp.argsort(xp.asarray([2, 1])).dtype is xp.int32
        assert xp.count_nonzero(xp.asarray([2, 1])).dtype is xp.int32
        assert xp.searchsorted(xp.asarray([1, 2]), xp.asarray([2])).dtype is xp.int32
        assert xp.unique_counts(xp.asarray([1, 1])).counts.dtype is xp.int32
        assert xp.nonzero(xp.asarray([1, 1]))[0].dtype is xp.int32
        assert xp.fft.fftfreq(4).dtype is xp.float32
        with pytest.raises(ValueError, match=r"not support complex64: it has bool"):
            xp.asarray([1j])
        with pytest.raises(ValueError, match="does not support int64"):
            xp.asarray([1], dtype=xp.int64)
        wide = xp.asarray([1.0], dtype=xp.float64, device=xp.Device("cpu"))
        with pytest.raises(ValueError, match="does not support float64"):
            wide.to_device(xp.Device("small"))
        narrow = xp.astype(wide, xp.float32, device=xp.Device("small"))
        assert (narrow.device.name, narrow.dtype) == ("small", xp.float32)
        back = xp.astype(narrow, xp.float64, device=xp.Device("cpu"))
        assert (back.device.name, back.dtype) == ("cpu", xp.float64)
        assert float(xp.asarray(narrow, dtype=xp.float32)[0]) == 1.0
    with pytest.raises(ValueError, match="the default real dtype float64 is none of"):
        profiles.place("smaller", [xp.float32])


def test_the_default_dtypes_of_torch_and_jax() -> None:
    # torch 2.13: torch.tensor([1.]).dtype, torch.sum of uint8 (int64), torch.arange.
    with profiles.use("torch"):
        assert xp.asarray([1.0]).dtype is xp.float32
        assert xp.asarray([1j]).dtype is xp.complex64
        assert xp.asarray([1]).dtype is xp.int64
        assert xp.sum(xp.ones(2, dtype=xp.uint8)).dtype is xp.int64
        assert xp.ones(2, dtype=xp.float64).dtype is xp.float64
        with pytest.raises(ValueError, match="does not support uint16"):
            xp.ones(2, dtype=xp.uint16)
    # JAX 0.10 without jax_enable_x64: jnp.sum(jnp.ones(2, jnp.uint8)).dtype is uint32.
    with profiles.use("jax32"):
        assert xp.sum(xp.ones(2, dtype=xp.uint8)).dtype is xp.uint32
        assert xp.sum(xp.ones(2, dtype=xp.int8)).dtype is xp.int32
        assert xp.argmax(xp.asarray([1, 2])).dtype is xp.int32


def test_nothing_is_moved_between_devices_unasked() -> None:
    with profiles.use("gpu"):
        there, here = xp.zeros(2), xp.zeros(2, device=xp.Device("cpu"))
        for operation in (
            lambda: there + here,
            lambda: there.__setitem__(0, here[0]),
            lambda: xp.concat([there, here]),
            lambda: there[xp.astype(here, xp.int64)],
            lambda: xp.where(there > 0, there, here),
        ):
            with pytest.raises(ValueError, match="no implicit transfer"):
                operation()


def test_transfers_are_written_down() -> None:
    with profiles.use("gpu") as profile:
        x = xp.asarray(np.ones(4))
        x.to_device(xp.Device("cpu"))
        float(x[0])
        x.to_device(xp.Device("gpu"))  # it is there
    assert profile.transferred == [
        profiles.Transfer("asarray", "cpu", "gpu", 32),
        profiles.Transfer("to_device", "gpu", "cpu", 32),
        profiles.Transfer("float()", "gpu", "cpu", 8),
    ]


def test_transfers_can_be_forbidden() -> None:
    with profiles.use("gpu", transfers="raise"):
        x = xp.ones(2)
        for operation in (
            lambda: x.to_device(xp.Device("cpu")),
            lambda: xp.asarray(np.ones(2)),
            lambda: bool(x[0]),
            lambda: x.__dlpack__(dl_device=(1, 0)),
            lambda: xp.from_dlpack(x, device=xp.Device("cpu")),
        ):
            with pytest.raises(RuntimeError, match="forbids transfers"):
                operation()
        assert (x + 1).device is x.device


def test_each_use_has_its_own_list_of_transfers() -> None:
    with profiles.use("gpu") as first:
        float(xp.ones(()))
    with profiles.use("gpu") as second:
        pass
    assert (len(first.transferred), len(second.transferred)) == (1, 0)


# ---- The exchange of memory ----------------------------------------------------------


def test_nobody_outside_reaches_a_pretend_device() -> None:
    with profiles.use("gpu"):
        x = xp.asarray([1.0, 2.0])
        with pytest.raises(BufferError, match="host memory only"):
            memoryview(x)
        with pytest.raises(TypeError, match="host memory only"):
            np.asarray(x)
        with pytest.raises(BufferError, match=r"ask for dl_device=\(1, 0\)"):
            np.from_dlpack(x)
        assert x.__dlpack_device__()[0] == 12  # kDLExtDev
        host = np.from_dlpack(x, device="cpu")
        assert host.tolist() == [1.0, 2.0]
        host = np.asarray(x.to_device(xp.Device("cpu")))
        assert host.tolist() == [1.0, 2.0]
        with pytest.raises(BufferError, match="copy=False"):
            x.__dlpack__(dl_device=(1, 0), copy=False)
        with pytest.raises(BufferError):
            x.__dlpack__(dl_device=(2, 0))
        with pytest.raises(ValueError, match="stream must be None"):
            x.__dlpack__(dl_device=x.__dlpack_device__(), stream=1)


def test_refarray_itself_does() -> None:
    with profiles.use("gpu"):
        x = xp.asarray([1.0, 2.0])
        shared = xp.from_dlpack(xp.from_dlpack(x))
        assert shared.device is x.device
        shared[0] = 7.0
        assert float(x[0]) == 7.0
        capsule = x.__dlpack__(dl_device=x.__dlpack_device__(), max_version=(1, 3))
        assert float(xp.dlpack.from_capsule(capsule)[1]) == 2.0
        here = xp.from_dlpack(x, device=xp.Device("cpu"))
        assert here.device.name == "cpu"
        there = xp.from_dlpack(np.ones(2), device=xp.Device("gpu"))
        assert there.device.name == "gpu"
        with pytest.raises(BufferError, match="copy=False"):
            xp.from_dlpack(np.ones(2), device=xp.Device("gpu"), copy=False)
        with pytest.raises(BufferError, match="copy=False"):
            xp.from_dlpack(x, device=xp.Device("cpu"), copy=False)


def test_devices_without_number_are_refused() -> None:
    code = (
        "import refarray as xp\n"
        "try:\n"
        "    for i in range(1000): xp.profiles.place(f'd{i}')\n"
        "except ValueError as error: print(error)\n"
        "try: xp.profiles.place(f'd{i}')\n"
        "except ValueError as error: print(error)\n"
        "with xp.profiles.use(devices=['d0']): print(xp.zeros(1).device)"
    )
    assert in_child(code) == "more than 64 devices\nmore than 64 devices\nd0"


def test_names_given_by_two_threads_are_two_devices() -> None:
    meeting = threading.Barrier(4)

    def work(number: int) -> Any:
        meeting.wait()
        profiles.place("common")
        return profiles.profile(devices=[f"own {number}"])

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(4)))
    pairs = set()
    for new in found:
        with profiles.use(new):
            pairs.add(xp.zeros(1).__dlpack_device__())
    assert len(pairs) == 4


def test_a_capsule_of_others_cannot_claim_a_pretend_device() -> None:
    with profiles.use("gpu"):
        kind, number = xp.zeros(1).__dlpack_device__()
        memory = np.zeros(2)
        foreign = xp.dlpack.Tensor(
            memory.ctypes.data, (2,), "float64", device=(kind, number), owner=memory
        )
        with pytest.raises(BufferError, match="memory is not refarray's"):
            xp.from_dlpack(foreign)
        # Memory of refarray stays so, however often it was exchanged.
        x = xp.asarray([1.0, 2.0])
        for _ in range(4):
            x = xp.from_dlpack(x)
            assert x.__dlpack_device__() == (kind, number)
        x = xp.dlpack.from_capsule(x.__dlpack__(dl_device=(kind, number)))
        assert float(x[1]) == 2.0


def test_immutable_memory_is_lent_read_only() -> None:
    with profiles.use("immutable"):
        x = xp.zeros(2)
        assert memoryview(x).readonly
        assert not np.asarray(x).flags.writeable
        assert not np.from_dlpack(x).flags.writeable
        y = x
        y += 1  # as in JAX, another array
        assert np.asarray(x).tolist() == [0.0, 0.0]
        assert np.asarray(y).tolist() == [1.0, 1.0]


def test_strides_that_nobody_may_use_are_scrambled() -> None:
    x = xp.ones((2, 1, 3))
    plain = memoryview(x).strides
    with profiles.use("adversarial", seed=1):
        seen = memoryview(x).strides
        assert seen is not None and plain is not None
        assert (seen[0], seen[2]) == (plain[0], plain[2])
        assert seen[1] != plain[1]
        assert np.array_equal(np.asarray(x), np.ones((2, 1, 3)))
        assert np.array_equal(np.from_dlpack(x), np.ones((2, 1, 3)))
        assert np.from_dlpack(xp.ones((0, 3))).shape == (0, 3)
    assert memoryview(x).strides == plain


# ---- What a profile leaves out -------------------------------------------------------


def test_extensions_are_truly_absent() -> None:
    assert {"fft", "linalg"} <= set(dir(xp))
    with profiles.use("strictest"):
        assert not hasattr(xp, "linalg")
        assert not {"fft", "linalg"} & set(dir(xp))
        older = xp.zeros(1).__array_namespace__(api_version="2023.12")
        assert not hasattr(older, "linalg")
        assert not hasattr(older, "fft")
    with profiles.use(extensions={"fft"}):
        assert hasattr(xp, "fft")
        assert not hasattr(xp, "linalg")
    assert hasattr(xp, "linalg")


@pytest.mark.parametrize("name", ["strictest", "jax32", "jit"])
def test_no_shape_depends_on_values(name: str) -> None:
    x = xp.asarray([1, 0, 2], dtype=xp.int32)
    mask = x > 0
    with profiles.use(name):
        capabilities = INFO.capabilities()
        assert capabilities["boolean indexing"] is False
        assert capabilities["data-dependent shapes"] is False
        for operation in (
            lambda: x[mask],
            lambda: xp.nonzero(x),
            lambda: xp.unique_all(x),
            lambda: xp.unique_counts(x),
            lambda: xp.unique_inverse(x),
            lambda: xp.unique_values(x),
            lambda: xp.repeat(x, x),
        ):
            with pytest.raises(RuntimeError, match=name):
                operation()
        assert xp.repeat(x, 2).shape == (6,)
        assert xp.where(mask, x, 0).shape == (3,)


def test_no_masks_without_boolean_indexing() -> None:
    x = xp.asarray([1, 0, 2])
    with profiles.use(boolean_indexing=False):
        with pytest.raises(RuntimeError, match="no boolean indexing"):
            x[x > 0]
        with pytest.raises(RuntimeError, match="no boolean indexing"):
            x[x > 0] = 1
        assert xp.nonzero(x)[0].shape == (2,)


def test_in_place_operators_make_new_arrays_where_arrays_are_immutable() -> None:
    x = xp.zeros(2, dtype=xp.int64)
    with profiles.use("immutable"):
        for name in ("add", "sub", "mul", "floordiv", "mod", "pow", "and", "or", "xor"):
            assert getattr(x, f"__i{name}__")(1) is NotImplemented
