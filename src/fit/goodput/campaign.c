/*
 * campaign: what a run on a cluster comes to: copies as fast as its storage takes them, failures by
 * the recovery data, spares, days, energy and money.
 */
#include "myriad/fit/campaign.h"

#include <math.h>

#include "cost/block.h"

/* Rows give rates in GB/s. */
static double gb(double value)
{
    return value * 1e9;
}

/* ---- the planned cluster ---- */

/* Plugged bandwidth of one device on a network, bytes a second. */
static double port_bytes_per_s(const struct myr_design *design, uint32_t device,
                               enum myr_net_id net)
{
    double gbps = 0;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        const struct myr_port_group *group = myr_design_port_group(design, p);
        if (group->net == net && design->port_link[p] != MYR_NONE) {
            gbps += group->gbps;
        }
    }
    return gbps * 1e9 / 8;
}

/* What is left of a port when all hosts send to others: less where fewer links lead up than down.
 */
static double fabric_share(const struct myr_network *net)
{
    double share = 1;
    for (uint32_t i = 0; i < MYR_SPEC_TIERS_MAX; i++) {
        double over = net->oversubscription_milli[i] / 1000.0;
        share /= over > 1 ? over : 1;
    }
    return share;
}

/*
 * Ports alone: what disks behind them do is the planner's concern. Empty without storage servers.
 */
struct myr_store myr_store_of(const struct myr_design *design)
{
    const struct myr_design_head *head = design->head;
    struct myr_store store = {.servers = head->storage_servers};
    if (head->storage_servers == 0 || head->nodes == 0) {
        return (struct myr_store){};
    }
    /* Without a storage network nodes reach the store over the compute network. */
    enum myr_net_id net = MYR_NET_STORAGE;
    store.node_bytes_per_s = port_bytes_per_s(design, head->first_node, net);
    if (store.node_bytes_per_s <= 0) {
        net = MYR_NET_COMPUTE;
        store.node_bytes_per_s = port_bytes_per_s(design, head->first_node, net);
    }
    for (uint32_t i = 0; i < head->storage_servers; i++) {
        double ports = port_bytes_per_s(design, head->first_storage + i, MYR_NET_STORAGE);
        store.server_bytes_per_s +=
            ports > 0 ? ports : port_bytes_per_s(design, head->first_storage + i, net);
    }
    store.node_bytes_per_s *= fabric_share(&design->networks[net]);
    return store;
}

/*
 * The most that all devices draw; parts that the catalogue lacks count nothing, nodes 'node_watts'.
 */
double myr_design_watts(const struct myr_design *design, const struct myr_catalog *catalog,
                        double node_watts)
{
    const struct myr_design_head *head = design->head;
    double watts = 0;
    for (uint32_t t = 0; t < design->devtype_count; t++) {
        const char *part = myr_design_str(design, design->devtypes[t].part);
        uint32_t at = myr_catalog_find(catalog, myr_str_from(part));
        double each = at == UINT32_MAX ? 0 : catalog->parts.items[at].watts;
        bool node = head->nodes > 0 && t == design->device_type[head->first_node];
        uint64_t count = 0;
        for (uint32_t d = 0; d < design->device_count; d++) {
            count += design->device_type[d] == t;
        }
        if (node && each <= 0) { /* a part of the user's own, or without a figure */
            each = node_watts;
        } else if (node && head->nodes_per_server > 1) {
            each /= head->nodes_per_server; /* a server of several nodes is one box, one figure */
        }
        watts += each * (double)count;
    }
    return watts;
}

/* ---- failures ---- */

/*
 * Rows are failures per million hours of a GPU or a node; software stops a job so often a day,
 * whatever its size.
 */
uint32_t myr_failure_classes(const struct myr_recovery *recovery, double gpus, double nodes,
                             struct myr_failure_class *ret)
{
    static const char *const by_gpu[] = {
        "rate.gpu_core",    "rate.hbm",       "rate.gpu_sram",        "rate.gpu_gsp",
        "rate.gpu_thermal", "rate.sdc_found", "rate.switch_or_cable", "rate.unknown_watchdog",
        "rate.nic"}; /* a NIC for each GPU */
    static const char *const by_node[] = {
        "rate.host_cpu",    "rate.host_dram", "rate.host_board_chassis",
        "rate.psu_visible", "rate.ssd",       "rate.host_maintenance"};
    uint32_t count = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(by_gpu) + MYR_ARRAY_COUNT(by_node); i++) {
        bool gpu = i < MYR_ARRAY_COUNT(by_gpu);
        const char *key = gpu ? by_gpu[i] : by_node[i - MYR_ARRAY_COUNT(by_gpu)];
        const struct myr_recovery_row *row = myr_recovery_find(recovery, key);
        if (row) {
            ret[count++] =
                (struct myr_failure_class){key, row->typical / 1e6 * 24 * (gpu ? gpus : nodes)};
        }
    }
    const struct myr_recovery_row *software = myr_recovery_find(recovery, "rate.software");
    if (software) {
        ret[count++] = (struct myr_failure_class){"rate.software", software->typical};
    }
    MYR_ASSERT(count <= MYR_FAILURE_CLASSES_MAX);
    return count;
}

/*
 * Poisson tail without exp or gamma: weights relative to the most likely number, which cannot
 * underflow where they matter, summed outwards until they no longer count.
 */
uint32_t myr_spares_needed(double rate, double repair_s, double risk, double *ret_out)
{
    double mean = fit_min(rate * repair_s, 4e9); /* as many as the answer can tell */
    double top = (double)(uint32_t)mean;
    double below = 1, above = 0, weight = 1;
    for (double k = top; k > 0 && weight > 1e-18; k--) {
        weight *= k / mean;
        below += weight;
    }
    weight = 1;
    for (double k = top + 1; weight > 1e-18; k++) {
        weight *= mean / k;
        above += weight;
    }
    /* Down from 'top' while the risk allows, else up; what is left out is summed, not subtracted.
     */
    double total = below + above, spares = top, out = above;
    weight = 1;
    while (spares > 0 && out + weight <= risk * total) {
        out += weight;
        weight *= spares / mean;
        spares--;
    }
    weight = 1;
    while (out > risk * total && weight > 1e-18) {
        spares++;
        weight *= mean / spares;
        out -= weight;
    }
    *ret_out = out > 0 ? out / total : 0;
    return (uint32_t)spares;
}

/* ---- checkpoints ---- */

struct rows { /* of the recovery data, looked up once */
    const struct myr_recovery *recovery;
    struct myr_err *err;
    int rc;
};

/* Which value of a row counts. */
enum bound { LOW, TYPICAL, HIGH };

/*
 * A row that is missing is remembered and stands as 1 until the caller asks; nothing divides by 0.
 */
static double row_value(struct rows *rows, const char *key, enum bound bound)
{
    const struct myr_recovery_row *row = myr_recovery_find(rows->recovery, key);
    if (!row) {
        rows->rc = myr_err_set(rows->err, MYR_ENOENT, "the recovery data lack '%s'", key);
        return 1;
    }
    return bound == LOW ? row->low : bound == TYPICAL ? row->typical : row->high;
}

/* The fullest rank's part of the checkpoint. */
static double rank_bytes(const struct myr_fit_case *it, const struct myr_layout *layout)
{
    uint64_t most = 0;
    for (uint32_t stage = 0; stage < layout->pp; stage++) {
        uint64_t bytes = myr_state_of(layout, it->model, stage).checkpoint_bytes;
        most = bytes > most ? bytes : most;
    }
    return (double)most;
}

/*
 * What the store takes from all nodes together: practice's rate for each node, but no more than
 * its ports, nor in all more than the servers' ports; a tenth goes to headers and imbalance.
 */
static double store_rate(const struct myr_store *store, double nodes, double practice,
                         double system)
{
    double node = practice, whole = system;
    if (store->node_bytes_per_s > 0) {
        node = fit_min(node, 0.9 * store->node_bytes_per_s);
        whole = 0.9 * store->server_bytes_per_s;
    }
    return fit_min(nodes * node, whole);
}

/* Seconds of the practice's recovery but for loading the state, which depends on the layout. */
static double other_parts(struct rows *rows, const struct myr_campaign_question *q,
                          enum myr_practice practice, double gpus)
{
    struct myr_recovery_part parts[MYR_RECOVERY_PARTS_MAX];
    const char *load = practice == MYR_PRACTICE_COMMON ? "a.state_load" : "b.state_restore";
    uint32_t count = 0;
    int rc = myr_recovery_parts(rows->recovery, practice, q->fault, gpus, parts, &count, rows->err);
    double seconds = 0;
    if (rc < 0) {
        rows->rc = rc; /* kept: the caller asks once, after all rows */
    }
    for (uint32_t i = 0; i < count; i++) {
        seconds += strcmp(parts[i].row->key, load) == 0 ? 0 : parts[i].seconds;
    }
    return seconds;
}

/* One tier: copies to shared storage at typical rates, and every failure reads them back. */
static struct myr_limits common_tiers(const struct myr_campaign_question *q, struct rows *rows,
                                      struct myr_campaign *c, double gpus, double nodes)
{
    double system = gb(row_value(rows, "rate.storage.system_read", TYPICAL));
    c->write_bytes_per_s =
        store_rate(&q->store, nodes, gb(row_value(rows, "rate.save.shared", TYPICAL)), system);
    c->read_bytes_per_s =
        store_rate(&q->store, nodes, gb(row_value(rows, "rate.load.shared", TYPICAL)), system);
    c->write_s = c->checkpoint_bytes / c->write_bytes_per_s;
    c->read_s = c->checkpoint_bytes / c->read_bytes_per_s;
    /* Out of the GPU by pageable copies, then to the store, and training waits for both. */
    double copy = c->rank_bytes / gb(row_value(rows, "rate.snapshot_d2h", LOW));
    c->renewal.durable = (struct myr_tier){
        q->rate_per_s, other_parts(rows, q, MYR_PRACTICE_COMMON, gpus) + c->read_s,
        copy + c->write_s};
    return (struct myr_limits){};
}

/*
 * Two tiers: copies in host memory and on a peer heal what automation handles; the rest comes from
 * storage after a person has looked.
 */
static struct myr_limits best_tiers(const struct myr_campaign_question *q, struct rows *rows,
                                    struct myr_campaign *c, double gpus, double nodes)
{
    double system = gb(row_value(rows, "rate.storage.system_read", HIGH));
    double automatic = row_value(rows, "share.handled_by_automation", TYPICAL);
    double others = other_parts(rows, q, MYR_PRACTICE_BEST, gpus);
    double by_hand =
        fit_max(0, row_value(rows, "a.diagnose", TYPICAL) - row_value(rows, "b.diagnose", TYPICAL));
    c->write_bytes_per_s =
        store_rate(&q->store, nodes, gb(row_value(rows, "rate.save.shared", HIGH)), system);
    c->read_bytes_per_s =
        store_rate(&q->store, nodes, gb(row_value(rows, "rate.load.shared", HIGH)), system);
    c->write_s = c->checkpoint_bytes / c->write_bytes_per_s;
    c->read_s = c->checkpoint_bytes / c->read_bytes_per_s;
    double copy = c->rank_bytes / gb(row_value(rows, "rate.snapshot_d2h", TYPICAL));
    double peer = c->rank_bytes / gb(row_value(rows, "rate.load.peer", TYPICAL));
    double stall = fit_max(copy, row_value(rows, "b.ckpt_stall", LOW));
    c->renewal.quick = (struct myr_tier){automatic * q->rate_per_s, others + peer, stall};
    /* Starting the drain stops training as long as the shortest copy does. */
    c->renewal.durable =
        (struct myr_tier){(1 - automatic) * q->rate_per_s, others + by_hand + c->read_s,
                          row_value(rows, "b.ckpt_stall", LOW)};
    /*
     * A copy is safe once the peer has it. The drain shares the store with everything else: it may
     * take a tenth of the time.
     */
    return (struct myr_limits){.interval_least = peer, .period_least = 10 * c->write_s};
}

/* Nodes in repair are Poisson whatever the repair times, so only their mean counts. */
static void count_spares(const struct myr_campaign_question *q, enum myr_practice practice,
                         struct rows *rows, struct myr_campaign *c)
{
    bool common = practice == MYR_PRACTICE_COMMON;
    double replaced = row_value(rows, "share.part_or_host_replaced", TYPICAL);
    double rebooted = row_value(rows, "share.reset_or_reboot_enough", TYPICAL);
    /* Without parts on site the maker's replacement is waited for. */
    double repair_h =
        row_value(rows, common ? "repair.gpu_rma" : "repair.gpu_with_onsite_spare", TYPICAL);
    double reboot_s = row_value(rows, "time.node_reboot", TYPICAL) +
                      row_value(rows, "time.gpu_stack_after_boot", TYPICAL) +
                      row_value(rows, "time.validate.return", TYPICAL);
    /* Other failures leave the node in service. */
    double share = replaced + rebooted;
    double mean_s = share > 0 ? (replaced * repair_h * 3600 + rebooted * reboot_s) / share : 0;
    c->repairs = q->rate_per_s * share * mean_s;
    c->spares = myr_spares_needed(q->rate_per_s * share, mean_s, q->spare_risk, &c->spares_out);
}

static double step_tokens(const struct myr_campaign_question *q, const struct myr_campaign *c)
{
    return (double)c->layout.global_batch * myr_layout_seq(&c->layout, q->it.model);
}

/* What is trained on: a step is done whole or not at all. 0 where nothing is said. */
static double run_tokens(const struct myr_campaign_question *q, const struct myr_campaign *c)
{
    return q->tokens > 0 ? fit_max(q->tokens, step_tokens(q, c)) : 0;
}

/* Below this share of the time a run gets nowhere; days would only be a large number. */
#define GOODPUT_LEAST 1e-6

/* From the share of time kept to days, energy and money; nothing where the run never ends. */
static void account(const struct myr_campaign_question *q, struct myr_campaign *c)
{
    /* While nodes are short the job waits for one. */
    double kept = c->goodput.goodput * (1 - c->spares_out);
    c->tokens_per_day = kept * step_tokens(q, c) / c->step_s * 86400;
    c->ends = kept > GOODPUT_LEAST;
    if (q->tokens <= 0 || !c->ends) {
        return;
    }
    double nodes = (double)myr_layout_gpus(&c->layout) / q->gpus_per_node;
    double with_spares = (nodes + c->spares) / nodes; /* spares are powered and paid for too */
    c->days = run_tokens(q, c) / c->tokens_per_day;
    c->energy_mwh = c->days * 24 * q->watts * q->pue * with_spares / 1e6;
    c->energy_cost = c->energy_mwh * 1e3 * q->price_per_kwh;
    c->machine_cost = c->days * 24 * q->price_per_hour * with_spares;
}

/* What failures add to a run scatters; its work and its stalls do not. */
static void set_range(const struct myr_campaign_question *q, struct myr_campaign *c)
{
    double work_s = run_tokens(q, c) / step_tokens(q, c) * c->step_s;
    double periods = work_s / (c->renewal.interval * c->renewal.per_period);
    double mean = periods * myr_goodput_scatter(&c->renewal).mean, low, high;
    double day = 86400 * (1 - c->spares_out);
    myr_goodput_range(&c->renewal, periods, &low, &high);
    c->days_low = c->days - (mean - low) / day;
    c->days_high = c->days + (high - mean) / day;
}

/* What the question says takes the place of the data in every tier. */
static void give(const struct myr_campaign_question *q, struct myr_renewal *renewal)
{
    if (q->has_recovery) {
        renewal->quick.recovery = renewal->durable.recovery = q->recovery_s;
    }
    if (q->has_stall) {
        renewal->durable.stall = q->stall_s;
        renewal->quick.stall = renewal->quick.rate > 0 ? q->stall_s : 0;
    }
}

/* One layout, of whose checkpoint the fullest rank holds 'rank_bytes'. */
static struct myr_campaign campaign(const struct myr_campaign_question *q,
                                    enum myr_practice practice, const struct myr_fit_found *found,
                                    double rank_bytes, struct rows *rows)
{
    struct myr_campaign c = {.layout = found->layout, .step_s = found->step_s};
    double gpus = (double)myr_layout_gpus(&c.layout), part = gpus / q->gpus_per_node;
    double nodes = part > (uint32_t)part ? (uint32_t)part + 1.0 : part; /* part of one is one */
    double work_s = run_tokens(q, &c) / step_tokens(q, &c) * c.step_s;
    c.checkpoint_bytes = (double)myr_checkpoint_bytes(q->it.model, c.layout.precision);
    c.rank_bytes = rank_bytes;
    c.renewal = (struct myr_renewal){.interval = 1, .per_period = 1};
    struct myr_limits limits = practice == MYR_PRACTICE_COMMON
                                   ? common_tiers(q, rows, &c, gpus, nodes)
                                   : best_tiers(q, rows, &c, gpus, nodes);
    /* Copies are taken between steps. */
    limits.interval_least = fit_max(limits.interval_least, c.step_s);
    limits.interval = q->interval_s;
    limits.period_most = work_s;
    give(q, &c.renewal);
    if (rows->rc == MYR_OK) {
        c.renewal = myr_goodput_optimum_within(&c.renewal, &limits);
        c.goodput = myr_goodput_of(&c.renewal);
        count_spares(q, practice, rows, &c);
        account(q, &c);
    }
    return c;
}

/* The layout with the most tokens a day of those given, which need not be the fastest. */
int myr_campaign_of(const struct myr_campaign_question *question, enum myr_practice practice,
                    const struct myr_fit_found *layouts, uint32_t count, struct myr_campaign *ret,
                    struct myr_err *err)
{
    struct rows rows = {question->recovery, err, MYR_OK};
    *ret = (struct myr_campaign){};
    MYR_ASSERT(count > 0 && question->gpus_per_node > 0);
    for (uint32_t i = 0; i < count && rows.rc == MYR_OK; i++) {
        double bytes = rank_bytes(&question->it, &layouts[i].layout);
        struct myr_campaign c = campaign(question, practice, &layouts[i], bytes, &rows);
        c.choice = i;
        if (i == 0 || c.tokens_per_day > ret->tokens_per_day) {
            *ret = c;
        }
    }
    /* Layouts differ in step time and in the fullest rank's bytes: with the best of both, */
    double even = ret->checkpoint_bytes / (double)myr_layout_gpus(&layouts[0].layout);
    struct myr_campaign ideal = campaign(question, practice, &layouts[0], even, &rows);
    if (rows.rc == MYR_OK && ret->tokens_per_day > 0) {
        if (ret->days > 0) {
            set_range(question, ret);
        }
        ret->layout_gap = fit_max(0, ideal.tokens_per_day / ret->tokens_per_day - 1);
    }
    return rows.rc;
}

/* Failures and the step's own interval together. */
void myr_campaign_days(const struct myr_campaign *c, double spread, double ret[2])
{
    MYR_ASSERT(c->days_low > 0 && c->days_high >= c->days);
    /* Independent of each other: relative widths add by their squares. */
    double low = c->days / c->days_low - 1, high = c->days_high / c->days - 1;
    ret[0] = c->days / (1 + sqrt(spread * spread + low * low));
    ret[1] = c->days * (1 + sqrt(spread * spread + high * high));
}
