#include <stdio.h>

#include "grow/install.h"
#include "myriad/text/csv.h"
#include "plan_internal.h"

/*
 * The files of a growth: the grown design's own, what to buy and move, and the crews' sheets. All
 * of them are made in memory or streamed into one set of files, which becomes visible as a whole or
 * not at all.
 */

static void put_text(struct myr_buf *buf, const char *text)
{
    myr_csv_put_text(buf, myr_str_from(text));
    myr_buf_putc(buf, ',');
}

/* An empty cell where no price is known. */
static void put_money(struct myr_buf *buf, int64_t cents, bool known, char end)
{
    if (known) {
        myr_buf_printf(buf, "%s%lld.%02lld", cents < 0 ? "-" : "",
                       (long long)(cents < 0 ? -cents : cents) / 100,
                       (long long)(cents < 0 ? -cents : cents) % 100);
    }
    myr_buf_putc(buf, end);
}

/* What is left over has a negative quantity. */
static void put_buy(const struct myr_growth *growth, struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "system,name,part,quantity,unit_price,total\n");
    for (uint32_t i = 0; i < growth->line_count; i++) {
        const struct myr_grow_line *line = &growth->lines[i];
        put_text(buf, line->system);
        put_text(buf, line->name);
        put_text(buf, line->part);
        myr_buf_printf(buf, "%lld,", (long long)line->quantity);
        put_money(buf, line->unit_cents, line->unit_cents != -1, ',');
        put_money(buf, line->total_cents, line->unit_cents != -1, '\n');
    }
}

static void put_end(struct myr_buf *buf, const struct myr_design *design, uint32_t port, char end)
{
    myr_design_name(design, design->port_device[port], buf);
    myr_buf_putc(buf, ',');
    myr_design_port_name(design, port, buf);
    myr_buf_putc(buf, end);
}

/* One row a leg; empty ends where the cable is left over. */
static void put_moves(const struct myr_growth *growth, struct myr_buf *buf)
{
    const struct myr_design *old = growth->installed, *now = &growth->grown;
    myr_buf_put_lit(buf, "cable,link,network,layer,old_a_device,old_a_port,old_b_device,old_b_port,"
                         "a_device,a_port,b_device,b_port\n");
    for (uint32_t i = 0; i < growth->move_count; i++) {
        const struct myr_grow_move *move = &growth->moves[i];
        uint32_t first = old->first_link[move->old_cable];
        for (uint32_t l = first; l < old->first_link[move->old_cable + 1]; l++) {
            myr_buf_put_u64_pad(buf, myr_design_cable_id(old, move->old_cable), 8);
            myr_buf_putc(buf, ',');
            myr_buf_put_u64_pad(buf, myr_design_link_id(old, l), 8);
            myr_buf_printf(buf, ",%s,%s,", myr_net_names[move->net], myr_layer_names[move->layer]);
            put_end(buf, old, old->link_a[l], ',');
            put_end(buf, old, old->link_b[l], ',');
            /* Leg by leg; what has no leg in its new place is left over. */
            uint32_t at =
                move->cable == MYR_NONE ? MYR_NONE : now->first_link[move->cable] + (l - first);
            if (at == MYR_NONE || at >= now->first_link[move->cable + 1]) {
                myr_buf_put_lit(buf, ",,,\n"); /* left over */
            } else {
                put_end(buf, now, now->link_a[at], ',');
                put_end(buf, now, now->link_b[at], '\n');
            }
        }
    }
}

/*
 * "day,minute,crew,action," of a task. Days and crews count from 1, minutes from the beginning of
 * the day.
 */
static void put_when(struct myr_buf *buf, const struct install_task *task)
{
    myr_buf_printf(buf, "%u,%u,%u,%s,", install_day(task) + 1,
                   (unsigned)(task->start_s % INSTALL_DAY_S / 60), task->crew + 1,
                   install_action_names[task->action]);
}

/* Of a removal it is in the installed design. */
static uint32_t cable_id(const struct myr_growth *growth, const struct install_task *task)
{
    return task->action == INSTALL_REMOVE
               ? myr_design_cable_id(growth->installed, growth->moves[task->what].old_cable)
               : myr_design_cable_id(&growth->grown, task->what);
}

/* Days, crews and steps count from 1 for people. */
static void put_order(const struct myr_growth *growth, const struct install *install,
                      struct myr_buf *buf)
{
    const struct myr_design *now = &growth->grown;
    myr_buf_put_lit(buf, "step,day,minute,crew,action,device,part,cable\n");
    for (uint32_t i = 0; i < install->count; i++) {
        const struct install_task *task = &install->tasks[i];
        myr_buf_printf(buf, "%u,", i + 1);
        put_when(buf, task);
        if (task->action == INSTALL_STAND) {
            myr_design_name(now, task->what, buf);
            myr_buf_putc(buf, ',');
            put_text(buf, myr_design_str(now, now->devtypes[now->device_type[task->what]].part));
        } else {
            myr_buf_put_lit(buf, ",,");
            myr_buf_put_u64_pad(buf, cable_id(growth, task), 8);
        }
        myr_buf_putc(buf, '\n');
    }
}

/* One row a leg: where it is, where it goes, and what is printed on its flags. */
static void put_pull(const struct myr_growth *growth, const uint32_t *moves,
                     const struct install_task *task, struct myr_buf *buf)
{
    const struct myr_design *old = growth->installed, *now = &growth->grown;
    bool gone = task->action == INSTALL_REMOVE;
    uint32_t move = gone ? task->what : moves[task->what];
    uint32_t was = move == MYR_NONE ? MYR_NONE : growth->moves[move].old_cable;
    const struct myr_design *of = gone ? old : now;
    uint32_t cable = gone ? was : task->what, first = of->first_link[cable];
    const struct myr_cabletype *type = grow_type(of, cable);
    for (uint32_t l = first; l < of->first_link[cable + 1]; l++) {
        put_when(buf, task);
        myr_buf_put_u64_pad(buf, cable_id(growth, task), 8);
        myr_buf_printf(buf, ",%s,%s,", myr_net_names[type->net], myr_layer_names[type->layer]);
        put_text(buf, myr_design_str(of, type->part));
        myr_buf_printf(buf, "%g,", type->length_mm / 1000.0);
        uint32_t before = was == MYR_NONE ? MYR_NONE : old->first_link[was] + (l - first);
        /* A leg that is new had no place before. */
        if (before == MYR_NONE || before >= old->first_link[was + 1]) {
            myr_buf_put_lit(buf, ",,,,");
        } else {
            put_end(buf, old, old->link_a[before], ',');
            put_end(buf, old, old->link_b[before], ',');
        }
        if (gone || task->action == INSTALL_UNPLUG) {
            myr_buf_put_lit(buf, ",,,\n");
        } else {
            put_end(buf, now, now->link_a[l], ',');
            put_end(buf, now, now->link_b[l], '\n');
        }
    }
}

/* What is measured at a cable that was plugged; the last three are for a pen. */
static void put_test(const struct myr_growth *growth, const struct install_task *task,
                     struct myr_buf *buf)
{
    static const char *const media[] = {"copper", "multimode", "singlemode"};
    const struct myr_design *now = &growth->grown;
    const struct myr_cabletype *type = grow_type(now, task->what);
    for (uint32_t l = now->first_link[task->what]; l < now->first_link[task->what + 1]; l++) {
        myr_buf_put_u64_pad(buf, cable_id(growth, task), 8);
        myr_buf_putc(buf, ',');
        put_end(buf, now, now->link_a[l], ',');
        put_end(buf, now, now->link_b[l], ',');
        myr_buf_printf(buf, "%u,%s,", type->gbps, media[type->medium]);
        put_text(buf, myr_design_str(now, type->optic_a));
        put_text(buf, myr_design_str(now, type->optic_b));
        myr_buf_put_lit(buf, ",,\n");
    }
}

struct sheet {
    struct myr_buf pull, test;
};

/* Sheets of one day, by crew. */
static int add_day(struct myr_file_set *set, struct sheet *sheets, uint32_t crews, uint32_t day,
                   struct myr_err *err)
{
    static const char pull_head[] =
        "day,minute,crew,action,cable,network,layer,part,length_m,old_a_device,old_a_port,"
        "old_b_device,old_b_port,a_device,a_port,b_device,b_port\n";
    static const char test_head[] = "cable,a_device,a_port,b_device,b_port,gbps,medium,optic_a,"
                                    "optic_b,light_dbm,errors,tested_by\n";
    for (uint32_t crew = 0; crew < crews; crew++) {
        struct myr_buf *const texts[] = {&sheets[crew].pull, &sheets[crew].test};
        const char *const heads[] = {pull_head, test_head};
        for (uint32_t i = 0; i < 2; i++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            char name[64];
            /* A crew without work on that day gets no sheet. */
            if (texts[i]->len == 0) {
                continue;
            }
            snprintf(name, sizeof(name), "sheets/day-%03u-crew-%02u-%s.csv", day + 1, crew + 1,
                     i ? "test" : "pull");
            myr_buf_puts(&text, heads[i]);
            myr_buf_put(&text, texts[i]->data, texts[i]->len);
            MYR_TRY(myr_file_set_add(set, name, &text, err));
            myr_buf_clear(texts[i]);
        }
    }
    return MYR_OK;
}

/* Tasks come in the order of their starts, so a day is complete when the next one begins. */
static int add_sheets(struct myr_file_set *set, const struct myr_growth *growth,
                      const struct install *install, uint32_t crews, struct myr_arena *arena,
                      struct myr_err *err)
{
    struct sheet *sheets = MYR_ARENA_NEW(arena, struct sheet, crews);
    const uint32_t *moves = install_moves(growth, arena);
    int rc = MYR_OK;
    for (uint32_t i = 0; i < install->count && rc == MYR_OK; i++) {
        const struct install_task *task = &install->tasks[i];
        if (task->action != INSTALL_STAND) {
            put_pull(growth, moves, task, &sheets[task->crew].pull);
        }
        /* What was plugged in any way is tested. */
        if (task->action >= INSTALL_MOVE && task->action != INSTALL_UNPLUG) {
            put_test(growth, task, &sheets[task->crew].test);
        }
        bool last =
            i + 1 == install->count || install_day(&install->tasks[i + 1]) != install_day(task);
        rc = last ? add_day(set, sheets, crews, install_day(task), err) : MYR_OK;
    }
    for (uint32_t crew = 0; crew < crews; crew++) {
        myr_buf_done(&sheets[crew].pull);
        myr_buf_done(&sheets[crew].test);
    }
    return rc;
}

/* What is bought and what moves, one file each. */
static int add_lists(struct myr_file_set *set, const struct myr_growth *growth, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (!growth->installed->head) {
        return MYR_OK; /* a cluster from nothing: its bill is what to buy */
    }
    put_buy(growth, &text);
    MYR_TRY(myr_file_set_add(set, "buy.csv", &text, err));
    myr_buf_clear(&text);
    put_moves(growth, &text);
    return myr_file_set_add(set, "moves.csv", &text, err);
}

/* Days are set only when everything is written. */
int myr_grow_write(struct myr_growth *growth, const char *folder, struct myr_grow_crews crews,
                   struct myr_err *err)
{
    struct myr_file_set set MYR_CLEANUP(myr_file_set_abandon) = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    myr_arena_init(&arena);
    struct install install = {};
    MYR_TRY(myr_file_set_begin(&set, folder, err));
    MYR_TRY(add_lists(&set, growth, err));
    if (crews.crews) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        install_plan(growth, crews, &arena, &install);
        put_order(growth, &install, &text);
        MYR_TRY(myr_file_set_add(&set, "install.csv", &text, err));
        MYR_TRY(add_sheets(&set, growth, &install, crews.crews, &arena, err));
    }
    MYR_TRY(plan_add_files(&set, &growth->grown, NULL, err));
    MYR_TRY(myr_file_set_commit(&set, err));
    growth->crews = crews.crews;
    growth->days = install.days;
    return MYR_OK;
}

/* Nothing is installed, so that everything is new: one order of installation serves both. */
void myr_grow_from_nothing(struct myr_arena *arena, const struct myr_design *design,
                           struct myr_growth *ret)
{
    static const struct myr_design nothing;
    *ret = (struct myr_growth){.installed = &nothing, .planned = design, .grown = *design};
    ret->from = MYR_ARENA_NEW(arena, uint32_t, design->device_count);
    ret->cable_from = MYR_ARENA_NEW(arena, uint32_t, design->cable_count);
    for (uint32_t i = 0; i < design->device_count; i++) {
        ret->from[i] = MYR_NONE;
    }
    for (uint32_t i = 0; i < design->cable_count; i++) {
        ret->cable_from[i] = MYR_NONE;
    }
    ret->new_cables = design->cable_count;
}
