/* Importing: from a capsule to an array, or to a description in Python.
 *
 * A tensor is copied, the copy is checked, and only then is the tensor taken over; until then
 * a failure leaves the capsule as it was, and its destructor gives the memory back.
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

/* A managed tensor that was copied and not yet taken over. Only the copy is used; the original
 * is not read again. */
typedef struct {
    void *managed;
    int versioned;
    ra_buffer *own;         /* the buffer behind it, if we made the managed tensor */
    ra_tensor_copy copy;
} offer;

static void look_at(void *managed, int versioned, offer *out)
{
    out->managed = managed;
    out->versioned = versioned;
    out->own = ra_exported_buffer(managed, versioned);
    if (versioned) {
        const DLManagedTensorVersioned *theirs = managed;
        ra_copy_tensor(&theirs->dl_tensor, theirs->flags, &out->copy);
    } else {
        ra_copy_tensor(&((const DLManagedTensor *)managed)->dl_tensor, 0, &out->copy);
    }
}

static int agrees(DLDevice found, PyObject *announced)
{
    int64_t type, id;
    if (!announced)
        return 1;
    int is_pair = read_pair(announced, &type, &id);
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
    look_at(managed, versioned, out);
    return agrees(out->copy.tensor.device, announced) ? 0 : -1;
}

/* Memory of a pretend device is ours, or not what it says: nobody else has any. */
static const ra_device *find_device(const offer *it)
{
    DLDevice place = it->copy.tensor.device;
    const ra_device *device = ra_device_find(place);
    if (device && device->memory == RA_PRETEND && !(it->own && !it->own->owner)) {
        PyErr_Format(PyExc_BufferError,
                     "the capsule lies on DLPack device (%d, %d), which is %R, a device that "
                     "only refarray has; but the memory is not refarray's (DLPack, DLTensor)",
                     place.device_type, place.device_id, device->object);
        return NULL;
    }
    return device;
}

static int check_offer(offer *it, int64_t itemsize)
{
    const char *wrong = ra_check_tensor(&it->copy, itemsize);
    if (!wrong)
        return 0;
    PyErr_Format(PyExc_BufferError,
                 "the capsule does not describe an array: %s (DLPack, DLTensor)", wrong);
    return -1;
}

/* Whether the tensor is ours and still lies in the buffer that we made it over. Memory of a
 * device must then be such that its release waits for the driver. */
static int is_own(const offer *it, int deferred)
{
    const ra_buffer *own = it->own;
    if (!own || (deferred && !ra_deferred_note(own)))
        return 0;
    if (!it->copy.first)
        return 1;
    uintptr_t start = (uintptr_t)own->address;
    uintptr_t low = (uintptr_t)it->copy.first + (uintptr_t)it->copy.extent.low;
    uintptr_t high = (uintptr_t)it->copy.first + (uintptr_t)it->copy.extent.high;
    return low >= start && high <= start + own->nbytes;
}

/* Rename the capsule: the tensor is ours from now on. */
static int take_over(PyObject *capsule, const offer *it)
{
    /* A profile was asked since, in Python: another thread may have taken it meanwhile. */
    if (ra_is_guarded() && !PyCapsule_IsValid(capsule, ra_capsule_names[it->versioned][0])) {
        if (unused_capsule(capsule) >= 0)
            PyErr_SetString(PyExc_BufferError,
                            "the capsule was changed while it was imported (DLPack, capsule)");
        return -1;
    }
    return PyCapsule_SetName(capsule, ra_capsule_names[it->versioned][1]);
}

static void hand_back(PyObject *capsule, const offer *it)
{
    PyCapsule_SetName(capsule, ra_capsule_names[it->versioned][0]);
}

static PyObject *as_array(ra_buffer *buffer, const offer *it, const ra_dtype *dtype,
                          const ra_device *device)
{
    const ra_tensor_copy *copy = &it->copy;
    int read_only = ((copy->flags | buffer->flags) & RA_FLAG_READ_ONLY) != 0;
    PyObject *array =
        ra_array_over(buffer, dtype, device, copy->first, copy->tensor.ndim, copy->shape,
                      copy->strides, copy->extent.size, read_only, NULL);
    if (array)
        ((ArrayObject *)array)->is_copied = (copy->flags & RA_FLAG_IS_COPIED) != 0;
    return array;
}

/* Take the tensor over as an array. NULL with an exception set if that fails, and then the
 * tensor is not taken over: its deleter is the caller's to call. */
static PyObject *accept(const offer *it, const ra_dtype *dtype, const ra_device *device)
{
    /* The deleter of memory that a driver gave may have to wait for the driver. */
    int deferred = device->memory == RA_DEVICE || device->memory == RA_PINNED;
    PyObject *array;
    if (is_own(it, deferred)) {
        ra_buffer_retain(it->own);
        array = as_array(it->own, it, dtype, device);
        if (array)
            ra_delete_own(it->managed, it->versioned);
        else
            ra_let_go(it->own);
        return array;
    }
    ra_buffer *buffer = deferred ? ra_import_of_device(it->managed, it->versioned, &it->copy)
                                 : ra_import(it->managed, it->versioned, &it->copy);
    if (!buffer)
        return PyErr_NoMemory();
    array = as_array(buffer, it, dtype, device);
    if (!array && deferred)
        ra_undo_import_of_device(buffer);
    else if (!array)
        ra_undo_import(buffer);
    return array;
}

/* Check that refarray can have such an array. Returns 0, or -1 with an exception set. */
static int check_array(offer *it, const ra_dtype **dtype, const ra_device **device)
{
    *dtype = ra_dtype_find(it->copy.tensor.dtype);
    *device = *dtype ? find_device(it) : NULL;
    return *device && check_offer(it, ra_itemsize(*dtype)) == 0 ? ra_admit(*dtype, *device) : -1;
}

static PyObject *import_capsule(PyObject *capsule, PyObject *announced)
{
    offer it;
    const ra_dtype *dtype;
    const ra_device *device;
    if (open_capsule(capsule, announced, &it) < 0 || check_array(&it, &dtype, &device) < 0 ||
        take_over(capsule, &it) < 0)
        return NULL;
    PyObject *array = accept(&it, dtype, device);
    if (!array)
        hand_back(capsule, &it);
    return array;
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
    offer it;
    const ra_dtype *dtype;
    const ra_device *device;
    if (managed->version.major != RA_VERSION_MAJOR) {
        PyErr_Format(PyExc_BufferError, WRONG_VERSION, managed->version.major,
                     managed->version.minor);
        return NULL;
    }
    look_at(managed, 1, &it);
    return check_array(&it, &dtype, &device) == 0 ? accept(&it, dtype, device) : NULL;
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

/* A buffer over what the tensor describes, and no more. If refarray made the tensor and a
 * Python object owns its memory, the new buffer keeps that object visible to the garbage
 * collector. */
static ra_buffer *import_window(const offer *it, int on_host)
{
    ra_buffer *own = it->own;
    if (!own || !own->keeps) {
        ra_buffer *buffer = ra_import(it->managed, it->versioned, &it->copy);
        return buffer ? buffer : (ra_buffer *)PyErr_NoMemory();
    }
    ra_buffer_retain(own);
    PyObject *owner = ra_buffer_object(own, on_host);
    if (!owner)
        return NULL;
    const ra_tensor_copy *copy = &it->copy;
    char *lowest = copy->first ? copy->first + copy->extent.low : NULL;
    ra_buffer *buffer =
        ra_buffer_of_owner(lowest, (size_t)(copy->extent.high - copy->extent.low), "imported",
                           copy->flags, owner);
    Py_DECREF(owner);
    if (buffer)
        ra_delete_own(it->managed, it->versioned);
    return buffer;
}

/* As an array, but of any dtype and device, and always a buffer of its own: the owner of a
 * description reaches no byte that was not described. */
static PyObject *import_memory(PyObject *capsule, PyObject *announced)
{
    offer it;
    if (open_capsule(capsule, announced, &it) < 0)
        return NULL;
    DLTensor *tensor = &it.copy.tensor;
    DLDataType type = tensor->dtype;
    if (type.bits * type.lanes == 0 || type.bits * type.lanes % 8) {
        PyErr_Format(PyExc_BufferError,
                     "elements of %d bits in %d lanes have no addresses of their own "
                     "(DLPack, DLTensor)",
                     type.bits, type.lanes);
        return NULL;
    }
    if (check_offer(&it, type.bits * type.lanes / 8) < 0 || take_over(capsule, &it) < 0)
        return NULL;
    int on_host = tensor->device.device_type == kDLCPU;
    ra_buffer *buffer = import_window(&it, on_host);
    if (!buffer) {
        hand_back(capsule, &it);
        return NULL;
    }
    PyObject *memory = ra_buffer_object(buffer, on_host);
    ra_normalize_strides(tensor->ndim, it.copy.shape, it.copy.strides);
    PyObject *shape = memory ? integers(tensor->ndim, it.copy.shape) : NULL;
    PyObject *strides = shape ? integers(tensor->ndim, it.copy.strides) : NULL;
    PyObject *out = NULL;
    if (strides)
        out = Py_BuildValue("NOO(iii)(ii)OKK", PyLong_FromVoidPtr(it.copy.first), shape,
                            strides, type.code, type.bits, type.lanes,
                            tensor->device.device_type, tensor->device.device_id, memory,
                            (unsigned long long)it.copy.flags,
                            (unsigned long long)tensor->byte_offset);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    Py_XDECREF(memory);
    return out;
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
