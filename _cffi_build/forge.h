/* What the forge shows to Python through cffi; cffi parses this file after dlpack.h, so it
 * holds plain declarations only. Next: forge.c. */

/* What the deleter of a forged tensor does after it has counted the call. */
enum {
    FORGE_DELETER_COUNTS = 0,       /* nothing more: right for any thread, at any time */
    FORGE_DELETER_NEEDS_GIL = 1,    /* wrong: touches Python and takes no GIL */
    FORGE_DELETER_TAKES_GIL = 2,    /* wrong: does not ask whether Python still runs */
    FORGE_DELETER_LOSES_ERROR = 3   /* wrong: clears a pending exception */
};

/* What the destructor of a forged capsule does after it has counted the call. */
enum {
    FORGE_DESTRUCTOR_RIGHT = 0,         /* deleter, if there is one, while unused */
    FORGE_DESTRUCTOR_IGNORES_NAME = 1,  /* wrong: deleter, used or not */
    FORGE_DESTRUCTOR_LEAKS = 2,         /* wrong: never the deleter */
    FORGE_DESTRUCTOR_LOSES_ERROR = 3,   /* wrong: clears a pending exception */
    FORGE_DESTRUCTOR_TRUSTS_DELETER = 4 /* wrong: calls a deleter that is NULL */
};

#define FORGE_ROOM 72       /* axes: more than the 64 that NumPy and refarray take */

/* One forged managed tensor. Only one of the two forms is in use. It is never freed: a
 * consumer that uses it too long or twice is counted, and does not crash the test run. */
typedef struct {
    DLManagedTensor legacy;
    DLManagedTensorVersioned versioned;
    int64_t shape[FORGE_ROOM];
    int64_t strides[FORGE_ROOM];
    int32_t deleter_kind;
    int32_t destructor_kind;
    int64_t deleter_calls;
    int64_t destructor_calls;
    int64_t deleter_calls_of_destructor; /* how many of the deleter_calls came from it */
    int64_t found_used;                  /* the destructor found the capsule taken */
} forge_case;

/* The deleters to write into a forged tensor; manager_ctx must be its forge_case. */
void forge_delete_legacy(DLManagedTensor *self);
void forge_delete_versioned(DLManagedTensorVersioned *self);

/* Once, at import: add the functions of forge.c to the module of that name. Returns 0, or
 * -1 with the error printed. */
int forge_install(const char *module_name);
