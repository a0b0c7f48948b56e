#include "myriad/fabric/balance.h"

/*
 * The hashes of switches, over what they see of a packet. Two families: a CRC, and folding by
 * exclusive or.
 */

/* What a switch sees of a flow: addresses made from the port ids, RoCE's UDP port. */
struct myr_tuple myr_flow_tuple(const struct myr_flow *flow)
{
    return (struct myr_tuple){.from = 0x0A000000 | flow->from_port,
                              .to = 0x0A000000 | flow->to_port,
                              .source = flow->source,
                              .destination = 4791,
                              .protocol = 17};
}

/* In network byte order, as a switch reads them off the wire. */
static void tuple_bytes(const struct myr_tuple *tuple, uint8_t ret[13])
{
    for (uint32_t i = 0; i < 4; i++) {
        ret[i] = (uint8_t)(tuple->from >> (24 - 8 * i));
        ret[4 + i] = (uint8_t)(tuple->to >> (24 - 8 * i));
    }
    ret[8] = (uint8_t)(tuple->source >> 8);
    ret[9] = (uint8_t)tuple->source;
    ret[10] = (uint8_t)(tuple->destination >> 8);
    ret[11] = (uint8_t)tuple->destination;
    ret[12] = tuple->protocol;
}

/* CRC-32 (IEEE 802.3, reflected), started from the seed. */
uint32_t myr_hash_crc(const struct myr_tuple *tuple, uint32_t seed)
{
    uint8_t bytes[13];
    uint32_t crc = ~seed;
    tuple_bytes(tuple, bytes);
    for (uint32_t i = 0; i < sizeof(bytes); i++) {
        crc ^= bytes[i];
        for (uint32_t bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (UINT32_C(0xEDB88320) & (0 - (crc & 1)));
        }
    }
    return ~crc;
}

/* Folding by exclusive or: cheap, and blind to fields that change together. */
uint32_t myr_hash_xor(const struct myr_tuple *tuple, uint32_t seed)
{
    uint32_t fold = tuple->from ^ tuple->to ^ (uint32_t)tuple->source << 16 ^ tuple->destination ^
                    tuple->protocol ^ seed;
    fold ^= fold >> 16;
    fold ^= fold >> 8;
    /* Sixteen bits are left of the fold. */
    return fold & 0xFFFF;
}
