/*
 * kill: signals to all who descend from a launcher, or who carry its mark, found in /proc. A
 * process is always named by its number and the time of its beginning together: numbers are given
 * again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/shim.h"

/* As /proc has it at one moment; number and beginning together name one process for ever. */
struct process {
    pid_t pid, parent;
    uint64_t began;
    char state;
    bool ours;
};

struct processes {
    struct process *items;
    size_t count, capacity;
};

/* All of the host. Those that end meanwhile are left out. */
static void list_processes(struct processes *ret)
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        uint64_t number;
        struct process process = {};
        if (!myr_str_to_u64(myr_str_from(entry->d_name), &number)) {
            continue;
        }
        process.pid = (pid_t)number;
        process.began = process_began(process.pid, &process.parent, &process.state);
        if (process.began != 0) {
            myr_vec_push(ret, process);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

/* False: it has had the signal. */
static bool tell_once(struct told *told, const struct process *process)
{
    MYR_ASSERT(process->ours && process->began != 0);
    for (size_t i = 0; i < told->items.count; i++) {
        if (told->items.items[i].pid == process->pid &&
            told->items.items[i].began == process->began) {
            return false;
        }
    }
    myr_vec_push(&told->items, (struct told_process){process->pid, process->began});
    return true;
}

/* Zombies and the dead need no signal and do not count; 'D' waits in the kernel and cannot die. */
static uint32_t signal_ours(const struct processes *all, int signal, struct told *told,
                            uint32_t *ret_stuck)
{
    uint32_t count = 0;
    *ret_stuck = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct process *process = &all->items[i];
        if (process->ours && process->state != 'Z' && process->state != 'X') {
            count++;
            *ret_stuck += process->state == 'D';
            MYR_ASSERT(process->began != 0); /* else the number could be another's by now */
            if (!told || tell_once(told, process)) {
                process_signal(process->pid, process->began, signal);
            }
        }
    }
    return count;
}

/* The children of one thread, by a list that the kernel keeps. False: it keeps none. */
static bool list_children(const char *thread, struct processes *ret)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (file_get(thread, "children", &text, NULL) < 0) {
        return false;
    }
    /* Numbers with blanks between and behind them. */
    for (const char *at = text.data; *at;) {
        size_t len = strcspn(at, " \n");
        uint64_t pid;
        struct process process = {.ours = true};
        if (myr_str_to_u64((struct myr_str){at, len}, &pid)) {
            process.pid = (pid_t)pid;
            process.began = process_began(process.pid, &process.parent, &process.state);
            if (process.began != 0) {
                myr_vec_push(ret, process);
            }
        }
        at += len + (at[len] != '\0');
    }
    return true;
}

/* Costs what this job has of processes, and not what the host has. */
static bool walk_down(struct processes *ret)
{
    pid_t pid = getpid();
    bool any = false;
    /* Breadth first: those that are found are looked at in turn, until nobody is left. */
    for (size_t next = 0;; next++) {
        char folder[64];
        snprintf(folder, sizeof(folder), "/proc/%d/task", (int)pid);
        DIR *dir = opendir(folder);
        const struct dirent *entry;
        while (dir && (entry = readdir(dir)) != NULL) {
            char thread[AGENT_PATH_MAX];
            path_join(thread, folder, entry->d_name);
            any = (entry->d_name[0] != '.' && list_children(thread, ret)) || any;
        }
        if (dir) {
            closedir(dir);
        }
        if (!any || next >= ret->count) {
            return any;
        }
        pid = ret->items[next].pid;
    }
}

/* For kernels without lists of children: marks until a round finds nobody new. */
static void mark_descendants(struct processes *all)
{
    pid_t self = getpid();
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < all->count; i++) {
            struct process *process = &all->items[i];
            /* A child of ours, or of one that is marked. */
            bool ours = process->parent == self;
            for (size_t k = 0; !process->ours && !ours && k < all->count; k++) {
                ours = all->items[k].ours && all->items[k].pid == process->parent;
            }
            if (ours && !process->ours) {
                process->ours = more = true;
            }
        }
    }
}

/*
 * This process is a subreaper: who descends from it stays below it whatever happens between. A look
 * may miss one that is being born; the last word has wait(), and until then it is called again.
 */
uint32_t kill_descendants(int signal, struct told *told, uint32_t *ret_stuck)
{
    struct processes all = {};
    if (!walk_down(&all)) {
        list_processes(&all);
        mark_descendants(&all);
    }
    uint32_t count = signal_ours(&all, signal, told, ret_stuck);
    MYR_ASSERT(count <= all.count && *ret_stuck <= count);
    free(all.items);
    return count;
}

/* False too for other users' processes where we are not root. */
static bool has_tag(pid_t pid, const char *tag)
{
    char path[64];
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    return file_get(path, "environ", &text, NULL) == MYR_OK &&
           memmem(text.data, text.len, tag, strlen(tag)) != NULL;
}

/* By what was inherited: processes that left every group still have it. */
uint32_t kill_tagged(const char *tag, int signal, uint32_t *ret_stuck)
{
    char word[160];
    struct processes all = {};
    snprintf(word, sizeof(word), "MYRIAD_INCARNATION=%s", tag);
    list_processes(&all);
    for (size_t i = 0; i < all.count; i++) {
        /* Ourselves are left out in any case. */
        all.items[i].ours = all.items[i].pid != getpid() && has_tag(all.items[i].pid, word);
    }
    uint32_t count = signal_ours(&all, signal, NULL, ret_stuck);
    MYR_ASSERT(count <= all.count && *ret_stuck <= count);
    free(all.items);
    return count;
}
