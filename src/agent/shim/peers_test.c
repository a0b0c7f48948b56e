/* Launchers of one gang tell each other how old its last step is; the clock is the test's. */
#include "shim/peers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL
#define S  (1000 * MS)

static int64_t clock_ns = 1000 * S;

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    (void)which;
    *ret = (struct timespec){clock_ns / S, clock_ns % S};
    return 0;
}

/* One that nobody has at the moment. */
static uint16_t free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    close(fd);
    return ntohs(at.sin_port);
}

static struct order order_of(uint32_t rank, uint32_t count, uint32_t lease_s, const char *master)
{
    return (struct order){.job = 5,
                          .epoch = 2,
                          .node_rank = rank,
                          .node_count = count,
                          .lease_s = lease_s,
                          .master = myr_str_from(master)};
}

static void who_is_alone_says_nothing(void **state)
{
    (void)state;
    static const struct {
        uint32_t rank, count, lease_s;
        const char *master;
    } all[] = {{0, 1, 60, "127.0.0.1 20000"},    {1, 2, 0, "127.0.0.1 20000"},
               {1, 2, 60, "127.0.0.1"},          {1, 2, 60, " 20000"},
               {1, 2, 60, "127.0.0.1 20000000"}, {1, 2, 60, ""}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        struct order order = order_of(all[i].rank, all[i].count, all[i].lease_s, all[i].master);
        struct peers peers = {.fd = 7};
        peers_open(&peers, &order);
        assert_int_equal(peers.fd, -1);
        peers_tick(&peers, clock_ns, 0); /* and nothing is harmed */
        peers_take(&peers, 0);
    }
}

static void how_often(void **state)
{
    (void)state;
    static const struct {
        uint32_t lease_s;
        int64_t every_ns;
    } all[] = {{5, 1 * S}, {49, 49 * S / 5}, {50, 10 * S}, {600, 10 * S}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        struct order order = order_of(1, 2, all[i].lease_s, "127.0.0.1 9");
        struct peers peers;
        peers_open(&peers, &order);
        assert_true(peers.fd >= 0 && !peers.first);
        assert_int_equal(peers.every_ns, all[i].every_ns);
        assert_int_equal(peers.job, 5);
        assert_int_equal(peers.epoch, 2);
        close(peers.fd);
    }
}

static void what_the_others_know(void **state)
{
    (void)state;
    char master[32];
    struct peers first, second, third;
    uint16_t port = free_port();
    snprintf(master, sizeof(master), "127.0.0.1 %u", port);
    struct order order = order_of(0, 3, 60, master);
    peers_open(&first, &order);
    assert_true(first.fd >= 0 && first.first);
    struct peers again;
    peers_open(&again, &order); /* the port is taken */
    assert_int_equal(again.fd, -1);
    order.node_rank = 1;
    peers_open(&second, &order);
    order.node_rank = 2;
    peers_open(&third, &order);
    /* The second has made a step three seconds ago; the first learns it, and tells who asks. */
    int64_t step_ns = clock_ns - 3 * S;
    peers_tick(&second, clock_ns, step_ns);
    peers_tick(&third, clock_ns, 0);
    peers_tick(&first, clock_ns, 0); /* the first answers, and never begins */
    clock_ns += 100 * MS;
    peers_take(&first, 0);
    int64_t seen_ns = clock_ns - 3 * S; /* by the age that it was told */
    assert_int_equal(first.step_ns, seen_ns);
    clock_ns += 50 * MS;
    peers_take(&third, 0);
    assert_int_equal(third.step_ns, seen_ns + 50 * MS); /* it was told as 3.0 s old */
    peers_take(&second, step_ns);
    /* Not before its time is it said again. */
    int64_t next_ns = second.next_ns;
    assert_int_equal(next_ns, 1000 * S + 10 * S);
    second.step_ns = third.step_ns = first.step_ns = 0;
    peers_tick(&second, next_ns - 1, clock_ns);
    peers_take(&first, 0);
    assert_int_equal(first.step_ns, 0);
    peers_tick(&second, next_ns, clock_ns);
    peers_take(&first, 0);
    assert_int_equal(first.step_ns, clock_ns);
    /* What is older than what is known changes nothing. */
    second.next_ns = 0;
    second.step_ns = 0;
    peers_tick(&second, clock_ns, clock_ns - 9 * S);
    peers_take(&first, 0);
    assert_int_equal(first.step_ns, clock_ns);
    /* Of its own step and what it was told, the younger is told. */
    peers_take(&second, 0);
    second.step_ns = 0;
    second.next_ns = 0;
    first.step_ns = clock_ns - 8 * S;
    peers_tick(&second, clock_ns, 0);
    peers_take(&first, clock_ns - 2 * S);
    peers_take(&second, 0);
    assert_int_equal(second.step_ns, clock_ns - 2 * S);
    close(first.fd);
    close(second.fd);
    close(third.fd);
}

static void what_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t age_ms; /* -2: nobody understands it */
    } all[] = {{"step-age 5 2 -\n", -1},
               {"step-age 5 2 0\n", 0},
               {"step-age 5 2 1234\n", 1234},
               {"step-age 5 2 4611686018427\n", 4611686018427},
               {"step-age 5 2 4611686018428\n", -2},
               {"step-age 5 2 1234", -2},
               {"step-age 5 2 \n", -2},
               {"step-age 5 2 -1\n", -2},
               {"step-age 5 2 x\n", -2},
               {"step-age 6 2 1\n", -2},
               {"step-age 5 3 1\n", -2},
               {"step-age 5 2 ", -2},
               {"", -2}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        int64_t age_ms = -7;
        bool good = peers_parse(myr_str_from(all[i].text), 5, 2, &age_ms);
        assert_int_equal(good, all[i].age_ms != -2);
        assert_int_equal(age_ms, good ? all[i].age_ms : -7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_alone_says_nothing),
        cmocka_unit_test(how_often),
        cmocka_unit_test(what_the_others_know),
        cmocka_unit_test(what_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
