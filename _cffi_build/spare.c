/* Spare parts: the memory of a small array that was let go, together with the kernels' view
 * of it, kept for the next array of the same dtype and shape. To make the two anew costs as
 * much as the addition of two short arrays.
 *
 * Counted as cached memory (memory.h) and given back with it. At most RA_SPARES blocks of
 * at most RA_SPARE_BYTES: 16 KiB in all.
 *
 * Next: make.c. */
#include "objects.h"

#include <string.h>

#define RA_SPARES 16
#define RA_SPARE_BYTES 1024
#define RA_SPARE_AXES 8

typedef struct {
    PyObject *memory;
    PyObject *view;
    const ra_dtype *dtype;
    int32_t ndim;
    int64_t shape[RA_SPARE_AXES];
} spare;

/* The GIL guards them; without one, arrays are made anew each time. */
static spare spares[RA_SPARES];
static int next;

/* Whether an attribute of the view is this object. */
static int has(PyObject *view, const char *name, PyObject *wanted, int by_value)
{
    PyObject *found = PyObject_GetAttrString(view, name);
    int same = found == wanted;
    if (found && by_value)
        same = PyObject_RichCompareBool(found, wanted, Py_EQ) == 1;
    Py_XDECREF(found);
    return same;
}

/* Python code was given the view, and can set these attributes. */
static int is_unchanged(ArrayObject *self)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);     /* arrays die while exceptions are raised */
    PyObject *flags = PyObject_GetAttrString(self->view, "flags");
    int unchanged = flags && has(flags, "writeable", Py_True, 0) &&
                    has(flags, "c_contiguous", Py_True, 0) &&
                    has(self->view, "dtype", self->type->view_dtype, 0) &&
                    has(self->view, "shape", self->shape, 1);
    Py_XDECREF(flags);
    PyErr_Restore(type, value, traceback);
    return unchanged;
}

/* Nothing but the array itself holds its memory and its view, and the view shows all of the
 * memory as a new array would. */
static int is_reusable(ArrayObject *self)
{
#ifdef Py_GIL_DISABLED
    (void)self;
    return 0;
#else
    return self->is_whole && self->view && Py_REFCNT(self->view) == 1 &&
           Py_REFCNT(self->memory) == 2 && self->ndim <= RA_SPARE_AXES &&
           ra_on_host(self->device) && self->size && self->buffer->nbytes <= RA_SPARE_BYTES &&
           (!self->view_was_lent || is_unchanged(self));
#endif
}

static ra_buffer *buffer_of(spare *slot) { return ((BufferObject *)slot->memory)->buffer; }

static void give_back(spare old)
{
    if (!old.memory)
        return;
    ra_buffer_count_live(buffer_of(&old), 0);
    Py_DECREF(old.view);
    Py_DECREF(old.memory);
}

int ra_spare(ArrayObject *self)
{
    if (!is_reusable(self))
        return 0;
    ra_buffer_let_go(self->buffer);     /* the array's own; `memory` has another */
    self->buffer = NULL;
    spare kept = {self->memory, self->view, self->type, self->ndim, {0}};
    if (!ra_buffer_count_cached(buffer_of(&kept)))
        return 0;
    memcpy(kept.shape, ra_shape(self), (size_t)self->ndim * sizeof *kept.shape);
    spare old = spares[next];
    spares[next] = kept;
    next = (next + 1) % RA_SPARES;
    give_back(old);
    return 1;
}

PyObject *ra_take_spare(const ra_dtype *dtype, int32_t ndim, const int64_t *shape,
                        PyObject **view)
{
    for (int i = 0; i < RA_SPARES; i++) {
        spare *slot = &spares[i];
        if (slot->dtype != dtype || slot->ndim != ndim ||
            memcmp(slot->shape, shape, (size_t)ndim * sizeof *shape) != 0)
            continue;
        PyObject *memory = slot->memory;
        ra_buffer_count_live(buffer_of(slot), 1);
        *view = slot->view;
        *slot = (spare){0};
        return memory;
    }
    return NULL;
}

PyObject *ra_py_empty_spares(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module, (void)args, (void)n;
    for (int i = 0; i < RA_SPARES; i++) {
        spare old = spares[i];
        spares[i] = (spare){0};
        give_back(old);
    }
    Py_RETURN_NONE;
}
