#include "jobfile/jobfile.h"

#include "myriad/job.h"
#include "myriad/text/kind.h"
int jobfile_read(const char *path, struct myr_buf *ret, struct myr_err *err)
{
    return myr_kind_read(path, MYR_JOBFILE_BYTES_MAX, MYR_KINDS_DOC(JOB),
                         "a job file, with a 'command',", ret, err);
}

/* A key that nobody reads is no error, but whoever wrote it may count on it. */
void jobfile_put_unheeded(struct cli *cli, const char *const *keys, uint32_t count,
                          const char *where)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    myr_answer_list(&cli->answer, "unheeded");
    for (uint32_t i = 0; i < count; i++) {
        myr_answer_text(&cli->answer, NULL, keys[i]);
        myr_buf_printf(&names, "%s%s", i ? ", " : "", keys[i]);
    }
    myr_answer_end(&cli->answer);
    if (count) {
        myr_answer_fact(&cli->answer, "not heeded", "%s: %s has no use for %s", names.data, where,
                        count == 1 ? "it" : "them");
    }
}
