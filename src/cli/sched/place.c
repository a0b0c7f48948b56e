/*
 * sched place: one gang on a design in a given state: nodes, rank order, cost, and why. Asked of
 * the library (myr_place_ask). A gang that does not fit is an answer too: what would let it start.
 */
#include "myriad/sched/place_answer.h"

#include "case/case.h"
#include "sched/sched.h"

struct options {
    const char *design, *state;
    uint64_t nodes, gpus_per_node, min_nodes;
    const char *layout;
    uint64_t tp, pp, dp, cp, ep;
    const char *model, *device, *software, *recipe, *profile;
    uint64_t batch, seq;
    uint32_t within;
    uint64_t hops, leaf_max, rack_max, row_max;
    const char *gpu_kind, *exclude, *plot;
};

static const struct options defaults;

/* Behind "any" in the order of enum myr_level. */
static const char *const levels[] = {"any", "domain", "leaf", "pod", "core"};

static const struct myr_option rows[] = {
    CLI_PATH("design", "FILE", struct options, design, "the cluster"),
    CLI_PATH("state", "FILE", struct options, state,
             "what runs where (CSV: node, job, gpus, state, penalty)"),
    CLI_COUNT("nodes", struct options, nodes, 1, MYR_CLUSTER_NODES_MAX, "nodes of the gang"),
    CLI_COUNT("gpus-per-node", struct options, gpus_per_node, 1, MYR_SCHED_GPUS_MAX,
              "GPUs that it takes of each; else all"),
    CLI_COUNT("min-nodes", struct options, min_nodes, 1, MYR_CLUSTER_NODES_MAX,
              "an elastic gang starts with as few, as its layout and batch allow"),
    CLI_PATH("layout", "FILE", struct options, layout, "the layout, as fit writes it"),
    CLI_COUNT("tp", struct options, tp, 1, 4096, "or its axes: tensor parallelism"),
    CLI_COUNT("pp", struct options, pp, 1, 4096, "pipeline stages"),
    CLI_COUNT("dp", struct options, dp, 1, 1 << 24, "data parallelism; else what the nodes leave"),
    CLI_COUNT("cp", struct options, cp, 1, 4096, "context parallelism"),
    CLI_COUNT("ep", struct options, ep, 1, 4096, "expert parallelism"),
    CLI_NAME("model", "NAME", struct options, model, cli_case_models,
             "whose bytes the groups send, and whose step is predicted"),
    CLI_NAME("device", "NAME", struct options, device, cli_case_devices,
             "its GPUs; else the design's"),
    {CLI_ROW("software", MYR_OPTION_TEXT, "NAME", struct options, software,
             "release of the trainer; else the latest measured on the device"),
     .needs = "model"},
    {CLI_ROW("recipe", MYR_OPTION_TEXT, "WORDS", struct options, recipe,
             "what the run switches on, such as cuda_graphs=full,tp_overlap=1"),
     .needs = "model"},
    {CLI_ROW("profile", MYR_OPTION_PATH, "FILE", struct options, profile,
             "your own constants, as 'fit calibrate' writes them"),
     .needs = "model"},
    CLI_COUNT("batch", struct options, batch, 1, 1 << 24, "sequences in one step"),
    CLI_COUNT("seq", struct options, seq, 1, 1 << 24, "tokens of a sequence; else the model's"),
    CLI_CHOICE("within", "LEVEL", struct options, within, levels, "no farther apart than this"),
    CLI_COUNT("hops", struct options, hops, 1, 64, "at most so many switches between two nodes"),
    CLI_COUNT("leaf-max", struct options, leaf_max, 1, MYR_CLUSTER_NODES_MAX,
              "spread: at most so many nodes under one leaf"),
    CLI_COUNT("rack-max", struct options, rack_max, 1, MYR_CLUSTER_NODES_MAX,
              "spread: at most so many nodes in one rack"),
    CLI_COUNT("row-max", struct options, row_max, 1, MYR_CLUSTER_NODES_MAX,
              "spread: at most so many nodes in one power row"),
    CLI_TEXT("gpu-kind", "NAME", struct options, gpu_kind, "only nodes of this kind in --state"),
    CLI_TEXT("exclude", "LIST", struct options, exclude, "nodes not to use, such as 3,7-9"),
    CLI_OUTPUT("plot", "FILE", struct options, plot,
               "draw the gang on its leaves, coloured by stage, as SVG"),
};

const struct myr_command sched_place_command = {
    .name = "sched place",
    .operands = "",
    .summary = "put one gang on a design and say why there, or what would let it start",
    .details = "All nodes or none, with the order of the ranks. Exit status 1 means that the gang "
               "does not fit now, or with a model that its layout does not fit in memory. CSV "
               "output lists its nodes in rank order.",
    .example = "myriad sched place --design out/design.myr --nodes 64 --tp 8 --pp 8",
    CLI_OPTIONS(rows, defaults),
};

/*
 * In bytes weighted by how far they go; 'groups_best_possible' is what an empty cluster would give.
 */
static void put_cost(struct myr_answer *answer, const struct myr_place_answer *a)
{
    const struct myr_place_cost *cost = &a->placement.cost;
    if (!a->placed) {
        myr_answer_null(answer, "cost");
        return;
    }
    myr_answer_object(answer, "cost");
    myr_answer_double(answer, "total", cost->total, 1);
    myr_answer_double(answer, "groups", cost->groups, 1);
    myr_answer_double(answer, "fragmentation", cost->fragmentation, 1);
    myr_answer_double(answer, "penalty", cost->penalty, 1);
    myr_answer_double(answer, "groups_best_possible", a->best_groups_cost, 1);
    myr_answer_object(answer, "bytes_by_level");
    for (int level = 0; level < MYR_LEVEL_COUNT; level++) {
        myr_answer_double(answer, myr_level_name((enum myr_level)level),
                          cost->bytes_by_level[level], 0);
    }
    myr_answer_end(answer);
    myr_answer_text(answer, "level", myr_level_name(cost->level));
    myr_answer_u64(answer, "leaves", cost->leaves);
    myr_answer_u64(answer, "pods", cost->pods);
    myr_answer_end(answer);
}

/* Null where neither a layout nor axes were given: nodes are then placed without ranks' groups. */
static void put_layout(struct myr_answer *answer, const struct myr_place_answer *a)
{
    if (!a->has_layout) {
        myr_answer_null(answer, "layout");
        return;
    }
    myr_answer_object(answer, "layout");
    cli_put_layout(answer, &a->layout);
    /* The same as 'mbs', under the name that this answer has always had. */
    myr_answer_u64(answer, "micro_batch", a->layout.micro_batch);
    myr_answer_u64(answer, "global_batch", a->layout.global_batch);
    myr_answer_end(answer);
}

/* With a model alone; 'best_step_s' is with ranks along the fabric from its start. */
static void put_step(struct myr_answer *answer, const struct myr_place_answer *a)
{
    if (!a->placed || !a->has_model) {
        myr_answer_null(answer, "step");
        return;
    }
    myr_answer_object(answer, "step");
    myr_answer_double(answer, "step_s", a->price.cost.step_s, 6);
    myr_answer_double(answer, "best_step_s", a->best_price.cost.step_s, 6);
    myr_answer_bool(answer, "memory_fits", a->price.memory.fits);
    myr_answer_end(answer);
}

/* In rank order: the list is a host file as it stands. */
static struct myr_value *put_nodes(struct cli *cli, const struct myr_place_answer *a)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    struct myr_answer *answer = &cli->answer;
    struct myr_value *list = myr_answer_list(answer, "ranks");
    for (uint32_t i = 0; i < a->placement.gang.count; i++) {
        const struct myr_share *share = &a->placement.gang.shares[i];
        uint64_t first = (uint64_t)i * a->request.gpus_per_node;
        myr_buf_clear(&name);
        myr_design_name(&a->design, a->design.head->first_node + share->node, &name);
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "first_rank", first);
        myr_answer_u64(answer, "last_rank", first + a->request.gpus_per_node - 1);
        myr_answer_str(answer, "node", (struct myr_str){name.data, name.len});
        myr_answer_u64(answer, "index", share->node);
        myr_answer_list(answer, "gpus");
        for (uint32_t gpu = 0; gpu < MYR_SCHED_GPUS_MAX; gpu++) {
            if (share->gpus >> gpu & 1) {
                myr_answer_u64(answer, NULL, gpu);
            }
        }
        myr_answer_end(answer);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* A number where it says something, null elsewhere. */
static void put_count(struct myr_answer *answer, const char *key, bool says, uint64_t value)
{
    if (says) {
        myr_answer_u64(answer, key, value);
    } else {
        myr_answer_null(answer, key);
    }
}

/* What would let it start; which keys say something depends on the kind of change. */
static void put_changes(struct myr_answer *answer, const struct myr_reasons *why)
{
    myr_answer_list(answer, "changes");
    for (uint32_t i = 0; i < why->change_count; i++) {
        const struct myr_change *c = &why->changes[i];
        bool moves = c->kind == MYR_CHANGE_DEFRAGMENT;
        /* A unit is a leaf, pod or the like by its number at that level. */
        bool has_unit = moves || c->kind == MYR_CHANGE_FREE_NODES;
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "kind", myr_change_name(c->kind));
        put_count(answer, "nodes", c->nodes > 0, c->nodes);
        myr_answer_text(answer, "level", has_unit ? myr_level_name(c->level) : NULL);
        put_count(answer, "unit", has_unit, c->unit);
        put_count(answer, "migrations", moves, c->migrations);
        put_count(answer, "gpus_moved", moves, c->gpus_moved);
        if (moves) {
            myr_answer_double(answer, "gpu_hours_lost", c->gpu_hours, 2);
        } else {
            myr_answer_null(answer, "gpu_hours_lost");
        }
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* The reasons as people read them, for programs that pass them on. */
static void put_sentences(struct myr_answer *answer, const struct myr_place_answer *a)
{
    myr_answer_list(answer, "explanation");
    for (uint32_t i = 0; i < a->sentence_count; i++) {
        myr_answer_text(answer, NULL, a->sentences[i]);
    }
    myr_answer_end(answer);
}

/* Costs for people are by byte sent, so that gangs of different sizes can be compared. */
static void show_cost(struct myr_answer *answer, const struct myr_place_answer *a)
{
    const struct myr_place_cost *cost = &a->placement.cost;
    myr_answer_fact(answer, "cost", "%.3f a byte sent, at best %.3f", cost->groups / a->unit_bytes,
                    a->best_groups_cost / a->unit_bytes);
    myr_answer_fact(answer, "fragmentation", "%.3f", cost->fragmentation / a->unit_bytes);
    myr_answer_fact(answer, "penalties", "%.3f", cost->penalty / a->unit_bytes);
    if (a->has_model) {
        const struct myr_fit_case *of = &a->it.query.it;
        myr_answer_fact(answer, "trained", "%s on %s, %s, sequences of %s", of->model->name,
                        of->device->name, of->stack->name,
                        MYR_COUNT(a->it.query.seq_tokens, "token"));
        cli_fit_show_basis(answer, &a->it);
        myr_answer_fact(answer, "step", "%.3f s, at best %.3f s%s", a->price.cost.step_s,
                        a->best_price.cost.step_s,
                        a->price.memory.fits ? "" : "; the layout does not fit in memory");
    }
}

/* A picture that was drawn is said to be there; then the list that a launcher takes. */
static void show_plot(struct cli *cli)
{
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    if (options->plot) {
        myr_answer_fact(answer, "plot", "%s", options->plot);
        myr_answer_next(answer, "for a host file", "%s -o csv",
                        cli_again(cli, cli->command, "plot"));
    } else {
        myr_answer_next(answer, "to see it on its leaves", "%s --plot gang.svg",
                        cli_again(cli, cli->command, NULL));
    }
}

static void show(struct cli *cli, const struct myr_place_answer *a, const struct myr_value *ranks)
{
    enum { SHOWN_MAX = 64 }; /* a screen or two; a gang may have a thousand nodes */
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("first_rank", "FROM RANK", MYR_COLUMN_NUMBER),
        MYR_COLUMN("last_rank", "TO RANK", MYR_COLUMN_NUMBER),
        MYR_COLUMN("node", "NODE", 0),
        MYR_COLUMN("index", "NUMBER", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("gpus", "GPUS", MYR_COLUMN_WIDE),
    };
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    if (a->request.nodes < a->nodes_asked) {
        myr_answer_para(answer, "Nodes placed: %s of the %s asked for.",
                        MYR_GROUPED(a->request.nodes), MYR_GROUPED(a->nodes_asked));
    }
    for (uint32_t i = 0; i < a->sentence_count; i++) {
        myr_answer_para(answer, "%s", a->sentences[i]);
    }
    if (!a->placed) {
        if (options->plot) {
            myr_answer_fact(answer, "plot", "%s is not written: nothing is placed", options->plot);
        }
        if (cli->common.format == MYR_FORMAT_CSV) { /* no rows, but the names of their columns */
            myr_answer_table(answer, ranks, columns, MYR_ARRAY_COUNT(columns));
        }
        return;
    }
    show_cost(answer, a);
    if (ranks->count > SHOWN_MAX) {
        myr_answer_more(answer, "the node of each rank (%s rows); -o csv for a host file",
                        MYR_GROUPED(ranks->count));
    }
    myr_answer_table(answer, ranks, columns, MYR_ARRAY_COUNT(columns));
    show_plot(cli);
}

static void fill(struct cli *cli, const struct myr_place_answer *a)
{
    struct myr_answer *answer = &cli->answer;
    struct myr_cluster cluster = {.shape = a->shape, .from_design = true};
    sched_put_cluster(answer, &cluster);
    myr_answer_bool(answer, "placed", a->placed);
    myr_answer_u64(answer, "nodes", a->request.nodes);
    myr_answer_u64(answer, "nodes_asked", a->nodes_asked);
    myr_answer_u64(answer, "gpus_per_node", a->request.gpus_per_node);
    cli_case_put_names(answer, a->has_model ? &a->it : NULL, false);
    put_count(answer, "sequence", a->has_model, a->it.query.seq_tokens);
    put_layout(answer, a);
    put_cost(answer, a);
    put_step(answer, a);
    struct myr_value *ranks = put_nodes(cli, a);
    put_sentences(answer, a);
    put_changes(answer, &a->why);
    myr_answer_rows(answer, ranks);
    myr_answer_timing(answer, "decision_us", (double)a->took_ns / 1000, 1);
    show(cli, a, ranks);
    /* As with fit and goodput, a layout that memory does not hold is a "no", nodes or not. */
    cli->no = !a->placed || (a->has_model && !a->price.memory.fits);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *o = cli->options;
    MYR_CLEANUP(myr_place_answer_done) struct myr_place_answer answer = {};
    struct myr_place_question question = {
        .design = o->design,
        .state = o->state,
        .nodes = o->nodes,
        .gpus_per_node = o->gpus_per_node,
        .min_nodes = o->min_nodes,
        .layout = o->layout,
        .tp = o->tp,
        .pp = o->pp,
        .dp = o->dp,
        .cp = o->cp,
        .ep = o->ep,
        .model = o->model,
        .device = o->device,
        .software = o->software,
        .recipe = o->recipe,
        .profile = o->profile,
        .batch = o->batch,
        .seq = o->seq,
        .limited = o->within > 0,
        /* The first choice is "any": all others stand one behind their level. */
        .within = o->within ? (enum myr_level)(o->within - 1) : MYR_LEVEL_CORE,
        .hops = o->hops,
        .leaf_max = o->leaf_max,
        .rack_max = o->rack_max,
        .row_max = o->row_max,
        .gpu_kind = o->gpu_kind,
        .exclude = o->exclude,
        .clock_ns = myr_clock_ns,
    };
    int rc = myr_place_ask(&question, &cli->arena, &answer, err);
    if (rc < 0) {
        return rc;
    }
    if (answer.placed && o->plot) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf picture = {};
        myr_place_draw(&answer, &picture);
        rc = myr_file_write(o->plot, &picture, err);
    }
    if (rc == MYR_OK) {
        fill(cli, &answer);
    }
    return rc;
}

const struct cli_verb cli_sched_place_verb = {.row = &sched_place_command, .run = run};
