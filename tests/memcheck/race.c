/* memory.c without its lock: a fault on purpose, which ThreadSanitizer must report. */
#define _GNU_SOURCE
#include <pthread.h>

#define pthread_mutex_lock(mutex) ((void)(mutex))
#define pthread_mutex_unlock(mutex) ((void)(mutex))
#include "memory.c"
