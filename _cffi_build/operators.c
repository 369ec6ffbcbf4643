/* Operators: each is the standard's function of that meaning. With a plan (compute.c) it is
 * carried out at once; else, and for operands that are none of ours, it is called in Python
 * (refarray/_compute/operators.py), where in-place operators are too. Next: devices.c. */
#include "objects.h"

/* The operators, and the functions that they are. */
#define BINARY_OPERATORS(X)                                                               \
    X(add) X(subtract) X(multiply) X(divide) X(floor_divide) X(remainder) X(pow) X(matmul)    \
    X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(bitwise_left_shift) X(bitwise_right_shift)  \
    X(less) X(less_equal) X(equal) X(not_equal) X(greater) X(greater_equal)
#define UNARY_OPERATORS(X) X(negative) X(positive) X(abs) X(bitwise_invert)

#define AS_NUMBER(name) N_##name,
enum { BINARY_OPERATORS(AS_NUMBER) UNARY_OPERATORS(AS_NUMBER) N_OPERATORS };

#define AS_TEXT(name) #name,
static const char *const texts[] = {BINARY_OPERATORS(AS_TEXT) UNARY_OPERATORS(AS_TEXT)};
static PyObject *names[N_OPERATORS];

static PyObject *plans;         /* dict: name to the plans of that function */
static PyObject *operate;       /* operate(name, x1[, x2]): the same in Python */

PyObject *ra_py_register_operators(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 2 || !PyDict_Check(args[0]) || !PyCallable_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "register_operators(plans, operate)");
        return NULL;
    }
    for (int i = 0; i < N_OPERATORS; i++)
        if (!names[i] && !(names[i] = PyUnicode_InternFromString(texts[i])))
            return NULL;
    ra_replace(&plans, args[0]);
    ra_replace(&operate, args[1]);
    Py_RETURN_NONE;
}

/* x2: NULL for one operand. */
static PyObject *apply(int operator, PyObject *x1, PyObject *x2)
{
    PyObject *const operands[2] = {x1, x2};
    PyObject *known = ra_dict_get(plans, names[operator]);
    PyObject *array = known ? ra_elementwise(known, operands, x2 ? 2 : 1) : NULL;
    Py_XDECREF(known);
    if (array || PyErr_Occurred())
        return array;
    return PyObject_CallFunctionObjArgs(operate, names[operator], x1, x2, NULL);
}

#define AS_BINARY(name)                                                                   \
    static PyObject *do_##name(PyObject *x1, PyObject *x2) { return apply(N_##name, x1, x2); }
#define AS_UNARY(name)                                                                    \
    static PyObject *do_##name(PyObject *x) { return apply(N_##name, x, NULL); }
BINARY_OPERATORS(AS_BINARY)
UNARY_OPERATORS(AS_UNARY)

static PyObject *power(PyObject *x1, PyObject *x2, PyObject *modulus)
{
    return modulus == Py_None ? do_pow(x1, x2) : Py_NewRef(Py_NotImplemented);
}

static PyObject *compare(PyObject *x1, PyObject *x2, int how)
{
    switch (how) {
    case Py_LT: return do_less(x1, x2);
    case Py_LE: return do_less_equal(x1, x2);
    case Py_EQ: return do_equal(x1, x2);
    case Py_NE: return do_not_equal(x1, x2);
    case Py_GT: return do_greater(x1, x2);
    default: return do_greater_equal(x1, x2);
    }
}

const PyType_Slot ra_operator_slots[RA_OPERATOR_SLOTS] = {
    {Py_nb_add, do_add},
    {Py_nb_subtract, do_subtract},
    {Py_nb_multiply, do_multiply},
    {Py_nb_true_divide, do_divide},
    {Py_nb_floor_divide, do_floor_divide},
    {Py_nb_remainder, do_remainder},
    {Py_nb_power, power},
    {Py_nb_matrix_multiply, do_matmul},
    {Py_nb_and, do_bitwise_and},
    {Py_nb_or, do_bitwise_or},
    {Py_nb_xor, do_bitwise_xor},
    {Py_nb_lshift, do_bitwise_left_shift},
    {Py_nb_rshift, do_bitwise_right_shift},
    {Py_nb_negative, do_negative},
    {Py_nb_positive, do_positive},
    {Py_nb_absolute, do_abs},
    {Py_nb_invert, do_bitwise_invert},
    {Py_tp_richcompare, compare},
    {Py_tp_hash, PyObject_HashNotImplemented},      /* == gives an array */
};
