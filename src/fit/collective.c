#include "block.h"

/* Members of a group that share a scale-up domain. */
static uint32_t neighbours(uint32_t domain, uint32_t members, uint64_t stride)
{
    uint32_t near = stride >= domain ? 1 : domain / (uint32_t)stride;
    return near < members ? near : members;
}

struct fit_places fit_places_of(const struct myr_fit_case *it, const struct myr_layout *layout)
{
    uint32_t domain = it->domain_gpus ? it->domain_gpus : it->device->domain_gpus;
    uint32_t etp = myr_layout_etp(layout);
    uint64_t stride = 1, expert_stride = 1;
    struct fit_places places = {1, 1, 1, 1, 1, 1};
    for (int i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        switch (layout->order[i]) {
        case MYR_AXIS_TP:
            places.tp_near = neighbours(domain, layout->tp, stride);
            stride *= layout->tp;
            expert_stride *= etp;
            break;
        case MYR_AXIS_CP:
            places.cp_near = neighbours(domain, layout->cp, stride);
            stride *= layout->cp;
            break;
        case MYR_AXIS_DP:
            places.dp_near = neighbours(domain, layout->dp, stride);
            places.edp_near = neighbours(domain, myr_layout_edp(layout), expert_stride);
            stride *= layout->dp;
            expert_stride *= myr_layout_edp(layout);
            break;
        case MYR_AXIS_PP:
            places.pp_near = neighbours(domain, layout->pp, stride);
            stride *= layout->pp;
            expert_stride *= layout->pp;
            break;
        case MYR_AXIS_EP:
            places.ep_near = neighbours(domain, layout->ep, expert_stride);
            expert_stride *= layout->ep;
            break;
        default:
            break;
        }
    }
    return places;
}

double fit_collective_s(const struct myr_fit_case *it, enum myr_collective collective,
                        uint32_t members, uint32_t near_count, double bytes)
{
    const double *c = it->constants;
    if (members < 2 || bytes <= 0) {
        return 0;
    }
    double n = members, near = near_count;
    double inside = it->device->domain_bytes_per_s * c[FIT_NVLINK];
    double gbps = it->nic_gbps > 0 ? it->nic_gbps : it->device->nic_gbps;
    double servers = n / near;
    double nic = gbps / 8 * 1e9 * c[FIT_NIC];
    if (servers > 1) {
        nic /= 1 + c[FIT_NIC_CROWD] * fit_log2(servers);
    }
    double latency = c[FIT_NVLINK_LATENCY] * 1e-6;
    if (servers > 1) {
        latency += c[FIT_NIC_LATENCY] * 1e-6 * fit_log2(servers);
    }
    if (collective == MYR_SEND_RECEIVE) {
        return latency + bytes / (servers > 1 ? nic : inside);
    }
    if (collective == MYR_ALL_TO_ALL) {
        double away = bytes * (1 - near / n), here = bytes * (near - 1) / n;
        return latency + fit_max(away / nic, here / inside);
    }
    /* A ring enters and leaves each domain once, over the NICs of all its members there. */
    double rate = servers > 1 ? fit_min(inside, nic * near) : inside;
    double wire = bytes * (n - 1) / n * (collective == MYR_ALL_REDUCE ? 2 : 1);
    return latency * (collective == MYR_ALL_REDUCE ? 2 : 1) + wire / rate;
}
