/*
 * What sources say beside cables, and say oddly: neighbours that are told by one end, or denied by
 * the other; errors and light of ports; strangers; several chips in a box; names that a binding or
 * a list of HCAs explains. Include it after hands.h.
 */
#pragma once

enum quirk {
    TOLD_BY_BOTH = 1,    /* each link by either end, some of them denied */
    BARE_PORTS = 2,      /* ports without a neighbour, and ports of which nobody can tell */
    ERRORS_APART = 4,    /* by GUID */
    LIGHT_APART = 8,     /* by GUID */
    STRANGERS = 16,      /* devices of other people, and parts of switches */
    MODEL_BEHIND = 32,   /* "MF0;name:MQM9700/U1" */
    BOUND = 64,          /* a binding knows some of them */
    HCAS_TOLD = 128,     /* mlx5_0 is nic7, and so on */
    REAL_GUIDS = 256,    /* none that the design made up */
    NAMELESS = 512,      /* nothing has a name */
    MEDIA_TOLD = 1024,   /* what cables are made of, their widths, their bit errors */
    TWICE = 2048,        /* one port has two cables: refused */
    SMALL_LISTS = 4096,  /* few links are told at all */
    BLANK_NAMES = 8192,  /* blanks around names and in them */
    CHIPS = 32768,       /* four in a box, each with its own devices and links */
    HOSTS_ALONE = 16384, /* NICs are called as their host, without a word of which they are */
};

static inline uint64_t odd_guid(uint64_t guid)
{
    return guid ? (guid * UINT64_C(0x9E3779B97F4A7C15) >> 20) | UINT64_C(0x9803000000000000) : 0;
}

#define printed(cabling, ...) myr_str_from(myr_arena_printf((cabling)->arena, __VA_ARGS__))

static inline void tell_by_both(struct bench *bench, struct myr_cabling *cabling)
{
    size_t count = cabling->links.count;
    for (size_t i = 0; i < count; i++) {
        struct myr_cabling_link back = cabling->links.items[i];
        cabling->links.items[i].one_sided = true;
        back.one_sided = true;
        back.a = cabling->links.items[i].b;
        back.b = cabling->links.items[i].a;
        back.line = (uint32_t)(count + i + 1);
        if (below(bench, 12) == 0) { /* it hears somebody else there, or at another port */
            back.b = cabling->links.items[below(bench, count)].a;
        }
        if (below(bench, 9)) {
            myr_vec_push(&cabling->links, back);
        }
    }
}

static inline void tell_bare(struct bench *bench, const struct site *site,
                             struct myr_cabling *cabling)
{
    for (uint32_t p = 0; p < bench->design->port_count; p++) {
        bool empty = bench->found[p] == MYR_NONE && bench->plan[p] != MYR_NONE;
        if (empty || below(bench, 60) == 0) {
            struct myr_cabling_bare bare = {end_at(site, bench, cabling, p), below(bench, 3) == 0};
            myr_vec_push(&cabling->bare, bare);
        }
    }
}

static inline void tell_errors(struct bench *bench, struct myr_cabling *cabling)
{
    for (size_t i = 0; i < cabling->links.count; i += 1 + below(bench, 9)) {
        const struct myr_cabling_link *link = &cabling->links.items[i];
        struct myr_cabling_errors row = {cabling->devices.items[link->a.device].guid, link->a.port,
                                         below(bench, 9)};
        myr_vec_push(&cabling->errors, row);
    }
    struct myr_cabling_errors nobody = {77, MYR_STR("1"), 9};
    myr_vec_push(&cabling->errors, nobody);
}

/* Tenths of a dBm around the limits of both kinds of fibre. */
static inline struct myr_light light(struct bench *bench)
{
    static const double least[] = {-7.3, -7.1, -6.5, -6.3, -4.7, -4.5, -3.4, -3.2, 0};
    static const double most[] = {3.9, 4.1, 5.0, 5.2, 2};
    struct myr_light row = {below(bench, 5), least[below(bench, MYR_ARRAY_COUNT(least))], 0,
                            most[below(bench, MYR_ARRAY_COUNT(most))]};
    row.next = row.least + (below(bench, 4) ? 1.9 : 2.1);
    return row;
}

static inline void tell_light(struct bench *bench, struct myr_cabling *cabling)
{
    for (size_t i = 0; i < cabling->links.count; i += 1 + below(bench, 3)) {
        const struct myr_cabling_link *link = &cabling->links.items[i];
        const struct myr_cabling_device *device = &cabling->devices.items[link->b.device];
        struct myr_cabling_optic row = {.guid =
                                            device->port_guid ? device->port_guid : device->guid,
                                        .port = link->b.port,
                                        .medium = below(bench, 3) ? MYR_NONE : below(bench, 3),
                                        .rx = light(bench),
                                        .tx = light(bench)};
        myr_vec_push(&cabling->optics, row);
    }
}

static inline void tell_strangers(struct bench *bench, struct myr_cabling *cabling)
{
    static const char *const names[] = {"Mellanox Technologies Aggregation Node",
                                        "printer",
                                        "sw9 Aggregation Node",
                                        "core-router/RT",
                                        "MF0;other:MQM8700/U1",
                                        "leaf-p9-g0-r0"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        struct myr_cabling_end end = {myr_cabling_device(cabling, myr_str_from(names[i])),
                                      printed(cabling, "%u", i + 1)};
        struct myr_cabling_end known = cabling->links.items[below(bench, 9)].b;
        known.port = printed(cabling, i % 2 ? "mgmt0" : "%u", 60 + i);
        struct myr_cabling_link link = {.a = end, .b = known, .line = 900 + i};
        cabling->devices.items[end.device].is_switch = i % 2;
        cabling->devices.items[end.device].guid = cabling->numbered ? 5000 + i : 0;
        myr_vec_push(&cabling->links, link);
    }
    struct myr_cabling_link far = {
        .a = {cabling->links.items[0].a.device, MYR_STR("17")},
        .b = {myr_cabling_device(cabling, MYR_STR("stranger")), MYR_STR("x")},
        .line = 990};
    myr_vec_push(&cabling->links, far);
}

static inline void tell_media(struct bench *bench, struct myr_cabling *cabling)
{
    static const char *const media[] = {"smf-os2",      "mmf-om4", "dac-passive", "SingleMode",
                                        "multi-mode 4", "copper",  "aoc",         "Direct Attach",
                                        "single-mode",  "sm",      "multimode",   ""};
    for (size_t i = 0; i < cabling->links.count; i++) {
        struct myr_cabling_link *link = &cabling->links.items[i];
        link->medium = myr_str_from(media[below(bench, MYR_ARRAY_COUNT(media))]);
        link->width = below(bench, 4) ? 4 : 2;
        link->ber = below(bench, 5) ? 2.3e-4 : 2.5e-4;
        link->no_fec = below(bench, 7) == 0;
        link->gbps = below(bench, 6) ? 0 : 50 << below(bench, 5);
    }
}

static inline void rename_devices(struct bench *bench, struct myr_cabling *cabling, uint32_t quirks)
{
    for (size_t i = 0; i < cabling->devices.count; i++) {
        struct myr_cabling_device *device = &cabling->devices.items[i];
        int len = (int)device->name.len;
        const char *name = device->name.data;
        if (quirks & MODEL_BEHIND && device->is_switch) {
            device->name =
                printed(cabling, i % 3 ? "MF0;%.*s:MQM9700/U1" : "%.*s:Q3400_RA/U2", len, name);
        }
        if (quirks & BLANK_NAMES) {
            device->name = printed(cabling, i % 2 ? " %.*s  " : "%.*s\t", (int)device->name.len,
                                   device->name.data);
        }
        const char *blank = memchr(name, ' ', (size_t)len);
        if (quirks & HOSTS_ALONE && !device->is_switch && blank) {
            device->name = printed(cabling, "%.*s%s", (int)(blank - name), name,
                                   below(bench, 6) ? "" : " HCA-1");
        }
        if (quirks & NAMELESS) {
            device->name = MYR_STR("");
        }
        if (quirks & REAL_GUIDS) {
            device->guid = odd_guid(device->guid);
            device->port_guid = device->is_switch || !device->guid ? 0 : device->guid + 1;
        }
        device->port_count = below(bench, 4) ? 0 : 65;
    }
}

static inline struct myr_cabling_end at_chip(struct myr_cabling *cabling,
                                             struct myr_cabling_end end, uint32_t chip)
{
    struct myr_cabling_device box = cabling->devices.items[end.device];
    if (!box.is_switch) {
        return (struct myr_cabling_end){end.device, printed(cabling, "%u", chip)};
    }
    end.device = myr_cabling_device(
        cabling, printed(cabling, chip % 2 ? "MF0;%.*s:Q3400_RA/U%u" : "%.*s.net:Q3400_RA/U%u",
                         (int)box.name.len, box.name.data, chip));
    struct myr_cabling_device *row = &cabling->devices.items[end.device];
    row->is_switch = true;
    row->reported = box.reported;
    row->guid = box.guid ? box.guid + chip * UINT64_C(0x100000000) : 0;
    return end;
}

static inline void tell_by_chips(struct myr_cabling *cabling)
{
    size_t count = cabling->links.count;
    for (uint32_t chip = 2; chip <= 4; chip++) {
        for (size_t i = 0; i < count; i++) {
            struct myr_cabling_link link = cabling->links.items[i];
            link.a = at_chip(cabling, link.a, chip);
            link.b = at_chip(cabling, link.b, chip);
            link.line += chip * 1000;
            myr_vec_push(&cabling->links, link);
        }
    }
}

/* A few are bound as what they are, and two as each other. */
static inline void bind_some(struct bench *bench, const struct site *site, uint32_t quirks,
                             struct myr_binding *binding)
{
    const struct myr_design *design = bench->design;
    for (uint32_t d = 0; d < design->device_count; d++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        uint32_t first = design->first_port[d], row;
        if (first == design->first_port[d + 1] || below(bench, 3)) {
            continue;
        }
        put_device(site, bench, d, &name);
        struct myr_str text = {myr_arena_strndup(binding->arena, name.data, name.len), name.len};
        struct myr_bound bound = {.device = d, .port = MYR_NONE};
        uint32_t kind = below(bench, 4);
        if (kind == 0) {
            bound.serial = text;
        } else if (kind == 1) {
            bound.host = text;
        } else {
            bound.guid = quirks & REAL_GUIDS ? odd_guid(myr_site_guid(design, first))
                                             : myr_site_guid(design, first);
        }
        if (is_nic(bench, first) && kind > 1) {
            bound.port = first;
            bound.name = MYR_STR("mlx5_2");
        }
        assert_true(myr_binding_add(binding, &bound, &row));
    }
}

/* All that was said, as odd as the quirks want it. */
static inline void tell_oddly(struct bench *bench, const struct site *site, uint32_t quirks,
                              struct myr_cabling *cabling)
{
    if (quirks & BARE_PORTS) {
        tell_bare(bench, site, cabling);
    }
    if (quirks & TOLD_BY_BOTH) {
        tell_by_both(bench, cabling);
    }
    if (quirks & STRANGERS) {
        tell_strangers(bench, cabling);
    }
    if (quirks & SMALL_LISTS) {
        cabling->links.count = cabling->links.count / 3;
    }
    if (quirks & MEDIA_TOLD) {
        tell_media(bench, cabling);
    }
    if (quirks & TWICE) {
        struct myr_cabling_link again = cabling->links.items[0];
        again.b = cabling->links.items[1].b;
        again.line = 4711;
        myr_vec_push(&cabling->links, again);
    }
    if (quirks & CHIPS) {
        tell_by_chips(cabling);
    }
    rename_devices(bench, cabling, quirks);
    if (quirks & ERRORS_APART) {
        tell_errors(bench, cabling);
    }
    if (quirks & LIGHT_APART) {
        tell_light(bench, cabling);
    }
}
