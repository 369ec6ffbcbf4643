/* What is written down of one traced exchange; refarray/dlpack/tracing.py reads it. cffi
 * parses this file: plain declarations only. Next: trace.c. */

enum { RA_TRACE_DROPPED = 1, RA_TRACE_DELETER = 2 };    /* what happened */
enum { RA_TRACE_UNUSED = 0, RA_TRACE_USED = 1, RA_TRACE_RENAMED = 2 };      /* the name */
enum { RA_TRACE_ROOM = 8 };

typedef struct {
    int64_t order;          /* ra_trace_next(); 0 while it is being written */
    int64_t thread;         /* the system's number of the thread */
    int32_t what;
    int32_t name;           /* dropped: the name that the capsule had then */
    int32_t by_destructor;  /* deleter: called by the capsule's destructor */
    int32_t outside;        /* on a thread that Python does not know, or without Python */
} ra_trace_event;

/* A managed tensor over the memory of another one, which is given back once. Freed when
 * both have let go: the trace, and whoever holds the tensor. */
typedef struct ra_trace_record {
    struct ra_trace_record *next;   /* of all that there are */
    int64_t number;
    int64_t holders;
    int64_t deleter_calls;
    int64_t count;          /* of events: those beyond the room are only counted */
    ra_trace_event events[RA_TRACE_ROOM];
    void *original;
    int32_t is_versioned;
    DLManagedTensor legacy;
    DLManagedTensorVersioned versioned;
} ra_trace_record;

int64_t ra_trace_next(void);    /* numbers that grow, over all threads and traces */
void ra_trace_let_go(ra_trace_record *record);
