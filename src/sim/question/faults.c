#include "engine/internal.h"
#include "question/words.h"

/*
 * How long it takes until paths avoid what is dead. Local: the switch beside it sees the light go
 * and takes the next member of the group. Remote: it tells the switches before it, in the data
 * plane. Convergence: the routing protocol finds out and spreads the word. Order of magnitude;
 * give a time where a measured one is known.
 */
static const struct {
    const char *name;
    myr_ps ps;
} repairs[] = {
    {"local", 50 * MYR_PS_PER_US},
    {"remote", 1000 * MYR_PS_PER_US},
    {"convergence", MYR_PS_PER_S},
};

/* Local repair where nothing is said. */
static int parse_reroute(const struct sim_words *words, myr_ps *ret, struct myr_err *err)
{
    struct myr_str text;
    *ret = repairs[0].ps;
    if (!sim_words_keyed(words, "reroute", &text)) {
        return MYR_OK;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(repairs); i++) {
        if (myr_str_eq(text, myr_str_from(repairs[i].name))) {
            *ret = repairs[i].ps;
            return MYR_OK;
        }
    }
    if (myr_sim_parse_time(text, ret)) {
        return MYR_OK;
    }
    return myr_err_set(err, MYR_EINVAL,
                       "--fault: 'reroute' is local, remote, convergence or a time such as 50us, "
                       "not '%.*s'",
                       sim_words_shown(text), text.data);
}

/* A fault that the network does not feel is a name that was meant for another one. */
static int check_network(const struct myr_graph *graph, struct myr_str name,
                         const struct myr_sim_fault *fault, struct myr_err *err)
{
    bool here = fault->link != MYR_NONE ? myr_graph_has_link(graph, fault->link)
                                        : myr_graph_has_device(graph, fault->device);
    return here ? MYR_OK
                : myr_err_set(err, MYR_EINVAL, "--fault: '%.*s' is not on the %s network",
                              sim_words_shown(name), name.data, myr_net_names[graph->net_id]);
}

/* Links have numbers only; a device stands for all the links that it has. */
static int parse_target(const struct myr_graph *graph, struct myr_str name,
                        struct myr_sim_fault *fault, struct myr_err *err)
{
    uint64_t link;
    fault->link = fault->device = MYR_NONE;
    if (name.len > 5 && memcmp(name.data, "link/", 5) == 0 &&
        myr_str_to_u64((struct myr_str){name.data + 5, name.len - 5}, &link) && link < MYR_NONE) {
        fault->link = myr_design_link_at(graph->design, (uint32_t)link);
    }
    /* A word that begins with "link/" and is none may still be a device's name. */
    if (fault->link != MYR_NONE) {
        return check_network(graph, name, fault, err);
    }
    fault->device = myr_design_find(graph->design, name);
    if (fault->device == MYR_NONE) {
        return myr_err_set(err, MYR_EINVAL, "--fault: '%.*s' is no link or device of this fabric",
                           sim_words_shown(name), name.data);
    }
    return check_network(graph, name, fault, err);
}

/* A part from 0 to 1 as thousandths. */
static bool parse_part(struct myr_str text, uint32_t *ret)
{
    double value;
    if (!myr_str_to_double(text, &value) || !(value > 0 && value <= 1)) {
        return false;
    }
    *ret = (uint32_t)(value * 1000 + 0.5);
    /* Less than a thousandth would be nothing, which is not slow but dead. */
    return *ret > 0;
}

/* A flap is a series of deaths and returns, made of the other two. */
static bool parse_kind(struct myr_str word, struct myr_sim_fault *fault, bool *ret_flap)
{
    static const char degrade[] = "degrade=";
    *ret_flap = myr_str_eq(word, MYR_STR("flap"));
    fault->kind = MYR_FAULT_DOWN;
    if (*ret_flap || myr_str_eq(word, MYR_STR("down"))) {
        return true;
    }
    if (myr_str_eq(word, MYR_STR("up"))) {
        fault->kind = MYR_FAULT_UP;
        return true;
    }
    fault->kind = MYR_FAULT_DEGRADE;
    return word.len > sizeof(degrade) - 1 && memcmp(word.data, degrade, sizeof(degrade) - 1) == 0 &&
           parse_part(
               (struct myr_str){word.data + sizeof(degrade) - 1, word.len - (sizeof(degrade) - 1)},
               &fault->capacity_permille);
}

/* The clock ends there: sums of two times stay whole only before it. */
static int check_times(const struct myr_sim_fault *fault, struct myr_err *err)
{
    if (fault->at < SIM_TIME_MAX && fault->reroute < SIM_TIME_MAX - fault->at) {
        return MYR_OK;
    }
    return myr_err_set(err, MYR_EINVAL,
                       "--fault: it comes, or is avoided, after %lld days of simulated time, the "
                       "last that the clock can show",
                       (long long)(SIM_TIME_MAX / MYR_PS_PER_S / 86400));
}

/* The defaults are a link that is dead for a hundredth of the time: annoying, not fatal. */
static int add_flap(struct myr_sim *sim, const struct sim_words *words, struct myr_sim_fault fault,
                    struct myr_err *err)
{
    myr_ps down = 100 * MYR_PS_PER_US, period = 10000 * MYR_PS_PER_US, start = fault.at;
    uint64_t count = 3;
    MYR_TRY(sim_words_time(words, "down", &down, err));
    MYR_TRY(sim_words_time(words, "period", &period, err));
    MYR_TRY(sim_words_number(words, "count", 1, 10000, &count, err));
    /* The limit keeps 10,000 periods within the clock. */
    if (down <= 0 || period <= down || period > INT64_MAX / 20000) {
        return myr_err_set(err, MYR_EINVAL,
                           "--fault: a flap's 'period' must be longer than 'down'");
    }
    for (uint64_t i = 0; i < count; i++) {
        fault.kind = MYR_FAULT_DOWN;
        fault.at = start + (myr_ps)i * period;
        MYR_TRY(check_times(&fault, err));
        myr_sim_fault(sim, &fault);
        fault.kind = MYR_FAULT_UP;
        fault.at += down;
        MYR_TRY(check_times(&fault, err));
        myr_sim_fault(sim, &fault);
    }
    return MYR_OK;
}

/*
 * "WHAT:KIND@TIME,KEY=VALUE": the target is in front of the colon, the kind and its time are the
 * first word behind it.
 */
int myr_sim_fault_words(struct myr_sim *sim, const struct myr_graph *graph, const char *text,
                        struct myr_err *err)
{
    static const char *const keys[] = {"reroute", "down", "period", "count"};
    struct myr_sim_fault fault = {};
    struct sim_words words;
    bool flap = false;
    MYR_TRY(sim_words_split("--fault", text, &words, err));
    MYR_TRY(parse_target(graph, words.kind, &fault, err));
    struct myr_str what = words.count ? words.items[0] : MYR_STR("");
    const char *at = what.len ? memchr(what.data, '@', what.len) : NULL;
    size_t len = at ? (size_t)(at - what.data) : 0;
    if (!at || !parse_kind((struct myr_str){what.data, len}, &fault, &flap) ||
        !myr_sim_parse_time((struct myr_str){at + 1, what.len - len - 1}, &fault.at)) {
        return myr_err_set(err, MYR_EINVAL,
                           "--fault: '%.*s' is not understood; down@1ms, up@2ms, degrade=0.5@1ms "
                           "or flap@1ms is expected",
                           sim_words_shown(what), what.data);
    }
    /* Keys of a flap are unknown elsewhere: only the first is common to all. */
    MYR_TRY(sim_words_check(&words, 1, keys, flap ? MYR_ARRAY_COUNT(keys) : 1, err));
    MYR_TRY(parse_reroute(&words, &fault.reroute, err));
    MYR_TRY(check_times(&fault, err));
    if (flap) {
        return add_flap(sim, &words, fault, err);
    }
    myr_sim_fault(sim, &fault);
    return MYR_OK;
}

/* "node/ID:PART": only nodes can be slow, and the part is of their full speed. */
int myr_sim_slow_words(struct myr_sim *sim, const struct myr_graph *graph, const char *text,
                       struct myr_err *err)
{
    const struct myr_design *design = graph->design;
    struct sim_words words;
    uint32_t permille;
    MYR_TRY(sim_words_split("--slow", text, &words, err));
    uint32_t device = myr_design_find(design, words.kind);
    if (device == MYR_NONE || design->place[device].kind != MYR_DEVICE_NODE) {
        return myr_err_set(err, MYR_EINVAL, "--slow: '%.*s' is no node; node/00042:0.8 is expected",
                           sim_words_shown(words.kind), words.kind.data);
    }
    if (words.count != 1 || !parse_part(words.items[0], &permille)) {
        return myr_err_set(err, MYR_EINVAL,
                           "--slow: a speed above 0 and up to 1 is expected in '%.40s'", text);
    }
    myr_sim_slow_node(sim, device - design->head->first_node, permille);
    return MYR_OK;
}
