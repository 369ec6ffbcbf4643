"""The standard's functions, one file for each category of the specification.

The files have the specification's names. Each function is written out with its real
parameters; its body hands over to the pipeline in `_compute/`, or says what is special.
The linear algebra extension takes three files, of which `linalg_decompositions.py` is
the first. `versions.py` comes last: the namespaces of earlier versions.
"""
