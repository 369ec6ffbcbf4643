"""The checks also catch other faults than the planted ones: those of real libraries.

Each is the correct double with one fault, the rule it breaks, and what is seen.
"""

from __future__ import annotations

import pytest

from refarray.testing.forge import CPU, CUDA, Raw, allocate, row_major
from refarray.testing.library import Array, CudaLibrary, Library, RocmLibrary
from refarray.testing.rules import check
from refarray.testing.violators_consumer import ForgetfulOwner


def described(base=Library, **changes):
    """A library that lays down some fields of every managed tensor wrong."""

    class Described(base):
        def describe(self, source, version):
            return super().describe(source, version).but(**changes)

    return Described


# ---- Producers ----------------------------------------------------------------------


class OnlyDLPack:
    def __init__(self, *arguments):
        pass

    def __dlpack__(self, **keywords):
        raise BufferError("nothing to export")


class NoDevice(Library):
    array_type = OnlyDLPack


class HalfAProtocol(Library):
    def unexportable(self):
        return OnlyDLPack()


class ListForAPair(Library):
    def announce(self, x):
        return list(x.tensor.device)


class UnknownDeviceType(Library):
    def announce(self, x):
        return (5, 0)


class OldArray(Array):
    def __dlpack__(self, *, stream=None):
        return self.library.export(self, stream, None, None, None)


class OldSignature(Library):
    array_type = OldArray


class EchoesTheVersion(Library):
    def choose_version(self, asked):
        self.asked = asked
        return super().choose_version(asked)

    def describe(self, source, version):
        return super().describe(source, version and self.asked)


class NotImplementedDevice(Library):
    def choose_device(self, x, asked):
        if asked not in (None, x.tensor.device):
            raise NotImplementedError(f"device {asked}")
        return x.tensor.device


class StaysOnTheDevice(CudaLibrary):
    def choose_device(self, x, asked):
        return x.tensor.device


class LosesValuesOnTheWay(CudaLibrary):
    def describe(self, source, version):
        tensor = super().describe(source, version)
        return tensor.but(data=allocate(48)) if tensor.device == CPU else tensor


class ValueErrorForCopyFalse(CudaLibrary):
    def export(self, x, stream, max_version, dl_device, copy):
        if copy is False and dl_device == CPU:
            raise ValueError("a copy is needed")
        return super().export(x, stream, max_version, dl_device, copy)


class RefusesToCopy(Library):
    def choose_copy(self, moved, copy):
        if copy is not None:
            raise ValueError(f"copy={copy} is not supported")
        return moved


class LegacyIgnoresCopy(Library):
    def export(self, x, stream, max_version, dl_device, copy):
        copy = copy if max_version else None
        return super().export(x, stream, max_version, dl_device, copy)


class WritableLegacy(Library):
    def export(self, x, stream, max_version, dl_device, copy):
        if max_version is None:
            x = Array(self, x.tensor.but(flags=0))
        return super().export(x, stream, max_version, dl_device, copy)


class TypeErrorForReadOnly(Library):
    def export(self, x, stream, max_version, dl_device, copy):
        if x.tensor.flags and max_version is None:
            raise TypeError("read-only")
        return super().export(x, stream, max_version, dl_device, copy)


class ScalarAsVector(Library):
    def describe(self, source, version):
        tensor = super().describe(source, version)
        return tensor if tensor.shape else tensor.but(shape=(1,), strides=(1,))


class ExportIgnoresStrides(Library):
    def describe(self, source, version):
        tensor = super().describe(source, version)
        return tensor.but(strides=row_major(tensor.shape))


class NoPerThreadStream(CudaLibrary):
    def check_stream(self, x, stream, device):
        if stream == 2:
            raise ValueError("stream 2")
        super().check_stream(x, stream, device)


class NoDefaultStream(RocmLibrary):
    def check_stream(self, x, stream, device):
        if stream == 0:
            raise ValueError("stream 0")
        super().check_stream(x, stream, device)


class StreamToTheHost(CudaLibrary):
    def check_stream(self, x, stream, device):
        if device != CPU:
            super().check_stream(x, stream, device)


# ---- Consumers ----------------------------------------------------------------------


class NoKeywords(Library):
    def from_dlpack(self, x, /):
        return self.load(x, None, None)


class NamedArgument(Library):
    def from_dlpack(self, x, *, device=None, copy=None):
        return self.load(x, device, copy)


class AsksForLegacy(Library):
    def keywords(self, device, copy):
        keywords = super().keywords(device, copy)
        del keywords["max_version"]
        return keywords


class NoFallback(Library):
    def ask_capsule(self, x, keywords):
        return x.__dlpack__(**keywords), True


class RefusesNewerMinor(Library):
    def check_version(self, found):
        super().check_version(found)
        if found.version and found.version > (1, 3):
            raise BufferError("too new")


class DeletesWhatItRefuses(Library):
    """And the capsule's destructor deletes it again."""

    opened = None

    def open(self, capsule, knows_keywords):
        self.opened = super().open(capsule, knows_keywords)
        return self.opened

    def load(self, x, device, copy):
        try:
            return super().load(x, device, copy)
        except BufferError:
            if self.opened is not None:
                self.opened.delete()
            raise
        finally:
            self.opened = None


class RefusesLegacy(Library):
    def open(self, capsule, knows_keywords):
        found = super().open(capsule, knows_keywords)
        if found.legacy:
            raise BufferError("legacy")
        return found


class TakesAnyName(Library):
    def open(self, capsule, knows_keywords):
        return Raw(capsule)


class DeletesForeignCapsules(Library):
    def open(self, capsule, knows_keywords):
        found = Raw(capsule)
        if found.name and found.name.startswith("used_"):
            found.delete()
        return super().open(capsule, knows_keywords)


class SystemErrorForNoCapsule(Library):
    def open(self, capsule, knows_keywords):
        try:
            return super().open(capsule, knows_keywords)
        except TypeError:
            raise SystemError("returned NULL without setting an exception") from None


class DeletesAtOnce(Library):
    owner_type = ForgetfulOwner

    def use_up(self, found):
        super().use_up(found)
        found.delete()


class InsistsOnADeleter(Library):
    def check_tensor(self, found):
        super().check_tensor(found)
        if not found.has_deleter:
            raise BufferError("deleter is NULL")


class ImportsScalarAsVector(Library):
    def imported(self, found):
        tensor = super().imported(found)
        return tensor if tensor.shape else tensor.but(shape=(1,), strides=(1,))


class RuntimeErrorForStrides(Library):
    def check_tensor(self, found):
        super().check_tensor(found)
        if found.strides and min(found.strides) < 0:
            raise RuntimeError("negative strides")


class NegativeNdimIsScalar(Library):
    def check_tensor(self, found):
        if found.ndim >= 0:
            super().check_tensor(found)

    def imported(self, found):
        if found.ndim < 0:
            found.managed.dl_tensor.ndim = 0
        return super().imported(found)


class TakesAnyExtent(Library):
    def check_tensor(self, found):
        if not 0 <= found.ndim <= 64:
            raise BufferError(f"ndim {found.ndim}")
        self.check_dtype(found)
        self.check_data(found, 6)


class ImportsWritable(Library):
    def imported(self, found):
        return super().imported(found).but(flags=0)


class NeverAsksForTheDevice(Library):
    def ask(self, x, device, copy):
        return CPU, *self.ask_capsule(x, self.keywords(device, copy))


class AlwaysAsksForCuda(Library):
    def keywords(self, device, copy):
        return {**super().keywords(device, copy), "dl_device": CUDA}


class RuntimeErrorForDevice(Library):
    def check_device(self, found, announced):
        if found.device != CPU:
            raise RuntimeError("unsupported device")
        super().check_device(found, announced)


class ComparesWithAnnounced(Library):
    def load(self, x, device, copy):
        if device is not None and x.__dlpack_device__() != CPU:
            x.__dlpack__(dl_device=CPU)
            raise BufferError("the capsule is not where it was announced")
        return super().load(x, device, copy)


class HidesTheRefusal(Library):
    def ask_capsule(self, x, keywords):
        try:
            return super().ask_capsule(x, keywords)
        except BufferError as error:
            raise TypeError("cannot import") from error


class NoCopyFalse(Library):
    def load(self, x, device, copy):
        if copy is False:
            raise NotImplementedError("copy=False")
        return super().load(x, device, copy)


FAULTS = [
    (1, NoDevice, "no such method"),
    (2, ListForAPair, "not a pair"),
    (2, UnknownDeviceType, "not in the enum"),
    (3, HalfAProtocol, "only one"),
    (4, OldSignature, "raised TypeError"),
    (7, EchoesTheVersion, "but own is (1, 3)"),
    (8, described(name="dltensor_versioned"), "'dltensor_versioned'"),
    (10, described(device=(3, 0)), "device (3, 0), not (1, 0)"),
    (10, NotImplementedDevice, "raised NotImplementedError"),
    (11, StaysOnTheDevice, "capsule on device (2, 0)"),
    (11, LosesValuesOnTheWay, "values [0.0"),
    (11, ValueErrorForCopyFalse, "raised ValueError"),
    (12, RefusesToCopy, "raised ValueError"),
    (12, LegacyIgnoresCopy, "memory is that of the array"),
    (12, described(flags=0), "no IS_COPIED"),
    (13, RefusesToCopy, "raised ValueError"),
    (17, NoPerThreadStream, "raised ValueError"),
    (18, NoDefaultStream, "raised ValueError"),
    (19, StreamToTheHost, "returned a capsule"),
    (23, WritableLegacy, "a writable alias"),
    (23, TypeErrorForReadOnly, "raised TypeError"),
    (24, ScalarAsVector, "shape (1,)"),
    (24, ExportIgnoresStrides, "values [1.0, 2.0"),
    (24, described(data=64, shape=(0, 3)), "data 0x40"),
    (29, described(name="DLTensor"), "name 'DLTensor'"),
    (30, described(destructor=None), "no destructor"),
    (32, described(deleter="loses error"), "the exception was lost"),
    (37, NoKeywords, "raised TypeError"),
    (37, NamedArgument, "taken as a keyword"),
    (41, AsksForLegacy, "max_version: [None]"),
    (41, NoFallback, "raised TypeError"),
    (42, RefusesNewerMinor, "raised BufferError: too new"),
    (42, DeletesWhatItRefuses, "deleter calls: [2]"),
    (43, RefusesLegacy, "raised BufferError: legacy"),
    (44, TakesAnyName, "returned an array"),
    (44, DeletesForeignCapsules, "deleter calls: 1"),
    (44, SystemErrorForNoCapsule, "raised SystemError"),
    (45, DeletesWhatItRefuses, "deleter calls: [2]"),
    (45, DeletesAtOnce, "while the memory is in use"),
    (45, InsistsOnADeleter, "deleter is NULL"),
    (48, RuntimeErrorForStrides, "raised RuntimeError"),
    (49, ImportsScalarAsVector, "shape (1,), not ()"),
    (50, DeletesWhatItRefuses, "deleter calls: [2]"),
    (51, NegativeNdimIsScalar, "returned an array"),
    (51, TakesAnyExtent, "returned an array"),
    (52, ImportsWritable, "writable"),
    (54, NeverAsksForTheDevice, "returned an array"),
    (54, DeletesWhatItRefuses, "deleter calls: [2]"),
    (55, AlwaysAsksForCuda, "dl_device: [(2, 0)]"),
    (55, RuntimeErrorForDevice, "raised RuntimeError"),
    (55, ComparesWithAnnounced, "raised BufferError"),
    (56, NoFallback, "raised TypeError"),
    (57, HidesTheRefusal, "raised TypeError"),
    (57, NoCopyFalse, "raised NotImplementedError"),
]


@pytest.mark.parametrize(
    ("rule", "library", "seen"),
    FAULTS,
    ids=[f"{rule}-{library.__name__}-{seen}" for rule, library, seen in FAULTS],
)
def test_fault_is_caught(rule, library, seen):
    findings = check(library(), [rule], isolate=False)
    assert {finding.verdict for finding in findings} == {"fail"}
    assert any(seen in finding.seen for finding in findings)
    assert all(finding.reproduce for finding in findings)
