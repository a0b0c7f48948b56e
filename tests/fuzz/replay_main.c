/*
 * Runs a fuzzer over files and folders of files, where libFuzzer is not linked in.
 *
 *     fuzz_NAME CORPUS... [--kept FILE] [--vary COUNT]
 *
 * Inputs come in the order of their names, and behind each some that are nearly like it: a line
 * less, another digit, an end too soon. With --kept what the reader said of all of them (fuzz_note)
 * must be what it said when somebody last looked. A change on purpose is written anew with
 * MYRIAD_KEPT=write in the environment, and looked at as a diff; MYRIAD_KEPT=say prints all that
 * was said.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

enum { INPUT_BYTES_MAX = 64 << 20, VARIED_BYTES_MAX = 64 << 10, SAID_MAX = 600 };

static struct replay {
    struct myr_buf said;
    const char *kept;
    uint32_t vary;
    uint32_t count;
} replay;

/* A copy of the exact size, so that a sanitizer sees a read past the end. */
static void run_one(const char *text, size_t len)
{
    uint8_t *bytes = malloc(len > 0 ? len : 1);
    MYR_ASSERT(bytes);
    memcpy(bytes, text, len);
    LLVMFuzzerTestOneInput(bytes, len);
    free(bytes);
}

/* Where the line of a byte begins and ends. */
static size_t line_start(const struct myr_buf *text, size_t at)
{
    while (at > 0 && text->data[at - 1] != '\n') {
        at--;
    }
    return at;
}

static size_t line_end(const struct myr_buf *text, size_t at)
{
    while (at < text->len && text->data[at] != '\n') {
        at++;
    }
    return at < text->len ? at + 1 : at;
}

/* Another text, much like this one: what people and broken programs make of files. */
static void vary(const struct myr_buf *text, struct myr_rng *rng, struct myr_buf *ret)
{
    static const char letters[] = " ,:=-\"{}[]\n\t#/.019azAZ";
    size_t at = myr_rng_below(rng, (uint32_t)text->len);
    size_t from = at, to = at;
    char put[2] = {};
    uint32_t way = myr_rng_below(rng, 6);
    if (way == 0) { /* a line less */
        from = line_start(text, at);
        to = line_end(text, at);
    } else if (way == 1) { /* the end too soon */
        to = text->len;
    } else if (way == 2) { /* a byte less */
        to = at + 1;
    } else if (way == 3) { /* another byte */
        to = at + 1;
        put[0] = letters[myr_rng_below(rng, sizeof(letters) - 1)];
    } else { /* another digit, where one is to be found */
        while (from < text->len && (text->data[from] < '0' || text->data[from] > '9')) {
            from++;
        }
        to = from < text->len ? from + 1 : from;
        put[0] = (char)('0' + myr_rng_below(rng, 10));
    }
    myr_buf_put(ret, text->data, from);
    myr_buf_puts(ret, put);
    if (way == 5 && to < text->len) { /* and the line twice */
        size_t start = line_start(text, from);
        myr_buf_put(ret, text->data + to, line_end(text, to) - to);
        myr_buf_put(ret, text->data + start, line_end(text, from) - start);
        to = line_end(text, to);
    }
    myr_buf_put(ret, text->data + to, text->len - to);
}

static void replay_varied(const struct myr_buf *text, const char *name)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf heard = {};
    struct myr_rng rng;
    if (text->len == 0 || text->len > VARIED_BYTES_MAX || replay.vary == 0) {
        return;
    }
    fuzz_heard = &heard;
    myr_rng_init(&rng, myr_hash_bytes(name, strlen(name)), 1);
    for (uint32_t i = 0; i < replay.vary; i++) {
        struct myr_buf other = {};
        vary(text, &rng, &other);
        run_one(other.data, other.len);
        myr_buf_puts(&heard, "\n");
        myr_buf_done(&other);
    }
    fuzz_heard = NULL;
    if (getenv("MYRIAD_KEPT") && strcmp(getenv("MYRIAD_KEPT"), "say") == 0) {
        printf("%s\n%s", name, heard.len ? heard.data : "");
    }
    myr_buf_printf(&replay.said, "    %u more: %016llx\n", replay.vary,
                   (unsigned long long)myr_hash_bytes(heard.data, heard.len));
}

static void replay_file(const char *path)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf heard = {};
    struct myr_err err;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (myr_file_read(path, INPUT_BYTES_MAX, &text, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return;
    }
    fuzz_heard = &heard;
    run_one(text.data, text.len);
    fuzz_heard = NULL;
    for (size_t i = 0; i < heard.len; i++) {
        unsigned char c = (unsigned char)heard.data[i];
        heard.data[i] = c < 0x20 || c > 0x7E ? '?' : (char)c; /* a text that can be looked at */
    }
    myr_buf_printf(&replay.said, "%s:%s%.*s", name, heard.len ? " " : "",
                   heard.len < SAID_MAX ? (int)heard.len : SAID_MAX, heard.len ? heard.data : "");
    if (heard.len > SAID_MAX) {
        myr_buf_printf(&replay.said, "... %016llx",
                       (unsigned long long)myr_hash_bytes(heard.data, heard.len));
    }
    myr_buf_puts(&replay.said, "\n");
    replay_varied(&text, name);
    replay.count++;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* in every locale the same */
}

static void replay_path(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_shown, by_bytes);
    if (count < 0) {
        replay_file(path);
        return;
    }
    for (int i = 0; i < count; i++) {
        char name[4096];
        int len = snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
        if (len > 0 && (size_t)len < sizeof(name)) {
            replay_file(name);
        }
        free(entries[i]);
    }
    free(entries);
}

/* What is kept of an input: its line and the one behind it, or nothing. */
static struct myr_str entry_of(const struct myr_buf *text, struct myr_str name)
{
    for (size_t at = 0; at < text->len; at = line_end(text, at)) {
        size_t left = text->len - at;
        if (left > name.len && memcmp(text->data + at, name.data, name.len) == 0 &&
            text->data[at + name.len] == ':') {
            size_t end = line_end(text, at);
            end = end < text->len && text->data[end] == ' ' ? line_end(text, end) : end;
            return (struct myr_str){text->data + at, end - at};
        }
    }
    return (struct myr_str){};
}

/* False, and a line on stderr, when something else was said than is kept. */
static bool is_as_kept(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf kept = {};
    struct myr_err err = {};
    const char *wish = getenv("MYRIAD_KEPT");
    bool same = true;
    if (!replay.kept) {
        return true;
    }
    if (wish && strcmp(wish, "write") == 0) {
        MYR_ASSERT(myr_file_write(replay.kept, &replay.said, &err) == MYR_OK);
    }
    if (myr_file_read(replay.kept, INPUT_BYTES_MAX, &kept, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return false;
    }
    for (size_t at = 0; at < replay.said.len; at = line_end(&replay.said, at)) {
        const char *line = replay.said.data + at;
        struct myr_str name = {line, strcspn(line, ":")};
        if (line[0] == ' ') {
            continue; /* of the entry before */
        }
        struct myr_str now = entry_of(&replay.said, name), was = entry_of(&kept, name);
        if (was.len == 0) {
            printf("%.*s: not kept yet (MYRIAD_KEPT=write)\n", (int)name.len, name.data);
        } else if (!myr_str_eq(now, was)) {
            fprintf(stderr, "%s:\nkept: %.*snow:  %.*s", replay.kept, (int)was.len, was.data,
                    (int)now.len, now.data);
            same = false;
        }
    }
    return same;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--kept") == 0 && i + 1 < argc) {
            replay.kept = argv[++i];
        } else if (strcmp(argv[i], "--vary") == 0 && i + 1 < argc) {
            uint64_t count = 0;
            bool read = myr_str_to_u64(myr_str_from(argv[++i]), &count);
            MYR_ASSERT(read);
            replay.vary = (uint32_t)count;
        } else {
            replay_path(argv[i]);
        }
    }
    printf("%u inputs replayed\n", replay.count);
    bool same = is_as_kept();
    myr_buf_done(&replay.said);
    return same && replay.count > 0 ? 0 : 1; /* an empty corpus is a mistake in the build */
}
