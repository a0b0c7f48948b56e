/*
 * What one maker documents of its servers: names and PCI addresses of their compute cards.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DGX_CARDS 8

struct dgx_card {
    uint16_t device; /* mlx5_N */
    uint8_t nic_bus; /* DGX H100 user guide, table 6 */
    uint8_t gpu_bus; /* of the GPU of the same number behind the same PCIe switch */
};

/* DGX H100 and H200, by GPU; also what others build on the same board, unless they differ. */
static const struct dgx_card dgx_cards[DGX_CARDS] = {
    {0, 0x18, 0x1b}, {3, 0x40, 0x43}, {4, 0x4f, 0x52},  {5, 0x5e, 0x61},
    {6, 0x9a, 0x9d}, {9, 0xc0, 0xc3}, {10, 0xce, 0xd1}, {11, 0xdc, 0xdf}};

bool dgx_is(const char *part);
