"""What an array is made of, before there is any memory.

Plain Python objects and integers: nothing in this folder touches memory, NumPy or the
native module, so it can be read, and tested, on its own.

Read in this order:

1. `dtypes.py`, `limits.py`: the data types, their kinds and limits; `promotion.py`:
   how they combine with each other and with Python scalars; `formats.py`: what the
   buffer protocol calls them.
2. `devices.py`: where memory can live, and the DLPack name of that place;
   `process_bound.py`: how objects that hold an address are copied.
3. `layout.py`: shapes, strides and offsets; broadcasting and basic indexing as sums
   over integers.
4. `profile.py`, `strict.py`, `flags.py`: what changes under another profile than
   `strict`. On a first reading take `profile.guarded`, which stands at many places, for
   False, and skip what comes under it.

Next folder: `_memory/`, which gives a layout bytes to stand on.
"""
