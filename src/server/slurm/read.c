/*
 * read: what Slurm's commands print. No state, no I/O. Lines are cut at the bars that the formats
 * ask for, and words become one of a few kinds; what a word of another version means is never
 * guessed at. Texts point into what was printed.
 */
#include <stdio.h>
#include <string.h>

#include "myriad/server/slurm.h"
#include "myriad/text.h"

enum {
    NAMES_MAX = 1000000, /* a list with brackets in brackets may name more than there are */
    NAME_MAX_BYTES = 255,
    BRACKETS_MAX = 8, /* in one name: "r[1-2]n[01-16]" has two */
    NODE_FIELDS = 7,  /* of MYR_SLURM_NODE_FORMAT */
    JOB_FIELDS = 6,   /* of MYR_SLURM_JOB_FORMAT */
};

/* A line cut at its bars; the last field keeps those that it has. False: there are too few. */
static bool cut(struct myr_str line, struct myr_str *fields, uint32_t count)
{
    const char *at = line.data, *end = line.data + line.len;
    for (uint32_t i = 0; i + 1 < count; i++) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        if (!bar) {
            return false;
        }
        fields[i] = (struct myr_str){at, (size_t)(bar - at)};
        at = bar + 1;
    }
    fields[count - 1] = (struct myr_str){at, (size_t)(end - at)};
    return true;
}

static bool next_line(struct myr_str *text, struct myr_str *ret)
{
    if (text->len == 0) {
        return false;
    }
    const char *newline = memchr(text->data, '\n', text->len);
    size_t len = newline ? (size_t)(newline - text->data) : text->len;
    *ret = (struct myr_str){text->data, len};
    len += newline != NULL;
    text->data += len;
    text->len -= len;
    return true;
}

/* One line that cannot be read spoils the whole look: a part of a list is no list. */
static int unexpected(const char *file, uint32_t number, struct myr_str line, uint32_t fields,
                      struct myr_err *err)
{
    char shown[MYR_EXCERPT_MAX];
    return myr_err_set(err, MYR_EINVAL, "%s:%u:1: '%s' has not the %u fields that were asked for",
                       file, number, myr_text_excerpt(line, shown), fields);
}

/* "gpu:h100:8(S:0-1),gpu:a100:2,license:4": all GPUs of it; "(null)": none. */
static uint64_t count_gpus(struct myr_str gres)
{
    uint64_t all = 0;
    const char *at = gres.data, *end = gres.data + gres.len;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        /* Behind the count: "(S:0-1)", the sockets. */
        const char *open = memchr(at, '(', (size_t)(stop - at));
        struct myr_str item = {at, (size_t)((open ? open : stop) - at)};
        bool gpu = item.len >= 3 && memcmp(item.data, "gpu", 3) == 0 &&
                   (item.len == 3 || item.data[3] == ':');
        size_t colon = item.len;
        while (colon > 0 && item.data[colon - 1] != ':') {
            colon--;
        }
        uint64_t count = 1;
        if (gpu && colon > 0 &&
            !myr_str_to_u64((struct myr_str){item.data + colon, item.len - colon}, &count)) {
            count = 1; /* "gpu:h100" is one of them */
        }
        /* No node has more: it is a number of something else. */
        all += gpu && count <= 1024 ? count : 0;
        /* A comma inside the brackets behind a count ends nothing: "(S:0,1)". */
        const char *close = open ? memchr(open, ')', (size_t)(end - open)) : NULL;
        comma = close ? memchr(close, ',', (size_t)(end - close)) : comma;
        at = comma ? comma + 1 : end;
    }
    return all;
}

static bool is_one_of(struct myr_str text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (myr_str_eq_nocase(text, myr_str_from(words[i]))) {
            return true;
        }
    }
    return false;
}

/*
 * "idle", "mixed*", "drained~": a word, and marks behind it: '*' does not answer, '~' its power is
 * off, '#' on its way up, '%' and '!' on its way down, '$' in maintenance, '@' and '^' to be
 * started anew, '-' planned for somebody, '+' of the old short form.
 */
static enum myr_slurm_node_is node_is(struct myr_str state)
{
    static const char *const fit[] = {
        "idle", "allocated",  "mixed", "completing",  "planned",      "alloc",    "mix",
        "comp", "allocated+", "plnd",  "powering_up", "powered_down", "power_up", "pow_up"};
    static const char *const held[] = {
        "draining", "drained",  "drain",  "drng",          "failing",          "failg",
        "fail",     "maint",    "reboot", "reboot_issued", "reboot_requested", "inval",
        "blocked",  "perfctrs", "npc",    "powering_down", "power_down",       "pow_dn",
        "external"};
    static const char *const reserved[] = {"reserved", "resv"};
    static const char *const down[] = {"down", "error"};
    static const char *const absent[] = {"future", "futr", "dynamic_future"};
    static const char marks[] = {'*', '~', '#', '!', '%', '$', '@', '^', '-', '+'};
    static const char holding[] = {'$', '@', '^', '%', '!'};
    bool silent = false, off = false, held_by_mark = false;
    while (state.len > 0 && memchr(marks, state.data[state.len - 1], sizeof(marks))) {
        char mark = state.data[--state.len];
        silent = silent || mark == '*';
        off = off || mark == '~';
        held_by_mark = held_by_mark || memchr(holding, mark, sizeof(holding)) != NULL;
    }
    if (is_one_of(state, absent, MYR_ARRAY_COUNT(absent))) {
        return MYR_SLURM_NODE_ABSENT;
    }
    /* A node whose power Slurm has taken does not answer either, and is well. */
    if (silent && !off) {
        return MYR_SLURM_NODE_SILENT;
    }
    if (is_one_of(state, down, MYR_ARRAY_COUNT(down))) {
        return MYR_SLURM_NODE_DOWN;
    }
    if (is_one_of(state, reserved, MYR_ARRAY_COUNT(reserved))) {
        return MYR_SLURM_NODE_RESERVED;
    }
    if (held_by_mark || is_one_of(state, held, MYR_ARRAY_COUNT(held))) {
        return MYR_SLURM_NODE_HELD;
    }
    /* "unknown", and words of another version: not used before somebody knows what they mean. */
    return is_one_of(state, fit, MYR_ARRAY_COUNT(fit)) ? MYR_SLURM_NODE_UP : MYR_SLURM_NODE_SILENT;
}

/*
 * "192", or "192+" where nodes of one line have that and more. From 1024 CPUs on sinfo writes units
 * of 1024, releases differ in whether only where that is exact: "2K", "1.50K".
 */
static bool read_amount(struct myr_str text, uint64_t *ret)
{
    static const char units[] = {'K', 'M', 'G', 'T', 'P'};
    uint64_t whole, part = 0, scale = 1, factor = 1;
    /* The least of them counts. */
    text.len -= text.len > 0 && text.data[text.len - 1] == '+';
    const char *unit = text.len > 0 ? memchr(units, text.data[text.len - 1], sizeof(units)) : NULL;
    if (!unit) {
        return myr_str_to_u64(text, ret);
    }
    text.len--;
    for (const char *each = units; each <= unit; each++) {
        factor *= 1024;
    }
    const char *point = memchr(text.data, '.', text.len);
    size_t before = point ? (size_t)(point - text.data) : text.len;
    size_t digits = point ? text.len - before - 1 : 0;
    for (size_t i = 0; i < digits && digits <= 6; i++) {
        scale *= 10;
    }
    if (!myr_str_to_u64((struct myr_str){text.data, before}, &whole) || whole > 1023 ||
        (point && (digits == 0 || digits > 6 ||
                   !myr_str_to_u64((struct myr_str){point + 1, digits}, &part)))) {
        return false;
    }
    /* In two steps, so that large units do not overflow. */
    *ret = whole * factor + part * (factor / scale) + part * (factor % scale) / scale;
    return true;
}

/* Texts of a node point into 'text', and are valid during the call. */
int myr_slurm_read_nodes(const char *file, struct myr_str text, myr_slurm_node_each *each,
                         void *context, struct myr_err *err)
{
    struct myr_str line, f[NODE_FIELDS];
    for (uint32_t number = 1; next_line(&text, &line); number++) {
        struct myr_slurm_node node = {};
        bool whole = cut(line, f, NODE_FIELDS);
        if (whole && f[0].len == 0 && myr_str_eq(f[5], MYR_STR("n/a"))) {
            continue; /* a partition without nodes */
        }
        if (!whole || f[0].len == 0 || !read_amount(f[2], &node.cpus) ||
            !read_amount(f[3], &node.memory_mb)) {
            return unexpected(file, number, line, NODE_FIELDS, err);
        }
        bool none = myr_str_eq(f[6], MYR_STR("none")) || myr_str_eq(f[6], MYR_STR("None"));
        node.names = f[0];
        /* sinfo marks the default partition with a star behind its name. */
        node.in_default = f[1].len > 0 && f[1].data[f[1].len - 1] == '*';
        node.partition = (struct myr_str){f[1].data, f[1].len - node.in_default};
        node.gpus = count_gpus(f[4]);
        node.state = f[5];
        node.reason = none ? MYR_STR("") : f[6];
        node.is = node_is(node.state);
        MYR_TRY(each(context, &node, err));
    }
    return MYR_OK;
}

/* All words that Slurm has for the state of a job, by what they mean here. */
static enum myr_slurm_job_is job_is(struct myr_str state)
{
    static const struct {
        const char *word;
        enum myr_slurm_job_is is;
    } words[] = {
        {"PENDING", MYR_SLURM_JOB_WAITS},       {"REQUEUED", MYR_SLURM_JOB_WAITS},
        {"REQUEUE_HOLD", MYR_SLURM_JOB_WAITS},  {"REQUEUE_FED", MYR_SLURM_JOB_WAITS},
        {"SPECIAL_EXIT", MYR_SLURM_JOB_WAITS},  {"RESV_DEL_HOLD", MYR_SLURM_JOB_WAITS},
        {"REQUEUED_CRON", MYR_SLURM_JOB_WAITS}, {"EXPEDITING", MYR_SLURM_JOB_WAITS},
        {"CONFIGURING", MYR_SLURM_JOB_STARTS},  {"RUNNING", MYR_SLURM_JOB_RUNS},
        {"SUSPENDED", MYR_SLURM_JOB_RUNS},      {"STOPPED", MYR_SLURM_JOB_RUNS},
        {"RESIZING", MYR_SLURM_JOB_RUNS},       {"SIGNALING", MYR_SLURM_JOB_RUNS},
        {"COMPLETING", MYR_SLURM_JOB_ENDS},     {"STAGE_OUT", MYR_SLURM_JOB_ENDS},
        {"COMPLETED", MYR_SLURM_JOB_DONE},      {"FAILED", MYR_SLURM_JOB_FAILED},
        {"TIMEOUT", MYR_SLURM_JOB_FAILED},      {"OUT_OF_MEMORY", MYR_SLURM_JOB_FAILED},
        {"DEADLINE", MYR_SLURM_JOB_FAILED},     {"NODE_FAIL", MYR_SLURM_JOB_LOST},
        {"BOOT_FAIL", MYR_SLURM_JOB_LOST},      {"PREEMPTED", MYR_SLURM_JOB_PUSHED},
        {"LAUNCH_FAILED", MYR_SLURM_JOB_LOST},  {"RECONFIG_FAIL", MYR_SLURM_JOB_LOST},
        {"CANCELLED", MYR_SLURM_JOB_CANCELLED}, {"REVOKED", MYR_SLURM_JOB_CANCELLED},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (myr_str_eq_nocase(state, myr_str_from(words[i].word))) {
            return words[i].is;
        }
    }
    return MYR_SLURM_JOB_ENDS; /* a word of another version: nothing is concluded from it */
}

/* The comment is the last field, since others may put bars into theirs. */
int myr_slurm_read_jobs(const char *file, struct myr_str text, myr_slurm_job_each *each,
                        void *context, struct myr_err *err)
{
    struct myr_str line, f[JOB_FIELDS];
    for (uint32_t number = 1; next_line(&text, &line); number++) {
        if (!cut(line, f, JOB_FIELDS) || f[0].len == 0) {
            return unexpected(file, number, line, JOB_FIELDS, err);
        }
        struct myr_slurm_job job = {f[0], f[1], f[2], f[3], f[4], f[5], job_is(f[1])};
        MYR_TRY(each(context, &job, err));
    }
    return MYR_OK;
}

/* One name with its brackets: each of them counts like a digit of a number. */
struct pattern {
    struct myr_str piece;               /* the whole of it, for messages too */
    struct myr_str lists[BRACKETS_MAX]; /* what stands between brackets */
    uint32_t count;
};

/* Names as they are made, in a buffer that is used again for each. */
struct walk {
    myr_slurm_name_each *each;
    void *context;
    uint64_t named;
    char name[NAME_MAX_BYTES + 1];
};

static int bad_list(struct myr_err *err, struct myr_str piece)
{
    char shown[MYR_EXCERPT_MAX];
    return myr_err_set(err, MYR_EINVAL, "'%s' is no list of nodes such as n[001-032,040]",
                       myr_text_excerpt(piece, shown));
}

/* Empty brackets and those that do not close are refused; so are too many. */
static int find_brackets(struct pattern *pattern, struct myr_err *err)
{
    const char *at = pattern->piece.data, *end = at + pattern->piece.len;
    while ((at = memchr(at, '[', (size_t)(end - at)))) {
        const char *close = memchr(at, ']', (size_t)(end - at));
        if (!close || close == at + 1 || pattern->count == BRACKETS_MAX) {
            return bad_list(err, pattern->piece);
        }
        pattern->lists[pattern->count++] = (struct myr_str){at + 1, (size_t)(close - at - 1)};
        at = close + 1;
    }
    return MYR_OK;
}

/* Fills in the brackets from 'level' on; 'len' bytes of the name stand. */
static int expand(const struct pattern *pattern, uint32_t level, const char *from, size_t len,
                  struct walk *walk, struct myr_err *err);

/* "001-032" or "040": as many digits as the first number has. */
static int expand_range(const struct pattern *pattern, uint32_t level, struct myr_str range,
                        size_t len, struct walk *walk, struct myr_err *err)
{
    const char *dash = memchr(range.data, '-', range.len);
    size_t width = dash ? (size_t)(dash - range.data) : range.len;
    uint64_t first = 0, last = 0;
    bool ok = width <= 18 && myr_str_to_u64((struct myr_str){range.data, width}, &first);
    last = first;
    ok = ok && (!dash || myr_str_to_u64((struct myr_str){dash + 1, range.len - width - 1}, &last));
    if (!ok || last < first || last - first >= NAMES_MAX) {
        return bad_list(err, pattern->piece);
    }
    const char *after = pattern->lists[level].data + pattern->lists[level].len + 1;
    for (uint64_t i = first; i <= last; i++) {
        char digits[32];
        int count = snprintf(digits, sizeof(digits), "%0*llu", (int)width, (unsigned long long)i);
        if (len + (size_t)count > NAME_MAX_BYTES) {
            return bad_list(err, pattern->piece);
        }
        memcpy(walk->name + len, digits, (size_t)count);
        MYR_TRY(expand(pattern, level + 1, after, len + (size_t)count, walk, err));
    }
    return MYR_OK;
}

static int expand(const struct pattern *pattern, uint32_t level, const char *from, size_t len,
                  struct walk *walk, struct myr_err *err)
{
    const char *end = pattern->piece.data + pattern->piece.len;
    const char *stop = level < pattern->count ? pattern->lists[level].data - 1 : end;
    size_t plain = (size_t)(stop - from);
    if (len + plain > NAME_MAX_BYTES || memchr(from, ']', plain)) {
        return bad_list(err, pattern->piece);
    }
    memcpy(walk->name + len, from, plain);
    len += plain;
    if (level == pattern->count) {
        /* Counted over the whole list: brackets multiply. */
        if (len == 0 || ++walk->named > NAMES_MAX) {
            return bad_list(err, pattern->piece);
        }
        return walk->each(walk->context, (struct myr_str){walk->name, len}, err);
    }
    const char *at = pattern->lists[level].data, *close = at + pattern->lists[level].len;
    while (at <= close) {
        const char *comma = memchr(at, ',', (size_t)(close - at));
        const char *last = comma ? comma : close;
        MYR_TRY(expand_range(pattern, level, (struct myr_str){at, (size_t)(last - at)}, len, walk,
                             err));
        at = last + 1;
    }
    return MYR_OK;
}

/* One after the other into one buffer: a list of a hundred thousand needs no memory. */
int myr_slurm_read_names(struct myr_str list, myr_slurm_name_each *each, void *context,
                         struct myr_err *err)
{
    struct walk walk = {.each = each, .context = context};
    const char *at = list.data, *end = list.data + list.len;
    if (list.len == 0 || myr_str_eq(list, MYR_STR("(null)"))) {
        return MYR_OK; /* nobody has any */
    }
    while (at <= end) {
        const char *stop = at;
        for (bool inside = false; stop < end && (inside || *stop != ','); stop++) {
            inside = *stop == '[' || (inside && *stop != ']');
        }
        struct pattern pattern = {.piece = {at, (size_t)(stop - at)}};
        MYR_TRY(find_brackets(&pattern, err));
        MYR_TRY(expand(&pattern, 0, at, 0, &walk, err));
        at = stop + 1;
    }
    return MYR_OK;
}

/* "123", or "123;cluster" as sbatch --parsable says; "123_4" of an array is none. */
bool myr_slurm_read_id(struct myr_str text, uint64_t *ret)
{
    size_t len = 0;
    while (len < text.len && text.data[len] >= '0' && text.data[len] <= '9') {
        len++;
    }
    bool ends = len == text.len || text.data[len] == ';' || text.data[len] == '\n';
    return ends && myr_str_to_u64((struct myr_str){text.data, len}, ret) && *ret > 0;
}

static bool has(struct myr_str text, const char *word)
{
    return memmem(text.data, text.len, word, strlen(word)) != NULL;
}

/* The last line that is not empty says what came of it; those before it lead up to that. */
static struct myr_str last_line(struct myr_str text)
{
    struct myr_str line, last = MYR_STR("");
    while (next_line(&text, &line)) {
        last = line.len > 0 ? line : last;
    }
    return last;
}

/* The first that fits counts: the more telling words stand in front of the general ones. */
static enum myr_slurm_fault fault_of(struct myr_str text, const char **ret_words)
{
    static const struct {
        const char *says;
        enum myr_slurm_fault fault;
        const char *words;
    } rows[] = {
        {"Incompatible versions", MYR_SLURM_VERSION, "its controller speaks another version"},
        {"Protocol version has changed", MYR_SLURM_VERSION,
         "its controller speaks another version"},
        {"unsupported version", MYR_SLURM_VERSION, "its controller speaks another version"},
        {"unge", MYR_SLURM_DENIED, "munge gives no credential"},
        {"Protocol authentication error", MYR_SLURM_DENIED,
         "its controller does not take our credential: do munge keys and clocks agree?"},
        {"Invalid authentication credential", MYR_SLURM_DENIED,
         "its controller does not take our credential: do munge keys and clocks agree?"},
        {"authentication", MYR_SLURM_DENIED, "its controller does not take our credential"},
        {"Unable to contact slurm controller", MYR_SLURM_AWAY, "its controller does not answer"},
        {"Unable to establish configuration source", MYR_SLURM_AWAY,
         "there is no configuration of it"},
        {"timed out", MYR_SLURM_AWAY, "its controller does not answer in time"},
        {"Connection refused", MYR_SLURM_AWAY, "its controller does not answer"},
        {"Zero Bytes were transmitted", MYR_SLURM_AWAY,
         "its controller hangs up: do munge keys and clocks agree?"},
        {"Unexpected message received", MYR_SLURM_AWAY, "its controller ends the connection"},
        {"temporarily unable", MYR_SLURM_AWAY, "its controller is not ready yet"},
        {"in standby mode", MYR_SLURM_AWAY, "its controller is a standby"},
        {"Slurm backup controller", MYR_SLURM_AWAY, "its controller is a standby"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        if (has(text, rows[i].says)) {
            *ret_words = rows[i].words;
            return rows[i].fault;
        }
    }
    return MYR_SLURM_REFUSED;
}

/*
 * Our words where the fault is known, and Slurm's last line with them. Plain letters alone: it goes
 * into logs and pages.
 */
enum myr_slurm_fault myr_slurm_read_fault(const char *command, struct myr_str text, char *ret,
                                          size_t size)
{
    const char *words = NULL;
    char shown[MYR_EXCERPT_MAX * 2];
    struct myr_str line = last_line(text);
    size_t at = 0;
    enum myr_slurm_fault fault = fault_of(text, &words);
    for (size_t i = 0; i < line.len && at + 1 < sizeof(shown) && i < 160; i++) {
        unsigned char c = (unsigned char)line.data[i];
        shown[at++] = c >= 0x20 && c < 0x7f ? (char)c : '?';
    }
    shown[at] = '\0';
    snprintf(ret, size, "%s%s%s%s%s", words ? words : "", words && at ? " (" : "",
             at ? shown : command, at == 0 && !words ? " failed without a word" : "",
             words && at ? ")" : "");
    return fault;
}
