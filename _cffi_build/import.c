/* Importing: from a capsule to an array, or to a description in Python.
 *
 * Everything is checked before the tensor is taken over; until then a failure leaves the
 * capsule as it was, and its destructor gives the memory back.
 *
 * Next: consumer.c. */
#include "objects.h"
#include "deferred.h"

#include <string.h>

/* Which of our names a capsule has: 1 versioned, 0 legacy, -1 neither (exception set). */
static int unused_capsule(PyObject *capsule)
{
    if (!PyCapsule_CheckExact(capsule)) {
        PyObject *shown = ra_shown(capsule);
        if (shown)
            PyErr_Format(PyExc_TypeError,
                         "__dlpack__ returns a DLPack capsule, not %U (DLPack, capsule)",
                         shown);
        Py_XDECREF(shown);
        return -1;
    }
    const char *name = PyCapsule_GetName(capsule);
    if (!name) {
        PyErr_SetString(PyExc_ValueError, "the capsule has no name; a DLPack capsule is named "
                                          "'dltensor' or 'dltensor_versioned' (DLPack, "
                                          "capsule)");
        return -1;
    }
    for (int versioned = 1; versioned >= 0; versioned--) {
        if (strcmp(name, ra_capsule_names[versioned][0]) == 0)
            return versioned;
        if (strcmp(name, ra_capsule_names[versioned][1]) == 0) {
            PyErr_Format(PyExc_ValueError,
                         "the capsule is named '%s': it has been consumed, and a DLPack "
                         "capsule can be consumed once (DLPack, capsule)",
                         name);
            return -1;
        }
    }
    PyErr_Format(PyExc_ValueError,
                 "the capsule is named '%s'; a DLPack capsule is named 'dltensor' or "
                 "'dltensor_versioned' (DLPack, capsule)",
                 name);
    return -1;
}

#define WRONG_VERSION                                                                     \
    "this is a tensor of DLPack version %u.%u; refarray reads 1.x, since another major " \
    "version may have another layout (DLPack, version)"

/* Another major version: nothing but its version and its deleter may be touched, and the
 * consumer must call the deleter. It counts as taken over. */
static void refuse_version(PyObject *capsule, DLManagedTensorVersioned *managed)
{
    PyErr_Format(PyExc_BufferError, WRONG_VERSION, managed->version.major,
                 managed->version.minor);
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (PyCapsule_SetName(capsule, ra_capsule_names[1][1]) == 0)
        ra_delete(managed, 1);
    PyErr_Restore(type, value, traceback);
}

/* Read one number of a device pair. PyArg_ParseTuple would do, and cost as much as all
 * else that is checked here. A number that does not fit is read as INT64_MIN, which is not in
 * a DLDevice, so that the message shows it as the device that was announced. */
static int read_number(PyObject *pair, Py_ssize_t i, int64_t *out)
{
    PyObject *number = PyTuple_GetItem(pair, i);
    if (!PyLong_Check(number))
        return 0;
    int overflow;
    *out = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow)
        *out = INT64_MIN;
    return 1;
}

static int read_pair(PyObject *pair, int64_t *type, int64_t *id)
{
    return PyTuple_Check(pair) && PyTuple_Size(pair) == 2 && read_number(pair, 0, type) &&
           read_number(pair, 1, id);
}

static int agrees(const DLTensor *tensor, PyObject *announced)
{
    int64_t type, id;
    if (!announced)
        return 1;
    int is_pair = read_pair(announced, &type, &id);
    DLDevice found = tensor->device;        /* the repr is Python, and may drop the tensor */
    if (is_pair && found.device_type == type && found.device_id == id)
        return 1;
    PyObject *shown = ra_shown(announced);
    if (shown && !is_pair)
        PyErr_Format(PyExc_TypeError,
                     "__dlpack_device__ must return a tuple of two integers, got %U "
                     "(array API, array.__dlpack_device__)",
                     shown);
    else if (shown)
        PyErr_Format(PyExc_BufferError,
                     "the capsule lies on DLPack device (%d, %d), but %U was announced by "
                     "__dlpack_device__ or asked for; refarray does not guess which is true "
                     "(array API, array.__dlpack_device__)",
                     found.device_type, found.device_id, shown);
    Py_XDECREF(shown);
    return 0;
}

/* A managed tensor that has been looked at and not yet been taken over. */
typedef struct {
    void *managed;
    int versioned;
    const DLTensor *tensor;
    int64_t strides[RA_MAX_NDIM];
    ra_extent extent;
    char *first;
} offer;

/* Find the tensor in a capsule. Returns 0, or -1 with an exception set. */
static int open_capsule(PyObject *capsule, PyObject *announced, offer *out)
{
    int versioned = unused_capsule(capsule);
    if (versioned < 0)
        return -1;
    void *managed = PyCapsule_GetPointer(capsule, ra_capsule_names[versioned][0]);
    if (!managed)
        return -1;
    if (versioned && ((DLManagedTensorVersioned *)managed)->version.major != RA_VERSION_MAJOR) {
        refuse_version(capsule, managed);
        return -1;
    }
    out->managed = managed;
    out->versioned = versioned;
    out->tensor = versioned ? &((DLManagedTensorVersioned *)managed)->dl_tensor
                            : &((DLManagedTensor *)managed)->dl_tensor;
    return agrees(out->tensor, announced) ? 0 : -1;
}

/* Memory of a pretend device is ours, or not what it says: nobody else has any. */
static const ra_device *find_device(const offer *it)
{
    const ra_device *device = ra_device_find(it->tensor->device);
    if (device && device->memory == RA_PRETEND && !ra_is_own_memory(it->managed, it->versioned)) {
        PyErr_Format(PyExc_BufferError,
                     "the capsule lies on DLPack device (%d, %d), which is %R, a device that "
                     "only refarray has; but the memory is not refarray's (DLPack, DLTensor)",
                     it->tensor->device.device_type, it->tensor->device.device_id,
                     device->object);
        return NULL;
    }
    return device;
}

static int check_offer(offer *it, int64_t itemsize)
{
    const char *wrong =
        ra_check_tensor(it->tensor, itemsize, it->strides, &it->extent, &it->first);
    if (!wrong)
        return 0;
    PyErr_Format(PyExc_BufferError,
                 "the capsule does not describe an array: %s (DLPack, DLTensor)", wrong);
    return -1;
}

/* The deleter of memory that a driver gave may have to wait for the driver. */
static ra_buffer *import_offer(const offer *it, int deferred)
{
    if (deferred)
        return ra_import_of_device(it->managed, it->versioned, &it->extent, it->first);
    return ra_import(it->managed, it->versioned, &it->extent, it->first);
}

static int is_deferred(const ra_device *device)
{
    return device->memory == RA_DEVICE || device->memory == RA_PINNED;
}

/* Rename the capsule: the tensor is ours, and the buffer will call its deleter, once. */
static ra_buffer *take_over(PyObject *capsule, const offer *it, int deferred)
{
    /* A profile was asked since, in Python: another thread may have taken it meanwhile. */
    if (ra_is_guarded() && !PyCapsule_IsValid(capsule, ra_capsule_names[it->versioned][0])) {
        unused_capsule(capsule);
        return NULL;
    }
    /* First the name: what is let go later cannot be handed back. */
    if (PyCapsule_SetName(capsule, ra_capsule_names[it->versioned][1]) < 0)
        return NULL;
    ra_buffer *buffer = import_offer(it, deferred);
    if (!buffer) {
        PyErr_NoMemory();
        PyCapsule_SetName(capsule, ra_capsule_names[it->versioned][0]);
    }
    return buffer;
}

static PyObject *as_array(ra_buffer *buffer, const offer *it, const ra_dtype *dtype,
                          const ra_device *device)
{
    int read_only = (buffer->flags & RA_FLAG_READ_ONLY) != 0;
    return ra_array_new(buffer, dtype, device, it->first, it->tensor->ndim, it->tensor->shape,
                        it->strides, it->extent.size, read_only, NULL);
}

static PyObject *import_capsule(PyObject *capsule, PyObject *announced)
{
    offer it;
    if (open_capsule(capsule, announced, &it) < 0)
        return NULL;
    const ra_dtype *dtype = ra_dtype_find(it.tensor->dtype);
    const ra_device *device = dtype ? find_device(&it) : NULL;
    if (!device || check_offer(&it, ra_itemsize(dtype)) < 0 || ra_admit(dtype, device) < 0)
        return NULL;
    ra_buffer *buffer = take_over(capsule, &it, is_deferred(device));
    return buffer ? as_array(buffer, &it, dtype, device) : NULL;
}

PyObject *ra_import_capsule(PyObject *capsule, PyObject *announced)
{
    PyObject *array;
    Py_BEGIN_CRITICAL_SECTION(capsule);
    array = import_capsule(capsule, announced);
    Py_END_CRITICAL_SECTION();
    return array;
}

PyObject *ra_py_import_capsule(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 1 && n != 2) {
        PyErr_SetString(PyExc_TypeError, "import_capsule(capsule[, announced_device])");
        return NULL;
    }
    return ra_import_capsule(args[0], n == 2 ? args[1] : NULL);
}

PyObject *ra_array_from_managed(DLManagedTensorVersioned *managed)
{
    offer it = {managed, 1, &managed->dl_tensor, {0}, {0}, NULL};
    const ra_dtype *dtype = NULL;
    const ra_device *device = NULL;
    ra_buffer *buffer = NULL;
    if (managed->version.major != RA_VERSION_MAJOR)
        PyErr_Format(PyExc_BufferError, WRONG_VERSION, managed->version.major,
                     managed->version.minor);
    else if ((dtype = ra_dtype_find(it.tensor->dtype)) &&
             (device = find_device(&it)) && check_offer(&it, ra_itemsize(dtype)) == 0 &&
             ra_admit(dtype, device) == 0 &&
             !(buffer = import_offer(&it, is_deferred(device))))
        PyErr_NoMemory();
    if (buffer)
        return as_array(buffer, &it, dtype, device);
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    ra_delete(managed, 1);
    PyErr_Restore(type, value, traceback);
    return NULL;
}

static PyObject *integers(int32_t n, const int64_t *values)
{
    PyObject *out = PyTuple_New(n);
    for (int32_t i = 0; out && i < n; i++) {
        PyObject *value = PyLong_FromLongLong(values[i]);
        if (!value || PyTuple_SetItem(out, i, value) < 0)
            Py_CLEAR(out);
    }
    return out;
}

static PyObject *import_memory(PyObject *capsule, PyObject *announced)
{
    offer it;
    if (open_capsule(capsule, announced, &it) < 0)
        return NULL;
    DLDataType type = it.tensor->dtype;
    if (type.bits * type.lanes == 0 || type.bits * type.lanes % 8) {
        PyErr_Format(PyExc_BufferError,
                     "elements of %d bits in %d lanes have no addresses of their own "
                     "(DLPack, DLTensor)",
                     type.bits, type.lanes);
        return NULL;
    }
    if (check_offer(&it, type.bits * type.lanes / 8) < 0)
        return NULL;
    ra_buffer *buffer = take_over(capsule, &it, 0);
    if (!buffer)
        return NULL;
    uint64_t flags = buffer->flags;
    DLDevice place = it.tensor->device;
    PyObject *shape = integers(it.tensor->ndim, it.tensor->shape);
    ra_normalize_strides(it.tensor->ndim, it.tensor->shape, it.strides);
    PyObject *strides = integers(it.tensor->ndim, it.strides);
    PyObject *memory = ra_buffer_object(buffer, place.device_type == kDLCPU);
    if (!shape || !strides || !memory) {
        Py_XDECREF(shape);
        Py_XDECREF(strides);
        Py_XDECREF(memory);
        return NULL;
    }
    return Py_BuildValue("NNN(iii)(ii)NK", PyLong_FromVoidPtr(it.first), shape, strides,
                         type.code, type.bits, type.lanes, place.device_type,
                         place.device_id, memory, (unsigned long long)flags);
}

PyObject *ra_py_import_memory(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 2) {
        PyErr_SetString(PyExc_TypeError, "import_memory(capsule, announced_device)");
        return NULL;
    }
    PyObject *memory;
    Py_BEGIN_CRITICAL_SECTION(args[0]);
    memory = import_memory(args[0], args[1]);
    Py_END_CRITICAL_SECTION();
    return memory;
}

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
