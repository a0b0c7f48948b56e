/* http_reply: the bytes of an answer, taken apart as they come. */
#include "myriad/io/http.h"

/* A line between chunks: a number and what others put behind it. */
enum { LINE_MAX_BYTES = 1024 };

/* A larger body is not kept for the next answer. */
enum { KEPT_BYTES = 64 << 10 };

void myr_http_reply_init(struct myr_http_reply *reply, myr_http_piece *piece, void *context)
{
    *reply = (struct myr_http_reply){.piece = piece, .context = context};
}

void myr_http_reply_done(struct myr_http_reply *reply)
{
    myr_buf_done(&reply->line);
    myr_buf_done(&reply->body);
}

/* For the next answer of a connection that stays: buffers keep their memory. */
void myr_http_reply_clear(struct myr_http_reply *reply, myr_http_piece *piece, void *context)
{
    struct myr_buf line = reply->line, body = reply->body;
    myr_buf_clear(&line);
    if (body.len > KEPT_BYTES) { /* a page of a list: the next answer is small */
        myr_buf_done(&body);
    }
    myr_buf_clear(&body);
    *reply =
        (struct myr_http_reply){.piece = piece, .context = context, .line = line, .body = body};
    MYR_ASSERT(reply->line.len == 0 && reply->body.len == 0);
}

/* Somebody answers, but not in HTTP. */
static int malformed(struct myr_err *err, const char *what)
{
    return myr_err_set(err, MYR_EIO, "what answers does not speak HTTP: %s", what);
}

/* Without the blanks around it. */
static struct myr_str trimmed(struct myr_str text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t')) {
        text.len--;
    }
    return text;
}

/* The next line of a whole head, without its end; the last one is blank. */
static struct myr_str next_line(struct myr_str *rest)
{
    const char *end = memchr(rest->data, '\n', rest->len);
    const char *stop = rest->data + rest->len;
    MYR_ASSERT(end); /* it is called until the blank one, and no more */
    struct myr_str line = {rest->data, (size_t)(end - rest->data)};
    *rest = (struct myr_str){end + 1, (size_t)(stop - end) - 1};
    line.len -= line.len > 0 && line.data[line.len - 1] == '\r';
    return line;
}

/* "HTTP/1.1 200 OK" */
static int read_status(struct myr_http_reply *reply, struct myr_str line, struct myr_err *err)
{
    uint64_t status;
    bool ours = line.len >= 12 && memcmp(line.data, "HTTP/1.", 7) == 0 &&
                (line.data[7] == '0' || line.data[7] == '1') && line.data[8] == ' ' &&
                (line.len == 12 || line.data[12] == ' ');
    if (!ours || !myr_str_to_u64((struct myr_str){line.data + 9, 3}, &status) || status < 100 ||
        status > 599) {
        return malformed(err, "its first line is no status");
    }
    reply->status = (uint32_t)status;
    MYR_ASSERT(reply->at == MYR_HTTP_AT_HEAD);
    return MYR_OK;
}

/* Of the fields of a head, those that say where the body ends, and what it is. */
struct framing {
    bool has_length, chunked;
    uint64_t length;
    struct myr_str type;
};

/* Fields that nobody asks for are passed over. */
static int read_field(struct myr_str line, struct framing *framing, struct myr_err *err)
{
    const char *colon = line.len ? memchr(line.data, ':', line.len) : NULL;
    if (!colon || colon == line.data) {
        return malformed(err, "a line of its head has no name");
    }
    struct myr_str name = {line.data, (size_t)(colon - line.data)};
    struct myr_str value = trimmed((struct myr_str){colon + 1, line.len - name.len - 1});
    if (myr_str_eq_nocase(name, MYR_STR("content-length"))) {
        uint64_t length;
        /* Two lengths that differ would let two readers see two different answers. */
        if (!myr_str_to_u64(value, &length) || (framing->has_length && framing->length != length)) {
            return malformed(err, "its length is no number");
        }
        framing->has_length = true;
        framing->length = length;
    } else if (myr_str_eq_nocase(name, MYR_STR("transfer-encoding"))) {
        if (!myr_str_eq_nocase(value, MYR_STR("chunked"))) {
            return malformed(err, "its body has a coding that is not known");
        }
        framing->chunked = true;
    } else if (myr_str_eq_nocase(name, MYR_STR("content-type"))) {
        /* Without parameters such as the character set. */
        const char *end = value.len ? memchr(value.data, ';', value.len) : NULL;
        value.len = end ? (size_t)(end - value.data) : value.len;
        framing->type = trimmed(value);
    }
    return MYR_OK;
}

static int too_long(struct myr_err *err)
{
    return myr_err_set(err, MYR_EIO, "the answer has more than %u MiB", MYR_HTTP_BODY_MAX >> 20);
}

/* The head is whole: what follows? */
static int end_head(struct myr_http_reply *reply, struct myr_err *err)
{
    struct myr_str rest = {reply->line.data, reply->line.len}, line;
    struct framing framing = {};
    MYR_ASSERT(reply->at == MYR_HTTP_AT_HEAD && reply->got == 0 && reply->left == 0);
    MYR_TRY(read_status(reply, next_line(&rest), err));
    while ((line = next_line(&rest)).len > 0) {
        MYR_TRY(read_field(line, &framing, err));
    }
    MYR_ASSERT(rest.len == 0); /* the head was taken up to its first blank line */
    if (framing.chunked && framing.has_length) {
        return malformed(err, "its body has two lengths");
    }
    /* A type that is too long for its place is none that anybody here asks for. */
    if (framing.type.len < sizeof(reply->type)) {
        myr_str_put(framing.type, reply->type);
    }
    myr_buf_clear(&reply->line);
    if (reply->status < 200) {
        return MYR_OK; /* a word in between: the answer itself comes next */
    }
    if (!reply->piece && framing.length > MYR_HTTP_BODY_MAX) {
        return too_long(err);
    }
    reply->left = framing.length;
    /* Without a length and without chunks the body ends with the connection. */
    bool none =
        reply->status == 204 || reply->status == 304 || (framing.has_length && framing.length == 0);
    reply->at = none                 ? MYR_HTTP_AT_DONE
                : framing.chunked    ? MYR_HTTP_AT_CHUNK_LINE
                : framing.has_length ? MYR_HTTP_AT_LENGTH
                                     : MYR_HTTP_AT_CLOSE;
    MYR_ASSERT(reply->at != MYR_HTTP_AT_LENGTH || reply->left > 0);
    return MYR_OK;
}

/* Bytes up to the end of the line go to 'line'; true: it is whole. */
static bool take_line(struct myr_http_reply *reply, struct myr_str *bytes)
{
    MYR_ASSERT(bytes->len > 0);
    const char *end = memchr(bytes->data, '\n', bytes->len);
    size_t length = end ? (size_t)(end - bytes->data) + 1 : bytes->len;
    MYR_ASSERT(length > 0 && length <= bytes->len);
    myr_buf_put(&reply->line, bytes->data, length);
    bytes->data += length;
    bytes->len -= length;
    return end != NULL;
}

/* One line of the head a call; they gather in 'line' and are read together at the blank one. */
static int take_head(struct myr_http_reply *reply, struct myr_str *bytes, struct myr_err *err)
{
    bool whole = take_line(reply, bytes);
    if (reply->line.len > MYR_HTTP_HEAD_MAX) {
        return malformed(err, "its head does not end");
    }
    MYR_ASSERT(reply->line.len > 0);
    /* Without the end of the last line, which is blank where another line ends there, or none. */
    const char *data = reply->line.data;
    size_t length = reply->line.len - 1;
    length -= length > 0 && data[length - 1] == '\r';
    bool blank = whole && (length == 0 || data[length - 1] == '\n');
    return blank ? end_head(reply, err) : MYR_OK;
}

/* 16 stands for no digit. */
static bool hex_digit(char c, uint64_t *ret)
{
    *ret = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
           : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a' + 10)
           : c >= 'A' && c <= 'F' ? (uint64_t)(c - 'A' + 10)
                                  : 16;
    return *ret < 16;
}

/* "1a2b;name=value": what is behind the number is nobody's. */
static int end_chunk_line(struct myr_http_reply *reply, struct myr_str line, struct myr_err *err)
{
    uint64_t size = 0, digit;
    size_t count = 0;
    MYR_ASSERT(reply->at == MYR_HTTP_AT_CHUNK_LINE);
    MYR_ASSERT(line.len > 0 && line.data[line.len - 1] == '\n'); /* the digits end before it */
    for (; count < line.len && hex_digit(line.data[count], &digit); count++) {
        /* Fifteen digits are below 2^60: the sum cannot overflow. */
        if (count >= 15) {
            return malformed(err, "a chunk has no length");
        }
        size = size * 16 + digit;
    }
    MYR_ASSERT(count < line.len);
    char next = line.data[count]; /* there is a line end at least */
    if (count == 0 || (next != ';' && next != '\r' && next != '\n' && next != ' ')) {
        return malformed(err, "a chunk has no length");
    }
    reply->left = size;
    reply->at = size ? MYR_HTTP_AT_CHUNK : MYR_HTTP_AT_TRAILER;
    return MYR_OK;
}

/* 'line' with its end. */
static int end_line(struct myr_http_reply *reply, struct myr_str line, struct myr_err *err)
{
    MYR_ASSERT(reply->left == 0); /* no line stands inside of a chunk */
    bool blank = line.len == 1 || (line.len == 2 && line.data[0] == '\r');
    if (reply->at == MYR_HTTP_AT_CHUNK_LINE) {
        return end_chunk_line(reply, line, err);
    }
    if (reply->at == MYR_HTTP_AT_CHUNK_END && !blank) {
        return malformed(err, "a chunk is longer than it says");
    }
    if (reply->at == MYR_HTTP_AT_CHUNK_END) {
        reply->at = MYR_HTTP_AT_CHUNK_LINE;
    } else if (blank) {
        reply->at = MYR_HTTP_AT_DONE;
    }
    return MYR_OK;
}

/* The lines around chunks: lengths, the ends behind them, and the trailer. */
static int take_between(struct myr_http_reply *reply, struct myr_str *bytes, struct myr_err *err)
{
    const char *end = reply->line.len ? NULL : memchr(bytes->data, '\n', bytes->len);
    struct myr_str line = {bytes->data, end ? (size_t)(end - bytes->data) + 1 : 0};
    bool whole = end != NULL;
    if (end) { /* as nearly always: it is read where it lies */
        bytes->data += line.len;
        bytes->len -= line.len;
    } else {
        whole = take_line(reply, bytes);
        line = (struct myr_str){reply->line.data, reply->line.len};
    }
    if (line.len > LINE_MAX_BYTES) {
        return malformed(err, "a line between chunks does not end");
    }
    MYR_ASSERT(!whole || line.data[line.len - 1] == '\n');
    int rc = whole ? end_line(reply, line, err) : MYR_OK;
    if (whole) {
        myr_buf_clear(&reply->line);
    }
    MYR_ASSERT(whole || reply->line.len > 0); /* what came of it is kept */
    return rc;
}

/*
 * Bytes of the body as far as they go; what is behind them stays in 'bytes'. A 'piece' that returns
 * false wants no more, and the answer counts as whole.
 */
static int take_body(struct myr_http_reply *reply, struct myr_str *bytes, struct myr_err *err)
{
    bool counted = reply->at != MYR_HTTP_AT_CLOSE;
    MYR_ASSERT(!counted || reply->left > 0); /* else it is whole, and would not be here */
    MYR_ASSERT(reply->piece || reply->got == reply->body.len);
    size_t length = counted && reply->left < bytes->len ? (size_t)reply->left : bytes->len;
    struct myr_str piece = {bytes->data, length};
    bytes->data += length;
    bytes->len -= length;
    reply->got += length;
    if (!reply->piece && reply->got > MYR_HTTP_BODY_MAX) {
        return too_long(err);
    }
    if (!reply->piece) {
        myr_buf_put(&reply->body, piece.data, piece.len);
        MYR_ASSERT(reply->got == reply->body.len);
    } else if (!reply->piece(reply->context, piece)) {
        reply->at = MYR_HTTP_AT_DONE;
        return MYR_OK;
    }
    if (counted) {
        MYR_ASSERT(length > 0 && length <= reply->left);
        reply->left -= length;
        if (reply->left == 0) {
            reply->at = reply->at == MYR_HTTP_AT_CHUNK ? MYR_HTTP_AT_CHUNK_END : MYR_HTTP_AT_DONE;
        }
    }
    return MYR_OK;
}

/* Pieces of any size: where they are cut makes no difference. */
int myr_http_reply_take(struct myr_http_reply *reply, struct myr_str *bytes, struct myr_err *err)
{
    while (bytes->len > 0 && reply->at != MYR_HTTP_AT_DONE) {
        size_t before = bytes->len;
        switch (reply->at) {
        case MYR_HTTP_AT_HEAD:
            MYR_TRY(take_head(reply, bytes, err));
            break;
        case MYR_HTTP_AT_CHUNK_LINE:
        case MYR_HTTP_AT_CHUNK_END:
        case MYR_HTTP_AT_TRAILER:
            MYR_TRY(take_between(reply, bytes, err));
            break;
        case MYR_HTTP_AT_LENGTH:
        case MYR_HTTP_AT_CHUNK:
        case MYR_HTTP_AT_CLOSE:
            MYR_TRY(take_body(reply, bytes, err));
            break;
        case MYR_HTTP_AT_DONE:
            break;
        }
        MYR_ASSERT(bytes->len < before); /* each turn takes something, so that it ends */
    }
    MYR_ASSERT(bytes->len == 0 || reply->at == MYR_HTTP_AT_DONE);
    return MYR_OK;
}

int myr_http_reply_feed(struct myr_http_reply *reply, struct myr_str bytes, struct myr_err *err)
{
    return myr_http_reply_take(reply, &bytes, err);
}

/* The connection has ended: was the answer whole? */
int myr_http_reply_end(const struct myr_http_reply *reply, struct myr_err *err)
{
    if (reply->at == MYR_HTTP_AT_DONE || reply->at == MYR_HTTP_AT_CLOSE) {
        MYR_ASSERT(reply->status >= 200); /* a word in between is no answer */
        return MYR_OK;
    }
    MYR_ASSERT(reply->at != MYR_HTTP_AT_HEAD || reply->got == 0);
    if (reply->at == MYR_HTTP_AT_HEAD && reply->line.len == 0) {
        return myr_err_set(err, MYR_EIO, "the connection was closed without an answer");
    }
    return myr_err_set(err, MYR_EIO, "the answer broke off after %llu bytes",
                       (unsigned long long)reply->got);
}
