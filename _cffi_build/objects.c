/* Arrays as Python objects.
 *
 * An array in C is a layout over a buffer and no more: what it means to add or to sum is
 * written in Python (refarray/_compute). It is in C for two reasons: exports must be made
 * without running Python code, and `memoryview(x)` must work before Python 3.12.
 *
 * Next: spare.c. */
#include "objects.h"

#include <string.h>

/* ---- Array: life -------------------------------------------------------------------- */

PyObject *ra_tuple_of_sizes(int32_t ndim, const int64_t *shape, PyObject *given)
{
    PyObject *out = PyTuple_New(ndim);
    for (int32_t i = 0; out && i < ndim; i++) {
        PyObject *size = given ? PyTuple_GetItem(given, i) : NULL;
        if (size && (PyObject *)Py_TYPE(size) == ra_unknown_size)
            size = Py_NewRef(Py_None);
        else
            size = PyLong_FromLongLong(shape[i]);
        if (!size || PyTuple_SetItem(out, i, size) < 0)
            Py_CLEAR(out);
    }
    return out;
}

/* An array that has nothing yet; PyType_GenericAlloc would track it for the collector. */
static ArrayObject *new_array(void)
{
    ArrayObject *self = PyObject_GC_New(ArrayObject, ra_array_type);
    if (self)
        memset((char *)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
    return self;
}

PyObject *ra_array_over(ra_buffer *buffer, const ra_dtype *dtype, const ra_device *device,
                        char *data, int32_t ndim, const int64_t *shape,
                        const int64_t *strides, int64_t size, int read_only,
                        const ra_sizes *sizes)
{
    PyObject *given = sizes ? sizes->tuple : NULL;
    ArrayObject *self = new_array();
    if (!self)
        return NULL;

    self->extents = self->room;
    if (ndim > RA_ROOM) {
        self->extents = PyMem_Malloc(2 * (size_t)ndim * sizeof(int64_t));
        if (!self->extents) {
            PyErr_NoMemory();
            goto failed;
        }
    }
    self->sizes = given ? Py_NewRef(given) : ra_tuple_of_sizes(ndim, shape, NULL);
    if (!self->sizes)
        goto failed;
    self->shape = given && sizes->unknown ? ra_tuple_of_sizes(ndim, shape, given)
                                          : Py_NewRef(self->sizes);
    if (!self->shape)
        goto failed;
    self->dtype = Py_NewRef(dtype->object);
    self->device_object = Py_NewRef(device->object);
    self->type = dtype;
    self->device = device;
    self->ndim = ndim;
    self->size = size;
    self->data = size ? data : ra_nothing;
    self->read_only = (int8_t)read_only;
    if (ndim) {             /* without axes, a producer's shape may be NULL */
        memcpy(ra_shape(self), shape, (size_t)ndim * sizeof *shape);
        memcpy(ra_strides(self), strides, (size_t)ndim * sizeof *strides);
    }
    ra_normalize_strides(ndim, shape, ra_strides(self));
    if (buffer->keeps) {
        /* The BufferObject owns the reference, so that the collector can trace it. */
        ra_buffer_retain(buffer);
        self->memory = ra_buffer_object(buffer, ra_in_host_memory(device));
        if (!self->memory)
            goto failed;
        ra_buffer_let_go(buffer);
        PyObject_GC_Track(self);
    }
    self->buffer = buffer;
    return (PyObject *)self;

failed:
    Py_DECREF((PyObject *)self);
    return NULL;
}

PyObject *ra_array_new(ra_buffer *buffer, const ra_dtype *dtype,
                       const ra_device *device, char *data, int32_t ndim,
                       const int64_t *shape, const int64_t *strides, int64_t size,
                       int read_only, const ra_sizes *sizes)
{
    PyObject *array = ra_array_over(buffer, dtype, device, data, ndim, shape, strides, size,
                                    read_only, sizes);
    if (!array)
        ra_let_go(buffer);
    return array;
}

/* Only arrays whose buffer keeps a Python object are tracked. Their `memory` holds that buffer.
 * The kernels' view references `memory` too, and the collector cannot look into an ndarray. If
 * nothing else holds the view, the array visits `memory` once more on its behalf. */
static int array_traverse(PyObject *object, visitproc visit, void *arg)
{
    ArrayObject *self = (ArrayObject *)object;
    Py_VISIT(Py_TYPE(object));
    if (self->buffer && self->buffer->keeps) {
        PyObject *memory = self->memory, *view = self->view;
        Py_VISIT(memory);
        if (view && Py_REFCNT(view) == 1)
            Py_VISIT(memory);
    }
    return 0;
}

static void array_dealloc(PyObject *object)
{
    ArrayObject *self = (ArrayObject *)object;
    PyObject_GC_UnTrack(object);
    if (self->weak_references)
        PyObject_ClearWeakRefs(object);
    if (!ra_spare(self)) {
        int is_held_by_memory = self->buffer && self->buffer->keeps;
        Py_XDECREF(self->view);
        Py_XDECREF(self->memory);
        if (self->buffer && !is_held_by_memory)
            ra_let_go(self->buffer);
    }
    Py_XDECREF(self->shape);
    Py_XDECREF(self->sizes);
    Py_XDECREF(self->dtype);
    Py_XDECREF(self->device_object);
    if (self->extents != self->room)
        PyMem_Free(self->extents);
    ra_object_free(object);
}

static PyObject *array_refuse(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)type, (void)args, (void)keywords;
    PyErr_SetString(PyExc_TypeError,
                    "an Array is made by refarray.asarray, refarray.zeros or another "
                    "creation function, not by calling Array");
    return NULL;
}

/* ---- Array: buffer protocol --------------------------------------------------------- */

static int is_compact(ArrayObject *self, int column_major)
{
    int64_t step = 1;
    for (int32_t k = 0; k < self->ndim && self->size; k++) {
        int32_t i = column_major ? k : self->ndim - 1 - k;
        if (ra_shape(self)[i] != 1 && ra_strides(self)[i] != step)
            return 0;
        step *= ra_shape(self)[i];
    }
    return 1;
}

static int asks(int flags, int what) { return (flags & what) == what; }

static int array_getbuffer(PyObject *object, Py_buffer *view, int flags)
{
    ArrayObject *self = (ArrayObject *)object;
    view->obj = NULL;
    const char *wrong = NULL;
    int row_major = is_compact(self, 0);
    int read_only = self->read_only;
    uint64_t scramble = 0;
    if (ra_lend(&read_only, &scramble) < 0)
        return -1;

    if (!ra_is_open(self->device))
        wrong = "the buffer protocol reaches host memory only, and this array lies on "
                "another device; copy it with to_device(refarray.Device('cpu'))";
    else if (!self->type->format)
        wrong = "the buffer protocol has no format for bfloat16; convert the array with "
                "astype(x, refarray.float32), or exchange it through DLPack";
    else if (asks(flags, PyBUF_WRITABLE) && read_only)
        wrong = "this array is read-only, and a writable buffer was asked for";
    else if (asks(flags, PyBUF_C_CONTIGUOUS) && !row_major)
        wrong = "a row-major (C-contiguous) buffer was asked for; this array is strided";
    else if (asks(flags, PyBUF_F_CONTIGUOUS) && !is_compact(self, 1))
        wrong = "a column-major (Fortran-contiguous) buffer was asked for; this array is not";
    else if (asks(flags, PyBUF_ANY_CONTIGUOUS) && !row_major && !is_compact(self, 1))
        wrong = "a contiguous buffer was asked for; this array is strided";
    else if (!asks(flags, PyBUF_STRIDES) && !row_major)
        wrong = "a buffer without strides was asked for; this array is strided";
    if (wrong) {
        PyErr_SetString(PyExc_BufferError, wrong);
        return -1;
    }

    Py_ssize_t itemsize = ra_itemsize(self->type);
    Py_ssize_t *byte_strides = NULL;
    if (asks(flags, PyBUF_STRIDES) && self->ndim) {
        byte_strides = PyMem_Malloc((size_t)self->ndim * sizeof *byte_strides);
        if (!byte_strides) {
            PyErr_NoMemory();
            return -1;
        }
        int64_t strides[RA_MAX_NDIM];
        memcpy(strides, ra_strides(self), (size_t)self->ndim * sizeof *strides);
        if (scramble)
            ra_scramble_strides(self->ndim, ra_shape(self), strides, scramble);
        for (int32_t i = 0; i < self->ndim; i++)
            byte_strides[i] = strides[i] * itemsize;
    }
    *view = (Py_buffer){
        .buf = self->data,
        .obj = Py_NewRef(object),
        .len = self->size * itemsize,
        .itemsize = itemsize,
        .readonly = read_only,
        .ndim = asks(flags, PyBUF_ND) ? self->ndim : 1,     /* without a shape: plain bytes */
        .format = asks(flags, PyBUF_FORMAT) ? (char *)self->type->format : NULL,
        .shape = asks(flags, PyBUF_ND) && self->ndim ? (Py_ssize_t *)ra_shape(self) : NULL,
        .strides = byte_strides,
        .internal = byte_strides,
    };
    return 0;
}

static void array_releasebuffer(PyObject *object, Py_buffer *view)
{
    (void)object;
    PyMem_Free(view->internal);
}

/* ---- Array: x[key] ------------------------------------------------------------------- */

static PyObject *array_getitem(PyObject *self, PyObject *key)
{
    PyObject *view = ra_is_guarded() ? NULL : ra_select(self, key);
    if (view || PyErr_Occurred())
        return view;
    return PyObject_CallFunctionObjArgs(ra_get_item, self, key, NULL);
}

/* ---- Array: attributes -------------------------------------------------------------- */

static PyObject *array_ndim(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(((ArrayObject *)self)->ndim);
}

static PyObject *array_size(PyObject *object, void *closure)
{
    (void)closure;
    ArrayObject *self = (ArrayObject *)object;
    if (self->shape != self->sizes)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(self->size);
}

static PyObject *array_count(PyObject *object, void *closure)
{
    (void)closure;
    ArrayObject *self = (ArrayObject *)object;
    PyObject *count = PyLong_FromLongLong(self->size);
    if (!count || self->shape == self->sizes)
        return count;
    PyObject *unknown = PyObject_CallFunctionObjArgs(ra_unknown_size, count, NULL);
    Py_DECREF(count);
    return unknown;
}

static PyObject *array_strides(PyObject *object, void *closure)
{
    (void)closure;
    ArrayObject *self = (ArrayObject *)object;
    PyObject *out = PyTuple_New(self->ndim);
    for (int32_t i = 0; out && i < self->ndim; i++) {
        PyObject *stride = PyLong_FromLongLong(ra_strides(self)[i]);
        if (!stride || PyTuple_SetItem(out, i, stride) < 0)
            Py_CLEAR(out);
    }
    return out;
}

static PyObject *array_row_major(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(is_compact((ArrayObject *)self, 0));
}

static PyObject *array_byte_offset(PyObject *object, void *closure)
{
    (void)closure;
    ArrayObject *self = (ArrayObject *)object;
    return PyLong_FromSsize_t(self->size ? self->data - self->buffer->address : 0);
}

static PyMemberDef array_members[] = {
    {"shape", T_OBJECT_EX, offsetof(ArrayObject, shape), READONLY,
     "Extent of each axis, in elements; None if it is not known. Source: array API, "
     "array.shape."},
    {"_shape", T_OBJECT_EX, offsetof(ArrayObject, sizes), READONLY,
     "Extent of each axis, in elements; an Unknown where shape has None."},
    {"dtype", T_OBJECT_EX, offsetof(ArrayObject, dtype), READONLY,
     "Data type of the elements. Source: array API, array.dtype."},
    {"device", T_OBJECT_EX, offsetof(ArrayObject, device_object), READONLY,
     "Device whose memory holds the elements. Source: array API, array.device."},
    {"_read_only", T_BOOL, offsetof(ArrayObject, read_only), READONLY,
     "Whether writing is refused."},
    {"_is_copied", T_BOOL, offsetof(ArrayObject, is_copied), READONLY,
     "Whether it was imported, and its producer made a copy for it."},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak_references), READONLY, NULL},
    {0},
};

/* For Python code, which could change the view: spare.c does not reuse it. */
static PyObject *array_view(PyObject *self, void *closure)
{
#ifndef Py_GIL_DISABLED     /* where nothing is reused */
    ((ArrayObject *)self)->view_was_lent = 1;
#endif
    return ra_array_view(self, closure);
}

static PyGetSetDef array_getset[] = {
    {"ndim", array_ndim, NULL, "Number of axes. Source: array API, array.ndim.", NULL},
    {"size", array_size, NULL,
     "Number of elements; None if it is not known. Source: array API, array.size.", NULL},
    {"_size", array_count, NULL, "Number of elements; an Unknown where size is None.", NULL},
    {"_buffer", ra_array_memory, NULL, "The memory, which every view of it shares.", NULL},
    {"_view_to_fill", ra_array_view, NULL, "The same, for code that writes elements only.", NULL},
    {"_view", array_view, NULL, "What kernels compute with: a view of this memory.",
     NULL},
    {"_strides", array_strides, NULL, "Step along each axis, in elements.", NULL},
    {"_row_major", array_row_major, NULL,
     "Whether the elements lie one after another, the last axis fastest.", NULL},
    {"_byte_offset", array_byte_offset, NULL, "From the buffer to the first element.", NULL},
    {0},
};

static PyMethodDef array_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))ra_array_dlpack,
     METH_FASTCALL | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n"
     "--\n\n"
     "Export this array as a DLPack capsule.\n\n"
     "A capsule named 'dltensor_versioned' when max_version is (1, 0) or higher, and the\n"
     "legacy 'dltensor' otherwise. BufferError for what cannot be exported as asked.\n"
     "Source: array API, array.__dlpack__; DLPack 1.3."},
    {"__getitem__", array_getitem, METH_O | METH_COEXIST,
     "__getitem__($self, key, /)\n--\n\n"
     "Select a view (integers, slices, ..., None) or a copy (a mask, integer arrays).\n\n"
     "IndexError and TypeError for what is no key of this array.\n"
     "Source: array API, array.__getitem__."},
    {"__dlpack_device__", ra_array_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\n"
     "Device as the DLPack pair (device_type, device_id).\n"
     "Source: array API, array.__dlpack_device__."},
    {0},
};

static const PyType_Slot array_slots[] = {
    {Py_tp_doc, "A layout over memory: what Array is made of."},
    {Py_tp_new, array_refuse},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_traverse, array_traverse},
    {Py_tp_members, array_members},
    {Py_tp_getset, array_getset},
    {Py_tp_methods, array_methods},
    {Py_mp_subscript, array_getitem},
    {Py_bf_getbuffer, array_getbuffer},
    {Py_bf_releasebuffer, array_releasebuffer},
    {0, NULL},
};

int ra_objects_install(PyObject *module)
{
    enum { N_OWN = sizeof array_slots / sizeof *array_slots };
    PyType_Slot slots[RA_OPERATOR_SLOTS + N_OWN];
    memcpy(slots, ra_operator_slots, sizeof ra_operator_slots);
    memcpy(slots + RA_OPERATOR_SLOTS, array_slots, sizeof array_slots);     /* and the end */
    PyType_Spec array_spec = {
        .name = "refarray._native.ArrayBase",
        .basicsize = sizeof(ArrayObject),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };
    PyObject *base = PyType_FromSpec(&array_spec);
    int failed = !base || ra_buffer_install(module) < 0 ||
                 PyModule_AddType(module, (PyTypeObject *)base) < 0;
    Py_XDECREF(base);
    return failed ? -1 : 0;
}
