/*
 * doctor: what would keep a server from working, looked at before it does. Each check says one
 * thing, and what to do about it; they change nothing, and a server that runs is asked rather than
 * disturbed.
 */
#include <errno.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "mhd.h"
#include "myriad/server/folder.h"
#include "server.h"
#include "store/etcd.h"

const char *const myr_verdict_names[3] = {"ok", "warn", "bad"};

enum { KEYS = 2 }; /* of the secrets: a server cannot begin without them */
/* SPARE_FILES: beside one for each node. A year of the Gregorian calendar on average. */
enum { DAYS_SOON = 30, SPARE_FILES = 256, YEAR_S = 31556952, DAY_S = 86400 };

/* The findings have room for every check; the caller may add a hint to what is returned. */
MYR_PRINTF(4, 5)
static struct myr_server_finding *say(struct myr_server_findings *to, enum myr_verdict verdict,
                                      const char *check, const char *fmt, ...)
{
    MYR_ASSERT(to->count < MYR_SERVER_FINDINGS_MAX);
    struct myr_server_finding *finding = &to->items[to->count++];
    va_list args;
    *finding = (struct myr_server_finding){.verdict = verdict, .check = check};
    va_start(args, fmt);
    vsnprintf(finding->says, sizeof(finding->says), fmt, args);
    va_end(args);
    return finding;
}

/* What a person can do about it, as a command where there is one. */
MYR_PRINTF(2, 3)
static void hint(struct myr_server_finding *finding, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(finding->hint, sizeof(finding->hint), fmt, args);
    va_end(args);
}

static void join(const char *folder, const char *name, char ret[MYR_SERVER_PATH_MAX])
{
    snprintf(ret, MYR_SERVER_PATH_MAX, "%.4000s/%s", folder, name);
}

/* Certificates, leases of tokens and logs mean nothing with a clock that is years off. */
static void check_clock(struct myr_server_findings *to)
{
    /* Roughly: a clock that nobody has set is decades off. */
    int64_t year = 1970 + wall_ms() / 1000 / YEAR_S;
    if (year < 2025 || year > 2100) {
        hint(say(to, MYR_VERDICT_BAD, "clock", "it is the year %lld here", (long long)year),
             "timedatectl set-ntp true");
    } else {
        say(to, MYR_VERDICT_OK, "clock", "set");
    }
}

/* Of this machine, which may be a node as well. */
static void check_cgroups(struct myr_server_findings *to)
{
    struct statfs two = {}, one = {};
    bool has_two = statfs("/sys/fs/cgroup", &two) == 0 && two.f_type == CGROUP2_SUPER_MAGIC;
    /* Version 1 is mounted by controller, below a folder that is none itself. */
    bool has_one = statfs("/sys/fs/cgroup/devices", &one) == 0 && one.f_type == CGROUP_SUPER_MAGIC;
    if (has_two || has_one) {
        say(to, MYR_VERDICT_OK, "cgroups", "version %d", has_two ? 2 : 1);
    } else {
        hint(say(to, MYR_VERDICT_WARN, "cgroups",
                 "none: an agent here would end ranks by their process group alone"),
             "mount -t cgroup2 none /sys/fs/cgroup");
    }
}

/* libmicrohttpd is loaded when it is needed: nobody else would notice that it is missing. */
static void check_libraries(struct myr_server_findings *to)
{
    struct myr_err err = {};
    if (mhd_load(&err) < 0) {
        hint(say(to, MYR_VERDICT_BAD, "libraries", "%s", err.message), "%s", err.hint);
        return;
    }
    say(to, MYR_VERDICT_OK, "libraries", "SQLite %s, libmicrohttpd %s, libuv %s",
        sqlite3_libversion(), mhd.get_version(), uv_version_string());
}

/* The hard limit counts: a server raises its own up to it. */
static void check_files_limit(uint32_t nodes, struct myr_server_findings *to)
{
    struct rlimit limit = {};
    uint64_t wanted = (uint64_t)nodes + SPARE_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max >= wanted) {
        say(to, MYR_VERDICT_OK, "open files", "up to %llu, %llu are needed",
            (unsigned long long)limit.rlim_max, (unsigned long long)wanted);
    } else {
        hint(say(to, MYR_VERDICT_BAD, "open files", "up to %llu for %s; %llu are needed",
                 (unsigned long long)limit.rlim_max, MYR_COUNT(nodes, "node"),
                 (unsigned long long)wanted),
             "LimitNOFILE= of the unit, or ulimit -Hn");
    }
}

/* What others can read or write is no secret. */
static void check_rights(const char *folder, struct myr_server_findings *to)
{
    static const char *const secrets[] = {"ca-key.pem", "server-key.pem", "admin.token",
                                          "state.db"};
    struct stat status;
    char path[MYR_SERVER_PATH_MAX], word[140];
    uint32_t open_count = 0;
    if (stat(folder, &status) == 0 && (status.st_mode & 077) != 0) {
        hint(say(to, MYR_VERDICT_BAD, "rights", "others may enter %.150s (mode %04o)", folder,
                 (unsigned)status.st_mode & 07777),
             "chmod 0700 %s", myr_shell_word(folder, word, sizeof(word)));
        open_count++;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(secrets); i++) {
        join(folder, secrets[i], path);
        bool there = stat(path, &status) == 0;
        /* The token may have been taken elsewhere, and the store may be in etcd. */
        if (!there && i < KEYS) {
            hint(say(to, MYR_VERDICT_BAD, "key", "%s: %s", secrets[i], strerror(errno)),
                 "it is in a backup (myriad restore), or nowhere");
        } else if (there && (status.st_mode & 077) != 0) {
            hint(say(to, MYR_VERDICT_BAD, "rights", "others may read %s (mode %04o)", secrets[i],
                     (unsigned)status.st_mode & 07777),
                 "chmod 0600 %s", myr_shell_word(path, word, sizeof(word)));
            open_count++;
        }
    }
    if (open_count == 0) {
        say(to, MYR_VERDICT_OK, "rights", "secrets are the owner's alone");
    }
}

/* A month is left to do something about it. */
static void check_certificate(const char *folder, const char *name, struct myr_server_findings *to)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    char path[MYR_SERVER_PATH_MAX];
    int64_t left_s;
    join(folder, name, path);
    if (myr_file_read(path, 1 << 20, &text, &err) < 0 ||
        myr_io_valid_s((struct myr_str){text.len ? text.data : "", text.len}, &left_s, &err) < 0) {
        say(to, MYR_VERDICT_BAD, "certificate", "%s: %.200s", name, err.message);
        return;
    }
    enum myr_verdict verdict = left_s < 0                            ? MYR_VERDICT_BAD
                               : left_s < (int64_t)DAYS_SOON * DAY_S ? MYR_VERDICT_WARN
                                                                     : MYR_VERDICT_OK;
    struct myr_server_finding *finding =
        left_s < 0 ? say(to, verdict, "certificate", "%s is over since %lld days", name,
                         (long long)(-left_s / DAY_S))
                   : say(to, verdict, "certificate", "%s is good for %lld days", name,
                         (long long)(left_s / DAY_S));
    if (verdict != MYR_VERDICT_OK) {
        hint(finding, "docs/server.md says how to renew it");
    }
}

/* Room for the store to grow; below 100 MiB it is nearly gone. */
static void check_disk(const char *folder, struct myr_server_findings *to)
{
    struct statvfs disk;
    if (statvfs(folder, &disk) != 0) {
        say(to, MYR_VERDICT_BAD, "disk", "%.150s: %s", folder, strerror(errno));
        return;
    }
    uint64_t mib = (uint64_t)disk.f_bavail * disk.f_frsize >> 20;
    if (mib >= 1024) {
        say(to, MYR_VERDICT_OK, "disk", "more than 1 GiB is free");
    } else {
        hint(say(to, mib < 100 ? MYR_VERDICT_BAD : MYR_VERDICT_WARN, "disk", "%llu MiB are free",
                 (unsigned long long)mib),
             "a store that cannot be written makes the server read-only");
    }
}

/* Whether somebody could listen there now. */
static bool port_is_free(const char *address, uint16_t port, int *ret_error)
{
    struct sockaddr_storage at = {};
    int on = 1;
    bool six = strchr(address, ':') != NULL;
    int bad =
        six ? uv_ip6_addr(address, port, (void *)&at) : uv_ip4_addr(address, port, (void *)&at);
    /* An address that is no number cannot be listened at. */
    int fd = bad ? -1 : socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        *ret_error = bad ? EINVAL : errno;
        return false;
    }
    /* As the server does: a port whose last connections are not quite over is free. */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    socklen_t size = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    bool ok = bind(fd, (struct sockaddr *)&at, size) == 0 && listen(fd, 1) == 0;
    *ret_error = errno;
    close(fd);
    return ok;
}

/* Tried only where no server of this folder runs, which would have it itself. */
static void check_port(const char *check, const char *address, uint16_t port, bool runs,
                       struct myr_server_findings *to)
{
    int error = 0;
    if (runs) {
        say(to, MYR_VERDICT_OK, check, "the server has it");
    } else if (port == 0) {
        say(to, MYR_VERDICT_OK, check, "any that is free");
    } else if (port_is_free(address, port, &error)) {
        say(to, MYR_VERDICT_OK, check, "%s:%u is free", address, port);
    } else {
        hint(say(to, MYR_VERDICT_BAD, check, "%s:%u: %s", address, port, strerror(error)),
             "ss -ltnp shows who has it; myriad.yaml names another");
    }
}

/* True: a server answers for this folder. */
static bool check_server(const char *folder, struct myr_server_findings *to)
{
    struct myr_server_place place;
    struct myr_http_answer answer = {};
    struct myr_err err = {};
    char url[sizeof(place.url) + 16], word[140];
    if (myr_server_find(folder, &place, &err) < 0 || !place.said) {
        say(to, MYR_VERDICT_OK, "server", "none runs");
        return false;
    }
    snprintf(url, sizeof(url), "%.*shealthz", (int)strlen(place.url), place.url);
    struct myr_http_request request = {.method = "GET", .url = url, .ca = place.ca, .timeout_s = 5};
    int rc = myr_http_ask(&request, NULL, NULL, &answer, &err);
    if (rc < 0) {
        hint(say(to, MYR_VERDICT_WARN, "server", "it did not end well: %.200s", err.message),
             "myriad serve %s", myr_shell_word(folder, word, sizeof(word)));
        return false;
    }
    /* It answers even while it cannot write, and says so. */
    bool well = answer.status == 200 && answer.body.len && strstr(answer.body.data, "\"ok\":true");
    say(to, well ? MYR_VERDICT_OK : MYR_VERDICT_BAD, "server",
        well ? "answers at %s" : "answers at %s, and cannot write its store", place.url);
    myr_http_answer_done(&answer);
    return true;
}

/* Counted over all tokens; the first few that are missing are named. */
struct users {
    struct myr_server_findings *to;
    uint32_t tokens, missing;
};

/* Ranks run as the user whom a token names. */
static int look_at_token(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    struct users *users = context;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *top;
    char name[SERVER_NAME] = "";
    (void)key;
    (void)err;
    users->tokens++;
    if (myr_doc_read_json(&arena, "token", value, &top, NULL) == MYR_OK) {
        const struct myr_doc *user = myr_doc_get(top, "unix_user");
        if (user && user->kind == MYR_DOC_SCALAR && user->text.len < sizeof(name)) {
            myr_str_put(user->text, name);
        }
    }
    /* A warning: the server may be no node, and users may be known on nodes alone. */
    if (name[0] && !getpwnam(name) && users->missing++ < 8) {
        hint(say(users->to, MYR_VERDICT_WARN, "Unix user", "'%s' of a token is not known here",
                 name),
             "ranks run on the nodes: there it must be known");
    }
    return MYR_OK;
}

/* Opened for a moment, as a server would: a running one holds it alone. */
static void check_store(const char *folder, bool runs, struct myr_server_findings *to)
{
    char path[MYR_SERVER_PATH_MAX];
    struct store *store;
    struct stat status;
    struct myr_err err = {};
    struct users users = {.to = to};
    join(folder, "state.db", path);
    if (runs) {
        say(to, MYR_VERDICT_OK, "store", "the server has it open");
        return;
    }
    /* Opening would make a new one, and call it well. */
    if (stat(path, &status) != 0) {
        say(to, MYR_VERDICT_BAD, "store", "state.db: %s", strerror(errno));
        return;
    }
    if (store_open(path, &store, &err) < 0) {
        hint(say(to, MYR_VERDICT_BAD, "store", "%.240s", err.message), "%.150s", err.hint);
        return;
    }
    /* Opening has checked it. */
    say(to, MYR_VERDICT_OK, "store", "version %d, which this program reads", STORE_VERSION);
    if (store_scan(store, "token/", look_at_token, &users, &err) < 0) {
        say(to, MYR_VERDICT_BAD, "store", "%.240s", err.message);
    } else if (users.missing == 0) {
        say(to, MYR_VERDICT_OK, "Unix user", "%s of %s %s known here",
            users.tokens == 1 ? "that" : "those", MYR_COUNT(users.tokens, "token"),
            users.tokens == 1 ? "is" : "are");
    }
    store_close(store);
}

/* A range gives all keys that begin so; the very key is meant. */
static int look_at_head(void *context, const char *key, struct myr_str value, uint64_t created,
                        struct myr_err *err)
{
    bool *there = context;
    (void)value;
    (void)created;
    (void)err;
    *there = *there || strcmp(key, "head") == 0;
    return MYR_OK;
}

/* Reads only, and leads nothing: a running server is not disturbed. */
static void check_etcd(const struct etcd_config *config, struct myr_server_findings *to)
{
    struct myr_err err = {};
    struct etcd *etcd = etcd_new(config);
    bool there = false;
    int rc = etcd_range(etcd, "head", look_at_head, &there, &err);
    etcd_free(etcd);
    if (rc < 0) {
        hint(say(to, MYR_VERDICT_BAD, "store", "etcd: %.200s", err.message), "%.150s", err.hint);
    } else if (!there) {
        hint(say(to, MYR_VERDICT_BAD, "store", "etcd holds no state under %s", config->prefix),
             "myriad init DIR --etcd URLS");
    } else {
        say(to, MYR_VERDICT_OK, "store", "etcd, %s, under %s", MYR_COUNT(config->count, "member"),
            config->prefix);
    }
}

/* Without a configuration nothing else can be looked at. */
static void check_folder(const char *folder, struct myr_server_findings *to)
{
    struct config config;
    struct myr_err err = {};
    char path[MYR_SERVER_PATH_MAX];
    join(folder, "myriad.yaml", path);
    if (config_read(path, &config, &err) < 0) {
        struct myr_server_finding *bad =
            say(to, MYR_VERDICT_BAD, "configuration", "%.240s", err.message);
        if (err.code == MYR_ENOENT) { /* what is there and wrong is not made anew */
            hint(bad, "myriad init DIR");
        }
        return;
    }
    say(to, MYR_VERDICT_OK, "configuration", "%s, %s of %s", config.cluster,
        MYR_COUNT(config.node_count, "node"), MYR_COUNT(config.gpus_per_node, "GPU"));
    check_files_limit(config.node_count, to);
    check_rights(folder, to);
    check_certificate(folder, "ca.pem", to);
    check_certificate(folder, "server.pem", to);
    check_disk(folder, to);
    /* Asked before ports and store, which a running server has. */
    bool runs = check_server(folder, to);
    check_port("http", config.http_address, config.http_port, runs, to);
    /* Other worlds listen for nobody. */
    if (config.world == WORLD_AGENTS) {
        check_port("agents", config.agents_address, config.agents_port, runs, to);
    }
    /* The one or the other: where the state lies in etcd, a file would mean nothing. */
    if (config.etcd.count > 0) {
        check_etcd(&config.etcd, to);
    } else {
        check_store(folder, runs, to);
    }
    config_done(&config);
}

/* Without a folder this machine alone is looked at. */
void myr_server_doctor(const char *folder, struct myr_server_findings *ret)
{
    ret->count = 0;
    check_clock(ret);
    check_cgroups(ret);
    check_libraries(ret);
    if (folder) {
        check_folder(folder, ret);
    }
}
