/*
 * Connections that carry many agents, and what a second without a word means
 * (tests/kept/server-relays.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "agents_test.h"
#include "api.h"
#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

static void put_api(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf ret = {};
    struct myr_err err = {};
    struct request request = {.server = server};
    assert_int_equal(api_relays(&request, &ret, &err), MYR_OK);
    myr_buf_printf(&story, "  %s\n", ret.data);
}

static struct myr_wire_sender relay_sender;
static uint64_t relay_sequence;

static void relay_says(struct session *line, uint32_t channel, struct myr_wire_sender *sender,
                       enum myr_wire_type type, const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    myr_wire_send(sender, &bytes, type, channel, 0, ++relay_sequence, message);
    /* Frames come in pieces as they please. */
    relay_take(line, (struct myr_str){bytes.data, bytes.len / 2});
    relay_take(line, (struct myr_str){bytes.data + bytes.len / 2, bytes.len - bytes.len / 2});
}

static void put_relay(const struct session *line)
{
    myr_buf_printf(&story, "  line%s%s carries:", line->carrier ? " of a relay" : "",
                   line->over ? " over" : "");
    for (size_t i = 0; line->carrier && i < line->carrier->sessions.count; i++) {
        const struct session *one = line->carrier->sessions.items[i];
        if (one) {
            myr_buf_printf(&story, " %s(%s,%s,channel %u,node %d%s)", one->peer, one->serial,
                           one->address, one->channel, (int)one->node,
                           one->silent ? ",silent" : "");
        }
    }
    myr_buf_puts(&story, "\n");
}

static struct session *relay_comes(const char *name, const char *serial)
{
    struct agent one;
    came(&one, name, serial);
    relay_sender = one.sender;
    relay_says(one.session, MYR_WIRE_NO_NODE, &relay_sender, MYR_WIRE_HELLO,
               &(struct myr_wire_hello){.name = myr_str_from(name), .version_min = 1});
    put_relay(one.session);
    put_told();
    return one.session;
}

static void attach(struct session *line, uint32_t channel, const char *name, const char *serial)
{
    relay_says(line, MYR_WIRE_NO_NODE, &relay_sender, MYR_WIRE_ATTACH,
               &(struct myr_wire_attach){.channel = channel,
                                         .name = myr_str_from(name),
                                         .serial = myr_str_from(serial),
                                         .address = MYR_STR("10.1.1.1:9")});
}

/* Whoever is to be a relay was made one, and shows the certificate of then or the one before. */
static struct session *relays_come(uint32_t *ret_row)
{
    myr_buf_puts(&story, "relays that nobody has made, or not with this certificate\n");
    session_gone(relay_comes("r1", "50"));
    uint32_t row = rows_relay(server, "r1", true);
    struct relay_row *made = &server->rows.relays.items[row];
    snprintf(made->serial, sizeof(made->serial), "50");
    snprintf(made->serial_before, sizeof(made->serial_before), "49");
    session_gone(relay_comes("r1", "51"));
    session_gone(relay_comes("r1", ""));
    made->revoked = true;
    session_gone(relay_comes("r1", "50"));
    made->revoked = false;
    myr_buf_puts(&story, "a relay, with its certificate from before\n");
    struct session *old = relay_comes("r1", "49");
    myr_buf_puts(&story, "and with the new one\n");
    struct session *line = relay_comes("r1", "50");
    put_relay(old);
    relay_gone(old);
    session_gone(old);
    assert_ptr_equal(server->rows.relays.items[row].session, line);
    *ret_row = row;
    return line;
}

static void carried(void)
{
    struct myr_wire_sender own[2];
    uint32_t row;
    struct session *line = relays_come(&row);
    attach(line, 1, "n4", "5");
    attach(line, MYR_WIRE_CHANNEL_PLACES + 3, "n5", "6");
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t channel = i ? MYR_WIRE_CHANNEL_PLACES + 3 : 1;
        myr_wire_sender_init(&own[i]);
        relay_says(line, channel, &own[i], MYR_WIRE_HELLO,
                   &(struct myr_wire_hello){
                       .name = i ? MYR_STR("n5") : MYR_STR("n4"), .version_min = 1, .boot = 200});
    }
    put_relay(line);
    taken();
    put_api();
    myr_buf_puts(&story, "one is silent, is it still, and is back\n");
    struct myr_wire_silent silent = {.channel = 1};
    relay_says(line, MYR_WIRE_NO_NODE, &relay_sender, MYR_WIRE_SILENT, &silent);
    relay_says(line, MYR_WIRE_NO_NODE, &relay_sender, MYR_WIRE_SILENT, &silent);
    put_relay(line);
    taken();
    relay_says(line, MYR_WIRE_NO_NODE, &relay_sender, MYR_WIRE_BACK, &silent);
    relay_says(line, MYR_WIRE_NO_NODE, &relay_sender, MYR_WIRE_BEAT, &(struct myr_wire_beat){1});
    put_relay(line);
    taken();
    myr_buf_puts(&story, "of channels that nobody has\n");
    silent.channel = 2;
    relay_says(line, MYR_WIRE_NO_NODE, &relay_sender, MYR_WIRE_SILENT, &silent);
    silent.channel = 3; /* the place is taken, in another turn */
    relay_says(line, MYR_WIRE_NO_NODE, &relay_sender, MYR_WIRE_SILENT, &silent);
    silent.channel = 4000;
    relay_says(line, MYR_WIRE_NO_NODE, &relay_sender, MYR_WIRE_SILENT, &silent);
    relay_says(line, 77, &own[0], MYR_WIRE_BEAT, &(struct myr_wire_beat){1});
    taken();
    myr_buf_puts(&story, "one goes\n");
    relay_says(line, MYR_WIRE_NO_NODE, &relay_sender, MYR_WIRE_DETACH,
               &(struct myr_wire_detach){1});
    put_relay(line);
    assert_null(server->rows.nodes[4].session);
    assert_non_null(server->rows.nodes[5].session);
    myr_buf_puts(&story, "a channel twice\n");
    attach(line, 3, "n4", "5");
    put_relay(line);
    relay_gone(line);
    session_gone(line);
    assert_null(server->rows.nodes[5].session);
    assert_null(server->rows.relays.items[row].session);
    myr_buf_puts(&story, "what is no message of a relay\n");
    line = relay_comes("r1", "50");
    relay_says(line, MYR_WIRE_NO_NODE, &relay_sender, MYR_WIRE_ACK, &(struct myr_wire_ack){1});
    put_relay(line);
    relay_gone(line);
    session_gone(line);
    put_told();
    join(4, 201);
    join(5, 201);
}

/* Three beats and a little are waited for. */
static void seconds(void)
{
    static struct agent mute_one, strange;
    taken();
    server->config.beat_ms = 60000;
    for (uint32_t node = 0; node < NODES; node++) {
        server->rows.nodes[node].told_silent = false;
        server->rows.nodes[node].heard_ms = steady_ms() - (node < 3 ? 150000 : 181000);
    }
    server->rows.nodes[5].boot = 0; /* never came */
    came(&mute_one, "n0", "1");
    came(&strange, "", "");
    hello(&strange, "", 1, 1);
    myr_buf_puts(&story, "a second\n");
    sessions_second(server);
    put_session(&mute_one);
    put_session(&strange);
    taken();
    myr_buf_puts(&story, "another, and who has said nothing for ten\n");
    mute_one.session->since_ms -= 11000;
    strange.session->since_ms -= 11000;
    agents[0].session->since_ms -= 11000;
    sessions_second(server);
    put_session(&mute_one);
    put_session(&strange);
    put_session(&agents[0]);
    taken();
    server->rows.nodes[5].boot = 1;
    gone(&mute_one);
    gone(&strange);
}

static void what_relays_say(void **state)
{
    (void)state;
    life_begin();
    for (uint32_t node = 0; node < 4; node++) {
        join(node, 100);
        sound(node);
    }
    carried();
    seconds();
    assert_kept("server-relays.txt", &story);
    life_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_relays_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
