#include "myriad/text/doc.h"
#include "myriad/text/kind.h"
#include "sweep/internal.h"

/* The file of a sweep: lists of settings, and what a point makes of them. */

/* What a value is checked as; all are kept as text. */
enum setting_kind { SETTING_TEXT, SETTING_NUMBER, SETTING_CHOICE, SETTING_FLAG };

/* One option of the command, as a sweep may set it. */
struct setting {
    const char *name;
    enum setting_kind kind;
    uint32_t choice_count;
    const char *const *choices;
    /* Of a number. */
    uint64_t least, most;
    const char *usual; /* where the file does not say; NULL: it has to, or need not */
};

enum {
    DESIGN,
    TOPOLOGY,
    NET,
    WORKLOAD,
    LB,
    SEED,
    POLARISED,
    PAIRS,
    EFFICIENCY,
    LOSS,
    PAUSE,
    OVERHEAD,
    MODE,
    CC,
    MTU,
    HEADER,
    KMIN,
    KMAX,
    PMAX,
    BUFFER,
    SETTINGS,
};

static const char *const modes[] = {"fluid", "packet"};

/* Names, limits and defaults are those of the command's options. */
static const struct setting settings[SETTINGS] = {
    [DESIGN] = {"design", SETTING_TEXT, 0, NULL, 0, 0, NULL},
    [TOPOLOGY] = {"topology", SETTING_TEXT, 0, NULL, 0, 0, NULL},
    [NET] = {"net", SETTING_CHOICE, MYR_NET_COUNT, myr_net_names, 0, 0, "compute"},
    [WORKLOAD] = {"workload", SETTING_TEXT, 0, NULL, 0, 0, NULL},
    [LB] = {"lb", SETTING_CHOICE, MYR_POLICY_COUNT, myr_policy_names, 0, 0, "ecmp"},
    [SEED] = {"seed", SETTING_NUMBER, 0, NULL, 0, UINT64_MAX, "0"},
    [POLARISED] = {"polarised", SETTING_FLAG, 0, NULL, 0, 0, "false"},
    [PAIRS] = {"queue_pairs", SETTING_NUMBER, 0, NULL, 1, 256, "1"},
    [EFFICIENCY] = {"efficiency", SETTING_NUMBER, 0, NULL, 1, 1000, "1000"},
    [LOSS] = {"sharing_loss", SETTING_NUMBER, 0, NULL, 0, 999, "0"},
    [PAUSE] = {"pause", SETTING_NUMBER, 0, NULL, 0, 1000, "0"},
    [OVERHEAD] = {"message_overhead", SETTING_TEXT, 0, NULL, 0, 0, "0us"},
    /* Of packets: a fluid has none of them. */
    [MODE] = {"mode", SETTING_CHOICE, MYR_ARRAY_COUNT(modes), modes, 0, 0, NULL},
    [CC] = {"cc", SETTING_CHOICE, MYR_CC_COUNT, myr_cc_names, 0, 0, NULL},
    [MTU] = {"mtu", SETTING_NUMBER, 0, NULL, 64, 9216, NULL},
    [HEADER] = {"header", SETTING_NUMBER, 0, NULL, 1, 1024, NULL},
    [KMIN] = {"kmin", SETTING_NUMBER, 0, NULL, 1, 1000000000, NULL},
    [KMAX] = {"kmax", SETTING_NUMBER, 0, NULL, 2, 1000000000, NULL},
    [PMAX] = {"pmax", SETTING_NUMBER, 0, NULL, 1, 1000, NULL},
    [BUFFER] = {"buffer", SETTING_NUMBER, 0, NULL, 10000, 4000000000, NULL},
};

/* NULL for knobs and for lists that are no settings. */
static const struct setting *find_setting(struct myr_str name)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        if (myr_str_eq(name, myr_str_from(settings[i].name))) {
            return &settings[i];
        }
    }
    return NULL;
}

static const char *copy(struct myr_arena *arena, struct myr_str text)
{
    return myr_arena_strndup(arena, text.data, text.len);
}

/* One value of a setting, as it is kept: text that the question's reader is sure to understand. */
static int check_value(const struct setting *setting, const struct myr_doc *node,
                       struct myr_arena *arena, const char **ret, struct myr_err *err)
{
    struct myr_str text;
    uint64_t number;
    uint32_t choice;
    bool flag;
    switch (setting->kind) {
    case SETTING_NUMBER:
        MYR_TRY(myr_doc_u64(node, setting->name, setting->least, setting->most, &number, err));
        *ret = myr_arena_printf(arena, "%llu", (unsigned long long)number);
        return MYR_OK;
    case SETTING_CHOICE:
        MYR_TRY(myr_doc_choice(node, setting->name, setting->choices, setting->choice_count,
                               &choice, err));
        *ret = setting->choices[choice];
        return MYR_OK;
    case SETTING_FLAG:
        MYR_TRY(myr_doc_bool(node, setting->name, &flag, err));
        *ret = flag ? "true" : "false";
        return MYR_OK;
    default:
        MYR_TRY(myr_doc_text(node, setting->name, &text, err));
        *ret = copy(arena, text);
        return MYR_OK;
    }
}

/* "0-9" of a number: from the first to the last; whether they may be so is for check_range(). */
static bool is_range(const struct setting *setting, const struct myr_doc *node, uint64_t *first,
                     uint64_t *last)
{
    struct myr_str text = node->text;
    /* From the second byte on: a range has a number in front of its dash. */
    const char *dash = text.len > 2 ? memchr(text.data + 1, '-', text.len - 1) : NULL;
    if (setting->kind != SETTING_NUMBER || node->kind != MYR_DOC_SCALAR || !dash) {
        return false;
    }
    struct myr_str low = {text.data, (size_t)(dash - text.data)};
    struct myr_str high = {dash + 1, text.len - low.len - 1};
    return myr_str_to_u64(low, first) && myr_str_to_u64(high, last);
}

static int check_range(const struct setting *setting, const struct myr_doc *node, uint64_t first,
                       uint64_t last, struct myr_err *err)
{
    const char *name = setting->name;
    char text[MYR_EXCERPT_MAX], most[32];
    if (first > last) {
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' is '%s', which ends before it begins",
                             name, myr_text_excerpt(node->text, text));
    }
    if (first < setting->least || last > setting->most) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'%s' is '%s', numbers from %llu to %llu are expected", name,
                             myr_text_excerpt(node->text, text), (unsigned long long)setting->least,
                             (unsigned long long)setting->most);
    }
    if (last - first >= MYR_SWEEP_VALUES_MAX) {
        return myr_doc_error(
            err, node, MYR_EINVAL, "'%s' is '%s', at most %s numbers in a range are expected", name,
            myr_text_excerpt(node->text, text), myr_u64_grouped(MYR_SWEEP_VALUES_MAX, most));
    }
    return MYR_OK;
}

/* The node is for complaints; a default has that of the whole file. */
static int open_axis(struct myr_sweep *sweep, const struct myr_doc *node, const char *name,
                     struct myr_sweep_axis **ret, struct myr_err *err)
{
    if (sweep->axis_count == MYR_SWEEP_AXES_MAX) {
        return myr_doc_error(err, node, MYR_EINVAL, "more than %u settings and knobs",
                             MYR_SWEEP_AXES_MAX);
    }
    if (node->kind == MYR_DOC_LIST && (node->count == 0 || node->count > MYR_SWEEP_VALUES_MAX)) {
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' has %u values, 1 to %u are expected",
                             name, node->count, MYR_SWEEP_VALUES_MAX);
    }
    *ret = &sweep->axes[sweep->axis_count++];
    (*ret)->name = name;
    return MYR_OK;
}

/* A single value is a list of one. */
static int read_axis(struct myr_sweep *sweep, const struct setting *setting, const char *name,
                     const struct myr_doc *node, struct myr_arena *arena, struct myr_err *err)
{
    struct myr_sweep_axis *axis = NULL;
    uint64_t first, last;
    MYR_TRY(open_axis(sweep, node, name, &axis, err));
    MYR_ASSERT(axis);
    if (is_range(setting, node, &first, &last)) {
        MYR_TRY(check_range(setting, node, first, last, err));
        /* A range becomes its numbers: from here on it is a list like any other. */
        uint32_t count = (uint32_t)(last - first) + 1;
        const char **values = MYR_ARENA_NEW(arena, const char *, count);
        for (uint32_t i = 0; i < count; i++) {
            unsigned long long number = first + i;
            values[i] = myr_arena_printf(arena, "%llu", number);
        }
        axis->values = values;
        axis->count = count;
        return MYR_OK;
    }
    bool list = node->kind == MYR_DOC_LIST;
    axis->count = list ? node->count : 1;
    const char **values = MYR_ARENA_NEW(arena, const char *, axis->count);
    for (uint32_t i = 0; i < axis->count; i++) {
        MYR_TRY(check_value(setting, list ? node->items[i] : node, arena, &values[i], err));
    }
    axis->values = values;
    return MYR_OK;
}

/* "point" and "job" are columns of the result, as settings are. */
static int read_knobs(struct myr_sweep *sweep, const struct myr_doc *map, struct myr_arena *arena,
                      struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, "knobs", err));
    for (uint32_t i = 0; i < map->count; i++) {
        const struct myr_doc_entry *entry = &map->entries[i];
        struct setting any = {.name = copy(arena, entry->key), .kind = SETTING_TEXT};
        if (find_setting(entry->key) || myr_str_eq(entry->key, MYR_STR("point")) ||
            myr_str_eq(entry->key, MYR_STR("job"))) {
            return myr_doc_error(err, entry->value, MYR_EINVAL,
                                 "a knob cannot be called '%s', as a setting is", any.name);
        }
        MYR_TRY(read_axis(sweep, &any, any.name, entry->value, arena, err));
        sweep->axes[sweep->axis_count - 1].knob = true;
    }
    return MYR_OK;
}

/* A list of texts that every point has: jobs, faults, slow nodes. */
static int read_words(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                      struct myr_sim_words *ret, struct myr_err *err)
{
    bool list = node->kind == MYR_DOC_LIST;
    uint32_t count = list ? node->count : 1;
    if (count > 64) {
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' has %u values, up to 64 are expected",
                             what, count);
    }
    const char **items = MYR_ARENA_NEW(arena, const char *, count);
    for (uint32_t i = 0; i < count; i++) {
        struct myr_str text;
        MYR_TRY(myr_doc_text(list ? node->items[i] : node, what, &text, err));
        items[i] = copy(arena, text);
    }
    *ret = (struct myr_sim_words){items, count};
    return MYR_OK;
}

/* In the order of the file: that is how points are numbered. */
static int read_entry(struct myr_sweep *sweep, const struct myr_doc_entry *entry,
                      struct myr_arena *arena, struct myr_err *err)
{
    const struct setting *setting = find_setting(entry->key);
    if (setting) {
        return read_axis(sweep, setting, setting->name, entry->value, arena, err);
    }
    if (myr_str_eq(entry->key, MYR_STR("knobs"))) {
        return read_knobs(sweep, entry->value, arena, err);
    }
    if (myr_str_eq(entry->key, MYR_STR("jobs"))) {
        return read_words(entry->value, "jobs", arena, &sweep->jobs, err);
    }
    if (myr_str_eq(entry->key, MYR_STR("fault"))) {
        return read_words(entry->value, "fault", arena, &sweep->faults, err);
    }
    return read_words(entry->value, "slow", arena, &sweep->slow, err);
}

/* Among settings and knobs: no two have one name. */
static const struct myr_sweep_axis *find_axis(const struct myr_sweep *sweep, struct myr_str name)
{
    for (uint32_t i = 0; i < sweep->axis_count; i++) {
        if (myr_str_eq(name, myr_str_from(sweep->axes[i].name))) {
            return &sweep->axes[i];
        }
    }
    return NULL;
}

/* "{size}" at the text's beginning: the knob, or NULL; 'ret_len' is what stands for it. */
static const struct myr_sweep_axis *knob_at(const struct myr_sweep *sweep, const char *text,
                                            size_t *ret_len)
{
    const char *end = *text == '{' ? strchr(text, '}') : NULL;
    *ret_len = end ? (size_t)(end - text) + 1 : 0;
    const struct myr_sweep_axis *axis =
        end ? find_axis(sweep, (struct myr_str){text + 1, *ret_len - 2}) : NULL;
    return axis && axis->knob ? axis : NULL;
}

/* Every brace is a knob's, and which knobs are used; values of knobs are put in as they are. */
static int note_knobs(const struct myr_sweep *sweep, const struct myr_doc *node, bool *used,
                      struct myr_err *err)
{
    if (node->kind == MYR_DOC_LIST) {
        for (uint32_t i = 0; i < node->count; i++) {
            MYR_TRY(note_knobs(sweep, node->items[i], used, err));
        }
        return MYR_OK;
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_printf(&text, "%.*s", (int)node->text.len, node->text.len ? node->text.data : "");
    for (const char *at = strchr(text.data, '{'); at; at = strchr(at + 1, '{')) {
        size_t len;
        const struct myr_sweep_axis *axis = knob_at(sweep, at, &len);
        if (!axis) {
            return myr_doc_error(err, node, MYR_EINVAL, "'%.*s' in '%.60s' is no knob",
                                 (int)(len > 40 || len == 0 ? 40 : len), at, text.data);
        }
        used[axis - sweep->axes] = true;
    }
    return MYR_OK;
}

/* A knob that nothing uses would only repeat every point. Knobs stand in settings, not in knobs. */
static int check_knobs(const struct myr_sweep *sweep, const struct myr_doc *doc,
                       struct myr_err *err)
{
    bool used[MYR_SWEEP_AXES_MAX] = {false};
    const struct myr_doc *knobs = myr_doc_get(doc, "knobs");
    for (uint32_t i = 0; i < doc->count; i++) {
        if (doc->entries[i].value != knobs) {
            MYR_TRY(note_knobs(sweep, doc->entries[i].value, used, err));
        }
    }
    for (uint32_t i = 0; i < sweep->axis_count; i++) {
        const struct myr_sweep_axis *axis = &sweep->axes[i];
        if (axis->knob && !used[i]) {
            return myr_doc_error(err, myr_doc_get(knobs, axis->name), MYR_EINVAL,
                                 "no setting has the knob '{%s}'", axis->name);
        }
    }
    return MYR_OK;
}

/* With the NUL, so that "ab","c" and "a","bc" differ. */
static void mix(uint64_t *digest, const char *text)
{
    *digest = myr_hash_u64(*digest ^ myr_hash_bytes(text, strlen(text) + 1));
}

/* Also the digest: by names and values in their order, which is what numbers the points. */
static int count_points(struct myr_sweep *sweep, const struct myr_doc *doc, struct myr_err *err)
{
    const struct myr_sim_words *lists[] = {&sweep->jobs, &sweep->faults, &sweep->slow};
    uint64_t points = 1;
    for (uint32_t i = 0; i < sweep->axis_count; i++) {
        /* Checked at each step: no product of two can overflow before it is noticed. */
        points *= sweep->axes[i].count;
        mix(&sweep->digest, sweep->axes[i].name);
        if (points > MYR_SWEEP_POINTS_MAX) {
            return myr_doc_error(err, doc, MYR_EINVAL, "more than %u points", MYR_SWEEP_POINTS_MAX);
        }
        for (uint32_t v = 0; v < sweep->axes[i].count; v++) {
            mix(&sweep->digest, sweep->axes[i].values[v]);
        }
    }
    for (size_t l = 0; l < MYR_ARRAY_COUNT(lists); l++) {
        /* Between the lists: a word that moves from one to the next makes another sweep. */
        mix(&sweep->digest, "|");
        for (uint32_t i = 0; i < lists[l]->count; i++) {
            mix(&sweep->digest, lists[l]->items[i]);
        }
    }
    MYR_ASSERT(points > 0); /* no axis is empty */
    sweep->points = (uint32_t)points;
    return MYR_OK;
}

/* What the file leaves open is a setting too: results name all that they come from. */
static int add_usual(struct myr_sweep *sweep, const struct myr_doc *doc, struct myr_err *err)
{
    for (uint32_t i = 0; i < SETTINGS; i++) {
        if (settings[i].usual && !find_axis(sweep, myr_str_from(settings[i].name))) {
            struct myr_sweep_axis *axis = NULL;
            MYR_TRY(open_axis(sweep, doc, settings[i].name, &axis, err));
            MYR_ASSERT(axis);
            axis->values = &settings[i].usual;
            axis->count = 1;
        }
    }
    return MYR_OK;
}

/* What is left open is added behind what the file says: it has one value and changes no number. */
static int read_doc(struct myr_sweep *sweep, const struct myr_doc *doc, struct myr_arena *arena,
                    struct myr_err *err)
{
    static const char *const keys[] = {
        "design",
        "topology",
        "net",
        "workload",
        "lb",
        "seed",
        "polarised",
        "queue_pairs",
        "efficiency",
        "pause",
        "message_overhead",
        "knobs",
        "jobs",
        "fault",
        "slow",
        "sharing_loss",
        "mode",
        "cc",
        "mtu",
        "header",
        "kmin",
        "kmax",
        "pmax",
        "buffer",
    };
    MYR_TRY(myr_doc_expect(doc, MYR_DOC_MAP, "a sweep", err));
    /* Names first: a typo in one is told before anything about values. */
    MYR_TRY(myr_doc_check_keys(doc, NULL, keys, MYR_ARRAY_COUNT(keys), err));
    for (uint32_t i = 0; i < doc->count; i++) {
        MYR_TRY(read_entry(sweep, &doc->entries[i], arena, err));
    }
    bool design = find_axis(sweep, MYR_STR("design")),
         words = find_axis(sweep, MYR_STR("topology"));
    if (design == words) {
        return myr_doc_error(err, doc, MYR_EINVAL,
                             "'design' or 'topology' is expected, one of "
                             "the two");
    }
    if (!find_axis(sweep, MYR_STR("workload"))) {
        return myr_doc_error(err, doc, MYR_EINVAL, "'workload' is missing");
    }
    MYR_TRY(add_usual(sweep, doc, err));
    MYR_TRY(check_knobs(sweep, doc, err));
    return count_points(sweep, doc, err);
}

int myr_sweep_parse(struct myr_sweep *ret, struct myr_arena *arena, const char *file,
                    struct myr_str text, struct myr_err *err)
{
    const struct myr_doc *doc;
    *ret = (struct myr_sweep){.file = file};
    MYR_TRY(myr_doc_read_yaml(arena, file, text, &doc, err));
    return read_doc(ret, doc, arena, err);
}

int myr_sweep_read(struct myr_sweep *ret, struct myr_arena *arena, const char *path,
                   struct myr_err *err)
{
    const struct myr_doc *doc;
    *ret = (struct myr_sweep){.file = myr_file_name(path)};
    static const struct myr_doc_want want = {MYR_KINDS_DOC(SWEEP), "a sweep of simulations"};
    MYR_TRY(myr_doc_read_file_of(arena, path, &want, &doc, err));
    return read_doc(ret, doc, arena, err);
}

/* Like the digits of a number, the last axis being the lowest. */
const char *myr_sweep_value(const struct myr_sweep *sweep, uint32_t axis, uint32_t point)
{
    MYR_ASSERT(axis < sweep->axis_count && point < sweep->points);
    for (uint32_t i = sweep->axis_count - 1; i > axis; i--) {
        point /= sweep->axes[i].count;
    }
    return sweep->axes[axis].values[point % sweep->axes[axis].count];
}

/* Values of knobs are put in as they are: a brace in one of them is not looked at again. */
static const char *put_in(const struct myr_sweep *sweep, uint32_t point, const char *text,
                          struct myr_arena *arena)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    while (*text) {
        size_t len;
        const struct myr_sweep_axis *axis = knob_at(sweep, text, &len);
        if (axis) {
            uint32_t index = (uint32_t)(axis - sweep->axes);
            myr_buf_puts(&buf, myr_sweep_value(sweep, index, point));
            text += len;
        } else {
            myr_buf_putc(&buf, *text++);
        }
    }
    return myr_arena_strndup(arena, buf.len ? buf.data : "", buf.len);
}

/* 'first', where there is one, stands in front: the workload before the other jobs. */
static struct myr_sim_words put_in_all(const struct myr_sweep *sweep, uint32_t point,
                                       const struct myr_sim_words *words, const char *first,
                                       struct myr_arena *arena)
{
    uint32_t count = 0;
    const char **items = MYR_ARENA_NEW(arena, const char *, words->count + 1);
    if (first) {
        items[count++] = first;
    }
    for (uint32_t i = 0; i < words->count; i++) {
        items[count++] = put_in(sweep, point, words->items[i], arena);
    }
    return (struct myr_sim_words){items, count};
}

/* Of the values that were checked when they were read. */
static uint64_t number_of(const char *text)
{
    uint64_t value = 0;
    bool known = myr_str_to_u64(myr_str_from(text), &value);
    MYR_ASSERT(known);
    return value;
}

/* 0 where the file does not say. */
static uint64_t number_if(const char *text)
{
    return text ? number_of(text) : 0;
}

/* As number_of(): what was read is known to be one of them. */
static uint32_t choice_of(const char *text, const char *const *names, uint32_t count)
{
    uint32_t i = 0;
    MYR_ASSERT(text);
    while (i < count && strcmp(names[i], text) != 0) {
        i++;
    }
    MYR_ASSERT(i < count);
    return i;
}

/* Every setting has a value by now, but for design or topology, and those of packets. */
struct myr_sim_question myr_sweep_question(const struct myr_sweep *sweep, uint32_t point,
                                           struct myr_arena *arena)
{
    const char *values[SETTINGS] = {};
    MYR_ASSERT(point < sweep->points);
    for (uint32_t i = 0; i < sweep->axis_count; i++) {
        const struct setting *setting = find_setting(myr_str_from(sweep->axes[i].name));
        if (setting && !sweep->axes[i].knob) {
            /* By place in the table, so that the question below can name them. */
            values[setting - settings] =
                put_in(sweep, point, myr_sweep_value(sweep, i, point), arena);
        }
    }
    MYR_ASSERT(!values[DESIGN] != !values[TOPOLOGY] && values[WORKLOAD]);
    struct myr_sim_question question = {
        .design = values[DESIGN],
        .topology = values[TOPOLOGY],
        .workloads = put_in_all(sweep, point, &sweep->jobs, values[WORKLOAD], arena),
        .faults = put_in_all(sweep, point, &sweep->faults, NULL, arena),
        .slow = put_in_all(sweep, point, &sweep->slow, NULL, arena),
        .message_overhead = values[OVERHEAD],
        .queue_pairs = (uint32_t)number_of(values[PAIRS]),
        .efficiency_permille = (uint32_t)number_of(values[EFFICIENCY]),
        .sharing_loss_permille = (uint32_t)number_of(values[LOSS]),
        .pause_permille = (uint32_t)number_of(values[PAUSE]),
        .packets = values[MODE] && strcmp(values[MODE], "packet") == 0,
        .cc = (enum myr_cc)(values[CC] ? choice_of(values[CC], myr_cc_names, MYR_CC_COUNT) : 0),
        .mtu_bytes = (uint32_t)number_if(values[MTU]),
        .header_bytes = (uint32_t)number_if(values[HEADER]),
        .kmin_bytes = number_if(values[KMIN]),
        .kmax_bytes = number_if(values[KMAX]),
        .pmax_permille = (uint32_t)number_if(values[PMAX]),
        .buffer_bytes = number_if(values[BUFFER]),
        .net = (enum myr_net_id)choice_of(values[NET], myr_net_names, MYR_NET_COUNT),
        .balance = {.policy =
                        (enum myr_policy)choice_of(values[LB], myr_policy_names, MYR_POLICY_COUNT),
                    .seed = number_of(values[SEED]),
                    .polarised = strcmp(values[POLARISED], "true") == 0},
    };
    return question;
}
