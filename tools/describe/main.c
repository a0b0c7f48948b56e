/*
 * describe: what records say of themselves, for documents that are written of them.
 *
 *     myriad-describe openapi     docs/openapi.json
 *     myriad-describe job         rows of the table of keys of a job file
 *
 * tests/docs/described.py holds the documents against it, and writes them with --update.
 */
#include <stdio.h>
#include <string.h>

#include "myriad/job.h"
#include "myriad/server/records.h"

int main(int argc, char **argv)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const char *what = argc == 2 ? argv[1] : "";
    if (strcmp(what, "openapi") == 0) {
        myr_server_openapi("0", MYR_JSON_PRETTY, &text);
        myr_buf_putc(&text, '\n');
    } else if (strcmp(what, "job") == 0) {
        myr_record_table(&myr_job_record, &text);
    } else {
        fprintf(stderr, "myriad-describe openapi|job\n");
        return 2;
    }
    return fwrite(text.data, 1, text.len, stdout) == text.len && fflush(stdout) == 0 ? 0 : 3;
}
