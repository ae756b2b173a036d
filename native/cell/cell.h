/*
 * The launcher: applies a plan that TypeScript decided (job 1), then stays as pid 1 of the cell (job 2).
 * It decides nothing. Every length that arrives is bounded by a constant below before it is believed.
 */
#ifndef LAZARET_CELL_H
#define LAZARET_CELL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Descriptors that the host hands over. 0 and 2 are /dev/null. */
enum { REPORT_FD = 1, CONTROL_FD = 3, CHANNEL_FD = 4 };

enum {
  FRAME_HEADER_BYTES = 9,        /* u32 length of the payload, u8 type, u32 id; little-endian */
  FRAME_BYTES_MAX = 1 << 20,     /* payload; argv and environment of one spawn fit (the kernel allows 2 MiB) */
  PLAN_BYTES_MAX = 4 << 20,      /* the plan's payload; it carries generated files such as certificates */
  SLOTS_MAX = 64,                /* descriptors opened ahead of the mounts */
  SPAWNS_MAX = 192,              /* processes the host may run at one time in one cell */
  STREAMS = 3,                   /* stdout, stderr, and what a shell says of its state */
  TERMINAL_BYTES = 256 << 10,    /* more than a terminal holds that nobody has read */
  STATE_BYTES = 1 << 20,         /* of the last of them; what is longer is cut off */
  ARGUMENTS_MAX = 8192,          /* argv plus environment entries of one spawn */
  RLIMITS_MAX = 16,
  LANDLOCK_RULES_MAX = 128,
  FILTER_INSTRUCTIONS_MAX = 4096, /* BPF_MAXINSNS */
  OUTPUT_CHUNK_BYTES = 64 << 10, /* the capacity of a pipe */
  OUTBOX_BYTES = 1 << 20,        /* frames that wait for the host to read; guests wait when it is full */
  STDIN_BYTES = 64 << 10,        /* stdin that waits for the guest to read: the host's credit */
  WATCHDOG_INTERVAL_MS = 20,     /* a guest grows 30 to 60 MiB meanwhile */
  PROCESSES_MAX = 4096,          /* looked at, at one time, by the watchdog */
  WORK_FOLDERS = 2,
  CGROUPS_MAX = 3,               /* one file a hierarchy */
  SECRET_BYTES = 32,
};

enum frame_type {
  /* host to cell */
  FRAME_PLAN = 1,
  FRAME_SPAWN = 2,
  FRAME_STDIN = 3,
  FRAME_STDIN_END = 4,
  FRAME_SIGNAL = 5,
  FRAME_PUT = 6,
  FRAME_END = 7,
  FRAME_KILL_ALL = 8,
  FRAME_BEGIN = 12, /* a guest that was started ahead of its run: its limits, and its time runs */
  FRAME_FINISH = 13, /* a guest has said that it is done: its end is not waited for */
  FRAME_KILL_TREE = 14, /* a process and everything that it has started */
  FRAME_RESIZE = 15, /* its terminal: u32 columns, u32 rows */
  FRAME_HOLD = 16, /* u32: 1 to leave what it writes unread, so that it comes to wait; 0 to read on */
  /* host to nursery: its name; the first bytes of each connection; which launcher to kill */
  FRAME_NURSERY = 9,
  FRAME_GREETING = 10,
  FRAME_KILL = 11,
  /* cell to host, on the control socket */
  FRAME_READY = 64,
  FRAME_SPAWNED = 65,
  FRAME_OUTPUT = 66,
  FRAME_EXIT = 67,
  FRAME_FAULT = 68,
  FRAME_EXCEEDED = 69,
  FRAME_STDIN_TAKEN = 70,
  FRAME_USAGE = 71,
  FRAME_ALONE = 72, /* after KILL_ALL: nothing but pid 1 is alive */
  /* stub to host, on the report socket, where faults of the whole cell go too */
  FRAME_BORN = 80,
  FRAME_GONE = 81,
  /* nursery to host, after READY */
  FRAME_STARTED = 88, /* this launcher has its sockets */
  FRAME_REAPED = 89,  /* this launcher's number may be another's from now on */
  FRAME_BARREN = 90,  /* the zygote is gone; what it has borne goes on */
};

enum exceeded {
  EXCEEDED_STDOUT = 1,
  EXCEEDED_MEMORY = 2,
  EXCEEDED_CPU = 3,
  EXCEEDED_STDERR = 4,
  EXCEEDED_WALL = 5,
  EXCEEDED_DISK = 6,
  EXCEEDED_PROCESSES = 7,
};

/* A view of received bytes. `bad` stays set once a read went past the end: check it once, after the last read. */
struct reader {
  const uint8_t *at;
  size_t left;
  bool bad;
};

struct reader reader_of(const uint8_t *bytes, size_t length);
uint32_t take_u32(struct reader *reader);
uint64_t take_u64(struct reader *reader);
const uint8_t *take_bytes(struct reader *reader, uint32_t *length);
const char *take_string(struct reader *reader); /* NUL-terminated inside the buffer, no other NUL */
bool reader_done(const struct reader *reader);  /* everything read, nothing bad */

struct frame {
  uint32_t length;
  uint8_t type;
  uint32_t id;
};

void put_u32(uint8_t *at, uint32_t value);
void put_u64(uint8_t *at, uint64_t value);
struct frame frame_header(const uint8_t header[FRAME_HEADER_BYTES]);
void write_frame_header(uint8_t header[FRAME_HEADER_BYTES], struct frame frame);
bool read_exactly(int fd, void *buffer, size_t length);
bool write_exactly(int fd, const void *buffer, size_t length);
bool write_frame(int fd, struct frame frame, const void *payload);

/* Everything the plan says that later steps need. One cell per process. */
struct cell {
  uint32_t record;          /* index of the record being applied, for reports */
  int slots[SLOTS_MAX];
  /* id maps, to be written from outside the new user namespace */
  const char *uid_map;
  const char *gid_map;
  bool deny_setgroups;
  int helper_fd;            /* socket to the helper that stays root to write the maps, or -1 */
  pid_t helper;
  int sync_fd;              /* socket between stub and pid 1 during construction, or -1 */
  uint64_t namespaces;      /* CLONE_NEW* of those that this process was born into */
  /* spaces, whose guest is a fork of their cell's zygote */
  bool is_space;            /* its guests are counted together with those of all spaces of the cell */
  int zygote_fd;            /* socket to it, or -1 */
  int guest_joins[CGROUPS_MAX];
  uint32_t guest_join_count;
  /* without namespaces */
  bool is_warded;           /* the warden stands in for pid 1, and the guests are its descendants */
  bool scoped;              /* signals of ours reach what lies below us and nothing else */
  const char *work;         /* the run's folder on the host, or NULL */
  uint64_t disk_bytes;      /* how much may be in it */
  uint64_t disk_entries;
  bool guest_changes_ids;
  uid_t guest_uid;
  gid_t guest_gid;
  const char *guest_root;   /* chroot here before each guest starts */
  struct { int fd; uint32_t most; } locks; /* the list of them, or 0; more than so many are out of memory */
  bool has_own_network;     /* no socket of the host is in its network namespace */
  const uint8_t *filter;
  uint32_t filter_bytes;
  struct reader landlock;   /* the record's payload, applied in each guest */
  bool has_landlock;
};
extern struct cell cell;

/*
 * Reports step name + errno and ends this process. Nothing runs afterwards. On the report socket, also from pid 1: the
 * host hardly ever writes to that one, so its reading end is never closed over a report that waits in it.
 */
_Noreturn void fail(const char *what);
void check(long result, const char *what); /* fails when result is negative */

void apply_plan(struct reader plan);
void require_whole(const struct reader *record); /* or fails: a payload with bytes missing or to spare is not applied */
void keep_in_slot(uint32_t slot, int fd);
int take_from_slot(uint32_t slot);

/* Both return in each child that is to become a launcher, with the report and control sockets and the channel placed. */
void run_nursery(struct frame frame);
void run_family(int listening_fd, const uint8_t secret[SECRET_BYTES], int zygote_fd);
_Noreturn void launch(void); /* receives a plan and applies it */

void write_id_maps(pid_t pid);
_Noreturn void run_stub(pid_t pid1, int pidfd, int sync_fd);

/* Ends every guest, and nothing else, whatever it has started. */
void kill_guests(void);
void kill_tree(pid_t root), signal_tree(pid_t root, int number); /* of one that adopts its descendants */
bool end_guests_by_uid(void); /* false when it could not be done safely */
void end_everything(int pidfd); /* for the stub: pid 1 or the warden, and all below it */
uint32_t tasks_besides_guests(void);

/* The run's folder on the host: over its limit (how much is in it, else 0), full, and removed. */
extern const char *const work_folders[WORK_FOLDERS];
uint64_t work_bytes_over(void);
bool work_is_full(void);
void remove_work(void);

/* Everything that runs in the cell but pid 1 or the warden, in ascending order. */
size_t count_tasks(void); /* processes and threads, those included that nobody has reaped yet */
size_t list_processes(long *pids, size_t most);
size_t list_descendants_of(long root, long *pids, size_t most); /* parents before children */

void reduce_capabilities(uint64_t kept);
bool raise_ambient_capabilities(uint64_t mask); /* and has no others: execve then keeps these, whatever the uid */
bool scope_signals(void); /* false where the kernel has no such scope */

/* Called in a forked child that will become a guest. They return false with errno set. */
bool drop_to_guest_ids(void);
bool drop_capabilities(void);
bool restrict_with_landlock(void);
bool restrict_with_seccomp(void);

/* Limits that pid 1 holds. Zero means none, or held by something better. */
struct watched {
  uint64_t memory_bytes;
  uint64_t cpu_us;
  uint64_t wall_us;
  uint64_t socket_bytes; /* in sockets that no cgroup charges, out of what the whole machine has for them */
};

/* One process that the host asked for. */
struct spawn {
  bool used;
  uint32_t id;
  pid_t pid;                    /* 0 while a fork of the zygote is on its way */
  int output_fds[STREAMS];      /* stdout or its terminal, stderr, state; -1 when closed */
  int stdin_fd;                 /* -1 when closed */
  int exec_fd;                  /* end of file here means that execve worked; -1 afterwards */
  uint64_t started_us;          /* on the monotonic clock */
  uint64_t used_before_us;      /* processor time before its run began, when it was started ahead of it */
  uint64_t ended_us;
  bool exited;
  int status;
  struct rusage usage;
  int drain_left[STREAMS];      /* bytes that were in the pipes when the process ended */
  bool ends_on_output;          /* over its output budget: end everything, or drop the excess */
  uint64_t output_left, state_left;
  uint64_t output_dropped;
  bool output_exceeded, is_terminal, is_own_task; /* the last runs no guest code: see collect.c and file_service.c */
  bool held;                    /* the host wants no more of its output for now */
  uint8_t stdin_bytes[STDIN_BYTES];
  size_t stdin_from, stdin_count;
  bool stdin_ended;
};

struct guest_rlimit {
  uint32_t resource;
  struct rlimit limit;
};

struct guest_rlimits {
  struct guest_rlimit each[RLIMITS_MAX];
  uint32_t count;
};
int open_terminal(int *guest_end); /* of the guest's own; -1 with errno set */
bool resize_terminal(int fd, uint32_t columns, uint32_t rows);
/* The limits in a SPAWN or BEGIN frame. */
bool take_rlimits(struct guest_rlimits *rlimits, struct reader *request);
struct watched take_watched(struct spawn *spawn, struct reader *request);
void count_tasks_ourselves(struct guest_rlimits *rlimits, pid_t pid); /* instead of the kernel, which counts strangers too */
bool set_rlimits(const struct guest_rlimits *rlimits, pid_t pid); /* of this process for 0, else of one with its ids */

/* Starts a process from a SPAWN frame. False when the frame is malformed; a failed step is reported as a fault. */
bool start_spawn(struct spawn *spawn, struct reader *request);
/* From a BEGIN frame. Likewise; then nothing may run in this cell. */
bool begin_spawn(struct spawn *spawn, struct reader *request);
bool put_file(struct reader *request);

/* What a spawn with SPAWN_COLLECTS does instead of executing a program. Returns the exit code. */
int collect_files(const char *what, char *const arguments[]);
/* And one with SPAWN_FILES. */
int serve_files(const char *task, char *const arguments[]);

/* What happens to the processes that were started. `spawns` is all SPAWNS_MAX of them. */
void read_exec_report(struct spawn *spawn);
void announce(struct spawn *spawn);
void read_output(struct spawn *spawn, int stream);
void reap(struct spawn *spawns);
void finish_spawn(struct spawn *spawn, uint8_t exit_code);
void advance(struct spawn *spawn);

/* Frames on their way to the host. */
bool outbox_has_room(void);
bool outbox_is_empty(void);
void outbox_add(struct frame frame, const void *payload);
ssize_t outbox_add_output(uint32_t id, uint8_t stream, int fd, size_t most, bool keep);
bool outbox_flush(void); /* false when the host is gone */
void outbox_fault(uint32_t id, int error, const char *what);

void watch(struct watched limits);
void watch_tasks(uint64_t most); /* after watch(): processes and threads, where no limit of the kernel's is the cell's own */
int watchdog_wait_ms(void); /* for poll: -1 when nothing is watched */
void watchdog_look(void);   /* when it is due; ends the guests and reports when a limit is passed */
void report_usage(void);   /* to the host, where this program counts */
bool watchdog_counts(void); /* memory and processor time are this program's to count */

uint64_t memory_bytes(uint64_t limit); /* above the limit only when a survey says so; 0: the quick sum */
uint64_t memory_peak_bytes(void);
struct socket_memory {
  uint64_t bytes;
  uint64_t at_most_more; /* what senders that are gone may have left besides */
  uint64_t from_machine; /* netlink, TCP and UDP: of these the machine has so much for all together */
};
struct socket_memory socket_memory(bool unix_too); /* what waits in sockets; nothing where the host's are among them */
uint64_t processor_us(void); /* of everything that ran in the cell but pid 1, since the last call of the next */
void forget_processor_time(void);
uint64_t processor_us_of(pid_t pid); /* one process alone */
bool disk_is_full(void);
uint64_t now_us(void); /* monotonic */
uint64_t time_us(struct timeval time);

size_t collect_facts(char *text, size_t size);

#endif
