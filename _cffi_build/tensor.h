/* Tensors in the sense of DLPack: checking the ones we are given, making the ones we give.
 * No Python here either; the deleter of an export runs on any thread, at any time.
 * Next: tensor.c. */
#ifndef REFARRAY_TENSOR_H
#define REFARRAY_TENSOR_H

#include <stdint.h>
#include "dlpack.h"
#include "check_layout.h"
#include "memory.h"

#define RA_MAX_NDIM 64                  /* NumPy's limit too */
#define RA_VERSION_MAJOR 1
#define RA_VERSION_MINOR 3

#define RA_FLAG_READ_ONLY ((uint64_t)1 << 0)
#define RA_FLAG_IS_COPIED ((uint64_t)1 << 1)

/* Bytes from the first element to the lowest and one past the highest byte in reach. */
typedef struct {
    int64_t low;
    int64_t high;
    int64_t size;       /* elements */
} ra_extent;

/* Write row-major strides, in elements. */
void ra_compact_strides(int32_t ndim, const int64_t *shape, int64_t *strides);

/* Strides of an axis with one element, and of an empty array, are never used to move; give
 * them the value a compact array would have, since consumers compare (numpy#20336). */
void ra_normalize_strides(int32_t ndim, const int64_t *shape, int64_t *strides);

/* Or any value at all, to find out who looks: `scramble`, not 0, says which. */
void ra_scramble_strides(int32_t ndim, const int64_t *shape, int64_t *strides,
                         uint64_t scramble);

/* Measure a layout. Returns NULL, or what is wrong with it. */
const char *ra_measure(int32_t ndim, const int64_t *shape, const int64_t *strides,
                       int64_t itemsize, ra_extent *out);

/* Check that there are addresses, and none of them NULL, for all elements: some. Returns
 * NULL, or what is wrong. */
const char *ra_check_place(const void *first, const ra_extent *extent);

/* A copy of all that a tensor says. Its producer can change the original at any
 * time: from another thread, or from a finalizer that runs while we check. So everything is
 * read once, the copy is checked, and only the copy is used. */
typedef struct {
    DLTensor tensor;        /* its shape and strides point to the arrays below */
    uint64_t flags;         /* of the managed tensor; 0 for the legacy form, which has none */
    int64_t shape[RA_MAX_NDIM];
    int64_t strides[RA_MAX_NDIM];   /* written out where the producer gave NULL */
    ra_extent extent;       /* this and the next: set by ra_check_tensor */
    char *first;            /* first element; NULL if there are none */
    const char *wrong;      /* why shape and strides could not be copied, or NULL */
} ra_tensor_copy;

void ra_copy_tensor(const DLTensor *theirs, uint64_t flags, ra_tensor_copy *out);

/* Check everything about a copied tensor that does not depend on its dtype and device being
 * known, and measure it. Returns NULL, or what is wrong. */
const char *ra_check_tensor(ra_tensor_copy *copy, int64_t itemsize);

/* A managed tensor over memory of `buffer`, which it keeps alive: versioned, or legacy.
 * NULL when out of memory. */
void *ra_export(ra_buffer *buffer, const DLTensor *tensor, int versioned, uint64_t flags);

/* A buffer over the memory of a managed tensor that is ours from now on; its deleter runs
 * once, when the buffer is let go for the last time. `copy` is what ra_check_tensor found
 * right. NULL when out of memory, and then nothing was taken over. */
ra_buffer *ra_import(void *managed, int versioned, const ra_tensor_copy *copy);

/* Undo that: free the buffer, and leave the managed tensor to the caller. */
void ra_undo_import(ra_buffer *buffer);

/* Import a managed tensor made by ra_export, whose buffer the importer has retained: call its
 * deleter at once. Memory passed on many times stays one buffer this way, not a chain of them. */
void ra_delete_own(void *managed, int versioned);

/* Call the deleter of a managed tensor; without one (NULL) there is nothing to give back. */
void ra_delete(void *managed, int versioned);

/* The buffer behind a managed tensor of ours, or NULL. */
ra_buffer *ra_exported_buffer(const void *managed, int versioned);

#endif
