"""Share an array with NumPy, both ways, without a copy.

`from_dlpack` takes the memory of any library that has the two methods of DLPack. What
it takes it keeps alive, and gives back once, when the last array over it is gone.
Next: 02_inspect.py, what passes from one library to the other.
"""

import numpy as np

import refarray as xp

a = np.arange(6.0).reshape(2, 3)
x = xp.from_dlpack(a)
x[0, 0] = 100.0
print("NumPy sees what refarray wrote:", a[0].tolist())

b = np.from_dlpack(xp.sqrt(x))
b[1, 2] = -1.0
print("refarray's result in NumPy:", b[1].tolist())

del a
print("the memory is still there:", x[1, :])

before = xp.memory.statistics()
del x, b
after = xp.memory.statistics()
print("given back to NumPy:", after.imports_deleted - before.imports_deleted)
print("given back to refarray:", after.exports_deleted - before.exports_deleted)
