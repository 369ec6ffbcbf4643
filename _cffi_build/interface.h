/* What Python calls through cffi's `lib`. cffi parses this file, so it holds plain
 * declarations only. cffi lets go of the GIL around each call: nothing here may touch a
 * Python object (ra_install takes the GIL itself). Next: system.h. */

/* Everything that is counted; a snapshot, in no promised order between threads. */
typedef struct {
    int64_t live_bytes;         /* asked for by buffers of ours which are alive */
    int64_t live_buffers;
    int64_t cached_bytes;       /* kept for reuse */
    int64_t cache_limit;
    int64_t cache_hits;
    int64_t cache_misses;
    int64_t exported;           /* managed tensors we made ... */
    int64_t exports_deleted;    /* ... and whose deleter has run */
    int64_t imported;           /* managed tensors we took over ... */
    int64_t imports_deleted;    /* ... and gave back through their deleter */
} ra_statistics;

void ra_memory_statistics(ra_statistics *out);
void ra_cache_set_limit(size_t nbytes);     /* 0 turns the cache off */
void ra_cache_empty(void);

/* Once, at import: add the types and functions of native.c to the module of that name, of
 * which the caller has the address, and make memory safe across fork. Returns 0; 1 and does
 * nothing in a sub-interpreter; or -1 with the error printed. */
int ra_install(const char *module_name, const void *address);
