/* What the fake CUDA driver is made of: devices, memory, streams, events and clocks.
 *
 * Streams are lazy. A call appends an operation to its stream's list, and the list runs
 * when somebody synchronises. A consumer that forgot to wait therefore reads the poison
 * of fresh memory, every time, and not only when the device happens to be slow.
 *
 * Besides, each access is checked against the earlier ones when it is asked for. Every
 * stream has a vector clock: `clock.of[s]` says how many operations of stream number s
 * come before whatever this stream does next. An access that is ordered neither after
 * the last write nor, if it writes, after the last reads, is a race, whatever the
 * values turn out to be.
 *
 * All of it is under one lock, and nothing is freed before fakecuda_reset: this is a
 * test fixture.
 */
#ifndef FAKECUDA_MODEL_H
#define FAKECUDA_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "../../../_cffi_build/cuda_driver.h"

enum { MAX_DEVICES = 8, MAX_STREAMS = 512, MAX_DEPTH = 32, POISON = 0xCB };
#define DEVICE_MEMORY ((size_t)1 << 30)  /* bytes of each device */
#define ARENA ((size_t)64 << 30)         /* addresses, none of them used twice */

typedef struct { uint32_t of[MAX_STREAMS]; } Clock;

/* One recording of an event, or one implicit order between two streams. */
typedef struct {
    CUstream stream;
    Clock clock;
    int done;
    double when;  /* milliseconds */
} Record;

enum Kind { COPY, FILL, CALL, RECORD, WAIT };

typedef struct Operation {
    enum Kind kind;
    void *to;
    const void *from;
    size_t nbytes;
    unsigned char value;
    CUhostFn function;
    Record *record;
    struct Operation *next;
} Operation;

struct CUctx_st { int device, retained; };

struct CUstream_st {
    int alive, number, device;
    unsigned int flags;
    Clock clock;
    Operation *first, **last;
    CUstream next;
};

struct CUevent_st {
    int alive, device;
    unsigned int flags;
    Record *record;  /* of the last recording, or NULL */
    CUevent next;
};

struct CUmemPoolHandle_st { int alive, device; };

enum Place { ON_DEVICE, MANAGED, PINNED };

typedef struct Memory {
    CUdeviceptr address;
    unsigned char *bytes;  /* where the driver reads and writes; the host must not */
    size_t size;
    enum Place place;
    int alive, number, device;
    int writer;            /* the stream that wrote last, or -1 */
    uint32_t written;      /* and its clock then */
    uint32_t read[MAX_STREAMS];
    struct Memory *next;
} Memory;

extern struct CUctx_st contexts[MAX_DEVICES];
extern Memory *memories;
extern CUevent events;

void *take(size_t nbytes);  /* zeroed, until the reset */
void clear_model(void);

/* Memory. */
Memory *new_memory(enum Place place, int device, size_t size);  /* NULL: no room */
Memory *find_memory(CUdeviceptr address, size_t nbytes);  /* NULL: none, or not inside */
void forget_memory(Memory *memory);
size_t free_memory(int device);

/* Streams. `usable_stream` resolves 0, 1 and 2; NULL if there is no such stream. */
CUstream new_stream(int device, unsigned int flags);
CUstream usable_stream(CUstream handle, int device);
int is_stream(CUstream stream);
void forget_streams(int device);
void drain(CUstream stream);
void drain_device(int device);
int has_work(CUstream stream);
void run_one(CUstream stream);
void host_waited_for(const Clock *clock);

/* Work. Whatever is asked of a stream begins with `begin`, which puts it after all that
 * CUDA orders it after; `enqueue` does so itself. */
void begin(CUstream stream);
Operation *enqueue(CUstream stream, enum Kind kind);
void reads(CUstream stream, Memory *memory);
void writes(CUstream stream, Memory *memory);
Record *new_record(CUstream stream);
void wait_for(CUstream stream, Record *record);
void run_until(Record *record);

#endif
