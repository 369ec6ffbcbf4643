"""Fuzz the importer with forged capsules: `make fuzz`.

    python tests/stress/fuzz.py [CORPUS] [-max_total_time=60 ...]   libFuzzer's options
    python tests/stress/fuzz.py --random MINUTES [SEED]
    python tests/stress/fuzz.py --input HEX                         one input again

The first form needs atheris, and learns from the code that an input reaches. The second
needs nothing; a child process tries random bytes, and if it ends, the last of them are
told. Reading order: guarded.py, fuzz_input.py.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import random
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

LONGEST = 160  # bytes of a random input


def random_input(dice: random.Random) -> bytes:
    """Return bytes of which some, few or many, are not the first choice."""
    share = dice.choice((0.05, 0.2, 0.5, 1.0))
    data = dice.randbytes(dice.choice((24, 64, LONGEST)))
    return bytes(byte if dice.random() < share else 0 for byte in data)


def try_random(minutes: float, seed: int, last: Path) -> None:
    """Try random bytes for some minutes; `last` has those that are being tried."""
    from fuzz_capsules import check

    faulthandler.enable()
    dice, until = random.Random(seed), time.monotonic() + 60 * minutes
    with last.open("wb", buffering=0) as file:
        for inputs in count():
            if time.monotonic() > until:
                print(f"{inputs:,} inputs, no find (seed {seed})")
                return
            data = random_input(dice)
            file.seek(0)
            file.write(data)
            file.truncate()
            check(data)


def run_random(minutes: float, seed: int) -> int:
    """Try them in a child; tell the input that ends it. Return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        last = Path(folder, "input")
        arguments = ["--child", str(minutes), str(seed), str(last)]
        status = subprocess.run([sys.executable, __file__, *arguments]).returncode
        if status:
            print(f"FOUND, with status {status}: --input {last.read_bytes().hex()}")
    return 1 if status else 0


def write_unseen(file: int, data: Any) -> int:
    """Do what os.write does, without AddressSanitizer, which reads `data` itself.

    The inspector asks the kernel to read, and is told where nothing can be read.
    """
    from refarray.testing.forge import ffi

    libc = ctypes.CDLL(None, use_errno=True)
    where = ctypes.c_void_p(int(ffi.cast("uintptr_t", ffi.from_buffer(data))))
    written = libc.syscall(1, file, where, ctypes.c_size_t(len(data)))  # x86-64
    if written < 0:
        raise OSError(ctypes.get_errno(), "write failed")
    return int(written)


def fuzz() -> None:
    """Let libFuzzer look for inputs; it does not return."""
    import atheris

    with atheris.instrument_imports(include=["refarray"]):
        import fuzz_capsules

        from refarray.dlpack import inspection_memory
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        inspection_memory.os = SimpleNamespace(**{**vars(os), "write": write_unseen})
    atheris.Setup(sys.argv, fuzz_capsules.check)
    atheris.Fuzz()


def main(arguments: list[str]) -> int:
    """Do what the arguments say."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # memory of a GPU is for another fuzzer
    match arguments:
        case ["--random", minutes, *seed]:
            return run_random(float(minutes), int(*seed))
        case ["--child", minutes, seed, last]:
            try_random(float(minutes), int(seed), Path(last))
        case ["--input", data]:
            from fuzz_capsules import check

            check(bytes.fromhex(data))
        case _:
            fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
