/* The C exchange API of DLPack 1.3: what another library's C code calls to exchange arrays
 * with refarray without a call of Python, and the use we make of theirs.
 *
 * Its rules are those of __dlpack__: what that refuses, this refuses. It is called with the
 * GIL held, but for the allocator, which needs none.
 *
 * Next: trace.h. */
#include "objects.h"

static const char capsule_name[] = "dlpack_exchange_api";

/* ---- Ours ---------------------------------------------------------------------------- */

static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                    void (*set_error)(void *, const char *, const char *))
{
    ra_tensor_copy copy;
    DLTensor asked = {.device = prototype->device, .ndim = prototype->ndim,
                      .dtype = prototype->dtype, .shape = prototype->shape};
    ra_copy_tensor(&asked, 0, &copy);       /* the caller need not set the other fields */
    DLTensor tensor = copy.tensor;
    ra_extent extent;
    int bits = tensor.dtype.bits * tensor.dtype.lanes;
    const char *wrong = NULL;
    *out = NULL;
    if (tensor.device.device_type != kDLCPU || tensor.device.device_id != 0)
        wrong = "refarray allocates memory of the host, DLPack device (1, 0)";
    else if (bits == 0 || bits % 8)
        wrong = "refarray allocates elements of whole bytes";
    else if (tensor.ndim < 0 || tensor.ndim > RA_MAX_NDIM)
        wrong = "refarray allocates tensors of 0 to 64 dimensions";
    else if (copy.wrong)
        wrong = "the prototype's shape is NULL though it has dimensions";
    if (!wrong) {
        ra_compact_strides(tensor.ndim, copy.shape, copy.strides);
        wrong = ra_measure(tensor.ndim, copy.shape, copy.strides, bits / 8, &extent);
    }
    if (wrong) {
        set_error(error_ctx, "BufferError", wrong);
        return -1;
    }
    ra_buffer *buffer = ra_buffer_new((size_t)extent.high, 0);
    if (buffer) {
        tensor.data = extent.size ? buffer->address : NULL;
        tensor.byte_offset = 0;
        *out = ra_export(buffer, &tensor, 1, 0);
        ra_buffer_let_go(buffer);
    }
    if (!*out) {
        set_error(error_ctx, "MemoryError", "refarray found no host memory");
        return -1;
    }
    return 0;
}

static ArrayObject *exchangeable(void *object)
{
    if (!ra_is_array(object)) {
        PyErr_Format(PyExc_TypeError,
                     "this exchange API is for refarray.Array, not %R (DLPack, exchange API)",
                     (PyObject *)Py_TYPE((PyObject *)object));
        return NULL;
    }
    ArrayObject *self = object;
    if (!ra_on_host(self->device)) {
        PyErr_Format(PyExc_BufferError,
                     "an array on %R is exchanged through __dlpack__, which can wait for its "
                     "stream (DLPack, exchange API)",
                     self->device_object);
        return NULL;
    }
    return self;
}

static int from_object(void *object, DLManagedTensorVersioned **out)
{
    *out = NULL;
    ArrayObject *self = exchangeable(object);
    if (!self)
        return -1;
    DLTensor tensor;
    int64_t strides[RA_MAX_NDIM];
    uint64_t flags;
    if (ra_lend_tensor(self, &tensor, strides, &flags) < 0)
        return -1;
    *out = ra_export(self->buffer, &tensor, 1, flags);
    if (!*out)
        PyErr_NoMemory();
    return *out ? 0 : -1;
}

/* A tensor that cannot become an array stays with the caller, who deletes it. The header does
 * not say so; torch behaves this way, and tvm-ffi relies on it. */
static int to_object(DLManagedTensorVersioned *tensor, void **out)
{
    *out = ra_array_from_managed(tensor);
    return *out ? 0 : -1;
}

/* A DLTensor has no flags, so it cannot say that its memory is read-only. As with legacy
 * capsules, such memory is refused rather than described as writable. */
static int describe(void *object, DLTensor *out)
{
    ArrayObject *self = exchangeable(object);
    int read_only = self && self->read_only;
    uint64_t ignored;
    if (!self || ra_lend(&read_only, &ignored) < 0)
        return -1;
    if (read_only) {
        PyErr_SetString(PyExc_BufferError,
                        "this array is read-only, and a DLTensor cannot say so; ask for a "
                        "managed tensor, which has flags (DLPack, exchange API)");
        return -1;
    }
    *out = ra_tensor_of(self);
    return 0;
}

static int current_stream(int32_t device_type, int32_t device_id, void **out)
{
    *out = NULL;                /* a host has no streams */
    if (device_type == kDLCPU)
        return 0;
    PyErr_Format(PyExc_BufferError, "refarray works on no stream of DLPack device (%d, %d) "
                 "(DLPack, exchange API)",
                 device_type, device_id);
    return -1;
}

static DLPackExchangeAPI api = {
    .header = {.version = {RA_VERSION_MAJOR, RA_VERSION_MINOR}, .prev_api = NULL},
    .managed_tensor_allocator = allocate,
    .managed_tensor_from_py_object_no_sync = from_object,
    .managed_tensor_to_py_object_no_sync = to_object,
    .dltensor_from_py_object_no_sync = describe,
    .current_work_stream = current_stream,
};

PyObject *ra_py_exchange_api(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module, (void)args, (void)n;
    return PyCapsule_New(&api, capsule_name, NULL);
}

/* ---- Theirs -------------------------------------------------------------------------- */

/* The struct in a capsule, in the major version that we read, or NULL with an exception. */
static const DLPackExchangeAPI *open_api(PyObject *capsule)
{
    DLPackExchangeAPIHeader *header = PyCapsule_GetPointer(capsule, capsule_name);
    while (header && header->version.major != RA_VERSION_MAJOR)
        header = header->prev_api;
    if (!header && !PyErr_Occurred())
        PyErr_SetString(PyExc_BufferError,
                        "this exchange API has no version 1 of DLPack (DLPack, exchange API)");
    return (const DLPackExchangeAPI *)header;
}

PyObject *ra_import_object(PyObject *capsule, PyObject *x)
{
    const DLPackExchangeAPI *theirs = open_api(capsule);
    DLManagedTensorVersioned *managed = NULL;
    if (!theirs)
        return NULL;
    int failed = theirs->managed_tensor_from_py_object_no_sync(x, &managed) != 0;
    if (failed && PyErr_Occurred())
        return NULL;
    if (failed || !managed) {
        PyErr_SetString(PyExc_BufferError,
                        "the exchange API gave no tensor and no error (DLPack, exchange API)");
        return NULL;
    }
    PyObject *array = ra_array_from_managed(managed);
    if (!array) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        ra_delete(managed, 1);      /* it stayed with us, and so does the duty to delete it */
        PyErr_Restore(type, value, traceback);
    }
    return array;
}

PyObject *ra_py_import_object(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 2) {
        PyErr_SetString(PyExc_TypeError, "import_object(api, x)");
        return NULL;
    }
    return ra_import_object(args[0], args[1]);
}
