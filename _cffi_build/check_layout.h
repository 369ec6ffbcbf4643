/* Compile-time proof that dlpack.h has the layout which DLPack 1.3 specifies on 64-bit
 * platforms. A wrong field here would be wrong data in somebody else's process.
 * Next: interface.h. */
#ifndef REFARRAY_CHECK_LAYOUT_H
#define REFARRAY_CHECK_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define AT(type, field, offset) \
    static_assert(offsetof(type, field) == offset, #type "." #field " is misplaced")
#define SIZE(type, size) static_assert(sizeof(type) == size, #type " has a wrong size")

static_assert(sizeof(void *) == 8, "refarray needs a 64-bit platform");

SIZE(DLDevice, 8);
AT(DLDevice, device_type, 0);
AT(DLDevice, device_id, 4);

SIZE(DLDataType, 4);
AT(DLDataType, code, 0);
AT(DLDataType, bits, 1);
AT(DLDataType, lanes, 2);

SIZE(DLTensor, 48);
AT(DLTensor, data, 0);
AT(DLTensor, device, 8);
AT(DLTensor, ndim, 16);
AT(DLTensor, dtype, 20);
AT(DLTensor, shape, 24);
AT(DLTensor, strides, 32);
AT(DLTensor, byte_offset, 40);

SIZE(DLManagedTensor, 64);
AT(DLManagedTensor, dl_tensor, 0);
AT(DLManagedTensor, manager_ctx, 48);
AT(DLManagedTensor, deleter, 56);

SIZE(DLPackVersion, 8);
AT(DLPackVersion, major, 0);
AT(DLPackVersion, minor, 4);

SIZE(DLManagedTensorVersioned, 80);
AT(DLManagedTensorVersioned, version, 0);
AT(DLManagedTensorVersioned, manager_ctx, 8);
AT(DLManagedTensorVersioned, deleter, 16);
AT(DLManagedTensorVersioned, flags, 24);
AT(DLManagedTensorVersioned, dl_tensor, 32);

SIZE(DLPackExchangeAPIHeader, 16);
AT(DLPackExchangeAPIHeader, version, 0);
AT(DLPackExchangeAPIHeader, prev_api, 8);

SIZE(DLPackExchangeAPI, 56);
AT(DLPackExchangeAPI, header, 0);
AT(DLPackExchangeAPI, managed_tensor_allocator, 16);
AT(DLPackExchangeAPI, managed_tensor_from_py_object_no_sync, 24);
AT(DLPackExchangeAPI, managed_tensor_to_py_object_no_sync, 32);
AT(DLPackExchangeAPI, dltensor_from_py_object_no_sync, 40);
AT(DLPackExchangeAPI, current_work_stream, 48);

#undef AT
#undef SIZE
#endif
