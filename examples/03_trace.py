"""Follow one exchange between two libraries, step by step: who asks, who answers.

The trace stands between the two, here NumPy on both sides, and writes down every
question, every capsule and what becomes of it; also after the block, until the memory
has gone back. `t.svg()` draws it. Next: 04_producer.py, one side written by hand.
"""

import numpy as np

from refarray.dlpack import trace

a = np.arange(6.0).reshape(2, 3)
with trace(producer="a", consumer="b") as t:
    b = np.from_dlpack(t.watch(a))
print("while b lives:", [step.kind for step in t.steps])
del b
print(t)

read_only = np.broadcast_to(a, (2, 2, 3))
with trace(producer="read-only", consumer="old library") as t:
    try:
        t.watch(read_only).__dlpack__()  # in the old form, which cannot say read-only
    except BufferError:
        print(*["", *(f"{step.who} {step.text}" for step in t.steps)], sep="\n")
