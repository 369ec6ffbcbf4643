/* Calling kernels: quietly, and for elementwise functions together with the steps around
 * them, which on short arrays cost more than the kernel. What to call, and on what, is
 * decided in Python: refarray/_compute/pipeline.py. Next: operators.c. */
#include "objects.h"

#include <string.h>

#include "system.h"

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
    if (!make_run) {
        PyErr_SetString(PyExc_RuntimeError, "refarray is not imported");
        return NULL;
    }
    PyObject *of_thread = PyThreadState_GetDict();
    if (!of_thread)
        return PyErr_NoMemory();
    PyObject *run = PyDict_GetItemWithError(of_thread, make_run);
    if (run || PyErr_Occurred())
        return run;
    run = PyObject_CallNoArgs(make_run);
    int failed = !run || PyDict_SetItem(of_thread, make_run, run) < 0;
    Py_XDECREF(run);
    return failed ? NULL : run;
}

/* A run can be entered once at a time: a finalizer that computes while a kernel runs is
 * refused with RuntimeError, and gets one of its own. Also after other such errors of C,
 * which then come again. But what Python raised has a traceback: the kernel had begun, or a
 * signal's handler spoke, and that is not to be lost. */
static PyObject *run_instead(void)
{
    if (!PyErr_ExceptionMatches(PyExc_RuntimeError))
        return NULL;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (traceback) {
        PyErr_Restore(type, value, traceback);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
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

/* Python scalars have the keys of the two dtypes which are only held. */
enum { PYTHON_INT = 14, PYTHON_FLOAT = 15, NO_OPERAND = -1 };

static int key_of(PyObject *operand)
{
    if (ra_is_array(operand)) {
        const ra_dtype *dtype = ((ArrayObject *)operand)->type;
        return ra_is_held(dtype) ? NO_OPERAND : ra_dtype_key(dtype);
    }
    if (PyFloat_CheckExact(operand))
        return PYTHON_FLOAT;
    return PyLong_CheckExact(operand) ? PYTHON_INT : NO_OPERAND;
}

/* Whether an element of the dtype can be that integer, exactly. */
static int fits(PyObject *integer, const ra_dtype *dtype)
{
    int beyond;
    long long value = PyLong_AsLongLongAndOverflow(integer, &beyond);
    if (beyond)
        return 0;
    int bits = dtype->bits;
    if (dtype->code == kDLInt)
        return bits == 64 || (value >= -(1LL << (bits - 1)) && value < 1LL << (bits - 1));
    if (dtype->code == kDLUInt)
        return value >= 0 && (bits == 64 || value < 1LL << bits);
    return value >= -(1LL << 24) && value <= 1LL << 24;     /* of every floating-point one */
}

static int is_known(ArrayObject *a) { return a->shape == a->sizes; }

/* A shape, and the same as a tuple if that exists. */
typedef struct {
    int32_t ndim;
    int64_t shape[RA_MAX_NDIM];
    ra_sizes sizes;
} meeting;

static void start(meeting *m, ArrayObject *a)
{
    m->ndim = a->ndim;
    memcpy(m->shape, ra_shape(a), (size_t)a->ndim * sizeof *m->shape);
    m->sizes = (ra_sizes){a->sizes, !is_known(a)};
}

/* Broadcast the shape with that of another array: 0 if they do not meet, or if a size is not
 * known. Why not is said in Python (broadcast_shapes). */
static int meet(meeting *m, ArrayObject *b)
{
    if (m->ndim == b->ndim &&
        memcmp(m->shape, ra_shape(b), (size_t)b->ndim * sizeof *m->shape) == 0)
        return !m->sizes.unknown && is_known(b);
    if (m->sizes.unknown || !is_known(b))
        return 0;
    int32_t more = b->ndim - m->ndim;
    if (more > 0) {
        memmove(m->shape + more, m->shape, (size_t)m->ndim * sizeof *m->shape);
        for (int32_t i = 0; i < more; i++)
            m->shape[i] = 1;
        m->ndim = b->ndim;
    }
    m->sizes.tuple = NULL;
    for (int32_t i = 0; i < b->ndim; i++) {
        int64_t n = ra_shape(b)[i], *met = &m->shape[m->ndim - b->ndim + i];
        if (*met == 1)
            *met = n;
        else if (n != 1 && n != *met)
            return 0;
    }
    return 1;
}

/* The plan for these operands, and the shape and device in which they meet; NULL, perhaps
 * with an exception, if there is none. */
static PyObject *find_plan(PyObject *plans, PyObject *const *operands, Py_ssize_t n, meeting *m,
                           const ra_device **device)
{
    int index = 0;
    PyObject *integer = NULL;
    const ra_dtype *dtype = NULL;       /* of the first array: the last of `where` is a mask */
    *device = NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        int key = key_of(operands[i]);
        if (key == NO_OPERAND || (key == PYTHON_INT && integer))
            return NULL;
        index = 16 * index + key;
        if (key == PYTHON_INT)
            integer = operands[i];
        if (key == PYTHON_INT || key == PYTHON_FLOAT)
            continue;
        ArrayObject *a = (ArrayObject *)operands[i];
        if (!dtype) {
            dtype = a->type;
            *device = a->device;
            start(m, a);
        } else if (*device != a->device || !meet(m, a)) {
            return NULL;
        }
    }
    if (!*device || (integer && !fits(integer, dtype)) || (n == 3 && !ra_in_host_memory(*device)))
        return NULL;
    PyObject *number = PyLong_FromLong(index);
    PyObject *plan = number ? ra_dict_get(plans, number) : NULL;
    Py_XDECREF(number);
    return plan;
}

/* A plan is for arrays on one device, whose shapes meet, for floats, and for integers that an
 * element of the array can be. All else, what is wrong and what only a profile makes wrong, is
 * for Python. */
PyObject *ra_elementwise(PyObject *plans, PyObject *const *operands, Py_ssize_t n)
{
    meeting m;
    const ra_device *device;
    PyObject *plan = ra_is_guarded() ? NULL : find_plan(plans, operands, n, &m, &device);
    const ra_dtype *dtype = plan ? ra_dtype_of(PyTuple_GetItem(plan, 1)) : NULL;
    PyObject *x[3] = {NULL, NULL, NULL};
    int complete = dtype != NULL;
    for (Py_ssize_t i = 0; complete && i < n; i++)
        complete = (x[i] = as_operand(operands[i])) != NULL;
    PyObject *array = NULL;
    if (complete)
        array = fill(ra_make(dtype, device, m.ndim, m.shape, 0, &m.sizes),
                     PyTuple_GetItem(plan, 0), x);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(x[i]);
    Py_XDECREF(plan);
    return array;
}

PyObject *ra_py_elementwise(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n < 2 || n > 4 || !PyDict_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "elementwise(plans, x1[, x2[, x3]])");
        return NULL;
    }
    PyObject *array = ra_elementwise(args[0], args + 1, n - 1);
    return array || PyErr_Occurred() ? array : Py_NewRef(Py_None);
}

/* ---- Arrays alike, one after another --------------------------------------------------- */

/* The shape of a tuple of arrays joined along an axis; 0 if they are not all alike. */
static int join_shapes(PyObject *arrays, int64_t axis, meeting *m, ArrayObject **first)
{
    Py_ssize_t n = PyTuple_Size(arrays);
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *object = PyTuple_GetItem(arrays, k);
        if (!ra_is_array(object))
            return 0;
        ArrayObject *a = (ArrayObject *)object;
        if (k == 0) {
            *first = a;
            start(m, a);
            if (axis < 0)
                axis += a->ndim;
            if (axis < 0 || axis >= a->ndim || ra_is_held(a->type) ||
                !ra_in_host_memory(a->device))
                return 0;
            m->shape[axis] = 0;
            m->sizes.tuple = NULL;
        }
        if (a->type != (*first)->type || a->device != (*first)->device ||
            a->ndim != m->ndim || !is_known(a))
            return 0;
        for (int32_t i = 0; i < m->ndim; i++)
            if (i != axis && ra_shape(a)[i] != m->shape[i])
                return 0;
        if (ra_add(m->shape[axis], ra_shape(a)[axis], &m->shape[axis]))
            return 0;
    }
    return n > 0;
}

/* The items of a list, which can change meanwhile: so not PyList_AsTuple, in which before
 * Python 3.12 the garbage collector could run. */
static PyObject *as_tuple(PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    PyObject *out = PyTuple_New(n);
    for (Py_ssize_t i = 0; out && i < n; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        if (!item || PyTuple_SetItem(out, i, item) < 0)
            Py_CLEAR(out);
    }
    return out;
}

/* NULL without an exception if they are not all alike. */
static PyObject *join(PyObject *kernel, PyObject *arrays, PyObject *axis_object)
{
    meeting m;
    ArrayObject *first = NULL;
    int beyond;
    long long axis = PyLong_AsLongLongAndOverflow(axis_object, &beyond);
    if (beyond || !join_shapes(arrays, axis, &m, &first))
        return NULL;
    Py_ssize_t n = PyTuple_Size(arrays);
    PyObject *views = PyTuple_New(n);
    for (Py_ssize_t k = 0; views && k < n; k++) {
        PyObject *view = as_operand(PyTuple_GetItem(arrays, k));
        if (!view || PyTuple_SetItem(views, k, view) < 0)
            Py_CLEAR(views);
    }
    PyObject *array = NULL;
    if (views) {
        PyObject *const x[3] = {views, axis_object, NULL};
        array = fill(ra_make(first->type, first->device, m.ndim, m.shape, 0, &m.sizes), kernel,
                     x);
    }
    Py_XDECREF(views);
    return array;
}

PyObject *ra_py_join(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 3) {
        PyErr_SetString(PyExc_TypeError, "join(kernel, arrays, axis)");
        return NULL;
    }
    /* A subclass may have a length of its own. */
    int is_list = PyList_CheckExact(args[1]);
    if (!PyLong_CheckExact(args[2]) || ra_is_guarded() ||
        !(is_list || PyTuple_CheckExact(args[1])))
        Py_RETURN_NONE;
    PyObject *arrays = is_list ? as_tuple(args[1]) : Py_NewRef(args[1]);
    PyObject *array = arrays ? join(args[0], arrays, args[2]) : NULL;
    Py_XDECREF(arrays);
    return array || PyErr_Occurred() ? array : Py_NewRef(Py_None);
}
