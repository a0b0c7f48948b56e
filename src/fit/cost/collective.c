/*
 * collective: where the members of a group lie, and what a transfer among them costs. A group is
 * told by how many of its members share a block of each level, which follows from its stride in
 * ranks; a transfer is a line over its bytes, so that the search works it out once for a grid.
 */
#include "cost/block.h"

/* Ranks of a block of each level. */
struct blocks {
    uint32_t gpus[MYR_FIT_LEVELS];
};

/* The domain of the case comes before the device's: a design may have another one. */
static struct blocks blocks_of(const struct myr_fit_case *it)
{
    uint32_t domain = it->domain_gpus ? it->domain_gpus : it->device->domain_gpus;
    struct blocks blocks = {{domain}};
    for (int i = 1; i < MYR_FIT_LEVELS; i++) {
        uint32_t gpus = it->topology ? it->topology->levels[i].gpus : 0;
        blocks.gpus[i] = gpus ? gpus : UINT32_MAX;
    }
    return blocks;
}

/* Members of a group that lie in one block. */
static struct fit_near neighbours(const struct blocks *blocks, uint32_t members, uint64_t stride)
{
    struct fit_near near = {};
    MYR_ASSERT(stride > 0);
    for (int i = 0; i < MYR_FIT_LEVELS; i++) {
        /* Members a stride apart fit a block as often as the stride goes into it. */
        uint32_t block = blocks->gpus[i];
        uint32_t count = stride >= block ? 1 : block / (uint32_t)stride;
        near.at[i] = count < members ? count : members;
    }
    return near;
}

struct fit_near fit_near_of(const struct myr_fit_case *it, uint32_t members, uint64_t stride)
{
    struct blocks blocks = blocks_of(it);
    return neighbours(&blocks, members, stride);
}

/* As if the whole group lay in one domain. */
struct fit_near fit_near_all(uint32_t members)
{
    struct fit_near near = {};
    for (int i = 0; i < MYR_FIT_LEVELS; i++) {
        near.at[i] = members;
    }
    return near;
}

struct fit_near fit_near_most(struct fit_near near, uint32_t most)
{
    for (int i = 0; i < MYR_FIT_LEVELS; i++) {
        near.at[i] = near.at[i] < most ? near.at[i] : most;
    }
    return near;
}

/* Axes next to each other in rank: members of the joint group in a block are the product. */
struct fit_near fit_near_times(struct fit_near a, struct fit_near b)
{
    for (int i = 0; i < MYR_FIT_LEVELS; i++) {
        a.at[i] *= b.at[i];
    }
    return a;
}

struct fit_near fit_near_over(struct fit_near near, struct fit_near part)
{
    for (int i = 0; i < MYR_FIT_LEVELS; i++) {
        /* A part may be cut by a block: then one member stands for it. */
        uint32_t count = near.at[i] / part.at[i];
        near.at[i] = count ? count : 1;
    }
    return near;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/*
 * Where no design says otherwise a job takes equal parts of the domains it needs, as schedulers of
 * racks do: a group that fits one is never cut, a longer one is cut into equal parts.
 */
static struct fit_near cut_evenly(struct fit_near near, uint32_t members)
{
    uint32_t most = near.at[0];
    while (members % most != 0) {
        most--;
    }
    near.at[0] = most;
    near.domains = members / most;
    return near;
}

/*
 * Ranks fill a design from its first node on, so that groups which do not divide a domain straddle
 * two: of 64 in racks of 72 the second has 8 members in one and 56 in the next. The smallest part
 * of any group sends most of what it has out over its own NICs, and the others wait for it.
 */
static struct fit_near cut_by_domains(struct fit_near near, uint32_t domain, uint32_t members,
                                      uint64_t stride, uint64_t ranks)
{
    uint64_t span = members * stride, groups = ranks / span ? ranks / span : 1;
    uint64_t different = domain / common_divisor(span, domain);
    uint32_t whole = near.at[0], least = members, touched = 1;
    for (uint64_t k = 0; k < different && k < groups; k++) {
        uint64_t left = domain - k * span % domain, first = (left + stride - 1) / stride;
        if (first >= members) {
            continue;
        }
        uint32_t rest = members - (uint32_t)first, last = rest % whole ? rest % whole : whole;
        uint32_t parts = 1 + (rest + whole - 1) / whole;
        least = first < least ? (uint32_t)first : least;
        least = last < least ? last : least;
        touched = parts > touched ? parts : touched;
    }
    near.at[0] = least < whole ? least : whole;
    near.domains = touched;
    return near;
}

/* Of the groups of experts: every member sends to all others, so the smallest part decides. */
static struct fit_near expert_near(const struct myr_fit_case *it, const struct blocks *blocks,
                                   const struct myr_layout *layout, uint64_t stride)
{
    struct fit_near near = neighbours(blocks, layout->ep, stride);
    if (near.at[0] >= layout->ep && layout->ep * stride <= blocks->gpus[0] && !it->topology) {
        near.domains = 1;
        return near;
    }
    return it->topology
               ? cut_by_domains(near, blocks->gpus[0], layout->ep, stride, myr_layout_gpus(layout))
               : cut_evenly(near, layout->ep);
}

/* Where the groups of every axis lie, from the order of ranks alone: no rank is looked at. */
struct fit_places fit_places_of(const struct myr_fit_case *it, const struct myr_layout *layout)
{
    struct blocks domain = blocks_of(it);
    uint32_t etp = myr_layout_etp(layout);
    /*
     * Two grids over the same ranks (docs/work.md): both strides grow axis by axis, fastest first.
     */
    uint64_t stride = 1, expert_stride = 1;
    struct fit_near one = fit_near_all(1);
    struct fit_places places = {one, one, one, one, one, one};
    for (int i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        switch (layout->order[i]) {
        case MYR_AXIS_TP:
            places.tp_near = neighbours(&domain, layout->tp, stride);
            stride *= layout->tp;
            expert_stride *= etp;
            break;
        case MYR_AXIS_CP:
            places.cp_near = neighbours(&domain, layout->cp, stride);
            stride *= layout->cp;
            break;
        case MYR_AXIS_DP:
            places.dp_near = neighbours(&domain, layout->dp, stride);
            places.edp_near = neighbours(&domain, myr_layout_edp(layout), expert_stride);
            stride *= layout->dp;
            expert_stride *= myr_layout_edp(layout);
            break;
        case MYR_AXIS_PP:
            places.pp_near = neighbours(&domain, layout->pp, stride);
            stride *= layout->pp;
            expert_stride *= layout->pp;
            break;
        case MYR_AXIS_EP:
            places.ep_near = expert_near(it, &domain, layout, expert_stride);
            expert_stride *= layout->ep;
            break;
        default:
            break;
        }
    }
    return places;
}

uint32_t myr_fit_reach(const struct myr_fit_case *it, const struct myr_layout *layout,
                       enum myr_axis axis)
{
    struct fit_places places = fit_places_of(it, layout);
    /* Only axes that a layout's order has can be asked for. */
    const struct fit_near *nears[] = {
        [MYR_AXIS_TP] = &places.tp_near, [MYR_AXIS_CP] = &places.cp_near,
        [MYR_AXIS_DP] = &places.dp_near, [MYR_AXIS_PP] = &places.pp_near,
        [MYR_AXIS_EP] = &places.ep_near,
    };
    const uint32_t sizes[] = {
        [MYR_AXIS_TP] = layout->tp, [MYR_AXIS_CP] = layout->cp, [MYR_AXIS_DP] = layout->dp,
        [MYR_AXIS_PP] = layout->pp, [MYR_AXIS_EP] = layout->ep,
    };
    MYR_ASSERT(axis < MYR_ARRAY_COUNT(nears) && nears[axis]);
    /* The smallest level whose blocks hold whole groups; MYR_FIT_LEVELS: none does. */
    uint32_t level = 0;
    while (level < MYR_FIT_LEVELS && nears[axis]->at[level] < sizes[axis]) {
        level++;
    }
    return level;
}

/*
 * Seconds for each byte of a pattern, beyond what the scale-up domain takes: the worst level that
 * the group leaves. Of 'share' members of a block all but one send inside it (rings, chains), or
 * each sends the same to all (all-to-all).
 */
static double outside_s(const struct myr_fit_case *it, enum myr_contention_pattern pattern,
                        double members, struct fit_near near, double nic)
{
    double worst = 0;
    for (int i = 0; i < MYR_FIT_LEVELS; i++) {
        if (near.at[i] >= members) {
            break; /* the group ends inside this block, and inside all larger ones */
        }
        double slow = it->topology ? it->topology->levels[i].slow[pattern] : 1, leaves = 1;
        if (pattern == MYR_CONTENTION_ALL_TO_ALL) {
            leaves = 1 - near.at[i] / members;
        } else if (pattern == MYR_CONTENTION_RING || i > 0) {
            leaves = 1.0 / near.at[i];
        }
        worst = fit_max(worst, slow * leaves / nic);
        /* Without a design there is one level above the scale-up domain. */
        if (!it->topology) {
            break;
        }
    }
    return worst;
}

/*
 * How much slower NICs are where the flows of many groups meet, and what early libraries add. Those
 * exchange when nothing else is on the wire: a group with one member in a server has its rail to
 * itself, or shares it with the twin on the same NIC. One with some of a server's GPUs comes in
 * over the NIC of one and leaves over that of another, through whatever lies between the rails, and
 * meets its twin on both. Two servers only send to each other; past eight nothing is added.
 */
static double crowd_of(const struct myr_fit_case *it, uint32_t here, double doublings, double gbps)
{
    const double *c = it->constants;
    uint32_t domain = it->domain_gpus ? it->domain_gpus : it->device->domain_gpus;
    bool early = it->stack->era == MYR_ERA_EAGER;
    bool shared = gbps < 0.75 * it->device->nic_gbps; /* a NIC for each GPU is the usual machine */
    double past = fit_max(0, fit_min(doublings - 1, 2));
    if (it->topology && it->topology->measured) {
        return 1; /* where flows meet is the design's business when it has a table */
    }
    if (early && here == 1) {
        return 1 + (shared ? c[FIT_NIC_CROWD] * past : 0);
    }
    if (early && shared && here < domain) {
        return 1 + c[FIT_NIC_RAILS] * past;
    }
    return 1 + c[FIT_NIC_CROWD] * fit_min(doublings, 4);
}

/*
 * Latency, and seconds for each byte as NCCL's tests count bytes (docs/work.md, "Messages of a
 * step").
 */
struct fit_line fit_collective_line(const struct myr_fit_case *it, enum myr_collective collective,
                                    uint32_t members, struct fit_near near)
{
    const double *c = it->constants;
    if (members < 2) {
        return (struct fit_line){0, 0};
    }
    /* 'servers' are scale-up domains that the group lies in; it need not be whole. */
    double n = members, here = near.at[0];
    double inside = it->device->domain_bytes_per_s * c[FIT_NVLINK];
    double gbps = it->nic_gbps > 0 ? it->nic_gbps : it->device->nic_gbps;
    double servers = n / here;
    double nic = gbps / 8 * 1e9 * c[FIT_NIC];
    double latency = c[FIT_NVLINK_LATENCY] * 1e-6;
    /* A message between two is slowed by nobody of its own group, so crowding is left out there. */
    if (servers > 1) {
        double doublings = fit_log2(servers);
        nic /= collective == MYR_SEND_RECEIVE ? 1 : crowd_of(it, near.at[0], doublings, gbps);
        latency += c[FIT_NIC_LATENCY] * 1e-6 * doublings;
    }
    /* The neighbour is inside the domain or it is not: there is nothing to share out. */
    if (collective == MYR_SEND_RECEIVE) {
        double away = outside_s(it, MYR_CONTENTION_PERMUTATION, n, near, nic);
        return (struct fit_line){latency, servers > 1 ? away : 1 / inside};
    }
    if (collective == MYR_ALL_TO_ALL) {
        double away = outside_s(it, MYR_CONTENTION_ALL_TO_ALL, n, near, nic);
        return (struct fit_line){latency, fit_max(away, (here - 1) / n / inside)};
    }
    /* A ring enters and leaves each block once, over the NICs of all its members there. */
    double each = fit_max(1 / inside, outside_s(it, MYR_CONTENTION_RING, n, near, nic));
    double turns = collective == MYR_ALL_REDUCE ? 2 : 1;
    return (struct fit_line){latency * turns, (n - 1) / n * turns * each};
}

/*
 * A plain all-to-all sends a copy of a token for each of its experts. Libraries that know of
 * scale-up domains send one to each domain that has some of them, and fan it out there; an
 * all-gather sends one to every domain.
 */
double fit_dispatch_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                      uint8_t dispatcher, struct fit_near near, double bytes)
{
    uint32_t members = layout->ep;
    double copies = it->model->moe.experts_per_token;
    if (members < 2 || bytes <= 0) {
        return 0;
    }
    struct fit_line plain = fit_collective_line(it, MYR_ALL_TO_ALL, members, near);
    double n = members, here = near.at[0], domains = near.domains ? near.domains : n / here;
    double inside = it->device->domain_bytes_per_s * it->constants[FIT_NVLINK];
    if (dispatcher == MYR_DISPATCH_ALL_TO_ALL || domains <= 1) {
        return fit_line_s(plain, copies * bytes);
    }
    double none = 1; /* that no expert of a token lies in a domain */
    for (uint32_t i = 0; i < it->model->moe.experts_per_token; i++) {
        none *= 1 - 1 / domains;
    }
    /*
     * Copies that leave the domain, for a token: one to each other domain that has an expert of it.
     */
    double sent = (domains - 1) * (dispatcher == MYR_DISPATCH_GATHER ? 1 : 1 - none);
    /* Scaled from the plain all-to-all, of whose K copies the share that lives elsewhere leaves. */
    double away = sent / (1 - here / n) * plain.each_s;
    return plain.fixed_s + bytes * fit_max(away, copies * (here - 1) / n / inside);
}

double fit_collective_s(const struct myr_fit_case *it, enum myr_collective collective,
                        uint32_t members, struct fit_near near, double bytes)
{
    return bytes > 0 ? fit_line_s(fit_collective_line(it, collective, members, near), bytes) : 0;
}

/* Bytes on the way against those of bf16. */
double fit_gathered_share(const struct myr_fit_case *it, enum myr_precision precision)
{
    /* A scale for each row needs the whole row, which is not there before it is gathered. */
    bool able = it->stack->era == MYR_ERA_NEMO || it->stack->era == MYR_ERA_TORCH;
    if (!able || myr_fit_recipe(it, precision)->of[MYR_CAPABILITY_SCALES] == MYR_SCALES_ROWS) {
        return 1;
    }
    switch (precision) {
    case MYR_PRECISION_FP8:
    case MYR_PRECISION_MXFP8:
        return 0.5;
    case MYR_PRECISION_NVFP4:
        return 0.28; /* half a byte, and a scale for sixteen of them */
    case MYR_PRECISION_BF16:
    case MYR_PRECISION_FP16:
    case MYR_PRECISION_FP32:
        break;
    }
    return 1;
}
