/*
 * What launchers of one gang send to each other, byte by byte, as seen by a plain socket; names are
 * resolved by the test, and the clock is its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "shim/peers.h"

#define MS 1000000LL
#define S  (1000 * MS)

static int64_t clock_ns = 1000 * S;
static struct {
    char host[400], port[16];
    uint32_t calls, open;
} asked;

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    (void)which;
    *ret = (struct timespec){clock_ns / S, clock_ns % S};
    return 0;
}

/* Addresses are themselves, "none" is nobody, and any other name has two, of which ours is first.
 */
__attribute__((visibility("default"))) int
getaddrinfo(const char *host, const char *port, const struct addrinfo *want, struct addrinfo **ret)
{
    static struct sockaddr_in four[2];
    static struct sockaddr_in6 six;
    static struct addrinfo found[2];
    asked.calls++;
    snprintf(asked.host, sizeof(asked.host), "%s", host);
    snprintf(asked.port, sizeof(asked.port), "%s", port);
    assert_int_equal(want->ai_family, AF_UNSPEC);
    assert_int_equal(want->ai_socktype, SOCK_DGRAM);
    uint64_t number;
    if (strcmp(host, "none") == 0 || !myr_str_to_u64(myr_str_from(port), &number)) {
        return EAI_NONAME;
    }
    six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)number)};
    for (int i = 0; i < 2; i++) {
        four[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)number)};
        four[i].sin_addr.s_addr = htonl(i == 0 ? INADDR_LOOPBACK : 0xC0000201); /* 192.0.2.1 */
        found[i] = (struct addrinfo){.ai_family = AF_INET,
                                     .ai_addr = (struct sockaddr *)&four[i],
                                     .ai_addrlen = sizeof(four[i])};
    }
    if (inet_pton(AF_INET6, host, &six.sin6_addr) == 1) {
        found[0].ai_family = AF_INET6;
        found[0].ai_addr = (struct sockaddr *)&six;
        found[0].ai_addrlen = sizeof(six);
    } else {
        (void)inet_pton(AF_INET, host, &four[0].sin_addr);
    }
    found[0].ai_next = &found[1];
    *ret = &found[0];
    asked.open++;
    return 0;
}

__attribute__((visibility("default"))) void freeaddrinfo(struct addrinfo *found)
{
    asked.open -= found != NULL;
}

/* A socket of a stranger, or of who plays a launcher; its port. */
static int plain_socket(uint16_t *ret_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *ret_port = ntohs(at.sin_port);
    return fd;
}

static void open_peers(struct peers *ret, uint32_t rank, const char *host, unsigned port)
{
    char master[400];
    snprintf(master, sizeof(master), "%s %u", host, port);
    struct order order = {.job = UINT64_MAX,
                          .epoch = UINT32_MAX,
                          .node_rank = rank,
                          .node_count = 2,
                          .lease_s = 60,
                          .master = myr_str_from(master)};
    peers_open(ret, &order);
    assert_int_equal(asked.open, 0); /* what was found is given back */
}

/* Somebody else may take a port between the two looks: then another one is tried. */
static uint16_t open_first(struct peers *ret, const char *host)
{
    uint16_t port = 0;
    ret->fd = -1;
    for (int i = 0; i < 8 && ret->fd < 0; i++) {
        close(plain_socket(&port));
        open_peers(ret, 0, host, port);
    }
    return port;
}

static void assert_flags(int fd)
{
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC); /* no rank gets it */
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/* The name that the others use may be one that this host does not know as its own. */
static void the_first_node_listens_on_all_its_addresses(void **state)
{
    (void)state;
    static const char *const hosts[] = {"127.0.0.1", "192.0.2.1", "head"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(hosts); i++) {
        struct peers first;
        struct sockaddr_in at = {};
        socklen_t size = sizeof(at);
        uint16_t port = open_first(&first, hosts[i]);
        assert_true(first.fd >= 0 && first.first);
        assert_flags(first.fd);
        assert_int_equal(getsockname(first.fd, (struct sockaddr *)&at, &size), 0);
        assert_int_equal(at.sin_family, AF_INET);
        assert_int_equal(at.sin_addr.s_addr, htonl(INADDR_ANY));
        assert_int_equal(ntohs(at.sin_port), port);
        assert_int_equal(first.to_len, sizeof(at));
        close(first.fd);
    }
    int six = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
    bool has_six = six >= 0 && bind(six, (struct sockaddr *)&own, sizeof(own)) == 0;
    close(six);
    if (has_six) {
        struct peers first;
        socklen_t size = sizeof(own);
        uint16_t port = open_first(&first, "2001:db8::1");
        assert_true(first.fd >= 0);
        assert_int_equal(getsockname(first.fd, (struct sockaddr *)&own, &size), 0);
        assert_memory_equal(&own.sin6_addr, &in6addr_any, sizeof(in6addr_any));
        assert_int_equal(ntohs(own.sin6_port), port);
        assert_int_equal(first.to_len, sizeof(own));
        close(first.fd);
    }
}

static void a_master_is_a_name_and_a_port_that_fit(void **state)
{
    (void)state;
    static const struct {
        size_t host_len;
        const char *port;
        bool asks;
    } all[] = {{1, "9", true},         {255, "9", true}, {256, "9", false}, {4, "0000009", true},
               {4, "00000009", false}, {0, "9", false},  {4, "x", true}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        char master[400] = "";
        struct peers peers;
        memset(master, 'h', all[i].host_len);
        snprintf(master + all[i].host_len, 20, " %s", all[i].port);
        struct order order = {
            .node_rank = 1, .node_count = 2, .lease_s = 1, .master = myr_str_from(master)};
        asked.calls = 0;
        peers_open(&peers, &order);
        assert_int_equal(asked.calls, all[i].asks);
        bool good = all[i].asks && all[i].port[0] != 'x';
        assert_int_equal(peers.fd >= 0, good);
        if (good) {
            const struct sockaddr_in *to = (const void *)&peers.to;
            assert_int_equal(strlen(asked.host), all[i].host_len);
            assert_int_equal(strspn(asked.host, "h"), all[i].host_len);
            assert_string_equal(asked.port, all[i].port);
            assert_int_equal(to->sin_addr.s_addr, htonl(INADDR_LOOPBACK)); /* the first it has */
            assert_int_equal(ntohs(to->sin_port), 9);
            assert_flags(peers.fd);
            close(peers.fd);
        }
    }
    struct peers nobody;
    open_peers(&nobody, 1, "none", 9);
    assert_int_equal(nobody.fd, -1);
}

static void assert_heard(int fd, const char *text)
{
    char got[200] = "";
    ssize_t len = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);
    assert_string_equal(len < 0 ? "(nothing)" : got, text);
}

#define HEAD "step-age 18446744073709551615 4294967295 "

static void a_question_is_this_text(void **state)
{
    (void)state;
    struct peers peers;
    uint16_t port;
    int fd = plain_socket(&port);
    open_peers(&peers, 1, "127.0.0.1", port);
    const struct {
        int64_t own_ns, told_ns;
        const char *text;
    } all[] = {{0, 0, HEAD "-\n"},
               {-1, 0, HEAD "-\n"},
               {1, 0, HEAD "999999\n"}, /* just not the whole time since the boot */
               {0, 1, HEAD "999999\n"},
               {clock_ns, 0, HEAD "0\n"},
               {clock_ns + 5 * S, 0, HEAD "0\n"}, /* never younger than now */
               {clock_ns - MS + 1, 0, HEAD "0\n"},
               {clock_ns - MS, 0, HEAD "1\n"},
               {clock_ns - 3 * MS, clock_ns - 2 * MS, HEAD "2\n"},
               {clock_ns - 2 * MS, clock_ns - 3 * MS, HEAD "2\n"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        peers.step_ns = all[i].told_ns;
        peers.next_ns = clock_ns;
        peers_tick(&peers, clock_ns - 1, all[i].own_ns);
        assert_heard(fd, "(nothing)");
        peers_tick(&peers, clock_ns, all[i].own_ns);
        assert_heard(fd, all[i].text);
        assert_int_equal(peers.next_ns, clock_ns + 10 * S);
        assert_int_equal(peers.step_ns, all[i].told_ns);
    }
    close(fd);
    close(peers.fd);
}

/* Strangers are not answered, and keep nobody from being heard. */
static void what_is_not_understood_is_passed_over(void **state)
{
    (void)state;
    static const char *const strange[] = {"x",  "\n",     "-",      "step-age 1 1 5\n",
                                          HEAD, HEAD "5", HEAD "\n"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(strange); i++) {
        struct peers first;
        uint16_t other;
        uint16_t port = open_first(&first, "127.0.0.1");
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        to.sin_port = htons(port);
        int fd = plain_socket(&other);
        assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
        assert_true(send(fd, strange[i], strlen(strange[i]), 0) > 0);
        assert_true(send(fd, HEAD "-\n", strlen(HEAD "-\n"), 0) > 0);
        assert_true(send(fd, HEAD "7\n", strlen(HEAD "7\n"), 0) > 0);
        peers_take(&first, clock_ns - 9 * MS);
        assert_heard(fd, HEAD "9\n"); /* its own; then what it has just learnt */
        assert_heard(fd, HEAD "7\n");
        assert_heard(fd, "(nothing)");
        assert_int_equal(first.step_ns, clock_ns - 7 * MS);
        close(fd);
        close(first.fd);
    }
}

static void a_flood_is_taken_in_pieces(void **state)
{
    (void)state;
    struct peers first;
    uint16_t other;
    uint16_t port = open_first(&first, "127.0.0.1");
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    to.sin_port = htons(port);
    int fd = plain_socket(&other);
    for (int i = 0; i < 66; i++) { /* each knows of a younger step than the one before */
        char text[80];
        int len = snprintf(text, sizeof(text), HEAD "%d\n", 1000 - i);
        assert_int_equal(sendto(fd, text, (size_t)len, 0, (struct sockaddr *)&to, sizeof(to)), len);
    }
    peers_take(&first, 0);
    assert_int_equal(first.step_ns, clock_ns - (1000 - 63) * MS);
    peers_take(&first, 0);
    assert_int_equal(first.step_ns, clock_ns - (1000 - 65) * MS);
    close(fd);
    close(first.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_node_listens_on_all_its_addresses),
        cmocka_unit_test(a_master_is_a_name_and_a_port_that_fit),
        cmocka_unit_test(a_question_is_this_text),
        cmocka_unit_test(what_is_not_understood_is_passed_over),
        cmocka_unit_test(a_flood_is_taken_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
