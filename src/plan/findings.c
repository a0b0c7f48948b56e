#include <stdarg.h>
#include <stdio.h>

#include "plan_internal.h"

/*
 * Findings: what can be built but breaks a rule of good practice. Every step of the planner may add
 * some; the spec may accept them by the name of their rule.
 */

const char *const plan_severity_names[] = {"info", "warning", "error"};

/* Every text is stored once, so two offsets are equal when the texts are. Findings rely on it. */
uint32_t plan_string(struct plan *plan, const char *text)
{
    struct myr_str key = myr_str_from(text);
    uint32_t known = myr_strmap_get(&plan->string_index, key);
    if (known != MYR_MAP_NONE) {
        return known;
    }
    uint32_t offset = (uint32_t)plan->strings.len;
    /* The buffer moves when it grows: the index needs a copy of its own. */
    key.data = myr_arena_strndup(plan->arena, key.data, key.len);
    myr_strmap_add(&plan->string_index, key, offset);
    myr_buf_put(&plan->strings, text, key.len);
    myr_buf_putc(&plan->strings, '\0');
    return offset;
}

/* By the whole name of the rule. */
static bool accepted(const struct plan *plan, const char *rule)
{
    for (size_t i = 0; i < plan->spec->accept.count; i++) {
        if (strcmp(plan->spec->accept.items[i], rule) == 0) {
            return true;
        }
    }
    return false;
}

/* Told once for the same rule, place and message. */
void plan_finding(struct plan *plan, enum myr_severity severity, const char *rule,
                  const char *where, const char *remedy, const char *fmt, ...)
{
    /* Longer messages are cut, not refused. */
    char message[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    struct myr_finding finding = {
        .rule = plan_string(plan, rule),
        .where = plan_string(plan, where),
        .message = plan_string(plan, message),
        .remedy = plan_string(plan, remedy),
        .severity = (uint8_t)severity,
        .accepted = accepted(plan, rule),
    };
    for (size_t i = 0; i < plan->findings.count; i++) {
        const struct myr_finding *old = &plan->findings.items[i];
        if (old->rule == finding.rule && old->where == finding.where &&
            old->message == finding.message) {
            return; /* the same part may be met twice */
        }
    }
    myr_vec_push(&plan->findings, finding);
}

/*
 * Names in 'accept' that nothing answers to are most likely typing errors. Called when all other
 * steps have said what they found.
 */
void plan_check_accepts(struct plan *plan)
{
    for (size_t i = 0; i < plan->spec->accept.count; i++) {
        const char *name = plan->spec->accept.items[i];
        bool met = false;
        for (size_t k = 0; k < plan->findings.count; k++) {
            met = met || strcmp(plan->strings.data + plan->findings.items[k].rule, name) == 0;
        }
        if (!met) {
            plan_finding(plan, MYR_SEVERITY_INFO, "accept-unused", name,
                         "remove it from 'accept' or mend the name",
                         "the spec accepts '%s', but there is no such finding", name);
        }
    }
}

/* Accepted errors stay in the plan, but are not open any more. */
uint32_t myr_plan_open_errors(const struct myr_design *design)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < design->finding_count; i++) {
        open += design->findings[i].severity == MYR_SEVERITY_ERROR && !design->findings[i].accepted;
    }
    return open;
}

/* The design's own arrays are in the arena and stay. */
void plan_release(struct plan *plan)
{
    myr_buf_done(&plan->strings);
    myr_strmap_done(&plan->string_index);
    myr_vec_done(&plan->devtypes);
    myr_vec_done(&plan->cabletypes);
    myr_vec_done(&plan->cards);
    myr_vec_done(&plan->bom);
    myr_vec_done(&plan->bom_more);
    myr_vec_done(&plan->bom_prices);
    myr_vec_done(&plan->bom_parts);
    myr_vec_done(&plan->findings);
    myr_vec_done(&plan->figures);
}
