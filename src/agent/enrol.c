/*
 * enrol: the node's certificate and key. The first comes for a token, in a connection of its own;
 * later ones are asked for over the session.
 */
#include "enrol.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/files.h"

enum { REFUSAL_MAX = 200 }; /* of a server's words: what it wants instead stands at their end */

/* One line of what a server says, whatever it says. */
static const char *put_line(struct myr_str text, char ret[REFUSAL_MAX])
{
    size_t at = 0;
    for (; at < text.len && at < REFUSAL_MAX - 1; at++) {
        ret[at] =
            (unsigned char)text.data[at] < 0x20 || text.data[at] == 0x7F ? '?' : text.data[at];
    }
    ret[at] = '\0';
    return ret;
}

/* The word with an '@' in it: a file may hold all that 'myriad enrol' has printed. */
static struct myr_str token_word(struct myr_str text)
{
    /* Words are cut at everything up to a blank, line breaks included. */
    struct myr_str word = {text.data, 0};
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && (unsigned char)text.data[i] > ' ') {
            continue;
        }
        word.len = (size_t)(text.data + i - word.data);
        if (word.len > 0 && memchr(word.data, '@', word.len)) {
            return word;
        }
        word.data = text.data + i + 1;
    }
    return text;
}

/* The fingerprint in small letters: it is compared as text. */
int enrol_token_read(struct myr_str text, struct enrol_token *ret, struct myr_err *err)
{
    text = token_word(text);
    while (text.len > 0 && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == ' ')) {
        text.len--;
    }
    const char *at = memchr(text.data, '@', text.len);
    size_t secret = at ? (size_t)(at - text.data) : 0;
    if (!at || secret == 0 || secret >= sizeof(ret->secret) || text.len - secret - 1 != 64) {
        return myr_err_set(err, MYR_EINVAL,
                           "no token: SECRET@FINGERPRINT with 64 hex digits is expected");
    }
    for (size_t i = secret + 1; i < text.len; i++) {
        if (!strchr("0123456789abcdefABCDEF", text.data[i])) {
            return myr_err_set(err, MYR_EINVAL, "no token: its fingerprint is not all hex digits");
        }
    }
    snprintf(ret->secret, sizeof(ret->secret), "%.*s", (int)secret, text.data);
    for (size_t i = 0; i < 64; i++) {
        ret->fingerprint[i] = (char)tolower((unsigned char)at[1 + i]);
    }
    ret->fingerprint[64] = '\0';
    return MYR_OK;
}

/* Both are needed: who we are, and whom we believe. */
bool enrol_is_done(const char *state)
{
    return file_is_there(state, "node.pem") && file_is_there(state, "ca.pem");
}

/* Always a new key: a key is as old as its certificate and no older. */
int enrol_ask(const char *state, const char *name, struct myr_buf *ret_csr, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
    MYR_TRY(myr_io_csr_create(name, &key, ret_csr, err));
    int rc = file_put(state, "key.new", (struct myr_str){key.data, key.len}, err);
    memset(key.data, 0, key.len);
    return rc;
}

/*
 * Certificate and key lie in one file, which is read for both: one rename makes the new pair count,
 * whenever we are killed. The authority's goes first; it is the same one, or this had not come.
 */
int enrol_take(const char *state, const struct myr_wire_cert *cert, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf pair = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
    char path[AGENT_PATH_MAX];
    int64_t left_s;
    /* Looked at before anything is replaced: what is there may still be good. */
    if (myr_io_valid_s(cert->certificate, &left_s, err) < 0 || left_s <= 0) {
        return myr_err_set(err, MYR_EINVAL, "the server's answer is no valid certificate");
    }
    MYR_TRY(file_get(state, "key.new", &key, err));
    /* The authority does not change: a renewal finds it there. */
    if (!file_is_there(state, "ca.pem")) {
        MYR_TRY(file_put(state, "ca.pem", cert->ca, err));
    }
    /* Text before the first PEM block is not read by anybody else. */
    myr_buf_printf(&pair, "life_s %lld\n", (long long)left_s);
    myr_buf_put(&pair, cert->certificate.data, cert->certificate.len);
    myr_buf_putc(&pair, '\n');
    myr_buf_put(&pair, key.data, key.len);
    int rc = file_put(state, "node.pem", (struct myr_str){pair.data, pair.len}, err);
    memset(key.data, 0, key.len);
    memset(pair.data, 0, pair.len);
    MYR_TRY(rc);
    path_join(path, state, "key.new");
    (void)unlink(path);
    return MYR_OK;
}

/* One file serves as certificate and as key. A relay lets strangers in: they come to enrol. */
static int make_tls(const char *state, bool server, struct myr_io_tls **ret, struct myr_err *err)
{
    char pair[AGENT_PATH_MAX];
    char ca[AGENT_PATH_MAX];
    path_join(pair, state, "node.pem");
    path_join(ca, state, "ca.pem");
    struct myr_io_tls_names shown = {
        .certificate = pair, .key = pair, .ca = ca, .server = server, .strangers = server};
    return myr_io_tls_create(&shown, ret, err);
}

int enrol_tls(const char *state, struct myr_io_tls **ret, struct myr_err *err)
{
    return make_tls(state, false, ret, err);
}

int enrol_tls_server(const char *state, struct myr_io_tls **ret, struct myr_err *err)
{
    return make_tls(state, true, ret, err);
}

/* False where it cannot be read: that is told when the certificate is needed. */
bool enrol_is_due(const char *state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    int64_t left_s;
    uint64_t life_s = 0;
    return file_get(state, "node.pem", &text, NULL) == MYR_OK &&
           line_u64((struct myr_str){text.data, text.len}, "life_s", INT64_MAX, &life_s) &&
           myr_io_valid_s((struct myr_str){text.data, text.len}, &left_s, NULL) == MYR_OK &&
           /* The life is what was left of it when it came. */
           left_s < (int64_t)(life_s / 3);
}

/* --- the first time */

/* One enrolment, from the connection to the answer. */
struct asking {
    const char *state, *name;
    const struct enrol_token *token;
    struct myr_wire_sender sender;
    struct myr_wire_receiver receiver;
    struct myr_err *err;
    struct myr_buf csr;
    int rc;
    bool answered; /* 'rc' and 'err' are final */
};

/* TLS is agreed, and the authority is the token's: only now the secret is sent. */
static void on_open(void *context, struct myr_io_stream *stream)
{
    struct asking *asking = context;
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_wire_hello hello = {.name = myr_str_from(asking->name),
                                   .version_min = MYR_WIRE_VERSION_MIN};
    struct myr_wire_enrol enrol = {.token = myr_str_from(asking->token->secret),
                                   .csr = {asking->csr.data, asking->csr.len}};
    MYR_ASSERT(asking->csr.len > 0 && !asking->answered);
    /* Both at once: a stranger is not welcomed, he is answered. */
    myr_wire_send(&asking->sender, &bytes, MYR_WIRE_HELLO, MYR_WIRE_NO_NODE, 0, 1, &hello);
    myr_wire_send(&asking->sender, &bytes, MYR_WIRE_ENROL, MYR_WIRE_NO_NODE, 0, 2, &enrol);
    myr_io_write(stream, (struct myr_str){bytes.data, bytes.len});
    memset(bytes.data, 0, bytes.len);
}

/* The first answer that means something ends it; a hello does not. */
static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct asking *asking = context;
    struct myr_wire_message message;
    int rc;
    myr_wire_feed(&asking->receiver, bytes);
    while (!asking->answered &&
           (rc = myr_wire_next(&asking->receiver, &message, asking->err)) != 0) {
        if (rc < 0) {
            asking->answered = true;
            asking->rc = rc;
        } else if (message.head.type == MYR_WIRE_CERT) {
            asking->answered = true;
            asking->rc = enrol_take(asking->state, (const void *)message.body, asking->err);
        } else if (message.head.type == MYR_WIRE_REFUSED) {
            const struct myr_wire_refused *refused = (const void *)message.body;
            char shown[REFUSAL_MAX];
            asking->answered = true;
            asking->rc = myr_err_set(asking->err, MYR_EINVAL, "the server refuses: %s",
                                     put_line(refused->text, shown));
        }
    }
    if (asking->answered) {
        myr_io_close(stream);
    }
}

/* MYR_EIO: another server may answer; a refusal is MYR_EINVAL, and all would refuse. */
static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct asking *asking = context;
    (void)stream;
    if (!asking->answered) {
        asking->rc = why->code ? myr_err_set(asking->err, MYR_EIO, "%s", why->message)
                               : myr_err_set(asking->err, MYR_EIO,
                                             "the server closed the connection without an answer");
    }
}

/* On a loop of its own, which ends with the connection. */
int enrol_run(const char *host, uint16_t port, const char *state, const char *name,
              const struct enrol_token *token, struct myr_err *err)
{
    struct asking asking = {.state = state, .name = name, .token = token, .err = err};
    /* No certificate of our own yet, and no file of the authority: its fingerprint must do. */
    struct myr_io_tls_names names = {.fingerprint = token->fingerprint};
    const struct myr_io_calls calls = {on_open, on_data, on_closed};
    struct myr_io_tls *tls;
    struct myr_io_stream *stream;
    uv_loop_t loop;
    MYR_TRY(myr_io_tls_create(&names, &tls, err));
    int rc = enrol_ask(state, name, &asking.csr, err);
    if (rc < 0) {
        myr_io_tls_free(tls);
        myr_buf_done(&asking.csr);
        return rc;
    }
    myr_wire_sender_init(&asking.sender);
    myr_wire_receiver_init(&asking.receiver);
    uv_loop_init(&loop);
    /* The stream belongs to the loop; it is gone when that has run out. */
    rc = myr_io_connect(&loop, host, port, tls, &calls, &asking, &stream, err);
    MYR_ASSERT(rc == MYR_OK); /* what goes wrong is told by on_closed() */
    uv_run(&loop, UV_RUN_DEFAULT);
    MYR_ASSERT(asking.answered || asking.rc < 0); /* or on_closed() has said why not */
    myr_io_tls_free(tls);
    uv_loop_close(&loop);
    myr_wire_receiver_done(&asking.receiver);
    myr_buf_done(&asking.csr);
    return asking.rc;
}
