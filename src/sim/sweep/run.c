#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "myriad/text/kind.h"
#include "sweep/internal.h"

/*
 * Points are played by processes of their own, so that one that ends badly takes no other along.
 * They share nothing but the number of the next point and the journal, to which each appends whole
 * points. Without a file to write the journal lives in memory.
 */

enum { JOURNAL_MAX = 1 << 30, PATH_BYTES = 4096, POLL_NS = 20000000 };

/* In memory that all processes map: the next place in 'todo', and how many points are written. */
struct shared {
    atomic_uint next, done; /* next: place in 'todo' */
};

struct sweeper {
    const struct myr_sweep *sweep;
    const struct myr_sweep_run *run;
    struct myr_arena *arena;
    char journal_path[PATH_BYTES];      /* empty: in memory */
    int journal;                        /* its file, open and locked; -1: none yet */
    MYR_VEC(struct myr_sweep_row) rows; /* of all journals found */
    uint8_t *known;                     /* by point */
    uint32_t *todo;                     /* points of this shard that no journal has */
    uint32_t todo_count;
    struct shared *shared;
};

/* Closing the journal gives up its lock. */
static void sweeper_done(struct sweeper *it)
{
    if (it->journal >= 0) {
        close(it->journal);
    }
    if (it->shared) {
        munmap(it->shared, sizeof(*it->shared));
    }
    free(it->known);
    free(it->todo);
    myr_vec_done(&it->rows);
}

/* Every Nth point of the sweep. */
static bool is_mine(const struct sweeper *it, uint32_t point)
{
    return point % it->run->shard_count == it->run->shard;
}

/* What a journal has of the sweep; its own is cut to what is whole. */
static int take_journal(struct sweeper *it, const char *path, bool own, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_sweep_row *rows;
    uint32_t count;
    size_t whole;
    MYR_TRY(myr_kind_read(path, JOURNAL_MAX, MYR_KINDS_CSV | MYR_KIND_BIT(EMPTY),
                          "the journal of a sweep", &text, err));
    struct myr_str content = {text.len ? text.data : "", text.len};
    MYR_TRY(myr_sweep_journal(it->sweep, it->run->version, path, content, it->arena, &rows, &count,
                              &whole, err));
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].job == 0 && it->known[rows[i].point]) {
            i += rows[i].jobs - 1; /* two journals with one point say the same */
            continue;
        }
        it->known[rows[i].point] = 1;
        myr_vec_push(&it->rows, rows[i]);
    }
    if (own && ftruncate(it->journal, (off_t)whole) != 0) {
        return myr_err_errno(err, "cannot cut", path);
    }
    return MYR_OK;
}

/* All journals beside the result, in the order of their names. */
static int find_journals(struct sweeper *it, struct myr_err *err)
{
    const char *out = it->run->out, *slash = strrchr(out, '/');
    const char *base = slash ? slash + 1 : out;
    size_t base_len = strlen(base);
    char folder[PATH_BYTES];
    /* A result without a folder lies in this one. */
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - out + 1) : 2,
             slash ? out : "./");
    MYR_CLEANUP(myr_free_at) struct dirent **list = NULL;
    int count = scandir(folder, &list, NULL, alphasort), rc = MYR_OK;
    if (count < 0) {
        return myr_err_errno(err, "cannot list", folder);
    }
    for (int i = 0; i < count; i++) {
        const char *name = list[i]->d_name;
        /* "RESULT.part-K-of-N", whatever K and N are: other shards, and other cuts into shards. */
        bool journal =
            strncmp(name, base, base_len) == 0 && strncmp(name + base_len, ".part-", 6) == 0;
        if (journal && rc == MYR_OK) {
            const char *path = myr_arena_printf(it->arena, "%s%s", slash ? folder : "", name);
            rc = take_journal(it, path, myr_file_same(path, it->journal_path), err);
        }
        free(list[i]);
    }
    return rc;
}

/* A point is one write: opened for appending, so that those of several workers do not mix. */
static int write_whole(int fd, const struct myr_buf *buf)
{
    for (size_t done = 0; done < buf->len;) {
        ssize_t part = write(fd, buf->data + done, buf->len - done);
        if (part < 0 && errno != EINTR) {
            return -1;
        }
        done += part > 0 ? (size_t)part : 0;
    }
    return 0;
}

/* Workers of a run that was just killed are gone in a moment. */
static bool lock(int fd)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    for (int i = 0; i < 100; i++) {
        /* Two seconds in all: then it is another run, and not one that is dying. */
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return true;
        }
        nanosleep(&pause, NULL);
    }
    return false;
}

/* One process at a time writes a journal: two with one shard would play everything twice. */
static int open_journal(struct sweeper *it, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf title = {};
    const struct myr_sweep_run *run = it->run;
    struct stat info;
    if (!run->out) {
        it->journal = memfd_create("sweep", MFD_CLOEXEC);
        if (it->journal < 0 || fcntl(it->journal, F_SETFL, O_APPEND) != 0) {
            return myr_err_errno(err, "cannot make", "a journal in memory");
        }
    } else {
        int len = snprintf(it->journal_path, sizeof(it->journal_path), "%s.part-%u-of-%u", run->out,
                           run->shard + 1, run->shard_count);
        if ((size_t)len >= sizeof(it->journal_path)) {
            return myr_err_set(err, MYR_EINVAL, "--out: the name is too long");
        }
        it->journal = open(it->journal_path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (it->journal < 0) {
            return myr_err_errno(err, "cannot open", it->journal_path);
        }
        if (!lock(it->journal)) {
            return myr_err_set(err, MYR_EAWAY, "%s: another run is writing it", it->journal_path);
        }
        MYR_TRY(find_journals(it, err));
    }
    sweep_put_title(&title, it->sweep, run->version);
    /* A new journal, or one that was cut to nothing, gets its first line. */
    if (fstat(it->journal, &info) != 0 ||
        (info.st_size == 0 && write_whole(it->journal, &title) != 0)) {
        return myr_err_errno(err, "cannot write", run->out ? it->journal_path : "the journal");
    }
    return MYR_OK;
}

/* What another shard has played of ours, under another number of shards, counts too. */
static void list_todo(struct sweeper *it, struct myr_sweep_result *ret)
{
    for (uint32_t p = 0; p < it->sweep->points; p++) {
        if (is_mine(it, p)) {
            ret->points++;
            ret->resumed += it->known[p];
            if (!it->known[p]) {
                it->todo[it->todo_count++] = p;
            }
        }
    }
    MYR_ASSERT(ret->points == ret->resumed + it->todo_count); /* each is known, or is to be done */
}

/* A point that cannot be is a row too: grids have holes. */
static void play(const struct sweeper *it, uint32_t point, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_sim_answer_done) struct myr_sim_answer answer = {};
    struct myr_err err = {};
    myr_arena_init(&arena);
    struct myr_sim_question question = myr_sweep_question(it->sweep, point, &arena);
    if (myr_sim_ask(&answer, &question, &err) == MYR_OK) {
        sweep_put_answer(buf, point, &answer);
    } else {
        sweep_put_failure(buf, point, err.message);
    }
}

/* In the child: points until there are none; 1 where the journal cannot be written. */
static int work(struct sweeper *it)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    for (;;) {
        /* Whoever is free takes the next. */
        uint32_t i = atomic_fetch_add(&it->shared->next, 1);
        if (i >= it->todo_count) {
            return 0;
        }
        MYR_ASSERT(it->todo[i] < it->sweep->points && it->journal >= 0);
        myr_buf_clear(&buf);
        play(it, it->todo[i], &buf);
        if (write_whole(it->journal, &buf) != 0) {
            return 1;
        }
        atomic_fetch_add(&it->shared->done, 1);
    }
}

/* Until all have ended; 'ret_bad' is how one ended that should not have. */
static void wait_for(const struct sweeper *it, const pid_t *workers, uint32_t count,
                     uint32_t resumed, int *ret_bad)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    uint32_t left = count;
    while (left) {
        for (uint32_t i = 0; i < count; i++) {
            int status;
            /* One that has ended is a child no more, and answers an error from then on. */
            if (waitpid(workers[i], &status, WNOHANG) == workers[i]) {
                left--;
                *ret_bad = status ? status : *ret_bad;
            }
        }
        if (it->run->progress) {
            uint32_t done = atomic_load(&it->shared->done);
            it->run->progress(it->run->progress_context, done + resumed,
                              it->todo_count + (uint64_t)resumed);
        }
        if (left) {
            nanosleep(&pause, NULL);
        }
    }
}

/* No more workers than points; each ends by itself when there is nothing left to do. */
static int play_all(struct sweeper *it, uint32_t resumed, struct myr_err *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t count = it->run->workers ? it->run->workers : cores > 0 ? (uint32_t)cores : 1;
    /* Asked before the fork: a parent that dies before prctl() would not be noticed otherwise. */
    pid_t parent = getpid();
    int bad = 0;
    count = count < it->todo_count ? count : it->todo_count;
    MYR_CLEANUP(myr_free_at) pid_t *workers = myr_xcalloc(count, sizeof(*workers));
    for (uint32_t i = 0; i < count; i++) {
        workers[i] = fork();
        if (workers[i] == 0) {
            /* A kill of the one that waits is meant for all: orphans would hold the journal. */
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            _exit(getppid() == parent ? work(it) : 1);
        }
        if (workers[i] < 0) {
            int rc = myr_err_errno(err, "cannot start", "a worker");
            wait_for(it, workers, i, resumed, &bad); /* those that run end by themselves */
            return rc;
        }
    }
    wait_for(it, workers, count, resumed, &bad);
    if (WIFSIGNALED(bad)) {
        return myr_err_set(err, MYR_EIO, "a worker was ended by signal %d; what is done is kept",
                           WTERMSIG(bad));
    }
    return bad ? myr_err_set(err, MYR_EIO, "a worker could not write the journal") : MYR_OK;
}

/* Journals hold points in the order in which they were done; the result has them by number. */
static int by_point(const void *a, const void *b)
{
    const struct myr_sweep_row *left = a, *right = b;
    if (left->point != right->point) {
        return left->point < right->point ? -1 : 1;
    }
    return left->job < right->job ? -1 : left->job > right->job;
}

/* Reads what the workers wrote, the journals of others too, and sorts. */
static int collect(struct sweeper *it, struct myr_err *err)
{
    it->rows.count = 0;
    memset(it->known, 0, it->sweep->points);
    if (it->run->out) {
        MYR_TRY(find_journals(it, err));
    } else {
        char path[64];
        /* A file in memory has no name; this one leads to it. */
        snprintf(path, sizeof(path), "/proc/self/fd/%d", it->journal);
        MYR_TRY(take_journal(it, path, false, err));
    }
    if (it->rows.count) {
        qsort(it->rows.items, it->rows.count, sizeof(*it->rows.items), by_point);
    }
    return MYR_OK;
}

/* Result and picture, where they are asked for, appear together; 'text' NULL: no result yet. */
static int write_files(const struct sweeper *it, const struct myr_buf *text,
                       const struct myr_sweep_result *result, struct myr_err *err)
{
    MYR_CLEANUP(myr_file_set_abandon) struct myr_file_set set = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf picture = {};
    MYR_TRY(myr_file_set_begin(&set, NULL, err));
    if (it->run->plot) {
        MYR_TRY(myr_sweep_plot(it->sweep, result, it->run->plot, &picture, err));
        MYR_TRY(myr_file_set_add(&set, it->run->plot, &picture, err));
    }
    if (text) {
        MYR_TRY(myr_file_set_add(&set, it->run->out, text, err));
    }
    return myr_file_set_commit(&set, err);
}

/* The result is written by whoever finds that no point of any shard is missing. */
static int finish(struct sweeper *it, struct myr_sweep_result *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    struct myr_sweep_row *rows = MYR_ARENA_NEW(it->arena, struct myr_sweep_row, it->rows.count);
    uint32_t whole = 0;
    for (size_t i = 0; i < it->rows.count; i++) {
        const struct myr_sweep_row *row = &it->rows.items[i];
        whole += row->job == 0;
        if (is_mine(it, row->point)) {
            ret->done += row->job == 0;
            ret->failed += !myr_str_eq(row->cells[MYR_SWEEP_STATUS], MYR_STR("ok"));
            rows[ret->row_count++] = *row;
        }
    }
    MYR_ASSERT(whole <= it->sweep->points);
    ret->rows = rows;
    /* Other shards are not done: the last of them writes the result. */
    bool last = it->run->out && whole == it->sweep->points;
    if (last) {
        sweep_put_result(&buf, it->sweep, it->rows.items, (uint32_t)it->rows.count);
    }
    MYR_TRY(write_files(it, last ? &buf : NULL, ret, err));
    ret->written = last;
    return MYR_OK;
}

/* What journals have is not played; then all journals are read once more, with those of others. */
int myr_sweep_run(const struct myr_sweep *sweep, const struct myr_sweep_run *run,
                  struct myr_arena *arena, struct myr_sweep_result *ret, struct myr_err *err)
{
    MYR_CLEANUP(sweeper_done)
    struct sweeper it = {.sweep = sweep, .run = run, .arena = arena, .journal = -1};
    MYR_ASSERT(run->shard < run->shard_count);
    *ret = (struct myr_sweep_result){};
    it.known = myr_xcalloc(sweep->points, 1);
    it.todo = myr_xcalloc(sweep->points, sizeof(*it.todo));
    /* Shared and anonymous: the workers inherit it. */
    it.shared =
        mmap(NULL, sizeof(*it.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (it.shared == MAP_FAILED) {
        it.shared = NULL;
        return myr_err_errno(err, "cannot map", "memory for the workers");
    }
    MYR_TRY(open_journal(&it, err));
    list_todo(&it, ret);
    MYR_TRY(play_all(&it, ret->resumed, err));
    MYR_TRY(collect(&it, err));
    return finish(&it, ret, err);
}
