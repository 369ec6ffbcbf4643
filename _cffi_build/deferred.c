/* The list of memory to give back: see deferred.h. Next: objects.h, where Python begins. */
#include "deferred.h"

#include <stdlib.h>

static _Atomic(ra_deferred *) newest;

static void put(ra_deferred *note)
{
    note->next = atomic_load_explicit(&newest, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&newest, &note->next, note,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

/* Runs where the last one lets go. The note was made with the buffer, so that nothing can
 * fail here. */
static void release_later(ra_buffer *self)
{
    ra_deferred *note = self->owner;
    note->exported = atomic_load_explicit(&self->exported, memory_order_relaxed);
    put(note);
}

static ra_buffer *wrap(char *address, size_t nbytes, const char *kind, uint64_t flags,
                       ra_deferred note)
{
    ra_deferred *kept = malloc(sizeof *kept);
    if (!kept)
        return NULL;
    *kept = note;
    ra_buffer *buffer = ra_buffer_wrap(address, nbytes, kind, flags, kept, release_later);
    if (!buffer)
        free(kept);
    return buffer;
}

ra_buffer *ra_buffer_of_device(size_t nbytes)
{
    return wrap(NULL, nbytes, "device", 0, (ra_deferred){0});
}

const ra_deferred *ra_deferred_note(const ra_buffer *buffer)
{
    return buffer->release == release_later ? buffer->owner : NULL;
}

ra_buffer *ra_import_of_device(void *managed, int versioned, const ra_tensor_copy *copy)
{
    ra_buffer *buffer = wrap(
        copy->first ? copy->first + copy->extent.low : NULL,
        (size_t)(copy->extent.high - copy->extent.low), "imported", copy->flags,
        (ra_deferred){.managed = managed, .versioned = versioned});
    if (buffer)
        ra_count(RA_IMPORTED);
    return buffer;
}

void ra_undo_import_of_device(ra_buffer *buffer)
{
    ra_deferred *note = buffer->owner;
    buffer->owner = NULL;
    free(note);
    ra_undo_import(buffer);
}

ra_deferred *ra_deferred_take(void)
{
    ra_deferred *note = atomic_exchange_explicit(&newest, NULL, memory_order_acquire);
    ra_deferred *oldest = NULL;
    while (note) {
        ra_deferred *next = note->next;
        note->next = oldest;
        oldest = note;
        note = next;
    }
    return oldest;
}

void ra_deferred_put_back(ra_deferred *notes)
{
    while (notes) {
        ra_deferred *next = notes->next;
        put(notes);
        notes = next;
    }
}

void ra_deferred_finish(ra_deferred *note)
{
    if (note->managed) {
        ra_delete(note->managed, note->versioned);
        ra_count(RA_IMPORT_DELETED);
    }
    free(note);
}
