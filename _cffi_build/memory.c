/* Host memory. See memory.h for what each function promises. Next: tensor.h. */
#define _GNU_SOURCE     /* MAP_ANONYMOUS, MADV_HUGEPAGE */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include "system.h"

#ifdef _WIN32
#include <malloc.h>
#else
#include <sys/mman.h>
#endif

/* ---- Blocks from the system --------------------------------------------------------- */

#ifdef _WIN32

static void *system_small(size_t size) { return _aligned_malloc(size, RA_ALIGNMENT); }

/* Reserve one huge page more than needed, and use the aligned part. What is reserved only
 * costs no memory. The pages are zero. */
static void *system_large(size_t size)
{
    char *raw = VirtualAlloc(NULL, size + RA_HUGE_PAGE, MEM_RESERVE, PAGE_NOACCESS);
    if (!raw)
        return NULL;
    char *block = raw + (0 - (uintptr_t)raw) % RA_HUGE_PAGE;
    if (VirtualAlloc(block, size, MEM_COMMIT, PAGE_READWRITE))
        return block;
    VirtualFree(raw, 0, MEM_RELEASE);
    return NULL;
}

static void system_free(void *block, size_t size)
{
    MEMORY_BASIC_INFORMATION pages;
    if (size < RA_HUGE_PAGE)
        _aligned_free(block);
    else if (VirtualQuery(block, &pages, sizeof pages))
        VirtualFree(pages.AllocationBase, 0, MEM_RELEASE);
}

#else

static void *system_small(size_t size)
{
    void *block = NULL;
    return posix_memalign(&block, RA_ALIGNMENT, size) == 0 ? block : NULL;
}

/* Map one huge page more than needed, then give back what sticks out on either side of the
 * aligned part. The pages are zero, and cost nothing until they are touched. */
static void *system_large(size_t size)
{
    char *raw = mmap(NULL, size + RA_HUGE_PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    size_t head = -(uintptr_t)raw % RA_HUGE_PAGE;
    if (head)
        munmap(raw, head);
    munmap(raw + head + size, RA_HUGE_PAGE - head);
#ifdef MADV_HUGEPAGE
    /* Without it a fresh 80 MB result is three times slower: 19,534 page faults. */
    madvise(raw + head, size, MADV_HUGEPAGE);
#endif
    return raw + head;
}

static void system_free(void *block, size_t size)
{
    if (size >= RA_HUGE_PAGE)
        munmap(block, size);
    else
        free(block);
}

#endif

/* ---- Size classes ------------------------------------------------------------------- */

/* Four classes to each doubling, so that at most a quarter of a block is spare:
 * 64 128 192 256 | 320 384 448 512 | 640 768 896 1024 | ... */
#define CLASSES 224      /* enough for 2**62 bytes */

static unsigned size_class(size_t nbytes, size_t *block_size)
{
    size_t units = (nbytes + RA_ALIGNMENT - 1) / RA_ALIGNMENT;
    if (units < 1)
        units = 1;
    unsigned shift = 0;
    while (((units - 1) >> shift) >= 8)
        shift++;
    size_t steps = ((units - 1) >> shift) + 1;
    *block_size = (steps << shift) * RA_ALIGNMENT;
    return shift * 4 + (unsigned)steps - 1;
}

/* ---- The cache ---------------------------------------------------------------------- */

/* A free block holds the link to the next one of its class. */
typedef struct free_block {
    struct free_block *next;
    size_t size;
} free_block;

static ra_lock lock = RA_LOCK_INIT;
static free_block *cache[CLASSES];
static size_t cached_bytes;
static size_t cache_limit = RA_DEFAULT_CACHE_LIMIT;
static int64_t cache_hits, cache_misses;

static _Atomic int64_t live_bytes, live_buffers;
static _Atomic int64_t events[4];

/* A child of fork has only the forking thread. Had another thread held the lock at that
 * moment, the child's first allocation would wait for ever; so fork takes the lock. */
static void before_fork(void) { ra_lock_take(&lock); }
static void after_fork(void) { ra_lock_give(&lock); }

void ra_memory_init(void)
{
    static _Atomic int is_done;
    if (!atomic_exchange(&is_done, 1))
        ra_at_fork(before_fork, after_fork);
}

static void free_list(free_block *block)
{
    while (block) {
        free_block *next = block->next;
        system_free(block, block->size);
        block = next;
    }
}

/* With the lock held: take blocks out, largest classes first and `keep` never, until
 * `wanted` more bytes fit under the limit. The caller frees what this returns. */
static free_block *make_room(size_t wanted, int keep)
{
    free_block *out = NULL;
    if (cached_bytes + wanted <= cache_limit)
        return NULL;
    for (int c = CLASSES - 1; c >= 0; c--) {
        while (c != keep && cache[c] && cached_bytes + wanted > cache_limit) {
            free_block *block = cache[c];
            cache[c] = block->next;
            cached_bytes -= block->size;
            block->next = out;
            out = block;
        }
    }
    return out;
}

void ra_cache_set_limit(size_t nbytes)
{
    ra_lock_take(&lock);
    cache_limit = nbytes;
    free_block *evicted = make_room(0, -1);
    ra_lock_give(&lock);
    free_list(evicted);
}

void ra_cache_empty(void)
{
    ra_lock_take(&lock);
    size_t limit = cache_limit;
    cache_limit = 0;
    free_block *evicted = make_room(0, -1);
    cache_limit = limit;
    ra_lock_give(&lock);
    free_list(evicted);
}

static void *take_cached(unsigned class)
{
    ra_lock_take(&lock);
    free_block *block = cache[class];
    if (block) {
        cache[class] = block->next;
        cached_bytes -= block->size;
        cache_hits++;
    } else {
        cache_misses++;
    }
    ra_lock_give(&lock);
    return block;
}

void *ra_block_new(size_t nbytes, int zeroed)
{
    if (nbytes > (size_t)PTRDIFF_MAX / 2)
        return NULL;
    size_t size;
    unsigned class = size_class(nbytes, &size);

    /* New pages are zero already and need no write until they are used. */
    if (zeroed && size >= RA_ZERO_FRESH)
        return system_large(size);

    void *block = take_cached(class);
    int dirty = 1;
    if (!block && size >= RA_HUGE_PAGE) {
        block = system_large(size);
        dirty = 0;
    } else if (!block) {
        block = system_small(size);
    }
    if (block && zeroed && dirty)
        memset(block, 0, nbytes);
    return block;
}

void ra_block_free(void *block, size_t nbytes)
{
    if (!block)
        return;
    size_t size;
    unsigned class = size_class(nbytes, &size);

    ra_lock_take(&lock);
    free_block *evicted = NULL;
    int cached = size <= cache_limit;
    if (cached) {
        evicted = make_room(size, (int)class);
        cached = cached_bytes + size <= cache_limit;
    }
    if (cached) {
        free_block *entry = block;
        entry->next = cache[class];
        entry->size = size;
        cache[class] = entry;
        cached_bytes += size;
    }
    ra_lock_give(&lock);

    free_list(evicted);
    if (!cached)
        system_free(block, size);
}

/* ---- Buffers ------------------------------------------------------------------------ */

static void count_live(const ra_buffer *self, int64_t sign)
{
    atomic_fetch_add_explicit(&live_bytes, sign * (int64_t)self->nbytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&live_buffers, sign, memory_order_relaxed);
}

static void release_host(ra_buffer *self)
{
    ra_block_free(self->address, self->nbytes);
    count_live(self, -1);
}

ra_buffer *ra_buffer_wrap(void *address, size_t nbytes, const char *kind, uint64_t flags,
                          void *owner, void (*release)(ra_buffer *))
{
    ra_buffer *self = malloc(sizeof *self);
    if (!self)
        return NULL;
    atomic_init(&self->references, 1);
    self->address = address;
    self->nbytes = nbytes;
    self->kind = kind;
    self->flags = flags;
    self->owner = owner;
    self->release = release;
    atomic_init(&self->exported, 0);
    self->keeps = self->object = NULL;
    self->next = NULL;
    return self;
}

ra_buffer *ra_buffer_new(size_t nbytes, int zeroed)
{
    void *block = ra_block_new(nbytes, zeroed);
    if (!block)
        return NULL;
    ra_buffer *self = ra_buffer_wrap(block, nbytes, "host", 0, NULL, release_host);
    if (!self) {
        ra_block_free(block, nbytes);
        return NULL;
    }
    count_live(self, 1);
    return self;
}

int ra_buffer_count_cached(ra_buffer *self)
{
    if (self->release != release_host || atomic_load(&self->references) != 1)
        return 0;
    size_t size;
    size_class(self->nbytes, &size);
    ra_lock_take(&lock);
    int fits = cached_bytes + size <= cache_limit;
    if (fits)
        cached_bytes += size;
    ra_lock_give(&lock);
    if (fits)
        count_live(self, -1);
    return fits;
}

void ra_buffer_count_live(ra_buffer *self, int reused)
{
    size_t size;
    size_class(self->nbytes, &size);
    ra_lock_take(&lock);
    cached_bytes -= size;
    cache_hits += reused;
    ra_lock_give(&lock);
    count_live(self, 1);
}

void ra_buffer_retain(ra_buffer *self)
{
    atomic_fetch_add_explicit(&self->references, 1, memory_order_relaxed);
}

static void release(ra_buffer *self)
{
    if (self->release)
        self->release(self);
    free(self);
}

/* Memory passed on many times is a chain: each owner holds the previous buffer. Releasing it
 * recursively would overflow the stack, so from this depth on buffers wait in a list until
 * the outermost release of this thread returns; also those that a finalizer there lets go. */
#define MAX_DEPTH 32
static RA_THREAD_LOCAL struct release_state {
    int depth;
    ra_buffer *waiting;
} releases;

static void release_in_turn(ra_buffer *self)
{
    struct release_state *these = &releases;    /* one look-up of the thread's own */
    if (these->depth == MAX_DEPTH) {
        self->next = these->waiting;
        these->waiting = self;
        return;
    }
    these->depth++;
    release(self);
    while (these->depth == 1 && these->waiting) {
        ra_buffer *next = these->waiting;
        these->waiting = next->next;
        release(next);
    }
    these->depth--;
}

void ra_buffer_let_go(ra_buffer *self)
{
    /* Release orders our writes before the free; acquire orders everybody else's. */
    if (atomic_fetch_sub_explicit(&self->references, 1, memory_order_acq_rel) != 1)
        return;
    if (self->owner)
        release_in_turn(self);
    else
        release(self);      /* of our own memory: it calls nobody, and cannot recurse */
}

/* ---- Counters ----------------------------------------------------------------------- */

void ra_count(ra_event event)
{
    atomic_fetch_add_explicit(&events[event], 1, memory_order_relaxed);
}

void ra_memory_statistics(ra_statistics *out)
{
    ra_lock_take(&lock);
    out->cached_bytes = (int64_t)cached_bytes;
    out->cache_limit = (int64_t)cache_limit;
    out->cache_hits = cache_hits;
    out->cache_misses = cache_misses;
    ra_lock_give(&lock);
    out->live_bytes = atomic_load(&live_bytes);
    out->live_buffers = atomic_load(&live_buffers);
    out->exported = atomic_load(&events[RA_EXPORTED]);
    out->exports_deleted = atomic_load(&events[RA_EXPORT_DELETED]);
    out->imported = atomic_load(&events[RA_IMPORTED]);
    out->imports_deleted = atomic_load(&events[RA_IMPORT_DELETED]);
}
