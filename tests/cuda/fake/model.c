/* The model of model.h: how memory, streams and clocks behave. */

#define _GNU_SOURCE
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct CUctx_st contexts[MAX_DEVICES];
Memory *memories;
CUevent events;

static CUstream streams;
static int stream_count, memory_count, generation;
static Clock host;  /* what the host knows to be over; one for all its threads */

/* Every piece of the model, in one list. */
typedef struct Piece { struct Piece *next; max_align_t content[]; } Piece;
static Piece *pieces;

void *take(size_t nbytes) {
    Piece *piece = calloc(1, sizeof *piece + nbytes);
    if (piece == NULL)
        abort();
    piece->next = pieces;
    pieces = piece;
    return piece->content;
}

/* ---- Races ------------------------------------------------------------------------ */

enum { MAX_RACES = 100 };
static char race_texts[MAX_RACES][120];
static int race_count;

int fakecuda_races(void) { return race_count; }

const char *fakecuda_race(int number) { return race_texts[number]; }

static void report(const char *what, const Memory *memory, CUstream after, int before) {
    if (race_count < MAX_RACES)
        snprintf(race_texts[race_count++], sizeof race_texts[0],
                 "%s on allocation #%d: stream #%d is not ordered after stream #%d",
                 what, memory->number, after->number, before);
}

static void check_writer(const char *what, CUstream stream, const Memory *memory) {
    if (memory->writer >= 0 && stream->clock.of[memory->writer] < memory->written)
        report(what, memory, stream, memory->writer);
}

void reads(CUstream stream, Memory *memory) {
    check_writer("read after write", stream, memory);
    memory->read[stream->number] = stream->clock.of[stream->number];
}

void writes(CUstream stream, Memory *memory) {
    check_writer("write after write", stream, memory);
    for (int s = 0; s < stream_count; s++)
        if (stream->clock.of[s] < memory->read[s])
            report("write after read", memory, stream, s);
    memory->writer = stream->number;
    memory->written = stream->clock.of[stream->number];
}

static void join(Clock *clock, const Clock *other) {
    for (int s = 0; s < stream_count; s++)
        if (clock->of[s] < other->of[s])
            clock->of[s] = other->of[s];
}

void host_waited_for(const Clock *clock) { join(&host, clock); }

/* ---- Memory ----------------------------------------------------------------------- */

/* Device memory is mapped twice: at its device address, where every access of the host
 * ends in SIGSEGV, and where the driver reads and writes it. */
static unsigned char *device_view, *driver_view;
static size_t arena_used;

static void map_arena(void) {
    int file = memfd_create("fakecuda", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, ARENA) != 0)
        abort();
    int flags = MAP_SHARED | MAP_NORESERVE;
    device_view = mmap(NULL, ARENA, PROT_NONE, flags, file, 0);
    driver_view = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, flags, file, 0);
    if (device_view == MAP_FAILED || driver_view == MAP_FAILED)
        abort();
    close(file);
}

size_t free_memory(int device) {
    size_t used = 0;
    for (Memory *m = memories; m; m = m->next)
        if (m->alive && m->device == device && m->place == ON_DEVICE)
            used += m->size;
    return DEVICE_MEMORY - used;
}

Memory *new_memory(enum Place place, int device, size_t size) {
    const size_t page = 4096;
    if (place != PINNED && size > free_memory(device))
        return NULL;
    size_t room = (size + page - 1) / page * page;
    Memory *memory = take(sizeof *memory);
    if (place == ON_DEVICE) {
        if (device_view == NULL)
            map_arena();
        /* A page nobody owns after each piece, so that no overrun hits a neighbour. */
        if (arena_used + room + page > ARENA)
            return NULL;
        memory->address = (uintptr_t)(device_view + arena_used);
        memory->bytes = driver_view + arena_used;
        arena_used += room + page;
    } else {
        memory->bytes = mmap(NULL, room, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory->bytes == MAP_FAILED)
            return NULL;
        memory->address = (uintptr_t)memory->bytes;
    }
    memset(memory->bytes, POISON, size);
    memory->place = place;
    memory->device = device;
    memory->size = size;
    memory->alive = 1;
    memory->number = memory_count++;
    memory->writer = -1;
    memory->next = memories;
    memories = memory;
    return memory;
}

Memory *find_memory(CUdeviceptr address, size_t nbytes) {
    for (Memory *m = memories; m; m = m->next)
        if (m->alive && m->address <= address && address < m->address + m->size)
            return nbytes <= m->address + m->size - address ? m : NULL;
    return NULL;
}

void forget_memory(Memory *memory) {
    size_t room = (memory->size + 4095) / 4096 * 4096;
    memory->alive = 0;
    if (memory->place == ON_DEVICE)
        madvise(memory->bytes, room, MADV_REMOVE);
    else
        munmap(memory->bytes, room);
}

/* ---- Streams ---------------------------------------------------------------------- */

static CUstream legacy[MAX_DEVICES];
static _Thread_local CUstream per_thread[MAX_DEVICES];
static _Thread_local int per_thread_generation;

CUstream new_stream(int device, unsigned int flags) {
    if (stream_count == MAX_STREAMS)
        return NULL;
    CUstream stream = take(sizeof *stream);
    stream->alive = 1;
    stream->number = stream_count++;
    stream->device = device;
    stream->flags = flags;
    stream->last = &stream->first;
    stream->next = streams;
    streams = stream;
    return stream;
}

int is_stream(CUstream stream) {
    for (CUstream s = streams; s; s = s->next)
        if (s == stream)
            return s->alive;
    return 0;
}

CUstream usable_stream(CUstream handle, int device) {
    uintptr_t number = (uintptr_t)handle;
    if (number > 2)
        return is_stream(handle) ? handle : NULL;
    if (per_thread_generation != generation) {
        memset(per_thread, 0, sizeof per_thread);
        per_thread_generation = generation;
    }
    CUstream *known = number == 2 ? &per_thread[device] : &legacy[device];
    if (*known == NULL)
        *known = new_stream(device, CU_STREAM_DEFAULT);
    return *known;
}

void forget_streams(int device) {
    for (CUstream s = streams; s; s = s->next)
        if (s->device == device && s != legacy[device])
            s->alive = 0;
}

int has_work(CUstream stream) { return stream->first != NULL; }

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

void run_one(CUstream stream) {
    Operation *op = stream->first;
    stream->first = op->next;
    if (stream->first == NULL)
        stream->last = &stream->first;
    switch (op->kind) {
    case COPY: memmove(op->to, op->from, op->nbytes); break;
    case FILL: memset(op->to, op->value, op->nbytes); break;
    case CALL: op->function(op->to); break;
    case WAIT: run_until(op->record); break;
    case RECORD:
        op->record->done = 1;
        op->record->when = now();
        break;
    }
}

void drain(CUstream stream) {
    while (has_work(stream))
        run_one(stream);
    host_waited_for(&stream->clock);
}

void drain_device(int device) {
    for (CUstream s = streams; s; s = s->next)
        if (s->device == device)
            drain(s);
}

void run_until(Record *record) {
    while (!record->done)
        run_one(record->stream);
}

/* ---- Work ------------------------------------------------------------------------- */

static Operation *append(CUstream stream, enum Kind kind) {
    Operation *op = take(sizeof *op);
    op->kind = kind;
    *stream->last = op;
    stream->last = &op->next;
    return op;
}

Record *new_record(CUstream stream) {
    Record *record = take(sizeof *record);
    record->stream = stream;
    record->clock = stream->clock;
    append(stream, RECORD)->record = record;
    return record;
}

void wait_for(CUstream stream, Record *record) {
    join(&stream->clock, &record->clock);
    if (!record->done)
        append(stream, WAIT)->record = record;
}

static int is_blocking(CUstream stream) {
    return !(stream->flags & CU_STREAM_NON_BLOCKING);
}

/* The legacy stream and each blocking stream of a device wait for one another. */
static void order_implicitly(CUstream stream) {
    CUstream first = legacy[stream->device];
    if (first == NULL || !is_blocking(stream))
        return;
    if (stream != first) {
        wait_for(stream, new_record(first));
        return;
    }
    for (CUstream s = streams; s; s = s->next)
        if (s != first && s->device == stream->device && is_blocking(s))
            wait_for(first, new_record(s));
}

void begin(CUstream stream) {
    order_implicitly(stream);
    join(&stream->clock, &host);
    stream->clock.of[stream->number]++;
}

Operation *enqueue(CUstream stream, enum Kind kind) {
    begin(stream);
    return append(stream, kind);
}

void clear_model(void) {
    for (Memory *m = memories; m; m = m->next)
        if (m->alive)
            forget_memory(m);
    while (pieces) {
        Piece *next = pieces->next;
        free(pieces);
        pieces = next;
    }
    memset(contexts, 0, sizeof contexts);
    memset(legacy, 0, sizeof legacy);
    memset(&host, 0, sizeof host);
    memories = NULL;
    streams = NULL;
    events = NULL;
    stream_count = memory_count = race_count = 0;
    arena_used = 0;
    generation++;
}
