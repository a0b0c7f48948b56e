#include "myriad/text.h"
#include "verify/verify.h"

/* What verify found, as a tree for programs. */

/* Clears the text for the next one. */
static void put_buf(struct myr_answer *answer, const char *key, struct myr_buf *scratch)
{
    myr_answer_str(answer, key, (struct myr_str){scratch->len ? scratch->data : "", scratch->len});
    myr_buf_clear(scratch);
}

/* Device and port of an end, both null where there is none. */
static void put_end(const struct myr_verify *verify, struct myr_answer *answer,
                    const char *device_key, const char *port_key, uint32_t vertex)
{
    const struct myr_design *design = verify->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    /* Both keys are always there. */
    if (vertex == MYR_NONE) {
        myr_answer_null(answer, device_key);
        myr_answer_null(answer, port_key);
    } else if (verify_is_foreign(verify, vertex)) {
        /* As the source names it: the design has no name for it. */
        struct myr_cabling_end end = verify->foreign[vertex - design->port_count];
        verify_found_name(verify, end.device, &scratch);
        put_buf(answer, device_key, &scratch);
        myr_answer_str(answer, port_key, end.port);
    } else {
        myr_design_name(design, design->port_device[vertex], &scratch);
        put_buf(answer, device_key, &scratch);
        myr_design_port_name(design, vertex, &scratch);
        put_buf(answer, port_key, &scratch);
    }
}

/* Numbers of steps and chains count from 1, as people do. */
static const struct myr_value *put_steps(const struct myr_verify *verify, struct myr_answer *answer)
{
    const struct myr_value *steps = myr_answer_list(answer, "steps");
    for (uint32_t i = 0; i < verify->repair.step_count; i++) {
        const struct myr_repair_step *step = &verify->repair.steps[i];
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "step", i + 1);
        myr_answer_u64(answer, "component", step->component + 1);
        myr_answer_text(answer, "do", myr_repair_op_names[step->op]);
        /* Where hands are needed, then where the cables lead. */
        put_end(verify, answer, "at_device", "at_port", step->at);
        put_end(verify, answer, "to_device", "to_port", step->to);
        put_end(verify, answer, "other_end_at_device", "other_end_at_port", step->far_at);
        put_end(verify, answer, "other_end_to_device", "other_end_to_port", step->far_to);
        myr_answer_bool(answer, "check_first", step->unseen);
        myr_answer_u64(answer, "legs", step->legs ? step->legs : 1);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return steps;
}

static void put_numbers(struct myr_answer *answer, const struct myr_repair *repair)
{
    myr_answer_u64(answer, "moves", repair->moves);
    myr_answer_u64(answer, "adds", repair->adds);
    myr_answer_u64(answer, "removes", repair->removes);
    myr_answer_u64(answer, "lower_bound", repair->lower_bound);
    myr_answer_bool(answer, "exact", repair->exact);
}

/* The other ways to put it right, beside the one that was asked for. */
static void put_choices(const struct myr_verify *verify, struct myr_answer *answer)
{
    myr_answer_object(answer, "labelled");
    put_numbers(answer, &verify->labelled);
    myr_answer_end(answer);
    myr_answer_object(answer, "equivalent");
    put_numbers(answer, &verify->equivalent);
    myr_answer_end(answer);
    /* Labels and names first, then so many moves. */
    myr_answer_object(answer, "relabel");
    myr_answer_u64(answer, "links", verify->relabel_links);
    myr_answer_u64(answer, "devices", verify->relabel_devices + verify->renamed_count);
    myr_answer_u64(answer, "moves", verify->relabel_moves);
    myr_answer_end(answer);
}

static const struct myr_value *put_patterns(const struct myr_verify *verify,
                                            struct myr_answer *answer)
{
    const struct myr_value *patterns = myr_answer_list(answer, "patterns");
    for (uint32_t i = 0; i < verify->pattern_count; i++) {
        const struct myr_pattern *pattern = &verify->patterns[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "kind", myr_pattern_kind_names[pattern->kind]);
        myr_answer_str(answer, "where", pattern->where);
        myr_answer_u64(answer, "ports", pattern->ports);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return patterns;
}

/* The place of a found device: a whole device, or one port of a host. */
static void put_place(const struct myr_verify *verify, uint32_t found, uint32_t first_port,
                      struct myr_buf *buf)
{
    const struct myr_design *design = verify->design;
    /* InfiniBand's devices are single NICs: which port of the node is told too. */
    bool nic = verify->cabling->numbered && !verify->cabling->devices.items[found].is_switch;
    myr_design_name(design, design->port_device[first_port], buf);
    if (nic) {
        myr_buf_putc(buf, ' ');
        myr_design_port_name(design, first_port, buf);
    }
}

/* One found device and one place stand for each class. */
static void put_ambiguous(const struct myr_verify *verify, struct myr_answer *answer)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    myr_answer_list(answer, "ambiguous");
    for (uint32_t i = 0; i < verify->ambiguity_count; i++) {
        const struct myr_ambiguity *row = &verify->ambiguities[i];
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "found_devices", row->found_count);
        myr_answer_u64(answer, "places", row->design_count);
        verify_found_label(verify, row->found, &scratch);
        put_buf(answer, "such_as", &scratch);
        put_place(verify, row->found, row->first_port, &scratch);
        put_buf(answer, "may_be", &scratch);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

void verify_put_assumed(const struct myr_verify *verify, struct myr_answer *answer)
{
    const struct myr_design *design = verify->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    myr_answer_list(answer, "assumed");
    for (uint32_t i = 0; i < verify->assumed_count; i++) {
        const struct myr_assumed *row = &verify->assumed[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "type", myr_design_str(design, design->devtypes[row->type].part));
        myr_answer_str(answer, "name", row->name);
        verify_assumed_port(verify, row, &scratch);
        put_buf(answer, "port", &scratch);
        myr_answer_u64(answer, "agreed", row->votes);
        myr_answer_u64(answer, "hosts", row->voters);
        myr_answer_bool(answer, "against_order", row->against_order);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* What hosts call their ports, where it was taken for granted, and who says otherwise. */
static void put_assumed(const struct myr_verify *verify, struct myr_answer *answer)
{
    const struct myr_design *design = verify->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    verify_put_assumed(verify, answer);
    myr_answer_list(answer, "deviating");
    for (uint32_t i = 0; i < verify->deviating_count; i++) {
        myr_design_name(design, verify->deviating[i], &scratch);
        put_buf(answer, NULL, &scratch);
    }
    myr_answer_end(answer);
}

/*
 * What cables told, what they could not tell, what was taken for granted, and who should be
 * renamed.
 */
static void put_identity(const struct myr_verify *verify, struct myr_answer *answer)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    myr_answer_object(answer, "identity");
    myr_answer_list(answer, "recovered");
    for (uint32_t i = 0; i < verify->identity_count; i++) {
        const struct myr_identity *row = &verify->identities[i];
        myr_answer_object(answer, NULL);
        verify_found_label(verify, row->found, &scratch);
        put_buf(answer, "found", &scratch);
        put_place(verify, row->found, row->first_port, &scratch);
        put_buf(answer, "is", &scratch);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    put_ambiguous(verify, answer);
    put_assumed(verify, answer);
    myr_answer_list(answer, "renamed");
    for (uint32_t i = 0; i < verify->renamed_count; i++) {
        myr_answer_object(answer, NULL);
        if (verify->renamed[i].called != MYR_NONE) {
            myr_design_name(verify->design, verify->renamed[i].called, &scratch);
        } else {
            verify_host_name(verify, verify->renamed[i].found, &scratch);
        }
        put_buf(answer, "called", &scratch);
        myr_design_name(verify->design, verify->renamed[i].is, &scratch);
        put_buf(answer, "is", &scratch);
        myr_answer_end(answer);
    }
    /* Only where whole devices have each other's cables. */
    for (uint32_t d = 0; verify->relabel_devices && d < verify->design->device_count; d++) {
        if (verify->renames[d] != MYR_NONE) {
            myr_answer_object(answer, NULL);
            myr_design_name(verify->design, d, &scratch);
            put_buf(answer, "called", &scratch);
            myr_design_name(verify->design, verify->renames[d], &scratch);
            put_buf(answer, "is", &scratch);
            myr_answer_end(answer);
        }
    }
    myr_answer_end(answer);
    myr_answer_list(answer, "replaced");
    for (uint32_t i = 0; i < verify->replaced_count; i++) {
        myr_answer_object(answer, NULL);
        verify_found_label(verify, verify->replaced[i].found, &scratch);
        put_buf(answer, "found", &scratch);
        myr_design_name(verify->design, verify->replaced[i].device, &scratch);
        put_buf(answer, "at", &scratch);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}

/* Counts without a list: they need no action by themselves. */
static void put_notes(const struct myr_verify *verify, struct myr_answer *answer)
{
    myr_answer_object(answer, "notes");
    myr_answer_u64(answer, "outside_links", verify->outside_links);
    myr_answer_u64(answer, "one_sided_links", verify->one_sided_links);
    myr_answer_u64(answer, "contradicted", verify->contradicted);
    myr_answer_u64(answer, "name_conflicts", verify->name_conflicts);
    myr_answer_u64(answer, "slow_planned_gbps", verify->slow_planned_gbps);
    myr_answer_u64(answer, "slow_found_gbps", verify->slow_found_gbps);
    myr_answer_u64(answer, "slow_links", verify->slow_links);
    myr_answer_u64(answer, "narrow_planned_lanes", verify->narrow_planned);
    myr_answer_u64(answer, "narrow_found_lanes", verify->narrow_found);
    myr_answer_u64(answer, "narrow_links", verify->narrow_links);
    myr_answer_u64(answer, "rogue_links", verify->rogue_links);
    myr_answer_end(answer);
}

static void put_ready(struct myr_answer *answer, const struct myr_ready *row)
{
    myr_answer_u64(answer, "cables", row->cables);
    myr_answer_u64(answer, "right", row->right);
    myr_answer_u64(answer, "not_as_planned", row->bad);
    myr_answer_u64(answer, "unread", row->unread);
    myr_answer_u64(answer, "unseen", row->unseen);
}

/* Racks there may be thousands of: those that are ready are not worth a row. */
static void put_coverage(const struct myr_verify *verify, struct myr_answer *answer)
{
    const struct myr_coverage *cover = &verify->coverage;
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    myr_answer_object(answer, "coverage");
    /* The whole first, then by layer, pod and rack. */
    put_ready(answer, &cover->all);
    myr_answer_list(answer, "layers");
    for (uint32_t i = 0; i < cover->layer_count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "layer", myr_layer_names[cover->layers[i].key]);
        put_ready(answer, &cover->layers[i]);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_list(answer, "pods");
    for (uint32_t i = 0; i < cover->pod_count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "pod", cover->pods[i].key);
        put_ready(answer, &cover->pods[i]);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_list(answer, "racks_not_ready");
    for (uint32_t i = 0; i < cover->rack_count; i++) {
        if (cover->racks[i].right < cover->racks[i].cables) {
            myr_answer_object(answer, NULL);
            myr_answer_u64(answer, "rack", cover->racks[i].key);
            myr_design_rack_name(verify->design, cover->racks[i].key, &scratch);
            put_buf(answer, "name", &scratch);
            put_ready(answer, &cover->racks[i]);
            myr_answer_end(answer);
        }
    }
    myr_answer_end(answer);
    myr_answer_list(answer, "absent");
    for (uint32_t i = 0; i < cover->absent_count; i++) {
        myr_design_name(verify->design, cover->absent[i], &scratch);
        put_buf(answer, NULL, &scratch);
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}

/* As the source names them: the design has no name for these. */
static const struct myr_value *put_unread(const struct myr_verify *verify,
                                          struct myr_answer *answer)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    const struct myr_value *list = myr_answer_list(answer, "unread");
    for (uint32_t i = 0; i < verify->unread_count; i++) {
        myr_answer_object(answer, NULL);
        verify_found_name(verify, verify->unread[i].device, &scratch);
        put_buf(answer, "found_device", &scratch);
        myr_answer_str(answer, "found_port", verify->unread[i].port);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* What sources said of links in their places, and nobody understood. */
static void put_words(const struct myr_verify *verify, struct myr_answer *answer)
{
    myr_answer_list(answer, "unread_words");
    for (uint32_t i = 0; i < verify->word_count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "field", myr_link_fact_names[verify->words[i].fact]);
        myr_answer_str(answer, "word", verify->words[i].text);
        myr_answer_u64(answer, "links", verify->words[i].links);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* "speed", "errors fec": what is the matter with a degraded link. */
static void put_why(const struct myr_verify *verify, struct myr_answer *answer, uint32_t port)
{
    static const char *const names[MYR_WHYS] = {"speed",  "errors", "ber",  "fec",
                                                "medium", "dirty",  "light"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t w = 0; w < MYR_WHYS; w++) {
        /* Other states have their reason in their name. */
        if (verify->state[port] == MYR_STATE_DEGRADED && verify->why[port] >> w & 1) {
            myr_buf_printf(&text, "%s%s", text.len ? " " : "", names[w]);
        }
    }
    if (text.len) {
        put_buf(answer, "why", &text);
    } else {
        myr_answer_null(answer, "why");
    }
}

/* Every port that is not right; there may be hundreds of thousands, so only when asked for. */
static const struct myr_value *put_ports(const struct myr_verify *verify, struct myr_answer *answer,
                                         bool wanted)
{
    if (!wanted) {
        myr_answer_null(answer, "port_list");
        return NULL;
    }
    const struct myr_value *ports = myr_answer_list(answer, "port_list");
    for (uint32_t p = 0; p < verify->design->port_count; p++) {
        /* Ports that are right, or have nothing to do, are not worth a row. */
        if (verify->state[p] == MYR_STATE_IDLE || verify->state[p] == MYR_STATE_RIGHT) {
            continue;
        }
        myr_answer_object(answer, NULL);
        put_end(verify, answer, "device", "port", p);
        myr_answer_text(answer, "state", myr_port_state_names[verify->state[p]]);
        put_why(verify, answer, p);
        put_end(verify, answer, "planned_device", "planned_port", verify->plan[p]);
        put_end(verify, answer, "found_device", "found_port", verify->found[p]);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return ports;
}

/* Every key is always there, so that programs need not ask. */
void myr_verify_answer(const struct myr_verify *verify, bool with_ports, struct myr_answer *answer,
                       struct myr_verify_lists *ret)
{
    myr_answer_text(answer, "design", myr_design_str(verify->design, verify->design->head->name));
    myr_answer_bool(answer, "clean", myr_verify_clean(verify));
    myr_answer_text(answer, "mode", verify->options.equivalent ? "equivalent" : "labelled");
    myr_answer_object(answer, "ports");
    /* Idle ports are not counted: they are none of the plan's. */
    for (uint32_t state = MYR_STATE_RIGHT; state < MYR_STATE_COUNT; state++) {
        myr_answer_u64(answer, myr_port_state_names[state], verify->counts[state]);
    }
    myr_answer_end(answer);
    myr_answer_object(answer, "repair");
    put_numbers(answer, &verify->repair);
    put_choices(verify, answer);
    ret->lists[MYR_VERIFY_STEPS] = put_steps(verify, answer);
    myr_answer_end(answer);
    ret->lists[MYR_VERIFY_PATTERNS] = put_patterns(verify, answer);
    put_coverage(verify, answer);
    ret->lists[MYR_VERIFY_UNREAD] = put_unread(verify, answer);
    put_words(verify, answer);
    put_identity(verify, answer);
    put_notes(verify, answer);
    ret->lists[MYR_VERIFY_PORTS] = put_ports(verify, answer, with_ports);
}
