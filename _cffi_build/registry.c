/* What Python registers with the C code at import: the objects that stand for data types
 * and devices, the Array type, and the function that prepares an unusual export. */
#include "objects.h"

#define LONG_LONG (sizeof(long) == 8 ? "l" : "q")
#define ULONG_LONG (sizeof(long) == 8 ? "L" : "Q")

/* The thirteen of the standard, then the two which refarray only holds. */
static ra_dtype dtypes[] = {
    {kDLBool, 8, "?", NULL},      {kDLInt, 8, "b", NULL},      {kDLInt, 16, "h", NULL},
    {kDLInt, 32, "i", NULL},      {kDLInt, 64, NULL, NULL},    {kDLUInt, 8, "B", NULL},
    {kDLUInt, 16, "H", NULL},     {kDLUInt, 32, "I", NULL},    {kDLUInt, 64, NULL, NULL},
    {kDLFloat, 32, "f", NULL},    {kDLFloat, 64, "d", NULL},   {kDLComplex, 64, "Zf", NULL},
    {kDLComplex, 128, "Zd", NULL}, {kDLFloat, 16, "e", NULL},  {kDLBfloat, 16, NULL, NULL},
};
#define N_DTYPES ((int)(sizeof dtypes / sizeof *dtypes))

#define MAX_DEVICES 64
static ra_device devices[MAX_DEVICES];
static int n_devices;

PyTypeObject *ra_array_type;
PyObject *ra_prepare_export;

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
                 "bfloat16, with 1 lane (DLPack: a consumer must not guess)",
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
                 "here; refarray.Device(...) lists the devices it does know",
                 place.device_type, place.device_id);
    return NULL;
}

static void replace(PyObject **slot, PyObject *object)
{
    PyObject *old = *slot;
    *slot = Py_NewRef(object);
    Py_XDECREF(old);
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
        if (code == kDLInt && bits == 64)
            dtypes[i].format = LONG_LONG;       /* NumPy's own letter for int64 */
        if (code == kDLUInt && bits == 64)
            dtypes[i].format = ULONG_LONG;
        replace(&dtypes[i].object, args[0]);
        Py_RETURN_NONE;
    }
    PyErr_SetString(PyExc_ValueError, "register_dtype(dtype, code, bits): unknown pair");
    return NULL;
}

PyObject *ra_py_register_device(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    int type, id;
    if (n != 2 || !PyTuple_Check(args[1]) || !PyArg_ParseTuple(args[1], "ii", &type, &id)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "register_device(device, (type, id))");
        return NULL;
    }
    for (int i = 0; i < n_devices; i++) {
        if (devices[i].place.device_type != type || devices[i].place.device_id != id)
            continue;
        /* The package was imported anew (a test removed it from sys.modules, say). */
        replace(&devices[i].pair, args[1]);
        replace(&devices[i].object, args[0]);
        Py_RETURN_NONE;
    }
    if (n_devices == MAX_DEVICES) {
        PyErr_Format(PyExc_ValueError, "more than %d devices", MAX_DEVICES);
        return NULL;
    }
    devices[n_devices++] =
        (ra_device){{type, id}, Py_NewRef(args[1]), Py_NewRef(args[0])};
    Py_RETURN_NONE;
}

PyObject *ra_py_register_array(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 2 || !PyType_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "register_array(type, prepare_export)");
        return NULL;
    }
    replace((PyObject **)&ra_array_type, args[0]);
    replace(&ra_prepare_export, args[1]);
    Py_RETURN_NONE;
}

int ra_is_array(PyObject *object)
{
    return ra_array_type && PyObject_TypeCheck(object, ra_array_type);
}
