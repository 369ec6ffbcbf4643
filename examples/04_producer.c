/* What of a producer must be C, and nothing else; 04_producer.py is the rest.
 *
 * The destructor of a capsule may run while an exception is pending, the deleter on a
 * thread that Python does not know, or when Python is gone. No callback written in
 * Python works there. */
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

#include "dlpack_structs.h"

static const char NAME[] = "dltensor_versioned";

static void give_back(DLManagedTensorVersioned *self) {
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF((PyObject *)self->manager_ctx);
        PyGILState_Release(state);
    }
    free(self);
}

static void destroy(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, NAME)) { /* a consumer would have renamed it */
        DLManagedTensorVersioned *self = PyCapsule_GetPointer(capsule, NAME);
        if (self->deleter) self->deleter(self);
    }
}

/* A new capsule over row-major float64 memory, which `owner` keeps alive. */
PyObject *make_capsule(PyObject *owner, void *data, int ndim, const int64_t *shape,
                       uint64_t flags) {
    DLManagedTensorVersioned *self = malloc(sizeof *self + 2 * ndim * sizeof *shape);
    if (self == NULL) return PyErr_NoMemory();
    int64_t *extents = (int64_t *)(self + 1), *strides = extents + ndim, stride = 1;
    for (int axis = ndim - 1; axis >= 0; stride *= shape[axis--])
        extents[axis] = shape[axis], strides[axis] = stride;
    if (stride == 0) data = NULL; /* no elements */
    DLTensor tensor = {data, {1, 0}, ndim, {2, 64, 1}, extents, strides, 0};
    Py_INCREF(owner);
    *self = (DLManagedTensorVersioned){{1, 0}, owner, give_back, flags, tensor};
    PyObject *capsule = PyCapsule_New(self, NAME, destroy);
    if (capsule == NULL) give_back(self);
    return capsule;
}
