/*
 * pattern: what a user gives to find steps in lines. It comes from job files and runs in processes
 * that hold ranks or all jobs of a cluster: every one is measured before it is compiled.
 */
#include "myriad/wire/pattern.h"

#include <ctype.h>

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

int myr_step_pattern_init(struct myr_step_pattern *pattern, const char *text, struct myr_err *err)
{
    for (const char *c = text; *c; c++) {
        /* Going back over a line for them takes time without bound. */
        if (c[0] == '\\' && isdigit((unsigned char)c[1])) {
            return myr_err_set(err, MYR_EINVAL, "no '\\%c' here", c[1]);
        }
    }
    if (is_too_large(text)) {
        return myr_err_set(err, MYR_ERANGE,
                           "repetitions of repetitions, more than %d places when written out",
                           PATTERN_STATES);
    }
    /* The user's text: all that could cost time or memory without bound was refused above. */
    int rc = regcomp(&pattern->regex, text, REG_EXTENDED | REG_NEWLINE);
    if (rc != 0) {
        char why[100];
        regerror(rc, &pattern->regex, why, sizeof(why));
        return myr_err_set(err, MYR_EINVAL, "%s", why);
    }
    if (pattern->regex.re_nsub < 1) {
        regfree(&pattern->regex);
        return myr_err_set(err, MYR_EINVAL, "no group that is the step: '([0-9]+)'");
    }
    pattern->ready = true;
    return MYR_OK;
}

void myr_step_pattern_done(struct myr_step_pattern *pattern)
{
    if (pattern->ready) {
        regfree(&pattern->regex);
        pattern->ready = false;
    }
}

/* A group that did not take part, or is no number, is no step. */
bool myr_step_pattern_match(const struct myr_step_pattern *pattern, const char *line,
                            uint64_t *ret_step)
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
