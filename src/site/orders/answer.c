#include "myriad/text.h"
#include "orders/cells.h"

/* The orders for programs, and a page that says how much there is to do. */

/* Faults of a list that the page for people shows; programs get all of them. */
enum { SHOWN_MAX = 40 };

/* From the same cells as the lists, so that all three say the same; keys are in English always. */
static const struct myr_value *put_orders(const struct myr_orders *orders,
                                          struct myr_answer *answer)
{
    struct myr_buf cells[CELL_COUNT] = {};
    const struct myr_value *list = myr_answer_list(answer, "orders");
    for (uint32_t i = 0; i < orders->count; i++) {
        order_cells(orders, i, MYR_ENGLISH, cells);
        myr_answer_object(answer, NULL);
        for (uint32_t c = 0; c < CELL_COUNT; c++) {
            const char *key = order_columns[c].key;
            /* An empty buffer has no memory to point at. */
            struct myr_str text = {cells[c].len ? cells[c].data : "", cells[c].len};
            double number = 0;
            if (order_columns[c].kind == CELL_FLAG) {
                myr_answer_bool(answer, key, myr_str_eq(text, MYR_STR("true")));
            } else if (text.len == 0) {
                myr_answer_null(answer, key);
            } else if (order_columns[c].kind == CELL_NUMBER && myr_str_to_double(text, &number)) {
                myr_answer_double(answer, key, number, 1);
            } else {
                myr_answer_str(answer, key, text);
            }
        }
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    MYR_CLEANUP(myr_buf_done) struct myr_buf header = {};
    for (uint32_t c = 0; c < CELL_COUNT; c++) {
        myr_buf_printf(&header, "%s%s", c ? " " : "", order_columns[c].key);
        myr_buf_done(&cells[c]);
    }
    myr_answer_rows(answer, list);
    myr_answer_header(answer, header.data);
    return list;
}

/* An empty text is no name: null. */
static void put_end(struct myr_answer *answer, const char *key, struct myr_str text)
{
    if (text.len) {
        myr_answer_str(answer, key, text);
    } else {
        myr_answer_null(answer, key);
    }
}

/* Ends that are not known are null. */
static void put_faults(struct myr_answer *answer, const char *key, const struct myr_faults *faults)
{
    myr_answer_list(answer, key);
    for (uint32_t i = 0; i < faults->count; i++) {
        const struct myr_site_fault *fault = &faults->items[i];
        myr_answer_object(answer, NULL);
        myr_answer_str(answer, "device", fault->device);
        myr_answer_str(answer, "port", fault->port);
        put_end(answer, "peer_device", fault->peer_device);
        put_end(answer, "peer_port", fault->peer_port);
        /* MYR_STATE_COUNT stands for a cable between ports that are none of the plan's. */
        myr_answer_text(answer, "state",
                        fault->state == MYR_STATE_COUNT ? "rogue"
                                                        : myr_port_state_names[fault->state]);
        myr_answer_u64(answer, "since_run", fault->since);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* The first ones only, for people; programs have them all above. */
static void show_faults(struct myr_answer *answer, const char *title,
                        const struct myr_faults *faults)
{
    if (faults->count == 0) {
        return;
    }
    myr_answer_heading(answer, "%s", title);
    for (uint32_t i = 0; i < faults->count && i < SHOWN_MAX; i++) {
        const struct myr_site_fault *fault = &faults->items[i];
        myr_answer_para(answer, "%.*s %.*s%s%.*s %.*s: %s, since run %u", (int)fault->device.len,
                        fault->device.data, (int)fault->port.len, fault->port.data,
                        fault->peer_device.len ? " - " : "", (int)fault->peer_device.len,
                        fault->peer_device.data, (int)fault->peer_port.len, fault->peer_port.data,
                        fault->state == MYR_STATE_COUNT ? "a cable that the plan does not use"
                                                        : myr_port_state_names[fault->state],
                        fault->since);
    }
    if (faults->count > SHOWN_MAX) {
        myr_answer_para(answer, "and %s more: -o json", MYR_GROUPED(faults->count - SHOWN_MAX));
    }
}

/* First what programs read, then the same for people. */
void myr_orders_answer(const struct myr_orders *orders, struct myr_answer *answer)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("order", "NO", MYR_COLUMN_NUMBER),
        MYR_COLUMN("crew", "CREW", MYR_COLUMN_NUMBER),
        MYR_COLUMN("rack", "RACK", 0),
        MYR_COLUMN("u", "U", MYR_COLUMN_NUMBER),
        MYR_COLUMN("cable", "CABLE", 0),
        MYR_COLUMN("sentence", "DO", 0),
    };
    const struct myr_verify *verify = orders->verify;
    myr_answer_text(answer, "design", myr_design_str(verify->design, verify->design->head->name));
    myr_answer_bool(answer, "clean", myr_verify_clean(verify));
    myr_answer_u64(answer, "run", orders->run);
    myr_answer_u64(answer, "crews", orders->crews);
    myr_answer_u64(answer, "visits", orders->visits);
    myr_answer_u64(answer, "wait_s", orders->wait_s);
    myr_answer_text(answer, "wait_for", orders->lldp ? "lldp" : "subnet-manager");
    /* What became of the run before. */
    myr_answer_object(answer, "since");
    put_faults(answer, "mended", &orders->mended);
    put_faults(answer, "new", &orders->fresh);
    put_faults(answer, "open", &orders->open);
    put_faults(answer, "not_seen", &orders->unseen);
    myr_answer_u64(answer, "gone", orders->gone);
    myr_answer_end(answer);
    const struct myr_value *list = put_orders(orders, answer);
    myr_answer_fact(answer, "orders", "%s in %s, %s", MYR_GROUPED(orders->count),
                    MYR_COUNT(orders->visits, "visit"), MYR_COUNT(orders->crews, "crew"));
    myr_answer_fact(answer, "run",
                    "%u: %s mended since the run before, %s new, %s open, %s not "
                    "seen any more",
                    orders->run, MYR_GROUPED(orders->mended.count),
                    MYR_GROUPED(orders->fresh.count), MYR_GROUPED(orders->open.count),
                    MYR_GROUPED(orders->unseen.count));
    if (orders->count) { /* after no work there is nothing to wait for */
        myr_answer_fact(answer, "then wait", "%s%u s: %s", orders->lldp ? "more than " : "",
                        orders->wait_s,
                        orders->lldp ? "LLDP keeps an old neighbour that long"
                                     : "the subnet manager sweeps that often");
        myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    }
    /* What is open has orders, and needs no list of its own. */
    show_faults(answer, "Mended", &orders->mended);
    show_faults(answer, "Not seen any more", &orders->unseen);
}
