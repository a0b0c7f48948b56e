#include "myriad/text.h"
#include "verify/verify.h"

const char *const myr_verify_list_names[MYR_VERIFY_LISTS] = {"steps", "ports", "patterns"};

static void put_device(const struct myr_verify *verify, struct myr_table *table, uint32_t vertex,
                       struct myr_buf *scratch)
{
    if (vertex == MYR_NONE) {
        myr_table_text(table, NULL);
        myr_table_text(table, NULL);
        return;
    }
    const struct myr_design *design = verify->design;
    if (verify_is_foreign(verify, vertex)) {
        struct myr_cabling_end end = verify->foreign[vertex - design->port_count];
        myr_table_str(table, verify->cabling->devices.items[end.device].name);
        myr_table_str(table, end.port);
        return;
    }
    myr_buf_clear(scratch);
    myr_design_name(design, design->port_device[vertex], scratch);
    myr_table_text(table, myr_arena_strndup(table->arena, scratch->data, scratch->len));
    myr_buf_clear(scratch);
    myr_design_port_name(design, vertex, scratch);
    myr_table_text(table, myr_arena_strndup(table->arena, scratch->data, scratch->len));
}

static void put_ports(const struct myr_verify *verify, struct myr_table *table)
{
    struct myr_buf scratch = {0};
    for (uint32_t p = 0; p < verify->design->port_count; p++) {
        if (verify->state[p] == MYR_STATE_IDLE || verify->state[p] == MYR_STATE_RIGHT) {
            continue;
        }
        put_device(verify, table, p, &scratch);
        myr_table_text(table, myr_port_state_names[verify->state[p]]);
        put_device(verify, table, verify->plan[p], &scratch);
        put_device(verify, table, verify->found[p], &scratch);
    }
    myr_buf_done(&scratch);
}

static void put_steps(const struct myr_verify *verify, struct myr_table *table)
{
    struct myr_buf scratch = {0};
    for (uint32_t i = 0; i < verify->repair.step_count; i++) {
        const struct myr_repair_step *step = &verify->repair.steps[i];
        myr_table_u64(table, i + 1);
        myr_table_text(table, myr_repair_op_names[step->op]);
        put_device(verify, table, step->at, &scratch);
        put_device(verify, table, step->to, &scratch);
        put_device(verify, table, step->far_at, &scratch);
        put_device(verify, table, step->far_to, &scratch);
        myr_table_text(table, step->unseen ? "check that the new port is free" : "");
    }
    myr_buf_done(&scratch);
}

static void put_patterns(const struct myr_verify *verify, struct myr_table *table)
{
    for (uint32_t i = 0; i < verify->pattern_count; i++) {
        myr_table_text(table, myr_pattern_kind_names[verify->patterns[i].kind]);
        myr_table_str(table, verify->patterns[i].where);
        myr_table_u64(table, verify->patterns[i].ports);
    }
}

void myr_verify_write_list(const struct myr_verify *verify, enum myr_verify_list list,
                           enum myr_format format, struct myr_buf *buf)
{
    static const struct myr_column step_columns[] = {
        {"step", "STEP", MYR_COLUMN_NUMBER},
        {"do", "DO", 0},
        {"at_device", "AT", 0},
        {"at_port", "PORT", 0},
        {"to_device", "TO", 0},
        {"to_port", "PORT", 0},
        {"other_end_at_device", "OTHER END", 0},
        {"other_end_at_port", "PORT", 0},
        {"other_end_to_device", "AND", MYR_COLUMN_WIDE},
        {"other_end_to_port", "PORT", MYR_COLUMN_WIDE},
        {"note", "NOTE", MYR_COLUMN_WIDE},
    };
    static const struct myr_column port_columns[] = {
        {"device", "DEVICE", 0},          {"port", "PORT", 0},         {"state", "STATE", 0},
        {"planned_device", "PLANNED", 0}, {"planned_port", "PORT", 0}, {"found_device", "FOUND", 0},
        {"found_port", "PORT", 0},
    };
    static const struct myr_column pattern_columns[] = {
        {"kind", "PATTERN", 0}, {"where", "WHERE", 0}, {"ports", "PORTS", MYR_COLUMN_NUMBER}};
    static const struct {
        const struct myr_column *columns;
        uint32_t count;
        void (*put)(const struct myr_verify *, struct myr_table *);
    } lists[MYR_VERIFY_LISTS] = {
        [MYR_VERIFY_STEPS] = {step_columns, MYR_ARRAY_COUNT(step_columns), put_steps},
        [MYR_VERIFY_PORTS] = {port_columns, MYR_ARRAY_COUNT(port_columns), put_ports},
        [MYR_VERIFY_PATTERNS] = {pattern_columns, MYR_ARRAY_COUNT(pattern_columns), put_patterns},
    };
    struct myr_table table;
    myr_table_init(&table, verify->arena, lists[list].columns, lists[list].count);
    lists[list].put(verify, &table);
    myr_table_write(&table, format, buf);
    myr_table_done(&table);
}
