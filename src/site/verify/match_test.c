/*
 * Stories of links: what was told of a fabric of two hosts, two leaves and a spine, and what is
 * made of every port of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "verify/verify_test.h"

/* n0, n1: nic0 to l0, nic1 to l1 in 1/1 and 1/2; each leaf's 2/1 to s0, whose 2/1, 2/2 are spare.
 */
static const struct {
    const char *word, *name;
} devices[] = {{"n0", "node-00000"},
               {"n1", "node-00001"},
               {"l0", "leaf-p0-g0-r0"},
               {"l1", "leaf-p0-g0-r1"},
               {"s0", "spine-p0-0"}};

/* By enum myr_port_state. */
static const char letters[MYR_STATE_COUNT + 1] = "-RWMUXDO";

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_cabling cabling;
    struct myr_verify_options options;
    struct myr_verify verify;
    struct myr_buf text;
    struct myr_err err;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, (struct small_shape){2, 2, 1, 1});
    myr_cabling_init(&f->cabling, &f->arena);
    myr_vec_push(&f->cabling.files, "told");
}

static void finish(struct fixture *f)
{
    myr_buf_done(&f->text);
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
}

/* "l0" and its like, or a name as it stands; '@' in front: a file's. NICs are no switches. */
static uint32_t device_of(struct fixture *f, const char *word)
{
    bool by_file = word[0] == '@';
    const char *name = word + by_file;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(devices); i++) {
        name = strcmp(word, devices[i].word) == 0 ? devices[i].name : name;
    }
    uint32_t found = myr_cabling_device(
        &f->cabling, myr_str_from(myr_arena_strndup(&f->arena, name, strlen(name))));
    f->cabling.devices.items[found].by_file = by_file;
    f->cabling.devices.items[found].is_switch = strstr(name, "nic") == NULL;
    return found;
}

static struct myr_cabling_end end_of(struct fixture *f, const char *device, const char *port)
{
    return (struct myr_cabling_end){device_of(f, device),
                                    myr_str_from(myr_arena_strndup(&f->arena, port, strlen(port)))};
}

/*
 * A line each: "n0 nic0 - l0 1/1" both ends tell, "n0 nic0 > l0 1/1" the first one heard, "n0 nic0"
 * is empty, "n0 nic0 ?" is not known, "l0" has told all of its ports; "#" counts as InfiniBand.
 */
static void tell_line(struct fixture *f, char *const *word, uint32_t words, uint32_t line)
{
    if (strcmp(word[0], "#") == 0) {
        f->cabling.numbered = true;
    } else if (words == 1) {
        uint32_t found = device_of(f, word[0]);
        f->cabling.devices.items[found].reported = true;
    } else if (words < 4) {
        struct myr_cabling_bare bare = {end_of(f, word[0], word[1]), words == 3};
        myr_vec_push(&f->cabling.bare, bare);
    } else {
        struct myr_cabling_link link = {.one_sided = word[2][0] == '>', .line = line};
        assert_int_equal(words, 5);
        link.a = end_of(f, word[0], word[1]);
        link.b = end_of(f, word[3], word[4]);
        myr_vec_push(&f->cabling.links, link);
    }
}

static void tell(struct fixture *f, const char *story)
{
    char *at = myr_arena_strndup(&f->arena, story, strlen(story));
    for (uint32_t line = 1; *at; line++) {
        char *word[5];
        uint32_t words = 0;
        for (char end = ' '; end == ' '; words++) {
            size_t length = strcspn(at, " \n");
            assert_true(words < MYR_ARRAY_COUNT(word));
            word[words] = at;
            at += length;
            end = *at;
            *at = '\0';
            at += end != '\0';
        }
        tell_line(f, word, words, line);
    }
}

/* A letter for each port, then what was counted, then ends that were not read. */
static void put_verdict(struct fixture *f)
{
    const struct myr_verify *v = &f->verify;
    for (uint32_t d = 0; d < f->design.device_count; d++) {
        myr_buf_printf(&f->text, "%s%s ", d ? " " : "", devices[d].word);
        for (uint32_t p = f->design.first_port[d]; p < f->design.first_port[d + 1]; p++) {
            myr_buf_putc(&f->text, letters[v->state[p]]);
        }
    }
    const struct {
        const char *word;
        uint32_t count;
    } counts[] = {{"outside", v->outside_links},
                  {"rogue", v->rogue_links},
                  {"one-sided", v->one_sided_links},
                  {"denied", v->contradicted},
                  {"foreign", v->vertex_count - f->design.port_count}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        if (counts[i].count) {
            myr_buf_printf(&f->text, ", %u %s", counts[i].count, counts[i].word);
        }
    }
    for (uint32_t i = 0; i < v->unread_count; i++) {
        struct myr_str name = f->cabling.devices.items[v->unread[i].device].name;
        myr_buf_printf(&f->text, "%s%.*s %.*s", i ? "; " : ", unread: ", (int)name.len, name.data,
                       (int)v->unread[i].port.len, v->unread[i].port.data);
    }
}

struct story {
    const char *told, *verdict;
};

static void expect_stories(const struct story *stories, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct fixture f;
        begin(&f);
        tell(&f, stories[i].told);
        int rc = myr_verify(&f.verify, &f.arena, &f.design, &f.cabling, &f.options, &f.err);
        if (rc < 0) {
            myr_buf_printf(&f.text, "%d: %s", rc, f.err.message);
        } else {
            put_verdict(&f);
        }
        if (strcmp(f.text.data, stories[i].verdict) != 0) {
            fail_msg("%s\n    %s\nexpected\n    %s", stories[i].told, f.text.data,
                     stories[i].verdict);
        }
        finish(&f);
    }
}

static void lists_name_both_ends(void **state)
{
    (void)state;
    static const struct story stories[] = {
        {"n0 nic0 - l0 1/1\nn1 nic1 - l1 1/2\ns0 1/2 - l1 2/1",
         "n0 RU n1 UR l0 RUU l1 URR s0 UR--"},
        {"n0 nic0 - l0 1/2", "n0 WU n1 UU l0 UWU l1 UUU s0 UU--"},
        {"n0 nic0 - l0 1/1\nl0 1/1 - n0 nic0\nn0 nic0 - l0 1/1",
         "n0 RU n1 UU l0 RUU l1 UUU s0 UU--"},
        {"n0 nic0 - l0 1/1\nn0 nic0 - l0 1/2",
         "-2: told:2:1: port node/00000 nic0 has two cables: the first is in told:1"},
        {"n0 nic0 - l0 1/1\nl0 1/1 - n1 nic0",
         "-2: told:2:1: port leaf/p0-g0-r0 1/1 has two cables: the first is in told:1"},
        {"n0 nic0 - l0 1/1\nn1 nic0 - l0 1/1",
         "-2: told:2:1: port leaf/p0-g0-r0 1/1 has two cables: the first is in told:1"},
        {"n0 nic0 - n0 nic0", "n0 UU n1 UU l0 UUU l1 UUU s0 UU--, 1 outside"},
        {"l0 1/1 - l1 1/1", "n0 UU n1 UU l0 WUU l1 WUU s0 UU--"},
        {"s0 2/1 - stranger 4", "n0 UU n1 UU l0 UUU l1 UUU s0 UUX-, 1 foreign"},
        {"stranger 4 - s0 2/1", "n0 UU n1 UU l0 UUU l1 UUU s0 UUX-, 1 foreign"},
        {"s0 2/1 - stranger 4\nstranger 4 - s0 2/1",
         "n0 UU n1 UU l0 UUU l1 UUU s0 UUX-, 2 foreign"},
        {"s0 2/1 - stranger 4\ns0 2/1 - stranger 5",
         "-2: told:2:1: port spine/p0-0 2/1 has two cables: the first is in told:1"},
        {"s0 2/1 - stranger 4\ns0 2/1 - other 4",
         "-2: told:2:1: port spine/p0-0 2/1 has two cables: the first is in told:1"},
        {"s0 2/1 - stranger 4\ns0 2/1 - n0 nic0",
         "-2: told:2:1: port spine/p0-0 2/1 has two cables: the first is in told:1"},
        {"stranger 4 - other 5", "n0 UU n1 UU l0 UUU l1 UUU s0 UU--, 1 outside"},
        {"s0 9/1 - l0 9/1",
         "n0 OU n1 OU l0 OOO l1 UUO s0 OO--, unread: spine-p0-0 9/1; leaf-p0-g0-r0 9/1"},
        {"s0 9/1 - stranger 1", "n0 UU n1 UU l0 UUU l1 UUU s0 UU--, 1 outside"},
        {"s0 9/1 - n0 eth9",
         "n0 OO n1 UU l0 OUO l1 OUO s0 OO--, unread: spine-p0-0 9/1; node-00000 eth9"},
        {"n0 eth9 - n1 eth9", "n0 UU n1 UU l0 UUU l1 UUU s0 UU--, 1 outside"},
        {"n0 nic0 - l0 what", "n0 OU n1 OU l0 OOO l1 UUU s0 OU--, unread: leaf-p0-g0-r0 what"},
        {"l0 what - n0 nic0", "n0 OU n1 OU l0 OOO l1 UUU s0 OU--, unread: leaf-p0-g0-r0 what"},
        {"n0 nic0 - l1 what",
         "n0 WO n1 UO l0 UUU l1 OOO s0 UO--, 1 foreign, unread: leaf-p0-g0-r1 what"},
        {"n0 nic0 - l0 what\nn1 nic0 - l0 1/1",
         "n0 WU n1 WU l0 WOO l1 UUU s0 OU--, 1 foreign, unread: leaf-p0-g0-r0 what"},
        {"n0 nic0 - l0 what\nl0 1/1 - s0 2/2",
         "n0 WU n1 OU l0 WOO l1 UUU s0 OU-X, 1 foreign, unread: leaf-p0-g0-r0 what"},
        {"n0 nic0 - l0 9/1", "n0 OU n1 OU l0 OOO l1 UUU s0 OU--, unread: leaf-p0-g0-r0 9/1"},
        {"l0 1/1 - n0 eth9",
         "n0 OO n1 UU l0 OUU l1 OUU s0 UU--, unread: node-00000 eth9"}, /* its cable alone */
        {"l0 1/1 - n0 eth9\nn0 nic0 - l0 1/2", "n0 WW n1 UU l0 WWU l1 UUU s0 UU--"},
        {"s0 2/1 - n0 eth9",
         "n0 OO n1 UU l0 OUU l1 OUU s0 UUX-, 1 foreign, unread: node-00000 eth9"},
        {"s0 what - l0 what",
         "n0 OU n1 OU l0 OOO l1 UUO s0 OO--, unread: spine-p0-0 what; leaf-p0-g0-r0 what"},
        {"s0 what - l0 9/1",
         "n0 OU n1 OU l0 OOO l1 UUO s0 OO--, unread: spine-p0-0 what; leaf-p0-g0-r0 9/1"},
        {"s0 what - n0 eth9",
         "n0 OO n1 UU l0 OUO l1 OUO s0 OO--, unread: spine-p0-0 what; node-00000 eth9"},
        {"s0 what - stranger 1", "n0 UU n1 UU l0 UUU l1 UUU s0 UU--, 1 outside"},
        {"n0 nic0 - stranger 1", "n0 RU n1 UU l0 RUU l1 UUU s0 UU--"},
        {"n0 nic0 - stranger 1\nl0 1/2 - n1 nic0", "n0 WU n1 RU l0 URU l1 UUU s0 UU--, 1 foreign"},
        {"n0 nic0 - @stranger 1\nl0 1/2 - n1 nic0", "n0 WU n1 RU l0 URU l1 UUU s0 UU--, 1 foreign"},
    };
    expect_stories(stories, MYR_ARRAY_COUNT(stories));
}

static void what_was_looked_at_and_is_silent_is_empty(void **state)
{
    (void)state;
    static const struct story stories[] = {
        {"n0 nic0 - l0 1/1\nn0\nl0\nl1", "n0 RM n1 UU l0 RUU l1 MUU s0 UU--"},
        {"n0\nl0", "n0 MU n1 UU l0 MUU l1 UUU s0 UU--"},
        {"n0 nic0\nl0 1/1", "n0 MU n1 UU l0 MUU l1 UUU s0 UU--"},
        {"n0 nic0\nl0 1/1 ?", "n0 UU n1 UU l0 UUU l1 UUU s0 UU--"},
        {"n0 nic0 ?\nl0 1/1 ?\nn0\nl0", "n0 UU n1 UU l0 UUU l1 UUU s0 UU--"},
        {"n0 nic0\nn0 eth9\nstranger 4", "n0 UU n1 UU l0 UUU l1 UUU s0 UU--"},
        {"s0 2/1\ns0 2/2 ?", "n0 UU n1 UU l0 UUU l1 UUU s0 UU--"},
        {"stranger\nn0 nic0 - l0 1/1", "n0 RU n1 UU l0 RUU l1 UUU s0 UU--"},
        {"l0 what - s0 what\nl0\ns0\nn0\nn1",
         "n0 OU n1 OU l0 OOO l1 UUO s0 OO--, unread: leaf-p0-g0-r0 what; spine-p0-0 what"},
        {"l0 what - s0 what\nn0 nic0 - l0 1/1\nl0\ns0\nn0\nn1",
         "n0 RU n1 OU l0 ROO l1 UUO s0 OO--, unread: leaf-p0-g0-r0 what; spine-p0-0 what"},
    };
    expect_stories(stories, MYR_ARRAY_COUNT(stories));
}

static void claims_count_by_what_speaks_for_them(void **state)
{
    (void)state;
    static const struct story stories[] = {
        {"n0 nic0 > l0 1/1", "n0 RU n1 UU l0 RUU l1 UUU s0 UU--, 1 one-sided"},
        {"l0 1/1 > n0 nic0", "n0 RU n1 UU l0 RUU l1 UUU s0 UU--, 1 one-sided"},
        {"l0 1/1 > n0 nic0\nn0 nic0 > l0 1/1", "n0 RU n1 UU l0 RUU l1 UUU s0 UU--"},
        {"l0 1/1 > n1 nic0\nn1 nic0 > l0 1/1\nn0 nic0 > l0 1/1",
         "n0 UU n1 WU l0 WUU l1 UUU s0 UU--, 1 denied"},
        {"l0 1/1 > n1 nic0\nn0 nic0 > l0 1/1",
         "n0 RU n1 UU l0 RUU l1 UUU s0 UU--, 1 one-sided, 1 denied"},
        {"n0 nic0 > l0 1/1\nl0 1/1 > n1 nic0",
         "n0 RU n1 UU l0 RUU l1 UUU s0 UU--, 1 one-sided, 1 denied"},
        {"l0 1/1 > n1 nic0\nl0 1/2 > n1 nic0",
         "n0 UU n1 RU l0 URU l1 UUU s0 UU--, 1 one-sided, 1 denied"},
        {"l0 1/1 > n1 nic1\nl0 1/2 > n1 nic1",
         "n0 UU n1 UW l0 WUU l1 UUU s0 UU--, 1 one-sided, 1 denied"},
        {"l0 1/1 - n0 nic0\nl0 1/1 > n1 nic0", "n0 RU n1 UU l0 RUU l1 UUU s0 UU--, 1 denied"},
        {"l0 1/1 - n0 nic0\nl0 1/1 > n0 nic0", "n0 RU n1 UU l0 RUU l1 UUU s0 UU--"},
        {"l0 1/1 > n0 00:00:00:00:00:07",
         "n0 OU n1 UU l0 OUU l1 UUU s0 UU--, unread: node-00000 00:00:00:00:00:07"},
        {"l0 1/1 > n0 eth7", "n0 OU n1 UU l0 OUU l1 UUU s0 UU--, unread: node-00000 eth7"},
        {"l0 1/1 > n1 eth7",
         "n0 UU n1 OO l0 WOU l1 UOU s0 UU--, 1 one-sided, 1 foreign, unread: node-00001 eth7"},
        {"l0 1/1 > n0 eth7\nn0 nic0 > l0 1/1", "n0 RU n1 UU l0 RUU l1 UUU s0 UU--"},
        {"l0 1/1 > n0 eth7\nn0 nic0 > l0 1/2",
         "n0 WU n1 UU l0 OWU l1 UUU s0 UU--, 1 one-sided, unread: node-00000 eth7"},
        {"l0 1/1 > n0 eth7\nn0 nic0 - l0 1/2", "n0 WU n1 UU l0 UWU l1 UUU s0 UU--, 1 denied"},
        {"l0 1/1 > stranger 1", "n0 OU n1 UU l0 OUU l1 UUU s0 UU--, unread: stranger 1"},
        {"l0 1/1 > stranger 1\nn0 nic1 > l1 1/1",
         "n0 UR n1 UU l0 WUU l1 RUU s0 UU--, 2 one-sided, 1 foreign"},
        {"l0 1/1 > 00:00:00:00:00:07 1\nn0 nic1 > l1 1/1",
         "n0 OR n1 UU l0 OUU l1 RUU s0 UU--, 1 one-sided, unread: 00:00:00:00:00:07 1"},
        {"l0 1/1 > @stranger 1\nn0 nic1 > l1 1/1",
         "n0 OR n1 UU l0 OUU l1 RUU s0 UU--, 1 one-sided, unread: stranger 1"},
        {"stranger 1 > l0 1/1\nn0 nic1 > l1 1/1",
         "n0 UR n1 UU l0 WUU l1 RUU s0 UU--, 2 one-sided, 1 foreign"},
        {"stranger 1 > l0 1/1\nl0 1/1 > n0 nic0",
         "n0 RU n1 UU l0 RUU l1 UUU s0 UU--, 1 one-sided, 1 denied, 1 foreign"},
        {"stranger 1 > l0 1/1\nl0 1/1 > stranger 1\nn0 nic1 > l1 1/1",
         "n0 UR n1 UU l0 WUU l1 RUU s0 UU--, 2 one-sided, 2 foreign"},
        {"s0 2/1 > n0 eth7",
         "n0 OO n1 UU l0 OUU l1 OUU s0 UUX-, 1 one-sided, 1 foreign, unread: node-00000 eth7"},
        {"s0 2/1 > l0 9/1",
         "n0 OU n1 OU l0 OOO l1 UUU s0 OUX-, 1 one-sided, 1 foreign, unread: leaf-p0-g0-r0 9/1"},
        {"s0 9/1 > l0 9/1",
         "n0 OU n1 OU l0 OOO l1 UUO s0 OO--, unread: spine-p0-0 9/1; leaf-p0-g0-r0 9/1"},
    };
    expect_stories(stories, MYR_ARRAY_COUNT(stories));
}

static void infiniband_counts_ports_and_has_nics(void **state)
{
    (void)state;
    static const struct story stories[] = {
        {"#\nnode-00000-nic0 1 - l0 1\nnode-00001-nic1 1 - l1 2\nl0 3 - s0 1",
         "n0 RU n1 UR l0 RUR l1 URU s0 RU--"},
        {"#\nsome-nic 1 - l0 1", "n0 OO n1 UU l0 OUU l1 OUU s0 UU--, unread: some-nic 1"},
        {"#\nsome-nic 1 - l0 1\nnode-00000-nic0 1 - l0 2",
         "n0 WU n1 UU l0 WWU l1 UUU s0 UU--, 1 foreign"},
        {"#\nl0 1 - some-nic 1\nl0 2 - other-nic 1\nl0\nl1\ns0",
         "n0 OO n1 OO l0 OOM l1 OOM s0 MM--, unread: some-nic 1; other-nic 1"},
        /* A part of a switch is no end of a cable, on whichever side it is told. */
        {"#\nl0 1 - x/RT 1", "n0 UU n1 UU l0 UUU l1 UUU s0 UU--"},
        {"#\nx/RT 1 - l0 1", "n0 UU n1 UU l0 UUU l1 UUU s0 UU--"},
        {"#\nsome-nic 1 - s0 4", "n0 UU n1 UU l0 UUU l1 UUU s0 UU-X, 1 foreign"},
        {"#\nl0 1 - node-00000-nic0 1\nl0 1 - node-00000-nic0 1",
         "n0 RU n1 UU l0 RUU l1 UUU s0 UU--"},
    };
    expect_stories(stories, MYR_ARRAY_COUNT(stories));
}

/* More than sixteen of one port are noise: older ones are not asked whether they agree. */
static void sixteen_claims_of_a_port_are_looked_at(void **state)
{
    (void)state;
    for (uint32_t newer = 14; newer < 18; newer++) {
        struct fixture f;
        begin(&f);
        /* Two that agree, against the plan; without them the host that the plan has is believed. */
        tell(&f, "l0 1/1 > n1 nic0\nn1 nic0 > l0 1/1\nn0 nic0 > l0 1/1");
        for (uint32_t i = 0; i < newer; i++) {
            tell(&f, "n1 nic0 > s0 2/1\nl0 1/1 > s0 2/2");
        }
        assert_int_equal(myr_verify(&f.verify, &f.arena, &f.design, &f.cabling, &f.options, &f.err),
                         MYR_OK);
        bool agreed = newer < 16;
        uint32_t nic = f.design.first_port[0], other = f.design.first_port[1];
        assert_int_equal(f.verify.state[nic], agreed ? MYR_STATE_UNSEEN : MYR_STATE_RIGHT);
        assert_int_equal(f.verify.state[other], MYR_STATE_WRONG);
        assert_int_equal(f.verify.one_sided_links, agreed ? 0 : 2);
        finish(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_name_both_ends),
        cmocka_unit_test(what_was_looked_at_and_is_silent_is_empty),
        cmocka_unit_test(claims_count_by_what_speaks_for_them),
        cmocka_unit_test(infiniband_counts_ports_and_has_nics),
        cmocka_unit_test(sixteen_claims_of_a_port_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
