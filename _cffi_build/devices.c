/* Memory of devices other than the host, which only their driver can give: what C asks of
 * Python for it, and the way back. Python's side is refarray/_memory/device.py.
 * Next: export.c. */
#include "objects.h"
#include "deferred.h"

static PyObject *device_allocate;   /* (device, nbytes, zeroed, memory) -> address */
static PyObject *device_view;       /* (array) -> what its kernels compute with */

static const char note_name[] = "refarray.deferred";
static const char note_name_used[] = "refarray.deferred.used";

PyObject *ra_py_register_memory(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 2) {
        PyErr_SetString(PyExc_TypeError, "register_memory(allocate, view)");
        return NULL;
    }
    ra_replace(&device_allocate, args[0]);
    ra_replace(&device_view, args[1]);
    Py_RETURN_NONE;
}

ra_buffer *ra_allocate_on(const ra_device *device, int64_t nbytes, int zeroed)
{
    if (!device_allocate) {
        PyErr_Format(PyExc_ValueError, "refarray has no memory on %R", device->object);
        return NULL;
    }
    ra_buffer *buffer = ra_buffer_of_device((size_t)nbytes);
    if (!buffer)
        return (ra_buffer *)PyErr_NoMemory();
    PyObject *number =
        PyObject_CallFunction(device_allocate, "OLiN", device->object, (long long)nbytes,
                              zeroed, PyLong_FromVoidPtr((void *)ra_deferred_note(buffer)));
    void *address = number ? PyLong_AsVoidPtr(number) : NULL;
    Py_XDECREF(number);
    if (PyErr_Occurred()) {
        /* The driver may have given memory before the exception came. Releasing the
         * buffer queues a note, and Python frees the memory recorded under its number. */
        ra_buffer_let_go(buffer);
        return NULL;
    }
    buffer->address = address;
    return buffer;
}

PyObject *ra_view_on_device(PyObject *array)
{
    if (!device_view) {
        PyErr_Format(PyExc_ValueError, "refarray cannot compute on %R",
                     ((ArrayObject *)array)->device_object);
        return NULL;
    }
    return PyObject_CallFunctionObjArgs(device_view, array, NULL);
}

/* If Python drops an unfinished note, put it back on the list, so that an exception loses
 * nothing. */
static void drop_note(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, note_name))
        ra_deferred_put_back(PyCapsule_GetPointer(capsule, note_name));
}

PyObject *ra_py_take_deferred(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module, (void)args, (void)n;
    PyObject *out = PyList_New(0);
    ra_deferred *note = out ? ra_deferred_take() : NULL;
    while (note) {
        ra_deferred *next = note->next;
        PyObject *capsule = PyCapsule_New(note, note_name, drop_note);
        if (capsule)
            note->next = NULL;  /* the capsule owns this note alone */
        else
            next = note;
        PyObject *item =
            capsule ? Py_BuildValue("NNOO", PyLong_FromVoidPtr(note), capsule,
                                    note->managed ? Py_True : Py_False,
                                    note->exported ? Py_True : Py_False)
                    : NULL;
        int failed = !item || PyList_Append(out, item) < 0;
        Py_XDECREF(item);
        if (failed) {           /* out of memory: the rest is for the next call */
            ra_deferred_put_back(next);
            if (PyList_Size(out))
                PyErr_Clear();
            else
                Py_CLEAR(out);
            next = NULL;
        }
        note = next;
    }
    return out;
}

PyObject *ra_py_finish_deferred(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    ra_deferred *note = n == 1 ? PyCapsule_GetPointer(args[0], note_name) : NULL;
    if (!note) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "finish_deferred(note)");
        return NULL;
    }
    if (PyCapsule_SetName(args[0], note_name_used) < 0)
        return NULL;
    ra_deferred_finish(note);
    Py_RETURN_NONE;
}
