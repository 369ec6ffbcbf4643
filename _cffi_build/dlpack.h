/* DLPack 1.3, declared by refarray.
 *
 * Names, types and order are those of the DLPack specification; the words are ours.
 * cffi parses this very file (it reads plain declarations only), so Python sees through
 * `refarray._native.ffi` the same structs that the C code fills. check_layout.h proves
 * at compile time that every size and offset is the specified one. Next: check_layout.h.
 */

/* Kinds of device. 5 and 6 are not in use. */
enum {
    kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLOpenCL = 4, kDLVulkan = 7,
    kDLMetal = 8, kDLVPI = 9, kDLROCM = 10, kDLROCMHost = 11, kDLExtDev = 12,
    kDLCUDAManaged = 13, kDLOneAPI = 14, kDLWebGPU = 15, kDLHexagon = 16,
    kDLMAIA = 17, kDLTrn = 18
};

/* Kinds of element. Together with the number of bits they name a data type. */
enum {
    kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLOpaqueHandle = 3, kDLBfloat = 4,
    kDLComplex = 5, kDLBool = 6, kDLFloat8_e3m4 = 7, kDLFloat8_e4m3 = 8,
    kDLFloat8_e4m3b11fnuz = 9, kDLFloat8_e4m3fn = 10, kDLFloat8_e4m3fnuz = 11,
    kDLFloat8_e5m2 = 12, kDLFloat8_e5m2fnuz = 13, kDLFloat8_e8m0fnu = 14,
    kDLFloat6_e2m3fn = 15, kDLFloat6_e3m2fn = 16, kDLFloat4_e2m1fn = 17
};

/* The specification gives device_type an enum of 32 bits. An int32_t is the same in
 * memory, and reading a value that no enumerator names stays well defined. */
typedef struct {
    int32_t device_type;
    int32_t device_id;
} DLDevice;

typedef struct {
    uint8_t code;       /* kind of element */
    uint8_t bits;       /* of one lane: complex64 has 64 */
    uint16_t lanes;     /* 1, but for vector types */
} DLDataType;

/* What the memory holds. Nothing here says who owns it. */
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;       /* in elements; NULL meant row-major before DLPack 1.2 */
    uint64_t byte_offset;   /* from data to the first element */
} DLTensor;

/* The legacy form: a tensor and the way to give it back. */
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

/* The form since DLPack 1.0. Up to `flags` it is promised to stay the same over major
 * versions, so that a consumer can always read the version and call the deleter. */
typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

/* ---- The C exchange API: the same exchange without Python calls, since DLPack 1.2 ------ */

/* Make a tensor like `prototype` (its dtype, ndim, shape and device are read, no more).
 * Each function returns 0, or -1; this one reports through set_error, the others set a
 * Python exception. None of them synchronises. */
typedef int (*DLPackManagedTensorAllocator)(
    DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
    void (*set_error)(void *error_ctx, const char *kind, const char *message));

/* Export an object: the caller owns *out. */
typedef int (*DLPackManagedTensorFromPyObjectNoSync)(void *py_object,
                                                     DLManagedTensorVersioned **out);

/* Make an object of a tensor, which is handed over. */
typedef int (*DLPackManagedTensorToPyObjectNoSync)(DLManagedTensorVersioned *tensor,
                                                   void **out_py_object);

/* Describe an object; good until control goes back to whoever owns it. May be NULL. */
typedef int (*DLPackDLTensorFromPyObjectNoSync)(void *py_object, DLTensor *out);

/* The stream on which the library works just now; NULL for the host. */
typedef int (*DLPackCurrentWorkStream)(int32_t device_type, int32_t device_id,
                                       void **out_current_stream);

typedef struct DLPackExchangeAPIHeader {
    DLPackVersion version;
    struct DLPackExchangeAPIHeader *prev_api;   /* of an older version, or NULL */
} DLPackExchangeAPIHeader;

/* Found as a capsule named "dlpack_exchange_api" on the type of an array. */
typedef struct DLPackExchangeAPI {
    DLPackExchangeAPIHeader header;
    DLPackManagedTensorAllocator managed_tensor_allocator;
    DLPackManagedTensorFromPyObjectNoSync managed_tensor_from_py_object_no_sync;
    DLPackManagedTensorToPyObjectNoSync managed_tensor_to_py_object_no_sync;
    DLPackDLTensorFromPyObjectNoSync dltensor_from_py_object_no_sync;
    DLPackCurrentWorkStream current_work_stream;
} DLPackExchangeAPI;
