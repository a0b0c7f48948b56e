#include "import/readers.h"
#include "import/reading_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* How texts are collected: copied from a terminal, one file a device, named by whoever did it. */

static void read_text(struct fixture *f, const char *file, const char *text)
{
    if (myr_import_text(&f->import, MYR_IMPORT_AUTO, file, myr_str_from(text), &f->err) < 0) {
        fail_msg("%s", f->err.message);
    }
}

static void expect_own(const char *text, bool whole, const char *expected)
{
    struct myr_arena arena;
    myr_arena_init(&arena);
    struct myr_str own = import_tools_own(&arena, myr_str_from(text), whole);
    char found[512];
    snprintf(found, sizeof(found), "%.*s", (int)own.len, own.data);
    assert_string_equal(found, expected);
    myr_arena_done(&arena);
}

static void what_a_terminal_put_around_is_left_out(void **state)
{
    (void)state;
    expect_own("a\nb\n", true, "a\nb\n");
    expect_own("", true, "");
    expect_own("\xEF\xBB\xBF# x\n", true, "# x\n");
    expect_own("\xEF\xBB\xBF", true, "");
    /* Lines keep their numbers. */
    expect_own("admin@leaf01:~$ show lldp table\nLocalPort\nadmin@leaf01:~$ \n", true,
               "\nLocalPort\n");
    expect_own("[root@ufm-01 ~]# ibnetdiscover\r\nSwitch\r\n[root@ufm-01 ~]# exit\r\nlogout\r\n",
               true, "\nSwitch\r\n");
    expect_own("Script started on 2026-11-14 [TERM=\"x\"]\n\n$\nx\n\nScript done on 2026-11-14\n",
               true, "\n\n$\nx\n\n");
    expect_own("root@sw1:mgmt:/tmp# lldpcli\n{}root@sw1:mgmt:/tmp# ", true, "\n{}");
    expect_own("[{\"a\": 1}][root@ufm ~]# ", true, "[{\"a\": 1}]");
    /* The end of a piece is not the end of the text. */
    expect_own("{\nadmin@leaf01:~$ \n", false, "{\nadmin@leaf01:~$ \n");
}

static void rows_of_lists_are_no_prompts(void **state)
{
    (void)state;
    static const char *const texts[] = {"[1]\t\"S-1\"[2]\n", "ops@site,leaf01,swp1\n",
                                        "a@b: c, d$ e\n",    "user@host\n",
                                        "@host$ x\n",        "user@$ x\n",
                                        "# x@y\n",           "\"a@b\"# x\n",
                                        "gpu01@2#3\n"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        expect_own(texts[i], true, texts[i]);
    }
}

static void errors_count_the_lines_of_the_file(void **state)
{
    (void)state;
    struct fixture f;
    static const char text[] = "root@ufm:~# ibnetdiscover\n# Topology file\nSwitch x\n";
    begin(&f);
    assert_true(
        myr_import_text(&f.import, MYR_IMPORT_IBNETDISCOVER, "f.txt", MYR_STR(text), &f.err) < 0);
    assert_memory_equal(f.err.message, "f.txt:3:", 8);
    finish(&f);
}

/* One neighbour: seen at 'port', called 'name' (or nothing), managed at 'address'. */
static void put_file(struct fixture *f, const char *file, const char *port, const char *name,
                     const char *mac, const char *address)
{
    const char *named = *name ? myr_arena_printf(&f->arena, "\"%s\": {", name) : "";
    const char *text = myr_arena_printf(
        &f->arena,
        "{\"lldp\": {\"interface\": [{\"%s\": {\"chassis\": {%s\"id\": {\"type\": \"mac\", "
        "\"value\": \"%s\"}, \"mgmt-ip\": \"%s\"%s}, \"port\": {\"id\": {\"type\": \"ifname\", "
        "\"value\": \"swp9\"}}}}]}}",
        port, named, mac, address, *name ? "}" : "");
    read_text(f, file, text);
}

static const char *name_of(struct fixture *f, uint32_t device)
{
    struct myr_str name = f->cabling.devices.items[device].name;
    return myr_arena_printf(&f->arena, "%.*s", (int)name.len, name.data);
}

/* Two switches tell of each other in files of these names; who tells is the one that is told of. */
static void expect_pair(const char *leaf_file, const char *spine_file, bool known)
{
    struct fixture f;
    begin(&f);
    put_file(&f, leaf_file, "swp1", "spine-1", "0c:00:00:00:00:0a", "10.0.0.7");
    put_file(&f, spine_file, "swp9", "leaf-1.dc1.example", "0c:00:00:00:00:0b", "10.0.0.8");
    myr_import_finish(&f.import);
    const struct myr_cabling_link *links = f.cabling.links.items;
    if (known) {
        assert_int_equal(f.cabling.devices.count, 2);
        assert_int_equal(links[0].a.device, links[1].b.device);
        assert_int_equal(links[1].a.device, links[0].b.device);
        assert_string_equal(name_of(&f, links[0].b.device), "spine-1");
        assert_string_equal(name_of(&f, links[1].b.device), "leaf-1.dc1.example");
        assert_true(f.cabling.devices.items[0].reported && f.cabling.devices.items[1].reported);
        assert_false(f.cabling.devices.items[0].by_file || f.cabling.devices.items[1].by_file);
    } else {
        assert_int_equal(f.cabling.devices.count, 4);
        assert_true(f.cabling.devices.items[links[0].a.device].by_file);
        assert_false(f.cabling.devices.items[links[0].b.device].by_file);
    }
    finish(&f);
}

static void files_are_known_by_what_neighbours_tell(void **state)
{
    (void)state;
    expect_pair("lldp/10.0.0.8.json", "lldp/10.0.0.7.json", true);
    expect_pair("0c-00-00-00-00-0b.json", "0c00.0000.000a.json", true);
    expect_pair("lldp_leaf-1.dc1.example_2026-11-16.json", "SPINE-1_lldp.json", true);
    expect_pair("out1.json", "out2.json", false);
    expect_pair("10.0.0.1.json", "10.0.0.2.json", false);
}

static void a_file_is_not_about_one_that_tells_of_itself(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    put_file(&f, "leaf-1.json", "swp1", "spine-1", "0c:00:00:00:00:0a", "10.0.0.7");
    put_file(&f, "spine-1.json", "swp9", "leaf-1", "0c:00:00:00:00:0b", "10.0.0.8");
    put_file(&f, "old_leaf-1.json", "swp1", "spine-1", "0c:00:00:00:00:0a", "10.0.0.7");
    myr_import_finish(&f.import);
    assert_int_equal(f.cabling.devices.count, 3);
    finish(&f);
}

static void an_address_of_two_is_nobodys(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    put_file(&f, "10.0.0.7.json", "swp1", "spine-1", "0c:00:00:00:00:0a", "10.0.0.7");
    put_file(&f, "10.0.0.8.json", "swp1", "spine-2", "0c:00:00:00:00:0c", "10.0.0.7");
    myr_import_finish(&f.import);
    assert_int_equal(f.cabling.devices.count, 4);
    finish(&f);
}

/* Neighbours that tell nothing but their chassis' address are those that tell it themselves. */
static void an_address_alone_is_who_has_it(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    put_file(&f, "leaf-1.json", "swp1", "", "0c:00:00:00:00:0a", "10.0.0.7");
    put_file(&f, "leaf-2.json", "swp1", "spine-1", "0C:00:00:00:00:0A", "10.0.0.7");
    myr_import_finish(&f.import);
    assert_int_equal(f.cabling.devices.count, 3);
    assert_int_equal(f.cabling.links.items[0].b.device, f.cabling.links.items[1].b.device);
    finish(&f);
}

/* Nor does it matter who comes first: here the one that tells nothing about itself but its name. */
static void the_first_device_has_an_address_too(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    read_text(
        &f, "all.json",
        "{\"leaf-1\": {\"lldp\": {\"interface\": [{\"swp1\": {\"chassis\": {\"spine-1\": {}}, "
        "\"port\": {\"id\": {\"type\": \"ifname\", \"value\": \"swp9\"}}}}]}}}");
    assert_string_equal(name_of(&f, 0), "leaf-1");
    put_file(&f, "spine-1.json", "swp8", "leaf-1", "0c:00:00:00:00:0b", "10.0.0.8");
    put_file(&f, "spine-2.json", "swp1", "", "0C:00:00:00:00:0B", "10.0.0.9");
    myr_import_finish(&f.import);
    assert_int_equal(f.cabling.devices.count, 3);
    assert_int_equal(f.cabling.links.items[0].a.device, 0);
    assert_int_equal(f.cabling.links.items[2].b.device, 0);
    finish(&f);
}

static const char cut_short[] = "Switch 65 \"S-0000000000000001\" # \"leaf\"\n"
                                "[1] \"H-0000000000000002\"[1] # \"gpu01 mlx5_0\" lid 4 4xNDR\n"
                                "Switch 65 \"S-0000000000000003\" # \"spine\"\n"
                                "[1] \"S-0000000000000001\"[2] # \"leaf\" lid 4 4xNDR\n";

static void a_sweep_that_is_not_whole_tells_of_no_empty_port(void **state)
{
    (void)state;
    static const char *const complaints[] = {
        "ibwarn: [2117] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1,13)\n",
        "src/query_smp.c:196; umad (DR path slid 0; dlid 0; 0,1,22 Attr 0x11:0) bad status 110\n"};
    struct fixture f;
    begin(&f);
    read_text(&f, "f.txt", cut_short); /* switches alone may be listed */
    assert_int_equal(f.import.truncated_count, 0);
    finish(&f);
    begin(&f);
    read_text(&f, "f.txt",
              myr_arena_printf(&f.arena,
                               "%s[5] \"S-0000000000000009\"[2] # \"spine-2\" lid 4 4xNDR\n",
                               cut_short));
    assert_int_equal(f.import.truncated_count, 1); /* spine-2 had no turn */
    assert_true(f.cabling.devices.items[0].reported);
    assert_false(f.cabling.devices.items[2].reported);
    finish(&f);
    begin(&f); /* nor had gpu01, where gpu02 had one; SHARP's nodes need none */
    read_text(&f, "f.txt",
              myr_arena_printf(&f.arena, "%sCa 1 \"H-0000000000000007\" # \"gpu02 mlx5_0\"\n",
                               cut_short));
    assert_int_equal(f.import.truncated_count, 1);
    assert_false(f.cabling.devices.items[3].reported);
    finish(&f);
    begin(&f);
    read_text(
        &f, "f.txt",
        myr_arena_printf(
            &f.arena,
            "%s[65] \"H-0000000000000008\"[1] # \"Mellanox Technologies Aggregation Node\" lid 9 "
            "4xHDR\nCa 1 \"H-0000000000000002\" # \"gpu01 mlx5_0\"\n",
            cut_short));
    assert_int_equal(f.import.truncated_count, 0);
    finish(&f);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(complaints); i++) {
        begin(&f);
        read_text(
            &f, "f.txt",
            myr_arena_printf(
                &f.arena,
                "# Topology file: generated on Mon\n%s%sCa 1 \"H-0000000000000002\" # \"g\"\n",
                complaints[i], cut_short));
        assert_int_equal(f.import.truncated_count, 1);
        assert_false(f.cabling.devices.items[0].reported || f.cabling.devices.items[2].reported);
        finish(&f);
    }
    begin(&f);
    read_text(&f, "f.txt",
              myr_arena_printf(&f.arena, "%sCa 1 \"H-0000000000000002\" # \"gpu01 mlx5_0\"\n",
                               cut_short));
    assert_int_equal(f.import.truncated_count, 0);
    assert_true(f.cabling.devices.items[0].reported && f.cabling.devices.items[2].reported);
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_terminal_put_around_is_left_out),
        cmocka_unit_test(rows_of_lists_are_no_prompts),
        cmocka_unit_test(errors_count_the_lines_of_the_file),
        cmocka_unit_test(files_are_known_by_what_neighbours_tell),
        cmocka_unit_test(a_file_is_not_about_one_that_tells_of_itself),
        cmocka_unit_test(an_address_of_two_is_nobodys),
        cmocka_unit_test(an_address_alone_is_who_has_it),
        cmocka_unit_test(the_first_device_has_an_address_too),
        cmocka_unit_test(a_sweep_that_is_not_whole_tells_of_no_empty_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
