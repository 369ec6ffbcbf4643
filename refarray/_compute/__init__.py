"""Computing: how a function of the standard becomes a kernel on memory.

Read in this order:

1. `engine.py`: NumPy's kernels, called on views of our memory and kept silent.
2. `repairs.py`: the kernels that disagree with the standard, put right.
3. `pipeline.py`: what happens between a function's arguments and a kernel.
4. `indexing.py`: `x[key]` and `x[key] = value`.
5. `text.py`: how an array is shown.
6. `array.py`: the Array itself, which is attributes and operators over all this.

Next folder: `_standard/`, the functions by the names of the specification.
"""
