"""The header does not say who owns a tensor whose import failed.

The header says of the argument of `managed_tensor_to_py_object_no_sync` that "the
ownership of the tensor is stolen", and of the result "-1 on failure with a Python
exception set". It does not say who owns the tensor after a failure. An implementer may
call the deleter, because it stole the ownership. A caller may call the deleter, because
nothing was made of the tensor. If both call it, the tensor is freed twice; if neither
does, it leaks.

The two implementations that we looked at agree that the tensor stays with the caller.
PyTorch 2.13 does not call the deleter when its import fails. TVM FFI 0.1.15, as the
caller, calls the deleter after a failure (`make_tensor_from_chandle` in
`cython/tensor.pxi`). An earlier refarray called it in the failing import, and a program
with refarray, TVM FFI and JAX died of SIGBUS, because the tensor was freed twice.

We propose to replace the description of `tensor` by: "The tensor to import. On success,
its ownership moves to `out_py_object`. On failure, the caller keeps its ownership, and
must call its deleter." The caller can then try another way to use the tensor.

The script makes one callee of each kind and one caller of each kind, and counts the
calls of the deleter. One call is right. The text allows all four pairs.

Rule: 66
Says: DLPack 1.3 header, DLPackManagedTensorToPyObjectNoSync
Reported: no report found
Needs: refarray (it forges the tensors and the tables)
"""

import sys

from refarray.testing.exchange import Table, set_hooks, table
from refarray.testing.forge import Case, Raw, Tensor


def leaves(address, owns):
    """Fail, and leave the tensor to the caller."""
    raise BufferError("no array can be made of this")


def deletes(address, owns):
    """Fail, and delete the tensor, which was stolen."""
    Raw.at(address).delete()
    raise BufferError("no array can be made of this")


def deleter_calls(callee, caller_deletes):
    """Let an import fail; return how often the deleter of the tensor was called."""
    set_hooks(callee, None)  # what the right functions of a forged table call
    case = Case(Tensor.of([1.0, 2.0], (2,)))
    answer = Table(table()).to_object(case.address)
    assert answer.status == -1 and isinstance(answer.error, BufferError)
    if caller_deletes:
        Raw.at(case.address).delete()
    return case.deleter_calls


MEANING = {0: "leaked", 1: "right", 2: "freed twice"}
right = []
for caller_deletes in (True, False):
    found = {
        callee: deleter_calls(callee, caller_deletes) for callee in (leaves, deletes)
    }
    caller = "deletes" if caller_deletes else "leaves"
    for callee, calls in found.items():
        print(
            f"callee {callee.__name__} it, caller {caller} it:",
            f"deleter called {calls} times, {MEANING[calls]}",
        )
    right.append(set(found.values()) == {1})
print("a caller that is right with both callees:", any(right))
sys.exit(not any(right))
