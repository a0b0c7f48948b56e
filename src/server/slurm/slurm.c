/*
 * slurm: the engine. What was submitted as which job of Slurm's, how that is, and what the nodes
 * are. All of it is learnt anew from Slurm after a start: its jobs carry ours in their comment.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slurm/state.h"

/* Who was asked softly and has had his grace is ended by Slurm. */
static void on_second(struct server *server)
{
    struct slurm *slurm = slurm_of(server);
    int64_t now_ms = steady_ms();
    MYR_ASSERT(!slurm->closing);
    /* Deadlines are looked at once a second, which is near enough for a grace. */
    for (size_t i = 0; i < slurm->gangs.count; i++) {
        struct gang *gang = &slurm->gangs.items[i];
        MYR_ASSERT(gang->stopping || (!gang->killed && gang->kill_ms == 0)); /* nobody unasked */
        MYR_ASSERT(gang->kill_ms == 0 || gang->stage == STAGE_THERE); /* a signal needs an id */
        if (gang->stopping && !gang->killed && gang->kill_ms && now_ms >= gang->kill_ms) {
            gang->killed = true;
            slurm_cancel(slurm, gang->id, false);
        }
    }
    slurm_accounts_look(slurm);
}

/* Read from the spool, in a folder that is the user's: links and FIFOs there are not followed. */
static bool on_fetch(struct server *server, const struct question *question, void *whom)
{
    const struct slurm *slurm = slurm_of(server);
    const struct job_row *row = rows_job(server, question->job);
    struct myr_control_job job = myr_control_job(server->control, question->job);
    char path[PATH_BYTES + 64];
    MYR_ASSERT(row); /* who asks has looked for it */
    uint32_t epoch = question->epoch ? question->epoch : job.epoch;
    /* Room is left for the name of the log. */
    script_folder(slurm->spool, question->job, epoch, path, sizeof(path) - 32);
    snprintf(path + strlen(path), 32, "/rank-%u.log", question->rank);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    MYR_CLEANUP(myr_free_at) char *bytes = myr_xcalloc(1, OUTPUT_BYTES);
    /* Not from the node: the spool is shared. */
    ssize_t got = pread(fd, bytes, OUTPUT_BYTES, (off_t)(question->offset & INT64_MAX));
    close(fd);
    http_output(whom, &(struct output){.offset = question->offset,
                                       .size = (uint64_t)status.st_size,
                                       .ended = row->state >= MYR_CONTROL_DONE,
                                       .data = {bytes, got > 0 ? (size_t)got : 0}});
    return true;
}

/* What Slurm would refuse later, or never start, is refused while somebody is there to read it. */
static int on_submit(struct server *server, const struct myr_job_spec *spec,
                     const struct job_row *row, struct myr_err *err)
{
    const struct passwd *user = getpwnam(row->unix_user);
    uint32_t each = server->config.gpus_per_node;
    /* Slurm counts GPUs out over the nodes of a job as it likes, unless each gets as many. */
    if (spec->gpus > each && spec->gpus % each != 0) {
        return myr_err_set(err, MYR_ERANGE,
                           "%u GPUs: on Slurm a job has GPUs of one node or whole nodes of %u",
                           spec->gpus, each);
    }
    if (!user) {
        return myr_err_set(err, MYR_EINVAL, "there is no Unix user '%s' here", row->unix_user);
    }
    if (geteuid() != 0 && user->pw_uid != geteuid()) {
        return myr_err_set(err, MYR_EDENIED,
                           "the server runs as another user and cannot submit to Slurm for '%s'",
                           row->unix_user);
    }
    return slurm_accounts_check(slurm_of(server), row, spec->gpus, err);
}

/* Whose a job of Slurm's is: the digest of the authority that init made is nobody else's. */
static int make_tag(struct slurm *slurm, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[SERVER_PATH];
    snprintf(path, sizeof(path), "%s/ca.pem", slurm->server->folder);
    MYR_TRY(myr_file_read(path, 1 << 20, &text, err));
    snprintf(slurm->tag, sizeof(slurm->tag), "%016llx",
             (unsigned long long)myr_hash_bytes(text.data, text.len));
    return MYR_OK;
}

/* Users' ranks write below it, in folders that are theirs. */
static int make_spool(struct slurm *slurm, struct myr_err *err)
{
    const struct server *server = slurm->server;
    if (server->config.slurm.spool[0]) {
        snprintf(slurm->spool, sizeof(slurm->spool), "%s", server->config.slurm.spool);
    } else { /* beside the folder, which nobody else may enter */
        MYR_CLEANUP(myr_free_at) char *folder = realpath(server->folder, NULL);
        snprintf(slurm->spool, sizeof(slurm->spool), "%.900s.spool",
                 folder ? folder : server->folder);
    }
    MYR_TRY(myr_make_dirs(slurm->spool, err));
    /* Entered by all, listed by none; one that is somebody else's stays as it is. */
    return chmod(slurm->spool, 0711) == 0 || errno == EPERM
               ? MYR_OK
               : myr_err_errno(err, "opening", slurm->spool);
}

static void on_timer(uv_timer_t *timer)
{
    slurm_look(timer->data);
}

/* Nothing is asked of Slurm here: the first look is the loop's. */
static int on_begin(struct server *server, struct myr_err *err)
{
    struct slurm *slurm = myr_xcalloc(1, sizeof(*slurm));
    engine_set_own(server, slurm);
    slurm->server = server;
    MYR_ASSERT(slurm_of(server) == slurm && server->rows.node_count > 0);
    slurm->nodes = myr_xcalloc(server->rows.node_count, sizeof(*slurm->nodes));
    slurm->calls =
        calls_new(server, &(struct call_how){server->config.slurm.bin, server->config.slurm.conf,
                                             server->config.slurm.timeout_s});
    uv_timer_init(&server->loop, &slurm->timer);
    uv_timer_init(&server->loop, &slurm->flush);
    slurm->timer.data = slurm->flush.data = slurm;
    slurm->on_timer = on_timer;
    MYR_TRY(make_tag(slurm, err));
    MYR_TRY(make_spool(slurm, err));
    /* Nothing is started before the first look: it may run already. */
    slurm_look_in(slurm, 1);
    return MYR_OK;
}

/* Behind the last handle; commands under way were ended by calls_free(). */
static void on_closed(uv_handle_t *handle)
{
    struct slurm *slurm = handle->data;
    MYR_ASSERT(slurm->closing && slurm->open_handles > 0);
    if (--slurm->open_handles == 0) {
        myr_vec_done(&slurm->gangs);
        myr_vec_done(&slurm->early);
        myr_vec_done(&slurm->orders);
        myr_vec_done(&slurm->accounts);
        myr_vec_done(&slurm->qualities);
        myr_buf_done(&slurm->jobs);
        myr_buf_done(&slurm->lines);
        free(slurm->nodes);
        free(slurm);
    }
}

/* Gangs run on: the next server finds them by their comments. */
static void on_end(struct server *server)
{
    struct slurm *slurm = slurm_of(server);
    MYR_ASSERT(!slurm->closing && slurm->open_handles == 0);
    slurm->closing = true;
    calls_free(slurm->calls);
    slurm->open_handles = 2;
    uv_close((uv_handle_t *)&slurm->timer, on_closed);
    uv_close((uv_handle_t *)&slurm->flush, on_closed);
}

const struct engine_ops slurm_ops = {.name = "Slurm",
                                     .begin = on_begin,
                                     .start = slurm_start,
                                     .stop = slurm_stop,
                                     .node = slurm_node,
                                     .fetch = on_fetch,
                                     .submit = on_submit,
                                     .second = on_second,
                                     .end = on_end};
