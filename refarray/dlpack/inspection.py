"""Look into a managed tensor: every field by name, offset, C type and value.

The offsets and types come from the compiled structs, so what this prints is the layout
in memory, not a description of it. All is copied at the moment of looking.

Next: `tracing_steps.py`.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from refarray._base.devices import DeviceType
from refarray._memory.native import ffi
from refarray.dlpack.consumer import VERSION, request
from refarray.dlpack.inspection_memory import (
    Description,
    Element,
    Memory,
    address,
    named,
    read_elements,
)
from refarray.dlpack.inspection_rules import Broken, by_answer, by_tensor, by_version
from refarray.dlpack.structs import LEGACY_NAME, Flags, TypeCode, managed_tensor


class Field(NamedTuple):
    """One field: path, offset from the struct, C type, value, size (both in bytes)."""

    name: str
    offset: int
    ctype: str
    value: str
    nbytes: int


class Inspection(NamedTuple):
    """What a capsule held at the moment of looking. `str()` gives a table.

    `fields` is empty for a consumed capsule: its tensor belongs to the consumer, who
    may have freed it already. For another major version it ends with the flags. Where
    it is complete, `tensor` has the same as numbers. `elements` are those at the corner
    of index 0, at most 48; `unread` says why there are none, or none with values.
    `broken` are the rules that the tensor breaks, as far as looking tells; `producer`
    is the type of the object that was asked for it, if one was.

    All of it is plain data that is never looked up again, so an Inspection can be
    copied and pickled. Its addresses are numbers, of memory that may be gone.
    """

    name: str
    struct: str
    address: int
    fields: tuple[Field, ...]
    version: tuple[int, int] | None
    flags: Flags | None
    tensor: Description | None
    elements: tuple[Element, ...]
    unread: str | None
    broken: tuple[Broken, ...]
    producer: str | None

    @property
    def consumed(self) -> bool:
        """Whether a consumer has taken the tensor."""
        return self.name.startswith("used_")

    def __str__(self) -> str:
        head = f"capsule {self.name!r} -> {self.struct} at {self.address:#x}"
        if self.consumed:
            return f"{head} (consumed: this belongs to the consumer now)"
        rows = [(f"{f.offset:4}", f.name, f.ctype, f.value) for f in self.fields]
        name_width = max((len(row[1]) for row in rows), default=0)
        type_width = max((len(row[2]) for row in rows), default=0)
        lines = [head]
        for offset, name, ctype, value in rows:
            lines.append(
                f"{offset}  {name:{name_width}}  {ctype:{type_width}}  {value}"
            )
        if self.unread:
            lines.append(f"not read: {self.unread}")
        lines += [f"breaks {broken}" for broken in self.broken]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON. Addresses are strings.

        So are values that JSON has no number for, as nan.
        """
        tensor, flags = self.tensor, self.flags
        return {
            "capsule": self.name,
            "consumed": self.consumed,
            "producer": self.producer,
            "struct": self.struct,
            "address": f"{self.address:#x}",
            "fields": [
                {
                    "name": field.name,
                    "offset": field.offset,
                    "size": field.nbytes,
                    "type": field.ctype,
                    "value": field.value,
                }
                for field in self.fields
            ],
            "version": list(self.version) if self.version else None,
            "read_only": None if flags is None else Flags.READ_ONLY in flags,
            "copied": None if flags is None else Flags.IS_COPIED in flags,
            "tensor": tensor and _plain_tensor(tensor),
            "elements": [
                {
                    "index": list(element.indices),
                    "address": f"{element.address:#x}",
                    "value": _plain(element.value),
                }
                for element in self.elements
            ],
            "not_read": self.unread,
            "breaks": [
                {"rule": rule, "level": level, "seen": seen}
                for rule, level, seen in self.broken
            ],
        }

    def _repr_html_(self) -> str:
        from refarray.dlpack.inspection_html import table  # only for notebooks

        return table(self)

    def svg(self) -> str:
        """Return the struct in memory as a picture: fields, arrows and data.

        The text of an SVG, which fits any width and reads in dark and light.
        """
        from refarray.dlpack.inspection_svg import picture  # only for whoever draws

        return picture(self)


def inspect(x: Any, /) -> Inspection:
    """Return every field of the managed tensor in a capsule, or of one made by `x`.

    A capsule stays as it is, unconsumed; one that was consumed is not looked into.
    Pointers may point anywhere. Only memory of the host is read.

    TypeError for neither a capsule nor an object with `__dlpack__`, ValueError for a
    capsule of another kind; exceptions of `__dlpack__` arrive unchanged.
    """
    if not hasattr(x, "__dlpack__"):
        return _look(x)
    asked: list[dict[str, Any]] = []

    def export(**question: Any) -> Any:
        asked.append(question)
        return x.__dlpack__(**question)

    capsule = request(export, {"max_version": VERSION})
    try:
        announced = x.__dlpack_device__()
    except Exception as error:
        announced = error.with_traceback(None)  # which would keep the capsule
    found = _look(capsule)
    answers = by_answer(
        "max_version" in asked[-1],
        found.name == LEGACY_NAME,
        announced,
        found.tensor and found.tensor.device,
    )
    return found._replace(producer=_type_name(x), broken=(*answers, *found.broken))


def _type_name(x: Any) -> str:
    """Return how users know the type: numpy.ndarray, torch.Tensor."""
    package = type(x).__module__.partition(".")[0]
    return f"{package}.{type(x).__qualname__}"


def _look(capsule: Any) -> Inspection:
    name, pointer = managed_tensor(capsule)
    struct = ffi.typeof(pointer).item
    found = Inspection(
        name=str(name),
        struct=struct.cname,
        address=address(pointer),
        fields=(),
        version=None,
        flags=None,
        tensor=None,
        elements=(),
        unread=None,
        broken=(),
        producer=None,
    )
    if found.consumed:
        return found._replace(
            unread="the tensor belongs to the consumer, who may free it"
        )
    with Memory() as memory:
        return _read(found, struct, memory)


def _read(found: Inspection, struct: Any, memory: Memory) -> Inspection:
    """Copy the struct, and what it points to."""
    offsets = dict(struct.fields)
    managed = ffi.new(ffi.getctype(struct, "*"))
    versioned = "version" in offsets
    # The layout is promised up to the flags; in another version the rest may be
    # anything, and the struct may end there.
    start = offsets["dl_tensor"].offset if versioned else ffi.sizeof(struct)
    if not _copy(found.address, managed, 0, start, memory):
        return found._replace(unread="nothing is at the address in the capsule")
    version = flags = None
    if versioned:
        version = (int(managed.version.major), int(managed.version.minor))
        flags = Flags(managed.flags)
    broken = tuple(by_version(version))
    found = found._replace(version=version, flags=flags, broken=broken)
    if version is not None and version[0] != VERSION[0]:
        return found._replace(
            fields=tuple(_fields(managed, struct, "", 0, None)),
            unread=f"what follows in version {version[0]}.{version[1]} may be anything",
        )
    if not _copy(found.address, managed, start, ffi.sizeof(struct), memory):
        return found._replace(unread="nothing is at the address in the capsule")
    tensor = Description.of(managed.dl_tensor, flags or 0, memory)
    return found._replace(
        fields=tuple(_fields(managed, struct, "", 0, tensor)),
        tensor=tensor,
        elements=read_elements(tensor, memory),
        unread=tensor.unread,
        broken=broken + tuple(by_tensor(tensor, version)),
    )


def _copy(where: int, managed: Any, start: int, end: int, memory: Memory) -> bool:
    """Copy some bytes of the struct; False where there are none."""
    if start == end:
        return True
    data = memory.read(where + start, end - start)
    if data is not None:
        ffi.buffer(managed)[start:end] = data
    return data is not None


def _fields(
    value: Any, struct: Any, path: str, base: int, tensor: Description | None
) -> list[Field]:
    out = []
    for name, field in struct.fields:
        if name == "dl_tensor" and tensor is None:
            break
        member = getattr(value, name)
        where = base + field.offset
        if field.type.kind == "struct":
            out += _fields(member, field.type, f"{path}{name}.", where, tensor)
        else:
            text = _describe(name, member, field.type, tensor)
            size = ffi.sizeof(field.type)
            out.append(Field(path + name, where, field.type.cname, text, size))
    return out


def _describe(name: str, value: Any, ctype: Any, tensor: Description | None) -> str:
    if ctype.kind in ("pointer", "function"):
        where = address(value)
        if where and tensor is not None and name in ("shape", "strides"):
            return f"{where:#x} {_extents(name, tensor)}"
        return f"{where:#x}" if where else "NULL"
    if name == "flags":
        return f"{value} ({spell(value)})"
    if name == "device_type":
        return named(value, DeviceType)
    if name == "code":
        return named(value, TypeCode)
    return str(value)


def _extents(name: str, tensor: Description) -> str:
    extents = tensor.shape if name == "shape" else tensor.strides
    if extents is not None:
        return f"-> {list(extents)}"
    if tensor.unread and tensor.unread.startswith("ndim"):
        return f"(not read: {tensor.unread})"
    return "(not read: nothing is there)"


def spell(flags: int) -> str:
    """Return the names of the flags that are set, and the bits that have none."""
    names = [flag.name or "" for flag in Flags if flag & flags]
    unknown = flags & ~sum(Flags)
    if unknown:
        names.append(f"unknown bits {unknown:#x}")
    return " | ".join(names) or "none"


def _plain_tensor(tensor: Description) -> dict[str, Any]:
    reach, has_address = tensor.reach, tensor.data and not tensor.is_handle
    return {
        "dtype": tensor.dtype_name,
        "device": list(tensor.device),
        "ndim": tensor.ndim,
        "shape": None if tensor.shape is None else list(tensor.shape),
        "strides": None if tensor.strides is None else list(tensor.strides),
        "size": tensor.size,
        "itemsize": tensor.itemsize,
        "first_element": f"{tensor.first:#x}" if has_address else None,
        "bytes": None if reach is None else [f"{end:#x}" for end in reach],
    }


def _plain(value: Any) -> Any:
    has_number = not isinstance(value, complex) and (
        not isinstance(value, float) or isfinite(value)
    )
    return value if has_number else str(value)
