/* The table of contents of the native module: which functions Python sees, and the one call
 * that installs them. They are ordinary CPython functions and not reached through cffi's
 * `lib`, which lets go of the GIL around each call and costs 60 to 200 ns; these cost 13. */
#include "objects.h"

#define FUNCTION(name, text) \
    {#name, (PyCFunction)(void (*)(void))ra_py_##name, METH_FASTCALL, text}

static PyMethodDef functions[] = {
    FUNCTION(register_dtype,
             "register_dtype($module, dtype, code, bits, /)\n--\n\n"
             "Let `dtype` stand for the DLPack pair (code, bits)."),
    FUNCTION(register_view,
             "register_view($module, make, dtype, view_dtype, /)\n--\n\n"
             "Let kernels see memory as make(shape, view_dtype, buffer, offset, strides), the "
             "last two in bytes."),
    FUNCTION(register_device,
             "register_device($module, device, pair, memory, /)\n--\n\n"
             "Let `device` stand for the DLPack pair (type, id). memory: 'host', 'pretend', "
             "'pinned' or 'device'."),
    FUNCTION(register_memory,
             "register_memory($module, allocate, view, /)\n--\n\n"
             "Where memory is not the host's: allocate(device, nbytes, zeroed, number) gives the "
             "address of new memory, view(array) what kernels compute with. number: that of the "
             "buffer it will have, `Buffer.memory`."),
    FUNCTION(take_deferred,
             "take_deferred($module, /)\n--\n\n"
             "Memory of devices let go since the last call, as a list of (number, note, foreign, "
             "exported)."),
    FUNCTION(finish_deferred,
             "finish_deferred($module, note, /)\n--\n\n"
             "Call the deleter of foreign memory, and forget the note. Call once for each note; "
             "take_deferred() returns an unfinished note that was dropped once more."),
    FUNCTION(register_unknown,
             "register_unknown($module, type, /)\n--\n\n"
             "Let ints of this subclass be sizes which `shape` and `size` do not tell."),
    FUNCTION(register_array,
             "register_array($module, type, get_item, prepare_export, /)\n--\n\n"
             "Make arrays of `type`; call get_item(array, key) where a key selects by value, and "
             "prepare_export(array, stream, dl_device, copy) for (array, copied) where "
             "__dlpack__ was asked for more than a plain export."),
    FUNCTION(register_guard,
             "register_guard($module, check_new, lend, /)\n--\n\n"
             "From now on call check_new(dtype, device) before an array is made, and lend() "
             "for (read_only, scramble) before memory is lent to others; with None for both, "
             "as before any profile was used."),
    FUNCTION(allocate,
             "allocate($module, shape, dtype, device, zeroed, /)\n--\n\n"
             "New row-major array in memory of `device`. MemoryError, ValueError."),
    FUNCTION(register_runner,
             "register_runner($module, make_run, /)\n--\n\n"
             "Let kernels be called as run(kernel, ...), each thread with its own make_run()."),
    {"call", (PyCFunction)(void (*)(void))ra_call, METH_VARARGS | METH_KEYWORDS,
     "call($module, kernel, /, *args, **kwargs)\n--\n\n"
     "Call a kernel; no warning of NumPy leaves it."},
    FUNCTION(register_operators,
             "register_operators($module, plans, operate, /)\n--\n\n"
             "Let operators use the plans of functions by name, and where there is none call "
             "operate(name, x1, x2=<none>)."),
    FUNCTION(compute,
             "compute($module, kernel, shape, dtype, device, x1, x2=<none>, x3=<none>, /)\n--\n\n"
             "New array, into whose memory kernel(x1, x2, x3, out) has written. out is what "
             "kernels see of it, and so are those of the three that are arrays; called as by "
             "`call`."),
    FUNCTION(elementwise,
             "elementwise($module, plans, x1, x2=<none>, x3=<none>, /)\n--\n\n"
             "The result of a function that has a plan, (kernel, dtype), for these operands, "
             "else None. Plans stand in a dict at the keys of the operands' dtypes, read as "
             "digits to base 16; an int has key 14, a float 15."),
    FUNCTION(join,
             "join($module, kernel, arrays, axis, /)\n--\n\n"
             "Arrays joined along an axis by kernel(views, axis, out); None unless they are of "
             "one dtype, in memory of the host, and of sizes that agree elsewhere."),
    FUNCTION(empty_spares,
             "empty_spares($module, /)\n--\n\n"
             "Release the memory that is kept for small arrays; return for how many."),
    FUNCTION(view,
             "view($module, array, element_offset, shape, strides, read_only, /)\n--\n\n"
             "Another layout over the memory of `array`. ValueError if it leaves it. Strides "
             "of None are those of elements one after another."),
    FUNCTION(select,
             "select($module, array, key, /)\n--\n\n"
             "View that a basic key selects; None for a key that selects by value."),
    FUNCTION(wrap,
             "wrap($module, exporter, dtype, format, /)\n--\n\n"
             "Array over memory lent through the buffer protocol, whose elements have `format`. "
             "BufferError."),
    FUNCTION(export_memory,
             "export_memory($module, address, shape, strides, dtype, device, owner, flags, "
             "max_version, /)\n--\n\n"
             "Capsule over memory described by DLPack's own numbers; it keeps `owner` alive."),
    FUNCTION(import_memory,
             "import_memory($module, capsule, announced_device, /)\n--\n\n"
             "Take the tensor in `capsule` over, of any dtype and device, as (address, shape, "
             "strides, dtype, device, buffer, flags, byte_offset)."),
    FUNCTION(import_capsule,
             "import_capsule(capsule[, announced_device])\n\n"
             "Take the tensor in `capsule` over as an array. announced_device: the DLPack pair "
             "which it must agree with. BufferError, ValueError, TypeError."),
    FUNCTION(register_consumer,
             "register_consumer($module, consume, ways, /)\n--\n\n"
             "What from_dlpack uses: a dict from weak references to types that have been met, "
             "each to ask(x), for a capsule of host memory or None, or to (api, is_plain); and "
             "consume(x, device, copy, refused) for everything else."),
    FUNCTION(mark_exit,
             "mark_exit($module, /)\n--\n\n"
             "Note that this thread is about to end the interpreter."),
    {"from_dlpack", (PyCFunction)(void (*)(void))ra_from_dlpack,
     METH_FASTCALL | METH_KEYWORDS,
     "from_dlpack(x, /, *, device=None, copy=None)\n--\n\n"
     "Return an array over the memory of `x`, an object with `__dlpack__`.\n\n"
     "With `copy=None` the memory is shared where possible, with False it is shared or\n"
     "CopyError, with True it is new. AttributeError for an object without the protocol,\n"
     "BufferError for data that refarray cannot hold; what `x` raises arrives unchanged.\n\n"
     "Source: array API 2025.12, from_dlpack; DLPack 1.3."},
    FUNCTION(inspect_capsule,
             "inspect_capsule($module, capsule, /)\n--\n\n"
             "Name and address in a capsule, which stays as it is."),
    FUNCTION(exchange_api,
             "exchange_api($module, /)\n--\n\n"
             "Capsule with refarray's own C exchange API."),
    FUNCTION(import_object,
             "import_object($module, api, x, /)\n--\n\n"
             "Array over the memory of `x`, through the C exchange API in the capsule `api`."),
    FUNCTION(trace_capsule,
             "trace_capsule($module, capsule, /)\n--\n\n"
             "Take the tensor in `capsule` over into a new capsule that writes down what becomes "
             "of it: (capsule, address of the record, to be let go). ValueError."),
    {0},
};

/* Deleters run on any thread, and reach Python through PyGILState_Ensure, which leads into
 * the main interpreter. Up to Python 3.11 also from here: then the module of that name, if
 * there is one, is another than the caller's. */
static int install(PyObject *name, const void *address)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        return 1;
    PyObject *module = PyImport_GetModule(name);
    if (!module || module != address) {
        Py_XDECREF(module);
        return PyErr_Occurred() ? -1 : 1;
    }
    int failed = PyModule_AddFunctions(module, functions) < 0 ||
                 ra_objects_install(module) < 0 || ra_export_install() < 0;
    Py_DECREF(module);
    return failed ? -1 : 0;
}

int ra_install(const char *module_name, const void *address)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *name = PyUnicode_FromString(module_name);
    int result = name ? install(name, address) : -1;
    Py_XDECREF(name);
    if (result == 0)
        ra_memory_init();
    else if (result < 0)
        PyErr_Print();
    PyGILState_Release(state);
    return result;
}
