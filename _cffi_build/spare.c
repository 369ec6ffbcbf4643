/* Spare parts: the memory of a small array that was let go, together with the kernels' view
 * of it, kept for the next array of the same dtype and shape. To make the two anew costs as
 * much as the addition of two short arrays.
 *
 * Counted as cached memory (memory.h) and given back with it. At most RA_SPARES blocks of
 * at most RA_SPARE_BYTES: 16 KiB in all. */
#include "objects.h"

#include <string.h>

#define RA_SPARES 16
#define RA_SPARE_BYTES 1024

typedef struct {
    BufferObject *buffer;
    PyObject *view;
    const ra_dtype *dtype;
    int32_t ndim;
    int64_t shape[RA_ROOM];
} spare;

/* The GIL guards them; without one, arrays are made anew each time. */
static spare spares[RA_SPARES];
static int next;

/* Nothing but the array itself holds on to its memory and its view, and the view shows all
 * of the memory as a new array would. */
static int is_reusable(ArrayObject *self)
{
#ifdef Py_GIL_DISABLED
    return 0;
#else
    if (!self->view || Py_REFCNT(self->view) != 1 || self->ndim > RA_ROOM)
        return 0;
    BufferObject *buffer = self->buffer;
    int64_t compact[RA_ROOM];
    ra_compact_strides(self->ndim, ra_shape(self), compact);
    return Py_REFCNT((PyObject *)buffer) == 2 && ra_on_host(self->device) &&
           buffer->buffer->nbytes <= RA_SPARE_BYTES && self->size && !self->read_only &&
           buffer->buffer->nbytes == (size_t)(self->size * ra_itemsize(self->type)) &&
           memcmp(compact, ra_strides(self), (size_t)self->ndim * sizeof *compact) == 0;
#endif
}

static void give_back(spare old)
{
    if (!old.buffer)
        return;
    ra_buffer_count_live(old.buffer->buffer, 0);
    Py_DECREF(old.view);
    Py_DECREF((PyObject *)old.buffer);
}

int ra_spare(ArrayObject *self)
{
    if (!is_reusable(self) || !ra_buffer_count_cached(self->buffer->buffer))
        return 0;
    spare *slot = &spares[next];
    spare old = *slot;
    next = (next + 1) % RA_SPARES;
    *slot = (spare){self->buffer, self->view, self->type, self->ndim, {0}};
    memcpy(slot->shape, ra_shape(self), (size_t)self->ndim * sizeof *slot->shape);
    give_back(old);
    return 1;
}

BufferObject *ra_take_spare(const ra_dtype *dtype, int32_t ndim, const int64_t *shape,
                            PyObject **view)
{
    for (int i = 0; i < RA_SPARES; i++) {
        spare *slot = &spares[i];
        if (slot->dtype != dtype || slot->ndim != ndim ||
            memcmp(slot->shape, shape, (size_t)ndim * sizeof *shape) != 0)
            continue;
        BufferObject *buffer = slot->buffer;
        *view = slot->view;
        *slot = (spare){0};
        ra_buffer_count_live(buffer->buffer, 1);
        return buffer;
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
