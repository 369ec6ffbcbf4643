/* from_dlpack begins here. For a type that has been met before, and memory of the host, it is
 * one question in Python and the import in C; all the rest, and all that goes wrong, is for
 * refarray/dlpack/consumer.py. Next: exchange.c. */
#include "objects.h"

static PyObject *consume;       /* consume(x, device, copy, refused) */
/* A dict from weak references to types. The value is ask(x), which returns a capsule of host
 * memory or None; or (api, is_plain): a C exchange API, used for `x` if is_plain(x). A strong reference to a type would keep its module's globals alive. */
static PyObject *ways;

PyObject *ra_py_register_consumer(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 2 || !PyCallable_Check(args[0]) || !PyDict_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "register_consumer(consume, ways)");
        return NULL;
    }
    ra_replace(&consume, args[0]);
    ra_replace(&ways, args[1]);
    Py_RETURN_NONE;
}

/* The exception that is set: whether another question may help is decided in Python. */
static PyObject *after_refusal(PyObject *x)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback)
        PyException_SetTraceback(value, traceback);
    PyObject *array =
        PyObject_CallFunctionObjArgs(consume, x, Py_None, Py_None, value, NULL);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return array;
}

/* NULL without an exception: another question is needed. */
static PyObject *by_asking(PyObject *x, PyObject *ask)
{
    PyObject *capsule = PyObject_CallFunctionObjArgs(ask, x, NULL);
    PyObject *array = NULL;
    if (capsule && capsule != Py_None)
        array = ra_import_capsule(capsule, ra_device_find((DLDevice){kDLCPU, 0})->pair);
    else if (!capsule && (PyErr_ExceptionMatches(PyExc_TypeError) ||
                          PyErr_ExceptionMatches(PyExc_AttributeError)))
        array = after_refusal(x);
    Py_XDECREF(capsule);
    return array;
}

static PyObject *by_shortcut(PyObject *x, PyObject *api, PyObject *is_plain_question)
{
    PyObject *answer = PyObject_CallFunctionObjArgs(is_plain_question, x, NULL);
    int is_plain = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return is_plain > 0 ? ra_import_object(api, x) : NULL;
}

/* Steals `way`, which the dict can lose meanwhile. NULL without an exception: go on in Python,
 * which also says what an object lacks, and why an exchange API refused it. */
static PyObject *go(PyObject *way, PyObject *x)
{
    int is_shortcut = PyTuple_Check(way);
    PyObject *array =
        is_shortcut ? by_shortcut(x, PyTuple_GetItem(way, 0), PyTuple_GetItem(way, 1))
                    : by_asking(x, way);
    Py_DECREF(way);
    if (!array && is_shortcut && PyErr_Occurred() &&
        (PyErr_ExceptionMatches(PyExc_BufferError) ||
         PyErr_ExceptionMatches(PyExc_RuntimeError)))
        PyErr_Clear();
    return array;
}

/* The way to the memory of objects of a type. NULL without an exception if the type was not
 * met, and with one if its hash or comparison fails. */
static PyObject *find_way(PyTypeObject *type)
{
    PyObject *key = PyWeakref_NewRef((PyObject *)type, NULL);   /* its one reference, shared */
    PyObject *way = key ? ra_dict_get(ways, key) : NULL;
    Py_XDECREF(key);
    return way;
}

PyObject *ra_from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t n,
                         PyObject *keywords)
{
    (void)module;
    if (n != 1) {
        PyErr_Format(PyExc_TypeError,
                     "from_dlpack takes one positional argument, an object with __dlpack__, "
                     "not %zd; device and copy are given by name (array API, "
                     "from_dlpack)",
                     n);
        return NULL;
    }
    PyObject *x = args[0], *device = Py_None, *copy = Py_None;
    Py_ssize_t count = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GetItem(keywords, i);
        if (PyUnicode_CompareWithASCIIString(name, "device") == 0)
            device = args[n + i];
        else if (PyUnicode_CompareWithASCIIString(name, "copy") == 0)
            copy = args[n + i];
        else {
            PyErr_Format(PyExc_TypeError,
                         "from_dlpack got an unexpected keyword argument '%U'; it takes device "
                         "and copy (array API, from_dlpack)",
                         name);
            return NULL;
        }
    }
    PyObject *way = NULL;
    if (!count && !ra_is_guarded())
        way = find_way(Py_TYPE(x));
    if (way) {
        PyObject *array = go(way, x);
        if (array || PyErr_Occurred())
            return array;
    }
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            return NULL;
        PyErr_Clear();      /* a metaclass can make a type that has no hash */
    }
    return PyObject_CallFunctionObjArgs(consume, x, device, copy, Py_None, NULL);
}
