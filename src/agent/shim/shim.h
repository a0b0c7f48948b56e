/*
 * shim: the launcher of one incarnation on this node.
 *
 * It starts the ranks, reads what they write, waits for them, and leaves nothing behind. It is told
 * of a stop by a file and woken by a signal, and tells how far it is by files: 'launched' before
 * anything of the user runs, 'ranks' before a rank does, 'started' when all do, 'exit' when none is
 * left. Whoever finds 'launched' without 'exit' and the lock free knows that a launcher was killed;
 * a second launcher on the same folder then sweeps what is left.
 */
#pragma once

#include <signal.h>

#include "disk/order.h"
#include "disk/progress.h"
#include "myriad/job.h"

#define SHIM_BELL "bell" /* the agent's socket in the state folder */

/* --- what ranks write (output.c) */

#define OUTPUT_HEAD_BYTES  (1U << 20)
#define OUTPUT_PIECE_BYTES (4U << 20)
#define OUTPUT_PIECES_KEPT 3 /* the last 8 MiB at least */

struct output {
    char folder[AGENT_PATH_MAX];
    uint32_t rank;
    int fd;           /* of the current piece, or -1 */
    uint64_t piece;   /* its number: 0 is the head */
    uint64_t written; /* offset of the next byte */
    char line[PROGRESS_LINE_MAX];
    size_t line_len; /* of 'line', which has no end yet */
    char error[256]; /* the first line that looks like one */
    char last[256];  /* the last one that holds anything */
    uint64_t looked; /* bytes of this second that were looked at */
    int64_t second;  /* that 'looked' is of */
};

void output_init(struct output *output, const char *folder, uint32_t rank);
void output_done(struct output *output);
/* 'on_line' is called for whole lines, while they do not come too fast to look at. */
void output_take(struct output *output, struct myr_str bytes,
                 void (*on_line)(void *context, const char *line), void *context);
/* At most 'most' bytes from 'offset' on, or from the next offset that is kept. */
void output_fetch(const char *folder, uint32_t rank, uint64_t *offset, size_t most,
                  struct myr_buf *ret, uint64_t *ret_size);

/* --- who they are, and how they are started (start.c) */

struct person {
    uid_t uid;
    gid_t gid;
    gid_t groups[256];
    int group_count; /* of 'groups', the user's own among them */
    bool change;     /* the agent is root, and becomes this person */
    char name[64], home[256], shell[128];
};

MYR_MUST_USE int person_find(struct myr_str name, struct person *ret, struct myr_err *err);

struct start {
    const struct person *person;
    const char *const *argv;
    const char *const *env;
    const char *directory; /* or NULL: home */
    int go, output;        /* it reads a byte before it goes on; it writes here */
    int trouble;           /* an errno and a word go here when it cannot run */
};

/* The new process's number, or negative. */
pid_t start_process(const struct start *start);

/* The whole environment of a rank; everything lies in the arena. */
const char *const *start_env(struct myr_arena *arena, const struct order *order,
                             const struct myr_jobfile *job, const struct person *person,
                             uint32_t local_rank);
/* Whether a program of that name is on this node. */
bool start_has(const char *program);
/*
 * The command, or what runs it in its image: podman, apptainer or enroot, the first that 'has'
 * knows. The job's folders and the socket for its progress are there under the same names.
 */
MYR_MUST_USE int start_argv(struct myr_arena *arena, const struct order *order,
                            const struct myr_jobfile *job, const char *const *env,
                            bool (*has)(const char *program), const char *const **ret,
                            struct myr_err *err);

/* --- what is left of them (kill.c) */

/* Who has got a signal already: a program that saves its work is not disturbed twice. */
struct told {
    MYR_VEC(struct told_process {
        pid_t pid;
        uint64_t began;
    })
    items;
};

/*
 * To all who descend from this process, but for those in 'told' (or NULL), which grows. How many
 * descend from it; 'ret_stuck' those of them that cannot die.
 */
uint32_t kill_descendants(int signal, struct told *told, uint32_t *ret_stuck);
/* To all whose environment holds the tag, for when their launcher is gone. */
uint32_t kill_tagged(const char *tag, int signal, uint32_t *ret_stuck);

/* --- the group that they cannot leave (cgroup.c, devices.c) */

struct device {
    uint32_t major, minor;
};

struct cgroup {
    char path[AGENT_PATH_MAX];    /* "": none can be made here */
    char devices[AGENT_PATH_MAX]; /* its folder in version 1's controller of devices, or "" */
    int version;
};
void cgroup_open(struct cgroup *cgroup, const char *tag, bool make);
void cgroup_add(const struct cgroup *cgroup, pid_t pid);
/* Nobody in the group may open these. Whether that holds now, and by what. */
bool cgroup_deny(const struct cgroup *cgroup, const struct device *devices, uint32_t count,
                 const char **ret_by);
void cgroup_kill(const struct cgroup *cgroup);
/* True too where there is none. */
bool cgroup_is_empty(const struct cgroup *cgroup);
void cgroup_remove(const struct cgroup *cgroup);

#define DEVICES_MAX 64

/*
 * The device files of the GPUs that are not among 'gpus' (a bit each, as NVML counts them), by what
 * the driver says under 'proc'. False: the driver says nothing, or knows no GPU of such a number.
 */
bool devices_of_others(const char *proc, uint64_t gpus, struct device ret[DEVICES_MAX],
                       uint32_t *ret_count);
/* By a filter on a group of version 2. */
bool device_filter(const char *group, const struct device *devices, uint32_t count);

/* The launcher's exit status. */
int shim_run(const char *folder);
