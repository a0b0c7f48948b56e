#include "verify/identify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "verify/verify_test.h"

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_cabling cabling;
    struct myr_port_names names;
    struct spelling spelling;
    struct myr_binding binding;
    struct identify identify;
    struct myr_verify_options options;
    struct myr_err err;
};

/* Devices of the small design: nodes 0 to 3, leaves 4 and 5, spines 6 and 7. */
enum { LEAF0 = 4, LEAF1 = 5, WHOLE = -1, NOBODY = -2 };

static void begin(struct fixture *f)
{
    *f = (struct fixture){.options.nets = 1U << MYR_NET_COMPUTE};
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, (struct small_shape){4, 2, 2, 2});
    myr_cabling_init(&f->cabling, &f->arena);
    myr_binding_init(&f->binding, &f->arena, &f->design);
    assert_int_equal(myr_port_names_init(&f->names, &f->arena, &f->err), MYR_OK);
    spelling_init(&f->spelling, &f->arena, &f->design, &f->names, NULL);
}

static void finish(struct fixture *f)
{
    identify_done(&f->identify);
    spelling_done(&f->spelling);
    myr_port_names_done(&f->names);
    myr_binding_done(&f->binding);
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
}

static uint32_t add(struct fixture *f, const char *name, uint64_t guid, bool is_switch)
{
    struct myr_cabling_device device = {
        .name = myr_str_from(name), .guid = guid, .is_switch = is_switch};
    myr_vec_push(&f->cabling.devices, device);
    return (uint32_t)f->cabling.devices.count - 1;
}

static void tie(struct fixture *f, struct myr_bound bound)
{
    uint32_t row;
    assert_true(myr_binding_add(&f->binding, &bound, &row));
    f->options.binding = &f->binding;
}

static void look(struct fixture *f)
{
    identify_init(&f->identify, &f->arena, &f->design, &f->cabling, &f->spelling, &f->options);
    identify_by_name(&f->identify);
}

/* A whole device, one port of it, or nobody. */
static void expect_place(const struct fixture *f, uint32_t found, uint32_t device, int port)
{
    struct myr_port_span own = f->identify.devices[found];
    struct myr_port_span all = identity_of_device(&f->design, device);
    uint32_t count = port == NOBODY ? 0 : port == WHOLE ? all.count : 1;
    uint32_t first = port == NOBODY ? 0 : all.first + (port == WHOLE ? 0 : (uint32_t)port);
    if (own.count != count || own.first != first) {
        fail_msg("%u is %u+%u, not %u+%u", found, own.first, own.count, first, count);
    }
}

/* Serial numbers are what they are; a NIC that is bound on one host says nothing of others. */
static const struct {
    uint32_t device;
    int port;
    const char *names; /* with ',' between them */
} written[] = {
    {LEAF1, WHOLE, "leaf-p0-g0-r1,leaf/p0-g0-r1,LEAF-P0-g0-R1, \t leaf-p0-g0-r1\t "},
    {LEAF1, WHOLE, "leaf-p0-g0-r1.site.example,MF0;leaf-p0-g0-r1:X/U1,leaf-p0-g0-r1:X/U1"},
    {LEAF0, WHOLE, "Sw-A,sw-a,SW-A,S1,3e:9c:2b:3d:21:25,3E-9C-2B-3D-21-25"},
    {1, WHOLE, "gpuZ,gpuz,GPUZ.a.b"},
    {1, 1, "gpuZ mlx5_7,GPUz  MLX5_7 ,gpuZ.site mlx5_7,gpuZ-NIC1,node-00001-nic1"},
    {1, 0, "gpuZ-nic0,gpuZ nic0"},
    {0, NOBODY, "leaf-p0-g0-r1:X,leaf-p0-g0-r2,s1,3e:9c:2b:3d:21:26,gpuZ.site mlx5_8"},
    {0, NOBODY, ".site mlx5_7,node-00003-nic2,node-00003 mlx5_7,-nic0, ,"},
};

static void names_are_read_in_all_the_ways_they_are_written(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t of[64];
    begin(&f);
    tie(&f, (struct myr_bound){.device = LEAF0,
                               .port = MYR_NONE,
                               .host = MYR_STR("Sw-A"),
                               .serial = MYR_STR("S1"),
                               .mac = UINT64_C(0x3e9c2b3d2125)});
    tie(&f, (struct myr_bound){.device = 1, .port = MYR_NONE, .host = MYR_STR("gpuZ")});
    tie(&f, (struct myr_bound){
                .device = 1, .port = f.design.first_port[1] + 1, .name = MYR_STR("mlx5_7")});
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(written); i++) {
        char *rest = myr_arena_strndup(&f.arena, written[i].names, strlen(written[i].names));
        while (rest) {
            of[add(&f, strsep(&rest, ","), 0, false)] = i;
        }
    }
    /* Tidied up to so many bytes; longer ones are taken as they are. */
    char longest[258];
    memset(longest, ' ', sizeof(longest));
    memcpy(longest + 257 - strlen("node-00003"), "node-00003", strlen("node-00003") + 1);
    uint32_t over = add(&f, longest, 0, false), just = add(&f, longest + 1, 0, false);
    look(&f);
    for (uint32_t i = 0; i < over; i++) {
        expect_place(&f, i, written[of[i]].device, written[of[i]].port);
    }
    expect_place(&f, over, 0, NOBODY);
    expect_place(&f, just, 3, WHOLE);
    assert_int_equal(f.identify.name_conflicts, 0);
    finish(&f);
}

static void what_is_burnt_in_outlives_what_is_typed_in(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    tie(&f, (struct myr_bound){.device = LEAF0, .port = MYR_NONE, .guid = 7, .mac = 9});
    uint32_t bound = add(&f, "leaf-p0-g0-r1", 7, true); /* the first conflict */
    uint32_t again = add(&f, "leaf-p0-g0-r0", 7, true); /* the same box once more */
    uint32_t by_mac = add(&f, "?", 0, true);
    f.cabling.devices.items[by_mac].mac = MYR_STR("00:00:00:00:00:09");
    /* One name, two boxes: the second conflict. */
    uint32_t one = add(&f, "node-00001", 21, true), two = add(&f, "node-00001", 22, true);
    uint32_t deaf = add(&f, "node-00001", 0, true); /* without a GUID it may be either */
    uint32_t chip = add(&f, "MF0;node-00002:X/U1", 31, true);
    (void)add(&f, "MF0;node-00002:X/U2", 32, true);
    look(&f);
    expect_place(&f, bound, LEAF0, WHOLE);
    expect_place(&f, again, LEAF0, WHOLE);
    expect_place(&f, by_mac, LEAF0, WHOLE);
    expect_place(&f, one, 0, NOBODY);
    expect_place(&f, two, 0, NOBODY);
    expect_place(&f, deaf, 1, WHOLE);
    expect_place(&f, chip, 2, WHOLE);
    expect_place(&f, chip + 1, 2, WHOLE);
    assert_int_equal(f.identify.name_conflicts, 2);
    finish(&f);
}

/* As Linux and as switches of several makers do. */
static void a_bound_mac_is_found_however_it_is_written(void **state)
{
    static const char *const spellings[] = {"00:00:5e:00:53:01", "00-00-5E-00-53-01",
                                            "0000.5e00.5301", "0000.5E00.5301"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(spellings); i++) {
        struct fixture f;
        begin(&f);
        tie(&f,
            (struct myr_bound){.device = LEAF0, .port = MYR_NONE, .mac = UINT64_C(0x00005e005301)});
        uint32_t box = add(&f, "?", 0, true), named = add(&f, spellings[i], 0, true);
        f.cabling.devices.items[box].mac = myr_str_from(spellings[i]);
        look(&f);
        expect_place(&f, box, LEAF0, WHOLE);
        expect_place(&f, named, LEAF0, WHOLE);
        finish(&f);
    }
}

static void guids_that_the_design_made_up_tell_their_place(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    f.cabling.numbered = true;
    const struct myr_design *design = &f.design;
    for (uint32_t p = 0; p < design->port_count; p++) {
        uint32_t device = design->port_device[p];
        bool host = design->place[device].kind == MYR_DEVICE_NODE;
        uint64_t guid = host ? myr_site_port_guid(design, p) : myr_site_guid(design, p);
        (void)add(&f, "", guid, !host);
        (void)add(&f, "", guid ^ UINT64_C(1) << 40, !host); /* a real one */
    }
    /* A NIC that says whose it is is asked for its name; a host's name tells the host alone. */
    uint32_t named = add(&f, "gpu7 mlx5_0", myr_site_guid(design, 0), false);
    uint32_t of_host = add(&f, "node-00002", 71, false);
    uint32_t no_nic = add(&f, "node-00003", 72, true);
    look(&f);
    for (uint32_t p = 0; p < design->port_count; p++) {
        uint32_t device = design->port_device[p];
        bool host = design->place[device].kind == MYR_DEVICE_NODE;
        expect_place(&f, 2 * p, device, host ? (int)(p - design->first_port[device]) : WHOLE);
        expect_place(&f, 2 * p + 1, 0, NOBODY);
    }
    expect_place(&f, named, 0, NOBODY);
    expect_place(&f, of_host, 0, NOBODY);
    expect_place(&f, no_nic, 3, WHOLE);
    assert_int_equal(f.identify.nodes[of_host], 2);
    assert_int_equal(f.identify.nodes[no_nic], MYR_NONE);
    finish(&f);
}

static void parts_of_a_switch_are_no_devices(void **state)
{
    (void)state;
    static char names[] = "Mellanox Technologies Aggregation Node,leaf-p0-g0-r0 Aggregation Node,"
                          "x  aggregation   NODE ,leaf-p0-g0-r0/RT,a/RT,a/RT ,"
                          "/RT,a/rt,b/RTX, Aggregation Node,x Aggregation Nodes,a/b,";
    struct fixture f;
    begin(&f);
    for (char *rest = names; rest;) {
        (void)add(&f, strsep(&rest, ","), 0, true);
    }
    look(&f);
    for (uint32_t i = 0; i < f.cabling.devices.count; i++) {
        assert_int_equal(f.identify.inside[i], i < 6);
        expect_place(&f, i, 0, NOBODY);
    }
    finish(&f);
}

static uint32_t port_at(const struct fixture *f, uint32_t found, const char *port)
{
    return identify_port(&f->identify, (struct myr_cabling_end){found, myr_str_from(port)});
}

/* Every port of every device, as the design calls it and as InfiniBand counts it. */
static void ports_are_read_by_name_and_by_number(void **state)
{
    (void)state;
    for (uint32_t numbered = 0; numbered < 2; numbered++) {
        struct fixture f;
        struct myr_buf text = {};
        begin(&f);
        f.cabling.numbered = numbered;
        uint32_t box = add(&f, "?", 0, true), stranger = add(&f, "??", 0, true);
        look(&f);
        for (uint32_t p = 0; p < f.design.port_count; p++) {
            uint32_t device = f.design.port_device[p];
            bool nic = numbered && device < LEAF0;
            struct myr_port_span whole = identity_of_device(&f.design, device);
            f.identify.devices[box] = nic ? (struct myr_port_span){p, 1} : whole;
            myr_buf_clear(&text);
            numbered ? myr_buf_put_u64(&text, nic ? 1 : myr_site_number(&f.design, p))
                     : myr_design_port_name(&f.design, p, &text);
            assert_int_equal(port_at(&f, box, text.data), p);
            assert_int_equal(port_at(&f, stranger, text.data), MYR_NONE);
            assert_int_equal(port_at(&f, box, "99"), MYR_NONE);
            struct myr_cabling_end far = {box, MYR_STR("99")}, own = {box, myr_str_from(text.data)};
            assert_int_equal(identify_is_spare(&f.identify, far), numbered && device >= LEAF0);
            assert_false(identify_is_spare(&f.identify, own));
        }
        /* A number tells nothing of several NICs, and one NIC has one port. */
        f.identify.devices[box] = identity_of_device(&f.design, 1);
        assert_int_equal(port_at(&f, box, "1"), MYR_NONE);
        uint32_t nic = numbered ? MYR_NONE : f.design.first_port[1] + 1;
        assert_int_equal(port_at(&f, box, "NIC1"), nic);
        f.identify.devices[box].count = 1;
        assert_int_equal(port_at(&f, box, "1"), f.design.first_port[1]);
        assert_int_equal(port_at(&f, box, "2"), MYR_NONE);
        myr_buf_done(&text);
        finish(&f);
    }
}

/* Rules, then what was learnt of this one device, then ports of networks that are not judged. */
static void names_that_were_learnt_come_after_the_rules(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    uint32_t nic = f.design.first_port[2];
    tie(&f, (struct myr_bound){.device = 3, .port = nic + 3, .name = MYR_STR("nic0")});
    f.options.nets = 1U << MYR_NET_STORAGE;
    uint32_t host = add(&f, "node-00002", 0, false), other = add(&f, "node-00001", 0, false);
    uint32_t bound = add(&f, "node-00003", 0, false), leaf = add(&f, "leaf-p0-g0-r0", 0, true);
    look(&f);
    struct myr_cabling_end end = {host, MYR_STR("nic0")};
    assert_int_equal(identify_port_as(&f.identify, f.identify.devices[host], end), MYR_NONE);
    assert_int_equal(port_at(&f, host, "nic0"), nic);
    assert_int_equal(port_at(&f, bound, "nic0"), nic + 3); /* what was bound beats all others */
    identify_alias(&f.identify, host, MYR_STR("A [Z@ 0"), nic + 1);
    identify_alias(&f.identify, host, MYR_STR("a[z@0"), nic); /* the first meaning stays */
    static const char *const same[] = {"a[z@0", "A[Z@0", " a [ Z @0 "};
    static const char *const others[] = {"a{z@0", "a[z`0", "a[z@1", "b[z@0", "a[y@0", "a[z@0\t"};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(port_at(&f, host, same[i]), nic + 1);
        assert_int_equal(port_at(&f, other, same[i]), MYR_NONE);
        assert_int_equal(port_at(&f, host, others[i]), MYR_NONE);
        assert_int_equal(port_at(&f, host, others[i + 3]), MYR_NONE);
        assert_int_equal(port_at(&f, host, others[i]), MYR_NONE);
    }
    identify_alias(&f.identify, host, MYR_STR("nic0"), nic + 1);
    identify_alias(&f.identify, leaf, MYR_STR("1/1"), nic);
    assert_int_equal(port_at(&f, host, "nic0"), nic + 1);
    assert_int_equal(port_at(&f, leaf, "1/1"), f.design.first_port[LEAF0]);
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_in_all_the_ways_they_are_written),
        cmocka_unit_test(a_bound_mac_is_found_however_it_is_written),
        cmocka_unit_test(what_is_burnt_in_outlives_what_is_typed_in),
        cmocka_unit_test(guids_that_the_design_made_up_tell_their_place),
        cmocka_unit_test(parts_of_a_switch_are_no_devices),
        cmocka_unit_test(ports_are_read_by_name_and_by_number),
        cmocka_unit_test(names_that_were_learnt_come_after_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
