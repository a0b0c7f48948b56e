/*
 * What a server may send: an answer or one error, whatever the bytes and however they are cut. The
 * first byte says how long the pieces are.
 */
#include "fuzz.h"
#include "myriad/io/http.h"

static int read_in_pieces(const uint8_t *data, size_t size, size_t step,
                          struct myr_http_reply *reply, struct myr_err *err)
{
    for (size_t at = 0; at < size; at += step) {
        size_t left = size - at;
        struct myr_str piece = {(const char *)data + at, left < step ? left : step};
        MYR_TRY(myr_http_reply_feed(reply, piece, err));
    }
    return myr_http_reply_end(reply, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_http_reply whole, cut;
    struct myr_err err = {}, other = {};
    if (size < 2) {
        return 0;
    }
    myr_http_reply_init(&whole, NULL, NULL);
    myr_http_reply_init(&cut, NULL, NULL);
    int rc = read_in_pieces(data + 1, size - 1, size, &whole, &err);
    int again = read_in_pieces(data + 1, size - 1, data[0] % 16U + 1U, &cut, &other);
    MYR_ASSERT(rc == again && (rc == MYR_OK || rc == MYR_EIO));
    MYR_ASSERT(rc == MYR_OK ? whole.status >= 200 && whole.status <= 599 : err.message[0] != 0);
    /* How it was cut makes no difference. */
    MYR_ASSERT(rc != MYR_OK || (whole.status == cut.status && whole.body.len == cut.body.len));
    MYR_ASSERT(rc != MYR_OK || whole.body.len == 0 ||
               memcmp(whole.body.data, cut.body.data, cut.body.len) == 0);
    MYR_ASSERT(whole.body.len < size);
    myr_http_reply_done(&whole);
    myr_http_reply_done(&cut);
    return 0;
}
