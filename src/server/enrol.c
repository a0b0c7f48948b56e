/* enrol: certificates for nodes that come with a one-time token, and new ones for old. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

enum { CERTIFICATE_DAYS = 90 };

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

static int read_pem(const struct server *server, const char *name, struct myr_buf *ret,
                    struct myr_err *err)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", server->folder, name);
    return myr_file_read(path, 1 << 20, ret, err);
}

static int certify(struct session *session, const struct myr_wire_enrol *enrol, const char *only,
                   struct myr_buf *ret_name, struct myr_err *err)
{
    struct server *server = session->server;
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca = {0}, key = {0}, made = {0}, serial = {0};
    MYR_TRY(read_pem(server, "ca.pem", &ca, err));
    MYR_TRY(read_pem(server, "ca-key.pem", &key, err));
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {key.data, key.len},
                               .days = CERTIFICATE_DAYS,
                               .name = only};
    MYR_TRY(myr_io_ca_sign(&sign, enrol->csr, &made, ret_name, &serial, err));
    uint32_t id = rows_node(server, ret_name->data);
    if (id == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT, "'%s' is no node of this cluster", ret_name->data);
    }
    struct node_row *node = &server->rows.nodes[id];
    const struct node_row before = *node;
    /* On renewal the old one stays good until the new one was seen; on enrolment it does not. */
    snprintf(node->serial_before, sizeof(node->serial_before), "%s",
             session->node == id ? node->serial : "");
    snprintf(node->serial, sizeof(node->serial), "%s", serial.data);
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
    session_say(
        session, MYR_WIRE_CERT, 0,
        &(struct myr_wire_cert){.certificate = {made.data, made.len}, .ca = {ca.data, ca.len}});
    return MYR_OK;
}

void session_enrol(struct session *session, const struct myr_wire_enrol *enrol)
{
    struct server *server = session->server;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {0};
    struct myr_err err = {0};
    if (server->stuck) {
        /* No token is spent on what cannot be kept. A stranger comes again; an agent goes on with
         * the certificate that it has. */
        log_say("warning", "no certificate for %s now: %s", myr_io_address(session->stream),
                server->stuck_why);
        session->unanswered = true;
        if (session->node == MYR_NONE) {
            session->over = true;
            myr_io_abort(session->stream);
        }
        return;
    }
    if (session->node != MYR_NONE) {
        const char *own = server->rows.nodes[session->node].name;
        if (certify(session, enrol, own, &name, &err) < 0) {
            session_refuse(session, MYR_WIRE_REFUSED_TOKEN, "%s", err.message);
            return;
        }
        audit(own, "renew certificate", "done");
        return;
    }
    uint32_t at = find_enrol(server, enrol->token);
    if (at == MYR_NONE) {
        session_refuse(session, MYR_WIRE_REFUSED_TOKEN, "the token is spent, or was never given");
        return;
    }
    const struct token_row token = server->rows.enrols.items[at];
    rows_drop_enrol(server, at); /* spent even if what follows fails: nobody tries twice */
    if (certify(session, enrol, token.user[0] ? token.user : NULL, &name, &err) < 0) {
        session_refuse(session, MYR_WIRE_REFUSED_TOKEN, "%s", err.message);
        return;
    }
    audit(name.data, "enrol", "done");
    log_say("info", "%s enrolled from %s", name.data, myr_io_address(session->stream));
}
