/* Calling kernels: quietly, and for elementwise functions together with the steps around
 * them, which on short arrays cost more than the kernel. What to call, and on what, is
 * decided in Python: refarray/_compute/pipeline.py. Next: devices.c. */
#include "objects.h"

#include <string.h>

/* A function that makes run(kernel, ...), which lets no warning of a kernel out: see
 * refarray/_compute/engine.py. Each thread has one, in the dict that dies with it. */
static PyObject *make_run;

PyObject *ra_py_register_runner(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 1 || !PyCallable_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "register_runner(make_run)");
        return NULL;
    }
    ra_replace(&make_run, args[0]);
    Py_RETURN_NONE;
}

/* A borrowed reference. */
static PyObject *run_of_this_thread(void)
{
    PyObject *of_thread = PyThreadState_GetDict();
    if (!of_thread || !make_run) {
        PyErr_SetString(PyExc_RuntimeError, "refarray is not imported, or no longer");
        return NULL;
    }
    PyObject *run = PyDict_GetItemWithError(of_thread, make_run);
    if (run || PyErr_Occurred())
        return run;
    run = PyObject_CallNoArgs(make_run);
    int failed = !run || PyDict_SetItem(of_thread, make_run, run) < 0;
    Py_XDECREF(run);
    return failed ? NULL : run;
}

/* A run can be entered once at a time: a finalizer that computes while a kernel runs is
 * refused with RuntimeError, and gets one of its own. Also after other such errors, which
 * then come again. */
static PyObject *run_instead(void)
{
    if (!PyErr_ExceptionMatches(PyExc_RuntimeError))
        return NULL;
    PyErr_Clear();
    return PyObject_CallNoArgs(make_run);
}

PyObject *ra_call(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    PyObject *run = run_of_this_thread();
    PyObject *done = run ? PyObject_Call(run, args, keywords) : NULL;
    PyObject *other = run && !done ? run_instead() : NULL;
    if (other)
        done = PyObject_Call(other, args, keywords);
    Py_XDECREF(other);
    return done;
}

/* ---- Results of known shape ----------------------------------------------------------- */

/* What the kernel is given for an operand: the view of an array, anything else as it is. */
static PyObject *as_operand(PyObject *object)
{
    return ra_is_array(object) ? ra_array_view(object, NULL) : Py_NewRef(object);
}

/* Positional, or a dict would have to be made for the one keyword. */
static PyObject *apply(PyObject *run, PyObject *kernel, PyObject *const *x, PyObject *out)
{
    if (x[2])
        return PyObject_CallFunctionObjArgs(run, kernel, x[0], x[1], x[2], out, NULL);
    return x[1] ? PyObject_CallFunctionObjArgs(run, kernel, x[0], x[1], out, NULL)
                : PyObject_CallFunctionObjArgs(run, kernel, x[0], out, NULL);
}

/* Let the kernel write into the array; it is dropped if that fails. */
static PyObject *fill(PyObject *array, PyObject *kernel, PyObject *const *x)
{
    PyObject *out = array ? ra_array_view(array, NULL) : NULL;
    PyObject *run = out ? run_of_this_thread() : NULL;
    PyObject *done = run ? apply(run, kernel, x, out) : NULL;
    PyObject *other = run && !done ? run_instead() : NULL;
    if (other)
        done = apply(other, kernel, x, out);
    if (!done)
        Py_CLEAR(array);
    Py_XDECREF(other);
    Py_XDECREF(done);
    Py_XDECREF(out);
    return array;
}

PyObject *ra_py_compute(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n < 5 || n > 7) {
        PyErr_SetString(PyExc_TypeError,
                        "compute(kernel, shape, dtype, device, x1[, x2[, x3]])");
        return NULL;
    }
    PyObject *x[3] = {NULL, NULL, NULL};
    int complete = 1;
    for (Py_ssize_t i = 4; complete && i < n; i++)
        complete = (x[i - 4] = as_operand(args[i])) != NULL;
    PyObject *array =
        complete ? fill(ra_new(args[1], args[2], args[3], 0), args[0], x) : NULL;
    for (int i = 0; i < 3; i++)
        Py_XDECREF(x[i]);
    return array;
}

/* ---- Elementwise, once there is a plan ------------------------------------------------- */

enum { FLOAT = 15, NO_OPERAND = -1 };   /* keys beside those of dtypes */

static int key_of(PyObject *operand)
{
    if (ra_is_array(operand))
        return ra_dtype_key(((ArrayObject *)operand)->type);
    return PyFloat_CheckExact(operand) ? FLOAT : NO_OPERAND;
}

static int is_known(ArrayObject *a) { return a->shape == a->sizes; }

/* The shape in which two arrays meet; -1 if they do not, or if a size is not known. */
static int32_t broadcast(ArrayObject *a, ArrayObject *b, int64_t *shape)
{
    if (!is_known(a) || !is_known(b))
        return -1;
    ArrayObject *longer = a->ndim >= b->ndim ? a : b, *shorter = longer == a ? b : a;
    int32_t more = longer->ndim - shorter->ndim;
    memcpy(shape, ra_shape(longer), (size_t)longer->ndim * sizeof *shape);
    for (int32_t i = 0; i < shorter->ndim; i++) {
        int64_t n = ra_shape(shorter)[i];
        if (shape[more + i] == 1)
            shape[more + i] = n;
        else if (n != 1 && n != shape[more + i])
            return -1;
    }
    return longer->ndim;
}

/* What a plan is for: arrays on one device, whose shapes meet, and floats. All else, what is
 * wrong and what only a profile makes wrong, is for pipeline.py: then this returns None. */
PyObject *ra_py_elementwise(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if ((n != 2 && n != 3) || !PyList_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "elementwise(plans, x1[, x2])");
        return NULL;
    }
    int key1 = key_of(args[1]), key2 = n == 3 ? key_of(args[2]) : 0;
    if (key1 == NO_OPERAND || key2 == NO_OPERAND || (key1 == FLOAT && (n == 2 || key2 == FLOAT)) ||
        ra_is_guarded())
        Py_RETURN_NONE;
    PyObject *plan = PyList_GetItem(args[0], n == 2 ? key1 : 16 * key1 + key2);
    if (!plan || !PyTuple_Check(plan))
        return plan ? Py_NewRef(Py_None) : NULL;

    ArrayObject *a = (ArrayObject *)(key1 != FLOAT ? args[1] : args[2]);
    int64_t met[RA_MAX_NDIM];
    const int64_t *shape = ra_shape(a);
    int32_t ndim = a->ndim;
    ra_sizes sizes = {a->sizes, !is_known(a)};
    if (n == 3 && key1 != FLOAT && key2 != FLOAT) {
        ArrayObject *b = (ArrayObject *)args[2];
        ndim = a->device == b->device ? broadcast(a, b, met) : -1;
        if (ndim < 0)
            Py_RETURN_NONE;
        shape = met;
        if (ndim != a->ndim || memcmp(met, ra_shape(a), (size_t)ndim * sizeof *met) != 0)
            sizes.tuple = NULL;
    }
    const ra_dtype *dtype = ra_dtype_of(PyTuple_GetItem(plan, 1));
    PyObject *x[3] = {dtype ? as_operand(args[1]) : NULL, NULL, NULL};
    if (x[0] && n == 3)
        x[1] = as_operand(args[2]);
    PyObject *array = NULL;
    if (x[0] && (x[1] || n == 2))
        array = fill(ra_make(dtype, a->device, ndim, shape, 0, &sizes),
                     PyTuple_GetItem(plan, 0), x);
    Py_XDECREF(x[0]);
    Py_XDECREF(x[1]);
    return array;
}
