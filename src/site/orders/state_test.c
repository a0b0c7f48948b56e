#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "orders/orders.h"
#include "verify/verify_test.h"

/*
 * What goes from one run to the next: lives of a small fabric, in which links break, are mended and
 * are looked at by nobody, against a list of faults that is searched from its beginning.
 */

enum { NODES = 4, LIVES = 40, RUNS = 12, FAULTS_MAX = 80, ROGUES = 3, LINK_STATES = 4 };

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_verify verify;
    struct myr_orders orders;
    struct myr_work_order order;
    struct myr_buf state;
    struct myr_err err;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    fixture = (struct fixture){};
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, (struct small_shape){NODES, 2, 2, 2});
    uint32_t vertices = f->design.port_count + 2 * ROGUES;
    f->verify =
        (struct myr_verify){.arena = &f->arena, .design = &f->design, .vertex_count = vertices};
    f->verify.plan = MYR_ARENA_NEW(&f->arena, uint32_t, vertices);
    f->verify.found = MYR_ARENA_NEW(&f->arena, uint32_t, vertices);
    f->verify.state = MYR_ARENA_NEW(&f->arena, uint8_t, vertices);
    f->verify.foreign = MYR_ARENA_NEW(&f->arena, struct myr_cabling_end, 2 * ROGUES);
    struct myr_cabling *cabling = MYR_ARENA_ONE(&f->arena, struct myr_cabling);
    myr_cabling_init(cabling, &f->arena);
    for (uint32_t i = 0; i < 2 * ROGUES; i++) {
        char name[20];
        snprintf(name, sizeof(name), "x%u", i);
        f->verify.foreign[i] = (struct myr_cabling_end){
            myr_cabling_device(cabling, myr_str_from(myr_arena_strndup(&f->arena, name, 3))),
            MYR_STR("7")};
    }
    f->verify.cabling = cabling;
    for (uint32_t v = 0; v < vertices; v++) {
        f->verify.plan[v] = f->verify.found[v] = MYR_NONE;
        f->verify.state[v] = MYR_STATE_RIGHT;
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    myr_cabling_done((struct myr_cabling *)f->verify.cabling);
    myr_buf_done(&f->state);
    myr_arena_done(&f->arena);
    return 0;
}

/* One run: what was seen is in the verify; the state before is read, the new one written. */
static void run(struct fixture *f)
{
    f->orders = (struct myr_orders){.arena = &f->arena, .verify = &f->verify, .run = 1};
    if (f->state.len == 0) {
        order_faults(&f->orders);
    } else {
        struct myr_str text = {myr_arena_strndup(&f->arena, f->state.data, f->state.len),
                               f->state.len};
        if (myr_orders_since_text(&f->orders, "state.csv", text, &f->err) < 0) {
            fail_msg("%s", f->err.message);
        }
    }
    myr_buf_clear(&f->state);
    myr_orders_state(&f->orders, &f->state);
}

/* A thing that can be faulty: a link of the plan, or a port without one, or a foreign cable. */
struct thing {
    uint32_t port, peer;
    bool rogue;
    uint32_t since; /* 0: it is not known as a fault */
    bool bad, seen; /* now */
};

static uint32_t list_things(const struct fixture *f, struct thing ret[FAULTS_MAX])
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < f->design.port_count; p++) {
        uint32_t peer = myr_design_peer(&f->design, p);
        if (peer == MYR_NONE || peer > p) {
            ret[count++] = (struct thing){.port = p, .peer = peer};
        }
    }
    for (uint32_t i = 0; i < ROGUES; i++) {
        uint32_t v = f->design.port_count + 2 * i;
        ret[count++] = (struct thing){.port = v, .peer = v + 1, .rogue = true};
    }
    assert_true(count <= FAULTS_MAX);
    return count;
}

/* What is seen of a thing this time; a broken link may be told by either end or by both. */
static void draw_thing(struct fixture *f, struct thing *thing, struct myr_rng *rng)
{
    static const uint8_t bad[] = {MYR_STATE_WRONG, MYR_STATE_MISSING, MYR_STATE_DEGRADED,
                                  MYR_STATE_EXTRA};
    static const uint8_t open[] = {MYR_STATE_UNSEEN, MYR_STATE_UNREAD};
    uint32_t what = myr_rng_below(rng, 6), ends = 1 + myr_rng_below(rng, 3);
    thing->bad = what == 0;
    thing->seen = thing->rogue || what != 1;
    if (thing->rogue) {
        f->verify.found[thing->port] = thing->bad ? thing->peer : MYR_NONE;
        f->verify.found[thing->peer] = thing->bad ? thing->port : MYR_NONE;
        return;
    }
    uint8_t state = what == 0   ? bad[myr_rng_below(rng, LINK_STATES)]
                    : what == 1 ? open[myr_rng_below(rng, 2)]
                                : MYR_STATE_RIGHT;
    ends = thing->peer == MYR_NONE ? 1 : ends;
    f->verify.state[thing->port] = ends & 1 ? state : MYR_STATE_RIGHT;
    if (thing->peer != MYR_NONE) {
        f->verify.state[thing->peer] = ends & 2 ? state : MYR_STATE_RIGHT;
    }
}

static bool is_told(const struct fixture *f, const struct myr_faults *list,
                    const struct thing *thing, uint32_t since)
{
    struct myr_buf device = {}, port = {};
    uint32_t found = 0;
    order_put_device(&f->orders, thing->port, &device);
    order_put_port(&f->orders, thing->port, &port);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct myr_site_fault *fault = &list->items[i];
        bool same = myr_str_eq(fault->device, (struct myr_str){device.data, device.len}) &&
                    myr_str_eq(fault->port, (struct myr_str){port.data, port.len});
        found += same && fault->since == since && (fault->state == MYR_STATE_COUNT) == thing->rogue;
    }
    myr_buf_done(&device);
    myr_buf_done(&port);
    return found == 1;
}

static void check_run(const struct fixture *f, struct thing *things, uint32_t count,
                      uint32_t number)
{
    uint32_t open = 0, fresh = 0, mended = 0, unseen = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct thing *thing = &things[i];
        if (thing->bad) {
            fresh += thing->since == 0;
            thing->since = thing->since ? thing->since : number;
            open++;
            assert_true(is_told(f, &f->orders.open, thing, thing->since));
            assert_int_equal(is_told(f, &f->orders.fresh, thing, thing->since),
                             thing->since == number);
        } else if (thing->since && !thing->seen) {
            unseen++;
            assert_true(is_told(f, &f->orders.unseen, thing, thing->since));
        } else if (thing->since) {
            mended++;
            assert_true(is_told(f, &f->orders.mended, thing, thing->since));
            thing->since = 0;
        }
    }
    assert_int_equal(f->orders.run, number);
    assert_int_equal(f->orders.open.count, open);
    assert_int_equal(f->orders.fresh.count, fresh);
    assert_int_equal(f->orders.mended.count, mended);
    assert_int_equal(f->orders.unseen.count, unseen);
    assert_int_equal(f->orders.gone, 0);
}

static void a_fault_is_as_old_as_the_run_that_saw_it_first(void **state)
{
    struct fixture *f = *state;
    for (uint32_t seed = 0; seed < LIVES; seed++) {
        struct thing things[FAULTS_MAX];
        struct myr_rng rng;
        uint32_t count = list_things(f, things);
        myr_rng_init(&rng, 20261119, seed);
        myr_buf_clear(&f->state);
        for (uint32_t number = 1; number <= RUNS; number++) {
            for (uint32_t i = 0; i < count; i++) {
                draw_thing(f, &things[i], &rng);
            }
            run(f);
            check_run(f, things, count, number);
        }
    }
}

/* An order is as old as the oldest of the faults at its plugs' ends. */
static void an_order_is_as_old_as_its_oldest_fault(void **state)
{
    struct fixture *f = *state;
    const uint32_t leaf = f->design.first_port[NODES];
    const uint32_t ports[] = {leaf, leaf + 1, leaf + 2};
    for (uint32_t number = 1; number <= 3; number++) { /* each run finds one more */
        f->verify.state[ports[number - 1]] = MYR_STATE_MISSING;
        run(f);
    }
    for (uint32_t mask = 0; mask < 64; mask++) {
        struct myr_orders orders = {
            .arena = &f->arena, .verify = &f->verify, .run = 4, .count = 1, .items = &f->order};
        uint32_t oldest = 4;
        uint32_t ends[6];
        for (uint32_t i = 0; i < 6; i++) {
            ends[i] = mask >> i & 1 ? ports[i % 3] : MYR_NONE;
            oldest = mask >> i & 1 && i % 3 + 1 < oldest ? i % 3 + 1 : oldest;
        }
        f->order = (struct myr_work_order){.plug_count = 2,
                                           .plugs = {{ends[0], ends[1], ends[2], MYR_NONE},
                                                     {ends[3], ends[4], ends[5], MYR_NONE}}};
        struct myr_str text = {myr_arena_strndup(&f->arena, f->state.data, f->state.len),
                               f->state.len};
        assert_int_equal(myr_orders_since_text(&orders, "s", text, &f->err), MYR_OK);
        assert_int_equal(f->order.since, oldest);
    }
}

#define HEAD "kind,device,port,peer_device,peer_port,state,since_run\n"

static void a_state_that_is_none_is_refused_in_its_place(void **state)
{
    struct fixture *f = *state;
    static const char run_row[] = "run,small,,,,,7\n";
    static const struct {
        const char *head, *run, *row, *message;
    } rows[] = {
        {HEAD, run_row, "", NULL},
        {HEAD, run_row, "fault,leaf/p0-g0-r0,1/1,a,b,wrong,7\n", NULL},
        {HEAD, run_row, "fault,leaf/p0-g0-r9,1/1,a,b,wrong,1\n", NULL},
        {"", "", "", "s: the state of work orders ends early"},
        {HEAD, "", "", "s: the state of work orders ends early"},
        {"kind,device,port\n", "", "", "s:1:1: this is not the state of work orders"},
        {"kind,device,port,peer_device,peer_port,since_run,state\n", run_row, "",
         "s:1:40: this is not the state of work orders"},
        {HEAD, "fault,small,,,,,7\n", "", "s:2:1: the row of the run is expected first"},
        {HEAD, "run,large,,,,,7\n", "", "s:2:5: this state is of the design 'large', not of"},
        {HEAD, "run,small,,,,,0\n", "", "s:2:15: a number of a run from 1 to 1000000"},
        {HEAD, "run,small,,,,,1000001\n", "", "s:2:15: a number of a run from 1 to 1000000"},
        {HEAD, "run,small,,,,,x\n", "", "s:2:15: a number of a run from 1 to 1000000"},
        {HEAD, run_row, "order,leaf/p0-g0-r0,1/1,a,b,wrong,7\n", "s:3:1: a row of the kind"},
        {HEAD, run_row, "fault,leaf/p0-g0-r0,1/1,a,b,right,7\n", "s:3:29: 'right' is no state"},
        {HEAD, run_row, "fault,leaf/p0-g0-r0,1/1,a,b,unseen,7\n", "s:3:29: 'unseen' is no state"},
        {HEAD, run_row, "fault,leaf/p0-g0-r0,1/1,a,b,wrong,8\n", "s:3:35: a number of a run from"},
        {HEAD, run_row, "fault,leaf/p0-g0-r0,1/1,a,b,wrong,0\n", "s:3:35: a number of a run from"},
        {HEAD, run_row, "fault,leaf/p0-g0-r0,1/1,a,b,wrong\n", "s:3:1: 6 columns, 7 are expected"},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const char *text =
            myr_arena_printf(&f->arena, "%s%s%s", rows[i].head, rows[i].run, rows[i].row);
        f->orders = (struct myr_orders){.arena = &f->arena, .verify = &f->verify, .run = 1};
        int rc = myr_orders_since_text(&f->orders, "s", myr_str_from(text), &f->err);
        if ((rc == MYR_OK) != (rows[i].message == NULL) ||
            (rc < 0 && strncmp(f->err.message, rows[i].message, strlen(rows[i].message)) != 0)) {
            fail_msg("%s%s: %d %s", rows[i].run, rows[i].row, rc, f->err.message);
        }
        assert_int_equal(f->orders.gone, i == 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_fault_is_as_old_as_the_run_that_saw_it_first),
        TEST(an_order_is_as_old_as_its_oldest_fault),
        TEST(a_state_that_is_none_is_refused_in_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
