/* How each function of the fake begins: one call at a time, arguments checked. */
#ifndef FAKECUDA_CALLS_H
#define FAKECUDA_CALLS_H

#include "model.h"

#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

extern pthread_mutex_t mutex; /* recursive: a stream's host function may call, too */
extern pid_t initialised_by;

void unlock(int *unused);
CUcontext current(void); /* of this thread, or NULL */
CUresult allocate(enum Place place, size_t nbytes, int device, Memory **result);

#define LOCK()                                                                       \
    __attribute__((cleanup(unlock), unused)) int locked = pthread_mutex_lock(&mutex)
#define REQUIRE(condition, error)                                                    \
    if (!(condition))                                                                \
        return error
/* A child of fork cannot use what its parent initialised. */
#define INITIALISED()                                                                \
    LOCK();                                                                          \
    REQUIRE(initialised_by == getpid(), CUDA_ERROR_NOT_INITIALIZED)
#define WITH_CONTEXT()                                                               \
    INITIALISED();                                                                   \
    CUcontext context = current();                                                   \
    REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT)
#define WITH_STREAM(handle)                                                          \
    WITH_CONTEXT();                                                                  \
    CUstream on = usable_stream(handle, context->device);                            \
    REQUIRE(on, CUDA_ERROR_INVALID_HANDLE)
#define WITH_MEMORY(name, address, nbytes)                                           \
    Memory *name = find_memory(address, nbytes);                                     \
    REQUIRE(name, CUDA_ERROR_INVALID_VALUE)

#endif
