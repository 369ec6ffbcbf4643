"""DLPack: hand memory to another library, and take theirs, without a copy.

Read in this order:

1. `structs.py`: the structs and their constants, as Python sees them.
2. `producer.py`: which memory `x.__dlpack__()` exports.
3. `shortcuts.py`, `consumer.py`: `from_dlpack`, and the question it asks a producer;
   `cuda.py`: what there is to do besides with memory of a CUDA device.
4. `capsules.py`: for libraries that pass bare capsules instead of objects.
5. `memory.py`: the protocol for memory of any kind, and for classes of your own.
6. `inspection_memory.py`, `inspection_rules.py`: look into a managed tensor, whatever
   is in it, and see which rules it breaks; `inspection_drawing.py`,
   `inspection_strip.py`, `inspection_svg.py`: draw it; `inspection_html.py`,
   `inspection.py`: show every field.
7. `tracing_steps.py`, `tracing_picture.py`, `tracing.py`: one exchange, step by step.

The rules are those of DLPack 1.3 and of the array API standard 2025.12.
Next folder: `_compute/`, which computes with the memory.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from refarray.dlpack.consumer import VERSION, CopyError

if TYPE_CHECKING:
    from refarray.dlpack.capsules import from_capsule, to_capsule
    from refarray.dlpack.inspection import Field, Inspection, inspect
    from refarray.dlpack.memory import Exports, Tensor
    from refarray.dlpack.structs import Flags
    from refarray.dlpack.tracing import Step, Trace, trace

__all__ = [
    "VERSION",
    "CopyError",
    "Exports",
    "Field",
    "Flags",
    "Inspection",
    "Step",
    "Tensor",
    "Trace",
    "from_capsule",
    "inspect",
    "to_capsule",
    "trace",
]


# Few programs need these, and what their files import would cost all programs time.
_ON_REQUEST = {
    "Exports": "memory",
    "Tensor": "memory",
    "Field": "inspection",
    "Inspection": "inspection",
    "inspect": "inspection",
    "Flags": "structs",
    "from_capsule": "capsules",
    "to_capsule": "capsules",
    "Step": "tracing",
    "Trace": "tracing",
    "trace": "tracing",
}


def __getattr__(name: str) -> Any:
    if name in _ON_REQUEST:
        return getattr(import_module(f"{__name__}.{_ON_REQUEST[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
