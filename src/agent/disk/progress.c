/*
 * progress: steps that ranks tell by datagram or that are read from their lines. Both come from
 * users' programs: every number is bounded.
 */
#include "disk/progress.h"

#include <ctype.h>
#include <stdio.h>

#include "disk/files.h"

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
    /* What is beyond was refused where it came from: it could not be read again. */
    MYR_ASSERT(progress->step <= INT64_MAX && progress->saved <= INT64_MAX);
    MYR_ASSERT(progress->at_ns >= 0);
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

/* The rule is everybody's who takes job files; where it was broken is said here. */
int progress_pattern_init(struct myr_step_pattern *pattern, const char *expression,
                          struct myr_err *err)
{
    struct myr_err why = {};
    int rc = myr_step_pattern_init(pattern, expression ? expression : megatron, &why);
    return rc < 0 ? myr_err_set(err, rc, "job file: progress.pattern: %s", why.message) : MYR_OK;
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
