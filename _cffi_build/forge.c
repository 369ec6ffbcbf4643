/* The forge of refarray.testing: capsules with anything in them, and hands to hold the
 * capsules of other libraries.
 *
 * Destructor and deleter have to be C. Python functions in their place lose a pending
 * exception and crash after the interpreter has gone, and then the checker would blame a
 * consumer for its own faults. The structs themselves are filled from Python, through cffi.
 * Reading order: deleters, destructor, capsules, calling a deleter, watching a deleter.
 * Next: forge_exchange.h. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dlpack.h"
#include "forge.h"
#include "system.h"

static void count(int64_t *counter) { atomic_fetch_add((_Atomic int64_t *)counter, 1); }

/* ---- Deleters ----------------------------------------------------------------------- */

static void forge_delete(forge_case *self)
{
    count(&self->deleter_calls);
    if (self->deleter_kind == FORGE_DELETER_NEEDS_GIL && Py_IsInitialized())
        Py_XDECREF(PyList_New(0));
    else if (self->deleter_kind == FORGE_DELETER_TAKES_GIL) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_XDECREF(PyList_New(0));
        PyGILState_Release(state);
    }
    else if (self->deleter_kind == FORGE_DELETER_LOSES_ERROR && Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        PyErr_Clear();
        PyGILState_Release(state);
    }
}

void forge_delete_legacy(DLManagedTensor *self) { forge_delete(self->manager_ctx); }

void forge_delete_versioned(DLManagedTensorVersioned *self)
{
    forge_delete(self->manager_ctx);
}

/* ---- The destructor ----------------------------------------------------------------- */

static int is_unused(const char *name)
{
    return strcmp(name, "dltensor") == 0 || strcmp(name, "dltensor_versioned") == 0;
}

static void delete_managed(void *managed, int legacy)
{
    if (legacy)
        ((DLManagedTensor *)managed)->deleter(managed);
    else
        ((DLManagedTensorVersioned *)managed)->deleter(managed);
}

static int has_deleter(void *managed, int legacy)
{
    return legacy ? ((DLManagedTensor *)managed)->deleter != NULL
                  : ((DLManagedTensorVersioned *)managed)->deleter != NULL;
}

static void destroy(PyObject *capsule)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    forge_case *self = PyCapsule_GetContext(capsule);
    const char *name = PyCapsule_GetName(capsule);
    int kind = self->destructor_kind;
    count(&self->destructor_calls);
    if (name && strncmp(name, "used_", 5) == 0)
        count(&self->found_used);
    if (name && kind != FORGE_DESTRUCTOR_LEAKS
        && (is_unused(name) || kind == FORGE_DESTRUCTOR_IGNORES_NAME)) {
        /* The name may lie about the form; the address does not. */
        void *managed = PyCapsule_GetPointer(capsule, name);
        int legacy = managed == (void *)&self->legacy;
        if (has_deleter(managed, legacy) || kind == FORGE_DESTRUCTOR_TRUSTS_DELETER) {
            count(&self->deleter_calls_of_destructor);
            delete_managed(managed, legacy);
        }
    }
    PyErr_Restore(type, value, traceback);
    if (kind == FORGE_DESTRUCTOR_LOSES_ERROR)
        PyErr_Clear();
}

/* ---- Capsules ----------------------------------------------------------------------- */

/* A capsule keeps the pointer to its name, so names must outlive every capsule. The four
 * of the protocol are literals; any other is copied, and never freed. */
static const char *lasting_name(const char *name)
{
    static const char *const known[] = {
        "dltensor", "used_dltensor", "dltensor_versioned", "used_dltensor_versioned"};
    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i]) == 0)
            return known[i];
    return strdup(name);
}

static PyObject *make_capsule(PyObject *module, PyObject *args)
{
    unsigned long long managed, context;
    const char *name;
    int destructor, shared_name;
    if (!PyArg_ParseTuple(args, "KKzpp:make_capsule", &managed, &context, &name,
                          &destructor, &shared_name))
        return NULL;
    const char *kept = shared_name || !name ? lasting_name(name) : strdup(name);
    PyObject *capsule = PyCapsule_New((void *)(uintptr_t)managed, kept,
                                      destructor ? destroy : NULL);
    if (capsule && PyCapsule_SetContext(capsule, (void *)(uintptr_t)context))
        Py_CLEAR(capsule);
    return capsule;
}

static PyObject *read_capsule(PyObject *module, PyObject *capsule)
{
    if (!PyCapsule_CheckExact(capsule)) {
        PyErr_Format(PyExc_TypeError, "a capsule is needed, not %R", capsule);
        return NULL;
    }
    const char *name = PyCapsule_GetName(capsule);
    void *managed = PyCapsule_GetPointer(capsule, name);
    int destructor = PyCapsule_GetDestructor(capsule) != NULL;
    if (PyErr_Occurred())
        return NULL;
    return Py_BuildValue("zKKN", name, (unsigned long long)(uintptr_t)name,
                         (unsigned long long)(uintptr_t)managed,
                         PyBool_FromLong(destructor));
}

static PyObject *rename_capsule(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    const char *name;
    if (!PyArg_ParseTuple(args, "Oz:rename_capsule", &capsule, &name)
        || PyCapsule_SetName(capsule, lasting_name(name)))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *clear_destructor(PyObject *module, PyObject *capsule)
{
    if (PyCapsule_SetDestructor(capsule, NULL))
        return NULL;
    Py_RETURN_NONE;
}

/* Take the only item out of a list and let go of it while a KeyError is pending. True if
 * that very exception is still pending afterwards. */
static PyObject *drop_with_pending_error(PyObject *module, PyObject *list)
{
    if (!PyList_Check(list) || PyList_Size(list) != 1) {
        PyErr_SetString(PyExc_TypeError, "a list with one item is needed");
        return NULL;
    }
    PyObject *item = PyList_GetItem(list, 0);
    Py_INCREF(item);
    if (PyList_SetSlice(list, 0, 1, NULL)) {
        Py_DECREF(item);
        return NULL;
    }
    PyErr_SetString(PyExc_KeyError, "pending");
    Py_DECREF(item);
    int kept = PyErr_ExceptionMatches(PyExc_KeyError);
    PyErr_Clear();
    return PyBool_FromLong(kept);
}

/* ---- Calling a deleter -------------------------------------------------------------- */

typedef struct {
    void *managed;
    int legacy;
} call;

static void call_on_thread(void *argument)
{
    delete_managed(((call *)argument)->managed, ((call *)argument)->legacy);
}

static PyObject *call_deleter(PyObject *module, PyObject *args)
{
    unsigned long long address;
    call target;
    if (!PyArg_ParseTuple(args, "Kp:call_deleter", &address, &target.legacy))
        return NULL;
    target.managed = (void *)(uintptr_t)address;
    if (has_deleter(target.managed, target.legacy))
        delete_managed(target.managed, target.legacy);
    Py_RETURN_NONE;
}

static PyObject *call_deleter_with_pending_error(PyObject *module, PyObject *args)
{
    unsigned long long address;
    int legacy;
    if (!PyArg_ParseTuple(args, "Kp:call_deleter_with_pending_error", &address, &legacy))
        return NULL;
    PyErr_SetString(PyExc_KeyError, "pending");
    if (has_deleter((void *)(uintptr_t)address, legacy))
        delete_managed((void *)(uintptr_t)address, legacy);
    int kept = PyErr_ExceptionMatches(PyExc_KeyError);
    PyErr_Clear();
    return PyBool_FromLong(kept);
}

/* From a thread that Python has never seen and that holds no GIL. */
static PyObject *call_deleter_on_foreign_thread(PyObject *module, PyObject *args)
{
    unsigned long long address;
    call target;
    int failed;
    if (!PyArg_ParseTuple(args, "Kp:call_deleter_on_foreign_thread", &address,
                          &target.legacy))
        return NULL;
    target.managed = (void *)(uintptr_t)address;
    if (!has_deleter(target.managed, target.legacy))
        Py_RETURN_NONE;
    Py_BEGIN_ALLOW_THREADS
    failed = ra_run_on_thread(call_on_thread, &target);
    Py_END_ALLOW_THREADS
    if (failed) {
        PyErr_SetString(PyExc_RuntimeError, "no thread could be started");
        return NULL;
    }
    Py_RETURN_NONE;
}

/* After Python has gone: what exit() runs last. */
static call late_call;

static void call_late(void)
{
    if (Py_IsInitialized())
        return;
    delete_managed(late_call.managed, late_call.legacy);
    if (fputs("late deleter returned\n", stderr) < 0)
        _Exit(3);
}

static PyObject *call_deleter_after_exit(PyObject *module, PyObject *args)
{
    unsigned long long address;
    if (!PyArg_ParseTuple(args, "Kp:call_deleter_after_exit", &address,
                          &late_call.legacy))
        return NULL;
    late_call.managed = (void *)(uintptr_t)address;
    if (!has_deleter(late_call.managed, late_call.legacy) || atexit(call_late)) {
        PyErr_SetString(PyExc_RuntimeError, "no deleter to call at exit");
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- Watching a deleter ------------------------------------------------------------- */

/* A watch stands in front of the deleter of somebody else's tensor. It knows the tensor by
 * its address, leaves manager_ctx alone, counts one call, and puts the true deleter back
 * before it calls it. */
typedef struct watch {
    void *managed;
    void *deleter;
    int calls;
    struct watch *next;
} watch;

static ra_lock watch_lock = RA_LOCK_INIT;
static watch *watches;

static void *watched_deleter(void *managed)
{
    void *deleter = NULL;
    ra_lock_take(&watch_lock);
    for (watch *w = watches; w && !deleter; w = w->next)
        if (w->managed == managed && w->calls == 0) {
            w->calls = 1;
            deleter = w->deleter;
        }
    ra_lock_give(&watch_lock);
    return deleter;
}

static void watched_legacy(DLManagedTensor *self)
{
    self->deleter = (void (*)(DLManagedTensor *))watched_deleter(self);
    self->deleter(self);
}

static void watched_versioned(DLManagedTensorVersioned *self)
{
    self->deleter = (void (*)(DLManagedTensorVersioned *))watched_deleter(self);
    self->deleter(self);
}

static PyObject *watch_deleter(PyObject *module, PyObject *args)
{
    unsigned long long address;
    int legacy;
    if (!PyArg_ParseTuple(args, "Kp:watch_deleter", &address, &legacy))
        return NULL;
    watch *w = calloc(1, sizeof *w);
    if (!w)
        return PyErr_NoMemory();
    w->managed = (void *)(uintptr_t)address;
    if (legacy) {
        DLManagedTensor *managed = w->managed;
        w->deleter = (void *)managed->deleter;
        managed->deleter = watched_legacy;
    }
    else {
        DLManagedTensorVersioned *managed = w->managed;
        w->deleter = (void *)managed->deleter;
        managed->deleter = watched_versioned;
    }
    ra_lock_take(&watch_lock);
    w->next = watches;
    watches = w;
    ra_lock_give(&watch_lock);
    return PyLong_FromUnsignedLongLong((uintptr_t)w);
}

static PyObject *watched_calls(PyObject *module, PyObject *handle)
{
    unsigned long long address = PyLong_AsUnsignedLongLong(handle);
    if (PyErr_Occurred())
        return NULL;
    ra_lock_take(&watch_lock);
    int calls = ((watch *)(uintptr_t)address)->calls;
    ra_lock_give(&watch_lock);
    return PyLong_FromLong(calls);
}

/* ---- The functions, for Python ------------------------------------------------------ */

static PyMethodDef functions[] = {
    {"make_capsule", make_capsule, METH_VARARGS,
     "make_capsule(managed, case, name, destructor, shared_name): a new capsule."},
    {"read_capsule", read_capsule, METH_O,
     "read_capsule(capsule): (name, address of name, address of tensor, destructor?)."},
    {"rename_capsule", rename_capsule, METH_VARARGS,
     "rename_capsule(capsule, name): what a consumer does when it takes a tensor."},
    {"clear_destructor", clear_destructor, METH_O,
     "clear_destructor(capsule): what a consumer must not do in place of renaming."},
    {"drop_with_pending_error", drop_with_pending_error, METH_O,
     "drop_with_pending_error([object]): drop it during a KeyError; was that kept?"},
    {"call_deleter", call_deleter, METH_VARARGS,
     "call_deleter(managed, legacy): here, with the GIL."},
    {"call_deleter_with_pending_error", call_deleter_with_pending_error, METH_VARARGS,
     "call_deleter_with_pending_error(managed, legacy): was the KeyError kept?"},
    {"call_deleter_on_foreign_thread", call_deleter_on_foreign_thread, METH_VARARGS,
     "call_deleter_on_foreign_thread(managed, legacy): without the GIL."},
    {"call_deleter_after_exit", call_deleter_after_exit, METH_VARARGS,
     "call_deleter_after_exit(managed, legacy): when Python has gone."},
    {"watch_deleter", watch_deleter, METH_VARARGS,
     "watch_deleter(managed, legacy): count the deleter's calls; a handle."},
    {"watched_calls", watched_calls, METH_O,
     "watched_calls(handle): calls so far."},
    {NULL, NULL, 0, NULL}};

int forge_install(const char *module_name)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *module = PyImport_AddModule(module_name);
    int result = module ? PyModule_AddFunctions(module, functions) : -1;
    if (result)
        PyErr_Print();
    PyGILState_Release(state);
    return result;
}
