/*
 * The door of the agents: both sides in one loop, over TLS, as one text
 * (tests/kept/server-doors.txt). Lines at the margin are what the test does; "hears" is what the
 * other side was told, every field of it. The clocks are the test's own: minutes pass at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "callers_test.h"
#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

/* --- a life */

static struct caller node0, node1, relay, other;
static struct myr_buf key0, key1, relay_key;

static int begin(void)
{
    struct myr_err err = {};
    int rc = sessions_begin(server, &err);
    if (rc < 0) {
        myr_buf_printf(&story, "  %s\n", err.message);
    }
    return rc;
}

static void end(void)
{
    sessions_end(server);
    server->listener = NULL;
    server->tls = NULL;
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
}

static uint32_t kept_port(void)
{
    char path[128];
    uint64_t port = 0;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    snprintf(path, sizeof(path), "%s/agents.port", bench.folder);
    if (myr_file_read(path, 64, &text, NULL) < 0) {
        return 0;
    }
    assert_true(text.len > 1 && text.data[text.len - 1] == '\n');
    assert_true(myr_str_to_u64((struct myr_str){text.data, text.len - 1}, &port));
    return (uint32_t)port;
}

static void put_port(const char *text)
{
    struct myr_buf words = {};
    myr_buf_puts(&words, text);
    put_pem("agents.port", &words);
    myr_buf_done(&words);
}

/* The server comes back to the port where agents have found it, if it can be had. */
static void the_port_of_the_last_time(void)
{
    char text[32];
    struct myr_err err = {};
    snprintf(server->config.agents_address, sizeof(server->config.agents_address), "127.0.0.1");
    myr_buf_puts(&story, "no papers\n");
    assert_int_equal(begin(), MYR_EINVAL);
    make_papers();
    server->once = true;
    assert_int_equal(begin(), MYR_OK);
    assert_true(myr_io_port(server->listener) > 0);
    assert_int_equal(kept_port(), 0); /* one that nobody comes to is not remembered */
    end();
    server->once = false;
    assert_int_equal(begin(), MYR_OK);
    uint16_t port = myr_io_port(server->listener);
    assert_int_equal(kept_port(), port);
    end();
    assert_int_equal(begin(), MYR_OK);
    assert_int_equal(myr_io_port(server->listener), port);
    assert_int_equal(kept_port(), port);
    end();
    static const struct myr_io_service nobody = {.streams_max = 1};
    struct myr_io_listener *taken_by = NULL;
    assert_int_equal(
        myr_io_listen(&server->loop, "127.0.0.1", port, NULL, &nobody, &taken_by, &err), MYR_OK);
    assert_int_equal(begin(), MYR_OK);
    assert_int_not_equal(myr_io_port(server->listener), port);
    assert_int_equal(kept_port(), myr_io_port(server->listener));
    end();
    myr_buf_puts(&story, "a port that is wanted, and taken\n");
    server->config.agents_port = port;
    assert_int_equal(begin(), MYR_EIO);
    myr_io_tls_free(server->tls);
    myr_io_listener_close(taken_by);
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    uint32_t before = kept_port();
    assert_int_equal(begin(), MYR_OK);
    assert_int_equal(myr_io_port(server->listener), port);
    assert_int_equal(kept_port(), before);
    end();
    server->config.agents_port = 0;
    static const char *const damaged[] = {"x\n", "65536\n", "", "4294967297\n"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(damaged); i++) {
        put_port(damaged[i]);
        assert_int_equal(begin(), MYR_OK);
        assert_int_equal(kept_port(), myr_io_port(server->listener));
        end();
    }
    snprintf(text, sizeof(text), "%u\nand more\n", port);
    put_port(text);
    assert_int_equal(begin(), MYR_OK);
    assert_int_equal(myr_io_port(server->listener), port);
    end();
    put_told();
}

/* Nobody holds a place without saying who it is. */
static void strangers(void)
{
    connects(&other, "nobody", NULL, NULL);
    for (int i = 0; i < 50; i++) { /* until the server knows that they have agreed */
        (void)uv_run(&server->loop, UV_RUN_NOWAIT);
        usleep(100);
    }
    pass(10000);
    sessions_second(server);
    assert_int_equal(other.closed, 0);
    myr_buf_puts(&story, "ten seconds and a little\n");
    pass(1);
    sessions_second(server);
    ends(&other);
    left(0);
    connects(&other, "a talker", NULL, NULL);
    says_hello(&other, 0);
    hears(&other, 1);
    pass(10001);
    sessions_second(server);
    ends(&other);
    left(0);
}

static void nodes_come(void)
{
    give_token("secret-0", "n0", false);
    give_token("secret-1", "", false);
    enrols(&node0, "n0", "secret-0", &key0);
    says_hello(&node0, 71);
    hears(&node0, 3); /* hello, welcome, test */
    says(&node0, MYR_WIRE_TESTED, 1, &(struct myr_wire_result){.job = 1});
    hears(&node0, 1);
    server->config.pretend = true;
    enrols(&node1, "n1", "secret-1", &key1);
    says_hello(&node1, 72);
    hears(&node1, 3);
    says(&node1, MYR_WIRE_TESTED, 1, &(struct myr_wire_result){.job = 1});
    hears(&node1, 1);
    myr_buf_puts(&story, "n1 renews\n");
    MYR_CLEANUP(myr_buf_done) struct myr_buf csr = {};
    struct myr_err err = {};
    assert_int_equal(myr_io_csr_of("n1", (struct myr_str){key1.data, key1.len}, &csr, &err),
                     MYR_OK);
    says(&node1, MYR_WIRE_ENROL, 0, &(struct myr_wire_enrol){.csr = {csr.data, csr.len}});
    hears(&node1, 1);
}

/* What each was told so far, counted. */
static void put_sent(void)
{
    for (uint32_t id = 0; id < NODES; id++) {
        const struct session *session = server->rows.nodes[id].session;
        if (session) {
            myr_buf_printf(&story, "  %s was told %" PRIu64 "\n", server->rows.nodes[id].name,
                           session->sent);
        }
    }
}

/* Each node hears every fifth second that the server lives, and each second another one. */
static void leases(void)
{
    for (uint32_t i = 0; i < 10; i++) {
        myr_buf_printf(&story, "second %u\n", i);
        clock_ns += 1000000000;
        says(&node0, MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
        took(1);
        says(&node1, MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
        took(1);
        sessions_second(server);
        put_sent();
    }
    hears(&node0, 2);
    hears(&node1, 2);
}

/* Three beats and a quarter of a second are waited for. */
static void silence(void)
{
    myr_buf_puts(&story, "3250 ms without a word\n");
    pass(3250);
    sessions_second(server);
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    put_told();
    assert_false(server->rows.nodes[0].told_silent);
    myr_buf_puts(&story, "and one more\n");
    says(&node1, MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
    took(1);
    pass(1);
    sessions_second(server);
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    put_told();
    assert_true(server->rows.nodes[0].told_silent);
    assert_false(server->rows.nodes[1].told_silent);
    sessions_second(server); /* it is told once */
    assert_int_equal(server->inbox.count, 0);
    hears_all(&node0, 0);
    hears_all(&node1, 1);
    says(&node0, MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
    took(1);
}

static uint32_t submit(uint32_t gpus)
{
    uint32_t id = bench_submit(server, gpus, MYR_RESTART_STRICT);
    struct job_row *row = rows_job(server, id);
    snprintf(row->unix_user, sizeof(row->unix_user), "user%u", id);
    row->array_index = 4;
    free((char *)row->file);
    row->file = strdup("gpus: 16\ncommand: x\n");
    myr_buf_printf(&story, "job %u is submitted\n", id);
    return id;
}

static void orders(void)
{
    uint32_t id = submit(16);
    hears(&node0, 1);
    hears(&node1, 1);
    says(&node0, MYR_WIRE_STARTED, 1, &(struct myr_wire_result){.job = id});
    took(1);
    hears_all(&node0, 0);
    says(&node1, MYR_WIRE_STARTED, 1, &(struct myr_wire_result){.job = id});
    took(1);
    hears_all(&node1, 1);
    myr_buf_puts(&story, "what rank 9 has written from 77 on\n");
    struct request request = {};
    assert_true(orders_fetch(server, &(struct question){id, 9, 0, 77}, &request));
    hears_all(&node1, 1);
    assert_true(orders_fetch(server, &(struct question){id, 7, 1, 5}, &request));
    hears_all(&node0, 0);
    assert_false(orders_fetch(server, &(struct question){id, 16, 0, 0}, &request));
    assert_false(orders_fetch(server, &(struct question){id, 7, 2, 0}, &request));
    assert_int_equal(server->rows.nodes[1].session->waits.count, 1);
    says(&node1, MYR_WIRE_OUTPUT, 0, &(struct myr_wire_output){.job = id, .rank = 8});
    took(1);
    assert_int_equal(server->rows.nodes[1].session->waits.count, 1); /* that was not asked for */
    says(&node1, MYR_WIRE_OUTPUT, 0, &(struct myr_wire_output){.job = id, .rank = 9});
    took(1);
    assert_int_equal(server->rows.nodes[1].session->waits.count, 0);
    myr_buf_puts(&story, "it is cancelled\n");
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_CANCEL, .job = id});
    hears(&node0, 1);
    hears(&node1, 1);
    for (uint32_t i = 0; i < 2; i++) {
        struct caller *peer = i ? &node1 : &node0;
        says(peer, MYR_WIRE_STOPPED, 1, &(struct myr_wire_result){.job = id});
        took(1);
        hears_all(peer, i);
    }
    sessions_forget(server, &request); /* node 0 has not said what rank 7 has written */
}

/* The last one that came with a node's papers is the node. */
static void one_comes_twice(void)
{
    connects(&other, "n0 again", &node0.certificate, &key0);
    says_hello(&other, 71);
    ends(&node0);
    hears(&other, 2);
    left(2);
    says(&other, MYR_WIRE_LEASE, 0, &(struct myr_wire_beat){1});
    hears(&other, 1);
    ends(&other);
    left(1);
    connects(&node0, "n0", &node0.certificate, &key0);
    says_hello(&node0, 71);
    hears(&node0, 2);
}

/* While nothing can be kept no token is spent; who is known asks again later. */
static void nothing_can_be_kept(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {}, csr = {};
    struct myr_err err = {};
    assert_int_equal(myr_io_csr_create("n0", &key, &csr, &err), MYR_OK);
    const struct myr_wire_enrol enrol = {.token = MYR_STR("secret-2"), .csr = {csr.data, csr.len}};
    give_token("secret-2", "n2", false);
    server->stuck = true;
    snprintf(server->stuck_why, sizeof(server->stuck_why), "the disk is full");
    myr_buf_puts(&story, "n0 asks for a certificate while nothing can be kept\n");
    struct session *session = server->rows.nodes[0].session;
    session_enrol(session, &enrol);
    assert_true(session->unanswered && !session->over);
    sessions_second(server);
    assert_false(session->over);
    hears_all(&node0, 0);
    hears_all(&node1, 1);
    put_told();
    struct session *line = session_new(server);
    session_enrol(line, &enrol);
    assert_true(line->over);
    session_gone(line);
    assert_int_equal(server->rows.enrols.count, 1);
    server->stuck = false;
    myr_buf_puts(&story, "and when it can it is sent away, to ask again\n");
    sessions_second(server);
    ends(&node0);
    left(1);
    connects(&node0, "n0", &node0.certificate, &key0);
    says_hello(&node0, 71);
    hears(&node0, 2);
}

static void through_a_relay(void)
{
    static struct myr_wire_sender sender;
    give_token("secret-9", "r1", true);
    enrols(&relay, "r1", "secret-9", &relay_key);
    says_hello(&relay, 0);
    hears(&relay, 2);
    struct myr_wire_attach attach = {.channel = 5,
                                     .name = MYR_STR("n2"),
                                     .serial = MYR_STR("3"),
                                     .address = MYR_STR("10.9.9.9:1")};
    myr_buf_puts(&story, "n2 comes through it\n");
    says(&relay, MYR_WIRE_ATTACH, 0, &attach);
    myr_wire_sender_init(&sender);
    says_from(&relay, 5, &sender, MYR_WIRE_HELLO, 0,
              &(struct myr_wire_hello){.name = MYR_STR("n2"), .version_min = 1, .boot = 73});
    hears(&relay, 3);
    myr_buf_puts(&story, "it is heard while the relay is\n");
    struct node_row *n2 = &server->rows.nodes[2];
    pass(3251);
    says(&relay, MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
    took(1);
    sessions_second(server);
    hears(&relay, 1); /* a lease for all of its own, and none for each */
    assert_false(n2->told_silent);
    assert_int_equal(n2->heard_ms, steady_ms());
    says(&relay, MYR_WIRE_SILENT, 0, &(struct myr_wire_silent){.channel = 5});
    took(1);
    assert_true(n2->told_silent);
    pass(1000);
    says(&relay, MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
    took(1);
    sessions_second(server);
    hears(&relay, 1);
    assert_int_equal(n2->heard_ms, steady_ms() - 1000);
    myr_buf_puts(&story, "and n2 is sent away\n");
    session_refuse(n2->session, MYR_WIRE_REFUSED_NAME, "no %d", 7);
    hears(&relay, 2);
    assert_true(n2->session->over);
    pass(1000);
    says(&relay, MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
    took(1);
    int64_t heard_ms = n2->heard_ms;
    sessions_second(server);
    hears(&relay, 1);
    assert_int_equal(n2->heard_ms, heard_ms);
    hears_all(&node0, 0);
    hears_all(&node1, 1);
    myr_buf_puts(&story, "the relay goes\n");
    drops_peer(&relay);
    left(2);
    assert_null(n2->session);
}

/* Who takes nothing is not waited for: 8 MiB of one, 64 of a relay. */
static void too_much_untaken(struct caller *peer, size_t limit)
{
    static char filler[60 << 10];
    struct session *session = server->sessions;
    struct myr_wire_start start = {.spec = {filler, sizeof(filler)}};
    size_t before = 0;
    memset(filler, 'x', sizeof(filler));
    myr_io_pause(peer->stream, true);
    for (uint32_t i = 0; i < 100000 && !session->over; i++) {
        before = myr_io_pending(session->stream);
        session_say(session, MYR_WIRE_START, 0, &start);
    }
    assert_true(session->over);
    assert_true(before <= limit && before + sizeof(filler) + 1000 > limit);
    put_told();
    myr_io_pause(peer->stream, false);
}

static void those_who_take_nothing(void)
{
    left(2);
    connects(&other, "n1 again", &node1.certificate, &key1);
    says_hello(&other, 72);
    ends(&node1);
    hears(&other, 2);
    left(2);
    too_much_untaken(&other, 8 << 20);
    ends(&other);
    left(1);
    connects(&relay, "r1", &relay.certificate, &relay_key);
    says_hello(&relay, 0);
    hears(&relay, 2);
    too_much_untaken(&relay, 64 << 20);
    ends(&relay);
    left(1);
    other.waiting = relay.waiting = 0; /* as much as had come through */
}

/* Two for each node and 256: those beyond are not let in. */
static void so_many_at_once(void)
{
    enum { MOST = 300 };
    int fds[MOST];
    log_mute(true); /* their ends are no part of the story */
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(myr_io_port(server->listener)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (uint32_t i = 0; i < MOST; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(fds[i] >= 0);
        assert_int_equal(connect(fds[i], (const struct sockaddr *)&at, sizeof(at)), 0);
        (void)uv_run(&server->loop, UV_RUN_NOWAIT);
        if (i == 280) {
            until(&server->session_count, 2 * NODES + 256);
            server->config.node_count = NODES + 2; /* it has grown */
            sessions_grow(server);
        }
    }
    until(&server->session_count, 2 * NODES + 260);
    server->config.node_count = NODES;
    for (uint32_t i = 0; i < MOST; i++) {
        close(fds[i]);
    }
    left(1);
}

/* How long a read took, by powers of two: 3 us are in the class up to 4, and so are 3,999 ns. */
static void handling_is_measured(void)
{
    static const struct {
        int64_t tick_ns; /* three looks at it after the first, each so much later */
        uint32_t class;
    } rows[] = {{1000, 2}, {333, 0}, {334, 1}, {666, 1}, {667, 2}, {1333, 2}, {1334, 3}, {2667, 4}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        uint64_t before[32];
        memcpy(before, server->handled, sizeof(before));
        assert_true(before[0] > 20);
        tick_ns = rows[i].tick_ns;
        says(&node0, MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
        took(1);
        tick_ns = 0;
        for (uint32_t k = 0; k < 32; k++) {
            assert_int_equal(server->handled[k], before[k] + (k == rows[i].class));
        }
    }
}

static void cover_port(const char *what, const char *by)
{
    size_t len = strlen(what);
    for (char *at = strstr(story.data, what); at; at = strstr(at, what)) {
        size_t gone = len + strspn(at + len, "0123456789");
        size_t put = strlen(by);
        assert_true(put <= gone || at[gone] == '\0');
        memmove(at + put, at + gone, strlen(at + gone) + 1);
        memcpy(at, by, put);
        story.len -= gone - put;
        at += put;
    }
}

static void the_door(void **state)
{
    (void)state;
    static const char *const files[] = {"ca.pem", "ca-key.pem", "server.pem", "server-key.pem",
                                        "agents.port"};
    life_begin();
    the_port_of_the_last_time();
    assert_int_equal(begin(), MYR_OK);
    strangers();
    nodes_come();
    leases();
    silence();
    orders();
    one_comes_twice();
    nothing_can_be_kept();
    through_a_relay();
    those_who_take_nothing();
    handling_is_measured();
    cover_folder();
    cover_port("127.0.0.1:", "HERE");
    cover_port("127.0.0.1 port ", "HERE");
    assert_kept("server-doors.txt", &story);
    so_many_at_once();
    struct caller *const peers[] = {&node0, &node1, &relay, &other};
    end();
    ends(&node0); /* whoever is there is closed with the door */
    left(0);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(peers); i++) {
        free_peer(peers[i]);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", bench.folder, files[i]);
        assert_int_equal(unlink(path), 0);
    }
    myr_buf_done(&key0);
    myr_buf_done(&key1);
    myr_buf_done(&relay_key);
    myr_buf_done(&ca);
    myr_buf_done(&ca_key);
    life_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_door),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
