#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kept.h"
#include "read/chakra_test.h"

/* What the nodes of a trace become: operations, the order between them, refusals. */

struct asked {
    const char *text;
    struct myr_chakra_options options;
};

static void keep_asked(const char *name, const struct asked *rows, size_t count)
{
    struct myr_buf out = {};
    struct files files;
    for (size_t i = 0; i < count; i++) {
        put_files(&files, rows[i].text);
        myr_buf_printf(&out, "%s\n", rows[i].text);
        put_read(&out, &files, &rows[i].options);
        files_done(&files);
    }
    assert_kept(name, &out);
    myr_buf_done(&out);
}

static void nodes_become_operations_that_wait_for_each_other(void **state)
{
    (void)state;
    static const struct asked rows[] = {
        /* The first message is about the file where it has no type. */
        {"id=9; id=0 type=4 us=5 | id=0 type=4 us=6; id=1 type=1 us=7 deps=0", {}},
        /* Messages of one tag meet in order; a receive may be larger than what comes. */
        {"id=0 type=5 comm_size=10 comm_dst=1; id=1 type=5 comm_size=20 comm_dst=1;"
         "id=2 type=5 comm_size=30 comm_dst=1 comm_tag=7 | id=5 type=6 comm_size=31 comm_src=0 "
         "comm_tag=7; id=6 type=6 comm_size=10 comm_src=0; id=7 type=6 comm_size=25 comm_src=0",
         {}},
        /* Who waits, in either form, also for ids that come later; callers only where asked. */
        {"id=3 type=4 us=1 deps=4,5 ctrl=6; id=4 type=2 us=2; id=5 type=3 us=3 deps=4,; id=6 "
         "type=4 us=4 | id=0 type=4",
         {}},
        {"id=3 type=4 us=1 deps=4,5 ctrl=6,4,; id=4 type=2 us=2; id=5 type=3 us=3; id=6 type=4 "
         "us=4 | id=0 type=4",
         {.callers = true}},
        /* What the processor does about the network is computing. */
        {"id=0 type=7 us=3 is_cpu_op=1; id=1 type=5 us=4 is_cpu_op=1; id=2 type=6 is_cpu_op=2 | "
         "id=0 type=4",
         {}},
        /* Operations take time by the speed that is given, and a measured time goes before. */
        {"id=0 type=4 num_ops=4000; id=1 type=4 num_ops=4000 us=2; id=2 type=2 num_ops=4000 | "
         "id=0 type=4",
         {.flops_per_s = 1e12}},
        /* A collective of each kind, of all ranks and of groups; what moves nothing is a meeting.
         */
        {"id=0 type=7 comm_type=0 comm_size=80; id=1 type=7 comm_type=2 comm_size=80 | "
         "id=4 type=7 comm_type=0 comm_size=80; id=5 type=7 comm_type=2 comm_size=80 deps=4",
         {}},
        {"id=0 type=7 comm_type=5 comm_size=8; id=1 type=7 comm_type=6 comm_size=8; id=2 type=7 "
         "comm_type=7 comm_size=8; id=3 type=7 comm_type=8 comm_size=8; id=4 type=7 comm_type=9; "
         "id=5 type=7 comm_type=0 comm_size=0",
         {.ranks = 3}},
        {"id=0 type=7 comm_type=0 comm_size=8 pg_name=a; id=1 type=7 comm_type=0 comm_size=9 "
         "pg_name=all | id=0 type=7 comm_type=0 comm_size=9 pg_name=all; id=1 type=7 comm_type=6 "
         "comm_size=7 pg_name=b; id=2 type=7 comm_type=0 comm_size=6 pg_name=b | id=0 type=7 "
         "comm_type=6 comm_size=7 pg_name=b; id=1 type=7 comm_type=0 comm_size=6 pg_name=b; id=2 "
         "type=7 comm_type=0 comm_size=9 pg_name=all",
         {}},
        {"id=0 type=7 comm_type=0 comm_size=8 involved_dim=tt; id=1 type=7 comm_type=0 comm_size=8 "
         "involved_dim=ttt,",
         {.ranks = 2}},
    };
    keep_asked("sim-chakra-nodes.txt", rows, MYR_ARRAY_COUNT(rows));
}

static void nodes_that_cannot_be_played_are_refused_where_they_stand(void **state)
{
    (void)state;
    static const struct asked rows[] = {
        {"id=0 type=8 | id=0 type=4", {}},
        {"id=0 type=4; id=0 type=4 | id=0 type=4", {}},
        {"id=0 type=4 deps=3 | id=0 type=4", {}},
        {"id=0 type=4; id=1 type=4 deps=2; id=2 type=4 deps=1 | id=0 type=4", {}},
        {"id=0 type=4 | id=1 type=4 us=1000000000001", {}},
        {"id=0 type=4 | id=1 type=4 us=1000000000000", {}},
        {"id=0 type=4 num_ops=5", {.ranks = 2}},
        {"id=0 type=4 num_ops=1000001", {.ranks = 2, .flops_per_s = 1}},
        {"id=0 type=4 num_ops=1000000", {.ranks = 2, .flops_per_s = 1}},
        {"id=0 type=5 comm_dst=1 | id=0 type=4", {}},
        {"id=0 type=5 comm_size=1 comm_src=1 | id=0 type=4", {}},
        {"id=0 type=4 | id=0 type=6 comm_size=1 comm_dst=0", {}},
        {"id=0 type=5 comm_size=1 comm_dst=2 | id=0 type=4", {}},
        {"id=0 type=4 | id=0 type=6 comm_size=1 comm_src=1", {}},
        {"id=0 type=5 comm_size=1125899906842625 comm_dst=1 | id=0 type=4", {}},
        {"id=0 type=5 comm_size=5 comm_dst=1 | id=0 type=4", {}},
        {"id=0 type=5 comm_size=5 comm_dst=1 | id=0 type=6 comm_size=4 comm_src=0", {}},
        {"id=0 type=5 comm_size=5 comm_dst=1 comm_tag=3 | id=0 type=6 comm_size=5 comm_src=0", {}},
        {"id=0 type=5 comm_size=5 comm_dst=1 | id=0 type=6 comm_size=5 comm_src=0; id=1 type=6 "
         "comm_size=5 comm_src=0",
         {}},
        {"id=0 type=5 comm_size=5 comm_dst=1; id=1 type=5 comm_size=5 comm_dst=1 | id=0 type=6 "
         "comm_size=5 comm_src=0",
         {}},
        {"id=0 type=7 comm_size=5 | id=0 type=4", {}},
        {"id=0 type=7 comm_type=10 comm_size=5 | id=0 type=4", {}},
        {"id=0 type=7 comm_type=1 comm_size=5 | id=0 type=4", {}},
        {"id=0 type=7 comm_type=3 comm_size=5 | id=0 type=4", {}},
        {"id=0 type=7 comm_type=4 comm_size=5 | id=0 type=4", {}},
        {"id=0 type=7 comm_type=0 | id=0 type=4", {}},
        {"id=0 type=7 comm_type=0 comm_size=5 involved_dim=tft", {.ranks = 2}},
        {"id=0 type=7 comm_type=0 comm_size=5 involved_dim=ttf,", {.ranks = 2}},
        {"id=0 type=7 comm_type=0 comm_size=5 | id=0 type=7 comm_type=7 comm_size=5", {}},
        {"id=0 type=7 comm_type=0 comm_size=5 | id=0 type=7 comm_type=0 comm_size=1", {}},
        {"id=0 type=7 comm_type=0 comm_size=5; id=1 type=7 comm_type=9 | id=0 type=7 comm_type=0 "
         "comm_size=5",
         {}},
        {"id=0 type=7 comm_type=2 comm_size=562949953421313", {.ranks = 2}},
        {"id=0 type=7 comm_type=2 comm_size=562949953421312", {.ranks = 2}},
        {"id=0 type=4", {}},
        {"id=0 type=4", {.ranks = 1}},
        {"id=0 type=4", {.ranks = MYR_TRACE_RANKS_MAX + 1}},
        {"id=0 type=4 | ", {}},
    };
    keep_asked("sim-chakra-refused.txt", rows, MYR_ARRAY_COUNT(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_become_operations_that_wait_for_each_other),
        cmocka_unit_test(nodes_that_cannot_be_played_are_refused_where_they_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
