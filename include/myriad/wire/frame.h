/*
 * frame: one message on a stream of bytes.
 *
 * A frame is a head of fixed size, little-endian, and a payload of at most MYR_WIRE_PAYLOAD_MAX
 * bytes. The head says of which node it speaks (on the connection of a relay, which carries many:
 * of which channel), in which incarnation of it ('epoch', which grows each time the node or its job
 * starts anew, so that a late frame cannot speak for a new life), and counts ('sequence', from 1,
 * by node and epoch, so that what was lost, repeated or reordered shows). The checksum covers head
 * and payload.
 *
 *     offset  0  u16  0x594D ("MY")
 *             2  u8   version of the sender
 *             3  u8   type (enum myr_wire_type)
 *             4  u32  bytes of the payload
 *             8  u32  node, MYR_WIRE_NO_NODE when it speaks of none
 *            12  u32  epoch
 *            16  u64  sequence
 *            24  u32  CRC-32 of bytes 0 to 23 and of the payload
 *
 * A reader that meets anything else answers with an error and must drop the connection: there is
 * no way to find the next frame in a stream that has gone wrong.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

#define MYR_WIRE_HEAD_BYTES  28
#define MYR_WIRE_PAYLOAD_MAX (1U << 20)
#define MYR_WIRE_NO_NODE     UINT32_MAX
/* What this program speaks, and the oldest that it understands. */
#define MYR_WIRE_VERSION     1
#define MYR_WIRE_VERSION_MIN 1

struct myr_wire_head {
    uint8_t version, type;
    uint32_t length; /* of the payload */
    uint32_t node, epoch;
    uint64_t sequence;
};

/* Appends a frame; head->length is taken from the payload, which must not be too long. */
void myr_wire_frame_put(struct myr_buf *buf, const struct myr_wire_head *head,
                        struct myr_str payload);

/*
 * The frame at the start of 'bytes': 1 and its size in 'ret_size' when it is whole, 0 when more
 * bytes are needed, MYR_ECORRUPT or MYR_EVERSION when it is none. 'ret_payload' points into
 * 'bytes'.
 */
MYR_MUST_USE int myr_wire_frame_get(struct myr_str bytes, struct myr_wire_head *ret,
                                    struct myr_str *ret_payload, size_t *ret_size,
                                    struct myr_err *err);
