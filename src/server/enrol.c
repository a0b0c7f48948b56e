/*
 * enrol: certificates for nodes that come with a one-time token, and new ones for old. The serial
 * of the certificate that counts is kept in the row of its node or relay, on renewal with the one
 * before it: whoever shows another is refused at its hello, so that enrolling a node anew ends what
 * its old key could do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

enum { CERTIFICATE_DAYS = 90 }; /* of an agent or a relay, which renew while they run */

/* The one-time token of that secret, or MYR_NONE. Digests are compared: time tells nothing. */
static uint32_t find_enrol(const struct server *server, struct myr_str secret)
{
    char digest[65];
    myr_io_digest(secret, digest);
    for (uint32_t i = 0; i < server->rows.enrols.count; i++) {
        if (strcmp(server->rows.enrols.items[i].digest, digest) == 0) {
            return i;
        }
    }
    return MYR_NONE;
}

/* Read each time: the authority's key does not stay in memory. */
static int read_pem(const struct server *server, const char *name, struct myr_buf *ret,
                    struct myr_err *err)
{
    char path[SERVER_PATH];
    snprintf(path, sizeof(path), "%s/%s", server->folder, name);
    return myr_file_read(path, 1 << 20, ret, err);
}

/* The certificate that the row names from now on; kept, or nothing has changed. */
static int keep_node(struct session *session, const char *name, const char *serial,
                     struct myr_err *err)
{
    struct server *server = session->server;
    uint32_t id = rows_node(server, name);
    if (id == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT, "'%s' is no node of this cluster", name);
    }
    struct node_row *node = &server->rows.nodes[id];
    MYR_ASSERT(serial[0] && !server->stuck); /* what cannot be kept was refused before */
    const struct node_row before = *node;
    /* On renewal the old one stays good until the new one was seen; on enrolment it does not. */
    snprintf(node->serial_before, sizeof(node->serial_before), "%s",
             session->node == id ? node->serial : "");
    snprintf(node->serial, sizeof(node->serial), "%s", serial);
    node->revoked = false;
    rows_put_node(server, id);
    if (desk_run(server, err) < 0) {
        /* The one it had stays good: the new one is given to nobody. */
        snprintf(node->serial, sizeof(node->serial), "%s", before.serial);
        snprintf(node->serial_before, sizeof(node->serial_before), "%s", before.serial_before);
        node->revoked = before.revoked;
        rows_put_node(server, id);
        return err->code;
    }
    return MYR_OK;
}

/* As keep_node(). The rows may move while the desk runs, and the session may change. */
static int keep_relay(struct session *session, const char *name, const char *serial,
                      struct myr_err *err)
{
    struct server *server = session->server;
    /* A name is a node's or a relay's, never both: certificates are told apart by it. */
    if (rows_node(server, name) != MYR_NONE) {
        return myr_err_set(err, MYR_EINVAL, "'%s' is a node: a relay has a name of its own", name);
    }
    uint32_t id = rows_relay(server, name, true);
    if (id == MYR_NONE) {
        return myr_err_set(err, MYR_ERANGE, "%d relays are enough", SERVER_RELAYS);
    }
    struct relay_row *relay = &server->rows.relays.items[id];
    MYR_ASSERT(serial[0] && !server->stuck);
    const struct relay_row before = *relay;
    snprintf(relay->serial_before, sizeof(relay->serial_before), "%s",
             session->carrier ? relay->serial : "");
    snprintf(relay->serial, sizeof(relay->serial), "%s", serial);
    relay->revoked = false;
    rows_put_relay(server, id);
    if (desk_run(server, err) < 0) {
        /* The session is no part of what is taken back: it may have changed meanwhile. */
        struct session *line = server->rows.relays.items[id].session;
        server->rows.relays.items[id] = before;
        server->rows.relays.items[id].session = line;
        rows_put_relay(server, id);
        return err->code;
    }
    return MYR_OK;
}

/*
 * 'only' is the one name that may be asked for; NULL: any node's. The certificate is sent when its
 * serial is kept: one that nobody knows of would be refused at the next hello.
 */
static int certify(struct session *session, const struct myr_wire_enrol *enrol, const char *only,
                   bool relay, struct myr_buf *ret_name, struct myr_err *err)
{
    struct server *server = session->server;
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca = {}, key = {}, made = {}, serial = {};
    MYR_ASSERT(!server->stuck); /* no certificate is given that could not be kept */
    MYR_TRY(read_pem(server, "ca.pem", &ca, err));
    MYR_TRY(read_pem(server, "ca-key.pem", &key, err));
    /* Agents take a relay for what it speaks for; it shows them the whole chain, as the server. */
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {key.data, key.len},
                               .days = CERTIFICATE_DAYS,
                               .server = relay,
                               .name = only};
    MYR_TRY(myr_io_ca_sign(&sign, enrol->csr, &made, ret_name, &serial, err));
    MYR_TRY((relay ? keep_relay : keep_node)(session, ret_name->data, serial.data, err));
    if (relay) {
        myr_buf_put(&made, ca.data, ca.len);
    }
    session_say(
        session, MYR_WIRE_CERT, 0,
        &(struct myr_wire_cert){.certificate = {made.data, made.len}, .ca = {ca.data, ca.len}});
    return MYR_OK;
}

/* One who has a certificate asks for the next. */
static void renew(struct session *session, const struct myr_wire_enrol *enrol)
{
    struct server *server = session->server;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    struct myr_err err = {};
    MYR_ASSERT(session->carrier || session->node < server->rows.node_count);
    /* A certificate is renewed for the name that it is for, and for no other. */
    const char *own = session->carrier ? server->rows.relays.items[session->carrier->row].name
                                       : server->rows.nodes[session->node].name;
    if (certify(session, enrol, own, session->carrier != NULL, &name, &err) < 0) {
        session_refuse(session, MYR_WIRE_REFUSED_TOKEN, "%s", err.message);
        return;
    }
    audit(own, "renew certificate", "done");
}

/* A peer with a certificate renews it, one without shows its token. */
void session_enrol(struct session *session, const struct myr_wire_enrol *enrol)
{
    struct server *server = session->server;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    struct myr_err err = {};
    bool known = session->node != MYR_NONE || session->carrier;
    MYR_ASSERT(!session->over); /* what it says then counts for nothing */
    if (server->stuck) {
        /* No token is spent on what cannot be kept. A stranger comes again; an agent goes on with
         * the certificate that it has. */
        log_say("warning", "no certificate for %s now: %s", session_address(session),
                server->stuck_why);
        session->unanswered = !session->carrier;
        if (!known) {
            session_close(session, true);
        }
        return;
    }
    if (known) {
        renew(session, enrol);
        return;
    }
    uint32_t at = find_enrol(server, enrol->token);
    if (at == MYR_NONE) {
        session_refuse(session, MYR_WIRE_REFUSED_TOKEN, "the token is spent, or was never given");
        return;
    }
    const struct token_row token = server->rows.enrols.items[at];
    rows_drop_enrol(server, at); /* spent even if what follows fails: nobody tries twice */
    if (certify(session, enrol, token.user[0] ? token.user : NULL, token.relay, &name, &err) < 0) {
        session_refuse(session, MYR_WIRE_REFUSED_TOKEN, "%s; the token is spent", err.message);
        return;
    }
    audit(name.data, token.relay ? "enrol as a relay" : "enrol", "done");
    log_say("info", "%s enrolled from %s", name.data, session_address(session));
}
