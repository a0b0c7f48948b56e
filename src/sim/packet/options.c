#include "myriad/base.h"
#include "myriad/sim/engine.h"
#include "myriad/sim/packets.h"

const char *const myr_cc_names[MYR_CC_COUNT] = {"dcqcn", "dcqcn-cx", "hpcc", "timely",
                                                "pfc",   "ib",       "gse",  "nscc"};

struct myr_packet_options myr_packet_default(enum myr_cc cc)
{
    bool shipped = cc == MYR_CC_DCQCN_CX;
    return (struct myr_packet_options){
        .cc = cc,
        .mtu_bytes = 1000,
        .header_bytes = 64,
        .ack_bytes = 64,
        .telemetry_bytes = 42,
        .buffer_bytes = 32000000,
        .pause_shift = 3,
        .kmin_bytes = 100000,
        .kmax_bytes = 400000,
        .pmax_permille = 200,
        .gain = shipped ? 5 : 4,
        .alpha_ps = 1 * MYR_PS_PER_US,
        .decrease_ps = 4 * MYR_PS_PER_US,
        .increase_ps = 300 * MYR_PS_PER_US,
        .fast_steps = shipped ? 5 : 1,
        .additive_bps = 20000000,
        .hyper_bps = 200000000,
        .min_bps = shipped ? 1000000 : 1000000000,
        .target_permille = 950,
    };
}
