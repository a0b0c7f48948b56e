/*
 * tell: the files by which a launcher speaks, and the bell that makes the agent look at them. A
 * file that says something for certain is written until it is there; progress may be lost.
 */
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "shim/state.h"

/* One datagram without waiting: the file is what counts. */
static void ring(struct shim *s)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int len = snprintf(to.sun_path, sizeof(to.sun_path), "%.*s/" SHIM_BELL, (int)s->order.state.len,
                       s->order.state.data);
    if (len > 0 && len < (int)sizeof(to.sun_path)) {
        /* Nobody there, or full: the agent looks by itself now and then. */
        (void)sendto(s->bell, "!", 1, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to));
    }
}

/* A disk that is full must not make an ending unknown for ever: it is tried again. */
void shim_put_file(struct shim *s, const char *name, const struct myr_buf *text)
{
    MYR_ASSERT(s->folder && text->len > 0); /* an empty file says nothing */
    struct myr_err err = {};
    while (file_put(s->folder, name, (struct myr_str){text->data, text->len}, &err) < 0 &&
           !folder_is_gone(s->folder)) {
        say("%s", err.message);
        poll(NULL, 0, 1000);
    }
    ring(s);
}

/* The line is copied; 'how' NULL is an end without rank, code or signal. */
void shim_set_ending(struct shim *s, enum ending_kind kind, const struct ending *how,
                     const char *line)
{
    MYR_ASSERT(kind < ENDING_KINDS && s->phase != PHASE_DONE);
    if (s->ended) {
        return; /* the first reason counts */
    }
    s->ended = true;
    s->ending = how ? *how : (struct ending){.rank = s->order.first_rank};
    s->ending.kind = kind;
    snprintf(s->line, sizeof(s->line), "%s", line);
    s->ending.line = myr_str_from(s->line);
    MYR_ASSERT(s->ending.line.len < sizeof(s->line));
}

/* Not synced: after a reboot nobody asks for it. When it fails it is tried with the next tick. */
void shim_write_progress(struct shim *s, int64_t now)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_ASSERT(s->unwritten && s->phase != PHASE_DONE);
    progress_write(&s->progress, &text);
    if (file_put_lightly(s->folder, "progress", (struct myr_str){text.data, text.len}, NULL) ==
        MYR_OK) {
        s->unwritten = false;
    }
    s->written_ns = now;
}

/* Once: the agent tells it as a symptom, and people have to do something. */
void shim_say_stuck(struct shim *s, uint32_t count, uint32_t stuck)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_ASSERT(!s->said_stuck && count > 0 && stuck <= count);
    s->said_stuck = true;
    myr_buf_printf(&text, "count %u\nwaiting %u\n", count, stuck);
    shim_put_file(s, "stuck", &text);
}
