#include "block.h"

/* Members of a group that share a scale-up domain. */
static uint32_t neighbours(const struct myr_fit_case *it, uint32_t members, uint32_t stride)
{
    uint32_t domain = it->domain_gpus ? it->domain_gpus : it->device->domain_gpus;
    uint32_t near = stride >= domain ? 1 : domain / stride;
    return near < members ? near : members;
}

double fit_collective_s(const struct myr_fit_case *it, enum myr_collective collective,
                        uint32_t members, uint32_t stride, double bytes)
{
    const double *c = it->constants;
    if (members < 2 || bytes <= 0) {
        return 0;
    }
    double n = members, near = neighbours(it, members, stride);
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
