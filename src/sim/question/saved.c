#include "question/saved.h"

#include <stdio.h>
#include <zlib.h>

#include "myriad/sim/state.h"

/*
 * A saved run:
 *
 *     head     magic, version, byte order, checksum and length of the rest
 *     words    the question: name, value, name, value, ..., each with a NUL behind
 *     alone    of several workloads, what each took alone
 *     image    the engine's state
 */

static const char magic[8] = {'M', 'Y', 'R', 'S', 'I', 'M', 'R', 'N'};

/* ORDER reads otherwise on a machine of the other byte order: the image is this one's memory. */
enum { VERSION = 3, ORDER = 0x01020304, WORDS_MAX = 1 << 20 };

/* Lengths are in bytes, without the head itself. */
struct head {
    char magic[8];
    uint32_t version, order;      /* order: ORDER, as this machine writes it */
    uint64_t length, words, jobs; /* of all behind the head; of the words; workloads */
    uint32_t crc, unused;         /* of all that is behind the head */
};

/* The settings that are texts and numbers, by name. */
enum { DESIGN, TOPOLOGY, OVERHEAD, SERIES, ROUTES, TEXTS };
static const char *const text_names[TEXTS] = {"design", "topology", "message-overhead",
                                              "series-step", "routes"};
enum { NET, POLICY, SEED, POLARISED, PAIRS, EFFICIENCY, LOSS, PAUSE, PATHS, NUMBERS };
static const char *const number_names[NUMBERS] = {"net",          "lb",          "seed",
                                                  "polarised",    "queue-pairs", "efficiency",
                                                  "sharing-loss", "pause",       "paths"};
enum { WORKLOAD, FAULT, SLOW, LISTS };
static const char *const list_names[LISTS] = {"workload", "fault", "slow"};

/* With both NULs: neither a name nor a value can hold one. */
static void put_word(struct myr_buf *buf, const char *name, const char *value)
{
    myr_buf_put(buf, name, strlen(name) + 1);
    myr_buf_put(buf, value, strlen(value) + 1);
}

/* Every number, but only the texts that were given: NULL has no spelling. */
static void put_question(struct myr_buf *buf, const struct myr_sim_question *question)
{
    const char *texts[TEXTS] = {question->design, question->topology, question->message_overhead,
                                question->series_step, question->routes};
    uint64_t numbers[NUMBERS] = {
        question->net,
        question->balance.policy,
        question->balance.seed,
        question->balance.polarised,
        question->queue_pairs,
        question->efficiency_permille,
        question->sharing_loss_permille,
        question->pause_permille,
        question->keep_paths,
    };
    struct myr_sim_words lists[LISTS] = {question->workloads, question->faults, question->slow};
    for (uint32_t i = 0; i < TEXTS; i++) {
        if (texts[i]) {
            put_word(buf, text_names[i], texts[i]);
        }
    }
    for (uint32_t i = 0; i < NUMBERS; i++) {
        char number[24];
        (void)snprintf(number, sizeof(number), "%llu", (unsigned long long)numbers[i]);
        put_word(buf, number_names[i], number);
    }
    for (uint32_t i = 0; i < LISTS; i++) {
        for (uint32_t k = 0; k < lists[i].count; k++) {
            put_word(buf, list_names[i], lists[i].items[k]);
        }
    }
}

/*
 * The head last, when the checksum is known; the file appears under its name only when it is whole.
 */
int saved_write(const struct myr_sim_answer *answer, const struct myr_sim_question *question,
                struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    struct head head = {.version = VERSION, .order = ORDER, .jobs = answer->job_count};
    memcpy(head.magic, magic, sizeof(magic));
    /* Written twice: its sums are known only at the end. */
    myr_buf_put(&file, (const char *)&head, sizeof(head));
    put_question(&file, question);
    head.words = file.len - sizeof(head);
    for (uint32_t i = 0; i < answer->job_count; i++) {
        myr_buf_put(&file, (const char *)&answer->jobs[i].alone, sizeof(myr_ps));
    }
    MYR_ASSERT(answer->sim && question->save &&
               file.len == sizeof(head) + head.words + head.jobs * sizeof(myr_ps));
    myr_sim_save(answer->sim, &file);
    head.length = file.len - sizeof(head);
    head.crc = (uint32_t)crc32_z(0, (const uint8_t *)file.data + sizeof(head), head.length);
    memcpy(file.data, &head, sizeof(head));
    return myr_file_write(question->save, &file, err);
}

/* Always with the file's name in front. */
static int refuse(struct myr_err *err, int code, const char *path, const char *what)
{
    return myr_err_set(err, code, "%s: %s", path, what);
}

/* The length before the checksum, the checksum before anything that it covers is believed. */
static int read_head(struct head *ret, const char *path, struct myr_str text, struct myr_err *err)
{
    if (text.len < sizeof(*ret) || memcmp(text.data, magic, sizeof(magic)) != 0) {
        return refuse(err, MYR_EINVAL, path, "this is no saved run, as sim --save writes them");
    }
    memcpy(ret, text.data, sizeof(*ret));
    if (ret->version != VERSION || ret->order != ORDER) {
        return myr_err_set(err, MYR_EVERSION,
                           "%s: a saved run of version %u, %u of this machine's byte order is "
                           "expected",
                           path, ret->version, VERSION);
    }
    if (ret->length != text.len - sizeof(*ret)) {
        return refuse(err, MYR_ECORRUPT, path, "the saved run is damaged: its length is wrong");
    }
    const uint8_t *rest = (const uint8_t *)text.data + sizeof(*ret);
    if (ret->crc != (uint32_t)crc32_z(0, rest, ret->length)) {
        return refuse(err, MYR_ECORRUPT, path, "the saved run is damaged: its checksum is wrong");
    }
    if (ret->words > WORDS_MAX || ret->jobs > WORDS_MAX || ret->words > ret->length ||
        ret->jobs * sizeof(myr_ps) > ret->length - ret->words || ret->jobs == 0) {
        return refuse(err, MYR_ECORRUPT, path, "the saved run is damaged: its parts do not fit");
    }
    return MYR_OK;
}

/* One word up to its NUL; empty text when there is none. */
static bool take_word(struct myr_str *words, const char **ret)
{
    const char *end = words->len ? memchr(words->data, 0, words->len) : NULL;
    if (!end) {
        return false;
    }
    *ret = words->data;
    words->len -= (size_t)(end + 1 - words->data);
    words->data = end + 1;
    return true;
}

/* 'count' when it is none of them. */
static uint32_t name_of(const char *const *names, uint32_t count, const char *name)
{
    uint32_t i = 0;
    while (i < count && strcmp(names[i], name) != 0) {
        i++;
    }
    return i;
}

/* The question in the order of the tables above. */
struct words {
    const char *texts[TEXTS];
    uint64_t numbers[NUMBERS];
    const char **lists[LISTS];
    uint32_t counts[LISTS]; /* words in each list so far */
};

/* Each pair where it belongs; false for a name that is not known. */
static bool sort_words(struct words *ret, struct myr_str text)
{
    const char *name, *value;
    while (text.len) {
        if (!take_word(&text, &name) || !take_word(&text, &value)) {
            return false;
        }
        uint32_t one = name_of(text_names, TEXTS, name);
        uint32_t number = name_of(number_names, NUMBERS, name);
        uint32_t list = name_of(list_names, LISTS, name);
        if (one < TEXTS) {
            ret->texts[one] = value;
        } else if (number < NUMBERS) {
            if (!myr_str_to_u64(myr_str_from(value), &ret->numbers[number])) {
                return false;
            }
        } else if (list < LISTS) {
            ret->lists[list][ret->counts[list]++] = value;
        } else {
            return false;
        }
    }
    return true;
}

/* As the options of the command would have refused them. */
static bool numbers_right(const uint64_t *numbers)
{
    return numbers[NET] < MYR_NET_COUNT && numbers[POLICY] < MYR_POLICY_COUNT &&
           numbers[POLARISED] <= 1 && numbers[PAIRS] >= 1 && numbers[PAIRS] <= 256 &&
           numbers[EFFICIENCY] >= 1 && numbers[EFFICIENCY] <= 1000 && numbers[LOSS] <= 999 &&
           numbers[PAUSE] <= 1000 && numbers[PATHS] <= 1;
}

/*
 * Nothing in the file is believed: lengths, names, numbers and the count of jobs are held against
 * each other before the question is made.
 */
int saved_read(struct saved *ret, struct myr_arena *arena, const char *path, struct myr_str text,
               struct myr_err *err)
{
    struct head head = {};
    struct words words = {};
    MYR_TRY(read_head(&head, path, text, err));
    const char *rest = text.data + sizeof(head);
    /* Copied: the question lives longer than the file's text. */
    char *copy = MYR_ARENA_NEW(arena, char, head.words + 1);
    memcpy(copy, rest, head.words);
    struct myr_str pairs = {copy, head.words};
    for (uint32_t i = 0; i < LISTS; i++) {
        /* No list can be longer: each of its words takes two bytes at least. */
        words.lists[i] = MYR_ARENA_NEW(arena, const char *, head.words / 2 + 1);
    }
    if (!sort_words(&words, pairs) || !numbers_right(words.numbers) ||
        words.counts[WORKLOAD] != head.jobs) {
        return refuse(err, MYR_ECORRUPT, path, "the saved run is damaged: its question is wrong");
    }
    const uint64_t *numbers = words.numbers;
    ret->question = (struct myr_sim_question){
        .design = words.texts[DESIGN],
        .topology = words.texts[TOPOLOGY],
        .net = (enum myr_net_id)numbers[NET],
        .workloads = {words.lists[WORKLOAD], words.counts[WORKLOAD]},
        .faults = {words.lists[FAULT], words.counts[FAULT]},
        .slow = {words.lists[SLOW], words.counts[SLOW]},
        .balance = {(enum myr_policy)numbers[POLICY], numbers[SEED], numbers[POLARISED]},
        .queue_pairs = (uint32_t)numbers[PAIRS],
        .efficiency_permille = (uint32_t)numbers[EFFICIENCY],
        .sharing_loss_permille = (uint32_t)numbers[LOSS],
        .pause_permille = (uint32_t)numbers[PAUSE],
        .message_overhead = words.texts[OVERHEAD],
        .series_step = words.texts[SERIES],
        .keep_paths = numbers[PATHS],
        .routes = words.texts[ROUTES],
    };
    ret->alone = rest + head.words;
    size_t before = head.words + head.jobs * sizeof(myr_ps);
    ret->image = (struct myr_str){rest + before, head.length - before};
    return MYR_OK;
}
