/* What Python registers with the C code at import: the objects that stand for data types
 * and devices, the Array type, and the function that prepares an unusual export.
 * Next: buffer.c. */
#include "objects.h"

/* The thirteen of the standard, then the two which refarray only holds. */
static ra_dtype dtypes[] = {
    {.code = kDLBool, .bits = 8, .format = "?"},
    {.code = kDLInt, .bits = 8, .format = "b"},
    {.code = kDLInt, .bits = 16, .format = "h"},
    {.code = kDLInt, .bits = 32, .format = "i"},
    {.code = kDLInt, .bits = 64, .format = "q"},
    {.code = kDLUInt, .bits = 8, .format = "B"},
    {.code = kDLUInt, .bits = 16, .format = "H"},
    {.code = kDLUInt, .bits = 32, .format = "I"},
    {.code = kDLUInt, .bits = 64, .format = "Q"},
    {.code = kDLFloat, .bits = 32, .format = "f"},
    {.code = kDLFloat, .bits = 64, .format = "d"},
    {.code = kDLComplex, .bits = 64, .format = "Zf"},
    {.code = kDLComplex, .bits = 128, .format = "Zd"},
    {.code = kDLFloat, .bits = 16, .format = "e"},
    {.code = kDLBfloat, .bits = 16},
};
#define N_DTYPES ((int)(sizeof dtypes / sizeof *dtypes))
#define N_STANDARD 13

#define MAX_DEVICES 64
static ra_device devices[MAX_DEVICES];
static _Atomic int n_devices;

PyTypeObject *ra_array_type;
PyObject *ra_make_view;
PyObject *ra_get_item;
PyObject *ra_prepare_export;
PyObject *ra_unknown_size;
static _Atomic(PyObject *) check_new;       /* set while other threads look */
static _Atomic(PyObject *) lend;

int ra_is_held(const ra_dtype *dtype) { return dtype >= dtypes + N_STANDARD; }
int ra_dtype_key(const ra_dtype *dtype) { return (int)(dtype - dtypes); }

const ra_dtype *ra_dtype_of(PyObject *object)
{
    for (int i = 0; i < N_DTYPES; i++)
        if (dtypes[i].object == object)
            return &dtypes[i];
    PyErr_Format(PyExc_TypeError, "%R is not a data type of refarray", object);
    return NULL;
}

const ra_dtype *ra_dtype_find(DLDataType type)
{
    for (int i = 0; i < N_DTYPES; i++)
        if (dtypes[i].code == type.code && dtypes[i].bits == type.bits && type.lanes == 1 &&
            dtypes[i].object)
            return &dtypes[i];
    PyErr_Format(PyExc_BufferError,
                 "the capsule holds elements of DLPack type code %d with %d bits and %d lanes; "
                 "refarray holds the 13 data types of the array API standard, float16 and "
                 "bfloat16, with 1 lane, and does not guess (DLPack, DLTensor)",
                 type.code, type.bits, type.lanes);
    return NULL;
}

const ra_device *ra_device_of(PyObject *object)
{
    for (int i = 0; i < n_devices; i++)
        if (devices[i].object == object)
            return &devices[i];
    PyErr_Format(PyExc_TypeError, "%R is not a device of refarray", object);
    return NULL;
}

const ra_device *ra_device_find(DLDevice place)
{
    for (int i = 0; i < n_devices; i++)
        if (devices[i].place.device_type == place.device_type &&
            devices[i].place.device_id == place.device_id)
            return &devices[i];
    PyErr_Format(PyExc_BufferError,
                 "the capsule lies on DLPack device (%d, %d), which refarray does not know "
                 "here; refarray.Device(...) lists the devices it does know (DLPack, "
                 "DLTensor)",
                 place.device_type, place.device_id);
    return NULL;
}

void ra_replace(PyObject **slot, PyObject *object)
{
    PyObject *old = *slot;
    *slot = Py_NewRef(object);
    Py_XDECREF(old);
}

PyObject *ra_shown(PyObject *object)
{
    PyObject *text = PyObject_Repr(object);
    if (text || !PyErr_ExceptionMatches(PyExc_Exception))
        return text;
    PyErr_Clear();
    PyObject *name = PyType_GetName(Py_TYPE(object));
    text = name ? PyUnicode_FromFormat("<%U that cannot be shown>", name) : NULL;
    Py_XDECREF(name);
    return text;
}

PyObject *ra_dict_get(PyObject *dict, PyObject *key)
{
#ifdef Py_GIL_DISABLED
    PyObject *value;        /* another thread may replace it meanwhile */
    PyDict_GetItemRef(dict, key, &value);
    return value;
#else
    return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

PyObject *ra_py_register_dtype(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    long code = n == 3 ? PyLong_AsLong(args[1]) : -1;
    long bits = n == 3 ? PyLong_AsLong(args[2]) : -1;
    if (PyErr_Occurred())
        return NULL;
    for (int i = 0; i < N_DTYPES; i++) {
        if (dtypes[i].code != code || dtypes[i].bits != bits)
            continue;
        if (bits == 64 && sizeof(long) == 8 && code <= kDLUInt)
            dtypes[i].format = code == kDLInt ? "l" : "L";      /* as NumPy writes it */
        ra_replace(&dtypes[i].object, args[0]);
        Py_RETURN_NONE;
    }
    PyErr_SetString(PyExc_ValueError, "register_dtype(dtype, code, bits): unknown pair");
    return NULL;
}

PyObject *ra_py_register_view(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    const ra_dtype *dtype = n == 3 ? ra_dtype_of(args[1]) : NULL;
    if (!dtype) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "register_view(make, dtype, view_dtype)");
        return NULL;
    }
    ra_replace(&ra_make_view, args[0]);
    ra_replace(&dtypes[dtype - dtypes].view_dtype, args[2]);
    Py_RETURN_NONE;
}

static PyObject *register_device(PyObject *device, PyObject *pair, DLDevice place,
                                 ra_memory_kind kind)
{
    for (int i = 0; i < n_devices; i++) {
        if (devices[i].place.device_type != place.device_type ||
            devices[i].place.device_id != place.device_id)
            continue;
        /* The package was imported anew (a test removed it from sys.modules, say). */
        ra_replace(&devices[i].pair, pair);
        ra_replace(&devices[i].object, device);
        devices[i].memory = kind;
        Py_RETURN_NONE;
    }
    if (n_devices == MAX_DEVICES) {
        PyErr_Format(PyExc_ValueError, "more than %d devices", MAX_DEVICES);
        return NULL;
    }
    /* The number last: others find what is complete. */
    devices[n_devices] = (ra_device){place, Py_NewRef(pair), Py_NewRef(device), kind};
    n_devices++;
    Py_RETURN_NONE;
}

PyObject *ra_py_register_device(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;       /* is locked where there is no GIL, and only there */
    int type, id;
    if (n != 3 || !PyTuple_Check(args[1]) || !PyArg_ParseTuple(args[1], "ii", &type, &id)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "register_device(device, (type, id), memory)");
        return NULL;
    }
    static const char *const kinds[] = {"host", "pretend", "pinned", "device"};
    int kind = 0;
    while (kind < 4 && !(PyUnicode_Check(args[2]) &&
                         PyUnicode_CompareWithASCIIString(args[2], kinds[kind]) == 0))
        kind++;
    if (kind == 4) {
        PyErr_Format(PyExc_ValueError, "no kind of memory: %R", args[2]);
        return NULL;
    }
    PyObject *done;
    Py_BEGIN_CRITICAL_SECTION(module);
    done = register_device(args[0], args[1], (DLDevice){type, id}, (ra_memory_kind)kind);
    Py_END_CRITICAL_SECTION();
    return done;
}

PyObject *ra_py_register_unknown(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 1 || !PyType_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "register_unknown(type)");
        return NULL;
    }
    ra_replace(&ra_unknown_size, args[0]);
    Py_RETURN_NONE;
}

PyObject *ra_py_register_array(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 3 || !PyType_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "register_array(type, get_item, prepare_export)");
        return NULL;
    }
    ra_replace((PyObject **)&ra_array_type, args[0]);
    ra_replace(&ra_get_item, args[1]);
    ra_replace(&ra_prepare_export, args[2]);
    Py_RETURN_NONE;
}

int ra_is_array(PyObject *object)
{
    return ra_array_type && PyObject_TypeCheck(object, ra_array_type);
}

/* ---- Profiles ----------------------------------------------------------------------- */

PyObject *ra_py_register_guard(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 2) {
        PyErr_SetString(PyExc_TypeError, "register_guard(check_new, lend)");
        return NULL;
    }
    int is_none = args[0] == Py_None;
    Py_XDECREF(atomic_exchange(&check_new, is_none ? NULL : Py_NewRef(args[0])));
    Py_XDECREF(atomic_exchange(&lend, is_none ? NULL : Py_NewRef(args[1])));
    Py_RETURN_NONE;
}

int ra_is_guarded(void) { return check_new != NULL; }

int ra_admit(const ra_dtype *dtype, const ra_device *device)
{
    PyObject *check = check_new;
    if (!check)
        return 0;
    PyObject *done = PyObject_CallFunctionObjArgs(check, dtype->object, device->object, NULL);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

int ra_lend(int *read_only, uint64_t *scramble)
{
    PyObject *ask = lend;
    if (!ask)
        return 0;
    int forbidden;
    unsigned long long seed;
    PyObject *terms = PyObject_CallNoArgs(ask);
    int failed = !terms || !PyArg_ParseTuple(terms, "pK", &forbidden, &seed);
    Py_XDECREF(terms);
    if (failed)
        return -1;
    *read_only |= forbidden;
    *scramble = seed;
    return 0;
}
