/* The consumer: a very small array library, made of refarray's memory.c and tensor.c. They
 * check a tensor and see to it that its deleter runs once; what is left to do here is to
 * know dtypes and devices. No Python anywhere. Next: program.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

struct array {
    ra_buffer *buffer; /* counted: keeps the producer's tensor until the last one goes */
    ra_tensor_copy copy; /* what the producer said, read once */
};

static int is_known(DLDataType dtype)
{
    int bits = dtype.bits;
    if (dtype.lanes != 1)
        return 0;
    switch (dtype.code) {
    case kDLInt:
    case kDLUInt: return bits == 8 || bits == 16 || bits == 32 || bits == 64;
    case kDLFloat: return bits == 16 || bits == 32 || bits == 64;
    case kDLBfloat: return bits == 16;
    case kDLComplex: return bits == 64 || bits == 128;
    case kDLBool: return bits == 8;
    }
    return 0;
}

/* Copy what a tensor says that is not ours yet, and check it. Returns NULL, or what is
 * wrong. */
static const char *look(const DLManagedTensorVersioned *managed, ra_tensor_copy *out)
{
    /* Another major version may be another struct, from the flags on. */
    if (managed->version.major != RA_VERSION_MAJOR)
        return "its major version is not 1";
    ra_copy_tensor(&managed->dl_tensor, managed->flags, out);
    if (out->tensor.device.device_type != kDLCPU)
        return "its memory is not the host's";
    if (!is_known(out->tensor.dtype))
        return "its dtype is not known here";
    return ra_check_tensor(out, out->tensor.dtype.bits / 8);
}

array *take(DLManagedTensorVersioned *managed, const char **wrong)
{
    array *out = calloc(1, sizeof *out);
    *wrong = out ? look(managed, &out->copy) : "there is no memory";
    if (!*wrong && !(out->buffer = ra_import(managed, 1, &out->copy)))
        *wrong = "there is no memory";
    if (*wrong) {
        if (managed->deleter)
            managed->deleter(managed);
        free(out);
        return NULL;
    }
    return out;
}

DLManagedTensorVersioned *give(const array *from)
{
    DLTensor tensor = from->copy.tensor;
    tensor.data = from->copy.first;
    tensor.byte_offset = 0;
    return ra_export(from->buffer, &tensor, 1, from->buffer->flags & RA_FLAG_READ_ONLY);
}

void drop(array *self)
{
    ra_buffer_let_go(self->buffer);
    free(self);
}

static array *last;

static void drop_last(void)
{
    drop(last);
    puts("dropped");
}

void drop_at_exit(array *self)
{
    last = self;
    atexit(drop_last);
}

int32_t axes(const array *self) { return self->copy.tensor.ndim; }
int64_t extent(const array *self, int32_t axis) { return self->copy.shape[axis]; }
int64_t size(const array *self) { return self->copy.extent.size; }
DLDataType dtype_of(const array *self) { return self->copy.tensor.dtype; }
const void *first_element(const array *self) { return self->copy.first; }

/* Where the nth element lies: the last axis counts fastest. */
static char *at(const array *self, int64_t n)
{
    int64_t steps = 0;
    for (int32_t i = self->copy.tensor.ndim - 1; i >= 0; i--) {
        steps += n % self->copy.shape[i] * self->copy.strides[i];
        n /= self->copy.shape[i];
    }
    return self->copy.first + steps * (self->copy.tensor.dtype.bits / 8);
}

static double of_half(uint16_t bits, int brain)
{
    float value;
    uint32_t wide = (uint32_t)bits << 16;
    if (!brain && bits) /* normal numbers: that is all this program meets */
        wide = (bits & 0x8000u) << 16 | ((bits >> 10 & 31u) + 127 - 15) << 23 |
               (bits & 0x3ffu) << 13;
    memcpy(&value, &wide, sizeof value);
    return value;
}

#define AS(type) (*(const type *)from)

number get(const array *self, int64_t n)
{
    const char *from = at(self, n);
    switch (self->copy.tensor.dtype.code << 8 | self->copy.tensor.dtype.bits) {
    case kDLInt << 8 | 8: return (number){AS(int8_t), 0};
    case kDLInt << 8 | 16: return (number){AS(int16_t), 0};
    case kDLInt << 8 | 32: return (number){AS(int32_t), 0};
    case kDLInt << 8 | 64: return (number){(double)AS(int64_t), 0};
    case kDLBool << 8 | 8:
    case kDLUInt << 8 | 8: return (number){AS(uint8_t), 0};
    case kDLUInt << 8 | 16: return (number){AS(uint16_t), 0};
    case kDLUInt << 8 | 32: return (number){AS(uint32_t), 0};
    case kDLUInt << 8 | 64: return (number){(double)AS(uint64_t), 0};
    case kDLFloat << 8 | 16: return (number){of_half(AS(uint16_t), 0), 0};
    case kDLBfloat << 8 | 16: return (number){of_half(AS(uint16_t), 1), 0};
    case kDLFloat << 8 | 32: return (number){AS(float), 0};
    case kDLFloat << 8 | 64: return (number){AS(double), 0};
    case kDLComplex << 8 | 64: return (number){AS(float), ((const float *)from)[1]};
    }
    return (number){AS(double), ((const double *)from)[1]}; /* complex128 */
}

int set(array *self, int64_t n, double value)
{
    if (self->buffer->flags & RA_FLAG_READ_ONLY)
        return -1;
    *(double *)at(self, n) = value;
    return 0;
}
