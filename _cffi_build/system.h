/* What systems and compilers call by different names: locks, fork, threads, arithmetic that
 * notices an overflow. POSIX, and Windows with MSVC, Clang or MinGW; atomics are C11's on
 * all of them. Memory from the system is in memory.c. Next: memory.h. */
#ifndef REFARRAY_SYSTEM_H
#define REFARRAY_SYSTEM_H

#include <stdint.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <pthread.h>
#endif

/* ---- Locks, and what happens to them in a child of fork -------------------------------- */

#ifdef _WIN32

typedef SRWLOCK ra_lock;
#define RA_LOCK_INIT SRWLOCK_INIT
static inline void ra_lock_take(ra_lock *lock) { AcquireSRWLockExclusive(lock); }
static inline void ra_lock_give(ra_lock *lock) { ReleaseSRWLockExclusive(lock); }

/* There is no fork. */
static inline int ra_at_fork(void (*before)(void), void (*after)(void))
{
    (void)before;
    (void)after;
    return 0;
}

#else

typedef pthread_mutex_t ra_lock;
#define RA_LOCK_INIT PTHREAD_MUTEX_INITIALIZER
static inline void ra_lock_take(ra_lock *lock) { pthread_mutex_lock(lock); }
static inline void ra_lock_give(ra_lock *lock) { pthread_mutex_unlock(lock); }

/* Call `before` in the parent before each fork, `after` in both after it; 0 if they will. */
static inline int ra_at_fork(void (*before)(void), void (*after)(void))
{
    return pthread_atfork(before, after, after);
}

#endif

/* ---- Threads ---------------------------------------------------------------------------- */

#if defined(_MSC_VER) && !defined(__clang__)
#define RA_THREAD_LOCAL __declspec(thread)
#else
#define RA_THREAD_LOCAL _Thread_local
#endif

/* Run work(argument) on a new thread, and wait for its end. Returns 0, or an error. */
typedef struct {
    void (*work)(void *argument);
    void *argument;
} ra_task;

#ifdef _WIN32

static inline DWORD WINAPI ra_run_task(void *task)
{
    ((ra_task *)task)->work(((ra_task *)task)->argument);
    return 0;
}

static inline int ra_run_on_thread(void (*work)(void *), void *argument)
{
    ra_task task = {work, argument};
    HANDLE thread = CreateThread(NULL, 0, ra_run_task, &task, 0, NULL);
    if (!thread)
        return 1;
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
    return 0;
}

#else

static inline void *ra_run_task(void *task)
{
    ((ra_task *)task)->work(((ra_task *)task)->argument);
    return NULL;
}

static inline int ra_run_on_thread(void (*work)(void *), void *argument)
{
    ra_task task = {work, argument};
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, ra_run_task, &task);
    if (!failed)
        pthread_join(thread, NULL);
    return failed;
}

#endif

/* ---- Arithmetic ------------------------------------------------------------------------- */

/* a + b and a * b for a >= 0, any b. Return 0, or 1 when the result does not fit. */
#if defined(__GNUC__) || defined(__clang__)

static inline int ra_add(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_add_overflow(a, b, out);
}

static inline int ra_multiply(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_mul_overflow(a, b, out);   /* three divisions for each axis less */
}

#else

static inline int ra_add(int64_t a, int64_t b, int64_t *out)
{
    if (b > INT64_MAX - a)
        return 1;
    *out = a + b;
    return 0;
}

static inline int ra_multiply(int64_t a, int64_t b, int64_t *out)
{
    if (a != 0 && (b > INT64_MAX / a || b < -(INT64_MAX / a)))
        return 1;
    *out = a * b;
    return 0;
}

#endif

#endif
