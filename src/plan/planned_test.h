/* A plan from a text, for the unit tests of what is made of plans; behind cmocka.h. */
#pragma once

#include "myriad/plan.h"

struct planned {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
    struct myr_design design;
    struct myr_answer answer; /* its tree */
    struct myr_err err;
};

/* The spec alone: optimise plans by itself. */
static inline void planned_read(struct planned *p, const char *text)
{
    const struct myr_doc *doc;
    *p = (struct planned){};
    myr_arena_init(&p->arena);
    assert_int_equal(myr_catalog_init(&p->catalog, &p->arena, &p->err), MYR_OK);
    if (myr_doc_read_yaml(&p->arena, "test.yaml", myr_str_from(text), &doc, &p->err) < 0 ||
        myr_spec_read(&p->arena, &p->catalog, doc, &p->spec, &p->err) < 0) {
        fail_msg("%s", p->err.message);
    }
}

static inline void planned_begin(struct planned *p, const char *text)
{
    planned_read(p, text);
    if (myr_plan(&p->arena, &p->catalog, &p->spec, &p->design, &p->err) < 0) {
        fail_msg("%s", p->err.message);
    }
    myr_answer_init(&p->answer, &p->arena, "myriad.plan", 1);
    (void)myr_plan_answer(&p->design, &p->answer);
}

static inline void planned_end(struct planned *p)
{
    myr_spec_done(&p->spec);
    myr_catalog_done(&p->catalog);
    myr_arena_done(&p->arena);
}

static inline double planned_number(const struct planned *p, const char *path)
{
    double number = 0;
    const struct myr_value *value = myr_value_get(&p->answer.root, path);
    if (!value || value->kind != MYR_VALUE_NUMBER || !myr_str_to_double(value->text, &number)) {
        fail_msg("%s is no number", path);
    }
    return number;
}

static inline const struct myr_finding *planned_finding(const struct planned *p, const char *rule)
{
    for (uint32_t i = 0; i < p->design.finding_count; i++) {
        if (strcmp(myr_design_str(&p->design, p->design.findings[i].rule), rule) == 0) {
            return &p->design.findings[i];
        }
    }
    return NULL;
}

/* A value of the answer with all below it, a line each: "power.it_kw: 12". */
static inline void planned_tell(const struct myr_value *value, const char *path,
                                struct myr_buf *told)
{
    uint32_t index = 0;
    if (value->kind != MYR_VALUE_LIST && value->kind != MYR_VALUE_OBJECT) {
        myr_buf_printf(told, "  %s: %.*s\n", path,
                       value->kind == MYR_VALUE_NULL ? 4 : (int)value->text.len,
                       value->kind == MYR_VALUE_NULL ? "null" : value->text.data);
        return;
    }
    for (const struct myr_value *child = value->first; child; child = child->next) {
        struct myr_buf next = {};
        if (child->key) {
            myr_buf_printf(&next, "%s.%s", path, child->key);
        } else {
            myr_buf_printf(&next, "%s.%u", path, index++);
        }
        planned_tell(child, next.data, told);
        myr_buf_done(&next);
    }
}

/* Its findings, but for what has no price. */
static inline void planned_tell_findings(const struct planned *p, struct myr_buf *told)
{
    for (uint32_t i = 0; i < p->design.finding_count; i++) {
        const struct myr_finding *finding = &p->design.findings[i];
        const char *rule = myr_design_str(&p->design, finding->rule);
        if (strcmp(rule, "unpriced") != 0) {
            myr_buf_printf(told, "  %u%s %s, %s: %s (%s)\n", finding->severity,
                           finding->accepted ? " accepted" : "", rule,
                           myr_design_str(&p->design, finding->where),
                           myr_design_str(&p->design, finding->message),
                           myr_design_str(&p->design, finding->remedy));
        }
    }
}
