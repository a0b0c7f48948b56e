/* A machine as hwloc describes it in a file: what the inventory says of its sockets and devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "leaks.h"
#include "nvml.h"

/* The library stays in the process. */
long myr_leaks_allowed = 1000;

static void sockets_and_devices_are_those_of_the_machine(void **state)
{
    static const char wanted[] =
        "\"numa\":[{\"node\":0,\"cpus\":\"0,2\",\"memory_bytes\":1081999360},"
        "{\"node\":1,\"cpus\":\"1,3\",\"memory_bytes\":2163998720}],"
        "\"pcie\":[{\"address\":\"0000:0e:1f.7\",\"device\":\"15b3:1021\",\"class\":519,"
        "\"link_gbps\":252.1,\"numa\":0},{\"address\":\"0000:0f:00.0\",\"device\":\"10de:2330\","
        "\"class\":770,\"link_gbps\":504.1,\"numa\":0},{\"address\":\"0001:8e:00.0\","
        "\"device\":\"10de:2330\",\"class\":770,\"link_gbps\":0,\"numa\":1}]";
    (void)state;
    struct myr_arena arena;
    struct myr_answer answer;
    struct myr_buf text = {};
    assert_int_equal(setenv("HWLOC_XMLFILE", MYR_SOURCE_DIR "/tests/data/agent/two-sockets.xml", 1),
                     0);
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "test", 1);
    topology_collect(&answer);
    struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
    assert_int_equal(myr_answer_write(&answer, &form, &text, NULL), MYR_OK);
    /* Blanks and line ends are the writer's. */
    size_t kept = 0;
    for (size_t i = 0; i < text.len; i++) {
        text.data[kept] = text.data[i];
        kept += text.data[i] != ' ' && text.data[i] != '\n';
    }
    text.data[kept] = '\0';
    if (!strstr(text.data, wanted)) {
        fail_msg("%s", text.data);
    }
    myr_buf_done(&text);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sockets_and_devices_are_those_of_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
