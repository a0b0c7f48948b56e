/*
 * Certificates for strangers with a token, and new ones for those who have one, as one text
 * (tests/kept/server-enrol.txt): who gets one, what the rows then say, which token is spent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "agents_test.h"
#include "full_store_test.h"
#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

static struct agent one;
static struct myr_buf csr, other_csr;

static void put_pem(const char *name, const struct myr_buf *text)
{
    char path[128];
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", bench.folder, name);
    assert_int_equal(myr_file_write(path, text, &err), MYR_OK);
}

static void drop_pem(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", bench.folder, name);
    assert_int_equal(unlink(path), 0);
}

static void ask_for(const char *name, struct myr_buf *ret)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
    struct myr_err err = {};
    myr_buf_clear(ret);
    assert_int_equal(myr_io_csr_create(name, &key, ret, &err), MYR_OK);
}

/* A token that "secret-N" is the secret of; "" for any name. */
static void give_token(const char *secret, const char *name, bool relay)
{
    struct token_row token = {.relay = relay};
    snprintf(token.user, sizeof(token.user), "%s", name);
    myr_io_digest(myr_str_from(secret), token.digest);
    rows_put_token(server, &token, true);
}

/* Serials are drawn: only whether there is one, and the one before, is told. */
static void put_rows(void)
{
    for (uint32_t node = 0; node < 3; node++) {
        const struct node_row *row = &server->rows.nodes[node];
        myr_buf_printf(&story, "  %s: %s, before %s%s\n", row->name,
                       strlen(row->serial) > 8 ? "a new one" : row->serial,
                       strlen(row->serial_before) > 8 ? "a new one" : row->serial_before,
                       row->revoked ? ", revoked" : "");
    }
    for (size_t i = 0; i < server->rows.relays.count; i++) {
        const struct relay_row *row = &server->rows.relays.items[i];
        myr_buf_printf(&story, "  relay %s: %s, before %s%s\n", row->name,
                       strlen(row->serial) > 8 ? "a new one" : row->serial,
                       strlen(row->serial_before) > 8 ? "a new one" : row->serial_before,
                       row->revoked ? ", revoked" : "");
    }
    myr_buf_printf(&story, "  tokens left: %zu\n", (size_t)server->rows.enrols.count);
}

static void enrol(struct agent *agent, const char *what, const char *secret,
                  const struct myr_buf *request)
{
    myr_buf_printf(&story, "%s\n", what);
    uint64_t before = agent->session->sent;
    session_enrol(agent->session, &(struct myr_wire_enrol){.token = myr_str_from(secret),
                                                           .csr = {request->data, request->len}});
    myr_buf_printf(&story, "  said %llu%s%s\n", (unsigned long long)(agent->session->sent - before),
                   agent->session->over ? ", over" : "",
                   agent->session->unanswered ? ", unanswered" : "");
    taken();
    put_rows();
}

static void stranger(const char *what, const char *secret, const struct myr_buf *request)
{
    came(&one, "", "");
    enrol(&one, what, secret, request);
    gone(&one);
}

static void strangers(void)
{
    stranger("nobody's token", "secret-0", &csr);
    give_token("secret-1", "n1", false);
    give_token("secret-2", "n1", false);
    give_token("secret-3", "", false);
    give_token("secret-4", "", false);
    give_token("secret-5", "", true);
    give_token("secret-6", "relay-1", true);
    give_token("secret-7", "relay-1", true);
    stranger("a request for another name than the token's", "secret-1", &other_csr);
    stranger("the token again", "secret-1", &csr);
    server->rows.nodes[1].revoked = true;
    stranger("the token's own name, which was revoked", "secret-2", &csr);
    ask_for("n9", &other_csr);
    stranger("any name, but no node's", "secret-3", &other_csr);
    ask_for("n2", &other_csr);
    stranger("any name, a node's", "secret-4", &other_csr);
    stranger("a relay with the name of a node", "secret-5", &other_csr);
    ask_for("relay-1", &other_csr);
    stranger("a relay", "secret-6", &other_csr);
    server->rows.relays.items[0].revoked = true;
    stranger("the same relay once more", "secret-7", &other_csr);
}

static void those_who_are_known(void)
{
    join(0, 5);
    myr_buf_clear(&csr);
    ask_for("n0", &csr);
    enrol(&agents[0], "a node renews", "", &csr);
    enrol(&agents[0], "and asks for another's", "", &other_csr);
    gone(&agents[0]);
    join(2, 5); /* with the certificate that it had before */
    gone(&agents[2]);
    came(&agents[2], "n2", server->rows.nodes[2].serial);
    snprintf(agents[2].session->address, sizeof(agents[2].session->address), "10.0.0.3:7");
    myr_buf_puts(&story, "n2 again, with the new one\n");
    hello(&agents[2], "n2", 5, 1);
    drop_pem("ca-key.pem");
    ask_for("n2", &csr);
    myr_buf_puts(&story, "the authority's key is gone\n");
    enrol(&agents[2], "a node renews", "", &csr);
}

static void nothing_can_be_kept(void)
{
    give_token("secret-8", "", false);
    server->stuck = true;
    snprintf(server->stuck_why, sizeof(server->stuck_why), "the disk is full");
    stranger("a stranger, while nothing can be kept", "secret-8", &csr);
    came(&agents[3], "n3", "4");
    agents[3].session->node = 3;
    server->rows.nodes[3].session = agents[3].session;
    server->stuck = true; /* the desk has found since that it is not */
    enrol(&agents[3], "a node, while nothing can be kept", "", &csr);
    server->stuck = false;
}

/* The disk is full when the certificate is made: the one that it had stays good. */
static void nothing_can_be_kept_of_it(void)
{
    static const char *const secrets[] = {"secret-9", "secret-10", "secret-11"};
    ask_for("n2", &csr);
    ask_for("relay-1", &other_csr);
    give_token(secrets[0], "n2", false);
    give_token(secrets[1], "relay-1", true);
    give_token(secrets[2], "relay-2", true);
    server->store = full_store(server->store);
    taken();
    for (uint32_t i = 0; i < 3; i++) {
        if (i == 2) {
            ask_for("relay-2", &other_csr);
        }
        struct node_row node = server->rows.nodes[2];
        struct relay_row relay = server->rows.relays.items[0];
        came(&one, "", "");
        full = true;
        myr_buf_printf(&story, "%s, and the disk is full\n", i ? "a relay" : "a node");
        session_enrol(one.session, &(struct myr_wire_enrol){.token = myr_str_from(secrets[i]),
                                                            .csr = {i ? other_csr.data : csr.data,
                                                                    i ? other_csr.len : csr.len}});
        assert_true(one.session->over && server->stuck);
        assert_string_equal(server->rows.nodes[2].serial, node.serial);
        assert_string_equal(server->rows.nodes[2].serial_before, node.serial_before);
        assert_int_equal(server->rows.nodes[2].revoked, node.revoked);
        assert_string_equal(server->rows.relays.items[0].serial, relay.serial);
        assert_string_equal(server->rows.relays.items[0].serial_before, relay.serial_before);
        assert_int_equal(server->rows.relays.items[0].revoked, relay.revoked);
        full = false;
        gone(&one);
        taken();
        put_rows();
        server->rows.nodes[2].revoked = true; /* and what is revoked stays so */
        server->rows.relays.items[0].revoked = true;
    }
}

/* There is room for 1,024 of them; one that is known takes no new place. */
static void too_many_relays(void)
{
    size_t before = server->rows.relays.count;
    char name[16];
    while (server->rows.relays.count < 1023) {
        snprintf(name, sizeof(name), "r%zu", (size_t)server->rows.relays.count);
        assert_int_not_equal(rows_relay(server, name, true), MYR_NONE);
    }
    static const char *const names[] = {"the-last", "one-more", "relay-1"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        char secret[16];
        snprintf(secret, sizeof(secret), "many-%zu", i);
        give_token(secret, names[i], true);
        ask_for(names[i], &other_csr);
        came(&one, "", "");
        myr_buf_printf(&story, "a relay when there are %zu: %s\n",
                       (size_t)server->rows.relays.count, names[i]);
        session_enrol(one.session,
                      &(struct myr_wire_enrol){.token = myr_str_from(secret),
                                               .csr = {other_csr.data, other_csr.len}});
        gone(&one);
        taken();
    }
    server->rows.relays.count = before;
}

static void papers(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca = {}, key = {};
    struct myr_err err = {};
    life_begin();
    assert_int_equal(myr_io_ca_create("trial", 10, &ca, &key, &err), MYR_OK);
    put_pem("ca.pem", &ca);
    put_pem("ca-key.pem", &key);
    ask_for("n1", &csr);
    ask_for("n2", &other_csr);
    strangers();
    those_who_are_known();
    nothing_can_be_kept();
    put_pem("ca-key.pem", &key);
    nothing_can_be_kept_of_it();
    too_many_relays();
    drop_pem("ca-key.pem");
    drop_pem("ca.pem");
    cover_folder();
    assert_kept("server-enrol.txt", &story);
    myr_buf_done(&csr);
    myr_buf_done(&other_csr);
    life_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(papers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
