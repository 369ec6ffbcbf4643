/* Tracing: a capsule in place of another one, which writes down what becomes of it.
 *
 * The deleter runs on any thread, without the GIL, after the interpreter is gone. So events
 * go into room that was made with the record, under numbers from one atomic counter, and
 * nothing here calls Python but the making of the capsule and its destructor.
 *
 * Next: native.c. */
#include "objects.h"
#include "system.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#define ATOMIC(field) ((_Atomic int64_t *)&(field))     /* cffi does not read _Atomic */

int64_t ra_trace_next(void)
{
    static _Atomic int64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

/* A capsule knows its record by number, and holds none: some consumers take the destructor
 * away, and others drop the capsule long after the tensor. */
static ra_lock lock = RA_LOCK_INIT;
static ra_trace_record *records;

static void before_fork(void) { ra_lock_take(&lock); }
static void after_fork(void) { ra_lock_give(&lock); }

static void add(ra_trace_record *record)
{
    static int is_safe_across_fork;
    ra_lock_take(&lock);
    record->next = records;
    records = record;
    if (!is_safe_across_fork)
        is_safe_across_fork = !ra_at_fork(before_fork, after_fork);
    ra_lock_give(&lock);
}

static ra_trace_record *hold(int64_t number)
{
    ra_lock_take(&lock);
    ra_trace_record *record = records;
    while (record && record->number != number)
        record = record->next;
    if (record)
        record->holders++;
    ra_lock_give(&lock);
    return record;
}

void ra_trace_let_go(ra_trace_record *record)
{
    ra_lock_take(&lock);
    int is_last = --record->holders == 0;
    ra_trace_record **link = &records;
    while (is_last && *link != record)
        link = &(*link)->next;
    if (is_last)
        *link = record->next;
    ra_lock_give(&lock);
    if (is_last)
        free(record);
}

/* Whose destructor this thread is in. */
static RA_THREAD_LOCAL ra_trace_record *in_destructor_of;

static void note(ra_trace_record *record, int what, int name)
{
    int64_t i = atomic_fetch_add(ATOMIC(record->count), 1);
    if (i >= RA_TRACE_ROOM)
        return;
    ra_trace_event *event = &record->events[i];
    event->thread = (int64_t)PyThread_get_thread_native_id();
    event->what = what;
    event->name = name;
    event->by_destructor = in_destructor_of == record;
    event->outside = !Py_IsInitialized() || !PyGILState_GetThisThreadState();
    atomic_store(ATOMIC(event->order), ra_trace_next());
}

/* A second call is written down, and goes no further. */
static void delete_traced(ra_trace_record *record)
{
    note(record, RA_TRACE_DELETER, 0);
    if (atomic_fetch_add(ATOMIC(record->deleter_calls), 1))
        return;
    ra_delete(record->original, record->is_versioned);
    ra_trace_let_go(record);
}

static void delete_versioned(DLManagedTensorVersioned *self)
{
    delete_traced(self->manager_ctx);
}

static void delete_legacy(DLManagedTensor *self) { delete_traced(self->manager_ctx); }

/* As in export.c: the destructor acts on the first name only, and keeps an exception. */
static void destroy(PyObject *capsule)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    ra_trace_record *record = hold((int64_t)(intptr_t)PyCapsule_GetContext(capsule));
    if (record) {
        const char *const *ours = ra_capsule_names[record->is_versioned];
        const char *name = PyCapsule_GetName(capsule);
        int state = !name                        ? RA_TRACE_RENAMED
                    : strcmp(name, ours[0]) == 0 ? RA_TRACE_UNUSED
                    : strcmp(name, ours[1]) == 0 ? RA_TRACE_USED
                                                 : RA_TRACE_RENAMED;
        note(record, RA_TRACE_DROPPED, state);
        if (state == RA_TRACE_UNUSED) {
            ra_trace_record *outer = in_destructor_of;  /* a deleter may drop capsules */
            in_destructor_of = record;
            delete_traced(record);
            in_destructor_of = outer;
        }
        ra_trace_let_go(record);
    }
    PyErr_Restore(type, value, traceback);
}

static ra_trace_record *new_record(void *original, int versioned)
{
    ra_trace_record *record = calloc(1, sizeof *record);
    if (!record)
        return NULL;
    record->holders = 2;
    record->number = ra_trace_next();
    record->original = original;
    record->is_versioned = versioned;
    if (versioned) {
        record->versioned = *(DLManagedTensorVersioned *)original;
        record->versioned.manager_ctx = record;
        record->versioned.deleter = delete_versioned;
    } else {
        record->legacy = *(DLManagedTensor *)original;
        record->legacy.manager_ctx = record;
        record->legacy.deleter = delete_legacy;
    }
    return record;
}

static PyObject *trace_capsule(PyObject *capsule)
{
    int versioned = PyCapsule_IsValid(capsule, ra_capsule_names[1][0]);
    void *original = PyCapsule_GetPointer(capsule, ra_capsule_names[versioned][0]);
    if (!original)
        return NULL;            /* ValueError: consumed, or of another kind */
    if (versioned && ((DLManagedTensorVersioned *)original)->version.major != RA_VERSION_MAJOR) {
        PyErr_SetString(PyExc_ValueError, "another major version may have another layout");
        return NULL;
    }
    ra_trace_record *record = new_record(original, versioned);
    if (!record)
        return PyErr_NoMemory();
    PyObject *traced = PyCapsule_New(versioned ? (void *)&record->versioned : &record->legacy,
                                     ra_capsule_names[versioned][0], NULL);
    PyObject *answer = traced ? Py_BuildValue("NN", traced, PyLong_FromVoidPtr(record)) : NULL;
    /* From the moment that the original is renamed, the memory is ours to give back: after
     * it nothing can fail. */
    if (!answer || PyCapsule_SetContext(traced, (void *)(intptr_t)record->number) < 0 ||
        PyCapsule_SetName(capsule, ra_capsule_names[versioned][1]) < 0) {
        Py_XDECREF(answer);
        free(record);
        return NULL;
    }
    add(record);
    PyCapsule_SetDestructor(traced, destroy);
    return answer;
}

PyObject *ra_py_trace_capsule(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 1 || !PyCapsule_CheckExact(args[0])) {
        PyErr_SetString(PyExc_TypeError, "trace_capsule(capsule)");
        return NULL;
    }
    PyObject *answer;
    Py_BEGIN_CRITICAL_SECTION(args[0]);
    answer = trace_capsule(args[0]);
    Py_END_CRITICAL_SECTION();
    return answer;
}
