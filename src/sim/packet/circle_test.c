#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "packet/packet.h"

/* Pauses that wait for each other in a circle: found and named; without a circle nothing is. */

enum { MOST = 16, CHANNELS = MOST * 4, HOPS = 4 };

struct ring {
    struct pk_channel channels[CHANNELS];
    struct pk_path paths[MOST];
    uint32_t ways[MOST][HOPS];
    struct pk *k;
};

/* Switches in a ring, a host at each, which sends 'far' switches onwards, all the same way round.
 */
static void make(struct ring *ring, uint32_t switches, uint32_t far, uint64_t bytes)
{
    struct myr_packet_options options = myr_packet_default(MYR_CC_PFC);
    struct myr_err err = {};
    options.buffer_bytes = 150000;
    for (uint32_t s = 0; s < switches; s++) {
        uint32_t on = (s + 1) % switches, link = (switches + s) * 2;
        uint64_t bps = 100000000000;
        ring->channels[s * 2] = (struct pk_channel){bps, 1000000, MYR_NONE, s};
        ring->channels[s * 2 + 1] = (struct pk_channel){bps, 1000000, s, MYR_NONE};
        ring->channels[link] = (struct pk_channel){bps, 1000000, s, on};
        ring->channels[link + 1] = (struct pk_channel){bps, 1000000, on, s};
    }
    for (uint32_t s = 0; s < switches; s++) {
        uint32_t count = 0;
        ring->ways[s][count++] = s * 2;
        for (uint32_t i = 0; i < far; i++) {
            ring->ways[s][count++] = (switches + (s + i) % switches) * 2;
        }
        ring->ways[s][count++] = (s + far) % switches * 2 + 1;
        ring->paths[s] = (struct pk_path){ring->ways[s], count};
    }
    struct pk_setup setup = {.options = &options,
                             .channels = ring->channels,
                             .paths = ring->paths,
                             .channel_count = switches * 4,
                             .switch_count = switches,
                             .path_count = switches};
    assert_int_equal(pk_create(&ring->k, &setup, &err), MYR_OK);
    for (uint32_t s = 0; s < switches; s++) {
        (void)pk_send(ring->k, &(struct pk_message){s, 1, s, bytes, s, MYR_NONE}, 0);
    }
}

static uint32_t play(struct ring *ring)
{
    uint32_t ends = 0, tag;
    while (pk_run(ring->k, INT64_MAX / 4) != INT64_MAX) {
        while (pk_ended(ring->k, &tag)) {
            ends++;
        }
    }
    assert_true(pk_conserved(ring->k));
    return ends;
}

static void a_circle_of_pauses_is_named(void **state)
{
    (void)state;
    for (uint32_t switches = 3; switches <= MOST; switches++) {
        struct ring ring = {};
        uint32_t circle[MOST];
        make(&ring, switches, 2, 1000000);
        assert_true(play(&ring) < switches);
        /* Each link of the ring waits for the next one, none is left out. */
        assert_int_equal(pk_circle(ring.k, circle, MOST), switches);
        for (uint32_t i = 0; i < switches; i++) {
            uint32_t next = circle[(i + 1) % switches];
            assert_true(circle[i] >= switches * 2 && circle[i] % 2 == 0);
            assert_int_equal(next / 2 - switches, (circle[i] / 2 - switches + 1) % switches);
        }
        pk_free(ring.k);
    }
}

static void without_one_all_arrives(void **state)
{
    (void)state;
    for (uint32_t switches = 3; switches <= MOST; switches++) {
        struct ring ring = {};
        uint32_t circle[MOST];
        make(&ring, switches, 1, 1000000); /* nobody goes over two links of the ring */
        assert_int_equal(play(&ring), switches);
        assert_int_equal(pk_circle(ring.k, circle, MOST), 0);
        pk_free(ring.k);
        make(&ring, switches, 2, 20000); /* less than what makes anybody pause */
        assert_int_equal(play(&ring), switches);
        pk_free(ring.k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_circle_of_pauses_is_named),
        cmocka_unit_test(without_one_all_arrives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
