"""Hold array libraries against the rules of DLPack, and against the standard.

In reading order:

    findings.py     what a check says: rules, problems, findings
    forge.py        capsules with anything in them; reading capsules raw
    producers.py    objects with `__dlpack__` over forged capsules
    adapters.py     the small class that you write for a library
    samples.py      the arrays that checks start from
    odd.py          tensors that are unusual, or that cannot be
    rules_*.py      the checks, one function for each rule, 1 to 70:
                    device, producer, stream, capsule, consumer, contents,
                    exchange (after exchange.py, which calls the C exchange API)
    loading.py      from the name of an adapter to the adapter
    isolation.py    risky checks in a child process; child.py is the other side
    rules.py        the list of all rules, and `check`
    library.py      a correct library, tiny, over the forge, with library_table.py
    violators.py    the same library with exactly one fault, once for each rule, in
                    violators_*.py
    report.py, check.py, plugin.py
                    what was found, on the command line and in pytest
    doubles.py      producers and consumers with one fault each, for the tests of others
    simulated_driver.py
                    `simulated_cuda`: CUDA devices without a GPU
    profile.py, as_array_api_strict.py
                    plugins for pytest: a suite under a profile, and one with refarray
                    in the place of array-api-strict
    standard/       the value suite of the array API standard

The checks and the doubles import no more of refarray than its public protocol, so that
they run on any library. The simulated driver and the two plugins after it are about
refarray itself.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from refarray.testing.simulated_driver import simulated_cuda as simulated_cuda


def __getattr__(name: str) -> Any:  # whoever checks a library needs no driver
    if name == "simulated_cuda":
        from refarray.testing.simulated_driver import simulated_cuda

        return simulated_cuda
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
