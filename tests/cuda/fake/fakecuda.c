/* A libcuda.so.1 without a GPU, for tests of refarray's driver binding.
 *
 * It has the functions of _cffi_build/cuda_driver.h, and cuGetProcAddress for other
 * libraries that look their functions up. Read model.h first: this file checks
 * arguments and contexts as the driver does, and leaves the rest to the model. work.c
 * goes on with copies, streams and events.
 *
 * Environment: FAKECUDA_DEVICES (2), FAKECUDA_VERSION (13000) and FAKECUDA_INIT (0), the
 * result of cuInit. Tests in the same process call fakecuda_reset instead.
 */

#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int device_count, version, init_result;
pid_t initialised_by;

pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void unlock(int *unused) {
    (void)unused;
    pthread_mutex_unlock(&mutex);
}

/* ---- Set-up ------------------------------------------------------------------------ */

static int setting(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

void fakecuda_reset(int devices) {
    LOCK();
    clear_model();
    device_count = devices;
    version = setting("FAKECUDA_VERSION", 13000);
    init_result = setting("FAKECUDA_INIT", CUDA_SUCCESS);
    initialised_by = 0;
}

__attribute__((constructor)) static void load(void) {
    fakecuda_reset(setting("FAKECUDA_DEVICES", 2));
}

CUresult cuInit(unsigned int flags) {
    LOCK();
    REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(init_result == CUDA_SUCCESS, init_result);
    REQUIRE(device_count > 0, CUDA_ERROR_NO_DEVICE);
    REQUIRE(!initialised_by || initialised_by == getpid(), CUDA_ERROR_NOT_INITIALIZED);
    initialised_by = getpid();
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *result) {
    REQUIRE(result, CUDA_ERROR_INVALID_VALUE);
    *result = version;
    return CUDA_SUCCESS;
}

static const struct { CUresult error; const char *name, *text; } ERRORS[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {CUDA_ERROR_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "stub library"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid context"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid handle"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "not supported"},
};

static CUresult describe(CUresult error, const char **result, int name) {
    *result = NULL;
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        if (ERRORS[i].error == error)
            *result = name ? ERRORS[i].name : ERRORS[i].text;
    return *result ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **name) {
    return describe(error, name, 1);
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    return describe(error, text, 0);
}

/* For cuda.bindings and others: names without suffix mean the newest version. */
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int cuda_version,
                             uint64_t flags, int *status) {
    (void)cuda_version, (void)flags;
    static const char *const SUFFIXES[] = {"_v2", ""};
    Dl_info self;
    dladdr(&mutex, &self);
    void *library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    *function = NULL;
    for (int i = 0; i < 2 && *function == NULL; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", symbol, SUFFIXES[i]);
        *function = dlsym(library, name);
    }
    if (status)
        *status = *function ? 0 : 1; /* found, or not in this driver */
    return *function ? CUDA_SUCCESS : 500; /* CUDA_ERROR_NOT_FOUND */
}

/* ---- Devices ----------------------------------------------------------------------- */

#define WITH_DEVICE(device)                                                          \
    INITIALISED();                                                                   \
    REQUIRE(0 <= device && device < device_count, CUDA_ERROR_INVALID_DEVICE)

CUresult cuDeviceGetCount(int *count) {
    INITIALISED();
    *count = device_count;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    WITH_DEVICE(ordinal);
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int nbytes, CUdevice device) {
    WITH_DEVICE(device);
    snprintf(name, nbytes, "Fake device %d", device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *nbytes, CUdevice device) {
    WITH_DEVICE(device);
    *nbytes = DEVICE_MEMORY;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device) {
    WITH_DEVICE(device);
    *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
             : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
                                                                     : 1;
    return CUDA_SUCCESS;
}

/* ---- Contexts ---------------------------------------------------------------------- */

static _Thread_local struct { CUcontext of[MAX_DEPTH]; int depth; } stack;

CUcontext current(void) {
    CUcontext top = stack.depth ? stack.of[stack.depth - 1] : NULL;
    return top && top->retained ? top : NULL;
}

static CUresult push(CUcontext context) {
    REQUIRE(context && context->retained, CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(stack.depth < MAX_DEPTH, CUDA_ERROR_INVALID_VALUE);
    stack.of[stack.depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    WITH_DEVICE(device);
    *context = &contexts[device];
    contexts[device].device = device;
    contexts[device].retained++;
    return CUDA_SUCCESS;
}

/* With the last reference goes all that was made in the context. */
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    WITH_DEVICE(device);
    REQUIRE(contexts[device].retained, CUDA_ERROR_INVALID_CONTEXT);
    if (--contexts[device].retained)
        return CUDA_SUCCESS;
    drain_device(device);
    for (Memory *m = memories; m; m = m->next)
        if (m->alive && m->device == device)
            forget_memory(m);
    for (CUevent e = events; e; e = e->next)
        if (e->device == device)
            e->alive = 0;
    forget_streams(device);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
    WITH_DEVICE(device);
    *flags = 0;
    *active = contexts[device].retained > 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    INITIALISED();
    *context = current();
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    INITIALISED();
    if (stack.depth)
        stack.depth--;
    return context ? push(context) : CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    INITIALISED();
    return push(context);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    INITIALISED();
    REQUIRE(stack.depth, CUDA_ERROR_INVALID_CONTEXT);
    *context = stack.of[--stack.depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    WITH_CONTEXT();
    *device = context->device;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) {
    WITH_CONTEXT();
    drain_device(context->device);
    return CUDA_SUCCESS;
}

/* ---- Memory ------------------------------------------------------------------------ */

CUresult allocate(enum Place place, size_t nbytes, int device, Memory **result) {
    REQUIRE(nbytes, CUDA_ERROR_INVALID_VALUE);
    *result = new_memory(place, device, nbytes);
    return *result ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult release(Memory *memory, CUdeviceptr address) {
    REQUIRE(memory && memory->address == address, CUDA_ERROR_INVALID_VALUE);
    drain_device(memory->device);
    forget_memory(memory);
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    WITH_CONTEXT();
    *free = free_memory(context->device);
    *total = DEVICE_MEMORY;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t nbytes) {
    WITH_CONTEXT();
    Memory *memory;
    CUresult error = allocate(ON_DEVICE, nbytes, context->device, &memory);
    REQUIRE(!error, error);
    *pointer = memory->address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t nbytes, unsigned int flags) {
    WITH_CONTEXT();
    REQUIRE(flags == CU_MEM_ATTACH_GLOBAL, CUDA_ERROR_INVALID_VALUE);
    Memory *memory;
    CUresult error = allocate(MANAGED, nbytes, context->device, &memory);
    REQUIRE(!error, error);
    *pointer = memory->address;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **pointer, size_t nbytes, unsigned int flags) {
    WITH_CONTEXT();
    (void)flags;
    Memory *memory;
    CUresult error = allocate(PINNED, nbytes, context->device, &memory);
    REQUIRE(!error, error);
    *pointer = memory->bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    WITH_CONTEXT();
    WITH_MEMORY(memory, pointer, 0);
    REQUIRE(memory->place != PINNED, CUDA_ERROR_INVALID_VALUE);
    return release(memory, pointer);
}

CUresult cuMemFreeHost(void *pointer) {
    WITH_CONTEXT();
    WITH_MEMORY(memory, (uintptr_t)pointer, 0);
    REQUIRE(memory->place == PINNED, CUDA_ERROR_INVALID_VALUE);
    return release(memory, (uintptr_t)pointer);
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute which,
                               CUdeviceptr pointer) {
    INITIALISED();
    WITH_MEMORY(memory, pointer, 0);
    int on_host = memory->place == PINNED;
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)value = &contexts[memory->device];
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned int *)value = on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(int *)value = memory->place == MANAGED;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = memory->device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)value = memory->address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)value = memory->size;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}
