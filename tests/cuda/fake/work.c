/* The fake, continued: copies, streams, events, and memory in the order of a stream. */

#define _GNU_SOURCE
#include "calls.h"

#include <string.h>

/* ---- Copies ------------------------------------------------------------------------ */

/* A side of a copy: memory of ours, or pageable memory, which the driver knows nothing
 * about. Of pageable memory a call is done with when it returns. */
static unsigned char *bytes_at(Memory *memory, CUdeviceptr address) {
    return memory ? memory->bytes + (address - memory->address)
                  : (unsigned char *)(uintptr_t)address;
}

static void copy(CUstream on, Memory *to, CUdeviceptr to_address, Memory *from,
                 CUdeviceptr from_address, size_t nbytes) {
    const void *source = bytes_at(from, from_address);
    if (from == NULL)
        source = memcpy(take(nbytes), source, nbytes);
    Operation *op = enqueue(on, COPY);
    op->to = bytes_at(to, to_address);
    op->from = source;
    op->nbytes = nbytes;
    if (from)
        reads(on, from);
    if (to)
        writes(on, to);
    else
        drain(on);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t nbytes,
                              CUstream stream) {
    WITH_STREAM(stream);
    WITH_MEMORY(target, to, nbytes);
    Memory *source = find_memory((uintptr_t)from, nbytes);
    if (nbytes)
        copy(on, target, to, source, (uintptr_t)from, nbytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t nbytes,
                              CUstream stream) {
    WITH_STREAM(stream);
    WITH_MEMORY(source, from, nbytes);
    Memory *target = find_memory((uintptr_t)to, nbytes);
    if (nbytes)
        copy(on, target, (uintptr_t)to, source, from, nbytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t nbytes,
                              CUstream stream) {
    WITH_STREAM(stream);
    WITH_MEMORY(target, to, nbytes);
    WITH_MEMORY(source, from, nbytes);
    if (nbytes)
        copy(on, target, to, source, from, nbytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t nbytes, CUstream stream) {
    WITH_CONTEXT();
    REQUIRE(to_context && to_context->retained, CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(from_context && from_context->retained, CUDA_ERROR_INVALID_CONTEXT);
    return cuMemcpyDtoDAsync_v2(to, from, nbytes, stream);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t nbytes) {
    LOCK();
    CUresult error = cuMemcpyHtoDAsync_v2(to, from, nbytes, NULL);
    return error ? error : cuStreamSynchronize(NULL);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t nbytes) {
    LOCK();
    CUresult error = cuMemcpyDtoHAsync_v2(to, from, nbytes, NULL);
    return error ? error : cuStreamSynchronize(NULL);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t nbytes,
                         CUstream stream) {
    WITH_STREAM(stream);
    WITH_MEMORY(target, to, nbytes);
    if (nbytes) {
        Operation *op = enqueue(on, FILL);
        op->to = bytes_at(target, to);
        op->value = value;
        op->nbytes = nbytes;
        writes(on, target);
    }
    return CUDA_SUCCESS;
}

/* ---- Streams ----------------------------------------------------------------------- */

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
    WITH_CONTEXT();
    REQUIRE(flags <= CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
    *stream = new_stream(context->device, flags);
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Work that is still there stays, and runs with the rest of the device. */
CUresult cuStreamDestroy_v2(CUstream stream) {
    WITH_STREAM(stream);
    REQUIRE(on == stream, CUDA_ERROR_INVALID_HANDLE);
    stream->alive = 0;
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
    WITH_STREAM(stream);
    drain(on);
    return CUDA_SUCCESS;
}

/* One piece of work runs for each question, so that polling gets there. */
CUresult cuStreamQuery(CUstream stream) {
    WITH_STREAM(stream);
    if (has_work(on)) {
        run_one(on);
        return CUDA_ERROR_NOT_READY;
    }
    host_waited_for(&on->clock);
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
    WITH_STREAM(stream);
    (void)flags;
    REQUIRE(event && event->alive, CUDA_ERROR_INVALID_HANDLE);
    begin(on);
    if (event->record)
        wait_for(on, event->record);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags) {
    WITH_STREAM(stream);
    *flags = on->flags;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *result) {
    WITH_STREAM(stream);
    *result = &contexts[on->device];
    return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
    WITH_STREAM(stream);
    Operation *op = enqueue(on, CALL);
    op->function = function;
    op->to = data;
    return CUDA_SUCCESS;
}

/* ---- Events ------------------------------------------------------------------------ */

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
    WITH_CONTEXT();
    *event = take(sizeof **event);
    (*event)->alive = 1;
    (*event)->device = context->device;
    (*event)->flags = flags;
    (*event)->next = events;
    events = *event;
    return CUDA_SUCCESS;
}

#define WITH_EVENT(event)                                                            \
    INITIALISED();                                                                   \
    REQUIRE(event && event->alive, CUDA_ERROR_INVALID_HANDLE)

CUresult cuEventDestroy_v2(CUevent event) {
    WITH_EVENT(event);
    event->alive = 0;
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    WITH_STREAM(stream);
    REQUIRE(event && event->alive, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(event->device == on->device, CUDA_ERROR_INVALID_HANDLE);
    begin(on);
    event->record = new_record(on);
    return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
    WITH_EVENT(event);
    if (event->record && !event->record->done) {
        run_one(event->record->stream);
        return CUDA_ERROR_NOT_READY;
    }
    if (event->record)
        host_waited_for(&event->record->clock);
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
    WITH_EVENT(event);
    if (event->record) {
        run_until(event->record);
        host_waited_for(&event->record->clock);
    }
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    WITH_EVENT(start);
    REQUIRE(end && end->alive, CUDA_ERROR_INVALID_HANDLE);
    unsigned int untimed = (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING;
    REQUIRE(!untimed && start->record && end->record, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(start->record->done && end->record->done, CUDA_ERROR_NOT_READY);
    *milliseconds = end->record->when - start->record->when;
    return CUDA_SUCCESS;
}

/* ---- Memory in the order of a stream ----------------------------------------------- */

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
    INITIALISED();
    REQUIRE(properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
                properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE,
            CUDA_ERROR_INVALID_VALUE);
    *pool = take(sizeof **pool);
    (*pool)->alive = 1;
    (*pool)->device = properties->location.id;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    INITIALISED();
    REQUIRE(pool && pool->alive, CUDA_ERROR_INVALID_VALUE);
    pool->alive = 0;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which,
                               void *value) {
    INITIALISED();
    REQUIRE(pool && pool->alive && value, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(which == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

/* To allocate is the first write: who uses the memory has to come after it. */
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t nbytes, CUmemoryPool pool,
                                 CUstream stream) {
    WITH_STREAM(stream);
    REQUIRE(pool && pool->alive, CUDA_ERROR_INVALID_VALUE);
    Memory *memory;
    CUresult error = allocate(ON_DEVICE, nbytes, pool->device, &memory);
    REQUIRE(!error, error);
    begin(on);
    writes(on, memory);
    *pointer = memory->address;
    return CUDA_SUCCESS;
}

/* The last write: what the memory held is gone for whoever is not before it. */
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
    WITH_STREAM(stream);
    WITH_MEMORY(memory, pointer, 0);
    REQUIRE(memory->address == pointer && memory->place == ON_DEVICE,
            CUDA_ERROR_INVALID_VALUE);
    Operation *op = enqueue(on, FILL);
    op->to = memory->bytes;
    op->value = POISON;
    op->nbytes = memory->size;
    writes(on, memory);
    memory->alive = 0;
    return CUDA_SUCCESS;
}
