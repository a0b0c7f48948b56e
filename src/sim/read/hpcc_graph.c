#include "read/hpcc_graph.h"
#include "myriad/text/amount.h"

/*
 * HPCC's topology: "nodes switches links", the ids of the switches, then a line for each link, "a b
 * rate delay error". Any graph can be said that way; what is taken is a Clos whose parts are alike,
 * found by walking up from the hosts.
 */

/* "100Gbps" in whole Gb/s. */
static int read_rate(struct scan *scan, uint32_t *ret, struct myr_err *err)
{
    static const struct {
        const char *unit;
        int32_t digits; /* to kb/s */
        /*
         * Decimals are shifted, not multiplied as floats: "0.1Gbps" is exactly 100,000 kb/s, and
         * refused.
         */
    } units[] = {{"Gbps", 6}, {"Mbps", 3}, {"Tbps", 9}, {"Gb/s", 6}, {"Mb/s", 3}};
    char shown[SCAN_SHOWN];
    uint64_t kbps;
    MYR_TRY(scan_need(scan, "the rate", err));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(units); i++) {
        size_t len = strlen(units[i].unit);
        struct myr_str word = scan->word;
        if (word.len > len && memcmp(word.data + word.len - len, units[i].unit, len) == 0 &&
            scan_decimal((struct myr_str){word.data, word.len - len}, units[i].digits,
                         UINT64_C(100000000000), &kbps) &&
            kbps > 0 && kbps % 1000000 == 0) {
            *ret = (uint32_t)(kbps / 1000000);
            return MYR_OK;
        }
    }
    return scan_error(err, scan, "the rate must be whole gigabits up to 100000Gbps, not '%s'",
                      scan_shown(scan, shown));
}

/* "1000ns", "0.001ms" in picoseconds; a bare number is seconds. */
static int read_delay(struct scan *scan, myr_ps *ret, struct myr_err *err)
{
    static const struct {
        const char *unit;
        int32_t digits; /* to ps */
        /* In this order: "s" ends all those before it, and the empty one ends every word. */
    } units[] = {{"ns", 3}, {"us", 6}, {"ms", 9}, {"ps", 0}, {"s", 12}, {"", 12}};
    char shown[SCAN_SHOWN];
    uint64_t ps;
    MYR_TRY(scan_need(scan, "the delay", err));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(units); i++) {
        size_t len = strlen(units[i].unit);
        struct myr_str word = scan->word;
        if (word.len > len && memcmp(word.data + word.len - len, units[i].unit, len) == 0 &&
            scan_decimal((struct myr_str){word.data, word.len - len}, units[i].digits,
                         (uint64_t)MYR_PS_PER_S, &ps)) {
            *ret = (myr_ps)ps;
            return MYR_OK;
        }
    }
    return scan_error(err, scan, "the delay must be a time up to 1s, such as 1000ns, not '%s'",
                      scan_shown(scan, shown));
}

/* Every node is a host until it is named here; a switch has no level before the graph is walked. */
int hpcc_read_switches(struct topology *topology, struct myr_err *err)
{
    struct scan *scan = topology->scan;
    uint32_t id;
    if (topology->switches && !scan_line(scan)) {
        return scan_error(err, scan, "the file ends where the ids of the switches are expected");
    }
    for (uint32_t i = 0; i < topology->switches; i++) {
        MYR_TRY(scan_u32(scan, "the id of a switch", 0, topology->nodes - 1, &id, err));
        if (topology->level[id] != LEVEL_HOST) {
            return scan_error(err, scan, "switch %u is there already", id);
        }
        topology->level[id] = LEVEL_NONE;
    }
    return scan_end(scan, err);
}

/*
 * Rates, delays and ends are checked here, what the graph is later: a complaint then names the
 * line.
 */
int hpcc_read_wires(struct topology *topology, struct myr_err *err)
{
    struct scan *scan = topology->scan;
    int rc = MYR_OK;
    for (uint32_t i = 0; rc == MYR_OK && i < topology->wires; i++) {
        struct wire *wire = &topology->list[i];
        if (!scan_line(scan)) {
            return scan_error(err, scan, "the file ends after %u of %u links", i, topology->wires);
        }
        rc = scan_u32(scan, "an end of the link", 0, topology->nodes - 1, &wire->a, err);
        wire->place = scan_here(scan);
        if (rc < 0) {
            return rc;
        }
        rc = scan_u32(scan, "an end of the link", 0, topology->nodes - 1, &wire->b, err);
        if (rc == MYR_OK && wire->a == wire->b) {
            rc = scan_error(err, scan, "node %u is joined to itself", wire->a);
        }
        if (rc < 0) {
            return rc;
        }
        rc = read_rate(scan, &wire->gbps, err);
        if (rc < 0) {
            return rc;
        }
        rc = read_delay(scan, &wire->delay, err);
        if (rc < 0) {
            return rc;
        }
        /* A fluid loses nothing: what such a link would do cannot be said here. */
        rc = scan_need(scan, "the error rate", err);
        double rate;
        if (rc == MYR_OK && (!myr_str_to_double(scan->word, &rate) || rate < 0 || rate > 0)) {
            rc = scan_error(err, scan,
                            "links that lose packets are not supported: the error rate "
                            "must be 0");
        }
        if (rc < 0) {
            return rc;
        }
        rc = scan_end(scan, err);
    }
    return rc;
}

/* The limits come before anything is allocated. */
static int read_counts(struct topology *topology, struct myr_err *err)
{
    struct scan *scan = topology->scan;
    if (!scan_line(scan)) {
        return scan_error(err, scan, "the file is empty; 'nodes switches links' is expected");
    }
    MYR_TRY(scan_u32(scan, "the number of nodes", 2, MYR_CLOS_HOSTS_MAX + MYR_CLOS_SWITCHES_MAX,
                     &topology->nodes, err));
    MYR_TRY(scan_u32(scan, "the number of switches", 1, MYR_CLOS_SWITCHES_MAX, &topology->switches,
                     err));
    MYR_TRY(scan_u32(scan, "the number of links", 1, MYR_CLOS_LINKS_MAX, &topology->wires, err));
    return scan_end(scan, err);
}

/* Each link is a line of the file: a number that the file cannot hold is not allocated for. */
int hpcc_open(struct topology *topology, struct myr_err *err)
{
    size_t len = topology->scan->text.len;
    if (topology->wires > len || topology->nodes > len) {
        return scan_error(err, topology->scan, "the file is too short for %s and %s",
                          MYR_COUNT(topology->nodes, "node"), MYR_COUNT(topology->wires, "link"));
    }
    topology->level = MYR_ARENA_NEW(topology->scratch, uint8_t, topology->nodes);
    topology->up = MYR_ARENA_NEW(topology->scratch, uint32_t, topology->nodes);
    topology->down = MYR_ARENA_NEW(topology->scratch, uint32_t, topology->nodes);
    topology->above = MYR_ARENA_NEW(topology->scratch, uint32_t, topology->nodes);
    topology->first_leaf = MYR_ARENA_NEW(topology->scratch, bool, topology->nodes);
    topology->list = MYR_ARENA_NEW(topology->scratch, struct wire, topology->wires);
    return MYR_OK;
}

/* Read, fold, find the shape: each step may take for granted what the one before has checked. */
int read_hpcc_topology(struct scan *scan, struct myr_clos_shape *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    struct topology topology = {.scan = scan, .scratch = &scratch};
    uint32_t planes = 1;
    MYR_TRY(read_counts(&topology, err));
    myr_arena_init(&scratch);
    MYR_TRY(hpcc_open(&topology, err));
    MYR_TRY(hpcc_read_switches(&topology, err));
    MYR_TRY(hpcc_read_wires(&topology, err));
    MYR_TRY(hpcc_fold(&topology, &planes, err));
    ret->planes = planes;
    ret->gpus_per_node = 1;
    return hpcc_find_shape(&topology, ret, err);
}
