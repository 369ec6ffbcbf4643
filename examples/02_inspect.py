"""Look at what passes from one library to another: a capsule with a managed tensor.

`inspect` reads every field, of a capsule or of the one that an object makes, and takes
nothing: the capsule can still be consumed, once. In a notebook, the last line of a cell
shows it as a table; `inspect(x).svg()` draws it.
Next: 03_trace.py, the whole exchange.
"""

import numpy as np

from refarray.dlpack import from_capsule, inspect

a = np.arange(6.0).reshape(2, 3)
capsule = a.T.__dlpack__(max_version=(1, 3))
fresh = inspect(capsule)
print(fresh)

fields = {field.name: field.value for field in fresh.fields}
print("\nstrides count elements:", fields["dl_tensor.strides"].partition(" -> ")[2])
print("NumPy counts bytes:", a.T.strides)

x = from_capsule(capsule)
print("\nbefore:", fresh.name, " after:", inspect(capsule).name)
try:
    from_capsule(capsule)
except ValueError as error:
    print("a second time:", error)
