/* What designs_test.c draws from. */
#pragma once

#define NDR  "mqm9790-ns2f mqm9700-ns2f"
#define E800 "sn5600 sn5610 sn5640 dcs-7060x6-64pe eth-102t4-128x800"
#define E400 "eth-25t6 eth-12t8-32x400 sn5400 sn4700"

static const char *const topologies[] = {"rail",      "clos",       "rail-only", "middle-of-rack",
                                         "dragonfly", "dragonfly+", "torus",     "twin-planar",
                                         "dual-tor",  "islands"};

/* A server, and switches that its cards can meet; the first two have two ports a card. */
static const struct {
    const char *server, *switches;
} kinds[] = {
    {"h100-8gpu-2x200", NDR " " E800},
    {"b300-8gpu", E800},
    {"h100-8gpu", NDR " " E800 " " E400},
    {"dgx-h100", NDR " sn5600"},
    {"b200-8gpu", NDR " " E800},
    {"gb200-nvl72", NDR " sn5600"},
    {"generic-1gpu", NDR " " E400},
    {"mi300x-8gpu", E800 " " E400},
    {"cloudmatrix-384", E800},
    {"a100-8gpu", "qm8790 mqm8700-hs2f eth-12t8-64x200"},
    {"ascend-910b-8npu", "eth-12t8-64x200"},
    {"b300-8gpu-xdr", "q3400 q3200 q3450-ld eth-102t4 sn6600-ld"},
    {"gb300-nvl72", "q3400 q3450-ld eth-102t4"},
    {"b300-8gpu-4x200", "eth-102t4"},
};
