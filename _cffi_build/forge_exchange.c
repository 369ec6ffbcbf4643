/* Exchange tables: functions for forged ones, and calls into those of other libraries.
 *
 * The calls stand here and not in Python because they must hold the GIL and look at the
 * exception themselves; cffi would let go of the one and trip over the other.
 * Reading order: right functions, wrong functions, calling a table. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "dlpack.h"
#include "forge.h"
#include "forge_exchange.h"

static const char FRESH[] = "dltensor_versioned";
static const char USED[] = "used_dltensor_versioned";

/* ---- Right -------------------------------------------------------------------------- */

/* Python functions of library.py, set once: make an object over the tensor at an
 * address, and the address of a new tensor like the one at an address. */
static PyObject *make_object;
static PyObject *make_tensor;

static PyObject *set_hooks(PyObject *module, PyObject *args)
{
    PyObject *object, *tensor;
    if (!PyArg_ParseTuple(args, "OO:set_hooks", &object, &tensor))
        return NULL;
    Py_INCREF(object);
    Py_INCREF(tensor);
    make_object = object;
    make_tensor = tensor;
    Py_RETURN_NONE;
}

int forge_from_object(void *object, DLManagedTensorVersioned **out)
{
    PyObject *capsule = PyObject_CallMethod(object, "exchange_capsule", NULL);
    if (!capsule)
        return -1;
    *out = PyCapsule_GetPointer(capsule, FRESH);
    int failed = *out == NULL || PyCapsule_SetName(capsule, USED);
    Py_DECREF(capsule);
    return failed ? -1 : 0;
}

int forge_to_object(DLManagedTensorVersioned *tensor, void **out)
{
    *out = PyObject_CallFunction(make_object, "KO",
                                 (unsigned long long)(uintptr_t)tensor, Py_True);
    return *out ? 0 : -1;
}

int forge_lend(void *object, DLTensor *out)
{
    PyObject *address = PyObject_CallMethod(object, "exchange_tensor", NULL);
    if (!address)
        return -1;
    const DLTensor *lent = PyLong_AsVoidPtr(address);
    Py_DECREF(address);
    if (!lent)
        return -1;
    *out = *lent;
    return 0;
}

int forge_stream(int32_t device_type, int32_t device_id, void **out)
{
    (void)device_type;
    (void)device_id;
    *out = NULL;
    return 0;
}

int forge_allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                   void (*set_error)(void *, const char *, const char *))
{
    int result = forge_allocate_silently(prototype, out, error_ctx, set_error);
    if (result)
        set_error(error_ctx, "BufferError", "no such tensor can be made");
    return result;
}

/* ---- Wrong -------------------------------------------------------------------------- */

int forge_allocate_silently(DLTensor *prototype, DLManagedTensorVersioned **out,
                            void *error_ctx,
                            void (*set_error)(void *, const char *, const char *))
{
    (void)error_ctx;
    (void)set_error;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *address = PyObject_CallFunction(make_tensor, "K",
                                              (unsigned long long)(uintptr_t)prototype);
    *out = address ? PyLong_AsVoidPtr(address) : NULL;
    Py_XDECREF(address);
    PyErr_Clear();
    PyGILState_Release(state);
    return *out ? 0 : -1;
}

int forge_allocate_noisily(DLTensor *prototype, DLManagedTensorVersioned **out,
                           void *error_ctx,
                           void (*set_error)(void *, const char *, const char *))
{
    set_error(error_ctx, "RuntimeError", "called in any case");
    return forge_allocate_silently(prototype, out, error_ctx, set_error);
}

int forge_from_object_silently(void *object, DLManagedTensorVersioned **out)
{
    int result = forge_from_object(object, out);
    PyErr_Clear();
    return result;
}

int forge_to_object_and_keep(DLManagedTensorVersioned *tensor, void **out)
{
    *out = PyObject_CallFunction(make_object, "KO",
                                 (unsigned long long)(uintptr_t)tensor, Py_False);
    return *out ? 0 : -1;
}

int forge_stream_untouched(int32_t device_type, int32_t device_id, void **out)
{
    (void)device_type;
    (void)device_id;
    (void)out;
    return 0;
}

/* ---- Calling a table ---------------------------------------------------------------- */

/* (status, result, exception or None). Steals the result, clears the exception. */
static PyObject *answer(int status, PyObject *result)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    if (!value) {
        Py_INCREF(Py_None);
        value = Py_None;
    }
    return result ? Py_BuildValue("iNN", status, result, value) : NULL;
}

static PyObject *address_of(void *pointer)
{
    return PyLong_FromUnsignedLongLong((uintptr_t)pointer);
}

static PyObject *call_from_object(PyObject *module, PyObject *args)
{
    unsigned long long api;
    PyObject *object;
    DLManagedTensorVersioned *tensor = NULL;
    if (!PyArg_ParseTuple(args, "KO:call_from_object", &api, &object))
        return NULL;
    int status = ((DLPackExchangeAPI *)(uintptr_t)api)
                     ->managed_tensor_from_py_object_no_sync(object, &tensor);
    return answer(status, address_of(tensor));
}

static PyObject *call_to_object(PyObject *module, PyObject *args)
{
    unsigned long long api, tensor;
    void *object = NULL;
    if (!PyArg_ParseTuple(args, "KK:call_to_object", &api, &tensor))
        return NULL;
    int status =
        ((DLPackExchangeAPI *)(uintptr_t)api)
            ->managed_tensor_to_py_object_no_sync((void *)(uintptr_t)tensor, &object);
    if (status || !object) {
        Py_INCREF(Py_None);
        object = Py_None;
    }
    return answer(status, object);
}

static PyObject *call_lend(PyObject *module, PyObject *args)
{
    unsigned long long api, out;
    PyObject *object;
    if (!PyArg_ParseTuple(args, "KOK:call_lend", &api, &object, &out))
        return NULL;
    int status = ((DLPackExchangeAPI *)(uintptr_t)api)
                     ->dltensor_from_py_object_no_sync(object, (void *)(uintptr_t)out);
    return answer(status, address_of(NULL));
}

static PyObject *call_stream(PyObject *module, PyObject *args)
{
    unsigned long long api, before;
    int type, id;
    if (!PyArg_ParseTuple(args, "KiiK:call_stream", &api, &type, &id, &before))
        return NULL;
    void *stream = (void *)(uintptr_t)before;
    int status = ((DLPackExchangeAPI *)(uintptr_t)api)
                     ->current_work_stream(type, id, &stream);
    return answer(status, address_of(stream));
}

/* The errors that an allocator reports go into a list of (kind, message). */
static void collect_error(void *errors, const char *kind, const char *message)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *pending, *value, *traceback;
    PyErr_Fetch(&pending, &value, &traceback);
    PyObject *pair = Py_BuildValue("zz", kind, message);
    if (!pair || PyList_Append(errors, pair))
        PyErr_Clear();
    Py_XDECREF(pair);
    PyErr_Restore(pending, value, traceback);
    PyGILState_Release(state);
}

static PyObject *call_allocate(PyObject *module, PyObject *args)
{
    unsigned long long api, prototype;
    PyObject *errors;
    DLManagedTensorVersioned *tensor = NULL;
    if (!PyArg_ParseTuple(args, "KKO:call_allocate", &api, &prototype, &errors))
        return NULL;
    int status = ((DLPackExchangeAPI *)(uintptr_t)api)
                     ->managed_tensor_allocator((void *)(uintptr_t)prototype, &tensor,
                                                errors, collect_error);
    return answer(status, address_of(tensor));
}

/* A capsule as for `__dlpack_c_exchange_api__`; names and tables are never freed. */
static PyObject *make_table_capsule(PyObject *module, PyObject *args)
{
    unsigned long long api;
    const char *name;
    if (!PyArg_ParseTuple(args, "Ks:make_table_capsule", &api, &name))
        return NULL;
    return PyCapsule_New((void *)(uintptr_t)api, strdup(name), NULL);
}

static PyMethodDef functions[] = {
    {"set_hooks", set_hooks, METH_VARARGS,
     "set_hooks(make_object, make_tensor): what the right functions of a table call."},
    {"make_table_capsule", make_table_capsule, METH_VARARGS,
     "make_table_capsule(table, name): a capsule without a destructor."},
    {"call_from_object", call_from_object, METH_VARARGS,
     "call_from_object(table, object): (status, address of tensor, exception)."},
    {"call_to_object", call_to_object, METH_VARARGS,
     "call_to_object(table, tensor): (status, object, exception)."},
    {"call_lend", call_lend, METH_VARARGS,
     "call_lend(table, object, out): (status, 0, exception)."},
    {"call_stream", call_stream, METH_VARARGS,
     "call_stream(table, type, id, before): (status, stream, exception)."},
    {"call_allocate", call_allocate, METH_VARARGS,
     "call_allocate(table, prototype, errors): (status, address, exception)."},
    {NULL, NULL, 0, NULL}};

int forge_exchange_install(const char *module_name)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *module = PyImport_AddModule(module_name);
    int result = module ? PyModule_AddFunctions(module, functions) : -1;
    if (result)
        PyErr_Print();
    PyGILState_Release(state);
    return result;
}
