/*
 * What the service says of trouble: one line for one cause, whoever meets it, and one when the last
 * of it is over; and what it does about it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "leaks.h"
#include "service.h"

/* OpenSSL keeps a few pieces from its first use on, and gives them back at the very end. */
long myr_leaks_allowed = 3;

static void hear(void *context, const char *level, const char *text)
{
    myr_buf_printf(context, "%s: %s\n", level, text);
}

struct fixture {
    struct myr_buf said;
    struct myr_kube_schedule schedule;
    struct service *s;
};

static void set_up(struct fixture *f)
{
    *f = (struct fixture){};
    f->s = calloc(1, sizeof(*f->s));
    f->schedule = (struct myr_kube_schedule){.say = hear, .context = &f->said};
    f->s->schedule = &f->schedule;
    f->s->access.url = "http://there";
    f->s->stopping = true; /* credentials stay as they are */
}

static void tear_down(struct fixture *f)
{
    myr_buf_done(&f->said);
    free(f->s);
}

/* From one step to the next; what is said at a step: NULL, nothing; a warning has its number. */
static const struct {
    enum source source;
    int code; /* MYR_OK: all is well there */
    const char *says;
} steps[] = {
    {SOURCE_NODES, MYR_OK, NULL},
    {SOURCE_NODES, MYR_EIO, "warning"},
    {SOURCE_NODES, MYR_EIO, NULL},  /* the same again */
    {SOURCE_PODS, MYR_EAWAY, NULL}, /* silence, however it shows */
    {SOURCE_LEASE, MYR_EIO, NULL},
    {SOURCE_NODES, MYR_OK, NULL}, /* others still have it */
    {SOURCE_LEASE, MYR_OK, NULL},
    {SOURCE_PODS, MYR_OK, "info: http://there: well again\n"},
    {SOURCE_PODS, MYR_OK, NULL},
    {SOURCE_BIND, MYR_EUNKNOWN, "warning"}, /* papers that are not believed */
    {SOURCE_EVENTS, MYR_EUNKNOWN, NULL},
    {SOURCE_VERSION, MYR_EIO, "warning"}, /* another cause beside it */
    {SOURCE_DELETE, MYR_EUNKNOWN, NULL},
    {SOURCE_EVENTS, MYR_OK, NULL},
    {SOURCE_VERSION, MYR_OK, NULL},
    {SOURCE_DELETE, MYR_OK, NULL},
    {SOURCE_BIND, MYR_OK, "info: http://there: well again\n"},
    {SOURCE_NODES, MYR_EDENIED, "warning"}, /* a refusal is of its source alone */
    {SOURCE_PODS, MYR_EDENIED, "warning"},
    {SOURCE_PODS, MYR_EDENIED, NULL},
    {SOURCE_PODS, MYR_EIO, "warning"}, /* one source, and then another cause */
    {SOURCE_PODS, MYR_EDENIED, "warning"},
    {SOURCE_PODS, MYR_OK, NULL},
    {SOURCE_NODES, MYR_OK, "info: http://there: well again\n"},
};

static void one_cause_is_told_once(void **state)
{
    (void)state;
    struct fixture f;
    uint64_t warnings = 0;
    set_up(&f);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(steps); i++) {
        struct myr_err err = {.code = steps[i].code};
        char words[64];
        const char *wanted = steps[i].says ? steps[i].says : "";
        if (strncmp(wanted, "warning", 7) == 0) {
            bool hint = i % 2;
            snprintf(err.message, sizeof(err.message), "step %zu", i);
            snprintf(err.hint, sizeof(err.hint), "%s", hint ? "try again" : "");
            snprintf(words, sizeof(words), "warning: step %zu%s\n", i,
                     hint ? " (hint: try again)" : "");
            wanted = words;
            warnings++;
        }
        myr_buf_clear(&f.said);
        kube_trouble(f.s, steps[i].source, steps[i].code == MYR_OK ? NULL : &err);
        const char *said = f.said.len ? f.said.data : "";
        if (strcmp(said, wanted) != 0) {
            fail_msg("step %zu: '%s' is said, '%s' is expected", i, said, wanted);
        }
        assert_int_equal(f.s->report.troubles, warnings);
    }
    tear_down(&f);
}

/* Nobody has to listen, and lines have an end. */
static void lines_are_cut_and_nobody_has_to_listen(void **state)
{
    (void)state;
    struct fixture f;
    char longer[1300];
    set_up(&f);
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    kube_say(f.s, "info", "%d %s", 7, longer);
    assert_int_equal(f.said.len, strlen("info: \n") + 1199);
    assert_memory_equal(f.said.data, "info: 7 xx", 10);
    f.schedule.say = NULL;
    kube_say(f.s, "info", "%s", longer);
    tear_down(&f);
}

static const char *no_env(const char *name)
{
    (void)name;
    return NULL;
}

static void write_config(const char *path, const char *server, const char *more, const char *token)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_printf(&text,
                   "current-context: c\nclusters: [{name: c, cluster: {server: '%s'%s}}]\n"
                   "users: [{name: u, user: {token: %s}}]\n"
                   "contexts: [{name: c, context: {cluster: c, user: u}}]\n",
                   server, more, token);
    assert_int_equal(myr_file_write(path, &text, NULL), MYR_OK);
}

/* What was refused or not reached is tried again with what lies there now, and nothing else is. */
static void credentials_are_read_anew(void **state)
{
    (void)state;
    struct fixture f;
    char path[] = "/tmp/myriad-trouble-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    set_up(&f);
    f.schedule.where = (struct myr_kube_where){.kubeconfig = path, .lookup_env = no_env};
    write_config(path, "http://127.0.0.1:8001", "", "first");
    assert_int_equal(myr_kube_access_find(&f.schedule.where, &f.s->access, NULL), MYR_OK);
    f.s->client.access = &f.s->access;
    f.s->client.token_ms = 5;
    static const struct {
        const char *server, *more, *token;
        int code;
        bool stopping;
        const char *holds;
    } rows[] = {
        {"http://127.0.0.1:8001", "", "second", MYR_EDENIED, false, "first"},
        {"http://127.0.0.1:8001", "", "second", MYR_EAWAY, false, "first"},
        {"http://127.0.0.1:8001", "", "second", MYR_EUNKNOWN, true, "first"},
        {"http://127.0.0.1:8001", "", "second", MYR_EUNKNOWN, false, "second"},
        {"http://127.0.0.1:8001", "", "third", MYR_EIO, false, "third"},
        {"nonsense", "", "fourth", MYR_EIO, false, "third"},
        /* Read, and of no use: the old one lives on. */
        {"https://127.0.0.1:8001", ", certificate-authority-data: eHg=", "fifth", MYR_EUNKNOWN,
         false, "third"},
        {"http://127.0.0.1:8001", "", "sixth", MYR_EUNKNOWN, false, "sixth"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_err err = {.code = rows[i].code};
        write_config(path, rows[i].server, rows[i].more, rows[i].token);
        f.s->stopping = rows[i].stopping;
        f.s->client.token_ms = 5;
        const char *before = f.s->access.token;
        kube_trouble(f.s, SOURCE_NODES, &err);
        if (strcmp(f.s->access.token, rows[i].holds) != 0) {
            fail_msg("row %zu: '%s' is held", i, f.s->access.token);
        }
        bool renewed = f.s->access.token != before;
        assert_int_equal(f.s->client.token_ms, renewed ? 0 : 5);
        assert_int_equal(renewed, strcmp(rows[i].holds, rows[i].token) == 0);
    }
    myr_kube_access_done(&f.s->access);
    myr_io_tls_free(f.s->client.tls);
    unlink(path);
    tear_down(&f);
}

/* As the API server has them: whole seconds in events, microseconds in leases. */
static void times_are_those_of_the_wall(void **state)
{
    (void)state;
    char text[40];
    int64_t before_ms = kube_wall_ms();
    assert_int_equal(strlen(kube_put_time(text, false)), strlen("2026-11-16T08:55:00Z"));
    struct tm parts = {};
    assert_string_equal(strptime(text, "%Y-%m-%dT%H:%M:%S", &parts), "Z");
    int64_t whole_s = timegm(&parts);
    assert_ptr_equal(kube_put_time(text, true), text);
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    assert_int_equal(strlen(rest), strlen(".000000Z"));
    assert_true(rest[0] == '.' && rest[7] == 'Z');
    int64_t fine_ms = timegm(&parts) * 1000 + strtol(rest + 1, NULL, 10) / 1000;
    int64_t after_ms = kube_wall_ms();
    /* All of the same clock, one after the other. */
    assert_true(before_ms / 1000 <= whole_s && whole_s <= after_ms / 1000);
    assert_true(before_ms <= fine_ms && fine_ms <= after_ms);
    /* time() is told by the tick, and may be that much behind. */
    assert_true(before_ms / 1000 <= time(NULL) + 1 && time(NULL) - before_ms / 1000 < 3600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cause_is_told_once),
        cmocka_unit_test(lines_are_cut_and_nobody_has_to_listen),
        cmocka_unit_test(credentials_are_read_anew),
        cmocka_unit_test(times_are_those_of_the_wall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
