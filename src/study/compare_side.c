#include <stdio.h>

#include "compare_rows.h"
#include "myriad/plan.h"

/*
 * One design of a comparison: read, planned, and the part of it that trains. Beside the design
 * there is a view of it for jobs ('job'): of a cluster of several kinds of servers it has one group
 * alone. What was not given is chosen by the technology of the switches, and remembered as assumed.
 */

/*
 * What headers leave of a packet of 4,096 bytes. InfiniBand: LRH 8, BTH 12, ICRC 4, VCRC 2. RoCE
 * v2: preamble and gap 20, Ethernet 14, IP 20, UDP 8, BTH 12, ICRC 4, FCS 4.
 */
enum { PAYLOAD = 4096, INFINIBAND_HEADERS = 26, ROCE_HEADERS = 82 };

/* Rounded down. */
static uint32_t header_permille(uint32_t headers)
{
    return PAYLOAD * 1000 / (PAYLOAD + headers);
}

/* By the names that the simulator has for them. */
static bool find_policy(const char *word, enum myr_policy *ret)
{
    for (uint32_t i = 0; i < MYR_POLICY_COUNT; i++) {
        if (strcmp(word, myr_policy_names[i]) == 0) {
            *ret = (enum myr_policy)i;
            return true;
        }
    }
    return false;
}

/* An option is given once for all designs or once for each. */
static int check_words(const struct myr_compare_question *question,
                       const struct myr_sim_words *words, const char *option, struct myr_err *err)
{
    if (words->count > 1 && words->count != question->count) {
        return myr_err_set(err, MYR_EINVAL,
                           "%s is given %u times, for %u designs: once for all or once for each is "
                           "expected",
                           option, words->count, question->count);
    }
    return MYR_OK;
}

/* An unknown word is told with all that are known. */
static int check_policy(const char *word, struct myr_err *err)
{
    enum myr_policy policy;
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    if (find_policy(word, &policy)) {
        return MYR_OK;
    }
    for (uint32_t i = 0; i < MYR_POLICY_COUNT; i++) {
        myr_buf_printf(&list, "%s%s", i ? ", " : "", myr_policy_names[i]);
    }
    return myr_err_set(err, MYR_EINVAL, "--lb: '%.40s' is no policy; known are %s", word,
                       list.data);
}

/* From 1 to 1,000; 0 in 'ret' where the word is none of these. */
static bool read_permille(const char *word, uint32_t *ret)
{
    uint64_t value;
    bool good = myr_str_to_u64(myr_str_from(word), &value) && value >= 1 && value <= 1000;
    *ret = good ? (uint32_t)value : 0;
    return good;
}

/* The first option that is given and that only training looks at; NULL: none. */
static const char *training_option(const struct myr_case_question *of)
{
    const struct myr_case_question none = myr_case_question_default();
    const struct {
        const char *name;
        bool given;
    } rows[] = {
        {"--layout", of->layout},
        {"--batch", of->batch},
        {"--seq", of->seq},
        {"--gpus", of->gpus},
        {"--device", of->device},
        {"--software", of->software},
        {"--recipe", of->recipe},
        {"--profile", of->profile},
        {"--tp", of->tp},
        {"--pp", of->pp},
        {"--vp", of->vp},
        {"--dp", of->dp},
        {"--cp", of->cp},
        {"--ep", of->ep},
        {"--mbs", of->micro_batch},
        {"--zero", of->zero != none.zero},
        {"--recompute", of->recompute != none.recompute},
        {"--precision", of->precision != none.precision || of->any_precision},
        {"--schedule", of->schedule != none.schedule},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        if (rows[i].given) {
            return rows[i].name;
        }
    }
    return NULL;
}

/* Before anything is read: what is wrong with the words is told at once. */
int compare_check(const struct myr_compare_question *question, struct myr_err *err)
{
    if (question->count < 2 || question->count > MYR_COMPARE_MAX) {
        int rc = myr_err_set(err, MYR_EINVAL, "two to %d designs are compared, %u %s given",
                             MYR_COMPARE_MAX, question->count, question->count == 1 ? "is" : "are");
        myr_err_hint(err, "myriad compare infiniband.yaml roce.yaml");
        return rc;
    }
    MYR_TRY(check_words(question, &question->policies, "--lb", err));
    MYR_TRY(check_words(question, &question->efficiencies, "--efficiency", err));
    /* All words are read once now, and again when they are used. */
    for (uint32_t i = 0; i < question->policies.count; i++) {
        MYR_TRY(check_policy(question->policies.items[i], err));
    }
    for (uint32_t i = 0; i < question->efficiencies.count; i++) {
        uint32_t permille;
        if (!read_permille(question->efficiencies.items[i], &permille)) {
            return myr_err_set(err, MYR_EINVAL,
                               "--efficiency is '%.40s', a whole number from 1 to 1000 is expected",
                               question->efficiencies.items[i]);
        }
    }
    /* What would be ignored in silence is refused instead. */
    const char *option = question->of.model ? NULL : training_option(&question->of);
    return option ? myr_err_set(err, MYR_EINVAL, "%s does nothing without --model", option)
                  : MYR_OK;
}

/* ---- the part that trains ---- */

/* Names the groups that there are. */
static int refuse_group(const struct myr_compare_side *side, const char *name, struct myr_err *err)
{
    const struct myr_design *design = &side->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    for (uint32_t i = 0; i < design->group_count; i++) {
        myr_buf_printf(&list, "%s%s", i ? ", " : "",
                       myr_design_str(design, design->groups[i].name));
    }
    if (design->group_count == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s: there are no groups of servers, '%.40s' is named",
                           side->file, name);
    }
    return myr_err_set(err, MYR_EINVAL,
                       "%s: no group '%.40s' is on the compute network; groups: %s", side->file,
                       name, list.data);
}

/*
 * A design with several kinds of servers, seen by a job that runs on one of them: its nodes are
 * neighbours, and the fabric stays what it is.
 */
static int take_group(struct myr_compare_side *side, const char *name, struct myr_err *err)
{
    const struct myr_design *design = &side->design;
    const struct myr_server_group *group = NULL;
    side->job = side->design;
    side->job.mapping = NULL; /* the design itself gives it back */
    /* Of one kind all servers are taken, unless a group is asked for. */
    if (!name && myr_design_one_kind(design, side->file, NULL) == MYR_OK) {
        return MYR_OK;
    }
    for (uint32_t i = 0; i < design->group_count && !group; i++) {
        const struct myr_server_group *one = &design->groups[i];
        /* Without a name the first group on the compute network. */
        bool named = !name || strcmp(name, myr_design_str(design, one->name)) == 0;
        group = named && one->networks & 1U << MYR_NET_COMPUTE ? one : NULL;
    }
    if (!group) {
        return refuse_group(side, name ? name : "", err);
    }
    side->group = myr_design_str(design, group->name);
    /* The design's head with the group's numbers: whoever simulates or fits sees a cluster of one
     * kind. */
    side->job_head = *design->head;
    side->job_head.servers = group->servers;
    side->job_head.nodes = group->nodes;
    side->job_head.gpus = group->nodes * group->gpus_per_node;
    side->job_head.gpus_per_node = group->gpus_per_node;
    side->job_head.gpu_part = group->gpu_part;
    side->job_head.server_part = group->server_part;
    side->job_head.scale_up_gpus = group->scale_up_gpus;
    side->job_head.scale_up_gbps = group->scale_up_gbps;
    side->job_head.first_node += group->first_node;
    side->job.head = &side->job_head;
    side->job.groups = NULL;
    side->job.group_count = 0;
    return MYR_OK;
}

/* ---- what its switches speak ---- */

/* That of the first switches that hosts hang on; MYR_TECH_ANY where the catalogue does not know
 * them. */
static void find_technology(struct myr_compare_side *side, const struct myr_catalog *catalog)
{
    static const enum myr_device_kind kinds[] = {MYR_DEVICE_LEAF, MYR_DEVICE_ROUTER};
    const struct myr_design *design = &side->design;
    side->technology = MYR_TECH_ANY;
    /* Leaves of tiers, or the routers of a dragonfly or torus. */
    for (uint32_t k = 0; k < MYR_ARRAY_COUNT(kinds); k++) {
        struct myr_device_range range = myr_design_range(design, kinds[k], MYR_NET_COMPUTE);
        if (range.count == 0) {
            continue;
        }
        const struct myr_devtype *type = &design->devtypes[design->device_type[range.first]];
        const char *name = myr_design_str(design, type->part);
        uint32_t part = myr_catalog_find(catalog, myr_str_from(name));
        if (part < catalog->parts.count && catalog->parts.items[part].kind == MYR_PART_SWITCH) {
            side->technology = (enum myr_technology)catalog->parts.items[part].sw.technology;
            side->technology_known = side->technology != MYR_TECH_ANY;
            return;
        }
    }
}

/* What was given, else what such switches do as they come. */
static void choose_engine(struct myr_compare_side *side,
                          const struct myr_compare_question *question, uint32_t index)
{
    const struct myr_sim_words *policies = &question->policies;
    const struct myr_sim_words *parts = &question->efficiencies;
    /* Of an unknown kind the switches count as Ethernet. */
    bool infiniband = side->technology == MYR_TECH_INFINIBAND;
    side->policy = infiniband ? MYR_POLICY_ADAPTIVE : MYR_POLICY_ECMP_CRC;
    side->efficiency_permille =
        infiniband ? header_permille(INFINIBAND_HEADERS) : header_permille(ROCE_HEADERS);
    if (policies->count) {
        bool known = find_policy(policies->items[policies->count > 1 ? index : 0], &side->policy);
        MYR_ASSERT(known); /* compare_check() has read it */
        side->policy_given = true;
    }
    if (parts->count) {
        bool known =
            read_permille(parts->items[parts->count > 1 ? index : 0], &side->efficiency_permille);
        MYR_ASSERT(known);
        side->efficiency_given = true;
    }
}

/* A finished design by its ending, else a spec, which is planned. Prices are for specs only. */
static int read_design(struct myr_compare_side *side, struct myr_arena *arena,
                       const struct myr_catalog *catalog, struct myr_price_file *prices,
                       struct myr_err *err)
{
    size_t len = strlen(side->file);
    if (len > 4 && strcmp(side->file + len - 4, ".myr") == 0) {
        return myr_design_open(&side->design, side->file, err);
    }
    MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
    MYR_TRY(myr_spec_load(arena, catalog, side->file, prices, &spec, err));
    return myr_plan(arena, catalog, &spec, &side->design, err);
}

/* Designs without a compute network have nothing that could be compared. */
int compare_look(struct myr_compare_side *side, const struct myr_catalog *catalog,
                 const struct myr_compare_question *question, uint32_t index, struct myr_err *err)
{
    const struct myr_design *design = &side->design;
    side->name = myr_design_str(design, design->head->name);
    side->currency = myr_design_str(design, design->head->currency);
    if (!design->networks[MYR_NET_COMPUTE].topology) {
        return myr_err_set(err, MYR_EINVAL, "%s: the design has no compute network to compare",
                           side->file);
    }
    /* Lines without a price decide later who may win. */
    for (uint32_t i = 0; i < design->bom_count; i++) {
        side->unpriced += design->bom[i].unit_cents < 0;
    }
    MYR_TRY(take_group(side, question->group, err));
    side->gpus = side->job.head->gpus;
    find_technology(side, catalog);
    choose_engine(side, question, index);
    return MYR_OK;
}

int compare_open(struct myr_compare_side *side, struct myr_arena *arena,
                 const struct myr_catalog *catalog, const struct myr_compare_question *question,
                 struct myr_price_file *prices, uint32_t index, struct myr_err *err)
{
    side->file = question->files[index];
    MYR_TRY(read_design(side, arena, catalog, prices, err));
    return compare_look(side, catalog, question, index, err);
}
