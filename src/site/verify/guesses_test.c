/*
 * What small fabrics are taken for whose devices have names of their own, with cables exchanged and
 * missing and facts about links: held against what was said when somebody last looked
 * (tests/kept/site-guesses.txt; MYRIAD_KEPT=write writes it anew). A guess that is none of the
 * truth is marked: it is only made where the wiring itself says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/text/answer.h"
#include "verify/verify_test.h"

enum { SEED = 20261119, CASES = 420, DEVICES_MAX = 128 };

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_cabling cabling;
    struct myr_verify verify;
    struct myr_verify_options options;
    struct myr_rng rng;
    uint32_t truth[DEVICES_MAX]; /* by found device: the first of its ports in the design */
    bool device_view;
};

static uint32_t below(struct fixture *f, size_t count)
{
    return myr_rng_below(&f->rng, (uint32_t)count);
}

static struct myr_str keep(struct fixture *f, const char *text)
{
    return (struct myr_str){myr_arena_strndup(&f->arena, text, strlen(text)), strlen(text)};
}

/* The first port of the design that each found device stands for, while names are still its own. */
static void note_truth(struct fixture *f)
{
    memset(f->truth, 0xff, sizeof(f->truth));
    for (size_t i = 0; i < 2 * f->cabling.links.count; i++) {
        const struct myr_cabling_link *link = &f->cabling.links.items[i / 2];
        struct myr_cabling_end end = i % 2 ? link->b : link->a;
        uint32_t port = myr_cabling_port(&f->design, &f->cabling, end);
        uint32_t device = f->design.port_device[port];
        bool whole = !f->device_view || f->design.place[device].kind != MYR_DEVICE_NODE;
        assert_true(end.device < DEVICES_MAX);
        f->truth[end.device] = whole ? f->design.first_port[device] : port;
    }
}

static void draw_cables(struct fixture *f)
{
    for (uint32_t i = below(f, 4); i > 0; i--) {
        struct myr_cabling_link *a = &f->cabling.links.items[below(f, f->cabling.links.count)];
        struct myr_cabling_link *b = &f->cabling.links.items[below(f, f->cabling.links.count)];
        struct myr_cabling_end kept = a->b;
        a->b = b->b;
        b->b = kept;
    }
    for (uint32_t i = below(f, 6) % 3; i > 0; i--) {
        f->cabling.links.items[below(f, f->cabling.links.count)] =
            f->cabling.links.items[f->cabling.links.count - 1];
        f->cabling.links.count--;
    }
    uint32_t told = below(f, 4), every = 2 + below(f, 6);
    for (size_t i = 0; i < f->cabling.links.count; i++) {
        struct myr_cabling_link *link = &f->cabling.links.items[i];
        bool odd = i % every == 0;
        link->line = (uint32_t)i + 2;
        link->gbps = told == 1 ? (odd ? 200 : SMALL_GBPS) : told == 2 && odd ? 100 : link->gbps;
        link->width = told == 3 ? (odd ? 2 : 4) : link->width;
        link->errors = told == 2 && odd ? i : 0;
        link->ber = told == 3 && odd ? 1e-4 : 0;
        link->no_fec = told == 1 && i % (2 * every) == 0;
        link->one_sided = told == 0 && odd;
    }
}

/* Which devices nobody calls as the design does. */
static bool is_renamed(struct fixture *f, uint32_t way, bool node)
{
    return way == 1 ? !node : way == 2 ? node : way == 3 ? true : way == 4 && below(f, 3) == 0;
}

static void draw_names(struct fixture *f, uint32_t nodes)
{
    uint32_t way = below(f, 5), turn = 1 + below(f, 6);
    bool renamed[DEVICES_MAX];
    char name[60];
    for (uint32_t d = 0; d < f->cabling.devices.count; d++) {
        struct myr_cabling_device *device = &f->cabling.devices.items[d];
        uint32_t own = f->design.port_device[f->truth[d]];
        uint32_t nic = f->truth[d] - f->design.first_port[own];
        renamed[d] = is_renamed(f, way, own < nodes);
        device->reported = below(f, 12) > 0;
        device->guid = f->device_view ? device->guid : 0;
        if (!renamed[d]) {
            continue;
        }
        if (own >= nodes) {
            snprintf(name, sizeof(name), "sw-%u", own * 7 % 31);
        } else if (f->device_view) {
            snprintf(name, sizeof(name), "gpu%u mlx5_%u", own * turn % 29, nic);
        } else {
            snprintf(name, sizeof(name), "gpu%u", own * turn % 29);
        }
        device->name = keep(f, name);
    }
    for (size_t i = 0; !f->device_view && i < 2 * f->cabling.links.count; i++) {
        struct myr_cabling_link *link = &f->cabling.links.items[i / 2];
        struct myr_cabling_end *end = i % 2 ? &link->b : &link->a;
        uint32_t own = f->design.port_device[f->truth[end->device]];
        if (own < nodes && renamed[end->device] && turn % 2) {
            snprintf(name, sizeof(name), "mlx5_%c", end->port.data[3]); /* "nic3" */
            end->port = keep(f, name);
        }
    }
}

static void put_digest(struct fixture *f, struct myr_buf *out)
{
    static const enum myr_format formats[] = {MYR_FORMAT_JSON, MYR_FORMAT_WIDE};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(formats); i++) {
        struct myr_answer answer;
        struct myr_verify_lists lists;
        struct myr_answer_form form = {.format = formats[i]};
        struct myr_err err = {};
        myr_answer_init(&answer, &f->arena, "myriad.verify", 1);
        myr_verify_answer(&f->verify, true, &answer, &lists);
        myr_verify_page(&f->verify, &answer);
        assert_int_equal(myr_answer_write(&answer, &form, &text, &err), MYR_OK);
    }
    uint64_t sum = 1;
    for (size_t i = 0; i < text.len; i++) {
        sum = (sum ^ (uint8_t)text.data[i]) * UINT64_C(1099511628211);
    }
    myr_buf_printf(out, " %zu:%08x\n", text.len, (unsigned)(sum ^ sum >> 32));
}

static void put_guesses(struct fixture *f, struct myr_buf *out)
{
    const struct myr_verify *verify = &f->verify;
    for (uint32_t s = 0; s < MYR_STATE_COUNT; s++) {
        myr_buf_printf(out, " %u", verify->counts[s]);
    }
    myr_buf_printf(out, " | %u moves, %u adds, %u unread, %u open:", verify->repair.moves,
                   verify->repair.adds, verify->unread_count, verify->ambiguity_count);
    for (uint32_t i = 0; i < verify->identity_count; i++) {
        const struct myr_identity *one = &verify->identities[i];
        myr_buf_printf(out, " %u%c%u", one->found,
                       f->truth[one->found] == one->first_port ? '=' : '!', one->first_port);
    }
    put_digest(f, out);
}

static void put_case(uint32_t number, struct myr_buf *out)
{
    struct fixture fixture = {}, *f = &fixture;
    struct myr_err err = {};
    myr_arena_init(&f->arena);
    myr_rng_init(&f->rng, SEED, number);
    struct small_shape shape = {3 + below(f, 9), 1 + below(f, 4), 1 + below(f, 3), 1 + below(f, 2)};
    small_design(&f->design, &f->arena, shape);
    myr_cabling_init(&f->cabling, &f->arena);
    f->device_view = number % 2;
    myr_cabling_from_design(&f->cabling, &f->design, MYR_NET_COMPUTE,
                            f->device_view ? MYR_NIC_AS_DEVICE : MYR_NIC_AS_PORT);
    f->cabling.numbered = f->device_view;
    myr_vec_push(&f->cabling.files, "found");
    note_truth(f);
    draw_cables(f);
    draw_names(f, shape.nodes);
    f->options = (struct myr_verify_options){
        .equivalent = number % 3 == 2, .partial = number % 7 == 5, .errors_max = number % 4 * 5};
    myr_buf_printf(out, "%u: %ux%u %ux%u", number, shape.nodes, shape.rails, shape.spines,
                   shape.pair_links);
    if (myr_verify(&f->verify, &f->arena, &f->design, &f->cabling, &f->options, &err) < 0) {
        myr_buf_printf(out, " %s\n", err.message);
    } else {
        put_guesses(f, out);
    }
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
}

static void fabrics_are_taken_for_what_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    for (uint32_t number = 0; number < CASES; number++) {
        put_case(number, &out);
    }
    assert_kept("site-guesses.txt", &out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fabrics_are_taken_for_what_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
