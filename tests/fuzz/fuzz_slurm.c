/*
 * What Slurm's commands print, with the first byte choosing which: values that lie within what
 * came, or one clear line.
 */
#include "fuzz.h"
#include "myriad/server/slurm.h"

static struct myr_str whole;

static void check_within(struct myr_str part)
{
    MYR_ASSERT(part.len == 0 ||
               (part.data >= whole.data && part.data + part.len <= whole.data + whole.len));
}

static int take_name(void *context, struct myr_str name, struct myr_err *err)
{
    uint32_t *count = context;
    (void)err;
    fuzz_note("%.*s", (int)name.len, name.data);
    MYR_ASSERT(name.len > 0 && name.len <= 255 && !memchr(name.data, ',', name.len));
    return ++*count < 5000 ? MYR_OK : myr_err_set(err, MYR_ERANGE, "enough");
}

static int take_node(void *context, const struct myr_slurm_node *node, struct myr_err *err)
{
    (void)context;
    (void)err;
    fuzz_note("%.*s %.*s %d", (int)node->names.len, node->names.data, (int)node->reason.len,
              node->reason.data, (int)node->is);
    check_within(node->names);
    check_within(node->state);
    check_within(node->reason);
    MYR_ASSERT(node->names.len > 0 && node->is <= MYR_SLURM_NODE_ABSENT);
    MYR_ASSERT(!memchr(node->names.data, '|', node->names.len));
    return MYR_OK;
}

static int take_job(void *context, const struct myr_slurm_job *job, struct myr_err *err)
{
    uint32_t count = 0;
    struct myr_err own = {};
    (void)context;
    (void)err;
    fuzz_note("%.*s %d %.*s", (int)job->id.len, job->id.data, (int)job->is, (int)job->comment.len,
              job->comment.data);
    check_within(job->id);
    check_within(job->comment);
    MYR_ASSERT(job->id.len > 0 && job->is <= MYR_SLURM_JOB_CANCELLED);
    int rc = myr_slurm_read_names(job->nodes, take_name, &count, &own);
    MYR_ASSERT(rc == MYR_OK || own.message[0] != '\0');
    return MYR_OK;
}

static int take_account(void *context, const struct myr_slurm_account *account, struct myr_err *err)
{
    (void)context;
    (void)err;
    fuzz_note("%.*s %.*s %.*s", (int)account->name.len, account->name.data, (int)account->user.len,
              account->user.data, (int)account->parent.len, account->parent.data);
    check_within(account->name);
    check_within(account->user);
    check_within(account->parent);
    MYR_ASSERT(account->name.len > 0 && !memchr(account->name.data, '|', account->name.len));
    return MYR_OK;
}

static int take_qos(void *context, const struct myr_slurm_qos *qos, struct myr_err *err)
{
    (void)context;
    (void)err;
    fuzz_note("%.*s", (int)qos->name.len, qos->name.data);
    check_within(qos->name);
    MYR_ASSERT(qos->name.len > 0 && !memchr(qos->name.data, '|', qos->name.len));
    return MYR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_err err = {};
    char why[300];
    uint64_t id;
    if (size == 0) {
        return 0;
    }
    whole = (struct myr_str){(const char *)data + 1, size - 1};
    if (data[0] == 'A' || data[0] == 'Q') {
        int rc = data[0] == 'A'
                     ? myr_slurm_read_accounts("sacctmgr", whole, take_account, NULL, &err)
                     : myr_slurm_read_qos("sacctmgr", whole, take_qos, NULL, &err);
        if (rc < 0) {
            fuzz_note_error(&err);
        }
        MYR_ASSERT(rc == MYR_OK ||
                   (err.code == rc && err.message[0] && !strchr(err.message, '\n')));
        return 0;
    }
    if (data[0] % 3 == 0) {
        int rc = myr_slurm_read_nodes("sinfo", whole, take_node, NULL, &err);
        if (rc < 0) {
            fuzz_check_error(&err, rc, "sinfo:");
        }
    } else if (data[0] % 3 == 1) {
        int rc = myr_slurm_read_jobs("squeue", whole, take_job, NULL, &err);
        if (rc < 0) {
            fuzz_check_error(&err, rc, "squeue:");
        }
    } else {
        (void)myr_slurm_read_fault("sbatch", whole, why, sizeof(why));
        fuzz_note("%s", why);
        MYR_ASSERT(why[0] != '\0');
        for (const char *c = why; *c; c++) {
            MYR_ASSERT((unsigned char)*c >= 0x20 && *c != 0x7F);
        }
        MYR_ASSERT(!myr_slurm_read_id(whole, &id) || id > 0);
    }
    return 0;
}
