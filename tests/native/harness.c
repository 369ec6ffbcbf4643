/* memory.c and tensor.c without Python: threads that allocate, share, export, import and
 * free, and a count at the end. Exit status 0 when everything came back. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deferred.h"
#include "tensor.h"

#define THREADS 8
#define ROUNDS 20000
#define DEVICE_ROUNDS 2000

static void fail(const char *what)
{
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

/* One exchange: a buffer, its export, the import of that, dropped in either order. */
static void exchange(size_t nbytes, int versioned, int consumer_first)
{
    ra_buffer *buffer = ra_buffer_new(nbytes, 1);
    if (!buffer || (uintptr_t)buffer->address % RA_ALIGNMENT)
        fail("allocation");
    if (buffer->address[0] || buffer->address[nbytes - 1])
        fail("zeroed memory");
    memset(buffer->address, 7, nbytes);

    int64_t shape[1] = {(int64_t)nbytes}, strides[1] = {1};
    DLTensor tensor = {buffer->address, {kDLCPU, 0}, 1, {kDLUInt, 8, 1}, shape, strides, 0};
    void *managed = ra_export(buffer, &tensor, versioned, 0);
    const DLTensor *seen = versioned ? &((DLManagedTensorVersioned *)managed)->dl_tensor
                                     : &((DLManagedTensor *)managed)->dl_tensor;
    ra_tensor_copy copy;
    ra_copy_tensor(seen, 0, &copy);
    if (ra_check_tensor(&copy, 1) || copy.first != buffer->address)
        fail("checking our own tensor");
    ra_buffer *imported = ra_import(managed, versioned, &copy);
    if (consumer_first) {
        ra_buffer_let_go(imported);
        ra_buffer_let_go(buffer);
    } else {
        ra_buffer_let_go(buffer);
        if (imported->address[nbytes / 2] != 7)
            fail("memory that the export keeps alive");
        ra_buffer_let_go(imported);
    }
}

/* The same with memory of a device: nothing is given back here, both ends leave notes. */
static void exchange_on_device(int versioned, int consumer_first)
{
    static char memory[64];
    ra_buffer *buffer = ra_buffer_of_device(sizeof memory);
    if (!buffer)
        fail("a buffer of a device");
    buffer->address = memory;
    int64_t shape[1] = {sizeof memory}, strides[1] = {1};
    DLTensor tensor = {memory, {kDLCUDA, 0}, 1, {kDLUInt, 8, 1}, shape, strides, 0};
    void *managed = ra_export(buffer, &tensor, versioned, 0);
    ra_tensor_copy copy;
    ra_copy_tensor(&tensor, 0, &copy);
    if (ra_check_tensor(&copy, 1))
        fail("checking a tensor on a device");
    ra_buffer *imported = ra_import_of_device(managed, versioned, &copy);
    if (!ra_deferred_note(imported) || ra_exported_buffer(managed, versioned) != buffer)
        fail("knowing our own memory again");
    ra_buffer_let_go(consumer_first ? imported : buffer);
    ra_buffer_let_go(consumer_first ? buffer : imported);
}

/* Memory that is passed on many times: each buffer owns the tensor over the one before. */
#define LINKS 1000000

static void release_a_chain(void)
{
    ra_buffer *last = ra_buffer_new(8, 1);
    int64_t shape[1] = {8}, strides[1] = {1};
    DLTensor tensor = {last->address, {kDLCPU, 0}, 1, {kDLUInt, 8, 1}, shape, strides, 0};
    ra_tensor_copy copy;
    ra_copy_tensor(&tensor, 0, &copy);
    if (ra_check_tensor(&copy, 1))
        fail("checking a tensor of a chain");
    for (int i = 0; i < LINKS; i++) {
        ra_buffer *next = ra_import(ra_export(last, &tensor, i & 1, 0), i & 1, &copy);
        ra_buffer_let_go(last);
        last = next;
    }
    ra_buffer_let_go(last);
}

static atomic_int running = THREADS;

/* Finish what others leave notes of, until there is nothing more to come. */
static void *drain(void *argument)
{
    long *finished = argument;
    for (int last = 0; !last;) {
        last = !atomic_load(&running);
        for (ra_deferred *note = ra_deferred_take(), *next; note; note = next, last = 0) {
            next = note->next;
            if (!note->managed && !note->exported)
                fail("a note that does not know of the export");
            ra_deferred_finish(note);
            ++*finished;
        }
    }
    return NULL;
}

static void *work(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1664525u + 1013904223u;
        size_t nbytes = 1 + (seed >> 8) % ((i % 500) ? 5000 : 3000000);
        exchange(nbytes, (seed >> 4) & 1, (seed >> 5) & 1);
        if (i % 1000 == 0)
            ra_cache_set_limit((seed >> 3) % 5000000);
        if (i % 3000 == 0)
            ra_cache_empty();
        if (i < DEVICE_ROUNDS)
            exchange_on_device((seed >> 6) & 1, (seed >> 7) & 1);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS], drainer;
    long finished = 0;
    ra_memory_init();
    pthread_create(&drainer, NULL, drain, &finished);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(drainer, NULL);
    release_a_chain();
    ra_cache_empty();
    if (finished != 2l * THREADS * DEVICE_ROUNDS)
        fail("notes are missing");

    ra_statistics s;
    ra_memory_statistics(&s);
    if (s.live_bytes || s.live_buffers || s.cached_bytes)
        fail("memory is left");
    if (s.exported != THREADS * (ROUNDS + DEVICE_ROUNDS) + LINKS || s.exports_deleted != s.exported ||
        s.imported != s.exported || s.imports_deleted != s.imported)
        fail("deleters do not balance");
    printf("%lld exchanges on %d threads, nothing left\n", (long long)s.exported, THREADS);
    return 0;
}
