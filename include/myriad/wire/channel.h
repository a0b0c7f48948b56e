/*
 * channel: one direction of a connection.
 *
 * A sender puts the schema of a type before its first message and the values alone after that: a
 * heartbeat is 36 bytes. A receiver keeps the schemas it was sent and turns values into structs of
 * its own. Neither does input or output: bytes go in and out through buffers.
 *
 * The tables are arguments, so that a test (or a bridge) can speak for another version.
 */
#pragma once

#include "myriad/wire/frame.h"
#include "myriad/wire/message.h"

struct myr_wire_sender {
    uint8_t version;
    const struct myr_wire_table *(*table_of)(uint8_t type);
    bool told[MYR_WIRE_TYPE_COUNT];
};

void myr_wire_sender_init(struct myr_wire_sender *sender);

/* Appends the message, and its schema where it is the first of its type. 'message' is its struct.
 */
void myr_wire_send(struct myr_wire_sender *sender, struct myr_buf *buf, enum myr_wire_type type,
                   uint32_t node, uint32_t epoch, uint64_t sequence, const void *message);

/* The largest struct of a message. */
#define MYR_WIRE_MESSAGE_BYTES 128

struct myr_wire_message {
    struct myr_wire_head head;
    /* The struct of head.type; for a type that is not known here only the head is valid. */
    _Alignas(16) unsigned char body[MYR_WIRE_MESSAGE_BYTES];
    bool known;
};

struct myr_wire_layout; /* a schema that was received */

struct myr_wire_receiver {
    const struct myr_wire_table *(*table_of)(uint8_t type);
    struct myr_buf bytes; /* received and not read yet, from 'at' on */
    size_t at;
    struct myr_wire_layout **layouts; /* by type; NULL: not told */
    struct myr_buf lists;             /* of the message last read, aligned */
};

void myr_wire_receiver_init(struct myr_wire_receiver *receiver);
void myr_wire_receiver_done(struct myr_wire_receiver *receiver);

/* Bytes as they come. Invalidates the texts of the message last read. */
void myr_wire_feed(struct myr_wire_receiver *receiver, struct myr_str bytes);
/*
 * 1 and the next message; 0 when there is none yet; negative when the stream is broken, and stays
 * so. Schemas are kept and not handed out.
 */
MYR_MUST_USE int myr_wire_next(struct myr_wire_receiver *receiver, struct myr_wire_message *ret,
                               struct myr_err *err);

/*
 * For whoever passes frames on: the next one whole, as myr_wire_frame_get() answers, and nothing is
 * taken. myr_wire_skip() takes it. Both leave schemas to the one to whom it is passed on.
 */
MYR_MUST_USE int myr_wire_peek(const struct myr_wire_receiver *receiver, struct myr_wire_head *ret,
                               struct myr_str *ret_frame, struct myr_err *err);
void myr_wire_skip(struct myr_wire_receiver *receiver, struct myr_str frame);
