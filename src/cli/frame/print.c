/*
 * print: what verbs and the frame around them say outside of answers. Standard output is for
 * answers alone; errors, warnings and progress go to standard error.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

/* The exit status follows from the code, the same for all verbs. */
int cli_error(const struct myr_err *err)
{
    MYR_ASSERT(err->code < 0);
    fprintf(stderr, "myriad: %s\n", err->message);
    if (err->hint[0]) {
        fprintf(stderr, "hint: %s\n", err->hint);
    }
    return myr_err_exit_code(err->code);
}

void cli_warn(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("myriad: WARNING: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

/* write() and not stdio: a full disk or a closed pipe is seen here, not in exit(). */
int cli_print(const struct myr_buf *buf)
{
    size_t at = 0;
    while (at < buf->len) {
        ssize_t put = write(STDOUT_FILENO, buf->data + at, buf->len - at);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            /* 'myriad ... | head' is not an error worth a word. */
            if (errno != EPIPE) {
                perror("myriad: cannot write to standard output");
            }
            return CLI_FAILED;
        }
        at += (size_t)put;
    }
    return CLI_DONE;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Shown on a terminal alone. */
void cli_progress(struct myr_progress *progress, const char *what, uint64_t total)
{
    myr_progress_init(progress, what, total, isatty(STDERR_FILENO), now_ns());
}

void cli_progress_step(struct myr_progress *progress, uint64_t done)
{
    myr_progress_update(progress, done, now_ns());
}

int cli_catalog(struct myr_catalog *catalog, struct myr_arena *arena,
                const struct myr_option_list *files, struct myr_err *err)
{
    MYR_TRY(myr_catalog_init(catalog, arena, err));
    /* In the order given: a later file overrides what an earlier one says of a part. */
    for (uint32_t i = 0; i < files->count; i++) {
        MYR_TRY(myr_catalog_add_file(catalog, files->items[i], err));
    }
    return MYR_OK;
}

/* The key is there in any case; on the page only what there is to say. */
void cli_put_inputs(struct cli *cli, const struct myr_named_files *lists, uint32_t count)
{
    struct myr_answer *answer = &cli->answer;
    myr_answer_list(answer, "inputs");
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < lists[i].count; j++) {
            const struct myr_named_file *named = &lists[i].items[j];
            myr_answer_object(answer, NULL);
            myr_answer_text(answer, "kind", named->kind);
            myr_answer_text(answer, "file", named->file);
            myr_answer_text(answer, "named_by", named->by);
            myr_answer_end(answer);
            myr_answer_para(answer, "also read: %s (%s of %s)", named->file, named->kind,
                            named->by);
        }
    }
    myr_answer_end(answer);
}
