/* The exchange: an array into a capsule, a capsule into an array.
 *
 * Life of a capsule: it is made with the name "dltensor_versioned" (or, in the legacy form,
 * "dltensor"). A consumer takes the tensor over by renaming it to "used_...". Whoever holds
 * the tensor when it is no longer needed calls its deleter, once: the consumer, or else the
 * capsule's destructor, which acts only while the name is still the first one. */
#include "objects.h"

#include <string.h>

/* Names of capsules must outlive them: these do. [versioned][used] */
static const char *const names[2][2] = {
    {"dltensor", "used_dltensor"},
    {"dltensor_versioned", "used_dltensor_versioned"},
};

/* ---- Export ------------------------------------------------------------------------- */

/* CPython promises destructors nothing about a pending exception, and consumers drop
 * capsules while they raise (numpy#32697): set it aside, and put it back. */
static void destroy(PyObject *capsule, int versioned)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    void *managed = NULL;
    if (PyCapsule_IsValid(capsule, names[versioned][0]))
        managed = PyCapsule_GetPointer(capsule, names[versioned][0]);
    if (managed && versioned) {
        DLManagedTensorVersioned *self = managed;
        if (self->deleter)
            self->deleter(self);
    } else if (managed) {
        DLManagedTensor *self = managed;
        if (self->deleter)
            self->deleter(self);
    }
    PyErr_Restore(type, value, traceback);
}

static void destroy_legacy(PyObject *capsule) { destroy(capsule, 0); }
static void destroy_versioned(PyObject *capsule) { destroy(capsule, 1); }

static PyObject *export_array(ArrayObject *self, int versioned, int copied)
{
    if (self->read_only && !versioned) {
        PyErr_SetString(PyExc_BufferError,
                        "this array is read-only, and a legacy capsule cannot say so; ask for "
                        "a versioned one: __dlpack__(max_version=(1, 0))");
        return NULL;
    }
    DLTensor tensor = {
        .data = self->size ? self->data : NULL,
        .device = self->device->place,
        .ndim = self->ndim,
        .dtype = {self->type->code, self->type->bits, 1},
        .shape = ra_shape(self),
        .strides = ra_strides(self),
        .byte_offset = 0,
    };
    uint64_t flags = (self->read_only ? RA_FLAG_READ_ONLY : 0) |
                     (copied ? RA_FLAG_IS_COPIED : 0);
    void *managed = ra_export(self->buffer->buffer, &tensor, versioned, flags);
    if (!managed)
        return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(managed, names[versioned][0],
                                      versioned ? destroy_versioned : destroy_legacy);
    if (!capsule && versioned)
        ((DLManagedTensorVersioned *)managed)->deleter(managed);
    else if (!capsule)
        ((DLManagedTensor *)managed)->deleter(managed);
    return capsule;
}

/* 1: the consumer reads versioned capsules; 0: it wants the legacy form; -1: exception. */
static int wants_versioned(PyObject *max_version)
{
    if (max_version == Py_None)
        return 0;
    long part[2] = {-1, -1};
    if (PyTuple_Check(max_version) && PyTuple_Size(max_version) == 2)
        for (int i = 0; i < 2; i++) {
            PyObject *item = PyTuple_GetItem(max_version, i);
            if (PyLong_Check(item))
                part[i] = PyLong_AsLong(item);
        }
    if (PyErr_Occurred() || part[0] < 0 || part[1] < 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError,
                     "max_version must be None or a tuple (major, minor) of two integers from "
                     "0 up, got %R (array API, array.__dlpack__)",
                     max_version);
        return -1;
    }
    /* A consumer that reads a later major version is given ours: it is told which. */
    return part[0] >= 1;
}

enum { STREAM, MAX_VERSION, DL_DEVICE, COPY, N_KEYWORDS };
static const char *const keyword_names[] = {"stream", "max_version", "dl_device", "copy"};
static PyObject *keywords_known[N_KEYWORDS];     /* interned, as nearly all callers' are */

int ra_capsule_install(void)
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
                     "dl_device, copy), got %zd positional",
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
                         "max_version, dl_device and copy",
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

/* ---- Import ------------------------------------------------------------------------- */

/* Which of our names a capsule has: 1 versioned, 0 legacy, -1 neither (exception set). */
static int unused_capsule(PyObject *capsule)
{
    if (!PyCapsule_CheckExact(capsule)) {
        PyErr_Format(PyExc_TypeError,
                     "a DLPack capsule is expected, got %R (DLPack: __dlpack__ returns a "
                     "PyCapsule)",
                     capsule);
        return -1;
    }
    const char *name = PyCapsule_GetName(capsule);
    if (!name) {
        PyErr_SetString(PyExc_ValueError, "the capsule has no name; a DLPack capsule is named "
                                          "'dltensor' or 'dltensor_versioned'");
        return -1;
    }
    for (int versioned = 0; versioned < 2; versioned++) {
        if (strcmp(name, names[versioned][0]) == 0)
            return versioned;
        if (strcmp(name, names[versioned][1]) == 0) {
            PyErr_Format(PyExc_ValueError,
                         "the capsule is named '%s': it has been consumed, and a DLPack "
                         "capsule can be consumed once",
                         name);
            return -1;
        }
    }
    PyErr_Format(PyExc_ValueError,
                 "the capsule is named '%s'; a DLPack capsule is named 'dltensor' or "
                 "'dltensor_versioned'",
                 name);
    return -1;
}

/* Another major version: nothing but its version and its deleter may be touched, and the
 * consumer must call the deleter. It counts as taken over. */
static void refuse_version(PyObject *capsule, DLManagedTensorVersioned *managed)
{
    PyErr_Format(PyExc_BufferError,
                 "the capsule holds a tensor of DLPack version %u.%u; refarray reads version "
                 "1.x (DLPack: another major version may have another layout)",
                 managed->version.major, managed->version.minor);
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (PyCapsule_SetName(capsule, names[1][1]) == 0 && managed->deleter)
        managed->deleter(managed);
    PyErr_Restore(type, value, traceback);
}

static int agrees(const DLTensor *tensor, PyObject *announced)
{
    int type, id;
    if (!announced)
        return 1;
    if (!PyTuple_Check(announced) || PyTuple_Size(announced) != 2 ||
        !PyArg_ParseTuple(announced, "ii", &type, &id)) {
        PyErr_Format(PyExc_TypeError,
                     "__dlpack_device__ must return a tuple of two integers, got %R "
                     "(array API, array.__dlpack_device__)",
                     announced);
        return 0;
    }
    if (tensor->device.device_type == type && tensor->device.device_id == id)
        return 1;
    PyErr_Format(PyExc_BufferError,
                 "the capsule lies on DLPack device (%d, %d), but %R was announced by "
                 "__dlpack_device__ or asked for; refarray does not guess which is true",
                 tensor->device.device_type, tensor->device.device_id, announced);
    return 0;
}

PyObject *ra_py_import_capsule(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 1 && n != 2) {
        PyErr_SetString(PyExc_TypeError, "import_capsule(capsule[, announced_device])");
        return NULL;
    }
    PyObject *capsule = args[0];
    int versioned = unused_capsule(capsule);
    if (versioned < 0)
        return NULL;
    void *managed = PyCapsule_GetPointer(capsule, names[versioned][0]);
    if (!managed)
        return NULL;
    if (versioned && ((DLManagedTensorVersioned *)managed)->version.major != RA_VERSION_MAJOR) {
        refuse_version(capsule, managed);
        return NULL;
    }

    /* From here to the renaming, a failure leaves the capsule as it was: its destructor
     * gives the memory back. */
    const DLTensor *tensor = versioned ? &((DLManagedTensorVersioned *)managed)->dl_tensor
                                       : &((DLManagedTensor *)managed)->dl_tensor;
    const ra_dtype *dtype = ra_dtype_find(tensor->dtype);
    const ra_device *device =
        dtype && agrees(tensor, n == 2 ? args[1] : NULL) ? ra_device_find(tensor->device) : NULL;
    if (!device)
        return NULL;
    int64_t strides[RA_MAX_NDIM];
    ra_extent extent;
    char *first;
    const char *wrong =
        ra_check_tensor(tensor, ra_itemsize(dtype), strides, &extent, &first);
    if (wrong) {
        PyErr_Format(PyExc_BufferError, "the capsule does not describe an array: %s", wrong);
        return NULL;
    }
    ra_buffer *buffer = ra_import(managed, versioned, &extent, first);
    if (!buffer)
        return PyErr_NoMemory();

    /* The tensor is ours; from here on a failure calls the deleter, once. */
    if (PyCapsule_SetName(capsule, names[versioned][1]) < 0) {
        buffer->release = NULL;
        ra_buffer_let_go(buffer);
        return NULL;
    }
    int32_t ndim = tensor->ndim;
    int read_only = (buffer->flags & RA_FLAG_READ_ONLY) != 0;
    BufferObject *memory = ra_buffer_object(buffer, device);
    return memory ? ra_array_new(memory, dtype, device, first, ndim, tensor->shape, strides,
                                 extent.size, read_only, NULL)
                  : NULL;
}

PyObject *ra_py_inspect_capsule(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 1 || !PyCapsule_CheckExact(args[0])) {
        PyErr_SetString(PyExc_TypeError, "inspect_capsule(capsule)");
        return NULL;
    }
    const char *name = PyCapsule_GetName(args[0]);
    void *pointer = PyCapsule_GetPointer(args[0], name);
    if (!pointer)
        return NULL;
    return Py_BuildValue("zN", name, PyLong_FromVoidPtr(pointer));
}
