/* Tensors: see tensor.h for what each function promises. Next: deferred.h. */
#include "tensor.h"

#include <stdlib.h>
#include <string.h>

#include "system.h"

/* ---- Layouts ------------------------------------------------------------------------ */

/* The product wraps where it does not fit; ra_measure refuses such shapes. An empty axis
 * counts as one, for there is nothing to tell apart. */
static int64_t step_over(int64_t step, int64_t extent)
{
    return extent > 0 ? (int64_t)((uint64_t)step * (uint64_t)extent) : step;
}

void ra_compact_strides(int32_t ndim, const int64_t *shape, int64_t *strides)
{
    int64_t step = 1;
    for (int32_t i = ndim - 1; i >= 0; i--) {
        strides[i] = step;
        step = step_over(step, shape[i]);
    }
}

void ra_normalize_strides(int32_t ndim, const int64_t *shape, int64_t *strides)
{
    int64_t step = 1;
    int empty = 0;
    for (int32_t i = 0; i < ndim; i++)
        empty |= shape[i] == 0;
    for (int32_t i = ndim - 1; i >= 0; i--) {
        if (empty || shape[i] == 1)
            strides[i] = step;
        step = step_over(step, shape[i]);
    }
}

void ra_scramble_strides(int32_t ndim, const int64_t *shape, int64_t *strides,
                         uint64_t scramble)
{
    int empty = 0;
    for (int32_t i = 0; i < ndim; i++)
        empty |= shape[i] == 0;
    for (int32_t i = 0; i < ndim; i++) {
        /* A step of Knuth's linear congruential generator; its high bits are the good ones. */
        scramble = scramble * 6364136223846793005u + 1442695040888963407u;
        if (empty || shape[i] == 1)
            strides[i] = (int64_t)(scramble >> 44) - (1 << 19);
    }
}

const char *ra_measure(int32_t ndim, const int64_t *shape, const int64_t *strides,
                       int64_t itemsize, ra_extent *out)
{
    static const char too_large[] = "its shape and strides reach further than 2**63 - 1 bytes";
    int64_t size = 1, bytes = itemsize, low = 0, high = 0;

    for (int32_t i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return "its shape has a negative extent";
        /* Empty axes do not shrink the product: 2**62 x 2**62 x 0 is no honest shape. */
        if (shape[i] > 0 && ra_multiply(bytes, shape[i], &bytes))
            return "its shape holds more than 2**63 - 1 bytes";
        size *= shape[i];
    }
    if (size == 0) {
        *out = (ra_extent){0, 0, 0};
        return NULL;
    }
    for (int32_t i = 0; i < ndim; i++) {
        int64_t reach;
        if (ra_multiply(shape[i] - 1, strides[i], &reach) || ra_multiply(itemsize, reach, &reach))
            return too_large;
        int64_t *end = reach < 0 ? &low : &high;
        if ((reach < 0 && low < INT64_MIN / 2 - reach) ||
            (reach > 0 && high > INT64_MAX / 2 - reach))
            return too_large;
        *end += reach;
    }
    *out = (ra_extent){low, high + itemsize, size};
    return NULL;
}

const char *ra_check_place(const void *first, const ra_extent *extent)
{
    uintptr_t start = (uintptr_t)first;
    if ((uintptr_t)-extent->low >= start || (uintptr_t)extent->high > UINTPTR_MAX - start)
        return "its elements leave the address space";
    return NULL;
}

static const char *copy_layout(ra_tensor_copy *copy)
{
    DLTensor *tensor = &copy->tensor;
    const int64_t *shape = tensor->shape, *strides = tensor->strides;
    int32_t ndim = tensor->ndim;
    tensor->shape = copy->shape;
    tensor->strides = copy->strides;
    if (ndim < 0)
        return "its ndim is negative";
    if (ndim > RA_MAX_NDIM)
        return "it has more than 64 dimensions, refarray's limit";
    if (ndim > 0 && !shape)
        return "its shape is NULL though it has dimensions";
    if (ndim == 0)
        return NULL;
    memcpy(copy->shape, shape, (size_t)ndim * sizeof *shape);
    if (strides)
        memcpy(copy->strides, strides, (size_t)ndim * sizeof *strides);
    atomic_signal_fence(memory_order_seq_cst);
    if (!strides)
        ra_compact_strides(ndim, copy->shape, copy->strides);
    return NULL;
}

/* The fences keep the compiler from reading the original a second time instead of the copy,
 * which it may if it thinks that nobody writes to it. */
void ra_copy_tensor(const DLTensor *theirs, uint64_t flags, ra_tensor_copy *out)
{
    out->tensor = *theirs;
    out->flags = flags;
    atomic_signal_fence(memory_order_seq_cst);
    out->wrong = copy_layout(out);
}

const char *ra_check_tensor(ra_tensor_copy *copy, int64_t itemsize)
{
    const DLTensor *tensor = &copy->tensor;
    if (copy->wrong)
        return copy->wrong;
    const char *wrong =
        ra_measure(tensor->ndim, copy->shape, copy->strides, itemsize, &copy->extent);
    if (wrong)
        return wrong;

    copy->first = NULL;
    if (copy->extent.size == 0)
        return NULL;
    if (!tensor->data)
        return "its data is NULL though it has elements";
    uintptr_t base = (uintptr_t)tensor->data;
    if (tensor->byte_offset > (uint64_t)INT64_MAX || base > UINTPTR_MAX - tensor->byte_offset)
        return "its byte_offset leaves the address space";
    copy->first = (char *)(base + tensor->byte_offset);
    return ra_check_place(copy->first, &copy->extent);
}

/* ---- Exports ------------------------------------------------------------------------ */

/* One allocation holds the managed tensor and the extents it points to. The tensor is
 * filled once and wrapped in either form. */
typedef struct {
    union {
        DLManagedTensor legacy;
        DLManagedTensorVersioned versioned;
    } managed;
    int64_t extents[];      /* shape, then strides */
} export_block;

static void delete_legacy(DLManagedTensor *self)
{
    ra_buffer *buffer = self->manager_ctx;
    free(self);             /* the deleter frees the struct as well (dmlc/dlpack#39) */
    ra_buffer_let_go(buffer);
    ra_count(RA_EXPORT_DELETED);
}

static void delete_versioned(DLManagedTensorVersioned *self)
{
    ra_buffer *buffer = self->manager_ctx;
    free(self);
    ra_buffer_let_go(buffer);
    ra_count(RA_EXPORT_DELETED);
}

void *ra_export(ra_buffer *buffer, const DLTensor *tensor, int versioned, uint64_t flags)
{
    size_t ndim = (size_t)tensor->ndim;
    export_block *block = malloc(sizeof *block + 2 * ndim * sizeof(int64_t));
    if (!block)
        return NULL;

    DLTensor copy = *tensor;
    copy.shape = ndim ? block->extents : NULL;
    copy.strides = ndim ? block->extents + ndim : NULL;
    if (ndim) {
        memcpy(copy.shape, tensor->shape, ndim * sizeof(int64_t));
        memcpy(copy.strides, tensor->strides, ndim * sizeof(int64_t));
    }

    ra_buffer_retain(buffer);
    atomic_store_explicit(&buffer->exported, 1, memory_order_relaxed);
    if (versioned) {
        block->managed.versioned = (DLManagedTensorVersioned){
            .version = {RA_VERSION_MAJOR, RA_VERSION_MINOR},
            .manager_ctx = buffer,
            .deleter = delete_versioned,
            .flags = flags,
            .dl_tensor = copy,
        };
    } else {
        block->managed.legacy = (DLManagedTensor){
            .dl_tensor = copy,
            .manager_ctx = buffer,
            .deleter = delete_legacy,
        };
    }
    ra_count(RA_EXPORTED);
    return block;
}

/* ---- Imports ------------------------------------------------------------------------ */

void ra_delete(void *managed, int versioned)
{
    if (versioned) {
        DLManagedTensorVersioned *self = managed;
        if (self->deleter)
            self->deleter(self);
    } else {
        DLManagedTensor *self = managed;
        if (self->deleter)
            self->deleter(self);
    }
}

static void release_legacy(ra_buffer *self)
{
    ra_delete(self->owner, 0);
    ra_count(RA_IMPORT_DELETED);
}

static void release_versioned(ra_buffer *self)
{
    ra_delete(self->owner, 1);
    ra_count(RA_IMPORT_DELETED);
}

ra_buffer *ra_import(void *managed, int versioned, const ra_tensor_copy *copy)
{
    char *lowest = copy->first ? copy->first + copy->extent.low : NULL;
    ra_buffer *buffer = ra_buffer_wrap(
        lowest, (size_t)(copy->extent.high - copy->extent.low), "imported", copy->flags,
        managed, versioned ? release_versioned : release_legacy);
    if (buffer)
        ra_count(RA_IMPORTED);
    return buffer;
}

void ra_undo_import(ra_buffer *buffer)
{
    buffer->release = NULL;
    ra_buffer_let_go(buffer);
    ra_count(RA_IMPORT_DELETED);
}

void ra_delete_own(void *managed, int versioned)
{
    ra_count(RA_IMPORTED);
    ra_delete(managed, versioned);
    ra_count(RA_IMPORT_DELETED);
}

ra_buffer *ra_exported_buffer(const void *managed, int versioned)
{
    if (versioned) {
        const DLManagedTensorVersioned *self = managed;
        return self->deleter == delete_versioned ? self->manager_ctx : NULL;
    }
    const DLManagedTensor *self = managed;
    return self->deleter == delete_legacy ? self->manager_ctx : NULL;
}
