/* The server of the fuzzers: what goes in is taken as by a real one, and nothing stays behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "given_back_test.h"
#include "leaks.h"
#include "mhd.h"
#include "mute.h"
#include "myriad/wire.h"

long myr_leaks_allowed = 0;

static char folder[64];
static struct myr_mute *mute;

/* A request that came by no connection has no header. */
static const char *no_header(struct MHD_Connection *connection, enum MHD_ValueKind kind,
                             const char *key)
{
    (void)connection, (void)kind, (void)key;
    return NULL;
}

static int begin(void **state)
{
    (void)state;
    struct myr_err err = {};
    mhd.lookup_connection_value = no_header;
    snprintf(folder, sizeof(folder), "/tmp/myriad-mute-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(myr_mute_create(folder, &mute, &err), MYR_OK);
    return 0;
}

/* The folder is its own, and goes with it. */
static int end(void **state)
{
    (void)state;
    struct stat status;
    myr_mute_free(mute);
    return stat(folder, &status) == 0;
}

static uint32_t call_of(const char *path)
{
    for (uint32_t i = 0; i < myr_mute_calls(); i++) {
        if (strcmp(myr_mute_call_path(i), path) == 0) {
            return i;
        }
    }
    fail_msg("no call %s", path);
    return 0;
}

static unsigned posts(const char *path, uint32_t role, const char *name, const char *body,
                      const char *words)
{
    struct myr_err err = {};
    const struct myr_mute_request asked = {
        .call = call_of(path), .role = role, .name = name, .body = myr_str_from(body)};
    unsigned status = myr_mute_post(mute, &asked, &err);
    assert_string_equal(err.message, words);
    return status;
}

/* Roles are none, viewer, user, operator and admin; any byte is one of them. */
static void requests_are_judged_by_their_role(void **state)
{
    (void)state;
    static const char job[] = "gpus: 8\ncommand: x\n";
    assert_int_equal(posts("/v1/jobs", 1, "", job, "this takes another role"), 403);
    assert_int_equal(myr_mute_jobs(mute), 0);
    assert_int_equal(posts("/v1/jobs", 2, "", job, ""), 200);
    assert_int_equal(myr_mute_jobs(mute), 1);
    assert_int_equal(posts("/v1/jobs", 7, "", job, ""), 200); /* a user again */
    assert_int_equal(myr_mute_jobs(mute), 2);
    assert_int_equal(posts("/v1/jobs", 2, "", "gpus: 33\ncommand: x\n",
                           "the job asks for 33 GPUs, the cluster has 32"),
                     400);
    assert_int_equal(posts("/v1/jobs/:id/cancel", 2, "0", "", ""), 200);
    assert_int_equal(posts("/v1/jobs/:id/cancel", 2, "2", "", "no job '2'"), 404);
    assert_int_equal(posts("/v1/nodes/:name/drain", 2, "n3", "", "this takes another role"), 403);
    assert_int_equal(posts("/v1/nodes/:name/drain", 3, "n3", "{\"reason\":\"dust\"}", ""), 200);
    assert_int_equal(posts("/v1/nodes/:name/drain", 3, "n4", "", "no node 'n4'"), 404);
    assert_int_equal(posts("/v1/tenants/:name", 4, "t", "{\"weight\":\"3\"}", ""), 200);
    assert_int_equal(myr_mute_jobs(mute), 2);
}

/* All that take a body, in their order; a copy of the store needs somebody to send it to. */
static void calls_are_those_with_a_body(void **state)
{
    (void)state;
    static const char *const paths[] = {"/v1/login",
                                        "/v1/logout",
                                        "/v1/nodes/:name/drain",
                                        "/v1/nodes/:name/resume",
                                        "/v1/nodes/:name/revoke",
                                        "/v1/jobs",
                                        "/v1/jobs/:id/cancel",
                                        "/v1/jobs/:id/hold",
                                        "/v1/jobs/:id/release",
                                        "/v1/jobs/:id/top",
                                        "/v1/inject",
                                        "/v1/design",
                                        "/v1/enrol",
                                        "/v1/relays/:name/revoke",
                                        "/v1/tokens",
                                        "/v1/tokens/:id/revoke",
                                        "/v1/tenants/:name"};
    assert_int_equal(myr_mute_calls(), MYR_ARRAY_COUNT(paths));
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(paths); i++) {
        assert_string_equal(myr_mute_call_path(i), paths[i]);
    }
    assert_string_equal(myr_mute_call_path(MYR_ARRAY_COUNT(paths)), "");
}

/* As the first node, alone or behind a relay; every sixteenth time the desk takes a turn. */
static void connections_leave_nothing(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_wire_sender sender;
    myr_wire_sender_init(&sender);
    myr_wire_send(&sender, &bytes, MYR_WIRE_BEAT, 0, 0, 2, &(struct myr_wire_beat){1});
    for (uint32_t i = 0; i < 40; i++) {
        myr_mute_connection(mute, i % 3 == 0, (struct myr_str){bytes.data, bytes.len});
        myr_mute_connection(mute, i % 2 == 0, MYR_STR("no frame at all, of anybody's......."));
        myr_mute_connection(mute, false, MYR_STR(""));
    }
    assert_int_equal(posts("/v1/nodes/:name/drain", 3, "n0", "", ""), 200);
}

static void segments_and_parts(void **state)
{
    (void)state;
    struct myr_err err = {};
    assert_int_equal(myr_mute_segment(MYR_STR(""), &err), MYR_OK);
    assert_int_equal(myr_mute_segment(MYR_STR("s"), &err), MYR_OK);
    assert_int_equal(myr_mute_segment((struct myr_str){"s\0\1\0\0\0\1\0\0\0kv", 12}, &err), MYR_OK);
    assert_int_equal(myr_mute_segment((struct myr_str){"s\0\1\0\0\0\1\0\0\0k", 11}, &err),
                     MYR_ECORRUPT);
    assert_string_equal(err.message, "the change at byte 0 of 10 is damaged");
    assert_int_equal(myr_mute_segment(MYR_STR("pMYRS"), &err), MYR_ECORRUPT);
    assert_string_equal(err.message, "no part of a state of Myriad's");
}

/* Where the folder is a file nothing is made, and it is said why. */
static void a_folder_that_is_none(void **state)
{
    (void)state;
    char path[128];
    struct myr_err err = {};
    struct myr_mute *other = NULL;
    snprintf(path, sizeof(path), "%s/state.db/x", folder);
    assert_true(myr_mute_create(path, &other, &err) < 0);
    assert_null(other);
    assert_non_null(strstr(err.message, "state.db"));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(requests_are_judged_by_their_role),
        TEST(calls_are_those_with_a_body),
        TEST(connections_leave_nothing),
        TEST(segments_and_parts),
        TEST(a_folder_that_is_none),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
