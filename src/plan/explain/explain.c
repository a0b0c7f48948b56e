#include "myriad/plan/explain.h"

#include <stdio.h>

#include "explain/rules.h"
#include "explain/tree.h"
#include "figures/figures.h"
#include "plan_internal.h"
#include "report/report.h"

/*
 * Paths, rules and inputs of the numbers of a plan, all read from its own tree. Three places know
 * rules: figures of the design, lines of its bill, and the table in rules.c for all that is
 * counted. Inputs are paths again where they can be, so that one can go on asking.
 */

enum { PATH_BYTES = 256 };

/* MYR_NONE: no number, or too many digits for one. */
static uint32_t index_of(const char *word, size_t len)
{
    uint64_t index;
    return len < 10 && myr_str_to_u64((struct myr_str){word, len}, &index) ? (uint32_t)index
                                                                           : MYR_NONE;
}

/*
 * The child that the path goes on with; ret_len: how much of it that takes. A name may have dots:
 * of two that fit the longer one is meant. NULL: there is no such child.
 */
static const struct myr_value *child(const struct myr_value *parent, const char *path,
                                     size_t *ret_len)
{
    const struct myr_value *best = NULL;
    size_t word = strcspn(path, ".");
    uint32_t index = parent->kind == MYR_VALUE_LIST ? index_of(path, word) : MYR_NONE, at = 0;
    *ret_len = 0;
    for (const struct myr_value *v = parent->first; v; v = v->next, at++) {
        size_t len = v->key ? strlen(v->key) : word;
        bool named = v->key ? strncmp(v->key, path, len) == 0 && strchr(".", path[len]) != NULL
                            : at == index;
        if (named && len > *ret_len) {
            best = v;
            *ret_len = len;
        }
    }
    return best;
}

/* The root itself for an empty path. */
static const struct myr_value *at_path(const struct myr_value *root, const char *path)
{
    while (root && *path) {
        size_t len;
        root = child(root, path, &len);
        path += root ? len + (path[len] == '.') : 0;
    }
    return root;
}

/* "bom[3].total" is read as "bom.3.total". */
static void plain(const char *path, char ret[PATH_BYTES])
{
    size_t put = 0;
    for (; *path && put + 1 < PATH_BYTES; path++) {
        if (*path == '[') {
            ret[put++] = '.';
        } else if (*path != ']') {
            ret[put++] = *path;
        }
    }
    ret[put] = '\0';
}

/*
 * The path without its last words: as many as there are dots in front of an input. One dot is the
 * object that the number is in, each further one the object around it; no dot: from the root.
 */
static const char *absolute(struct myr_arena *arena, const char *path, const char *input,
                            size_t len)
{
    size_t dots = 0;
    while (dots < len && input[dots] == '.') {
        dots++;
    }
    size_t keep = strlen(path);
    for (size_t i = 0; i < dots; i++) {
        while (keep > 0 && path[keep - 1] != '.') {
            keep--;
        }
        /* The dot itself goes too where another word is to be taken off. */
        keep -= i + 1 < dots && keep > 0;
    }
    return myr_arena_printf(arena, "%.*s%.*s", dots ? (int)keep : 0, path, (int)(len - dots),
                            input + dots);
}

/*
 * "leaf_down = 32, leaf_up = 32": the inputs of a rule with their values. Paths that lead to
 * nothing are left out: a rule for several topologies may name what this one has not.
 */
static const char *inputs_of(struct myr_answer *answer, const char *path, const char *inputs)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    while (*inputs) {
        size_t len = strcspn(inputs, " ");
        const char *full = absolute(answer->arena, path, inputs, len);
        const struct myr_value *value = at_path(&answer->root, full);
        if (value && value->kind != MYR_VALUE_OBJECT && value->kind != MYR_VALUE_LIST) {
            myr_buf_printf(&text, "%s%s = %.*s", text.len ? ", " : "", full,
                           value->kind == MYR_VALUE_NULL ? 4 : (int)value->text.len,
                           value->kind == MYR_VALUE_NULL ? "null" : value->text.data);
        }
        inputs += len;
        inputs += *inputs == ' ';
    }
    return myr_arena_printf(answer->arena, "%s", text.data ? text.data : "");
}

/* "bom.3.quantity": the line has its own rule. Other cells of a line have rules in the table. */
static const struct myr_bom_row *line_of(const struct myr_design *design, const char *path)
{
    static const char head[] = "bom.", tail[] = ".quantity";
    size_t len = strlen(path), ends = sizeof(head) + sizeof(tail) - 2;
    uint64_t index;
    if (len > ends && memcmp(path, head, sizeof(head) - 1) == 0 &&
        strcmp(path + len - sizeof(tail) + 1, tail) == 0 &&
        myr_str_to_u64((struct myr_str){path + sizeof(head) - 1, len - ends}, &index) &&
        index < design->bom_count) {
        return &design->bom[index];
    }
    return NULL;
}

/* "acceptance.step_s.target": what stands beside it in the tree says how it came about. */
static bool explain_target(const struct myr_answer *answer, const char *path,
                           struct myr_explained *ret)
{
    static const char head[] = "acceptance.", tail[] = ".target";
    size_t len = strlen(path);
    if (strncmp(path, head, sizeof(head) - 1) != 0 || len < sizeof(tail) ||
        strcmp(path + len - sizeof(tail) + 1, tail) != 0) {
        return false;
    }
    const char *object = myr_arena_strndup(answer->arena, path, len - sizeof(tail) + 1);
    const struct myr_value *of = at_path(&answer->root, object);
    const char *const keys[] = {"unit", "basis", "rule", "inputs"};
    const char **const rets[] = {&ret->unit, &ret->basis, &ret->rule, &ret->inputs};
    for (size_t i = 0; of && i < MYR_ARRAY_COUNT(keys); i++) {
        struct myr_str text = myr_value_get(of, keys[i])->text;
        *rets[i] = myr_arena_strndup(answer->arena, text.data, text.len);
    }
    return of != NULL;
}

/*
 * Where rules come from, the most exact first: the figure, the line of the bill, the table of
 * rules. False: nobody knows one, and the number is not listed.
 */
static bool explain(const struct myr_design *design, struct myr_answer *answer, const char *path,
                    const struct myr_value *value, struct myr_explained *ret)
{
    const struct myr_figure *figure = myr_design_figure(design, path);
    const struct myr_bom_row *line = line_of(design, path);
    *ret = (struct myr_explained){.path = myr_arena_printf(answer->arena, "%s", path),
                                  .value = value,
                                  .unit = "",
                                  .basis = myr_basis_names[MYR_BASIS_COUNTED]};
    if (figure) {
        ret->unit =
            plan_figure_unit(design, answer->arena, path, myr_design_str(design, figure->unit));
        ret->basis = myr_basis_names[figure->basis];
        ret->rule = myr_design_str(design, figure->rule);
        ret->inputs = myr_design_str(design, figure->inputs);
        return true;
    }
    if (line) {
        ret->rule = myr_design_str(design, line->rule);
        ret->inputs = myr_design_str(design, line->inputs);
        return true;
    }
    if (explain_target(answer, path, ret)) {
        return true;
    }
    static const char constants[] = "proposal.";
    const char *source =
        strncmp(path, constants, sizeof(constants) - 1) == 0
            ? report_constant_source(answer->arena, path + sizeof(constants) - 1, &ret->unit)
            : NULL;
    if (source) {
        ret->basis = "published";
        ret->rule = source;
        ret->inputs = "";
        return true;
    }
    const struct explain_rule *rule = explain_rule_of(path);
    const char *absent =
        value->kind == MYR_VALUE_NULL ? plan_figure_rule_at(path, &ret->unit) : NULL;
    if (absent) {
        ret->unit = plan_figure_unit(design, answer->arena, path, ret->unit);
        ret->basis = myr_basis_names[MYR_BASIS_COMPUTED];
        ret->rule = absent;
        ret->inputs = "";
        ret->why = plan_figure_missing(design, answer->arena, path);
        return true;
    }
    if (!rule) {
        return false;
    }
    ret->rule = rule->rule;
    if (explain_rule_is_money(rule)) {
        ret->unit = plan_figure_unit(design, answer->arena, path, "money");
    }
    if (value->kind == MYR_VALUE_NULL) {
        ret->inputs = "";
        ret->why = plan_figure_missing(design, answer->arena, path);
        return true;
    }
    ret->inputs = inputs_of(answer, path, rule->inputs);
    return true;
}

/* 'room' is an upper bound on what is found: every number and word below the value. */
struct walk {
    const struct myr_design *design;
    struct myr_answer *answer;
    struct myr_explained *list;
    uint32_t count, room;
};

/* What was asked and what is only listed again are no numbers of the plan. */
static bool left_out(const char *key)
{
    static const char *const keys[] = {"schema",  "question", "findings",
                                       "figures", "files",    "assumed"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* 'path' is a buffer that grows and shrinks with the depth; 'len' is how much of it is in use. */
static void visit(struct walk *walk, const struct myr_value *value, char path[PATH_BYTES],
                  size_t len)
{
    /* Words have no rules, but for those the table names. */
    bool said = value->kind == MYR_VALUE_TEXT && explain_rule_of(path); /* a finding's message */
    if (value->kind == MYR_VALUE_NUMBER || said) {
        struct myr_explained found;
        if (explain(walk->design, walk->answer, path, value, &found)) {
            MYR_ASSERT(walk->count < walk->room);
            walk->list[walk->count++] = found;
        }
        return;
    }
    uint32_t at = 0;
    for (const struct myr_value *v = value->first; v; v = v->next, at++) {
        if (len == 0 && v->key && left_out(v->key)) {
            continue;
        }
        /* Too long a path is not followed; none of a plan is. */
        int more = v->key ? snprintf(path + len, PATH_BYTES - len, "%s%s", len ? "." : "", v->key)
                          : snprintf(path + len, PATH_BYTES - len, ".%u", at);
        if (more > 0 && len + (size_t)more < PATH_BYTES) {
            visit(walk, v, path, len + (size_t)more);
        }
        path[len] = '\0';
    }
}

/* What visit() may find at most. */
static uint32_t leaves(const struct myr_value *value)
{
    uint32_t count = value->kind == MYR_VALUE_NUMBER || value->kind == MYR_VALUE_TEXT;
    for (const struct myr_value *v = value->first; v; v = v->next) {
        count += leaves(v);
    }
    return count;
}

/* A single value is explained even where its list would leave it out. */
int myr_plan_explain_path(const struct myr_design *design, struct myr_answer *answer,
                          const char *path, struct myr_explained **ret, uint32_t *ret_count,
                          struct myr_err *err)
{
    char known[PATH_BYTES], shown[MYR_EXCERPT_MAX];
    plain(path, known);
    explain_add(design, answer, known);
    const struct myr_value *value = at_path(&answer->root, known);
    /* A path of brackets alone would else be all of the plan. */
    if (!value || (*path && !known[0])) {
        int rc = myr_err_set(err, MYR_ENOENT, "'%s' is no number of this plan",
                             myr_text_excerpt(myr_str_from(path), shown));
        /* Hints for paths that would be there with other inputs. */
        bool later = strncmp(known, "next", 4) == 0 && !myr_value_get(&answer->root, "next");
        bool rack = strncmp(known, "racks", 5) == 0 && !design->room;
        myr_err_hint(err, "%s",
                     later  ? "--next SPEC names the phase after this one"
                     : rack ? "there are racks where the spec has a 'room'"
                            : "without a path all of them are listed: "
                              "networks.compute.switches.leaf");
        return rc;
    }
    struct walk walk = {.design = design, .answer = answer, .room = leaves(value)};
    walk.list = MYR_ARENA_NEW(answer->arena, struct myr_explained, (size_t)walk.room + 1);
    if (value->kind == MYR_VALUE_OBJECT || value->kind == MYR_VALUE_LIST) {
        visit(&walk, value, known, strlen(known));
    } else {
        walk.count = explain(design, answer, known, value, walk.list);
    }
    if (walk.count == 0) {
        bool empty = value->kind == MYR_VALUE_OBJECT || value->kind == MYR_VALUE_LIST;
        return myr_err_set(err, MYR_EINVAL,
                           empty                           ? "'%s' holds no number of this plan"
                           : value->kind == MYR_VALUE_NULL ? "'%s' is null: this plan has none"
                                                           : "'%s' is a word, a number is expected",
                           myr_text_excerpt(myr_str_from(path), shown));
    }
    *ret = walk.list;
    *ret_count = walk.count;
    return MYR_OK;
}
