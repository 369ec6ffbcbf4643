/* The two Python types in C, and what is registered with them. Next: registry.c. */
#ifndef REFARRAY_OBJECTS_H
#define REFARRAY_OBJECTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include "tensor.h"

/* Between the two, no other thread is between them with the same object. A lock only where no
 * GIL sees to it; like the GIL, it is let go while Python code runs. */
#ifndef Py_GIL_DISABLED
#undef Py_BEGIN_CRITICAL_SECTION
#undef Py_END_CRITICAL_SECTION
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

/* A data type: the pair that DLPack knows, and the Python object which stands for it. */
typedef struct {
    uint8_t code;
    uint8_t bits;
    const char *format;     /* struct module's letter; NULL: it has none */
    PyObject *object;
    PyObject *view_dtype;   /* what kernels call it */
} ra_dtype;

int ra_dtype_key(const ra_dtype *dtype);                /* DType.key: its place among all */
int ra_is_held(const ra_dtype *dtype);                  /* float16 or bfloat16 */
const ra_dtype *ra_dtype_of(PyObject *object);          /* TypeError when unknown */
const ra_dtype *ra_dtype_find(DLDataType type);         /* BufferError when unknown */
static inline int64_t ra_itemsize(const ra_dtype *dtype) { return dtype->bits / 8; }

/* What the memory of a device is. RA_PRETEND: the host's, but nobody outside is let to it.
 * RA_PINNED: of the host, from a driver, which reads and writes it too. */
typedef enum { RA_HOST, RA_PRETEND, RA_PINNED, RA_DEVICE } ra_memory_kind;

/* A device: the pair that DLPack knows, as a struct and as the tuple which
 * __dlpack_device__ returns, and the Python object which stands for it. */
typedef struct {
    DLDevice place;
    PyObject *pair;
    PyObject *object;
    ra_memory_kind memory;
} ra_device;

const ra_device *ra_device_of(PyObject *object);        /* TypeError when unknown */
const ra_device *ra_device_find(DLDevice place);        /* BufferError when unknown */
static inline int ra_on_host(const ra_device *device)
{
    return device->memory == RA_HOST;
}
static inline int ra_in_host_memory(const ra_device *device)
{
    return device->memory != RA_DEVICE;     /* kernels of the host reach it */
}
static inline int ra_is_open(const ra_device *device)
{
    return device->memory == RA_HOST || device->memory == RA_PINNED;    /* and others' */
}

/* What profiles other than `strict` have a say in (refarray/_base/profile.py); nobody is
 * asked before one is in use. Both return -1 with an exception set where it is refused. */
int ra_is_guarded(void);
int ra_admit(const ra_dtype *dtype, const ra_device *device);   /* a new array */
int ra_lend(int *read_only, uint64_t *scramble);                /* memory to others */

/* Memory as a Python object, for the views that kernels use. Made when one is made. */
typedef struct {
    PyObject_HEAD
    ra_buffer *buffer;
    int on_host;
} BufferObject;

#define RA_ROOM 2       /* extents of up to this many axes lie in the array itself */

typedef struct {
    PyObject_HEAD
    PyObject *shape;            /* tuple of int; None for a size that is not known */
    PyObject *sizes;            /* the same tuple, or one with all sizes */
    PyObject *dtype;
    PyObject *device_object;
    ra_buffer *buffer;
    _Atomic(PyObject *) memory; /* the same as a BufferObject, once there is one */
    _Atomic(PyObject *) view;   /* the kernels' view of this memory, once there is one */
    PyObject *weak_references;
    const ra_dtype *type;
    const ra_device *device;
    char *data;                 /* first element */
    int64_t *extents;           /* ndim extents, then ndim strides in elements */
    int64_t room[2 * RA_ROOM];
    int64_t size;
    int32_t ndim;
    int8_t read_only;
    int8_t is_copied;           /* its producer made a copy for it */
    int8_t is_whole;            /* made by ra_make over memory of its own, all of it */
    int8_t view_was_lent;       /* Python code was given the view, and may have changed it */
} ArrayObject;

static inline int64_t *ra_shape(ArrayObject *a) { return a->extents; }
static inline int64_t *ra_strides(ArrayObject *a) { return a->extents + a->ndim; }

extern PyTypeObject *ra_array_type;     /* refarray.Array, once it is registered */
int ra_is_array(PyObject *object);

/* A shape as Python has it. An int of the registered subclass is a size that the program
 * must not know, though the memory has it: profiles in which shapes depend on values. */
typedef struct {
    PyObject *tuple;    /* borrowed; NULL if it holds other objects than ints and those */
    int unknown;        /* how many of those */
} ra_sizes;
extern PyObject *ra_unknown_size;       /* the subclass, once it is registered */

/* Memory that a Python object owns. NULL with an exception set when out of memory. */
ra_buffer *ra_buffer_of_owner(char *address, size_t nbytes, const char *kind, uint64_t flags,
                              PyObject *owner);

/* The object of a buffer; steals the buffer, also when it fails. */
PyObject *ra_buffer_object(ra_buffer *buffer, int on_host);

/* An array over a buffer. The layout must have been measured, and must lie inside the buffer;
 * strides of length-1 axes are normalised. sizes: the shape, if there is a tuple of it
 * already, or NULL. The first steals the buffer unless it fails, the second always. */
PyObject *ra_array_over(ra_buffer *buffer, const ra_dtype *dtype, const ra_device *device,
                        char *data, int32_t ndim, const int64_t *shape,
                        const int64_t *strides, int64_t size, int read_only,
                        const ra_sizes *sizes);
PyObject *ra_array_new(ra_buffer *buffer, const ra_dtype *dtype,
                       const ra_device *device, char *data, int32_t ndim,
                       const int64_t *shape, const int64_t *strides, int64_t size,
                       int read_only, const ra_sizes *sizes);

PyObject *ra_array_memory(PyObject *array, void *closure);      /* attribute _buffer */

void ra_object_free(PyObject *object);

/* Let go of memory and keep the exception that is set, if one is: the deleter of a producer
 * may be Python code, and lose it. */
void ra_let_go(ra_buffer *buffer);
extern char ra_nothing[64];     /* where an array without elements points to */

/* Whether release functions may call Python in this thread. */
int ra_python_runs(void);

/* The memory and the view of an array that is let go, kept for the next one alike: 1 if they
 * were, and are no longer the array's. Taken back, both are new references. */
int ra_spare(ArrayObject *array);
PyObject *ra_take_spare(const ra_dtype *dtype, int32_t ndim, const int64_t *shape,
                        PyObject **view);

/* Memory that only a driver can give, and what kernels there compute with (devices.c);
 * NULL with an exception set where that cannot be. */
ra_buffer *ra_allocate_on(const ra_device *device, int64_t nbytes, int zeroed);
PyObject *ra_view_on_device(PyObject *array);

void ra_replace(PyObject **slot, PyObject *object);

/* The repr of an object, for an error message: what stands for it where that fails, as for an
 * integer of more digits than Python writes, or the message's own error would be lost. NULL
 * with an exception set for what is to go on, an interrupt say. */
PyObject *ra_shown(PyObject *object);

/* A new reference, which a borrowed one is not: the dict may lose it while Python runs. NULL,
 * perhaps with an exception, if there is none. */
PyObject *ra_dict_get(PyObject *dict, PyObject *key);

int ra_buffer_install(PyObject *module);
int ra_objects_install(PyObject *module);
int ra_export_install(void);

extern const char *const ra_capsule_names[2][2];    /* [versioned][used] */
DLTensor ra_tensor_of(ArrayObject *array);          /* its extents are the array's own */

/* The same for others to see, as the profile in force allows; strides: room for
 * RA_MAX_NDIM. Returns 0, or -1 with an exception set. */
int ra_lend_tensor(ArrayObject *array, DLTensor *out, int64_t *strides, uint64_t *flags);

/* A new row-major array; sizes: as for ra_array_new. */
PyObject *ra_make(const ra_dtype *dtype, const ra_device *device, int32_t ndim,
                  const int64_t *shape, int zeroed, const ra_sizes *sizes);
PyObject *ra_new(PyObject *shape, PyObject *dtype, PyObject *device, int zeroed);

/* The sizes as a tuple: each an int, but None where it is Unknown in `given`, if there is
 * that. */
PyObject *ra_tuple_of_sizes(int32_t ndim, const int64_t *shape, PyObject *given);

/* The view that a basic key selects (index.c). NULL with an exception set for a key that is
 * wrong, NULL without one for a key that selects by value. */
PyObject *ra_select(PyObject *array, PyObject *key);

/* An array over the tensor in a capsule; announced: the device pair it must agree with, or
 * NULL. And over the memory of an object, through the C exchange API in a capsule. */
PyObject *ra_import_capsule(PyObject *capsule, PyObject *announced);
PyObject *ra_import_object(PyObject *api, PyObject *x);

/* Take a tensor over as an array. If that fails, the tensor stays with the caller. */
PyObject *ra_array_from_managed(DLManagedTensorVersioned *managed);

/* Read a tuple of integers. Returns how many, or -1 with an exception set. */
int32_t ra_read_integers(PyObject *tuple, const char *what, int64_t *out, ra_sizes *sizes);

/* Functions for Python; their docstrings stand in native.c. */
#define RA_FUNCTION(name) PyObject *name(PyObject *, PyObject *const *, Py_ssize_t)
RA_FUNCTION(ra_py_register_dtype);
RA_FUNCTION(ra_py_register_view);
RA_FUNCTION(ra_py_register_device);
RA_FUNCTION(ra_py_register_unknown);
RA_FUNCTION(ra_py_register_array);
RA_FUNCTION(ra_py_register_guard);
RA_FUNCTION(ra_py_register_memory);
RA_FUNCTION(ra_py_take_deferred);
RA_FUNCTION(ra_py_finish_deferred);
RA_FUNCTION(ra_py_allocate);
RA_FUNCTION(ra_py_empty_spares);
RA_FUNCTION(ra_py_view);
RA_FUNCTION(ra_py_select);
RA_FUNCTION(ra_py_register_runner);
RA_FUNCTION(ra_py_register_operators);
RA_FUNCTION(ra_py_compute);
RA_FUNCTION(ra_py_elementwise);
RA_FUNCTION(ra_py_join);
RA_FUNCTION(ra_py_wrap);
RA_FUNCTION(ra_py_export_memory);
RA_FUNCTION(ra_py_import_memory);
RA_FUNCTION(ra_py_import_capsule);
RA_FUNCTION(ra_py_inspect_capsule);
RA_FUNCTION(ra_py_exchange_api);
RA_FUNCTION(ra_py_register_consumer);
RA_FUNCTION(ra_py_mark_exit);
RA_FUNCTION(ra_py_import_object);
RA_FUNCTION(ra_py_trace_capsule);

PyObject *ra_call(PyObject *, PyObject *, PyObject *);

/* The result of a function whose plans are these; NULL, without an exception if there is no
 * plan for the operands (compute.c). */
PyObject *ra_elementwise(PyObject *plans, PyObject *const *operands, Py_ssize_t n);

#define RA_OPERATOR_SLOTS 19
extern const PyType_Slot ra_operator_slots[RA_OPERATOR_SLOTS];      /* operators.c */
PyObject *ra_from_dlpack(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);

/* Methods of the array type that stand in export.c. */
PyObject *ra_array_dlpack(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
PyObject *ra_array_dlpack_device(PyObject *, PyObject *);

/* Attribute of the array type that stands in make.c. */
PyObject *ra_array_view(PyObject *, void *);

extern PyObject *ra_make_view;          /* registered: numpy.ndarray */
extern PyObject *ra_get_item;           /* registered; called for all but basic indexing */
extern PyObject *ra_prepare_export;     /* registered; called for all but the plain case */

#endif
