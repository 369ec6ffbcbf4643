/* Host memory: blocks, and the counted buffers that own them. No Python here: every
 * function may be called from any thread, with or without the GIL, before and after the
 * interpreter lives. Next: memory.c. */
#ifndef REFARRAY_MEMORY_H
#define REFARRAY_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "interface.h"

#define RA_ALIGNMENT ((size_t)64)                /* what JAX needs to share, not copy */
#define RA_HUGE_PAGE ((size_t)2 << 20)           /* blocks from here up lie on huge pages */
#define RA_ZERO_FRESH ((size_t)32 << 20)         /* from here up, new pages beat memset */
#define RA_DEFAULT_CACHE_LIMIT ((size_t)256 << 20)

/* Once, before anything else: fork handlers. */
void ra_memory_init(void);

/* A block of at least nbytes, RA_ALIGNMENT-aligned (RA_HUGE_PAGE-aligned from that size
 * up), zeroed on request. NULL when the system has no memory. */
void *ra_block_new(size_t nbytes, int zeroed);
void ra_block_free(void *block, size_t nbytes);

/* Memory somebody owns. The count is atomic; whoever lets go last runs `release`, which
 * gives back the memory, not the struct. Imported memory is this same struct with the
 * producer's managed tensor as owner and another release. */
typedef struct ra_buffer {
    _Atomic int64_t references;
    char *address;          /* the lowest byte */
    size_t nbytes;          /* the extent: nothing of this buffer lies outside */
    const char *kind;       /* whose it is: see Buffer.kind in buffer.c */
    uint64_t flags;         /* as DLPack gave them: RA_FLAG_... of tensor.h */
    void *owner;
    void (*release)(struct ra_buffer *self);
    _Atomic int exported;   /* whether anybody outside was ever given the address */
    void *keeps;            /* the Python object that `owner` keeps alive, or NULL; buffer.c
                             * shows it to the garbage collector */
    void *object;           /* the Python object that holds such a buffer, or NULL; borrowed */
    struct ra_buffer *next; /* in the list of buffers that wait for their release */
} ra_buffer;

ra_buffer *ra_buffer_new(size_t nbytes, int zeroed);    /* NULL: out of memory */
ra_buffer *ra_buffer_wrap(void *address, size_t nbytes, const char *kind, uint64_t flags,
                          void *owner, void (*release)(ra_buffer *));
void ra_buffer_retain(ra_buffer *buffer);
void ra_buffer_let_go(ra_buffer *buffer);

/* Count memory of ours which is kept for reuse as cached: 0 if the limit forbids it, or if
 * others hold the buffer or own the memory. And as live again, reused or not. */
int ra_buffer_count_cached(ra_buffer *buffer);
void ra_buffer_count_live(ra_buffer *buffer, int reused);

/* Counters of the exchange live here so that one call reads them all. */
typedef enum { RA_EXPORTED, RA_EXPORT_DELETED, RA_IMPORTED, RA_IMPORT_DELETED } ra_event;
void ra_count(ra_event event);

#endif
