/* Faults on purpose, for the build of the native module that `make stress` tests. The
 * compiler is told to read this before each file (-include): what is released knows nothing
 * of it, and is the same code but for the names that are replaced here.
 *
 * 1. Each place that allocates can fail. When ra_fault_at is n, the n-th one that is passed
 *    does, as its function does when there is no memory; ra_fault_action says what happens
 *    there instead. Not among them are the functions that set an exception: without memory
 *    they set MemoryError, and nothing else changes.
 * 2. Planted faults, of which ra_planted chooses one: the sanitizers must report it. */
#ifndef REFARRAY_FAULTS_H
#define REFARRAY_FAULTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#undef _GNU_SOURCE      /* memory.c defines it once more */

/* One for all files of a module, and found by name through ctypes. */
#define SHARED __attribute__((weak, visibility("default")))

enum { RA_FAIL, RA_EXIT, RA_FORK, RA_CALL };
SHARED long ra_fault_at, ra_fault_passed;
SHARED int ra_fault_action, ra_fault_line, ra_fault_child = -1;
SHARED const char *ra_fault_file, *ra_fault_name;
SHARED void (*ra_fault_call)(void);     /* what RA_CALL calls, as another thread could */

/* Whether this place shall fail. The code that cffi generates, and the forge, never do. */
SHARED int ra_fault(const char *file, int line, const char *name, int sets_exception)
{
    const char *part = strstr(file, "_cffi_build/");
    if (!ra_fault_at || !part || strncmp(part, "_cffi_build/forge", 17) == 0 ||
        ++ra_fault_passed != ra_fault_at)
        return 0;
    ra_fault_file = part + 12;
    ra_fault_line = line;
    ra_fault_name = name;
    if (ra_fault_action == RA_EXIT)
        exit(0);
    if (ra_fault_action == RA_CALL) {
        ra_fault_call();
        return 0;
    }
    if (ra_fault_action == RA_FORK) {
        ra_fault_child = fork();
        return 0;
    }
    if (sets_exception)
        PyErr_NoMemory();
    return 1;
}

#define RA_C(name, failed, call) (ra_fault(__FILE__, __LINE__, #name, 0) ? (failed) : (call))
#define RA_PY(name, failed, ...) \
    (ra_fault(__FILE__, __LINE__, #name, 1) ? (failed) : name(__VA_ARGS__))

/* For functions that are macros themselves, up to Python 3.12. */
#ifdef Py_BuildValue
#define RA_REAL(name) _##name##_SizeT
#undef Py_BuildValue
#undef PyObject_CallFunction
#undef PyObject_CallMethod
#else
#define RA_REAL(name) name
#endif
#define RA_SIZED(name, ...) \
    (ra_fault(__FILE__, __LINE__, #name, 1) ? NULL : RA_REAL(name)(__VA_ARGS__))

enum { RA_LEAK = 1, RA_SHORT_BLOCK, RA_OVERFLOW };
SHARED int ra_planted;
static inline size_t ra_shortened(size_t size)
{
    return ra_planted == RA_SHORT_BLOCK && size > 64 ? size - 64 : size;
}

/* ---- The C library ------------------------------------------------------------------ */

#define malloc(size) RA_C(malloc, NULL, malloc(size))
#define calloc(n, size) RA_C(calloc, NULL, calloc(n, size))
#define free(block) (ra_planted == RA_LEAK ? (void)(block) : free(block))
#define posix_memalign(out, alignment, size) \
    RA_C(posix_memalign, ENOMEM, posix_memalign(out, alignment, ra_shortened(size)))
#define mmap(...) RA_C(mmap, MAP_FAILED, mmap(__VA_ARGS__))
#define __builtin_mul_overflow(a, b, out) \
    (ra_planted == RA_OVERFLOW ? (*(out) = (a) * (b), 0) : __builtin_mul_overflow(a, b, out))

/* ---- CPython: NULL or -1, with MemoryError but for the first two ---------------------- */

#define PyMem_Malloc(size) RA_C(PyMem_Malloc, NULL, PyMem_Malloc(size))
#define PyThreadState_GetDict() RA_C(PyThreadState_GetDict, NULL, PyThreadState_GetDict())

#define PyCapsule_New(...) RA_PY(PyCapsule_New, NULL, __VA_ARGS__)
#define PyDict_SetItem(...) RA_PY(PyDict_SetItem, -1, __VA_ARGS__)
#define PyList_Append(...) RA_PY(PyList_Append, -1, __VA_ARGS__)
#define PyList_AsTuple(...) RA_PY(PyList_AsTuple, NULL, __VA_ARGS__)
#define PyList_New(...) RA_PY(PyList_New, NULL, __VA_ARGS__)
#define PyLong_FromLong(...) RA_PY(PyLong_FromLong, NULL, __VA_ARGS__)
#define PyLong_FromLongLong(...) RA_PY(PyLong_FromLongLong, NULL, __VA_ARGS__)
#define PyLong_FromSize_t(...) RA_PY(PyLong_FromSize_t, NULL, __VA_ARGS__)
#define PyLong_FromSsize_t(...) RA_PY(PyLong_FromSsize_t, NULL, __VA_ARGS__)
#define PyLong_FromUnsignedLongLong(...) \
    RA_PY(PyLong_FromUnsignedLongLong, NULL, __VA_ARGS__)
#define PyLong_FromVoidPtr(...) RA_PY(PyLong_FromVoidPtr, NULL, __VA_ARGS__)
#define PyModule_AddFunctions(...) RA_PY(PyModule_AddFunctions, -1, __VA_ARGS__)
#define PyModule_AddType(...) RA_PY(PyModule_AddType, -1, __VA_ARGS__)
#define PyNumber_Index(...) RA_PY(PyNumber_Index, NULL, __VA_ARGS__)
#define PyObject_Call(...) RA_PY(PyObject_Call, NULL, __VA_ARGS__)
#define PyObject_CallFunction(...) RA_SIZED(PyObject_CallFunction, __VA_ARGS__)
#define PyObject_CallFunctionObjArgs(...) \
    RA_PY(PyObject_CallFunctionObjArgs, NULL, __VA_ARGS__)
#define PyObject_CallMethod(...) RA_SIZED(PyObject_CallMethod, __VA_ARGS__)
#define PyObject_CallNoArgs(...) RA_PY(PyObject_CallNoArgs, NULL, __VA_ARGS__)
#define PyObject_GetBuffer(...) RA_PY(PyObject_GetBuffer, -1, __VA_ARGS__)
#define PyTuple_New(...) RA_PY(PyTuple_New, NULL, __VA_ARGS__)
#define PyType_FromSpec(...) RA_PY(PyType_FromSpec, NULL, __VA_ARGS__)
#define PyType_GenericAlloc(...) RA_PY(PyType_GenericAlloc, NULL, __VA_ARGS__)
#define PyType_GetName(...) RA_PY(PyType_GetName, NULL, __VA_ARGS__)
#define PyUnicode_FromString(...) RA_PY(PyUnicode_FromString, NULL, __VA_ARGS__)
#define PyUnicode_InternFromString(...) \
    RA_PY(PyUnicode_InternFromString, NULL, __VA_ARGS__)

#define PyObject_GetAttrString(...) RA_PY(PyObject_GetAttrString, NULL, __VA_ARGS__)
#define PyWeakref_NewRef(...) RA_PY(PyWeakref_NewRef, NULL, __VA_ARGS__)

#undef PyObject_GC_New
#define PyObject_GC_New(type, object) \
    (ra_fault(__FILE__, __LINE__, "PyObject_GC_New", 1) ? NULL \
                                                        : (type *)_PyObject_GC_New(object))

/* This one keeps or lets go of what it is given (N), also when it fails. */
static inline PyObject *ra_lost(PyObject *value)
{
    Py_XDECREF(value);
    return PyErr_NoMemory();
}
#define Py_BuildValue(...)                                       \
    (ra_fault(__FILE__, __LINE__, "Py_BuildValue", 0)            \
         ? ra_lost(RA_REAL(Py_BuildValue)(__VA_ARGS__))          \
         : RA_REAL(Py_BuildValue)(__VA_ARGS__))

#endif
