/*
 * progress: steps that ranks tell by datagram or that are read from their lines. Both come from
 * users' programs: every number is bounded, every pattern is measured before it is compiled.
 */
#include "progress.h"

#include <ctype.h>
#include <stdio.h>

#include "files.h"

static const char megatron[] =
    "iteration +([0-9]+)/ *[0-9]+ +\\|"; /* "iteration      100/  500000 |" */

/* False at the end of the text. */
static bool next_word(struct myr_str *text, struct myr_str *ret)
{
    while (text->len > 0 && (*text->data == ' ' || *text->data == '\n')) {
        text->data++;
        text->len--;
    }
    size_t len = 0;
    while (len < text->len && text->data[len] != ' ' && text->data[len] != '\n') {
        len++;
    }
    *ret = (struct myr_str){text->data, len};
    text->data += len;
    text->len -= len;
    return len > 0;
}

/* A phase is shown to people and written into a file of lines. */
static bool is_word(struct myr_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!isalnum((unsigned char)text.data[i]) && text.data[i] != '-' && text.data[i] != '_') {
            return false;
        }
    }
    return text.len > 0 && text.len < PROGRESS_PHASE_MAX;
}

/* Pairs of a key and a value; keys that are not known are passed over with theirs. */
bool progress_parse(struct myr_str text, struct progress *ret)
{
    /* Into a copy: a datagram counts whole or not at all, and what it leaves out stays. */
    struct progress progress = *ret;
    struct myr_str key;
    struct myr_str value;
    bool any = false;
    if (text.len > PROGRESS_BYTES_MAX) {
        return false;
    }
    while (next_word(&text, &key)) {
        if (!next_word(&text, &value)) {
            return false;
        }
        bool good;
        if (myr_str_eq(key, MYR_STR("step"))) {
            /* Steps travel as signed numbers too. */
            good = myr_str_to_u64(value, &progress.step) && progress.step <= INT64_MAX;
            any = true;
        } else if (myr_str_eq(key, MYR_STR("saved"))) {
            good = myr_str_to_u64(value, &progress.saved) && progress.saved <= INT64_MAX;
        } else if (myr_str_eq(key, MYR_STR("phase"))) {
            good = is_word(value);
            snprintf(progress.phase, sizeof(progress.phase), "%.*s", (int)(good ? value.len : 0),
                     value.data);
        } else {
            good = true; /* a later kind of word */
        }
        if (!good) {
            return false;
        }
    }
    /* A text without a step says nothing about how far the job is. */
    if (any) {
        *ret = progress;
    }
    return any;
}

void progress_write(const struct progress *progress, struct myr_buf *buf)
{
    myr_buf_printf(buf, "step %llu\nsaved %llu\nat_ns %lld\nby_line %u\n",
                   (unsigned long long)progress->step, (unsigned long long)progress->saved,
                   (long long)progress->at_ns, progress->by_line);
    if (progress->phase[0]) {
        myr_buf_printf(buf, "phase %s\n", progress->phase);
    }
}

/* A phase that is no word is left out, not refused: the step counts. */
bool progress_read(struct myr_str text, struct progress *ret)
{
    struct progress progress = {};
    uint64_t at;
    uint64_t by_line;
    struct myr_str phase;
    if (!line_u64(text, "step", INT64_MAX, &progress.step) ||
        !line_u64(text, "saved", INT64_MAX, &progress.saved) ||
        !line_u64(text, "at_ns", INT64_MAX, &at) || !line_u64(text, "by_line", 1, &by_line)) {
        return false;
    }
    progress.at_ns = (int64_t)at;
    progress.by_line = by_line == 1;
    if (line_text(text, "phase", &phase) && is_word(phase)) {
        snprintf(progress.phase, sizeof(progress.phase), "%.*s", (int)phase.len, phase.data);
    }
    *ret = progress;
    return true;
}

/* Groups within groups, and single characters when all repetitions are written out. */
enum { PATTERN_DEPTH = 16, PATTERN_STATES = 20000 };

/* How many copies of what is before it a repetition makes: 'x{3,5}' is 5. Its length in 'ret'. */
static uint64_t copies(const char *at, size_t *ret)
{
    uint64_t most = 0;
    *ret = 1;
    if (*at != '{') {
        return *at == '+' ? 2 : 1;
    }
    for (*ret = 1; at[*ret] && at[*ret] != '}'; (*ret)++) {
        uint64_t number = 0;
        size_t digits = strspn(at + *ret, "0123456789");
        /* More than 64 bits hold is far more than may be. */
        if (digits > 0 && !myr_str_to_u64((struct myr_str){at + *ret, digits}, &number)) {
            return PATTERN_STATES;
        }
        most = number > most ? number : most;
        *ret += digits > 1 ? digits - 1 : 0;
    }
    *ret += at[*ret] == '}';
    return most < PATTERN_STATES ? most + 1 : PATTERN_STATES;
}

/* "[]a]" is one: the bytes behind '['. */
static size_t bracket(const char *at)
{
    size_t len = at[0] == '^';
    len += at[len] == ']';
    len += strcspn(at + len, "]");
    return len + (at[len] == ']');
}

/* The C library writes repetitions out, those of repetitions too: 'a+++' is eight of them. */
static bool is_too_large(const char *text)
{
    /*
     * For each open group: its size so far, and that of the piece that a repetition would repeat.
     */
    uint64_t total[PATTERN_DEPTH] = {}, last[PATTERN_DEPTH] = {};
    uint32_t depth = 0;
    for (const char *c = text; *c;) {
        size_t len = 1;
        if (strchr("*+?{", *c)) {
            /* The C library repeats the piece before it so often in its automaton. */
            uint64_t times = copies(c, &len);
            total[depth] += last[depth] * (times - 1);
            last[depth] *= times;
        } else if (*c == '(') {
            if (++depth == PATTERN_DEPTH) {
                return true;
            }
            total[depth] = last[depth] = 0;
        } else if (*c == ')' && depth > 0) {
            depth--;
            /* A whole group is one piece of the group around it. */
            last[depth] = total[depth + 1] + 1;
            total[depth] += last[depth];
        } else {
            /* An escaped character, or a set in brackets, is one place. */
            len += *c == '\\' ? c[1] != '\0' : *c == '[' ? bracket(c + 1) : 0;
            last[depth] = 1;
            total[depth]++;
        }
        if (total[depth] > PATTERN_STATES || last[depth] > PATTERN_STATES) {
            return true;
        }
        c += len;
    }
    return false;
}

/* An error is the user's, and is told before a rank has begun. */
int progress_pattern_init(struct progress_pattern *pattern, const char *expression,
                          struct myr_err *err)
{
    const char *text = expression ? expression : megatron;
    for (const char *c = text; *c; c++) {
        /* Going back over a line for them takes time without bound. */
        if (c[0] == '\\' && isdigit((unsigned char)c[1])) {
            return myr_err_set(err, MYR_EINVAL, "job file: progress.pattern: no '\\%c' here", c[1]);
        }
    }
    if (is_too_large(text)) {
        return myr_err_set(err, MYR_ERANGE,
                           "job file: progress.pattern: repetitions of repetitions, more than %d "
                           "places when written out",
                           PATTERN_STATES);
    }
    /* The user's text: all that could cost time or memory without bound was refused above. */
    int rc = regcomp(&pattern->regex, text, REG_EXTENDED | REG_NEWLINE);
    if (rc != 0) {
        char why[100];
        regerror(rc, &pattern->regex, why, sizeof(why));
        return myr_err_set(err, MYR_EINVAL, "job file: progress.pattern: %s", why);
    }
    if (pattern->regex.re_nsub < 1) {
        regfree(&pattern->regex);
        return myr_err_set(err, MYR_EINVAL,
                           "job file: progress.pattern: no group that is the step: '([0-9]+)'");
    }
    pattern->ready = true;
    return MYR_OK;
}

void progress_pattern_done(struct progress_pattern *pattern)
{
    if (pattern->ready) {
        regfree(&pattern->regex);
        pattern->ready = false;
    }
}

/* A group that did not take part, or is no number, is no step. */
bool progress_match(const struct progress_pattern *pattern, const char *line, uint64_t *ret_step)
{
    regmatch_t found[2];
    if (!pattern->ready || regexec(&pattern->regex, line, 2, found, 0) != 0 || found[1].rm_so < 0) {
        return false;
    }
    struct myr_str digits = {line + found[1].rm_so, (size_t)(found[1].rm_eo - found[1].rm_so)};
    uint64_t step;
    if (!myr_str_to_u64(digits, &step) || step > INT64_MAX) {
        return false;
    }
    *ret_step = step;
    return true;
}

/*
 * A guess, for a message that people read: nothing is decided by it. Ranks write millions of lines,
 * nearly all of them without any of the words: one walk over a line looks for all of them.
 */
bool progress_is_error(const char *line)
{
    static const char *const words[] = {
        "error",     "exception",          "fatal",         "abort",     "assert",       "panic",
        "traceback", "segmentation fault", "out of memory", "not found", "no such file", "denied"};
    static const char first[] = "efaptsond"; /* of the words, each letter once */
    for (; *line; line++) {
        int letter = tolower((unsigned char)*line);
        if (letter < 'a' || !memchr(first, letter, sizeof(first) - 1)) {
            continue;
        }
        for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
            if (words[i][0] == letter && strncasecmp(line, words[i], strlen(words[i])) == 0) {
                return true;
            }
        }
    }
    return false;
}
