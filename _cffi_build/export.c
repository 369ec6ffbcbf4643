/* Exporting: from an array, or from memory that Python describes, to a capsule.
 *
 * Life of a capsule: it is made with the name "dltensor_versioned" (or, in the legacy form,
 * "dltensor"). A consumer takes the tensor over by renaming it to "used_...". Whoever holds
 * the tensor when it is no longer needed calls its deleter, once: the consumer, or else the
 * capsule's destructor, which acts only while the name is still the first one.
 *
 * Next: import.c. */
#include "objects.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Names of capsules must outlive them: these do. [versioned][used] */
const char *const ra_capsule_names[2][2] = {
    {"dltensor", "used_dltensor"},
    {"dltensor_versioned", "used_dltensor_versioned"},
};

/* CPython promises destructors nothing about a pending exception, and consumers drop
 * capsules while they raise (numpy#32697): set it aside, and put it back. */
static void destroy(PyObject *capsule, int versioned)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (PyCapsule_IsValid(capsule, ra_capsule_names[versioned][0]))
        ra_delete(PyCapsule_GetPointer(capsule, ra_capsule_names[versioned][0]), versioned);
    PyErr_Restore(type, value, traceback);
}

static void destroy_legacy(PyObject *capsule) { destroy(capsule, 0); }
static void destroy_versioned(PyObject *capsule) { destroy(capsule, 1); }

/* A capsule over `tensor`, which lies in `buffer`. */
static PyObject *make_capsule(ra_buffer *buffer, const DLTensor *tensor, int versioned,
                              uint64_t flags)
{
    if (flags & RA_FLAG_READ_ONLY && !versioned) {
        PyErr_SetString(PyExc_BufferError,
                        "this memory is read-only, and a legacy capsule cannot say so; ask for "
                        "a versioned one: __dlpack__(max_version=(1, 0)) (DLPack, legacy)");
        return NULL;
    }
    void *managed = ra_export(buffer, tensor, versioned, flags);
    if (!managed)
        return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(managed, ra_capsule_names[versioned][0],
                                      versioned ? destroy_versioned : destroy_legacy);
    if (!capsule)
        ra_delete(managed, versioned);
    return capsule;
}

DLTensor ra_tensor_of(ArrayObject *self)
{
    return (DLTensor){
        .data = self->size ? self->data : NULL,
        .device = self->device->place,
        .ndim = self->ndim,
        .dtype = {self->type->code, self->type->bits, 1},
        .shape = ra_shape(self),
        .strides = ra_strides(self),
        .byte_offset = 0,
    };
}

int ra_lend_tensor(ArrayObject *self, DLTensor *tensor, int64_t *strides, uint64_t *flags)
{
    int read_only = self->read_only;
    uint64_t scramble = 0;
    if (ra_lend(&read_only, &scramble) < 0)
        return -1;
    *tensor = ra_tensor_of(self);
    *flags = read_only ? RA_FLAG_READ_ONLY : 0;
    if (scramble) {
        memcpy(strides, tensor->strides, (size_t)self->ndim * sizeof *strides);
        ra_scramble_strides(self->ndim, tensor->shape, strides, scramble);
        tensor->strides = strides;
    }
    return 0;
}

static PyObject *export_array(ArrayObject *self, int versioned, int copied)
{
    DLTensor tensor;
    int64_t strides[RA_MAX_NDIM];
    uint64_t flags;
    if (ra_lend_tensor(self, &tensor, strides, &flags) < 0)
        return NULL;
    return make_capsule(self->buffer, &tensor, versioned,
                        flags | (copied ? RA_FLAG_IS_COPIED : 0));
}

/* Read one part of a version: -1 if it is not an integer from 0 up. DLPack sets no upper bound,
 * so a number that does not fit counts as the greatest that does. */
static long version_part(PyObject *max_version, Py_ssize_t i)
{
    PyObject *part = PyTuple_GetItem(max_version, i);
    if (!PyLong_Check(part))
        return -1;
    int overflow;
    long value = PyLong_AsLongAndOverflow(part, &overflow);
    return overflow > 0 ? LONG_MAX : value;
}

/* 1: the consumer reads versioned capsules; 0: it wants the legacy form; -1: exception. */
static int wants_versioned(PyObject *max_version)
{
    if (max_version == Py_None)
        return 0;
    /* A consumer that reads a later major version gets refarray's: the capsule says which. */
    if (PyTuple_Check(max_version) && PyTuple_Size(max_version) == 2) {
        long major = version_part(max_version, 0);
        if (major >= 0 && version_part(max_version, 1) >= 0)
            return major >= 1;
    }
    PyObject *shown = ra_shown(max_version);
    if (shown)
        PyErr_Format(PyExc_TypeError,
                     "max_version must be None or a tuple (major, minor) of two integers "
                     "from 0 up, got %U (array API, array.__dlpack__)",
                     shown);
    Py_XDECREF(shown);
    return -1;
}

enum { STREAM, MAX_VERSION, DL_DEVICE, COPY, N_KEYWORDS };
static const char *const keyword_names[] = {"stream", "max_version", "dl_device", "copy"};
static PyObject *keywords_known[N_KEYWORDS];     /* interned, as nearly all callers' are */

int ra_export_install(void)
{
    for (int k = 0; k < N_KEYWORDS; k++)
        if (!keywords_known[k] &&
            !(keywords_known[k] = PyUnicode_InternFromString(keyword_names[k])))
            return -1;
    return 0;
}

/* Which keyword a name is, or N_KEYWORDS. */
static int find_keyword(PyObject *name)
{
    int k = 0;
    while (k < N_KEYWORDS && name != keywords_known[k])
        k++;
    if (k == N_KEYWORDS)        /* the same text in another object? */
        for (k = 0; k < N_KEYWORDS; k++)
            if (PyUnicode_CompareWithASCIIString(name, keyword_names[k]) == 0)
                break;
    return k;
}

PyObject *ra_array_dlpack(PyObject *object, PyObject *const *args, Py_ssize_t n,
                          PyObject *keywords)
{
    PyObject *given[N_KEYWORDS] = {Py_None, Py_None, Py_None, Py_None};
    if (n) {
        PyErr_Format(PyExc_TypeError,
                     "__dlpack__ takes keyword arguments only (stream, max_version, "
                     "dl_device, copy), got %zd positional (array API, array.__dlpack__)",
                     n);
        return NULL;
    }
    Py_ssize_t count = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GetItem(keywords, i);
        int k = find_keyword(name);
        if (k == N_KEYWORDS) {
            PyErr_Format(PyExc_TypeError,
                         "__dlpack__ got an unexpected keyword argument '%U'; it takes stream, "
                         "max_version, dl_device and copy (array API, array.__dlpack__)",
                         name);
            return NULL;
        }
        given[k] = args[i];
    }

    int versioned = wants_versioned(given[MAX_VERSION]);
    if (versioned < 0)
        return NULL;
    ArrayObject *self = (ArrayObject *)object;
    if (ra_on_host(self->device) && given[STREAM] == Py_None &&
        given[DL_DEVICE] == Py_None && given[COPY] == Py_None)
        return export_array(self, versioned, 0);

    /* Which memory to export is decided in Python: refarray/dlpack/producer.py. */
    PyObject *prepared = PyObject_CallFunctionObjArgs(
        ra_prepare_export, object, given[STREAM], given[DL_DEVICE], given[COPY], NULL);
    if (!prepared)
        return NULL;
    PyObject *capsule = NULL;
    PyObject *array = NULL;
    int copied = 0;
    if (PyArg_ParseTuple(prepared, "Op", &array, &copied)) {
        if (ra_is_array(array))
            capsule = export_array((ArrayObject *)array, versioned, copied);
        else
            PyErr_SetString(PyExc_TypeError, "prepare_export must return (array, copied)");
    }
    Py_DECREF(prepared);
    return capsule;
}

PyObject *ra_array_dlpack_device(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return Py_NewRef(((ArrayObject *)self)->device->pair);
}

/* ---- A look at a capsule ---------------------------------------------------------------- */

PyObject *ra_py_inspect_capsule(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 1 || !PyCapsule_CheckExact(args[0])) {
        PyObject *shown = ra_shown(n == 1 ? args[0] : Py_None);
        if (shown)
            PyErr_Format(PyExc_TypeError,
                         "a capsule is expected, or an object with __dlpack__, got %U (DLPack, "
                         "capsule)",
                         shown);
        Py_XDECREF(shown);
        return NULL;
    }
    const char *name = PyCapsule_GetName(args[0]);
    void *pointer = PyCapsule_GetPointer(args[0], name);
    if (!pointer)
        return NULL;
    return Py_BuildValue("zN", name, PyLong_FromVoidPtr(pointer));
}

/* ---- Memory that Python describes ----------------------------------------------------- */

/* Read a dtype and a device. Returns 0, or -1 with an exception set. */
static int read_type_and_place(PyObject *dtype, PyObject *device, DLTensor *out)
{
    int code, bits, lanes;
    if (!PyArg_Parse(dtype, "(iii)", &code, &bits, &lanes) ||
        !PyArg_Parse(device, "(ii)", &out->device.device_type, &out->device.device_id))
        return -1;
    if (code < 0 || code > UINT8_MAX || bits < 0 || bits > UINT8_MAX || lanes < 0 ||
        lanes > UINT16_MAX) {
        PyErr_Format(PyExc_ValueError,
                     "(%d, %d, %d) is not a DLPack dtype: type code and bits go from 0 to 255, "
                     "lanes from 0 to 65535 (DLPack, DLTensor)",
                     code, bits, lanes);
        return -1;
    }
    out->dtype = (DLDataType){(uint8_t)code, (uint8_t)bits, (uint16_t)lanes};
    return 0;
}

PyObject *ra_py_export_memory(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    int64_t shape[RA_MAX_NDIM], strides[RA_MAX_NDIM];
    DLTensor tensor = {.shape = shape, .strides = strides};
    if (n != 8) {
        PyErr_SetString(PyExc_TypeError, "export_memory(address, shape, strides, dtype, device, "
                                         "owner, flags, max_version)");
        return NULL;
    }
    tensor.data = PyLong_AsVoidPtr(args[0]);
    if (PyErr_Occurred())
        return NULL;
    ra_sizes ignored;
    tensor.ndim = ra_read_integers(args[1], "a shape", shape, &ignored);
    if (tensor.ndim < 0)
        return NULL;
    int32_t steps = ra_read_integers(args[2], "strides", strides, &ignored);
    if (steps < 0)
        return NULL;
    if (steps != tensor.ndim) {
        PyErr_SetString(PyExc_ValueError,
                        "one stride is needed for each extent (DLPack, DLTensor)");
        return NULL;
    }
    if (read_type_and_place(args[3], args[4], &tensor) < 0)
        return NULL;
    unsigned long long flags = PyLong_AsUnsignedLongLong(args[6]);
    int versioned = PyErr_Occurred() ? -1 : wants_versioned(args[7]);
    if (versioned < 0)
        return NULL;

    ra_extent extent;
    int64_t itemsize = ((int64_t)tensor.dtype.bits * tensor.dtype.lanes + 7) / 8;
    const char *wrong = ra_measure(tensor.ndim, shape, strides, itemsize, &extent);
    if (!wrong && extent.size && !tensor.data)
        wrong = "its address is NULL though it has elements";
    if (!wrong && extent.size)
        wrong = ra_check_place(tensor.data, &extent);
    if (wrong) {
        PyErr_Format(PyExc_ValueError,
                     "this memory cannot be exported: %s (DLPack, DLTensor)", wrong);
        return NULL;
    }
    char *lowest = NULL;
    if (extent.size)
        lowest = (char *)tensor.data + extent.low;
    else
        tensor.data = NULL;
    ra_normalize_strides(tensor.ndim, shape, strides);
    ra_buffer *buffer = ra_buffer_of_owner(lowest, (size_t)(extent.high - extent.low), "owner",
                                           flags, args[5]);
    if (!buffer)
        return NULL;
    PyObject *capsule = make_capsule(buffer, &tensor, versioned, flags);
    ra_buffer_let_go(buffer);
    return capsule;
}
