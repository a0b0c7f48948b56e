/*
 * The first MiB and the last eight of what a rank has written, under their true offsets: piece 0 is
 * the head, piece k the bytes from 1 MiB + (k - 1) * 4 MiB on. A piece that is old is removed when
 * a new one begins, so that no rank can fill the disk.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/shim.h"

#define PIECE_PATH_MAX (AGENT_PATH_MAX + 64) /* a folder's, and "/log.RANK.PIECE" */

/* A rank that writes faster is kept, but not read line by line. */
enum { LOOK_BYTES_A_SECOND = 8 << 20 };

/* By the offset alone: a reader needs no index. */
static uint64_t piece_of(uint64_t offset)
{
    return offset < OUTPUT_HEAD_BYTES ? 0 : 1 + (offset - OUTPUT_HEAD_BYTES) / OUTPUT_PIECE_BYTES;
}

static uint64_t piece_from(uint64_t piece)
{
    MYR_ASSERT(piece <= UINT64_MAX / OUTPUT_PIECE_BYTES);
    return piece == 0 ? 0 : OUTPUT_HEAD_BYTES + (piece - 1) * OUTPUT_PIECE_BYTES;
}

static void piece_path(const char *folder, uint32_t rank, uint64_t piece, char ret[PIECE_PATH_MAX])
{
    snprintf(ret, PIECE_PATH_MAX, "%s/log.%u.%llu", folder, rank, (unsigned long long)piece);
}

void output_init(struct output *output, const char *folder, uint32_t rank)
{
    MYR_ASSERT(strlen(folder) < sizeof(output->folder));
    /* No piece is open; the first byte opens the head. */
    *output = (struct output){.rank = rank, .fd = -1, .piece = UINT64_MAX};
    snprintf(output->folder, sizeof(output->folder), "%s", folder);
}

void output_done(struct output *output)
{
    if (output->fd >= 0) {
        close(output->fd);
        output->fd = -1;
    }
}

/* The head, piece 0, is never removed. */
static void turn_to(struct output *output, uint64_t piece)
{
    char path[PIECE_PATH_MAX];
    MYR_ASSERT(output->piece == UINT64_MAX ? piece == 0 : piece == output->piece + 1);
    output_done(output);
    /* Three pieces and the head are kept: of those, two at least are full. */
    if (piece > OUTPUT_PIECES_KEPT) {
        piece_path(output->folder, output->rank, piece - OUTPUT_PIECES_KEPT, path);
        (void)unlink(path);
    }
    piece_path(output->folder, output->rank, piece, path);
    output->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    output->piece = piece;
    MYR_ASSERT(piece_of(output->written) == piece);
}

/* A full disk costs output, never the rank: what cannot be kept is counted all the same. */
static void keep(struct output *output, struct myr_str bytes)
{
    while (bytes.len > 0) {
        uint64_t piece = piece_of(output->written);
        if (piece != output->piece) {
            turn_to(output, piece);
        }
        uint64_t left = piece_from(piece + 1) - output->written;
        MYR_ASSERT(left > 0 && piece_from(piece) <= output->written);
        size_t now = bytes.len < left ? bytes.len : (size_t)left;
        off_t at = (off_t)(output->written - piece_from(piece));
        if (output->fd >= 0) {
            /* At its place: after a write that failed the next one does not move. */
            ssize_t put = pwrite(output->fd, bytes.data, now, at);
            (void)put;
        }
        output->written += now;
        MYR_ASSERT(now > 0 && output->written <= piece_from(piece + 1));
        bytes.data += now;
        bytes.len -= now;
    }
}

/* The first line that looks like an error is kept: those behind it are mostly its consequences. */
static void line_done(struct output *output, void (*on_line)(void *context, const char *line),
                      void *context)
{
    MYR_ASSERT(output->line_len < sizeof(output->line));
    output->line[output->line_len] = '\0';
    if (output->line_len > 0) {
        snprintf(output->last, sizeof(output->last), "%.255s", output->line);
        if (!output->error[0] && progress_is_error(output->line)) {
            snprintf(output->error, sizeof(output->error), "%.255s", output->line);
        }
        if (on_line) {
            on_line(context, output->line);
        }
    }
    output->line_len = 0;
}

/*
 * Beyond the limit the rest of the second is not looked at, and a line that was begun is dropped.
 */
static void look(struct output *output, struct myr_str bytes,
                 void (*on_line)(void *context, const char *line), void *context)
{
    int64_t second = boot_clock_ns() / 1000000000;
    if (second != output->second) {
        output->second = second;
        output->looked = 0;
    }
    output->looked += bytes.len;
    MYR_ASSERT(output->line_len < sizeof(output->line) && output->looked >= bytes.len);
    if (output->looked > LOOK_BYTES_A_SECOND) {
        output->line_len = 0;
        return;
    }
    for (size_t i = 0; i < bytes.len; i++) {
        char c = bytes.data[i];
        /* Progress bars end their lines with a carriage return. */
        if (c == '\n' || c == '\r') {
            line_done(output, on_line, context);
        } else if (output->line_len + 1 < sizeof(output->line)) {
            /* A NUL would end the line for whoever reads it as text. */
            output->line[output->line_len++] = c ? c : '?';
        }
    }
}

void output_take(struct output *output, struct myr_str bytes,
                 void (*on_line)(void *context, const char *line), void *context)
{
    keep(output, bytes);
    MYR_ASSERT(output->written >= bytes.len); /* counted, whether or not it could be kept */
    look(output, bytes, on_line, context);
}

/* The offset behind the last byte that is kept, and where the pieces after the head begin. */
static uint64_t find_size(const char *folder, uint32_t rank, uint64_t *ret_oldest)
{
    char prefix[32];
    uint64_t size = 0;
    DIR *dir = opendir(folder);
    *ret_oldest = UINT64_MAX;
    if (!dir) {
        return 0;
    }
    int len = snprintf(prefix, sizeof(prefix), "log.%u.", rank);
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        uint64_t piece;
        struct stat st;
        if (strncmp(entry->d_name, prefix, (size_t)len) != 0 ||
            !myr_str_to_u64(myr_str_from(entry->d_name + len), &piece) ||
            /* A number that nobody has written would overflow below. */
            piece > UINT64_MAX / OUTPUT_PIECE_BYTES / 2 ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            continue;
        }
        uint64_t end = piece_from(piece) + (uint64_t)st.st_size;
        size = end > size ? end : size;
        *ret_oldest = piece > 0 && piece < *ret_oldest ? piece : *ret_oldest;
    }
    closedir(dir);
    return size;
}

/* From one piece at a time; whoever wants more asks again from where it ended. */
void output_fetch(const char *folder, uint32_t rank, uint64_t *offset, size_t most,
                  struct myr_buf *ret, uint64_t *ret_size)
{
    char path[PIECE_PATH_MAX];
    uint64_t oldest;
    *ret_size = find_size(folder, rank, &oldest);
    /* An offset beyond the end is the end; what is missing between two pieces is skipped. */
    uint64_t at = *offset < *ret_size ? *offset : *ret_size;
    uint64_t piece = piece_of(at);
    if (piece > 0 && piece < oldest && oldest != UINT64_MAX) {
        piece = oldest; /* what lay between is gone */
        at = piece_from(piece);
    }
    *offset = at;
    MYR_ASSERT(piece_from(piece) <= at && at < piece_from(piece + 1));
    uint64_t left = piece_from(piece + 1) - at;
    MYR_ASSERT(left > 0);
    most = most < left ? most : (size_t)left;
    piece_path(folder, rank, piece, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return;
    }
    myr_buf_reserve(ret, most + 1);
    ssize_t got = pread(fd, ret->data + ret->len, most, (off_t)(at - piece_from(piece)));
    ret->len += got > 0 ? (size_t)got : 0;
    close(fd);
}
