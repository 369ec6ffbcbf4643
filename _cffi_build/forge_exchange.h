/* Exchange tables, for Python through cffi: functions to put into one, right and wrong,
 * and what calls the functions of any table. Next: forge_exchange.c. */

/* Right: they ask the object (or, for a new one, the hook) of library.py. */
int forge_allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                   void (*set_error)(void *, const char *, const char *));
int forge_from_object(void *object, DLManagedTensorVersioned **out);
int forge_to_object(DLManagedTensorVersioned *tensor, void **out);
int forge_lend(void *object, DLTensor *out);
int forge_stream(int32_t device_type, int32_t device_id, void **out);

/* Each wrong in one way. */
int forge_allocate_silently(DLTensor *prototype, DLManagedTensorVersioned **out,
                            void *error_ctx,
                            void (*set_error)(void *, const char *, const char *));
int forge_allocate_noisily(DLTensor *prototype, DLManagedTensorVersioned **out,
                           void *error_ctx,
                           void (*set_error)(void *, const char *, const char *));
int forge_from_object_silently(void *object, DLManagedTensorVersioned **out);
int forge_to_object_and_keep(DLManagedTensorVersioned *tensor, void **out);
int forge_stream_untouched(int32_t device_type, int32_t device_id, void **out);

/* Once, at import: add the functions of forge_exchange.c to the module of that name. */
int forge_exchange_install(const char *module_name);
