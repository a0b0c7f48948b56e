#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "myriad/base.h"

/* The address sanitizer's allocator stops the program itself unless it is told to return NULL. */
/* NOLINTBEGIN(bugprone-reserved-identifier): the name is the sanitizer's */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
/* NOLINTEND(bugprone-reserved-identifier) */

static bool is_zero(const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

struct piece {
    unsigned char *memory;
    size_t len;
    unsigned char mark;
};

/*
 * Pieces of every size are zeroed, aligned and apart: each is filled with a mark of its own, and
 * all marks are still there at the end.
 */
static bool pieces_hold(uint64_t seed)
{
    enum { PIECES = 2000 };
    static struct piece pieces[PIECES];
    struct myr_arena arena;
    struct myr_rng rng;
    myr_arena_init(&arena);
    myr_rng_init(&rng, seed, 0);
    bool good = true;
    for (uint32_t i = 0; i < PIECES; i++) {
        uint32_t scale = myr_rng_below(&rng, 17);
        size_t len = myr_rng_below(&rng, 1U << scale);
        struct piece piece = {myr_arena_alloc(&arena, len, 1), len, (unsigned char)(1 + i % 255)};
        good = good && (uintptr_t)piece.memory % alignof(max_align_t) == 0 &&
               is_zero(piece.memory, len);
        memset(piece.memory, piece.mark, len);
        pieces[i] = piece;
    }
    for (uint32_t i = 0; i < PIECES; i++) {
        for (size_t at = 0; at < pieces[i].len; at++) {
            good = good && pieces[i].memory[at] == pieces[i].mark;
        }
    }
    myr_arena_done(&arena);
    return good;
}

static void pieces_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        if (!pieces_hold(seed)) {
            fail_msg("seed %llu", (unsigned long long)seed);
        }
    }
}

static void small_pieces_waste_less_than_half(void **state)
{
    (void)state;
    struct myr_arena arena;
    myr_arena_init(&arena);
    size_t used = 0;
    for (int i = 0; i < 100000; i++) {
        myr_arena_alloc(&arena, 3, sizeof(uint64_t));
        used += 32U; /* 24 rounded up to the alignment */
    }
    assert_true(arena.total_bytes >= used);
    /* 16 kB at first, and the newest block at most as large as all before it. */
    assert_true(arena.total_bytes <= 2 * used + 32 * 1024);
    myr_arena_done(&arena);
}

static void a_big_piece_leaves_the_open_block_in_use(void **state)
{
    (void)state;
    struct myr_arena arena;
    myr_arena_init(&arena);
    char *first = myr_arena_alloc(&arena, 16, 1);
    char *big = myr_arena_alloc(&arena, 10 << 20, 1);
    char *second = myr_arena_alloc(&arena, 16, 1);
    assert_ptr_equal(second, first + 16);
    big[0] = big[(10 << 20) - 1] = 1;
    myr_arena_done(&arena);
}

/* Each block is twice the last until 4 MB: few blocks, and never much more than is wanted. */
static void blocks_double_up_to_four_megabytes(void **state)
{
    (void)state;
    struct myr_arena arena;
    size_t last = 0, grown = 0;
    uint32_t blocks = 0;
    myr_arena_init(&arena);
    for (int i = 0; i < 20000; i++) {
        myr_arena_alloc(&arena, 1024, 1);
        if (arena.total_bytes == last) {
            continue;
        }
        grown = arena.total_bytes - last;
        assert_int_equal(grown, blocks < 8 ? (size_t)16 * 1024 << blocks : (size_t)4 << 20);
        last = arena.total_bytes;
        blocks++;
    }
    assert_int_equal(grown, 4 << 20);
    /* Half a block and less is put into a new one; more has one of its own, as large as it. */
    myr_arena_alloc(&arena, 2 << 20, 1);
    last = arena.total_bytes;
    myr_arena_alloc(&arena, 3 << 20, 1);
    assert_int_equal(arena.total_bytes - last, 3 << 20);
    myr_arena_done(&arena);
}

static void a_zeroed_arena_works_and_done_makes_it_fresh(void **state)
{
    (void)state;
    struct myr_arena arena = {};
    myr_arena_done(&arena);
    memset(&arena, 0, sizeof(arena));
    assert_non_null(myr_arena_alloc(&arena, 0, 8));
    uint64_t *five = MYR_ARENA_NEW(&arena, uint64_t, 5);
    assert_ptr_equal(myr_arena_alloc(&arena, 1, 1), five + 6); /* the same block, aligned */
    assert_true(arena.total_bytes > 0);
    myr_arena_done(&arena);
    assert_int_equal(arena.total_bytes, 0);
    assert_null(arena.blocks);
    assert_non_null(myr_arena_alloc(&arena, 1, 1));
    myr_arena_done(&arena);
}

static void copies_of_text_end_in_nul(void **state)
{
    (void)state;
    struct myr_arena arena;
    myr_arena_init(&arena);
    assert_string_equal(myr_arena_strndup(&arena, "leaf/p2-g1", 4), "leaf");
    assert_string_equal(myr_arena_strndup(&arena, NULL, 0), "");
    assert_string_equal(myr_arena_printf(&arena, "node/%05d", 42), "node/00042");
    const char *wide = myr_arena_printf(&arena, "%20000d", 7);
    assert_int_equal(strlen(wide), 20000);
    assert_int_equal(wide[19999], '7');
    myr_arena_done(&arena);
}

static void heap_memory_grows_and_keeps_what_it_held(void **state)
{
    (void)state;
    uint32_t *numbers = myr_xrealloc(NULL, 2, sizeof(*numbers));
    numbers[0] = 10;
    numbers[1] = 11;
    numbers = myr_xrealloc(numbers, 100000, sizeof(*numbers));
    assert_int_equal(numbers[0], 10);
    assert_int_equal(numbers[1], 11);
    free(numbers);
}

enum request { ARENA, REALLOC, CALLOC };

static void ask_for(enum request request, size_t count, size_t size)
{
    struct myr_arena arena = {};
    void *memory = request == ARENA     ? myr_arena_alloc(&arena, count, size)
                   : request == REALLOC ? myr_xrealloc(NULL, count, size)
                                        : myr_xcalloc(count, size);
    fprintf(stderr, "%p\n", memory); /* used, so that no compiler drops the request */
}

/* What a process of its own says on stderr when it asks for 'count' pieces, and how it ends. */
static int asked(enum request request, size_t count, size_t size, char *said, size_t said_size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        ask_for(request, count, size);
        _exit(0);
    }
    close(ends[1]);
    FILE *text = fdopen(ends[0], "r");
    assert_non_null(text);
    said[0] = '\0';
    char line[512];
    while (fgets(line, sizeof(line), text)) { /* a sanitizer adds lines of its own */
        if (strstr(line, "myriad: ") || strstr(line, "broken invariant")) {
            snprintf(said, said_size, "%s", line);
        }
    }
    fclose(text);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void memory_that_cannot_be_had_is_named_in_bytes(void **state)
{
    (void)state;
    const struct {
        enum request request;
        const char *bytes;
    } cases[] = {
        /* An arena's piece is rounded up to its alignment. */
        {ARENA, "4611686018427387904"},
        {REALLOC, "4611686018427387900"},
        {CALLOC, "4611686018427387900"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        char said[512];
        int status = asked(cases[i].request, SIZE_MAX / 16, 4, said, sizeof(said));
        char wanted[128];
        snprintf(wanted, sizeof(wanted), "myriad: out of memory (wanted %s bytes)\n",
                 cases[i].bytes);
        assert_string_equal(said, wanted);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    }
}

static void a_size_that_overflows_is_a_bug_and_not_a_small_piece(void **state)
{
    (void)state;
    for (enum request request = ARENA; request <= CALLOC; request++) {
        char said[512];
        int status = asked(request, SIZE_MAX / 4, 8, said, sizeof(said));
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        assert_non_null(strstr(said, "broken invariant"));
    }
}

static void nothing_is_a_pointer_too(void **state)
{
    (void)state;
    void *none = myr_xcalloc(0, 8);
    assert_non_null(none);
    free(none);
    uint64_t *numbers = myr_xcalloc(1000, sizeof(*numbers));
    assert_true(is_zero((const unsigned char *)numbers, 1000 * sizeof(*numbers)));
    free(numbers);
}

static void a_cleared_arena_is_empty_and_keeps_one_block(void **state)
{
    (void)state;
    struct myr_arena arena = {};
    myr_arena_clear(&arena); /* one that never held anything */
    for (int round = 0; round < 50; round++) {
        size_t before = arena.total_bytes;
        for (int i = 0; i < 200; i++) {
            unsigned char *piece = myr_arena_alloc(&arena, 1, 300);
            assert_true(is_zero(piece, 300));
            memset(piece, 0xAA, 300);
        }
        unsigned char *big = myr_arena_alloc(&arena, 1, 1 << 20);
        assert_true(is_zero(big, 1 << 20));
        memset(big, 0xBB, 1 << 20);
        myr_arena_clear(&arena);
        assert_true(round < 4 || arena.total_bytes == before); /* it has found its size */
    }
    myr_arena_done(&arena);
    assert_int_equal(arena.total_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(small_pieces_waste_less_than_half),
        cmocka_unit_test(a_big_piece_leaves_the_open_block_in_use),
        cmocka_unit_test(blocks_double_up_to_four_megabytes),
        cmocka_unit_test(a_zeroed_arena_works_and_done_makes_it_fresh),
        cmocka_unit_test(copies_of_text_end_in_nul),
        cmocka_unit_test(a_cleared_arena_is_empty_and_keeps_one_block),
        cmocka_unit_test(heap_memory_grows_and_keeps_what_it_held),
        cmocka_unit_test(memory_that_cannot_be_had_is_named_in_bytes),
        cmocka_unit_test(a_size_that_overflows_is_a_bug_and_not_a_small_piece),
        cmocka_unit_test(nothing_is_a_pointer_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
