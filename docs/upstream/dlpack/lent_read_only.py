"""A DLTensor that is lent cannot say that its memory is read-only.

`dltensor_from_py_object_no_sync` fills in a DLTensor, which has no flags:
DLPACK_FLAG_BITMASK_READ_ONLY is a flag of DLManagedTensorVersioned. The header does not
say what the function does for read-only memory, nor whether a consumer may write to the
memory of a DLTensor that it was lent. If the exporter lends it, a kernel that writes to
its arguments changes memory that nobody may change, such as a broadcast array, a cached
constant or a file mapped for reading (where the process dies of SIGSEGV). If the
exporter refuses, kernels that only read have to take the slower way.

The legacy capsule has the same gap, and exporters close it by a refusal: NumPy and
refarray raise BufferError for a read-only array. refarray refuses to lend one, too. A
pull request for PyTorch has a second table, which exports everything as read-only
(https://github.com/pytorch/pytorch/pull/188554).

We propose to add to DLPackDLTensorFromPyObjectNoSync: "A DLTensor has no flags. For
read-only memory, this function must fail with a BufferError. The consumer can then call
`managed_tensor_from_py_object_no_sync`, which sets DLPACK_FLAG_BITMASK_READ_ONLY." A
later version could add a function that returns the flags beside the DLTensor
(`uint64_t* out_flags`), so that kernels that only read keep the fast way.

The script lends the memory of a read-only array by a table that lends whatever it is
asked for, which the text allows, and writes to it.

Rule: none
Says: DLPack 1.3 header, DLPackDLTensorFromPyObjectNoSync
Reported: no report found
Needs: refarray (it forges the tensor and the table)
"""

import sys

from refarray.testing.exchange import Table, table
from refarray.testing.forge import READ_ONLY, Case, Raw, Tensor, ffi


class ReadOnly:
    """An array over read-only memory, with the methods that a forged table calls."""

    def __init__(self):
        self.case = Case(Tensor.of([1.0, 2.0, 3.0], (3,)).but(flags=READ_ONLY))

    def exchange_capsule(self):
        """Export the tensor with its flags."""
        return self.case.capsule()

    def exchange_tensor(self):
        """Return the address of the DLTensor to lend."""
        inside = ffi.addressof(self.case.struct.versioned, "dl_tensor")
        return int(ffi.cast("uintptr_t", inside))


x, exchange = ReadOnly(), Table(table())

managed = Raw.at(exchange.from_object(x).result)
print("managed tensor: flags", managed.flags, "(1 is READ_ONLY)")

answer, lent = exchange.lend(x)
print("lent DLTensor: status", answer.status, "and nothing that says read-only")
lent.write(9.0)
print("after a write to it, the read-only array is", managed.values())
sys.exit(managed.values() != [1.0, 2.0, 3.0])
