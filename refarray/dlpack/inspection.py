"""Look into a managed tensor: every field by name, offset, C type and value.

The offsets and types come from the compiled structs, so what this prints is the layout
in memory, not a description of it.

Next folder: `_compute/`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from refarray._base.devices import DeviceType
from refarray._base.layout import MAX_NDIM
from refarray._memory.native import ffi
from refarray.dlpack.consumer import VERSION
from refarray.dlpack.structs import Flags, TypeCode, managed_tensor


class Field(NamedTuple):
    """One field: path, offset in bytes from the struct, C type, value."""

    name: str
    offset: int
    ctype: str
    value: str


class Inspection(NamedTuple):
    """What a capsule held at the moment of looking. `str()` gives a table.

    `fields` is empty for a consumed capsule: its tensor belongs to the consumer, who
    may have freed it already. For another major version it ends with the flags.
    """

    name: str
    struct: str
    address: int
    fields: tuple[Field, ...]

    def __str__(self) -> str:
        head = f"capsule {self.name!r} -> {self.struct} at {self.address:#x}"
        if not self.fields:
            return f"{head} (consumed: this belongs to the consumer now)"
        rows = [(f"{f.offset:4}", f.name, f.ctype, f.value) for f in self.fields]
        name_width = max(len(row[1]) for row in rows)
        type_width = max(len(row[2]) for row in rows)
        return "\n".join(
            [head]
            + [
                f"{offset}  {name:{name_width}}  {ctype:{type_width}}  {value}"
                for offset, name, ctype, value in rows
            ]
        )


def inspect(x: Any, /) -> Inspection:
    """Return every field of the managed tensor in a capsule, or of one made by `x`.

    A capsule stays as it is, unconsumed. TypeError for neither a capsule nor an object
    with `__dlpack__`, ValueError for a capsule of another kind.
    """
    if hasattr(x, "__dlpack__"):
        x = x.__dlpack__(max_version=VERSION)
    name, managed = managed_tensor(x)
    struct = ffi.typeof(managed).item
    consumed = str(name).startswith("used_")
    return Inspection(
        name=str(name),
        struct=struct.cname,
        address=int(ffi.cast("uintptr_t", managed)),
        fields=() if consumed else tuple(_fields(managed, struct, "", 0, managed)),
    )


def _fields(value: Any, struct: Any, path: str, base: int, managed: Any) -> list[Field]:
    out = []
    for name, field in struct.fields:
        if name == "dl_tensor" and _is_of_another_major_version(managed):
            break
        member = getattr(value, name)
        where = base + field.offset
        if field.type.kind == "struct":
            out += _fields(member, field.type, f"{path}{name}.", where, managed)
        else:
            text = _describe(name, member, field.type, managed)
            out.append(Field(path + name, where, field.type.cname, text))
    return out


def _is_of_another_major_version(managed: Any) -> bool:
    # The layout is promised up to the flags; what follows may be anything.
    version = getattr(managed, "version", None)
    return version is not None and version.major != VERSION[0]


def _describe(name: str, value: Any, ctype: Any, managed: Any) -> str:
    if ctype.kind in ("pointer", "function"):
        address = int(ffi.cast("uintptr_t", value))
        if not address:
            return "NULL"
        if name in ("shape", "strides"):
            ndim = managed.dl_tensor.ndim
            if not 0 <= ndim <= MAX_NDIM:
                return f"{address:#x} (not read: ndim is {ndim})"
            extents = ", ".join(str(value[i]) for i in range(ndim))
            return f"{address:#x} -> [{extents}]"
        return f"{address:#x}"
    if name == "flags":
        return f"{value} ({Flags(value).name or 'none'})" if value else "0 (none)"
    if name == "device_type":
        return _named(value, DeviceType)
    if name == "code":
        return _named(value, TypeCode)
    return str(value)


def _named(value: int, names: type[DeviceType] | type[TypeCode]) -> str:
    return (
        f"{value} ({names(value).name})"
        if value in set(names)
        else f"{value} (unknown)"
    )
