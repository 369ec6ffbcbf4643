/* Three ways to an array other than a capsule: new memory, a view of memory we have, and
 * memory that another object lends through the buffer protocol. And the way from an array
 * to what kernels compute with. Next: index.c. */
#include "objects.h"

#include <stdlib.h>
#include <string.h>

int32_t ra_read_integers(PyObject *tuple, const char *what, int64_t *out, ra_sizes *sizes)
{
    *sizes = (ra_sizes){PyTuple_CheckExact(tuple) ? tuple : NULL, 0};
    Py_ssize_t n = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (n < 0 || n > RA_MAX_NDIM) {
        PyObject *shown = ra_shown(tuple);
        if (shown)
            PyErr_Format(PyExc_ValueError, "%s must be a tuple of at most %d integers, got %U",
                         what, RA_MAX_NDIM, shown);
        Py_XDECREF(shown);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        if (!PyLong_CheckExact(item)) {
            if ((PyObject *)Py_TYPE(item) == ra_unknown_size)
                sizes->unknown++;
            else
                sizes->tuple = NULL;
        }
        out[i] = PyLong_AsLongLong(item);
        if (out[i] == -1 && PyErr_Occurred()) {
            if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
                PyErr_Clear();
                PyObject *shown = ra_shown(item);
                if (shown)
                    PyErr_Format(PyExc_ValueError, "%s with %U does not fit into 64 bits", what,
                                 shown);
                Py_XDECREF(shown);
            }
            return -1;
        }
    }
    return (int32_t)n;
}

/* An array over memory that was kept for one like it; NULL without an exception if none is. */
static PyObject *make_of_spare(const ra_dtype *dtype, const ra_device *device, int32_t ndim,
                               const int64_t *shape, const int64_t *strides, int64_t size,
                               int zeroed, const ra_sizes *sizes)
{
    PyObject *view;
    PyObject *memory = ra_take_spare(dtype, ndim, shape, &view);
    if (!memory)
        return NULL;
    ra_buffer *buffer = ((BufferObject *)memory)->buffer;
    if (zeroed)
        memset(buffer->address, 0, buffer->nbytes);
    ra_buffer_retain(buffer);
    PyObject *array = ra_array_new(buffer, dtype, device, buffer->address, ndim, shape,
                                   strides, size, 0, sizes);
    if (array) {
        ((ArrayObject *)array)->memory = memory;
        ((ArrayObject *)array)->view = view;
        ((ArrayObject *)array)->is_whole = 1;
    } else {
        Py_DECREF(memory);
        Py_XDECREF(view);
    }
    return array;
}

PyObject *ra_make(const ra_dtype *dtype, const ra_device *device, int32_t ndim,
                  const int64_t *shape, int zeroed, const ra_sizes *sizes)
{
    int64_t strides[RA_MAX_NDIM];
    ra_extent extent;
    ra_compact_strides(ndim, shape, strides);
    const char *wrong = ra_measure(ndim, shape, strides, ra_itemsize(dtype), &extent);
    ra_buffer *buffer = NULL;
    if (!wrong && ra_on_host(device)) {
        PyObject *array = make_of_spare(dtype, device, ndim, shape, strides, extent.size,
                                        zeroed, sizes);
        if (array || PyErr_Occurred())
            return array;
    }
    if (!wrong && device->memory != RA_HOST && device->memory != RA_PRETEND) {
        buffer = ra_allocate_on(device, extent.high, zeroed);
        if (!buffer)
            return NULL;
    } else if (!wrong) {
        buffer = ra_buffer_new((size_t)extent.high, zeroed);
    }
    if (buffer) {
        PyObject *array = ra_array_new(buffer, dtype, device, buffer->address, ndim, shape,
                                       strides, extent.size, 0, sizes);
        if (array)
            ((ArrayObject *)array)->is_whole = 1;
        return array;
    }
    PyObject *shown = ra_tuple_of_sizes(ndim, shape, NULL);
    if (shown && wrong)
        PyErr_Format(PyExc_ValueError, "an array of shape %R cannot be made: %s", shown, wrong);
    else if (shown)
        PyErr_Format(PyExc_MemoryError,
                     "no host memory for an array of shape %R and dtype %S: %lld bytes", shown,
                     dtype->object, (long long)extent.high);
    Py_XDECREF(shown);
    return NULL;
}

PyObject *ra_new(PyObject *shape_object, PyObject *dtype_object, PyObject *device_object,
                 int zeroed)
{
    int64_t shape[RA_MAX_NDIM];
    ra_sizes sizes;
    const ra_dtype *dtype = ra_dtype_of(dtype_object);
    const ra_device *device = dtype ? ra_device_of(device_object) : NULL;
    if (!device || ra_admit(dtype, device) < 0)
        return NULL;
    int32_t ndim = ra_read_integers(shape_object, "a shape", shape, &sizes);
    return ndim < 0 ? NULL : ra_make(dtype, device, ndim, shape, zeroed, &sizes);
}

PyObject *ra_py_allocate(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 4) {
        PyErr_SetString(PyExc_TypeError, "allocate(shape, dtype, device, zeroed)");
        return NULL;
    }
    int zeroed = PyObject_IsTrue(args[3]);
    return zeroed < 0 ? NULL : ra_new(args[0], args[1], args[2], zeroed);
}

PyObject *ra_py_view(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 5 || !ra_is_array(args[0])) {
        PyErr_SetString(PyExc_TypeError,
                        "view(array, element_offset, shape, strides, read_only)");
        return NULL;
    }
    ArrayObject *base = (ArrayObject *)args[0];
    int64_t shape[RA_MAX_NDIM], strides[RA_MAX_NDIM];
    ra_extent extent;
    long long offset = PyLong_AsLongLong(args[1]);
    if (offset == -1 && PyErr_Occurred())
        return NULL;
    ra_sizes sizes, ignored;
    int32_t ndim = ra_read_integers(args[2], "a shape", shape, &sizes);
    int32_t count = ndim;
    if (ndim >= 0 && args[3] != Py_None)
        count = ra_read_integers(args[3], "strides", strides, &ignored);
    else if (ndim >= 0)
        ra_compact_strides(ndim, shape, strides);
    int read_only = count >= 0 ? PyObject_IsTrue(args[4]) : -1;
    if (read_only < 0)
        return NULL;
    if (count != ndim) {
        PyErr_SetString(PyExc_ValueError, "a view needs one stride for each extent");
        return NULL;
    }

    int64_t itemsize = ra_itemsize(base->type);
    const char *wrong = ra_measure(ndim, shape, strides, itemsize, &extent);
    char *data = NULL;
    if (!wrong && extent.size) {
        ra_buffer *buffer = base->buffer;
        int64_t room = (int64_t)buffer->nbytes;
        int64_t start = base->data - buffer->address;
        /* In elements first, so that no product can overflow. */
        if (!base->size || offset < -room / itemsize || offset > room / itemsize ||
            start + offset * itemsize + extent.low < 0 ||
            start + offset * itemsize + extent.high > room)
            wrong = "it would leave the memory of the array";
        else
            data = base->data + offset * itemsize;
    }
    if (wrong) {
        PyErr_Format(PyExc_ValueError, "no view of shape %R and strides %R: %s", args[2],
                     args[3], wrong);
        return NULL;
    }
    ra_buffer_retain(base->buffer);
    return ra_array_new(base->buffer, base->type, base->device, data, ndim, shape, strides,
                        extent.size, read_only || base->read_only, &sizes);
}

/* ---- Memory lent through the buffer protocol ---------------------------------------- */

/* The last array over it may die on any thread: a managed tensor of ours holds the buffer
 * too, and its deleter needs no GIL. So take it here, unless Python can no longer run in this
 * thread. */
static void release_exporter(ra_buffer *self)
{
    if (ra_python_runs()) {
        PyGILState_STATE state = PyGILState_Ensure();
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);     /* releasing must not lose an exception */
        PyBuffer_Release(self->owner);
        PyErr_Restore(type, value, traceback);
        PyGILState_Release(state);
    }
    free(self->owner);
}

/* Whether the garbage collector may see the lender of a buffer. Before CPython 3.13 it may clear
 * a memoryview that still lends its memory, which crashes (python/cpython#77894). What lends for
 * a class with __buffer__ holds a memoryview too. */
static int is_collectable(PyObject *lender, PyObject *exporter)
{
    return Py_Version >= 0x030D0000 || (lender == exporter && !PyMemoryView_Check(lender));
}

PyObject *ra_py_wrap(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 3 || !PyUnicode_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "wrap(exporter, dtype, format)");
        return NULL;
    }
    const ra_dtype *dtype = ra_dtype_of(args[1]);
    const ra_device *host = dtype ? ra_device_find((DLDevice){kDLCPU, 0}) : NULL;
    if (!host || ra_admit(dtype, host) < 0)
        return NULL;
    Py_buffer *lent = malloc(sizeof *lent);
    if (!lent)
        return PyErr_NoMemory();
    if (PyObject_GetBuffer(args[0], lent, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
        free(lent);
        return NULL;
    }

    int64_t shape[RA_MAX_NDIM], strides[RA_MAX_NDIM];
    int64_t itemsize = ra_itemsize(dtype);
    ra_extent extent;
    const char *wrong = NULL;
    if (lent->ndim > RA_MAX_NDIM)
        wrong = "it has more than 64 dimensions";
    else if (!lent->shape && lent->ndim > 1)
        wrong = "it has no shape";
    else if (lent->itemsize != itemsize)
        wrong = "its item size is not that of the data type";
    else if (PyUnicode_CompareWithASCIIString(args[2], lent->format ? lent->format : "B") != 0)
        wrong = "its format changed while it was imported";
    for (int i = 0; !wrong && i < lent->ndim; i++)
        shape[i] = lent->shape ? lent->shape[i] : lent->len / itemsize;
    /* ctypes has no strides though they were asked for: it means compact. */
    if (!wrong && !lent->strides)
        ra_compact_strides(lent->ndim, shape, strides);
    for (int i = 0; !wrong && lent->strides && i < lent->ndim; i++) {
        Py_ssize_t step = lent->strides[i];
        if (step % itemsize)
            wrong = "its strides are not multiples of the item size";
        strides[i] = step / itemsize;
    }
    if (!wrong)
        wrong = ra_measure(lent->ndim, shape, strides, itemsize, &extent);
    if (wrong) {
        PyErr_Format(PyExc_BufferError, "the buffer of %R cannot be shared: %s",
                     (PyObject *)Py_TYPE(args[0]), wrong);
        PyBuffer_Release(lent);
        free(lent);
        return NULL;
    }
    int32_t ndim = lent->ndim;
    int read_only = lent->readonly;
    char *data = lent->buf;
    ra_buffer *buffer =
        ra_buffer_wrap(data + extent.low, (size_t)(extent.high - extent.low), "exporter",
                       read_only ? RA_FLAG_READ_ONLY : 0, lent, release_exporter);
    if (!buffer) {
        PyBuffer_Release(lent);
        free(lent);
        return PyErr_NoMemory();
    }
    if (is_collectable(lent->obj, args[0]))
        buffer->keeps = lent->obj;
    return ra_array_new(buffer, dtype, host, data, ndim, shape, strides, extent.size,
                        read_only, NULL);
}

/* ---- The kernels' view --------------------------------------------------------------- */

/* Put what was made into its place, unless a finalizer that ran meanwhile, or another
 * thread, has put one there already. Steals `made`; returns a new reference. */
static PyObject *settle(_Atomic(PyObject *) *place, PyObject *made)
{
    PyObject *first = NULL;
    if (!made || atomic_compare_exchange_strong(place, &first, made))
        return Py_XNewRef(made);
    Py_DECREF(made);
    return Py_NewRef(first);
}

PyObject *ra_array_memory(PyObject *object, void *closure)
{
    (void)closure;
    ArrayObject *self = (ArrayObject *)object;
    if (self->memory)
        return Py_NewRef(self->memory);
    ra_buffer_retain(self->buffer);
    return settle(&self->memory, ra_buffer_object(self->buffer, ra_in_host_memory(self->device)));
}

/* numpy.ndarray(shape, dtype, buffer, offset, strides), made when it is first asked for. */
PyObject *ra_array_view(PyObject *object, void *closure)
{
    (void)closure;
    ArrayObject *self = (ArrayObject *)object;
    if (self->view)
        return Py_NewRef(self->view);
    if (self->device->memory == RA_DEVICE)
        return ra_view_on_device(object);

    PyObject *byte_strides = Py_None;
    int64_t compact[RA_MAX_NDIM];
    ra_compact_strides(self->ndim, ra_shape(self), compact);
    if (memcmp(compact, ra_strides(self), (size_t)self->ndim * sizeof *compact) != 0) {
        byte_strides = PyTuple_New(self->ndim);
        for (int32_t i = 0; byte_strides && i < self->ndim; i++) {
            PyObject *step = PyLong_FromLongLong(ra_strides(self)[i] * ra_itemsize(self->type));
            if (!step || PyTuple_SetItem(byte_strides, i, step) < 0)
                Py_CLEAR(byte_strides);
        }
        if (!byte_strides)
            return NULL;
    }
    int64_t start = self->size ? self->data - self->buffer->address : 0;
    PyObject *memory = ra_array_memory(object, NULL);
    PyObject *offset = memory ? PyLong_FromLongLong(start) : NULL;
    PyObject *view = NULL;
    if (offset)
        view = PyObject_CallFunctionObjArgs(ra_make_view, self->sizes, self->type->view_dtype,
                                            memory, offset, byte_strides, NULL);
    Py_XDECREF(offset);
    Py_XDECREF(memory);
    if (byte_strides != Py_None)
        Py_DECREF(byte_strides);
    if (view && self->read_only) {
        PyObject *done = PyObject_CallMethod(view, "setflags", "O", Py_False);
        if (!done)
            Py_CLEAR(view);
        Py_XDECREF(done);
    }
    return settle(&self->view, view);
}
