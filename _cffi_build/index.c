/* Basic indexing: x[key] for a key of integers, slices, `...` and None, which selects a view.
 * Only the layout changes, and a call of Python would take longer.
 *
 * Source: array API 2025.12, indexing, single- and multi-axis indexing.
 *
 * Next: compute.c. */
#include "objects.h"

/* Each axis of 64 taken by an integer, and 64 new ones; beside them, `...`. */
#define MAX_ITEMS (2 * RA_MAX_NDIM + 1)

/* The layout of the view as far as it is known. */
typedef struct {
    ArrayObject *whole;
    int32_t axis;               /* next axis of the whole */
    int32_t ndim;               /* axes of the view so far */
    int64_t offset;             /* elements, from the first one of the whole */
    int64_t shape[RA_MAX_NDIM];
    int64_t strides[RA_MAX_NDIM];
    PyObject *sizes;            /* list of the shape if one size of the whole is unknown */
} selection;

typedef enum { INTEGER, SLICE, ELLIPSIS, NEW_AXIS, BY_VALUE, NO_INDEX, FAILED } item_kind;

/* Whether the type has __dlpack__, as arrays do; -1 with an exception set, which a metaclass
 * can raise. */
static int exports_dlpack(PyObject *item)
{
    PyObject *method = PyObject_GetAttrString((PyObject *)Py_TYPE(item), "__dlpack__");
    if (!method && !PyErr_ExceptionMatches(PyExc_AttributeError))
        return -1;
    PyErr_Clear();
    Py_XDECREF(method);
    return method != NULL;
}

static item_kind kind_of(PyObject *item)
{
    if (PyLong_CheckExact(item))
        return INTEGER;
    if (PySlice_Check(item))
        return SLICE;
    if (item == Py_Ellipsis)
        return ELLIPSIS;
    if (item == Py_None)
        return NEW_AXIS;
    if (PyBool_Check(item))
        return BY_VALUE;
    /* Arrays have __index__ too, so they must be recognized before integers. */
    int is_array = exports_dlpack(item);
    if (is_array)
        return is_array < 0 ? FAILED : BY_VALUE;
    return PyIndex_Check(item) ? INTEGER : NO_INDEX;
}

static void refuse(PyObject *item)
{
    PyObject *name = PyType_GetName(Py_TYPE(item));
    if (name && (PyTuple_Check(item) || PyList_Check(item)))
        PyErr_Format(PyExc_TypeError, "a %U is no index: make an array of it with asarray",
                     name);
    else if (name)
        PyErr_Format(PyExc_IndexError,
                     "%U is no index; allowed: integers, slices, ..., None, and integer or "
                     "boolean arrays (array API 2025.12, indexing)",
                     name);
    Py_XDECREF(name);
}

/* What overflows here belongs to an array without elements, and is not used. */
static int64_t times(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

/* Count the items of each kind. Returns 0 if the key is basic and fits an array of `ndim`
 * axes, else -1, with an exception set unless the key selects by value. */
static int look_through(PyObject *const *items, Py_ssize_t n, int32_t ndim,
                        Py_ssize_t counts[NEW_AXIS + 1])
{
    for (Py_ssize_t i = 0; i < n; i++) {
        item_kind kind = kind_of(items[i]);
        if (kind == BY_VALUE || kind == FAILED)
            return -1;
        if (kind == NO_INDEX) {
            refuse(items[i]);
            return -1;
        }
        counts[kind]++;
    }
    Py_ssize_t taken = counts[INTEGER] + counts[SLICE];
    Py_ssize_t axes = ndim - counts[INTEGER] + counts[NEW_AXIS];
    if (taken > ndim)
        PyErr_Format(PyExc_IndexError,
                     "too many indices: %zd for an array of %d dimensions", taken, (int)ndim);
    else if (counts[ELLIPSIS] > 1)
        PyErr_Format(PyExc_IndexError, "an index has at most one ellipsis (...), not %zd",
                     counts[ELLIPSIS]);
    else if (axes > RA_MAX_NDIM)
        PyErr_Format(PyExc_IndexError, "an array has at most %d axes, not %zd", RA_MAX_NDIM,
                     axes);
    else
        return 0;
    return -1;
}

/* ---- One item each; 0, or -1 with an exception set ------------------------------------ */

/* Give the view one more axis. size: if it is that of an axis of the whole, else NULL. */
static int add_axis(selection *it, int64_t n, int64_t stride, PyObject *size)
{
    it->shape[it->ndim] = n;
    it->strides[it->ndim++] = stride;
    if (!it->sizes)
        return 0;
    PyObject *number = size ? Py_NewRef(size) : PyLong_FromLongLong(n);
    int failed = !number || PyList_Append(it->sizes, number) < 0;
    Py_XDECREF(number);
    return failed ? -1 : 0;
}

static int take_whole(selection *it, Py_ssize_t count)
{
    for (; count > 0; count--, it->axis++) {
        PyObject *size = it->sizes ? PyTuple_GetItem(it->whole->sizes, it->axis) : NULL;
        if (add_axis(it, ra_shape(it->whole)[it->axis], ra_strides(it->whole)[it->axis],
                     size) < 0)
            return -1;
    }
    return 0;
}

static int take_one(selection *it, PyObject *item)
{
    int64_t n = ra_shape(it->whole)[it->axis];
    PyObject *number = PyNumber_Index(item);
    if (!number)
        return -1;
    int beyond;     /* what does not fit into 64 bits is outside too */
    int64_t i = PyLong_AsLongLongAndOverflow(number, &beyond);
    if (beyond || i < -n || i >= n) {
        PyObject *size = PyTuple_GetItem(it->whole->sizes, it->axis);
        PyObject *shown = ra_shown(number);
        if (shown)
            PyErr_Format(PyExc_IndexError, "index %U is outside axis %d of size %R", shown,
                         (int)it->axis, size);
        Py_XDECREF(shown);
        Py_DECREF(number);
        return -1;
    }
    Py_DECREF(number);
    it->offset += times(i < 0 ? i + n : i, ra_strides(it->whole)[it->axis++]);
    return 0;
}

static int take_slice(selection *it, PyObject *item)
{
    Py_ssize_t start, stop, step;
    int64_t size = ra_shape(it->whole)[it->axis];
    int64_t stride = ra_strides(it->whole)[it->axis];
    if (PySlice_Unpack(item, &start, &stop, &step) < 0)
        return -1;
    int64_t n = PySlice_AdjustIndices(size, &start, &stop, step);
    /* Else there is nothing to step to: the step can be too large for a stride. */
    int64_t stepped = n > 1 ? times(stride, step) : stride;
    if (n)
        it->offset += times(start, stride);
    PyObject *whole_size = PyTuple_GetItem(it->whole->sizes, it->axis++);
    if ((PyObject *)Py_TYPE(whole_size) != ra_unknown_size)
        return add_axis(it, n, stepped, NULL);
    PyObject *unknown = PyObject_CallFunction(ra_unknown_size, "L", (long long)n);
    int failed = !unknown || add_axis(it, n, stepped, unknown) < 0;
    Py_XDECREF(unknown);
    return failed ? -1 : 0;
}

static int take_all(selection *it, PyObject *const *items, Py_ssize_t n, Py_ssize_t rest)
{
    int failed = 0;
    for (Py_ssize_t i = 0; i < n && !failed; i++) {
        switch (kind_of(items[i])) {
        case SLICE:
            failed = take_slice(it, items[i]);
            break;
        case ELLIPSIS:
            failed = take_whole(it, rest);
            break;
        case NEW_AXIS:
            failed = add_axis(it, 1, 0, NULL);
            break;
        case FAILED:
            failed = -1;
            break;
        default:
            failed = take_one(it, items[i]);
        }
    }
    /* For fewer indices than axes the standard advises an IndexError. The remaining axes are
     * taken whole instead, as NumPy, PyTorch and JAX do. */
    return failed || take_whole(it, it->whole->ndim - it->axis) < 0 ? -1 : 0;
}

/* ---- The view ------------------------------------------------------------------------- */

static PyObject *as_view(selection *it)
{
    ArrayObject *whole = it->whole;
    int64_t size = 1;
    for (int32_t i = 0; i < it->ndim; i++)
        size = times(size, it->shape[i]);
    ra_sizes sizes = {NULL, 0};
    if (it->sizes) {
        sizes.tuple = PyList_AsTuple(it->sizes);
        if (!sizes.tuple)
            return NULL;
        for (int32_t i = 0; i < it->ndim; i++)
            sizes.unknown += (PyObject *)Py_TYPE(PyTuple_GetItem(sizes.tuple, i)) ==
                             ra_unknown_size;
    }
    char *data = whole->data + (size ? it->offset * ra_itemsize(whole->type) : 0);
    ra_buffer_retain(whole->buffer);
    PyObject *view = ra_array_new(whole->buffer, whole->type, whole->device, data, it->ndim,
                                  it->shape, it->strides, size, whole->read_only, &sizes);
    Py_XDECREF(sizes.tuple);
    return view;
}

PyObject *ra_select(PyObject *array, PyObject *key)
{
    PyObject *several[MAX_ITEMS];
    PyObject *const *items = &key;
    Py_ssize_t n = 1;
    if (PyTuple_Check(key)) {
        items = several;
        n = PyTuple_Size(key);
        for (Py_ssize_t i = 0; i < n && i < MAX_ITEMS; i++)
            several[i] = PyTuple_GetItem(key, i);
    }
    if (n > MAX_ITEMS) {
        PyErr_Format(PyExc_IndexError, "an index has at most %d items, not %zd", MAX_ITEMS, n);
        return NULL;
    }
    selection it;
    it.whole = (ArrayObject *)array;
    it.axis = it.ndim = 0;
    it.offset = 0;
    it.sizes = NULL;
    Py_ssize_t counts[NEW_AXIS + 1] = {0};
    if (look_through(items, n, it.whole->ndim, counts) < 0)
        return NULL;
    if (it.whole->shape != it.whole->sizes && !(it.sizes = PyList_New(0)))
        return NULL;
    Py_ssize_t rest = it.whole->ndim - counts[INTEGER] - counts[SLICE];
    PyObject *view = take_all(&it, items, n, rest) == 0 ? as_view(&it) : NULL;
    Py_XDECREF(it.sizes);
    return view;
}

PyObject *ra_py_select(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 2 || !ra_is_array(args[0])) {
        PyErr_SetString(PyExc_TypeError, "select(array, key)");
        return NULL;
    }
    PyObject *view = ra_select(args[0], args[1]);
    return view || PyErr_Occurred() ? view : Py_NewRef(Py_None);
}
