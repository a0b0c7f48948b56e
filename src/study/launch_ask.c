/*
 * A question about a launch: the layout, its nodes in rank order, and the script. The layout is the
 * best one that fits, or the one that is given; with a design the scheduler's placer says which
 * free nodes it gets, and the step is predicted for these. All words that reach the script are
 * checked first.
 */
#include <stdio.h>

#include "launch_list.h"
#include "launch_pools.h"
#include "launch_script.h"
#include "myriad/sched.h"
#include "myriad/text/kind.h"

enum { STEPS_USUAL = 1000, HOSTS_BYTES_MAX = 64 << 20, HOST_MAX = 255 };

/* Words that end up in scripts: no line may be smuggled in. */
static int check_word(const char *option, const char *text, struct myr_err *err)
{
    if (text && text[0] == '-') { /* programs would take it for an option, quoted or not */
        return myr_err_set(err, MYR_EINVAL, "%s begins with '-', expected a path or a name",
                           option);
    }
    /* Control characters could end a line of the script, or hide what it does. */
    for (const char *at = text; text && *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 127) {
            return myr_err_set(err, MYR_EINVAL,
                               "%s: a control character at byte %zu, expected "
                               "text of one line",
                               option, (size_t)(at - text) + 1);
        }
    }
    return text && !*text ? myr_err_set(err, MYR_EINVAL, "%s is empty", option) : MYR_OK;
}

static int check_words(const struct myr_launch_run *run, struct myr_err *err)
{
    MYR_TRY(check_word("--name", run->name, err));
    MYR_TRY(check_word("--code", run->code, err));
    MYR_TRY(check_word("--data", run->data, err));
    MYR_TRY(check_word("--tokenizer", run->tokenizer, err));
    return check_word("--checkpoint", run->checkpoint, err);
}

/* Releases of a line belong to one trainer. */
static enum myr_trainer trainer_of(const struct myr_stack *stack)
{
    static const struct {
        const char *line;
        enum myr_trainer trainer;
    } lines[] = {
        {"Megatron-Bridge", MYR_TRAINER_BRIDGE},       {"NeMo", MYR_TRAINER_BRIDGE},
        {"torchtitan", MYR_TRAINER_TORCHTITAN},        {"torch", MYR_TRAINER_TORCHTITAN},
        {"torch compile", MYR_TRAINER_TORCHTITAN},     {"Meta", MYR_TRAINER_TORCHTITAN},
        {"llm-foundry", MYR_TRAINER_TORCHTITAN},       {"DeepSpeed", MYR_TRAINER_DEEPSPEED},
        {"Megatron-DeepSpeed", MYR_TRAINER_DEEPSPEED}, {"GPT-NeoX", MYR_TRAINER_DEEPSPEED}};
    /* By the line of releases, not by the single release. */
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lines); i++) {
        if (strcmp(lines[i].line, stack->line) == 0) {
            return lines[i].trainer;
        }
    }
    /* What no line names is Megatron-LM or built on it. */
    return MYR_TRAINER_MEGATRON;
}

/* Built on the same library: one's releases tell of the other's kernels. */
static bool akin(enum myr_trainer a, enum myr_trainer b)
{
    bool core = (a == MYR_TRAINER_MEGATRON || a == MYR_TRAINER_BRIDGE) &&
                (b == MYR_TRAINER_MEGATRON || b == MYR_TRAINER_BRIDGE);
    return a == b || core;
}

/* A trainer is asked about by a release of its own, unless one is named that it is akin to. */
static int choose_release(const struct myr_launch_question *q, struct myr_arena *arena,
                          struct myr_case_question *of, struct myr_err *err)
{
    static const char *const usual[MYR_TRAINER_COUNT] = {
        [MYR_TRAINER_MEGATRON] = "Megatron-LM 0.20",
        [MYR_TRAINER_DEEPSPEED] = "Megatron-DeepSpeed 0.19",
        [MYR_TRAINER_TORCHTITAN] = "torchtitan 2025",
        [MYR_TRAINER_BRIDGE] = "Megatron-Bridge",
    };
    struct myr_profiles *profiles = MYR_ARENA_ONE(arena, struct myr_profiles);
    const struct myr_device *device = NULL;
    const struct myr_stack *stack = NULL;
    bool exact;
    if (q->trainer < 0) {
        return MYR_OK;
    }
    enum myr_trainer trainer = (enum myr_trainer)q->trainer;
    MYR_TRY(myr_profiles_init(profiles, arena, err));
    if (of->profile) {
        const struct myr_doc *own;
        MYR_TRY(myr_profiles_open(arena, of->profile, &own, err));
        MYR_TRY(myr_profiles_take(profiles, arena, own, err));
    }
    if (of->software) {
        MYR_TRY(myr_profiles_stack(profiles, myr_str_from(of->software), &stack, &exact, err));
        if (!akin(trainer, trainer_of(stack))) {
            int rc = myr_err_set(err, MYR_EINVAL,
                                 "--software '%s' is a release of %s, and %s is "
                                 "to be started",
                                 of->software, myr_trainer_name(trainer_of(stack)),
                                 myr_trainer_name(trainer));
            myr_err_hint(err, "without --software it is asked about as '%s'", usual[trainer]);
            return rc;
        }
        return MYR_OK;
    }
    /* What the device is usually asked about may be the trainer's own. */
    if (of->device &&
        myr_profiles_device(profiles, myr_str_from(of->device), &device, NULL) == MYR_OK &&
        myr_profiles_stack(profiles, myr_str_from(device->software), &stack, &exact, NULL) ==
            MYR_OK &&
        trainer_of(stack) == trainer) {
        return MYR_OK;
    }
    of->software = usual[trainer];
    return MYR_OK;
}

/* NULL, or what the trainer's models have not. */
static const char *lacks(enum myr_trainer trainer, const struct myr_model *model)
{
    return trainer == MYR_TRAINER_TORCHTITAN  ? launch_titan_lacks(model)
           : trainer == MYR_TRAINER_DEEPSPEED ? launch_deepspeed_lacks(model)
                                              : NULL;
}

/*
 * NULL, or what a device is trained with in the place of this trainer. Primus and MindSpeed-LLM are
 * built on Megatron-LM and take its arguments; Megatron-Bridge asks for CUDA. Compilers of graphs
 * have trainers of their own, for which no script is written.
 */
static const char *other_trainer(const struct myr_case *it, enum myr_trainer trainer)
{
    static const struct {
        const char *line;
        bool megatron; /* takes Megatron-LM's arguments */
    } others[] = {{"MaxText", false},
                  {"NxD", false},
                  {"SynapseAI", false},
                  {"Primus", true},
                  {"MindSpeed-LLM", true}};
    const char *usual = it->query.it.device->software, *named = it->query.it.stack->line;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(others); i++) {
        bool own = strncmp(usual, others[i].line, strlen(others[i].line)) == 0;
        bool asked = strcmp(named, others[i].line) == 0;
        if ((own && (!others[i].megatron || trainer == MYR_TRAINER_BRIDGE)) ||
            (asked && !others[i].megatron)) {
            return others[i].line;
        }
    }
    return NULL;
}

/* ---- nodes ---- */

/* A node's number in the design, as a host: "node/00042" is "node-00042". */
static const char *plain_host(const struct myr_design *design, uint32_t node,
                              struct myr_arena *arena)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_design_name(design, design->head->first_node + node, &name);
    for (size_t i = 0; i < name.len; i++) {
        name.data[i] = name.data[i] == '/' ? '-' : name.data[i];
    }
    return myr_arena_strndup(arena, name.data, name.len);
}

/* What ssh takes as a name and no shell as anything else; no option either. */
static bool is_host(struct myr_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '-' || c == '_' || c == ':';
        if (!plain || (i == 0 && c == '-')) {
            return false;
        }
    }
    return text.len > 0 && text.len <= HOST_MAX;
}

/* Two nodes of one name would be two ranks on one host, and none on another. */
static int name_once(struct myr_strmap *lines, struct myr_str name, const char *path, uint32_t line,
                     struct myr_err *err)
{
    return myr_strmap_add(lines, name, line)
               ? MYR_OK
               : myr_err_set(err, MYR_EINVAL, "%s:%u:1: host '%.*s' is on line %u already", path,
                             line, (int)name.len, name.data, myr_strmap_get(lines, name));
}

/* One name a line, as many as the design has nodes; ssh and Slurm must take them for names. */
static int read_hosts(const char *path, uint32_t nodes, struct myr_arena *arena, const char ***ret,
                      struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    MYR_TRY(myr_kind_read(path, HOSTS_BYTES_MAX, MYR_KIND_BIT(TEXT), "a list of hosts, one a line,",
                          &file, err));
    path = myr_file_name(path);
    MYR_CLEANUP(myr_strmap_done) struct myr_strmap lines = {};
    const char **names = MYR_ARENA_NEW(arena, const char *, nodes);
    uint32_t count = 0, line = 0;
    for (size_t at = 0; at < file.len;) {
        size_t end = at;
        while (end < file.len && file.data[end] != '\n') {
            end++;
        }
        /* Files from Windows end their lines with a carriage return. */
        size_t len = end - at - (end > at && file.data[end - 1] == '\r');
        struct myr_str text = {file.data + at, len};
        line++;
        at = end + 1;
        /* Empty lines do not count as hosts. */
        if (len == 0) {
            continue;
        }
        if (!is_host(text)) {
            return myr_err_set(err, MYR_EINVAL,
                               "%s:%u:1: not a host's name, expected letters, "
                               "digits, '.', '-' and '_'",
                               path, line);
        }
        if (count == nodes) {
            return myr_err_set(err, MYR_EINVAL, "%s:%u:1: more hosts than the design's %u nodes",
                               path, line, nodes);
        }
        MYR_TRY(name_once(&lines, text, path, line, err));
        names[count++] = myr_arena_strndup(arena, text.data, text.len);
    }
    /* As many names as nodes: which of them the job gets is known only later. */
    if (count < nodes) {
        return myr_err_set(err, MYR_EINVAL, "%s: %u hosts, the design has %u nodes", path, count,
                           nodes);
    }
    *ret = names;
    return MYR_OK;
}

/* Who frees what: placer and state, whichever way it ends. */
struct placing {
    const struct myr_launch_question *q;
    struct myr_launch_answer *a;
    struct myr_arena *arena;
    struct myr_placer *placer;
    struct myr_sched_state state;
};

static void placing_done(struct placing *p)
{
    myr_sched_state_done(&p->state);
    myr_placer_free(p->placer);
}

/* GPUs of a node that ranks fill evenly: all, or as many as divide them. */
static uint32_t share_of(uint64_t ranks, uint32_t per)
{
    while (per > 1 && ranks % per != 0) {
        per--;
    }
    return per;
}

/* On the design's free nodes, so that ranks with much traffic are near each other; then the step is
 * predicted once more for just these nodes. */
static int place(struct placing *p, struct myr_err *err)
{
    struct myr_launch_answer *a = p->a;
    const struct myr_design *design = &a->it.design;
    struct myr_place_shape shape = myr_place_shape_of(design);
    uint64_t ranks = myr_layout_gpus(&a->layout);
    struct myr_job_traffic traffic;
    struct myr_placement placement = {};
    const char **names = NULL;
    /* The scheduler's own limit. */
    if (shape.gpus_per_node > MYR_SCHED_GPUS_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%s: nodes of %u GPUs, expected at most %d",
                           p->q->of.design, shape.gpus_per_node, MYR_SCHED_GPUS_MAX);
    }
    /* Names are read before anything is placed: a bad file shows at once. */
    MYR_TRY(p->q->hosts ? read_hosts(p->q->hosts, shape.nodes, p->arena, &names, err) : MYR_OK);
    p->placer = myr_placer_create(&shape);
    /* Nodes that share a scale-up domain stand together. */
    uint32_t domain = design->head->scale_up_gpus / shape.gpus_per_node;
    myr_placer_set_domain(p->placer, domain > 1 ? domain : 1);
    MYR_TRY(p->q->state ? myr_sched_state_read(&p->state, p->placer, p->q->state, err) : MYR_OK);
    /* A job smaller than its nodes leaves the same GPUs free on each. */
    a->run.gpus_per_node = share_of(ranks, shape.gpus_per_node);
    a->run.node_count = (uint32_t)(ranks / a->run.gpus_per_node);
    MYR_TRY(myr_job_traffic_of(&a->layout, &a->it.model, a->run.gpus_per_node, p->arena, &traffic,
                               err));
    struct myr_request request = {
        .nodes = a->run.node_count, .gpus_per_node = a->run.gpus_per_node, .traffic = &traffic};
    placement.gang.shares = MYR_ARENA_NEW(p->arena, struct myr_share, a->run.node_count);
    a->placed = a->run.node_count <= shape.nodes && myr_place_gang(p->placer, &request, &placement);
    /* That there is no room now is an answer, not an error. */
    if (!a->placed) {
        (void)myr_err_set(&a->why, MYR_EINFEASIBLE,
                          "%u nodes of %u GPUs are not free at once: %u whole nodes are",
                          a->run.node_count, a->run.gpus_per_node,
                          myr_placer_free_nodes(p->placer));
        return MYR_OK;
    }
    /* In the order of ranks, as the placer gave them. */
    const char **hosts = MYR_ARENA_NEW(p->arena, const char *, a->run.node_count);
    uint32_t *nodes = MYR_ARENA_NEW(p->arena, uint32_t, a->run.node_count);
    for (uint32_t i = 0; i < a->run.node_count; i++) {
        nodes[i] = placement.gang.shares[i].node;
        hosts[i] = names ? names[nodes[i]] : plain_host(design, nodes[i], p->arena);
    }
    a->run.hosts = hosts;
    struct myr_fit_placement where = {nodes, a->run.node_count, a->run.gpus_per_node};
    return myr_case_price(&a->it, &a->layout, &where, p->arena, &a->price, err);
}

/* Without a design: nodes as they are sold with these GPUs. */
static int count_nodes(const struct myr_launch_question *q, struct myr_arena *arena,
                       struct myr_launch_answer *a, struct myr_err *err)
{
    uint64_t ranks = myr_layout_gpus(&a->layout);
    /* Servers of a larger scale-up domain have four GPUs a node, others eight. */
    uint32_t usual = a->it.query.it.device->domain_gpus > 8 ? 4 : 8;
    uint32_t per = q->run.gpus_per_node ? q->run.gpus_per_node : share_of(ranks, usual);
    /* Only a number that the user gives can fail: share_of() divides. */
    if (ranks % per != 0) {
        return myr_err_set(err, MYR_EINVAL, "%llu GPUs do not fill nodes of %u",
                           (unsigned long long)ranks, per);
    }
    a->run.gpus_per_node = per;
    a->run.node_count = (uint32_t)(ranks / per);
    a->placed = true;
    return myr_case_price(&a->it, &a->layout, NULL, arena, &a->price, err);
}

/* ---- the script ---- */

/* Every capability by name and word, as 'fit' prints them. */
static void put_recipe(const struct myr_recipe *recipe, struct myr_buf *buf)
{
    for (int i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        char word[64];
        myr_buf_printf(buf, "%s%s=%s", i ? " " : "", myr_capability_name((enum myr_capability)i),
                       myr_capability_word((enum myr_capability)i, recipe->of[i], word));
    }
}

/* Comments at the top of the script: what was predicted, and with what, so that a run can be held
 * against it. */
static void make_head(struct myr_launch_answer *a, const struct myr_recipe *recipe,
                      enum myr_launcher launcher, struct myr_arena *arena)
{
    const struct myr_fit_memory *m = &a->price.memory;
    const double gib = 1073741824;
    const char **head = MYR_ARENA_NEW(arena, const char *, 5);
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    put_recipe(recipe, &words);
    /* What it is, what was predicted, with which recipe, and what is not predicted. */
    head[0] = myr_arena_printf(arena,
                               "%s on %llu x %s with %s, started by %s; written by 'myriad "
                               "fit launch'.",
                               a->it.model.name, (unsigned long long)myr_layout_gpus(&a->layout),
                               a->it.query.it.device->name, myr_trainer_name(a->trainer),
                               myr_launcher_name(launcher));
    head[1] = myr_arena_printf(arena,
                               "Predicted for %s: %.4g s a step (90 %%: %.4g to %.4g s), "
                               "MFU %.1f %%.",
                               a->it.query.it.stack->name, a->price.cost.step_s, a->price.low_s,
                               a->price.high_s, 100 * a->price.cost.mfu);
    head[2] = myr_arena_printf(arena,
                               "Predicted memory of the fullest rank: %.1f of %.1f GiB, "
                               "margin %.1f GiB (%.0f %%).",
                               m->total_bytes / gib, m->limit_bytes / gib,
                               (m->limit_bytes - m->total_bytes) / gib,
                               100 * (1 - m->total_bytes / m->limit_bytes));
    head[3] =
        myr_arena_printf(arena, "Recipe that was predicted: %.*s.", (int)words.len, words.data);
    head[4] = "Steps, rates and weight decay are no prediction: set your own.";
    a->run.head = head;
    a->run.head_count = 5;
}

/* The trainer of the question, else that of the software that was predicted for. */
static void write_script(const struct myr_launch_question *q, struct myr_arena *arena,
                         struct myr_launch_answer *a)
{
    const struct myr_fit_case *it = &a->it.query.it;
    const struct myr_recipe taken = myr_fit_taken(it, &a->layout), *recipe = &taken;
    /* The whole of it: the script has the model's arguments too. */
    struct myr_launch_case of = {&a->layout, &a->it.model, recipe, it->device, it->stack, true};
    myr_launch_of(&of, a->trainer, arena, &a->launch);
    if (a->pool_note) {
        launch_note(&a->launch, "%s", a->pool_note);
    }
    make_head(a, recipe, q->launcher, arena);
    myr_launch_script(&a->launch, &of, &a->run, q->launcher, &a->script);
}

/* The model's name is a path where it came from a file: its last part names the job. */
static const char *job_name(const char *model, struct myr_arena *arena)
{
    enum { NAME_MAX_BYTES = 64 };
    const char *slash = strrchr(model, '/');
    const char *start = slash && slash[1] ? slash + 1 : model;
    size_t len = strlen(start) < NAME_MAX_BYTES ? strlen(start) : NAME_MAX_BYTES;
    char *name = MYR_ARENA_NEW(arena, char, len + 1);
    /* A name for Slurm and for files alike. */
    for (size_t i = 0; i < len; i++) {
        char c = start[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '-' || c == '_';
        name[i] = plain ? c : '-';
    }
    return name;
}

/* 'found' without 'placed': a layout, but no free nodes. Neither: 'why' says why nothing fits.
 * Both: the script is there. */
int myr_launch_ask(const struct myr_launch_question *question, struct myr_arena *arena,
                   struct myr_launch_answer *ret, struct myr_err *err)
{
    struct myr_fit_answer *best = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    *ret = (struct myr_launch_answer){.run = question->run};
    struct myr_case_question of = question->of;
    MYR_TRY(check_words(&question->run, err));
    if (question->pool_count > 0) {
        MYR_TRY(launch_choose_pool(question, arena, &of, ret, err));
        /* The pools would have to share one job: 'why' is the answer. */
        if (ret->pooled) {
            return MYR_OK;
        }
    }
    MYR_TRY(choose_release(question, arena, &of, err));
    MYR_TRY(myr_case_init(&ret->it, arena, &of, err));
    ret->trainer = question->trainer < 0 ? trainer_of(ret->it.query.it.stack)
                                         : (enum myr_trainer)question->trainer;
    const char *what = lacks(ret->trainer, &ret->it.model);
    if (what) { /* the answer is no: what would start is another model */
        (void)myr_err_set(&ret->why, MYR_EINFEASIBLE, "%s has no model with %s, as %s has",
                          myr_trainer_name(ret->trainer), what, ret->it.model.name);
        myr_err_hint(&ret->why, "--trainer megatron-lm or megatron-bridge");
        return MYR_OK;
    }
    const char *other = other_trainer(&ret->it, ret->trainer);
    if (other) {
        (void)myr_err_set(&ret->why, MYR_EINFEASIBLE, "%s trains with %s, and not with %s",
                          ret->it.query.it.device->name, other, myr_trainer_name(ret->trainer));
        myr_err_hint(&ret->why, "'myriad fit' prices it; scripts are written for Megatron-LM (also "
                                "on AMD and Ascend), DeepSpeed, torchtitan and Megatron-Bridge");
        return MYR_OK;
    }
    if (!question->of.design && (question->state || question->hosts)) {
        return myr_err_set(err, MYR_EINVAL, "%s goes with --design",
                           question->state ? "--state" : "--hosts");
    }
    int rc = myr_case_answer(&ret->it, arena, best, &ret->why);
    /* Nothing fits: 'why' says so, and there is no script. */
    if (rc == MYR_EINFEASIBLE) {
        return MYR_OK;
    }
    if (rc < 0) {
        *err = ret->why;
        return rc;
    }
    ret->layout = best->top[0].layout;
    /* Gives placer and state back on every way out below. */
    MYR_CLEANUP(placing_done)
    struct placing p = {.q = question, .a = ret, .arena = arena};
    MYR_TRY(ret->it.has_design ? place(&p, err) : count_nodes(question, arena, ret, err));
    ret->found = true;
    /* A layout without nodes: 'why' says how many are free. */
    if (!ret->placed) {
        return MYR_OK;
    }
    /* Where ranks stand changes times alone, and what does not fit is no answer. */
    MYR_ASSERT(ret->price.memory.fits);
    ret->run.name = question->run.name ? question->run.name : job_name(ret->it.model.name, arena);
    ret->run.steps = question->run.steps ? question->run.steps : STEPS_USUAL;
    write_script(question, arena, ret);
    return MYR_OK;
}

void myr_launch_answer_done(struct myr_launch_answer *answer)
{
    myr_buf_done(&answer->script);
    myr_case_done(&answer->it);
}
