/* Calling kernels: quietly, and for elementwise functions together with the steps around
 * them, which on short arrays cost more than the kernel. What to call, and on what, is
 * decided in Python: refarray/_compute/pipeline.py. Next: devices.c. */
#include "objects.h"

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
static PyObject *apply(PyObject *run, PyObject *kernel, PyObject **x, PyObject *out)
{
    if (x[2])
        return PyObject_CallFunctionObjArgs(run, kernel, x[0], x[1], x[2], out, NULL);
    return x[1] ? PyObject_CallFunctionObjArgs(run, kernel, x[0], x[1], out, NULL)
                : PyObject_CallFunctionObjArgs(run, kernel, x[0], out, NULL);
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
    PyObject *array = complete ? ra_new(args[1], args[2], args[3], 0) : NULL;
    PyObject *out = array ? ra_array_view(array, NULL) : NULL;
    PyObject *run = out ? run_of_this_thread() : NULL;
    PyObject *done = run ? apply(run, args[0], x, out) : NULL;
    PyObject *other = run && !done ? run_instead() : NULL;
    if (other)
        done = apply(other, args[0], x, out);
    if (!done)
        Py_CLEAR(array);
    Py_XDECREF(other);
    Py_XDECREF(done);
    Py_XDECREF(out);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(x[i]);
    return array;
}
