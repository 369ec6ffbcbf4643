/* Giving memory of a device back, later. No Python, and no call of a driver.
 *
 * A deleter runs on any thread, under any lock, at any time; a driver may be called from
 * few of them, and memory may be given back only when the work on it is done. So letting
 * go of such memory puts a note on a list without a lock, and does nothing else. Whoever
 * may call the driver takes the list from time to time: refarray/_memory/device.py.
 * Next: deferred.c. */
#ifndef REFARRAY_DEFERRED_H
#define REFARRAY_DEFERRED_H

#include "tensor.h"

typedef struct ra_deferred {
    struct ra_deferred *next;
    void *managed;          /* a producer's tensor, whose deleter is to be called; or NULL */
    int versioned;
    int exported;           /* others may know the address */
} ra_deferred;

/* A buffer for memory that a device shall give: made before there is any, so that nothing
 * can fail once there is. Set its address, or let go of it. NULL: out of memory. */
ra_buffer *ra_buffer_of_device(size_t nbytes);

/* The note that is queued when the buffer is released, which stands for its memory; NULL for
 * host memory. */
const ra_deferred *ra_deferred_note(const ra_buffer *buffer);

/* As ra_import and ra_undo_import, for memory of a device. */
ra_buffer *ra_import_of_device(void *managed, int versioned, const ra_tensor_copy *copy);
void ra_undo_import_of_device(ra_buffer *buffer);

/* Everything that was let go since the last time, in the order of that, or NULL. */
ra_deferred *ra_deferred_take(void);

/* Leave to the next time what cannot be seen to now: the rest of a list that was taken. */
void ra_deferred_put_back(ra_deferred *notes);

/* Call the producer's deleter, if there is a producer, and free the note. */
void ra_deferred_finish(ra_deferred *note);

#endif
