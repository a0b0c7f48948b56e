/* The state of work orders: refused in one line, or kept and read again. */
#include "fuzz_site.h"

static const char file[] = "state.csv";

/* A fabric of which nothing was seen but a swapped pair. Verified once: a run asks for its orders.
 */
static const struct myr_verify *swapped_pair(void)
{
    static struct myr_arena arena;
    static struct myr_cabling cabling;
    static struct myr_verify verify;
    if (!verify.design) {
        static const char text[] = "A-Node,A-Port,Z-Node,Z-Port\n"
                                   "node-00000,nic0,leaf-p0-1,1\nnode-00001,nic0,leaf-p0-0,1\n";
        struct myr_verify_options options = {.port_names = fuzz_port_names()};
        struct myr_err err;
        struct myr_import import;
        myr_arena_init(&arena);
        myr_cabling_init(&cabling, &arena);
        myr_import_init(&import, &cabling);
        int rc = myr_import_text(&import, MYR_IMPORT_P2P, "p2p.csv", MYR_STR(text), &err);
        MYR_ASSERT(rc == MYR_OK);
        myr_import_done(&import);
        rc = myr_verify(&verify, &arena, fuzz_lab(), &cabling, &options, &err);
        MYR_ASSERT(rc == MYR_OK);
    }
    return &verify;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    struct myr_orders orders;
    struct myr_orders_question question = {.crews = 2};
    struct myr_buf text = {};
    struct myr_err err;
    myr_arena_init(&arena);
    int rc = myr_orders_make(&orders, &arena, swapped_pair(), NULL, &question, &err);
    MYR_ASSERT(rc == MYR_OK);
    rc = myr_orders_since_text(&orders, file, (struct myr_str){(const char *)data, size}, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else {
        uint32_t run = orders.run, open = orders.open.count;
        myr_orders_state(&orders, &text);
        fuzz_note_text("state", &text);
        fuzz_note("run %u, %u open, %u fresh, %u mended", run, open, (unsigned)orders.fresh.count,
                  (unsigned)orders.mended.count);
        rc = myr_orders_since_text(&orders, file, (struct myr_str){text.data, text.len}, &err);
        MYR_ASSERT(rc == MYR_OK && orders.run == run + 1);
        MYR_ASSERT(orders.open.count == open && orders.fresh.count == 0);
        MYR_ASSERT(orders.mended.count == 0);
    }
    myr_buf_done(&text);
    myr_arena_done(&arena);
    return 0;
}
