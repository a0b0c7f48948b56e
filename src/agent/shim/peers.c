/* peers: "step-age" by UDP between the launchers of one job; the first node answers. */
#include "shim/peers.h"

#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <unistd.h>

#define SECOND_NS 1000000000LL

/* "host port" of the order; a name that cannot be resolved means no peers, and no failure. */
static bool find_master(const struct order *order, struct peers *peers)
{
    char host[256];
    char port[8];
    const char *blank = memchr(order->master.data, ' ', order->master.len);
    size_t len = blank ? (size_t)(blank - order->master.data) : 0;
    struct addrinfo *found = NULL;
    const struct addrinfo want = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
    if (len == 0 || len >= sizeof(host) || order->master.len - len - 1 >= sizeof(port)) {
        return false;
    }
    snprintf(host, sizeof(host), "%.*s", (int)len, order->master.data);
    snprintf(port, sizeof(port), "%.*s", (int)(order->master.len - len - 1), blank + 1);
    if (getaddrinfo(host, port, &want, &found) != 0) {
        return false;
    }
    /* The first address that the name has. */
    memcpy(&peers->to, found->ai_addr, found->ai_addrlen);
    peers->to_len = found->ai_addrlen;
    MYR_ASSERT(peers->to_len <= sizeof(peers->to));
    freeaddrinfo(found);
    return true;
}

/* Any address of this host, with the family and the port of the master's. */
static bool bind_first(struct peers *peers)
{
    MYR_ASSERT(peers->fd >= 0 && peers->first && peers->to_len > 0);
    struct sockaddr_storage at = peers->to;
    if (at.ss_family == AF_INET) {
        ((struct sockaddr_in *)(void *)&at)->sin_addr.s_addr = htonl(INADDR_ANY);
    } else {
        ((struct sockaddr_in6 *)(void *)&at)->sin6_addr = in6addr_any;
    }
    return bind(peers->fd, (struct sockaddr *)&at, peers->to_len) == 0;
}

/* Alone on one node, or without a lease, there is nothing to ask. */
void peers_open(struct peers *peers, const struct order *order)
{
    *peers = (struct peers){.fd = -1,
                            .job = order->job,
                            .epoch = order->epoch,
                            .first = order->node_rank == 0,
                            .every_ns = order->lease_s * SECOND_NS / 5};
    /* Five times a lease at least: a lost datagram or two must not cost the gang its lease. */
    peers->every_ns = peers->every_ns < 10 * SECOND_NS ? peers->every_ns : 10 * SECOND_NS;
    MYR_ASSERT(peers->every_ns <= 10 * SECOND_NS);
    if (order->node_count < 2 || order->lease_s == 0 || !find_master(order, peers)) {
        return;
    }
    peers->fd = socket(peers->to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* Somebody has the port: then nobody is answered, and leases end as without peers. */
    if (peers->fd >= 0 && peers->first && !bind_first(peers)) {
        close(peers->fd);
        peers->fd = -1;
    }
}

/* An age and not a time: the clocks of two hosts have nothing to do with each other. */
static void tell(const struct peers *peers, int64_t own_ns, const struct sockaddr_storage *to,
                 socklen_t to_len)
{
    char text[96];
    MYR_ASSERT(peers->fd >= 0 && to_len > 0);
    int64_t step_ns = own_ns > peers->step_ns ? own_ns : peers->step_ns;
    int len = snprintf(text, sizeof(text), "step-age %llu %u ", (unsigned long long)peers->job,
                       peers->epoch);
    if (step_ns > 0) {
        long long age_ms = (boot_clock_ns() - step_ns) / 1000000;
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%lld\n", age_ms > 0 ? age_ms : 0);
    } else {
        len += snprintf(text + len, sizeof(text) - (size_t)len, "-\n");
    }
    (void)sendto(peers->fd, text, (size_t)len, MSG_DONTWAIT, (const struct sockaddr *)to, to_len);
}

/* Only the others ask; with the question goes what this node knows itself. */
void peers_tick(struct peers *peers, int64_t now_ns, int64_t own_ns)
{
    if (peers->fd >= 0 && !peers->first && now_ns >= peers->next_ns) {
        peers->next_ns = now_ns + peers->every_ns;
        MYR_ASSERT(peers->next_ns > now_ns); /* or it would ask with every turn */
        tell(peers, own_ns, &peers->to, peers->to_len);
    }
}

/* Another job or epoch on the same port is somebody else's talk. */
bool peers_parse(struct myr_str text, uint64_t job, uint32_t epoch, int64_t *ret_age_ms)
{
    char head[64];
    uint64_t age;
    int len = snprintf(head, sizeof(head), "step-age %llu %u ", (unsigned long long)job, epoch);
    /* A datagram that was cut has no line end. */
    if (text.len <= (size_t)len || memcmp(text.data, head, (size_t)len) != 0 ||
        text.data[text.len - 1] != '\n') {
        return false;
    }
    struct myr_str word = {text.data + len, text.len - (size_t)len - 1};
    if (myr_str_eq(word, MYR_STR("-"))) {
        *ret_age_ms = -1;
        return true;
    }
    /* Bounded, so that it can be made nanoseconds without an overflow. */
    if (!myr_str_to_u64(word, &age) || age > INT64_MAX / 2000000) {
        return false;
    }
    *ret_age_ms = (int64_t)age;
    return true;
}

/* Every message teaches something; the first node answers each with the newest that it knows. */
void peers_take(struct peers *peers, int64_t own_ns)
{
    /* So many at a time: a flood must not keep the launcher from its ranks. */
    for (uint32_t i = 0; peers->fd >= 0 && i < 64; i++) {
        char text[128];
        struct sockaddr_storage from;
        socklen_t from_len = sizeof(from);
        ssize_t got = recvfrom(peers->fd, text, sizeof(text), MSG_DONTWAIT,
                               (struct sockaddr *)&from, &from_len);
        int64_t age_ms;
        if (got <= 0) {
            return;
        }
        if (!peers_parse((struct myr_str){text, (size_t)got}, peers->job, peers->epoch, &age_ms)) {
            continue;
        }
        if (age_ms >= 0) {
            int64_t at_ns = boot_clock_ns() - age_ms * 1000000;
            /* The newest that anybody knew; a late datagram takes nothing back. */
            peers->step_ns = at_ns > peers->step_ns ? at_ns : peers->step_ns;
            MYR_ASSERT(peers->step_ns >= at_ns);
        }
        if (peers->first) {
            tell(peers, own_ns, &from, from_len);
        }
    }
}
