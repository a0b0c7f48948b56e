/*
 * log: lines for people on standard error, who did what in the audit, and the clocks of the server.
 * Messages never hold a token: callers have digests.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

enum { AUDIT_MAX = 16 << 20, LINE = 1024 }; /* bytes; then it becomes audit.log.1 */

/* The exceptions to "no hidden globals": where lines go. */
static int audit_fd = -1;
static off_t audit_size;
static char audit_path[SERVER_PATH];
static bool as_json, only_bad, mute;

int64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t steady_ms(void)
{
    return myr_clock_ns() / 1000000;
}

/* The twin's clock stops where its world has not been yet: no event is taken before its time. */
int64_t core_ms(const struct server *server)
{
    if (!server->config.twin) {
        return wall_ms();
    }
    int64_t wanted_ms = twin_wanted_ms(server);
    MYR_ASSERT(server->clock_most_ms >= server->clock_base_ms);
    return wanted_ms < server->clock_most_ms ? wanted_ms : server->clock_most_ms;
}

/* By the steady clock: a step of the wall's does not move the simulated world. */
int64_t twin_wanted_ms(const struct server *server)
{
    MYR_ASSERT(server->config.speed > 0); /* it never goes back */
    return server->clock_base_ms +
           (int64_t)((double)(steady_ms() - server->clock_since_ms) * server->config.speed);
}

/* UTC with milliseconds, as ISO 8601 has it. */
static void put_time(char ret[32])
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t at = strftime(ret, 32, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(ret + at, 32 - at, ".%03ldZ", now.tv_nsec / 1000000);
}

/* A file that cannot be opened costs the audit, not the server. */
static void audit_open(void)
{
    struct stat status;
    audit_fd = open(audit_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    audit_size = audit_fd >= 0 && fstat(audit_fd, &status) == 0 ? status.st_size : 0;
}

/* Again after a rotation by others: SIGHUP closes and opens it. */
void log_open(const char *folder, bool json)
{
    MYR_ASSERT(audit_fd < 0); /* whoever opens it anew has closed it */
    as_json = json;
    snprintf(audit_path, sizeof(audit_path), "%s/audit.log", folder);
    audit_open();
}

void log_close(void)
{
    if (audit_fd >= 0) {
        close(audit_fd);
        audit_fd = -1;
    }
}

void log_quiet(bool quiet)
{
    only_bad = quiet;
}

void log_mute(bool on)
{
    mute = on;
}

/* What peers have said stands in messages: it must not look like lines of our own, nor steer a
 * terminal. A message with anything but plain letters in it is written as JSON writes text. */
static void put_message(struct myr_buf *ret, const char *text)
{
    const char *c = text;
    while ((unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7F) {
        c++;
    }
    if (*c) {
        myr_json_quote(ret, myr_str_from(text));
    } else {
        myr_buf_puts(ret, text);
    }
}

/* One line each, whatever is in the message. */
void log_say(const char *level, const char *fmt, ...)
{
    char time[32], text[LINE];
    va_list args;
    if (mute || (only_bad && strcmp(level, "info") == 0)) {
        return;
    }
    put_time(time);
    va_start(args, fmt);
    /* Cut at its length: what peers say has no bound. */
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    if (as_json) {
        myr_buf_printf(&line, "{\"time\":\"%s\",\"level\":\"%s\",\"message\":", time, level);
        myr_json_quote(&line, myr_str_from(text));
        myr_buf_puts(&line, "}\n");
    } else {
        myr_buf_printf(&line, "%s %s ", time, level);
        put_message(&line, text);
        myr_buf_putc(&line, '\n');
    }
    /* In one write: lines of several writers do not mix. */
    ssize_t put = write(STDERR_FILENO, line.data, line.len);
    (void)put; /* nobody reads: nothing to be done */
}

/* JSON whatever the log is: programs read it, and names in it are others' text. */
void audit(const char *who, const char *what, const char *outcome)
{
    char time[32];
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    if (audit_fd < 0) {
        return;
    }
    /* One file of before is kept, so that the two together stay below twice the limit. */
    if (audit_size > AUDIT_MAX) {
        /* The one before is overwritten. */
        char old[4100];
        snprintf(old, sizeof(old), "%s.1", audit_path);
        close(audit_fd);
        (void)rename(audit_path, old);
        audit_open();
    }
    put_time(time);
    myr_buf_printf(&line, "{\"time\":\"%s\",\"who\":", time);
    myr_json_quote(&line, myr_str_from(who));
    myr_buf_puts(&line, ",\"what\":");
    myr_json_quote(&line, myr_str_from(what));
    myr_buf_puts(&line, ",\"outcome\":");
    myr_json_quote(&line, myr_str_from(outcome));
    myr_buf_puts(&line, "}\n");
    ssize_t put = audit_fd >= 0 ? write(audit_fd, line.data, line.len) : 0;
    audit_size += put > 0 ? put : 0;
}
