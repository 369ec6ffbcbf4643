/* A producer and a consumer of DLPack in plain C: two halves which know of each other no
 * more than DLPack says. What they exchange is 48 numbers, 4 x 12: 0, 1, ... 47. As bool,
 * every third is true; as complex numbers they have those of the rows in reverse order as
 * imaginary parts.
 * Next: producer.c, library.c, program.c. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "tensor.h" /* refarray's declaration of DLPack's structs */

#define ROWS 4
#define COLUMNS 12
#define MOST_AXES 4

/* A view of the 48 numbers; strides and offset in elements. */
typedef struct {
    int32_t ndim;
    int64_t shape[MOST_AXES];
    int64_t strides[MOST_AXES];
    int64_t offset;
} layout;

/* One number, on its way into memory or out of it. */
typedef struct {
    double real;
    double imaginary;
} number;

/* ---- producer.c: memory from malloc, and nothing of refarray ---------------------------- */

number nth(int64_t n, uint8_t code);

/* A tensor of the 48 numbers, seen through a layout. Whoever takes it calls its deleter,
 * which adds one to *calls. NULL: no memory, or a dtype that the producer lacks. */
DLManagedTensorVersioned *produce(const DLDataType *dtype, const layout *seen, uint64_t flags,
                                  int *calls);

/* ---- library.c: arrays over memory of anybody, from memory.c and tensor.c --------------- */

typedef struct array array;

/* Take a tensor over, or refuse it: in both cases it belongs to the caller no longer. NULL
 * with the reason in *wrong when it was refused. */
array *take(DLManagedTensorVersioned *managed, const char **wrong);

/* Export an array: a new tensor over the same memory. NULL: no memory. */
DLManagedTensorVersioned *give(const array *from);

void drop(array *self);
void drop_at_exit(array *self); /* when the process ends, after Python if there is one */

int32_t axes(const array *self);
int64_t extent(const array *self, int32_t axis);
int64_t size(const array *self);
DLDataType dtype_of(const array *self);
const void *first_element(const array *self);
number get(const array *self, int64_t n);      /* the nth in row-major order */
int set(array *self, int64_t n, double value); /* of float64; -1: it is read-only */

#endif
