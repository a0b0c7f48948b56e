/*
 * Hands that plug cables wrong, and sites that name things their own way. Include it after cmocka
 * and designs.h.
 *
 * A bench holds the plan and what was plugged, both as the neighbour of each port; a site says how
 * its sources name devices and ports, and whom they do not mention.
 */
#pragma once

struct bench {
    struct planned planned;
    struct myr_port_names names;
    const struct myr_design *design;
    struct myr_rng rng;
    uint32_t *plan, *found; /* by port: its neighbour */
    MYR_VEC(uint32_t) links, spares, switches, hosts;
};

static inline bool is_nic(const struct bench *bench, uint32_t port)
{
    return myr_design_port_group(bench->design, port)->role == MYR_PORT_NIC;
}

/* Two systems that read the same names as different cages, and one that reads some of them. */
static const char mirror_rules[] = "platform,os,pattern,when,cage,lane\n"
                                   "any,straight,P{a}-{b},a <= cages & b <= ports,a,b\n"
                                   "any,mirrored,P{a}-{b},a <= cages & b <= ports,cages+1-a,b\n"
                                   "any,some,P{a}-{b},a > 3 & a <= cages & b <= ports,a,b\n";

static inline void bench_init(struct bench *bench, const struct shape *shape, uint64_t seed)
{
    struct myr_err err = {};
    *bench = (struct bench){};
    plan_shape(&bench->planned, shape);
    const struct myr_design *design = bench->design = &bench->planned.design;
    struct myr_arena *arena = &bench->planned.arena;
    assert_int_equal(myr_port_names_init(&bench->names, arena, &err), MYR_OK);
    assert_int_equal(myr_port_names_add_text(&bench->names, arena, "mirror.csv",
                                             myr_str_from(mirror_rules), &err),
                     MYR_OK);
    myr_rng_init(&bench->rng, seed, 0);
    bench->plan = MYR_ARENA_NEW(arena, uint32_t, design->port_count);
    bench->found = MYR_ARENA_NEW(arena, uint32_t, design->port_count);
    for (uint32_t p = 0; p < design->port_count; p++) {
        bool compute = myr_design_port_group(design, p)->net == MYR_NET_COMPUTE;
        bench->plan[p] = compute ? myr_design_peer(design, p) : MYR_NONE;
        if (compute && bench->plan[p] == MYR_NONE && !is_nic(bench, p)) {
            myr_vec_push(&bench->spares, p);
        } else if (bench->plan[p] != MYR_NONE && bench->plan[p] > p) {
            myr_vec_push(&bench->links, p);
        }
    }
    for (uint32_t d = 0; d < design->device_count; d++) {
        bool cabled = false;
        for (uint32_t p = design->first_port[d]; p < design->first_port[d + 1]; p++) {
            cabled = cabled || bench->plan[p] != MYR_NONE;
        }
        if (cabled && is_nic(bench, design->first_port[d])) {
            myr_vec_push(&bench->hosts, d);
        } else if (cabled) {
            myr_vec_push(&bench->switches, d);
        }
    }
}

static inline void bench_done(struct bench *bench)
{
    myr_vec_done(&bench->links);
    myr_vec_done(&bench->spares);
    myr_vec_done(&bench->switches);
    myr_vec_done(&bench->hosts);
    myr_port_names_done(&bench->names);
    planned_done(&bench->planned);
}

static inline uint32_t below(struct bench *bench, size_t count)
{
    return myr_rng_below(&bench->rng, (uint32_t)count);
}

static inline void exchange(struct bench *bench, uint32_t a, uint32_t b)
{
    uint32_t *found = bench->found, far_a = found[a], far_b = found[b];
    if (a == b || far_a == b) {
        return;
    }
    found[a] = far_b;
    found[b] = far_a;
    if (far_a != MYR_NONE) {
        found[far_a] = b;
    }
    if (far_b != MYR_NONE) {
        found[far_b] = a;
    }
}

static inline void unplug(struct bench *bench, uint32_t port)
{
    uint32_t far = bench->found[port];
    bench->found[port] = MYR_NONE;
    if (far != MYR_NONE) {
        bench->found[far] = MYR_NONE;
    }
}

/* The first port of a run of 'count' cabled ports of a device; MYR_NONE: it has none. */
static inline uint32_t run_of(const struct bench *bench, uint32_t device, uint32_t count)
{
    uint32_t length = 0;
    for (uint32_t p = bench->design->first_port[device]; p < bench->design->first_port[device + 1];
         p++) {
        length = bench->found[p] != MYR_NONE ? length + 1 : 0;
        if (length == count) {
            return p + 1 - count;
        }
    }
    return MYR_NONE;
}

enum mistake {
    NOTHING,
    EXCHANGED,
    NEIGHBOURS,
    REMOVED,
    TO_SPARE,
    SHIFTED,
    REVERSED,
    RAILS,
    WHOLE_SWITCH,
    WHOLE_HOST,
    ROGUE,
    LEAF_PAIR,
    MISTAKES,
};

static const char *const mistake_names[MISTAKES] = {
    "nothing",  "exchanged", "neighbours", "removed", "to-spare", "shifted",
    "reversed", "rails",     "switches",   "hosts",   "rogue",    "pairs"};

static inline void exchange_devices(struct bench *bench, uint32_t a, uint32_t b)
{
    const uint32_t *first = bench->design->first_port;
    if (bench->design->device_type[a] == bench->design->device_type[b]) {
        for (uint32_t i = 0; i < first[a + 1] - first[a]; i++) {
            exchange(bench, first[a] + i, first[b] + i);
        }
    }
}

static inline void shift(struct bench *bench, uint32_t device, uint32_t count)
{
    uint32_t first = run_of(bench, device, count);
    for (uint32_t i = 0; first != MYR_NONE && i + 1 < count; i++) {
        exchange(bench, first + i, first + i + 1);
    }
}

static inline void make_mistake(struct bench *bench, enum mistake mistake)
{
    uint32_t port = bench->links.items[below(bench, bench->links.count)];
    uint32_t other = bench->links.items[below(bench, bench->links.count)];
    uint32_t box = bench->switches.items[below(bench, bench->switches.count)];
    uint32_t peer = bench->switches.items[below(bench, bench->switches.count)];
    uint32_t host = bench->hosts.items[below(bench, bench->hosts.count)];
    uint32_t guest = bench->hosts.items[below(bench, bench->hosts.count)];
    uint32_t count = 3 + below(bench, 4);
    uint32_t first = run_of(bench, box, count);
    uint32_t spare =
        bench->spares.count ? bench->spares.items[below(bench, bench->spares.count)] : MYR_NONE;
    switch (mistake) {
    case EXCHANGED:
        exchange(bench, port, other);
        break;
    case NEIGHBOURS:
        exchange(bench, bench->plan[port],
                 bench->plan[port] + 1 < bench->design->port_count ? bench->plan[port] + 1 : port);
        break;
    case REMOVED:
        unplug(bench, port);
        break;
    case TO_SPARE:
        if (spare != MYR_NONE) {
            exchange(bench, bench->plan[port], spare);
        }
        break;
    case SHIFTED:
        shift(bench, box, count);
        break;
    case REVERSED:
        for (uint32_t i = 0; first != MYR_NONE && i < count / 2; i++) {
            exchange(bench, first + i, first + count - 1 - i);
        }
        break;
    case RAILS:
        shift(bench, host, 2 + below(bench, 7));
        break;
    case WHOLE_SWITCH:
        exchange_devices(bench, box, peer);
        break;
    case WHOLE_HOST:
        exchange_devices(bench, host, guest);
        break;
    case ROGUE:
        if (spare != MYR_NONE && bench->found[spare] == MYR_NONE &&
            bench->found[bench->spares.items[0]] == MYR_NONE && spare != bench->spares.items[0]) {
            bench->found[spare] = bench->spares.items[0];
            bench->found[bench->spares.items[0]] = spare;
        }
        break;
    case LEAF_PAIR:
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t at = bench->design->first_port[box] + i;
            uint32_t to = bench->design->first_port[peer] + i;
            if (at < bench->design->port_count && to < bench->design->port_count) {
                exchange(bench, at, to);
            }
        }
        break;
    default:
        break;
    }
}

/* One to five mistakes, of which each kind comes round. */
static inline void hands_at_work(struct bench *bench, uint32_t number, struct myr_buf *out)
{
    uint32_t count = 1 + below(bench, 5);
    memcpy(bench->found, bench->plan, bench->design->port_count * sizeof(*bench->found));
    for (uint32_t i = 0; i < count; i++) {
        enum mistake mistake =
            (enum mistake)(i == 0 ? number % MISTAKES : 1 + below(bench, MISTAKES - 1));
        make_mistake(bench, mistake);
        myr_buf_printf(out, " %s", mistake_names[mistake]);
    }
}

/* --- how a site names things */

enum device_names {
    OWN_NAMES,
    LOUD_NAMES, /* in capitals, with a domain */
    HOSTS_OTHERWISE,
    SWITCHES_OTHERWISE,
    ALL_OTHERWISE,
    TWO_EXCHANGED,
    NAMELESS_SWITCHES, /* only their GUIDs are known */
    DEVICE_NAMES,
};
enum port_names { OWN_PORTS, CUMULUS, SONIC, NX_OS, EOS, PLAIN, STRAIGHT, MIRRORED, PORT_NAMES };
enum nic_names { OWN_NICS, MLX, MLX_TURNED, MLX_FEW, NIC_NAMES };

struct site {
    enum device_names devices;
    enum port_names ports;
    enum nic_names nics;
    bool numbered;        /* InfiniBand's view */
    uint32_t silent;      /* devices that nobody asked, as bits by their number modulo 32 */
    uint32_t slow, noisy; /* every so many links; 0: none */
    uint32_t exchanged[2];
};

static inline void site_draw(struct site *site, struct bench *bench, uint32_t number,
                             bool infiniband)
{
    *site = (struct site){.devices = (enum device_names)(number % DEVICE_NAMES),
                          .ports = (enum port_names)(infiniband ? OWN_PORTS : number % PORT_NAMES),
                          .nics = (enum nic_names)(number / 2 % NIC_NAMES),
                          .numbered = infiniband && number % 4 != 3,
                          .slow = number % 5 == 4 ? 1 + below(bench, 9) : 0,
                          .noisy = number % 6 == 1 ? 3 + below(bench, 9) : 0};
    if (infiniband && !site->numbered) {
        static const enum port_names ports[] = {OWN_PORTS, STRAIGHT, MIRRORED};
        site->ports = ports[number / 4 % MYR_ARRAY_COUNT(ports)];
    }
    for (uint32_t i = 0; number % 4 >= 2 && i < 3; i++) {
        site->silent |= 1U << below(bench, 32);
    }
    for (uint32_t i = 0; i < 2; i++) {
        site->exchanged[i] = bench->switches.items[below(bench, bench->switches.count)];
    }
}

static inline bool renamed(const struct site *site, bool host)
{
    return site->devices == ALL_OTHERWISE ||
           site->devices == (host ? HOSTS_OTHERWISE : SWITCHES_OTHERWISE);
}

static inline void put_device(const struct site *site, const struct bench *bench, uint32_t device,
                              struct myr_buf *text)
{
    bool host = is_nic(bench, bench->design->first_port[device]);
    if (site->devices == TWO_EXCHANGED && device == site->exchanged[0]) {
        device = site->exchanged[1];
    } else if (site->devices == TWO_EXCHANGED && device == site->exchanged[1]) {
        device = site->exchanged[0];
    }
    if (renamed(site, host)) {
        myr_buf_printf(text, host ? "gpu%03u" : "sw%03u", device * 7 % 1000 + 1);
        return;
    }
    size_t start = text->len;
    myr_site_name(bench->design, device, text);
    if (site->devices == LOUD_NAMES) {
        for (size_t i = start; i < text->len; i++) {
            char c = text->data[i];
            text->data[i] = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
        }
        myr_buf_put_lit(text, ".hall.example");
    }
}

static inline void put_nic(const struct site *site, const struct bench *bench, uint32_t port,
                           struct myr_buf *text)
{
    uint32_t device = bench->design->port_device[port];
    uint32_t index = port - bench->design->first_port[device];
    if (site->nics == OWN_NICS) {
        myr_design_port_name(bench->design, port, text);
    } else if (site->nics == MLX) {
        myr_buf_printf(text, "mlx5_%u", index);
    } else {
        /* One of the hosts is wired the other way round, or nearly all call it something else. */
        bool odd = site->nics == MLX_TURNED ? device == bench->hosts.items[0] : device % 2;
        myr_buf_printf(text, "mlx5_%u", odd ? 11 - index : index + 2);
    }
}

static inline void put_switch_port(const struct site *site, const struct bench *bench,
                                   uint32_t port, struct myr_buf *text)
{
    const struct myr_port_group *group = myr_design_port_group(bench->design, port);
    uint32_t index =
        port - bench->design->first_port[bench->design->port_device[port]] - group->first;
    uint32_t cage = group->first_cage + index / group->per_cage + 1;
    uint32_t lane = index % group->per_cage, per = group->per_cage;
    switch (site->ports) {
    case CUMULUS:
        myr_site_interface(bench->design, port, text);
        break;
    case SONIC:
        myr_buf_printf(text, "Ethernet%u", (cage - 1) * 8 + lane * (8 / per));
        break;
    case NX_OS:
        myr_buf_printf(text, "Ethernet1/%u", cage);
        if (per > 1) {
            myr_buf_printf(text, "/%u", lane + 1);
        }
        break;
    case PLAIN: /* what one system takes for a cage is the first lane of another one */
        myr_buf_printf(text, per > 1 ? "Ethernet%u/%u" : "Ethernet%u", cage, lane + 1);
        break;
    case STRAIGHT:
        myr_buf_printf(text, "P%u-%u", cage, lane + 1);
        break;
    case MIRRORED: {
        uint32_t device = bench->design->port_device[port];
        uint32_t cages = bench->design->devtypes[bench->design->device_type[device]].cages;
        myr_buf_printf(text, "P%u-%u", cages + 1 - cage, lane + 1);
        break;
    }
    case EOS:
        myr_buf_printf(text, "Et%u/%u", cage, lane * (8 / per) + 1);
        break;
    default:
        if (site->numbered) {
            myr_buf_put_u64(text, myr_site_number(bench->design, port));
        } else {
            myr_design_port_name(bench->design, port, text);
        }
        break;
    }
}

static inline struct myr_str text_of(struct myr_cabling *cabling, struct myr_buf *text)
{
    struct myr_str kept = {myr_arena_strndup(cabling->arena, text->data, text->len), text->len};
    myr_buf_clear(text);
    return kept;
}

static inline struct myr_cabling_end end_at(const struct site *site, const struct bench *bench,
                                            struct myr_cabling *cabling, uint32_t port)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint32_t device = bench->design->port_device[port];
    bool host = is_nic(bench, port), alone = host && site->numbered;
    struct myr_cabling_end end;
    put_device(site, bench, device, &text);
    if (alone) {
        myr_buf_putc(&text, ' ');
        put_nic(site, bench, port, &text);
    }
    end.device = myr_cabling_device(cabling, text_of(cabling, &text));
    if (alone) {
        myr_buf_putc(&text, '1');
    } else if (host) {
        put_nic(site, bench, port, &text);
    } else {
        put_switch_port(site, bench, port, &text);
    }
    end.port = text_of(cabling, &text);
    struct myr_cabling_device *row = &cabling->devices.items[end.device];
    row->is_switch = !host;
    row->reported = !(site->silent >> device % 32 & 1);
    row->guid = site->numbered ? myr_site_guid(bench->design, port) : 0;
    if (site->devices == NAMELESS_SWITCHES && site->numbered && !host) {
        row->name = MYR_STR("");
    }
    return end;
}

/* What the sources say. Of what two silent devices have between them nobody speaks. */
static inline void site_tell(const struct site *site, const struct bench *bench,
                             struct myr_cabling *cabling, struct myr_buf *out)
{
    myr_buf_printf(out, " | names %u ports %u nics %u%s%s%s%s\n", site->devices, site->ports,
                   site->nics, site->numbered ? " numbered" : "", site->silent ? " silent" : "",
                   site->slow ? " slow" : "", site->noisy ? " noisy" : "");
    myr_vec_push(&cabling->files, "found");
    cabling->numbered = site->numbered;
    for (uint32_t p = 0; p < bench->design->port_count; p++) {
        uint32_t far = bench->found[p], line = (uint32_t)cabling->links.count + 1;
        if (far == MYR_NONE) {
            if (bench->plan[p] != MYR_NONE) {
                (void)end_at(site, bench, cabling, p); /* somebody looked at the device */
            }
            continue;
        }
        bool quiet = site->silent >> bench->design->port_device[p] % 32 & 1;
        bool far_quiet = site->silent >> bench->design->port_device[far] % 32 & 1;
        if (p > far || (quiet && far_quiet)) {
            continue;
        }
        struct myr_cabling_link link = {.a = end_at(site, bench, cabling, quiet ? far : p),
                                        .b = end_at(site, bench, cabling, quiet ? p : far),
                                        .one_sided = quiet || far_quiet,
                                        .line = line};
        if (site->slow && line % site->slow == 0) {
            link.gbps = 100;
        }
        if (site->noisy && line % site->noisy == 0) {
            link.errors = line;
        }
        myr_vec_push(&cabling->links, link);
    }
}
