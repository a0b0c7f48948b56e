#include <unistd.h>

#include "myriad/text/kind.h"
#include "question/source.h"

/* 'files' borrow from 'texts': both live until the trace is read. */
struct rank_files {
    MYR_VEC(struct myr_trace_file) files;
    MYR_VEC(struct myr_buf) texts;
};

static void rank_files_done(struct rank_files *it)
{
    for (size_t i = 0; i < it->texts.count; i++) {
        myr_buf_done(&it->texts.items[i]);
    }
    myr_vec_done(&it->texts);
    myr_vec_done(&it->files);
}

/* Beside the first: as many as there are without a gap. */
static int read_others(struct rank_files *it, const char *path, struct myr_arena *arena,
                       struct myr_err *err)
{
    static const char ending[] = ".0.et";
    /* 'total' is of the others: the limit holds for all of them together. */
    size_t len = strlen(path), tail = sizeof(ending) - 1, total = 0;
    if (len <= tail || strcmp(path + len - tail, ending) != 0) {
        int rc = myr_err_set(err, MYR_EINVAL, "%s: is the trace of one rank", path);
        myr_err_hint(err, "give that of rank 0, NAME.0.et, with the others beside it, or "
                          "file:PATH,ranks=N when all ranks do the same");
        return rc;
    }
    for (uint32_t rank = 1; rank < MYR_TRACE_RANKS_MAX; rank++) {
        const char *name = myr_arena_printf(arena, "%.*s.%u.et", (int)(len - tail), path, rank);
        struct myr_buf text = {};
        /* The first that is missing ends the ranks; one that cannot be read is an error. */
        if (access(name, F_OK) != 0) {
            break;
        }
        int rc = myr_kind_read(name, MYR_TRACE_FILE_MAX, ~MYR_KIND_BIT(SECRET), "a Chakra trace",
                               &text, err);
        /* Before a failure is returned, so that the text is freed with the others. */
        myr_vec_push(&it->texts, text);
        MYR_TRY(rc);
        total += text.len;
        if (total > MYR_TRACE_FILE_MAX) {
            return myr_err_set(err, MYR_EINVAL, "%s: the traces have more than %u bytes", path,
                               MYR_TRACE_FILE_MAX);
        }
        struct myr_trace_file file = {name, {text.len ? text.data : "", text.len}};
        myr_vec_push(&it->files, file);
    }
    return MYR_OK;
}

/* The first file has been read already; with ranks=N it is the only one. */
int sim_source_chakra(const struct sim_source *source, struct myr_str first, struct myr_trace *ret,
                      struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    MYR_CLEANUP(rank_files_done) struct rank_files it = {};
    struct myr_trace_file file = {source->path, first};
    struct myr_chakra_options options = {(uint32_t)source->ranks, source->tflops * 1e12,
                                         source->callers};
    myr_arena_init(&scratch);
    myr_vec_push(&it.files, file);
    if (source->ranks == 0) {
        MYR_TRY(read_others(&it, source->path, &scratch, err));
    }
    return myr_trace_read_chakra(it.files.items, (uint32_t)it.files.count, &options, ret, err);
}
