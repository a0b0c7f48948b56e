/* A machine as hwloc describes it in a file: what the inventory says of its sockets and devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "leaks.h"
#include "nvml.h"
#include "topology.h"

/* The library stays in the process. */
long myr_leaks_allowed = 1000;

/* The answer without blanks and line ends, which are the writer's. */
static void ask(bool real, const struct hwloc *hwloc, struct myr_buf *ret)
{
    struct myr_arena arena;
    struct myr_answer answer;
    struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "test", 1);
    if (real) {
        topology_collect(&answer);
    } else {
        topology_tell(hwloc, &answer);
    }
    assert_int_equal(myr_answer_write(&answer, &form, ret, NULL), MYR_OK);
    size_t kept = 0;
    for (size_t i = 0; i < ret->len; i++) {
        ret->data[kept] = ret->data[i];
        kept += ret->data[i] != ' ' && ret->data[i] != '\n';
    }
    ret->data[kept] = '\0';
    myr_arena_done(&arena);
}

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
    struct myr_buf text = {};
    assert_int_equal(setenv("HWLOC_XMLFILE", MYR_SOURCE_DIR "/tests/data/agent/two-sockets.xml", 1),
                     0);
    ask(true, NULL, &text);
    if (!strstr(text.data, wanted)) {
        fail_msg("%s", text.data);
    }
    myr_buf_done(&text);
}

/* --- a library of the test's own */

enum { OBJECTS = 40 };

static struct hwloc_obj objects[OBJECTS];
static union hwloc_obj_attr_u attributes[OBJECTS];
static int numbers[OBJECTS]; /* what sets hold */
static int init_rc, load_rc;
static char asked[80];

static void note(const char *what)
{
    snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "%s ", what);
}

static int on_init(hwloc_topology_t *ret)
{
    note("init");
    *ret = (hwloc_topology_t)(void *)asked;
    return init_rc;
}

static int on_load(hwloc_topology_t topology)
{
    note((void *)topology == asked ? "load" : "load of another");
    return load_rc;
}

static void on_destroy(hwloc_topology_t topology)
{
    note((void *)topology == asked ? "destroy" : "destroy another");
}

static int on_filter(hwloc_topology_t topology, enum hwloc_type_filter_e filter)
{
    (void)topology;
    note(filter == HWLOC_TYPE_FILTER_KEEP_IMPORTANT ? "filter" : "filter otherwise");
    return -1; /* then there are more of them: no harm is done */
}

static hwloc_obj_t on_depth(hwloc_topology_t topology, int depth, unsigned index)
{
    (void)topology;
    note(depth == 0 && index == 0 ? "root" : "another");
    return &objects[0];
}

static int on_list(char *ret, size_t size, hwloc_const_bitmap_t set)
{
    assert_int_equal(size, 256);
    return snprintf(ret, size, "0-%d", *(const int *)(const void *)set);
}

static int on_first(hwloc_const_bitmap_t set)
{
    return *(const int *)(const void *)set;
}

static const struct hwloc fake = {on_init,  on_load, on_destroy, on_filter,
                                  on_depth, on_list, on_first};

static void append(hwloc_obj_t *list, hwloc_obj_t object)
{
    while (*list) {
        list = &(*list)->next_sibling;
    }
    *list = object;
}

/* Memory has memory below it, devices have devices, and all else has all kinds. */
static void draw_machine(struct myr_rng *rng, uint32_t count)
{
    static const hwloc_obj_type_t kinds[3][3] = {
        {HWLOC_OBJ_NUMANODE, HWLOC_OBJ_MEMCACHE, HWLOC_OBJ_NUMANODE},
        {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_GROUP, HWLOC_OBJ_CORE},
        {HWLOC_OBJ_BRIDGE, HWLOC_OBJ_PCI_DEVICE, HWLOC_OBJ_OS_DEVICE}};
    uint32_t side[OBJECTS];
    for (uint32_t i = 0; i < count; i++) {
        hwloc_obj_t above = i ? &objects[myr_rng_below(rng, i)] : NULL;
        uint32_t of = above ? side[above - objects] : 1;
        side[i] = of == 1 && i ? (uint32_t)myr_rng_below(rng, 3) : of;
        numbers[i] = (int)i;
        objects[i] = (struct hwloc_obj){.type = kinds[side[i]][myr_rng_below(rng, 3)],
                                        .os_index = 500 + i,
                                        .attr = &attributes[i],
                                        .cpuset = (void *)&numbers[i],
                                        .parent = above};
        if (side[i] != 2 && myr_rng_below(rng, 3)) {
            objects[i].nodeset = (void *)&numbers[i];
        }
        memset(&attributes[i], 0, sizeof(attributes[i]));
        if (objects[i].type == HWLOC_OBJ_NUMANODE) {
            attributes[i].numanode.local_memory = 7000 + i;
        } else if (objects[i].type == HWLOC_OBJ_PCI_DEVICE) {
            attributes[i].pcidev = (struct hwloc_pcidev_attr_s){.domain = (unsigned short)i,
                                                                .bus = (unsigned char)(i + 1),
                                                                .dev = (unsigned char)(i % 32),
                                                                .func = i % 8,
                                                                .class_id = (unsigned short)(i * 3),
                                                                .vendor_id = 0x10de,
                                                                .device_id = (unsigned short)i,
                                                                .linkspeed = (float)i / 2};
        }
        if (above) {
            append(side[i] == 0   ? &above->memory_first_child
                   : side[i] == 1 ? &above->first_child
                                  : &above->io_first_child,
                   &objects[i]);
        }
    }
}

/* In their order: the object, what is below it of memory, of cores and of devices. */
static void put_wanted(hwloc_obj_t at, struct myr_buf *numa, struct myr_buf *pcie)
{
    int number = *(const int *)(const void *)at->cpuset;
    if (at->type == HWLOC_OBJ_NUMANODE) {
        myr_buf_printf(numa, "%s{\"node\":%d,\"cpus\":\"0-%d\",\"memory_bytes\":%d}",
                       numa->len ? "," : "", 500 + number, number, 7000 + number);
    } else if (at->type == HWLOC_OBJ_PCI_DEVICE) {
        hwloc_obj_t near = at;
        while (near && !near->nodeset) {
            near = near->parent;
        }
        myr_buf_printf(pcie,
                       "%s{\"address\":\"%04x:%02x:%02x.%x\",\"device\":\"10de:%04x\","
                       "\"class\":%d,\"link_gbps\":%d,\"numa\":%d}",
                       pcie->len ? "," : "", number, number + 1, number % 32, number % 8, number,
                       3 * number, 4 * number, near ? (int)(near - objects) : -1);
    }
    const hwloc_obj_t below[] = {at->memory_first_child, at->first_child, at->io_first_child};
    for (uint32_t i = 0; i < 3; i++) {
        for (hwloc_obj_t child = below[i]; child; child = child->next_sibling) {
            put_wanted(child, numa, pcie);
        }
    }
}

static void machines_are_walked_whole(void **state)
{
    (void)state;
    const uint64_t seed = 7;
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 0);
    for (uint32_t round = 0; round < 60; round++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf numa = {}, pcie = {}, wanted = {}, text = {};
        draw_machine(&rng, 1 + (uint32_t)myr_rng_below(&rng, OBJECTS));
        put_wanted(&objects[0], &numa, &pcie);
        myr_buf_printf(&wanted, "\"numa\":[%s],\"pcie\":[%s]", numa.len ? numa.data : "",
                       pcie.len ? pcie.data : "");
        asked[0] = '\0';
        ask(false, &fake, &text);
        if (!strstr(text.data, wanted.data)) {
            fail_msg("seed %llu, round %u: %s\n%s", (unsigned long long)seed, round, text.data,
                     wanted.data);
        }
        assert_string_equal(asked, "init filter load root destroy ");
    }
}

/* Null and not empty: nobody can say that there is nothing. */
static void what_cannot_be_said_is_null(void **state)
{
    static const char nothing[] = "\"numa\":null,\"pcie\":null";
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        init_rc = i == 1 ? -1 : 0;
        load_rc = i == 2 ? -1 : 0;
        asked[0] = '\0';
        ask(false, i == 0 ? NULL : &fake, &text);
        assert_non_null(strstr(text.data, nothing));
        assert_string_equal(asked, i == 0 ? "" : i == 1 ? "init " : "init filter load destroy ");
    }
    init_rc = load_rc = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sockets_and_devices_are_those_of_the_machine),
        cmocka_unit_test(machines_are_walked_whole),
        cmocka_unit_test(what_cannot_be_said_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
