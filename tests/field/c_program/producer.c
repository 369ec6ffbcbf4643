/* The producer: one block of memory, one managed tensor over a part of it, one deleter. A
 * C library without any helper would be written like this. Next: library.c. */
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

/* All that one tensor needs, so that one deleter can give all of it back. */
typedef struct {
    DLManagedTensorVersioned managed;
    int64_t shape[MOST_AXES];
    int64_t strides[MOST_AXES];
    void *block;
    int *calls;
} product;

static void delete_product(DLManagedTensorVersioned *self)
{
    product *it = self->manager_ctx;
    ++*it->calls;
    free(it->block);
    free(it); /* the struct that `self` points to is part of it */
}

number nth(int64_t n, uint8_t code)
{
    if (code == kDLBool)
        return (number){n % 3 == 0, 0};
    int64_t mirrored = (ROWS - 1 - n / COLUMNS) * COLUMNS + n % COLUMNS;
    return (number){(double)n, code == kDLComplex ? (double)mirrored : 0};
}

/* The upper half of a float, and IEEE's half: exact for whole numbers up to 256. */
static uint16_t half(float value, int brain)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (brain || value == 0)
        return (uint16_t)(bits >> 16);
    return (uint16_t)(((bits >> 23) - 127 + 15) << 10 | (bits >> 13 & 0x3ff));
}

#define PUT(type, value)                                                                  \
    do {                                                                                  \
        type element = (type)(value);                                                     \
        memcpy(to, &element, sizeof element);                                             \
    } while (0)

/* Write one number. Returns 0, or -1 for another dtype. */
static int put(char *to, const DLDataType *dtype, number value)
{
    switch (dtype->lanes == 1 ? dtype->code << 8 | dtype->bits : -1) {
    case kDLInt << 8 | 8: PUT(int8_t, value.real); return 0;
    case kDLInt << 8 | 16: PUT(int16_t, value.real); return 0;
    case kDLInt << 8 | 32: PUT(int32_t, value.real); return 0;
    case kDLInt << 8 | 64: PUT(int64_t, value.real); return 0;
    case kDLUInt << 8 | 8:
    case kDLBool << 8 | 8: PUT(uint8_t, value.real); return 0;
    case kDLUInt << 8 | 16: PUT(uint16_t, value.real); return 0;
    case kDLUInt << 8 | 32: PUT(uint32_t, value.real); return 0;
    case kDLUInt << 8 | 64: PUT(uint64_t, value.real); return 0;
    case kDLFloat << 8 | 16: PUT(uint16_t, half((float)value.real, 0)); return 0;
    case kDLBfloat << 8 | 16: PUT(uint16_t, half((float)value.real, 1)); return 0;
    case kDLFloat << 8 | 32: PUT(float, value.real); return 0;
    case kDLFloat << 8 | 64: PUT(double, value.real); return 0;
    case kDLComplex << 8 | 64:
        PUT(float, value.real);
        to += sizeof(float);
        PUT(float, value.imaginary);
        return 0;
    case kDLComplex << 8 | 128:
        PUT(double, value.real);
        to += sizeof(double);
        PUT(double, value.imaginary);
        return 0;
    }
    return -1;
}

DLManagedTensorVersioned *produce(const DLDataType *dtype, const layout *seen, uint64_t flags,
                                  int *calls)
{
    size_t itemsize = dtype->bits / 8u;
    product *it = calloc(1, sizeof *it);
    char *block = malloc(ROWS * COLUMNS * 16);
    int known = it && block;
    int64_t size = 1;
    for (int64_t n = 0; known && n < ROWS * COLUMNS; n++)
        known = put(block + (size_t)n * itemsize, dtype, nth(n, dtype->code)) == 0;
    if (!known) {
        free(block);
        free(it);
        return NULL;
    }
    for (int32_t i = 0; i < seen->ndim; i++)
        size *= seen->shape[i];
    memcpy(it->shape, seen->shape, sizeof it->shape);
    memcpy(it->strides, seen->strides, sizeof it->strides);
    it->block = block;
    it->calls = calls;
    it->managed = (DLManagedTensorVersioned){
        .version = {1, 3},
        .manager_ctx = it,
        .deleter = delete_product,
        .flags = flags,
        .dl_tensor =
            {
                .data = size ? block : NULL,
                .device = {kDLCPU, 0},
                .ndim = seen->ndim,
                .dtype = *dtype,
                .shape = seen->ndim ? it->shape : NULL,
                .strides = seen->ndim ? it->strides : NULL,
                .byte_offset = size ? (uint64_t)seen->offset * itemsize : 0,
            },
    };
    return &it->managed;
}
