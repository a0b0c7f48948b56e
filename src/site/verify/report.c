#include "myriad/text.h"
#include "verify/verify.h"

static void json_port(const struct myr_verify *verify, struct myr_json *json, const char *key,
                      uint32_t vertex, struct myr_buf *scratch)
{
    if (vertex == MYR_NONE) {
        myr_json_null(json, key);
        return;
    }
    myr_buf_clear(scratch);
    myr_verify_port_name(verify, vertex, scratch);
    myr_json_str(json, key, (struct myr_str){scratch->data, scratch->len});
}

static void json_steps(const struct myr_verify *verify, struct myr_json *json)
{
    struct myr_buf scratch = {0};
    myr_json_list(json, "steps");
    for (uint32_t i = 0; i < verify->repair.step_count; i++) {
        const struct myr_repair_step *step = &verify->repair.steps[i];
        myr_json_object(json, NULL);
        myr_json_u64(json, "step", i + 1);
        myr_json_u64(json, "component", step->component + 1);
        myr_json_text(json, "do", myr_repair_op_names[step->op]);
        json_port(verify, json, "at", step->at, &scratch);
        json_port(verify, json, "to", step->to, &scratch);
        json_port(verify, json, "other_end_at", step->far_at, &scratch);
        json_port(verify, json, "other_end_to", step->far_to, &scratch);
        myr_json_bool(json, "check_first", step->unseen);
        myr_json_end(json);
    }
    myr_json_end(json);
    myr_buf_done(&scratch);
}

static void json_repair_numbers(struct myr_json *json, const struct myr_repair *repair)
{
    myr_json_u64(json, "moves", repair->moves);
    myr_json_u64(json, "adds", repair->adds);
    myr_json_u64(json, "removes", repair->removes);
    myr_json_u64(json, "lower_bound", repair->lower_bound);
    myr_json_bool(json, "exact", repair->exact);
}

static void json_options(const struct myr_verify *verify, struct myr_json *json)
{
    myr_json_object(json, "labelled");
    json_repair_numbers(json, &verify->labelled);
    myr_json_end(json);
    myr_json_object(json, "equivalent");
    json_repair_numbers(json, &verify->equivalent);
    myr_json_end(json);
    myr_json_object(json, "relabel");
    myr_json_u64(json, "links", verify->relabel_links);
    myr_json_u64(json, "devices", verify->relabel_devices);
    myr_json_u64(json, "moves", verify->relabel_moves);
    myr_json_end(json);
}

static void json_patterns(const struct myr_verify *verify, struct myr_json *json)
{
    myr_json_list(json, "patterns");
    for (uint32_t i = 0; i < verify->pattern_count; i++) {
        const struct myr_pattern *pattern = &verify->patterns[i];
        myr_json_object(json, NULL);
        myr_json_text(json, "kind", myr_pattern_kind_names[pattern->kind]);
        myr_json_str(json, "where", pattern->where);
        myr_json_u64(json, "ports", pattern->ports);
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void put_found_name(const struct myr_verify *verify, uint32_t found, struct myr_buf *buf)
{
    const struct myr_cabling_device *device = &verify->cabling->devices.items[found];
    myr_buf_put(buf, device->name.data, device->name.len);
    if (device->guid) {
        myr_buf_printf(buf, "%s0x%016llx", device->name.len ? " " : "",
                       (unsigned long long)device->guid);
    }
}

/* The place of a found device: a whole device, or one port of a host. */
static void put_place(const struct myr_verify *verify, uint32_t found, uint32_t first_port,
                      struct myr_buf *buf)
{
    const struct myr_design *design = verify->design;
    bool nic = verify->cabling->numbered && !verify->cabling->devices.items[found].is_switch;
    myr_design_name(design, design->port_device[first_port], buf);
    if (nic) {
        myr_buf_putc(buf, ' ');
        myr_design_port_name(design, first_port, buf);
    }
}

static void json_scratch(struct myr_json *json, const char *key, struct myr_buf *scratch)
{
    myr_json_str(json, key, (struct myr_str){scratch->data, scratch->len});
    myr_buf_clear(scratch);
}

static void json_identity(const struct myr_verify *verify, struct myr_json *json)
{
    struct myr_buf scratch = {0};
    myr_json_object(json, "identity");
    myr_json_list(json, "recovered");
    for (uint32_t i = 0; i < verify->identity_count; i++) {
        const struct myr_identity *row = &verify->identities[i];
        myr_json_object(json, NULL);
        put_found_name(verify, row->found, &scratch);
        json_scratch(json, "found", &scratch);
        put_place(verify, row->found, row->first_port, &scratch);
        json_scratch(json, "is", &scratch);
        myr_json_end(json);
    }
    myr_json_end(json);
    myr_json_list(json, "ambiguous");
    for (uint32_t i = 0; i < verify->ambiguity_count; i++) {
        const struct myr_ambiguity *row = &verify->ambiguities[i];
        myr_json_object(json, NULL);
        myr_json_u64(json, "found_devices", row->found_count);
        myr_json_u64(json, "places", row->design_count);
        put_found_name(verify, row->found, &scratch);
        json_scratch(json, "such_as", &scratch);
        put_place(verify, row->found, row->first_port, &scratch);
        json_scratch(json, "may_be", &scratch);
        myr_json_end(json);
    }
    myr_json_end(json);
    myr_json_list(json, "renamed");
    for (uint32_t d = 0; verify->relabel_devices && d < verify->design->device_count; d++) {
        if (verify->renames[d] != MYR_NONE) {
            myr_json_object(json, NULL);
            myr_design_name(verify->design, d, &scratch);
            json_scratch(json, "called", &scratch);
            myr_design_name(verify->design, verify->renames[d], &scratch);
            json_scratch(json, "is", &scratch);
            myr_json_end(json);
        }
    }
    myr_json_end(json);
    myr_json_end(json);
    myr_buf_done(&scratch);
}

static void json_notes(const struct myr_verify *verify, struct myr_json *json)
{
    myr_json_object(json, "notes");
    myr_json_u64(json, "outside_links", verify->outside_links);
    myr_json_u64(json, "one_sided_links", verify->one_sided_links);
    myr_json_u64(json, "contradicted", verify->contradicted);
    myr_json_u64(json, "name_conflicts", verify->name_conflicts);
    myr_json_u64(json, "slow_planned_gbps", verify->slow_planned_gbps);
    myr_json_u64(json, "slow_found_gbps", verify->slow_found_gbps);
    myr_json_end(json);
}

void myr_verify_write_json(const struct myr_verify *verify, struct myr_buf *buf)
{
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "design", myr_design_str(verify->design, verify->design->head->name));
    myr_json_bool(&json, "clean", myr_verify_clean(verify));
    myr_json_text(&json, "mode", verify->options.equivalent ? "equivalent" : "labelled");
    myr_json_object(&json, "ports");
    for (uint32_t state = MYR_STATE_RIGHT; state < MYR_STATE_COUNT; state++) {
        myr_json_u64(&json, myr_port_state_names[state], verify->counts[state]);
    }
    myr_json_end(&json);
    myr_json_object(&json, "repair");
    json_repair_numbers(&json, &verify->repair);
    json_options(verify, &json);
    json_steps(verify, &json);
    myr_json_end(&json);
    json_patterns(verify, &json);
    json_identity(verify, &json);
    json_notes(verify, &json);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}
