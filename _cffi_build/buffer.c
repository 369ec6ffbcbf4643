/* Memory as a Python object: what arrays and the kernels' views of them hold on to.
 * Next: objects.c. */
#include "objects.h"
#include "deferred.h"
#include "system.h"

static PyTypeObject *buffer_type;

/* Where an array without elements points to: an address, aligned, never read. */
_Alignas(64) char ra_nothing[64];

void ra_object_free(PyObject *object)
{
    /* A subclass written in Python may be one that the garbage collector tracks. */
    PyTypeObject *type = Py_TYPE(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* Set in the thread that ends the interpreter. It tears modules down after Py_IsInitialized()
 * becomes 0, and release functions may still call Python there. */
static RA_THREAD_LOCAL int ends_interpreter;

PyObject *ra_py_mark_exit(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module, (void)args, (void)n;
    ends_interpreter = 1;
    Py_RETURN_NONE;
}

int ra_python_runs(void)
{
    return Py_IsInitialized() || (ends_interpreter && PyGILState_GetThisThreadState());
}

void ra_let_go(ra_buffer *buffer)
{
    if (!buffer->owner) {       /* memory of ours: nobody else's code runs */
        ra_buffer_let_go(buffer);
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    ra_buffer_let_go(buffer);
    PyErr_Restore(type, value, traceback);
}

/* All arrays over a buffer that keeps a Python object share one BufferObject. Only that holds a
 * reference to the buffer, so a count of 1 means that there is no other holder. Without a GIL, its last reference
 * may have gone in another thread, which is about to deallocate it. */
static PyObject *find_object(ra_buffer *buffer)
{
    PyObject *found;
    if (!buffer->keeps)
        return NULL;
    Py_BEGIN_CRITICAL_SECTION((PyObject *)buffer_type);
    found = buffer->object;
#ifdef Py_GIL_DISABLED
    if (found && !PyUnstable_TryIncRef(found))
        found = NULL;
#else
    Py_XINCREF(found);
#endif
    Py_END_CRITICAL_SECTION();
    return found;
}

/* Let arrays find `new` in the place of `old`, unless another thread has changed that. */
static void replace_object(ra_buffer *buffer, PyObject *old, PyObject *new)
{
    Py_BEGIN_CRITICAL_SECTION((PyObject *)buffer_type);
    if (buffer->object == old)
        buffer->object = new;
    Py_END_CRITICAL_SECTION();
}

PyObject *ra_buffer_object(ra_buffer *buffer, int on_host)
{
    PyObject *shared = find_object(buffer);
    BufferObject *self = shared ? NULL : PyObject_GC_New(BufferObject, buffer_type);
    if (!self) {
        ra_let_go(buffer);
        return shared;
    }
    self->buffer = buffer;
    self->on_host = on_host;
    if (buffer->keeps) {
#ifdef Py_GIL_DISABLED
        PyUnstable_EnableTryIncRef((PyObject *)self);
#endif
        replace_object(buffer, NULL, (PyObject *)self);
        PyObject_GC_Track(self);
    }
    return (PyObject *)self;
}

static void release_owner(ra_buffer *self)
{
    if (!ra_python_runs())
        return;                 /* the owner went with the interpreter */
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_DECREF((PyObject *)self->owner);
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(state);
}

ra_buffer *ra_buffer_of_owner(char *address, size_t nbytes, const char *kind, uint64_t flags,
                              PyObject *owner)
{
    ra_buffer *buffer = ra_buffer_wrap(address, nbytes, kind, flags, owner, release_owner);
    if (!buffer)
        return (ra_buffer *)PyErr_NoMemory();
    buffer->keeps = Py_NewRef(owner);
    return buffer;
}

static void buffer_dealloc(PyObject *object)
{
    ra_buffer *buffer = ((BufferObject *)object)->buffer;
    PyObject_GC_UnTrack(object);
    if (buffer->keeps)
        replace_object(buffer, object, NULL);
    ra_let_go(buffer);
    ra_object_free(object);
}

/* The collector needs exact counts, so visit the owner only if this object holds the buffer's
 * only reference. Only Python code adds references, so none appears while the collector runs;
 * deleters can only lower the count. */
static int buffer_traverse(PyObject *object, visitproc visit, void *arg)
{
    ra_buffer *buffer = ((BufferObject *)object)->buffer;
    Py_VISIT(Py_TYPE(object));
    if (atomic_load(&buffer->references) == 1)
        Py_VISIT((PyObject *)buffer->keeps);
    return 0;
}

static int buffer_getbuffer(PyObject *object, Py_buffer *view, int flags)
{
    BufferObject *self = (BufferObject *)object;
    if (!self->on_host) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "this memory is not on the host");
        return -1;
    }
    ra_buffer *buffer = self->buffer;
    return PyBuffer_FillInfo(view, object, buffer->address ? buffer->address : ra_nothing,
                             (Py_ssize_t)buffer->nbytes,
                             (buffer->flags & RA_FLAG_READ_ONLY) != 0, flags);
}

static PyObject *buffer_address(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(((BufferObject *)self)->buffer->address);
}

static PyObject *buffer_nbytes(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(((BufferObject *)self)->buffer->nbytes);
}

static PyObject *buffer_kind(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(((BufferObject *)self)->buffer->kind);
}

static PyObject *buffer_flags(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(((BufferObject *)self)->buffer->flags);
}

static PyObject *buffer_memory(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr((void *)ra_deferred_note(((BufferObject *)self)->buffer));
}

static PyGetSetDef buffer_getset[] = {
    {"address", buffer_address, NULL, "Lowest address.", NULL},
    {"nbytes", buffer_nbytes, NULL, "Extent in bytes.", NULL},
    {"kind", buffer_kind, NULL,
     "Who owns the memory: 'host' and 'device' (refarray), 'imported' (the producer of a "
     "capsule) or 'exporter' (an object with the buffer protocol).", NULL},
    {"flags", buffer_flags, NULL, "DLPack flags that the memory came with.", NULL},
    {"memory", buffer_memory, NULL,
     "Which memory of a device this is: a number, the same for all that we exported and "
     "imported again; 0 on the host.", NULL},
    {0},
};

static PyType_Slot buffer_slots[] = {
    {Py_tp_doc, "Memory that arrays and views share; it goes back when the last lets go."},
    {Py_tp_dealloc, buffer_dealloc},
    {Py_tp_traverse, buffer_traverse},
    {Py_tp_getset, buffer_getset},
    {Py_bf_getbuffer, buffer_getbuffer},
    {0, NULL},
};

static PyType_Spec buffer_spec = {
    .name = "refarray._native.Buffer",
    .basicsize = sizeof(BufferObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC,
    .slots = buffer_slots,
};

int ra_buffer_install(PyObject *module)
{
    buffer_type = (PyTypeObject *)PyType_FromSpec(&buffer_spec);
    return !buffer_type || PyModule_AddType(module, buffer_type) < 0 ? -1 : 0;
}
