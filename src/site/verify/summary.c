#include "myriad/text.h"
#include "verify/verify.h"

/* What people read first: states, mistakes by name, the repair, and what else was noticed. */

static void put_states(const struct myr_verify *verify, struct myr_buf *buf)
{
    static const char *const meanings[MYR_STATE_COUNT] = {
        [MYR_STATE_RIGHT] = "the planned neighbour",
        [MYR_STATE_WRONG] = "another neighbour",
        [MYR_STATE_MISSING] = "no neighbour",
        [MYR_STATE_UNSEEN] = "nobody looked",
        [MYR_STATE_EXTRA] = "a neighbour where none is planned",
        [MYR_STATE_DEGRADED] = "the planned neighbour, but slow or with errors",
    };
    for (uint32_t state = MYR_STATE_RIGHT; state < MYR_STATE_COUNT; state++) {
        char digits[32];
        myr_buf_printf(buf, "  %-9s %11s  %s\n", myr_port_state_names[state],
                       myr_u64_grouped(verify->counts[state], digits), meanings[state]);
    }
}

static void put_patterns(const struct myr_verify *verify, struct myr_buf *buf)
{
    if (verify->pattern_count == 0) {
        return;
    }
    myr_buf_put_lit(buf, "\nPatterns\n");
    for (uint32_t i = 0; i < verify->pattern_count; i++) {
        const struct myr_pattern *pattern = &verify->patterns[i];
        myr_buf_printf(buf, "  %s: %.*s (%u ports)\n", myr_pattern_kind_names[pattern->kind],
                       (int)pattern->where.len, pattern->where.data, pattern->ports);
    }
}

static void put_numbers(const struct myr_repair *repair, struct myr_buf *buf)
{
    myr_buf_printf(buf, "%u %s", repair->moves, repair->moves == 1 ? "move" : "moves");
    if (repair->adds) {
        myr_buf_printf(buf, ", %u new %s", repair->adds, repair->adds == 1 ? "cable" : "cables");
    }
    if (repair->removes) {
        myr_buf_printf(buf, ", %u to take out", repair->removes);
    }
    if (repair->exact) {
        myr_buf_put_lit(buf, "; nothing shorter exists");
    } else {
        myr_buf_printf(buf, "; at least %u moves", repair->lower_bound);
    }
}

/* Links that are in their place, but not as they should be. */
static void put_degraded(const struct myr_verify *verify, struct myr_buf *buf)
{
    if (verify->counts[MYR_STATE_DEGRADED] == 0) {
        return;
    }
    myr_buf_put_lit(buf, "\nDegraded\n");
    for (uint32_t p = 0; p < verify->design->port_count; p++) {
        if (verify->state[p] != MYR_STATE_DEGRADED || verify->found[p] < p) {
            continue;
        }
        const struct myr_cabling_link *link = &verify->cabling->links.items[verify->found_link[p]];
        uint32_t planned = verify_planned_gbps(verify->design, p);
        myr_buf_put_lit(buf, "  ");
        myr_verify_port_name(verify, p, buf);
        myr_buf_put_lit(buf, " - ");
        myr_verify_port_name(verify, verify->found[p], buf);
        if (link->gbps && link->gbps < planned) {
            myr_buf_printf(buf, ": %u of %u Gb/s", link->gbps, planned);
        } else {
            myr_buf_put_lit(buf, ": errors");
        }
        myr_buf_putc(buf, '\n');
    }
}

static void put_choices(const struct myr_verify *verify, struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "\nRepair\n  as labelled    ");
    put_numbers(&verify->labelled, buf);
    myr_buf_put_lit(buf, "\n  as equivalent  ");
    put_numbers(&verify->equivalent, buf);
    myr_buf_printf(buf, "\n  relabel        %u links and %u devices of the plan, then %u %s\n",
                   verify->relabel_links, verify->relabel_devices, verify->relabel_moves,
                   verify->relabel_moves == 1 ? "move" : "moves");
}

static void put_steps(const struct myr_verify *verify, struct myr_buf *buf)
{
    const struct myr_repair *repair = &verify->repair;
    myr_buf_printf(buf, "\nSteps, %s, in walking order\n",
                   verify->options.equivalent ? "as equivalent" : "as labelled");
    for (uint32_t i = 0; i < repair->step_count; i++) {
        bool follows = i > 0 && repair->steps[i].component == repair->steps[i - 1].component;
        myr_buf_printf(buf, "%6u  %s", i + 1, follows ? "then " : "");
        myr_verify_step_text(verify, &repair->steps[i], buf);
        myr_buf_putc(buf, '\n');
    }
}

static void put_note(struct myr_buf *buf, uint32_t count, const char *text)
{
    if (count) {
        myr_buf_printf(buf, "  %u %s\n", count, text);
    }
}

static void put_identities(const struct myr_verify *verify, struct myr_buf *buf)
{
    put_note(buf, verify->identity_count, "devices told by their cables: their names say nothing");
    for (uint32_t i = 0; i < verify->ambiguity_count; i++) {
        const struct myr_ambiguity *row = &verify->ambiguities[i];
        myr_buf_printf(buf, "  %u devices look like %u places of the design, such as ",
                       row->found_count, row->design_count);
        myr_design_name(verify->design, verify->design->port_device[row->first_port], buf);
        myr_buf_putc(buf, '\n');
    }
    for (uint32_t d = 0; verify->relabel_devices && d < verify->design->device_count; d++) {
        if (verify->renames[d] != MYR_NONE) {
            myr_buf_put_lit(buf, "  ");
            myr_design_name(verify->design, d, buf);
            myr_buf_put_lit(buf, " has the cables of ");
            myr_design_name(verify->design, verify->renames[d], buf);
            myr_buf_putc(buf, '\n');
        }
    }
}

static void put_notes(const struct myr_verify *verify, struct myr_buf *buf)
{
    size_t start = buf->len;
    myr_buf_put_lit(buf, "\nNotes\n");
    size_t head = buf->len;
    put_identities(verify, buf);
    put_note(buf, verify->outside_links, "links of other networks or devices: not judged");
    put_note(buf, verify->one_sided_links, "links told by one end only");
    put_note(buf, verify->contradicted, "neighbours told by one end and denied by the other");
    put_note(buf, verify->name_conflicts, "devices whose name another device has or is bound to");
    if (verify->slow_planned_gbps) {
        myr_buf_printf(buf,
                       "  all links planned at %u Gb/s are told at %u Gb/s: not called degraded "
                       "(--speed-map)\n",
                       verify->slow_planned_gbps, verify->slow_found_gbps);
    }
    if (buf->len == head) {
        buf->len = start;
        buf->data[start] = '\0';
    }
}

void myr_verify_write_summary(const struct myr_verify *verify, struct myr_buf *buf)
{
    const char *name = myr_design_str(verify->design, verify->design->head->name);
    bool unseen = verify->counts[MYR_STATE_UNSEEN] > 0;
    myr_buf_printf(buf, "%s: %s\n\nPorts\n", name,
                   !myr_verify_clean(verify) ? "not as planned"
                   : unseen                  ? "what was seen is as planned"
                                             : "as planned");
    put_states(verify, buf);
    put_patterns(verify, buf);
    put_degraded(verify, buf);
    if (verify->labelled.components) {
        put_choices(verify, buf);
    }
    put_notes(verify, buf);
    if (verify->repair.step_count) {
        put_steps(verify, buf);
    }
}
