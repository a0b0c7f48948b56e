#include "verify/verify.h"

/*
 * Links that are where they should be, but slow. Speed is compared with the plan, and with nothing
 * else: a fabric that is slow everywhere is slow. A width says as much where it is less than the
 * plan's speed needs of the fastest lanes that the ends have: 8 lanes of 50 and 4 of 100 are both
 * right, one lane beside "400" is not. Where nearly all links of one planned speed have
 * one lower speed, that is told once; the source may speak of speeds in another tongue (a simulator
 * without NDR), which --speed-map puts right.
 */

/* A fabric has a handful of speeds; a list with more than 64 pairs of them is noise anyway. */
enum { SPEEDS_MAX = 64, WHOLE_FILE_PERCENT = 90, WORDS_MAX = 64 };

/* How often a planned speed was found as which speed and width. */
struct speed_row {
    uint32_t planned_gbps, gbps, width;
    uint32_t lanes; /* that the plan needs at least, on the first of these links */
    uint32_t count; /* of links */
};

struct speed_table {
    struct speed_row rows[SPEEDS_MAX];
    uint32_t count;
};

/* Pairs beyond the last row are not counted: such a list tells nothing as a whole. */
static void tally(struct speed_table *table, const struct myr_verify *verify, uint32_t port,
                  struct speed_row found)
{
    for (uint32_t i = 0; i < table->count; i++) {
        struct speed_row *row = &table->rows[i];
        if (row->planned_gbps == found.planned_gbps && row->gbps == found.gbps &&
            row->width == found.width) {
            row->count++;
            return;
        }
    }
    if (table->count < SPEEDS_MAX) {
        found.count = 1;
        found.lanes = verify_planned_lanes(verify, port);
        table->rows[table->count++] = found;
    }
}

/* What links of this planned speed usually run at; 0 when no speed is told. */
static struct speed_row usual(const struct speed_table *table, uint32_t planned)
{
    struct speed_row most = {.planned_gbps = planned};
    uint32_t total = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct speed_row *row = &table->rows[i];
        if (row->planned_gbps == planned) {
            total += row->count;
            most = row->count > most.count ? *row : most;
        }
    }
    /* One speed nearly everywhere is the file's doing, or one setting of the fabric. */
    bool whole_file = (uint64_t)most.count * 100 >= (uint64_t)total * WHOLE_FILE_PERCENT;
    most.gbps = whole_file ? most.gbps : 0;
    most.width = whole_file ? most.width : 0;
    most.lanes = whole_file ? most.lanes : 0;
    return most;
}

/* What the link carries: chips that share a port tell of it one by one. */
static uint32_t found_gbps(const struct verify_job *job, uint32_t port)
{
    const struct myr_verify *verify = job->verify;
    uint32_t more = job->planes[port] + job->planes[verify->found[port]];
    return verify->cabling->links.items[verify->found_link[port]].gbps * (more + 1);
}

static uint32_t found_width(const struct verify_job *job, uint32_t port)
{
    const struct myr_verify *verify = job->verify;
    uint32_t more = job->planes[port] + job->planes[verify->found[port]];
    return verify->cabling->links.items[verify->found_link[port]].width * (more + 1);
}

/* The ends know how fast their lanes are; one that does not has none faster than any today. */
uint32_t verify_planned_lanes(const struct myr_verify *verify, uint32_t port)
{
    enum { LANE_GBPS_MAX = 200 };
    const struct myr_design *design = verify->design;
    uint32_t fastest = 0, peer = myr_design_peer(design, port);
    const uint32_t ends[] = {port, peer == MYR_NONE ? port : peer};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(ends); i++) {
        uint32_t gbps = verify->lane_gbps[design->device_type[design->port_device[ends[i]]]];
        fastest = gbps > fastest ? gbps : fastest;
    }
    fastest = fastest ? fastest : LANE_GBPS_MAX;
    return (verify_planned_gbps(design, port) + fastest - 1) / fastest;
}

/* Of one word, each link once; those beyond the last that fits are counted as it. */
static void count_word(struct myr_verify *verify, enum myr_link_fact fact, struct myr_str text)
{
    uint32_t at = 0;
    while (at < verify->word_count &&
           (verify->words[at].fact != fact || !myr_str_eq_nocase(verify->words[at].text, text))) {
        at++;
    }
    if (at == WORDS_MAX) {
        at--;
    } else if (at == verify->word_count) {
        verify->words[verify->word_count++] = (struct myr_unread_word){fact, text, 0};
    }
    verify->words[at].links++;
}

/* What nobody understood of a link that is in its place: that was not judged. */
static void count_words(struct myr_verify *verify, const struct myr_cabling_link *link)
{
    for (uint32_t fact = 0; fact < MYR_LINK_KEPT; fact++) {
        /* One end may tell a speed that the other one has no word for. */
        bool told = fact == MYR_LINK_SPEED && link->gbps;
        if (link->unread[fact] && !told) {
            count_word(verify, (enum myr_link_fact)fact,
                       verify->cabling->words.items[link->unread[fact] - 1].text);
        }
    }
}

/* Beyond what correction at 100 Gb/s a lane can mend (KP4). */
static const double ber_max = 2.4e-4;
enum { FEC_GBPS = 200 }; /* links of this speed and above have no way without correction */

/* All causes that apply, as bits; 0: nothing is the matter. Asked once of each link. */
static uint8_t why_of(const struct verify_job *job, uint32_t port,
                      const struct myr_cabling_link *link, bool slow)
{
    const struct myr_verify *verify = job->verify;
    const struct myr_design *design = verify->design;
    uint32_t cable = design->port_link[port] == MYR_NONE
                         ? MYR_NONE
                         : design->link_cable[design->port_link[port]];
    uint32_t medium = MYR_NONE;
    if (myr_link_medium(link->medium, &medium) == MYR_LINK_MEDIUM_UNKNOWN) {
        count_word(job->verify, MYR_LINK_MEDIUM, link->medium);
    }
    const struct myr_cabletype *type =
        cable == MYR_NONE ? NULL : &design->cabletypes[design->cable_type[cable]];
    /* Where no part was found for a link the plan has no medium either. */
    bool other = medium != MYR_NONE && type && type->part && type->medium != medium;
    return (uint8_t)(slow << MYR_WHY_SPEED |
                     (link->errors > verify->options.errors_max) << MYR_WHY_ERRORS |
                     (link->ber > ber_max) << MYR_WHY_BER |
                     (link->no_fec && verify_planned_gbps(design, port) >= FEC_GBPS)
                         << MYR_WHY_FEC |
                     other << MYR_WHY_MEDIUM);
}

/* Without a speed the width also tells beside what others have. */
static bool is_slow(const struct verify_job *job, uint32_t port, struct speed_row expected)
{
    uint32_t gbps = found_gbps(job, port), width = found_width(job, port);
    if (gbps ? gbps < expected.planned_gbps : width && width < expected.width) {
        return true;
    }
    /* Mostly the near end says that they are enough; the other one lies far away. */
    const struct myr_verify *verify = job->verify;
    uint32_t type = verify->design->device_type[verify->design->port_device[port]];
    bool enough = width * verify->lane_gbps[type] >= expected.planned_gbps;
    return width && !enough && width < verify_planned_lanes(verify, port);
}

/* Devices by their GUIDs and those of their ports, for what was told apart from the cables. */
static void collect_guids(const struct myr_cabling *cabling, struct myr_u64map *ret)
{
    for (uint32_t i = 0; i < cabling->devices.count; i++) {
        const uint64_t guids[] = {cabling->devices.items[i].guid,
                                  cabling->devices.items[i].port_guid};
        for (uint32_t g = 0; g < MYR_ARRAY_COUNT(guids); g++) {
            if (guids[g]) {
                (void)myr_u64map_add(ret, guids[g], i); /* the first one that has it */
            }
        }
    }
}

/* The port that a source tells of by GUID and number; MYR_NONE: none that is in its place. */
static uint32_t port_told(struct verify_job *job, const struct myr_u64map *devices, uint64_t guid,
                          struct myr_str port)
{
    const uint32_t *device = myr_u64map_find(devices, guid);
    struct myr_cabling_end end = {device ? *device : 0, port};
    uint32_t found = device ? identify_port(&job->identify, end) : MYR_NONE;
    bool there = found != MYR_NONE && (job->verify->state[found] == MYR_STATE_RIGHT ||
                                       job->verify->state[found] == MYR_STATE_DEGRADED);
    return there ? found : MYR_NONE;
}

/* Both ends of a cable have its state. */
static void degrade(struct myr_verify *verify, uint32_t port, uint8_t why)
{
    MYR_ASSERT(why && verify->found[port] != MYR_NONE); /* it was in its place */
    verify->state[port] = MYR_STATE_DEGRADED;
    verify->why[port] |= why;
    if (!verify_is_foreign(verify, verify->found[port])) {
        verify->state[verify->found[port]] = MYR_STATE_DEGRADED;
        verify->why[verify->found[port]] |= why;
    }
}

/* What modules of a kind of fibre send and take: SR4, and the wider of DR4 and FR4, in dBm. */
static const struct {
    double tx_least, rx_least, most;
} ranges[] = {[MYR_MEDIUM_COPPER] = {-99, -99, 99},
              [MYR_MEDIUM_MULTI] = {-4.6, -6.4, 4},
              [MYR_MEDIUM_SINGLE] = {-3.3, -7.2, 5.1}};

/* One cause: a single dark lane is dirt, whatever the range says of it. */
static uint8_t why_of_optic(const struct myr_verify *verify, uint32_t port,
                            const struct myr_cabling_optic *optic)
{
    /* Lanes of one module get about the same light. */
    const double dirty_db = 2;
    const struct myr_design *design = verify->design;
    uint32_t link = design->port_link[port];
    if (link == MYR_NONE) {
        return 0;
    }
    const struct myr_cabletype *type =
        &design->cabletypes[design->cable_type[design->link_cable[link]]];
    const struct myr_light *rx = &optic->rx, *tx = &optic->tx;
    /* The wrong kind of cable is the cause of all else. */
    if (optic->medium != MYR_NONE && type->part && optic->medium != type->medium) {
        return 1U << MYR_WHY_MEDIUM;
    }
    uint32_t medium = optic->medium == MYR_NONE ? type->medium : optic->medium;
    if (medium == MYR_MEDIUM_COPPER) {
        return 0;
    }
    if (rx->lanes > 1 && rx->next - rx->least > dirty_db) {
        return 1U << MYR_WHY_DIRTY;
    }
    bool dim = (rx->lanes && rx->least < ranges[medium].rx_least) ||
               (tx->lanes && tx->least < ranges[medium].tx_least);
    bool bright = (rx->lanes && rx->most > ranges[medium].most) ||
                  (tx->lanes && tx->most > ranges[medium].most);
    return (uint8_t)((dim || bright) << MYR_WHY_LIGHT);
}

/* Errors and modules that were told apart from the cables. */
static void degrade_by_others(struct verify_job *job)
{
    struct myr_verify *verify = job->verify;
    const struct myr_cabling *cabling = verify->cabling;
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map devices = {};
    /* Devices are looked up by GUID only where something was told that way. */
    if (cabling->errors.count + cabling->optics.count) {
        collect_guids(cabling, &devices);
    }
    for (uint32_t i = 0; i < cabling->errors.count; i++) {
        const struct myr_cabling_errors *row = &cabling->errors.items[i];
        uint32_t port = port_told(job, &devices, row->guid, row->port);
        if (port != MYR_NONE && row->count > verify->options.errors_max) {
            degrade(verify, port, 1U << MYR_WHY_ERRORS);
        }
    }
    for (uint32_t i = 0; i < cabling->optics.count; i++) {
        const struct myr_cabling_optic *row = &cabling->optics.items[i];
        uint32_t port = port_told(job, &devices, row->guid, row->port);
        uint8_t why = port == MYR_NONE ? 0 : why_of_optic(verify, port, row);
        if (why) {
            degrade(verify, port, why);
        }
    }
}

/* What further sources say of a link; the slowest speed of all was taken for it before. */
static void degrade_by_repeats(struct verify_job *job)
{
    struct myr_verify *verify = job->verify;
    for (size_t i = 0; i < job->repeats.count; i++) {
        struct verify_repeat row = job->repeats.items[i];
        if (verify->state[row.port] != MYR_STATE_RIGHT &&
            verify->state[row.port] != MYR_STATE_DEGRADED) {
            continue;
        }
        const struct myr_cabling_link *link = &verify->cabling->links.items[row.link];
        uint8_t why = why_of(job, row.port, link, false);
        count_words(verify, link);
        if (why) {
            degrade(verify, row.port, why);
        }
    }
}

/* The speed with most links is told, where several are slow. */
static void note_slow_file(struct myr_verify *verify, const struct speed_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        struct speed_row most = usual(table, table->rows[i].planned_gbps);
        if (most.gbps && most.gbps < most.planned_gbps && most.count > verify->slow_links) {
            verify->slow_planned_gbps = most.planned_gbps;
            verify->slow_found_gbps = most.gbps;
            verify->slow_links = most.count;
            continue;
        }
        bool slower = most.gbps && most.gbps < most.planned_gbps;
        if (!slower && most.width < most.lanes && most.width && most.count > verify->narrow_links) {
            verify->narrow_planned = most.lanes;
            verify->narrow_found = most.width;
            verify->narrow_links = most.count;
        }
    }
}

/*
 * What is the matter with a planned link was found at its other end: the same facts and the same
 * plan. A link lies wherever its source told of it, which is far from its neighbours.
 */
static bool has_judged_end(const struct myr_verify *verify, uint32_t port)
{
    const struct myr_design *design = verify->design;
    uint32_t other = verify->found[port];
    return other < port && design->port_link[port] != MYR_NONE &&
           design->port_link[port] == design->port_link[other] &&
           (verify->state[other] == MYR_STATE_RIGHT || verify->state[other] == MYR_STATE_DEGRADED);
}

/* First what is usual, from all links that are in their place; then each is held against it. */
void verify_degrade(struct verify_job *job)
{
    struct myr_verify *verify = job->verify;
    const struct myr_design *design = verify->design;
    struct speed_table table = {.count = 0};
    verify->lane_gbps = MYR_ARENA_NEW(verify->arena, uint32_t, design->devtype_count);
    for (uint32_t t = 0; t < design->devtype_count; t++) {
        verify->lane_gbps[t] = job->spelling.boxes[t].lane_gbps;
    }
    for (uint32_t p = 0; p < design->port_count; p++) {
        /* Each link once, at its lower end. */
        if (verify->state[p] == MYR_STATE_RIGHT && p < verify->found[p]) {
            tally(&table, verify, p,
                  (struct speed_row){.planned_gbps = verify_planned_gbps(design, p),
                                     .gbps = found_gbps(job, p),
                                     .width = found_width(job, p)});
        }
    }
    note_slow_file(verify, &table);
    verify->why = MYR_ARENA_NEW(verify->arena, uint8_t, design->port_count);
    verify->words = MYR_ARENA_NEW(verify->arena, struct myr_unread_word, WORDS_MAX);
    /* Ports of one speed follow each other: it is looked up when it changes. */
    struct speed_row expected = {.planned_gbps = 0};
    for (uint32_t p = 0; p < design->port_count; p++) {
        if (verify->state[p] != MYR_STATE_RIGHT) {
            continue;
        }
        uint32_t planned = verify_planned_gbps(design, p);
        if (planned != expected.planned_gbps) {
            expected = usual(&table, planned);
        }
        if (has_judged_end(verify, p)) {
            verify->why[p] = verify->why[verify->found[p]];
        } else {
            const struct myr_cabling_link *link =
                &verify->cabling->links.items[verify->found_link[p]];
            verify->why[p] = why_of(job, p, link, is_slow(job, p, expected));
            count_words(verify, link);
        }
        if (verify->why[p]) {
            verify->state[p] = MYR_STATE_DEGRADED;
        }
    }
    degrade_by_repeats(job);
    degrade_by_others(job);
}
