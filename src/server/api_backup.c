/*
 * api_backup: a copy of the store for whoever may have everything. It is made beside the store, a
 * little in every turn of the loop, and sent when it is whole; nothing of it stays behind. One at a
 * time: the next who asks is told that one is under way.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.h"

enum { PAGES_A_TURN = 64 }; /* of SQLite's file, between two looks at the sockets */

/* One at a time; it lives from the request to the end of the copy. */
struct backup {
    struct server *server;
    struct request *request; /* waits for the file */
    struct store_copy *copy; /* the work itself */
    uv_idle_t idle;
    char path[SERVER_PATH]; /* beside the store */
};

static void on_closed(uv_handle_t *handle)
{
    struct backup *backup = handle->data;
    MYR_ASSERT(backup->server->backup != backup); /* finish() has let it go */
    free(backup);
}

/* The one who asked gets the file, or hears what is wrong. */
static void finish(struct backup *backup, const char *problem)
{
    struct stat status = {};
    int fd = -1;
    MYR_ASSERT(backup->server->backup == backup);
    store_copy_end(backup->copy);
    if (!problem) {
        fd = open(backup->path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &status) != 0) {
            problem = "the copy of the store cannot be read";
        }
    }
    unlink(backup->path);
    if (problem) {
        http_output(backup->request, &(struct output){.problem = problem});
        if (fd >= 0) {
            close(fd);
        }
    } else {
        request_send_file(backup->request, fd, (uint64_t)status.st_size);
    }
    backup->server->backup = NULL;
    uv_idle_stop(&backup->idle);
    uv_close((uv_handle_t *)&backup->idle, on_closed);
}

/* A little in each turn: agents and requests go on between two pieces. */
static void on_idle(uv_idle_t *idle)
{
    struct backup *backup = idle->data;
    struct myr_err err = {};
    MYR_ASSERT(backup->server->backup == backup && backup->copy);
    MYR_ASSERT(backup->request->waiting); /* for as long as it takes */
    int rc = store_copy_step(backup->copy, PAGES_A_TURN, &err);
    if (rc <= 0) {
        finish(backup, rc < 0 ? err.message : NULL);
    }
}

/* Whoever waits for the copy is told; what was copied is removed. */
void backup_stop(struct server *server)
{
    if (server->backup) {
        finish(server->backup, "the server stops");
    }
}

/* Made here, for its rights: SQLite would make it readable for others. */
static int begin_copy(struct backup *backup, struct myr_err *err)
{
    MYR_ASSERT(!backup->copy && backup->server->store);
    int fd = open(backup->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || close(fd) < 0) {
        return myr_err_errno(err, "writing", backup->path);
    }
    return store_copy_begin(backup->server->store, backup->path, &backup->copy, err);
}

/* Begins the copy; the answer is the file, when it is whole. */
int api_backup(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    (void)ret;
    if (server->backup) {
        return myr_err_set(err, MYR_ESTALE, "a backup is under way");
    }
    struct backup *backup = myr_xcalloc(1, sizeof(*backup));
    backup->server = server;
    backup->request = request;
    snprintf(backup->path, sizeof(backup->path), "%s/backup.tmp", server->folder);
    unlink(backup->path); /* of a server that was killed meanwhile */
    int rc = begin_copy(backup, err);
    if (rc < 0) {
        unlink(backup->path);
        free(backup);
        return rc;
    }
    MYR_ASSERT(!server->backup && backup->copy);
    server->backup = backup;
    uv_idle_init(&server->loop, &backup->idle);
    backup->idle.data = backup;
    uv_idle_start(&backup->idle, on_idle);
    /* Whoever gave up in between would leave a copy behind that answers nobody. */
    request->patient = true;
    request_wait(request);
    return HTTP_LATER;
}
