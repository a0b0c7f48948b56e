/* doctor: what would keep a relay from working. */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "disk/files.h"
#include "myriad/agent/relay.h"
#include "myriad/io.h"

enum { WELL, WARNING, BAD, DAY_S = 86400 };

/* Written into the caller's array, which has room for every check that there is. */
struct findings {
    struct myr_relay_finding *items;
    uint32_t count;
};

/* An empty hint: there is nothing to be done. */
MYR_PRINTF(5, 6)
static void put(struct findings *to, uint8_t verdict, const char *check, const char *hint,
                const char *fmt, ...)
{
    MYR_ASSERT(to->count < MYR_RELAY_FINDINGS_MAX);
    struct myr_relay_finding *finding = &to->items[to->count++];
    va_list args;
    *finding = (struct myr_relay_finding){.verdict = verdict, .check = check};
    snprintf(finding->hint, sizeof(finding->hint), "%s", hint);
    va_start(args, fmt);
    vsnprintf(finding->says, sizeof(finding->says), fmt, args);
    va_end(args);
}

/* The first thing that is wrong is told. */
static void check_rights(const char *folder, struct findings *to)
{
    char path[AGENT_PATH_MAX];
    struct stat status;
    path_join(path, folder, "node.pem");
    if (stat(path, &status) != 0) {
        put(to, BAD, "key", "myriad enrol --relay NAME gives a token for a new one", "node.pem: %s",
            strerror(errno));
    } else if ((status.st_mode & 077) != 0) {
        put(to, BAD, "rights", "chmod 0600 node.pem", "others may read node.pem (mode %04o)",
            (unsigned)status.st_mode & 07777);
    } else if (stat(folder, &status) != 0 || (status.st_mode & 077) != 0) {
        put(to, BAD, "rights", "chmod 0700 it", "others may enter %.150s", folder);
    } else {
        put(to, WELL, "rights", "", "the key is the owner's alone");
    }
}

/* A relay that runs has renewed it long before a week is left. */
static void check_certificate(const char *folder, const char *name, struct findings *to)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    int64_t left_s;
    if (file_get(folder, name, &text, &err) < 0 ||
        myr_io_valid_s((struct myr_str){text.data, text.len}, &left_s, &err) < 0) {
        put(to, BAD, "certificate", "", "%s: %.200s", name, err.message);
    } else {
        put(to,
            left_s < 0           ? BAD
            : left_s < 7 * DAY_S ? WARNING
                                 : WELL,
            "certificate",
            left_s < 7 * DAY_S ? "a relay that runs renews it; else enrol it anew" : "",
            "%s: %lld days are left", name, (long long)(left_s / DAY_S));
    }
}

/* How many were found; 0: this is no relay's folder. */
uint32_t myr_relay_doctor(const char *folder, struct myr_relay_finding ret[MYR_RELAY_FINDINGS_MAX])
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct findings to = {ret, 0};
    struct myr_str name = {}, server = {}, listen = {};
    struct rlimit limit = {};
    /* No relay's folder: nothing is found, and somebody else looks at it. */
    if (file_get(folder, "relay", &text, NULL) < 0) {
        return 0;
    }
    struct myr_str note = {text.data, text.len};
    if (line_text(note, "name", &name) && line_text(note, "server", &server) &&
        line_text(note, "listen", &listen)) {
        put(&to, WELL, "relay", "", "%.*s, from %.*s to %.*s", (int)name.len, name.data,
            (int)listen.len, listen.data, (int)server.len, server.data);
    } else {
        put(&to, BAD, "relay", "start it once more: it writes the file", "the file 'relay' is cut");
    }
    check_rights(folder, &to);
    check_certificate(folder, "ca.pem", &to);
    check_certificate(folder, "node.pem", &to);
    /* As many as --agents allows where nothing is said. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < 4096) {
        put(&to, WARNING, "open files", "LimitNOFILE= of the unit, or ulimit -Hn",
            "up to %llu: so many agents and no more", (unsigned long long)limit.rlim_max);
    } else {
        put(&to, WELL, "open files", "", "up to %llu", (unsigned long long)limit.rlim_max);
    }
    return to.count;
}
