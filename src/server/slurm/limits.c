/* limits: what sacctmgr prints of accounts and qualities of service, read into plain values. No
 * state, no I/O. */
#include <string.h>

#include "myriad/server/slurm.h"
#include "myriad/text.h"

enum {
    ACCOUNT_FIELDS = 10,
    QOS_FIELDS = 6,
    FIELDS_MAX = 10
}; /* of the formats in myriad/server/slurm.h */

/* "": no limit. */
static bool read_count(struct myr_str text, uint64_t *ret)
{
    *ret = UINT64_MAX;
    return text.len == 0 || myr_str_to_u64(text, ret);
}

/*
 * "cpu=10,gres/gpu=16,gres/gpu:h100=8,node=4". GPUs of one kind are GPUs: the smallest of these
 * limits counts, since the nodes of a cluster here have one kind.
 */
static bool read_tres(struct myr_str text, struct myr_slurm_amounts *ret)
{
    const char *at = text.data, *end = text.data + text.len;
    *ret = (struct myr_slurm_amounts){.gpus = UINT64_MAX, .nodes = UINT64_MAX};
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        const char *equals = memchr(at, '=', (size_t)(stop - at));
        if (!equals) {
            return false;
        }
        struct myr_str name = {at, (size_t)(equals - at)};
        struct myr_str value = {equals + 1, (size_t)(stop - equals - 1)};
        uint64_t count;
        bool gpu = name.len >= 8 && memcmp(name.data, "gres/gpu", 8) == 0 &&
                   (name.len == 8 || name.data[8] == ':');
        bool node = myr_str_eq(name, MYR_STR("node"));
        if (gpu || node) { /* others have units ("mem=1000G"), and are Slurm's alone to hold */
            if (!myr_str_to_u64(value, &count)) {
                return false;
            }
            uint64_t *to = gpu ? &ret->gpus : &ret->nodes;
            *to = count < *to ? count : *to;
        }
        at = comma ? comma + 1 : end;
    }
    return true;
}

/* A line cut at its bars, into exactly so many fields. */
static bool cut(struct myr_str line, struct myr_str *fields, uint32_t count)
{
    const char *at = line.data, *end = line.data + line.len;
    for (uint32_t i = 0; i < count; i++) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        if ((bar != NULL) != (i + 1 < count)) {
            return false;
        }
        fields[i] = (struct myr_str){at, (size_t)((bar ? bar : end) - at)};
        at = bar ? bar + 1 : end;
    }
    return fields[0].len > 0;
}

/* Empty lines are passed over, and counted. */
static bool next_line(struct myr_str *text, struct myr_str *ret, uint32_t *number)
{
    while (text->len > 0) {
        const char *newline = memchr(text->data, '\n', text->len);
        *ret = (struct myr_str){text->data, newline ? (size_t)(newline - text->data) : text->len};
        text->data += ret->len + (newline != NULL);
        text->len -= ret->len + (newline != NULL);
        ++*number;
        if (ret->len > 0) {
            return true;
        }
    }
    return false;
}

/* Fields in the order of MYR_SLURM_ACCOUNT_FORMAT. */
static bool read_account(struct myr_str line, struct myr_slurm_account *ret)
{
    struct myr_str f[FIELDS_MAX];
    if (!cut(line, f, ACCOUNT_FIELDS)) {
        return false;
    }
    *ret = (struct myr_slurm_account){.name = f[0], .user = f[1], .parent = f[2], .qos = f[9]};
    /* Such an account has no share of its own. */
    ret->by_parent = myr_str_eq(f[3], MYR_STR("parent"));
    if (!ret->by_parent && !read_count(f[3], &ret->share)) {
        return false;
    }
    return read_tres(f[4], &ret->group) && read_count(f[5], &ret->group_jobs) &&
           read_count(f[6], &ret->most_jobs) && read_tres(f[7], &ret->each) &&
           read_count(f[8], &ret->group_submits);
}

/* Fields in the order of MYR_SLURM_QOS_FORMAT. */
static bool read_qos(struct myr_str line, struct myr_slurm_qos *ret)
{
    struct myr_str f[FIELDS_MAX];
    if (!cut(line, f, QOS_FIELDS)) {
        return false;
    }
    ret->name = f[0];
    return read_tres(f[1], &ret->group) && read_count(f[2], &ret->group_jobs) &&
           read_tres(f[3], &ret->each) && read_tres(f[4], &ret->of_user) &&
           read_count(f[5], &ret->user_jobs);
}

/* With the place, as readers of files say it: the output may be looked at by hand. */
static int unexpected(const char *file, uint32_t number, struct myr_str line, const char *what,
                      struct myr_err *err)
{
    char shown[MYR_EXCERPT_MAX];
    return myr_err_set(err, MYR_EINVAL, "%s:%u:1: '%s' is no %s with its limits", file, number,
                       myr_text_excerpt(line, shown), what);
}

int myr_slurm_read_accounts(const char *file, struct myr_str text, myr_slurm_account_each *each,
                            void *context, struct myr_err *err)
{
    struct myr_str line;
    struct myr_slurm_account account;
    for (uint32_t number = 0; next_line(&text, &line, &number);) {
        if (!read_account(line, &account)) {
            return unexpected(file, number, line, "account", err);
        }
        MYR_TRY(each(context, &account, err));
    }
    return MYR_OK;
}

int myr_slurm_read_qos(const char *file, struct myr_str text, myr_slurm_qos_each *each,
                       void *context, struct myr_err *err)
{
    struct myr_str line;
    struct myr_slurm_qos qos;
    for (uint32_t number = 0; next_line(&text, &line, &number);) {
        if (!read_qos(line, &qos)) {
            return unexpected(file, number, line, "QOS", err);
        }
        MYR_TRY(each(context, &qos, err));
    }
    return MYR_OK;
}
