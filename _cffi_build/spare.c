/* The reuse pool for small arrays: the memory of a released array and the kernels' view of it
 * serve the next array of the same dtype and shape. Allocating both costs as much as adding two
 * short arrays.
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
           ra_on_host(self->device) && self->size && self->buffer->nbytes <= RA_SPARE_BYTES;
#endif
}

static ra_buffer *buffer_of(spare *slot) { return ((BufferObject *)slot->memory)->buffer; }

static void give_back(spare old)
{
    if (!old.memory)
        return;
    ra_buffer_count_live(buffer_of(&old), 0);
    Py_XDECREF(old.view);
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
    if (self->view_was_lent)    /* Python code had the view, and may have changed it */
        Py_CLEAR(kept.view);
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
    long kept = 0;
    for (int i = 0; i < RA_SPARES; i++) {
        spare old = spares[i];
        spares[i] = (spare){0};
        kept += old.memory != NULL;
        give_back(old);
    }
    return PyLong_FromLong(kept);
}
