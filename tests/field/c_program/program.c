/* A producer and a consumer in one program, without Python: every dtype in every layout,
 * what is read-only, what is refused, who frees. Prints what it did; exit status 0 when all
 * of it was right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

static const struct {
    const char *name;
    DLDataType dtype;
} DTYPES[] = {
    {"bool", {kDLBool, 8, 1}},          {"int8", {kDLInt, 8, 1}},
    {"int16", {kDLInt, 16, 1}},         {"int32", {kDLInt, 32, 1}},
    {"int64", {kDLInt, 64, 1}},         {"uint8", {kDLUInt, 8, 1}},
    {"uint16", {kDLUInt, 16, 1}},       {"uint32", {kDLUInt, 32, 1}},
    {"uint64", {kDLUInt, 64, 1}},       {"float16", {kDLFloat, 16, 1}},
    {"bfloat16", {kDLBfloat, 16, 1}},   {"float32", {kDLFloat, 32, 1}},
    {"float64", {kDLFloat, 64, 1}},     {"complex64", {kDLComplex, 64, 1}},
    {"complex128", {kDLComplex, 128, 1}},
};

static const struct {
    const char *name;
    layout seen;
} LAYOUTS[] = {
    {"compact", {2, {4, 12}, {12, 1}, 0}},
    {"strided", {2, {2, 4}, {24, 3}, 0}},
    {"transposed", {2, {12, 4}, {1, 12}, 0}},
    {"offset", {2, {2, 9}, {12, 1}, 27}},
    {"column", {1, {4}, {12}, 5}},
    {"new axes", {4, {1, 4, 1, 12}, {48, 12, 12, 1}, 0}},
    {"reversed", {2, {4, 12}, {-12, -1}, 47}},
    {"broadcast", {2, {3, 12}, {0, 1}, 12}},
    {"0-d", {0, {0}, {0}, 14}},
    {"empty", {2, {0, 12}, {12, 1}, 0}},
};

#define COUNT(table) (sizeof table / sizeof *table)

static const DLDataType FLOAT64 = {kDLFloat, 64, 1};
static const char *dtype_name = "float64", *layout_name = "compact";

static void fail(const char *what)
{
    fprintf(stderr, "failed: %s (%s, %s)\n", what, dtype_name, layout_name);
    exit(1);
}

/* The nth number of a layout, found by counting indices: not as the library does it. */
static number expected(const layout *seen, int64_t n, uint8_t code)
{
    int64_t index[MOST_AXES] = {0}, where = seen->offset;
    while (n--)
        for (int32_t i = seen->ndim - 1; i >= 0 && ++index[i] == seen->shape[i]; i--)
            index[i] = 0;
    for (int32_t i = 0; i < seen->ndim; i++)
        where += index[i] * seen->strides[i];
    return nth(where, code);
}

static int64_t check(const array *it, const layout *seen, uint8_t code)
{
    int64_t count = 1;
    if (axes(it) != seen->ndim)
        fail("number of axes");
    for (int32_t i = 0; i < seen->ndim; i++) {
        if (extent(it, i) != seen->shape[i])
            fail("shape");
        count *= seen->shape[i];
    }
    if (size(it) != count)
        fail("number of elements");
    for (int64_t n = 0; n < count; n++) {
        number found = get(it, n), right = expected(seen, n, code);
        if (found.real != right.real || found.imaginary != right.imaginary)
            fail("values");
    }
    return count;
}

static array *take_or_fail(DLManagedTensorVersioned *managed)
{
    const char *wrong;
    array *it = managed ? take(managed, &wrong) : NULL;
    if (!it)
        fail(managed ? wrong : "no tensor was made");
    return it;
}

/* From the producer to the library, which hands it on to itself; then the first owner
 * goes, and the memory has to stay. */
static int64_t exchange(const DLDataType *dtype, const layout *seen)
{
    int calls = 0;
    DLManagedTensorVersioned *managed = produce(dtype, seen, 0, &calls);
    const char *data = managed ? managed->dl_tensor.data : NULL;
    array *first = take_or_fail(managed);
    int64_t count = check(first, seen, dtype->code);
    if (count && (const char *)first_element(first) != data + seen->offset * dtype->bits / 8)
        fail("the first element lies elsewhere");
    array *second = take_or_fail(give(first));
    if (first_element(second) != first_element(first))
        fail("the memory is not shared");
    drop(first);
    check(second, seen, dtype->code);
    if (calls)
        fail("the deleter ran too early");
    drop(second);
    if (calls != 1)
        fail("the deleter did not run once");
    return count;
}

static void writes_and_read_only(void)
{
    int calls = 0;
    array *it = take_or_fail(produce(&FLOAT64, &LAYOUTS[0].seen, 0, &calls));
    array *other = take_or_fail(give(it));
    if (set(it, 13, 99) || get(other, 13).real != 99)
        fail("a write is not seen");
    drop(it);
    drop(other);

    it = take_or_fail(produce(&FLOAT64, &LAYOUTS[0].seen, RA_FLAG_READ_ONLY, &calls));
    other = take_or_fail(give(it));
    if (!set(it, 13, 99) || !set(other, 13, 99) || get(it, 13).real != 13)
        fail("read-only memory was written");
    drop(other);
    drop(it);
    if (calls != 2)
        fail("two tensors were made");
}

/* What a consumer must refuse: it gives the tensor back, once, and says why. */
static void refusals(void)
{
    static const char *const reasons[] = {
        "its major version is not 1",
        "its memory is not the host's",
        "its dtype is not known here",
        "its ndim is negative",
        "its shape has a negative extent",
        "its data is NULL though it has elements",
        "its shape is NULL though it has dimensions",
        "its shape and strides reach further than 2**63 - 1 bytes",
    };
    for (size_t i = 0; i < COUNT(reasons); i++) {
        int calls = 0;
        const char *wrong = NULL;
        DLManagedTensorVersioned *it = produce(&FLOAT64, &LAYOUTS[0].seen, 0, &calls);
        if (!it)
            fail("no tensor was made");
        switch (i) {
        case 0: it->version.major = 2; break;
        case 1: it->dl_tensor.device.device_type = kDLCUDA; break;
        case 2: it->dl_tensor.dtype.code = kDLOpaqueHandle; break;
        case 3: it->dl_tensor.ndim = -1; break;
        case 4: it->dl_tensor.shape[1] = -3; break;
        case 5: it->dl_tensor.data = NULL; break;
        case 6: it->dl_tensor.shape = NULL; break;
        case 7: it->dl_tensor.strides[0] = INT64_MAX / 4; break;
        }
        if (take(it, &wrong) || strcmp(wrong, reasons[i]))
            fail(reasons[i]);
        if (calls != 1)
            fail("what was refused was not given back once");
    }
    printf("%zu refusals\n", COUNT(reasons));
}

int main(void)
{
    int64_t numbers = 0;
    ra_memory_init();
    for (size_t d = 0; d < COUNT(DTYPES); d++)
        for (size_t i = 0; i < COUNT(LAYOUTS); i++) {
            dtype_name = DTYPES[d].name;
            layout_name = LAYOUTS[i].name;
            numbers += exchange(&DTYPES[d].dtype, &LAYOUTS[i].seen);
        }
    printf("%zu dtypes in %zu layouts: %lld numbers read\n", COUNT(DTYPES), COUNT(LAYOUTS),
           (long long)numbers);
    dtype_name = "float64";
    layout_name = "compact";
    writes_and_read_only();
    refusals();

    ra_statistics counts;
    ra_memory_statistics(&counts);
    if (counts.imported != counts.imports_deleted || counts.exported != counts.exports_deleted)
        fail("deleters do not balance");
    printf("%lld tensors taken over and given back\n", (long long)counts.imported);
    return 0;
}
