#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/internal.h"
#include "kept.h"
#include "myriad/sim.h"
#include "question/built.h"

/* Rows of a file of paths: what is taken from each, where it is refused, and which are found. */

/* Servers of eight GPUs each, two leaves of each rail and spines above. */
static const char spec[] =
    "{servers: 3, server: h100-8gpu, networks: {compute: {topology: rail, tiers: 2, "
    "switch: mqm9790-ns2f}}}";

static struct myr_sim_topology planned;
static struct myr_graph graph;

static int plan_fabric(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf parts = {}, text = {};
    struct myr_err err = {};
    myr_arena_init(&planned.arena);
    myr_buf_puts(&parts, "{}");
    myr_buf_puts(&text, spec);
    return myr_catalog_init(&planned.catalog, &planned.arena, &err) |
           sim_built(&planned, "rail", &parts, &text, &err) |
           myr_graph_init(&graph, &planned.arena, &planned.design, MYR_NET_COMPUTE, &err);
}

static int drop_fabric(void **state)
{
    (void)state;
    myr_sim_topology_done(&planned);
    return 0;
}

static void put_found(struct myr_buf *text, const struct myr_sim *sim, uint32_t phase,
                      uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    const struct sim_given *rows =
        sim_given_find(sim, phase, (struct myr_message){from, to}, &count);
    myr_buf_printf(text, "  phase %u, %u to %u: ", phase, from, to);
    if (!rows) {
        myr_buf_puts(text, "none\n");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_printf(text, "%s%u permille in %lld ps by", i ? "; " : "", rows[i].share,
                       (long long)rows[i].latency);
        for (uint32_t c = 0; c < rows[i].count; c++) {
            uint32_t channel = sim->given_channels.items[rows[i].first + c];
            myr_buf_putc(text, c ? '|' : ' ');
            myr_report_channel_name(sim, channel, text);
        }
    }
    myr_buf_putc(text, '\n');
}

/* The rows behind the usual head; then those of 0 to 9 in the first two phases. */
static void put_file(struct myr_buf *text, const char *rows, bool head)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    struct myr_sim_options options = myr_sim_default();
    struct myr_err err = {};
    struct myr_sim *sim = myr_sim_create(&graph, &options);
    myr_buf_printf(&file, "%s%s", head ? "phase,from,to,permille,latency_us,path\n" : "", rows);
    int rc = myr_sim_given_paths(sim, "p.csv", (struct myr_str){file.data, file.len}, &err);
    myr_buf_printf(text, "%s\n", rows);
    if (rc < 0) {
        myr_buf_printf(text, "  %s: %s\n", myr_err_name(rc), err.message);
    } else {
        put_found(text, sim, 0, 0, 9);
        put_found(text, sim, 1, 0, 9);
        put_found(text, sim, 1048575, 23, 0);
        assert_null(sim_given_find(sim, 0, (struct myr_message){0, MYR_MESSAGE_STORAGE | 9},
                                   &(uint32_t){0}));
        assert_null(sim_given_find(sim, 1048576, (struct myr_message){0, 9}, &(uint32_t){0}));
    }
    myr_sim_free(sim);
}

static void rows_are_taken_or_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "0,0,9,1000,1.5,gpu/0/out gpu/1/in link/00000003> link/00000004<",
        "0,0,9,1000,1.5,gpu/0/out gpu/7/in link/00000021> link/00000022<",
        "0,0,9,1000,1.5,gpu/0/out gpu/8/in link/00000001>",
        "0,0,9,1000,1.5,gpu/1/out gpu/0/in",
        "0,0,9,1000,1.5,gpu/0/in",
        "0,0,9,1000,1.5,gpu/0/out",
        "0,0,9,1000,1.5,gpu/0/out link/00000000>",
        "0,0,9,1000,1.5,gpu/0/out gpu/1/in gpu/1/out gpu/0/in link/00000000> link/00000001<",
        "0,0,9,1000,1.5,gpu/24/out",
        "0,0,9,1000,1.5,gpu/23/in",
        "0,0,9,1000,1.5,gpu/1/up",
        "0,0,9,1000,1.5,gpu/",
        "0,0,9,1000,1.5,gpu/x/in",
        "0,0,9,1000,1.5,gpu/1073741824/in",
        "0,0,9,1000,1.5,link/00000000> pool/0/up pool/1/down link/00000004<",
        "0,0,9,1000,1.5,link/00000000> pool/0/up pool/1/down",
        "0,0,9,1000,1.5,pool/0/up",
        "0,0,9,1000,1.5,link/00000000> pool/99/up",
        "0,0,9,1000,1.5,link/00000000> pool/0/in",
        "0,0,9,1000,1.5,link/00000000> gpu/0/out",
        "0,0,9,1000,1.5,link/00000000> link/00000000<",
        "0,0,9,1000,1.5,link/00000000> link/00000009<",
        "0,0,9,1000,1.5,link/00000001>",
        "0,0,9,1000,1.5,link/00000000=",
        "0,0,9,1000,1.5,link/>",
        "0,0,9,1000,1.5,link/4294967294>",
        "0,0,9,1000,1.5,link/4294967295>",
        "0,0,9,1000,1.5,link/00000000>  link/00000009<",
        "0,0,9,1000,1.5,an_unheard_of_word_of_more_than_forty_characters",
        "1048575,23,0,1000,0,link/00000023> link/00000021<",
        "1048576,23,0,1000,0,link/00000023>",
        "0,24,0,1000,0,link/00000023>",
        "0,23,24,1000,0,link/00000023>",
        "0,0,9,0,1.5,link/00000001>",
        "0,0,9,1001,1.5,link/00000001>",
        "0,0,9,1000,1.5,",
        "0,0,9,1000,1.5",
        "0,0,9,1000,1.5,a,b",
        "0,0,9,1000,,link/00000001>",
        "0,0,9,1000,1.,link/00000001>",
        "0,0,9,1000,.5,link/00000001>",
        "0,0,9,1000,1.1234567,link/00000001>",
        "0,0,9,1000,1.x,link/00000001>",
        "0,0,9,1000,1000000000001,link/00000001>",
        "0,0,9,1000,1000000000000.000001,link/00000000> link/00000001<",
        "0,0,9,1000,0.1,link/00000000> link/00000001<",
        /* Shares up to the one that makes them whole; a second set, and other pairs, are not it. */
        ("0,0,9,400,1,link/00000000> link/00000001<\n0,0,9,600,2,link/00000000> link/00000001<\n"
         "0,0,9,1,3,link/00000000> link/00000001<\n1,0,9,999,4,link/00000000> link/00000001<"),
        ("0,0,9,400,1,link/00000000> link/00000001<\n1,0,9,7,4,link/00000000> link/00000001<\n"
         "0,0,9,600,2,link/00000000> link/00000001<"),
    };
    static const char *const heads[] = {"", "phase,from,to,permille,latency_us\n",
                                        "phase,from,to,permille,path,latency_us\n",
                                        "phase,from,to,permille,latency_us,path,more\n"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        put_file(&text, rows[i], true);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(heads); i++) {
        put_file(&text, heads[i], false);
    }
    assert_kept("sim-given.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_taken_or_refused),
    };
    return cmocka_run_group_tests(tests, plan_fabric, drop_fabric);
}
