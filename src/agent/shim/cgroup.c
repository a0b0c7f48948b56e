/*
 * cgroup: what a launcher's processes cannot leave, whatever they do: they are found there when
 * they hide, and see only the GPUs that the job was given.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/shim.h"

/* Version 2 where it is mounted, else the freezer's, which every host has. */
static bool find_mount(const char *type, const char *option, char ret[AGENT_PATH_MAX])
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (file_get("/proc/self", "mounts", &text, NULL) < 0) {
        return false;
    }
    for (char *line = text.data; line && *line;) {
        char *end = strchr(line, '\n');
        /* "cgroup2 /sys/fs/cgroup cgroup2 rw,...": the second word is where, the third what. */
        char *from = strchr(line, ' ');
        char *path_end = from ? strchr(from + 1, ' ') : NULL;
        if (end) {
            *end = '\0';
        }
        size_t len = strlen(type);
        if (path_end && path_end < line + strlen(line) && strncmp(path_end + 1, type, len) == 0 &&
            path_end[1 + len] == ' ' && (!option || strstr(path_end, option))) {
            snprintf(ret, AGENT_PATH_MAX, "%.*s", (int)(path_end - from - 1), from + 1);
            return true;
        }
        line = end ? end + 1 : NULL;
    }
    return false;
}

/* Below where this process itself is: that is what a service manager has given it. */
static bool find_own(const char *row, char ret[AGENT_PATH_MAX])
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (file_get("/proc/self", "cgroup", &text, NULL) < 0) {
        return false;
    }
    const char *at = strstr(text.data, row);
    if (!at) {
        return false;
    }
    at += strlen(row);
    size_t len = strcspn(at, "\n");
    /* "/" is the root itself, and adds nothing to a path. */
    snprintf(ret, AGENT_PATH_MAX, "%.*s", (int)len, len == 1 ? "" : at);
    return true;
}

/* 'make' false: only one that is there, of a launcher before. Empty path: none. */
static bool try_folder(char path[AGENT_PATH_MAX], const char *root, const char *own,
                       const char *tag, bool make)
{
    int len = snprintf(path, AGENT_PATH_MAX, "%s%s/myriad-%s", root, own, tag);
    if (len < AGENT_PATH_MAX - 32) {
        struct stat st;
        if (make ? mkdir(path, 0755) == 0 || errno == EEXIST : stat(path, &st) == 0) {
            return true;
        }
    }
    path[0] = '\0';
    return false;
}

/* The tag makes the name single: nobody else's processes are ever in it. */
void cgroup_open(struct cgroup *cgroup, const char *tag, bool make)
{
    char root[AGENT_PATH_MAX];
    char own[AGENT_PATH_MAX];
    *cgroup = (struct cgroup){};
    /*
     * Beside the group itself: hosts of both versions have the controller of devices in the first.
     */
    if (find_mount("cgroup", "devices", root) && find_own("devices:", own)) {
        (void)try_folder(cgroup->devices, root, own, tag, make);
    }
    if (find_mount("cgroup2", NULL, root) && find_own("0::", own) &&
        try_folder(cgroup->path, root, own, tag, make)) {
        cgroup->version = 2;
        return;
    }
    if (find_mount("cgroup", "freezer", root) && find_own("freezer:", own) &&
        try_folder(cgroup->path, root, own, tag, make)) {
        cgroup->version = 1;
    }
    MYR_ASSERT((cgroup->version != 0) == (cgroup->path[0] != '\0'));
}

/* Whether all of it was taken. */
static bool write_to(const char *folder, const char *name, const char *text)
{
    MYR_ASSERT(folder[0] && text[0]);
    char path[AGENT_PATH_MAX];
    path_join(path, folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool whole = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return whole;
}

/* Before the process is let go: children of it are born inside. */
void cgroup_add(const struct cgroup *cgroup, pid_t pid)
{
    MYR_ASSERT(pid > 0); /* 0 would be ourselves */
    char text[32];
    snprintf(text, sizeof(text), "%d", (int)pid);
    if (cgroup->path[0]) {
        /* What a group cannot do, the sweep over descendants does. */
        (void)write_to(cgroup->path, "cgroup.procs", text);
    }
    if (cgroup->devices[0]) {
        (void)write_to(cgroup->devices, "cgroup.procs", text);
    }
}

/* Version 2 by a filter, else the controller of version 1; false where neither can be had. */
bool cgroup_deny(const struct cgroup *cgroup, const struct device *devices, uint32_t count,
                 const char **ret_by)
{
    MYR_ASSERT(count > 0 && cgroup->version <= 2);
    if (cgroup->version == 2 && device_filter(cgroup->path, devices, count)) {
        *ret_by = "cgroup version 2";
        return true;
    }
    /* One rule that is not taken leaves a GPU open: then none of it is claimed. */
    bool all = cgroup->devices[0] != '\0';
    for (uint32_t i = 0; all && i < count; i++) {
        char rule[64];
        snprintf(rule, sizeof(rule), "c %u:%u rwm", devices[i].major, devices[i].minor);
        all = write_to(cgroup->devices, "devices.deny", rule);
    }
    *ret_by = "cgroup version 1";
    return all;
}

/* Whoever is in it, whatever became of its parents. */
void cgroup_kill(const struct cgroup *cgroup)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (!cgroup->path[0]) {
        return;
    }
    /* Newer kernels kill the group at once, those that are being born included. */
    if (file_is_there(cgroup->path, "cgroup.kill")) {
        (void)write_to(cgroup->path, "cgroup.kill", "1");
        return;
    }
    if (file_get(cgroup->path, "cgroup.procs", &text, NULL) < 0) {
        return;
    }
    for (const char *at = text.data; *at;) {
        size_t len = strcspn(at, "\n");
        uint64_t pid;
        /* One by one where the kernel has no way to kill them all; the caller comes again. */
        if (myr_str_to_u64((struct myr_str){at, len}, &pid) && (pid_t)pid != getpid()) {
            process_signal((pid_t)pid, process_began((pid_t)pid, NULL, NULL), SIGKILL);
        }
        at += len + (at[len] == '\n');
    }
}

/* One that cannot be read is gone. */
bool cgroup_is_empty(const struct cgroup *cgroup)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    return !cgroup->path[0] || file_get(cgroup->path, "cgroup.procs", &text, NULL) < 0 ||
           text.len == 0;
}

void cgroup_remove(const struct cgroup *cgroup)
{
    MYR_ASSERT((cgroup->version != 0) == (cgroup->path[0] != '\0'));
    if (cgroup->path[0]) {
        (void)rmdir(cgroup->path);
    }
    if (cgroup->devices[0]) {
        (void)rmdir(cgroup->devices);
    }
}
