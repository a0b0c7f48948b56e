#include <stdlib.h>

#include "verify/verify.h"

/*
 * From links between names to a matching on ports. Cable lists and InfiniBand's own discovery tell
 * both ends of a link at once. LLDP tells what one end heard, and may be stale, doubled or lost:
 * such claims count in the order of what speaks for them - both ends agree, the plan agrees, nobody
 * denies - and a claim that the other end denies leaves its port in doubt, not wrong.
 */

enum { CLAIMS_LOOKED_AT = 16 }; /* of one port; more are noise */

struct matcher {
    struct verify_job *job;
    struct myr_verify *verify;
    const struct myr_cabling *cabling;
    uint32_t *end_a, *end_b; /* vertices of each link; both MYR_NONE: not judged */
    uint32_t *claim;         /* by port: its newest one-sided link + 1 */
    uint32_t *claim_before;  /* by link: the one before + 1 */
    uint8_t *guessed;        /* by link: b's port is not told, it may be the planned one */
    uint8_t *told;           /* by port of the design: some link names it */
    uint8_t *placed;         /* by device of the design: some found device is it */
    uint8_t *unread;         /* by device of the design: a port of it was told and not read */
    bool one_sided;          /* some link is told by one of its ends alone */
    MYR_VEC(struct myr_cabling_end) foreign; /* ends that are none of the design */
    MYR_VEC(uint8_t) foreign_unread;         /* of these: ports of known devices, not read */
};

/* Of the networks that are judged; ports of others have no plan and no flag. */
static void fill_plan(struct verify_job *job)
{
    const struct myr_design *design = job->verify->design;
    uint32_t nets = job->verify->options.nets;
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t type = design->cable_type[design->link_cable[link]];
        if (nets >> design->cabletypes[type].net & 1) {
            uint32_t a = design->link_a[link], b = design->link_b[link];
            job->verify->plan[a] = b;
            job->verify->plan[b] = a;
        }
    }
    /* Whole groups of ports at once: they belong to one network. */
    for (uint32_t d = 0; d < design->device_count; d++) {
        const struct myr_devtype *type = &design->devtypes[design->device_type[d]];
        for (uint32_t g = 0; g < type->group_count; g++) {
            const struct myr_port_group *group = &type->groups[g];
            uint8_t flag = nets >> group->net & 1 ? VERIFY_JUDGED : 0;
            memset(job->flags + design->first_port[d] + group->first, flag, group->count);
        }
    }
}

/* Foreign ends never are. */
static bool is_judged(const struct matcher *matcher, uint32_t vertex)
{
    return vertex < matcher->verify->design->port_count &&
           matcher->job->flags[vertex] & VERIFY_JUDGED;
}

/* Foreign ends are vertices behind the design's ports, in the order in which they come. */
static uint32_t add_foreign(struct matcher *matcher, struct myr_cabling_end end)
{
    MYR_ASSERT(end.device < matcher->cabling->devices.count);
    myr_vec_push(&matcher->foreign, end);
    myr_vec_push(&matcher->foreign_unread, 0);
    return matcher->verify->design->port_count + (uint32_t)matcher->foreign.count - 1;
}

/*
 * LLDP often tells the neighbour's port by a MAC address that nobody bound. Its device is known,
 * though: if the plan leads there, it may be the planned port; that it is nobody has said.
 */
static uint32_t guess_far_port(const struct matcher *matcher, uint32_t near,
                               struct myr_cabling_end far)
{
    struct myr_port_span device = matcher->job->identify.devices[far.device];
    uint32_t planned = matcher->verify->plan[near];
    bool fits = planned != MYR_NONE && device.count && planned - device.first < device.count;
    return fits ? planned : MYR_NONE;
}

/* The device of the design that a found one is, or is a NIC of; MYR_NONE: not known. */
static uint32_t place_of(const struct matcher *matcher, uint32_t found)
{
    struct myr_port_span known = matcher->job->identify.devices[found];
    return known.count ? matcher->verify->design->port_device[known.first]
                       : matcher->job->identify.nodes[found];
}

/* Whether an end that could not be read may be the neighbour that the plan has for 'near'. */
static bool may_be_planned(const struct matcher *matcher, uint32_t near,
                           const struct myr_cabling_link *link, struct myr_cabling_end end)
{
    const struct myr_verify *verify = matcher->verify;
    uint32_t planned = verify->plan[near], device = place_of(matcher, end.device);
    uint64_t mac;
    if (planned == MYR_NONE || identify_is_spare(&matcher->job->identify, end)) {
        return false;
    }
    uint32_t wanted = verify->design->port_device[planned];
    if (device != MYR_NONE) {
        return device == wanted && (!matcher->told[planned] || link->one_sided);
    }
    /* A NIC without a host may be any NIC that nobody else is. */
    if (identify_is_nic(&matcher->job->identify, end.device)) {
        return !matcher->told[planned];
    }
    const struct myr_cabling_device *found = &matcher->cabling->devices.items[end.device];
    /* A file that is named after nobody, or an address alone: it may be any of the neighbours. */
    bool nameless = found->by_file || myr_mac_parse(found->name, &mac);
    return !matcher->placed[wanted] || (link->one_sided && nameless);
}

/* Room was made for both ends of every link. */
static void note_unread(struct matcher *matcher, struct myr_cabling_end end)
{
    struct myr_verify *verify = matcher->verify;
    uint32_t device = place_of(matcher, end.device);
    if (device != MYR_NONE) {
        matcher->unread[device] = 1;
    }
    MYR_ASSERT(verify->unread_count < 2 * matcher->cabling->links.count);
    verify->unread[verify->unread_count++] = end;
}

/* A cable of which one end is known and the other was not read, and may be right. */
static void leave_open(struct matcher *matcher, uint32_t near)
{
    uint32_t planned = matcher->verify->plan[near];
    matcher->job->flags[near] |= VERIFY_UNREAD;
    if (planned != MYR_NONE && !matcher->told[planned]) {
        matcher->job->flags[planned] |= VERIFY_UNREAD;
    }
}

/* By the network that the device belongs to: the port is not known. */
static bool in_judged_net(const struct matcher *matcher, struct myr_cabling_end end)
{
    uint32_t device = place_of(matcher, end.device);
    uint8_t net = device == MYR_NONE ? MYR_NET_COUNT : matcher->verify->design->place[device].net;
    return net < MYR_NET_COUNT && matcher->verify->options.nets >> net & 1;
}

/* Neither end is a port of the design: a cable between switches that the plan knows nothing of? */
static void resolve_unplanned(struct matcher *matcher, uint32_t index)
{
    const struct identify *identify = &matcher->job->identify;
    const struct myr_cabling_link *link = &matcher->cabling->links.items[index];
    bool a_spare = identify_is_spare(identify, link->a);
    bool b_spare = identify_is_spare(identify, link->b);
    bool judged = in_judged_net(matcher, link->a) && in_judged_net(matcher, link->b);
    if (judged && a_spare && b_spare) {
        matcher->end_a[index] = add_foreign(matcher, link->a);
        matcher->end_b[index] = add_foreign(matcher, link->b);
        matcher->verify->rogue_links++;
        return;
    }
    matcher->end_a[index] = matcher->end_b[index] = MYR_NONE;
    bool near = in_judged_net(matcher, link->a) || in_judged_net(matcher, link->b);
    bool placed = place_of(matcher, link->a.device) != MYR_NONE &&
                  place_of(matcher, link->b.device) != MYR_NONE;
    bool open = judged || (near && placed && !a_spare && !b_spare);
    if (open && !a_spare) {
        note_unread(matcher, link->a);
    }
    if (open && !b_spare) {
        note_unread(matcher, link->b);
    }
    matcher->verify->outside_links += !open;
}

/* Decides what both ends of a link are, or that it is not judged (both MYR_NONE). */
static void resolve_link(struct matcher *matcher, uint32_t index)
{
    const struct identify *identify = &matcher->job->identify;
    const struct myr_cabling_link *link = &matcher->cabling->links.items[index];
    uint32_t a = matcher->end_a[index], b = matcher->end_b[index];
    if (identify->inside[link->a.device] || identify->inside[link->b.device]) {
        matcher->end_a[index] = matcher->end_b[index] = MYR_NONE; /* no cable at all */
        return;
    }
    if (a == MYR_NONE && b == MYR_NONE) {
        resolve_unplanned(matcher, index);
        return;
    }
    bool judged =
        (a != MYR_NONE && is_judged(matcher, a)) || (b != MYR_NONE && is_judged(matcher, b));
    if (!judged || a == b) {
        matcher->end_a[index] = matcher->end_b[index] = MYR_NONE;
        matcher->verify->outside_links++;
        return;
    }
    /* The end that is known; the other one may be what the plan has there. */
    uint32_t near = a == MYR_NONE ? b : a;
    struct myr_cabling_end far = a == MYR_NONE ? link->a : link->b;
    if ((a == MYR_NONE || b == MYR_NONE) && may_be_planned(matcher, near, link, far)) {
        uint32_t guess =
            link->one_sided && a != MYR_NONE ? guess_far_port(matcher, a, far) : MYR_NONE;
        matcher->guessed[index] = guess != MYR_NONE;
        matcher->end_b[index] = guess;
        matcher->end_a[index] = guess != MYR_NONE ? a : MYR_NONE;
        if (guess == MYR_NONE) {
            leave_open(matcher, near);
            note_unread(matcher, far);
        }
        return;
    }
    matcher->end_a[index] = a != MYR_NONE ? a : add_foreign(matcher, link->a);
    matcher->end_b[index] = b != MYR_NONE ? b : add_foreign(matcher, link->b);
    if ((a == MYR_NONE || b == MYR_NONE) && place_of(matcher, far.device) != MYR_NONE &&
        !identify_is_spare(identify, far)) {
        note_unread(matcher, far);
        matcher->foreign_unread.items[matcher->foreign_unread.count - 1] = 1;
    }
}

/* Every end's port first: what one link names another one cannot be. */
static void read_ends(struct matcher *matcher)
{
    const struct identify *identify = &matcher->job->identify;
    for (uint32_t i = 0; i < matcher->cabling->devices.count; i++) {
        uint32_t device = place_of(matcher, i);
        if (device != MYR_NONE) {
            matcher->placed[device] = 1;
        }
    }
    for (uint32_t i = 0; i < matcher->cabling->links.count; i++) {
        const struct myr_cabling_link *link = &matcher->cabling->links.items[i];
        uint32_t a = identify_port(identify, link->a), b = identify_port(identify, link->b);
        matcher->end_a[i] = a;
        matcher->end_b[i] = b;
        if (a != MYR_NONE) {
            matcher->told[a] = 1;
        }
        if (b != MYR_NONE) {
            matcher->told[b] = 1;
        }
    }
}

/* All ends are read before any link is judged: what one names, another cannot be. */
static void resolve_all(struct matcher *matcher)
{
    struct myr_verify *verify = matcher->verify;
    uint32_t links = (uint32_t)matcher->cabling->links.count;
    verify->unread = MYR_ARENA_NEW(verify->arena, struct myr_cabling_end, 2 * (size_t)links);
    read_ends(matcher);
    for (uint32_t i = 0; i < links; i++) {
        resolve_link(matcher, i);
        /* A link is judged with both of its ends, or not at all. */
        MYR_ASSERT((matcher->end_a[i] == MYR_NONE) == (matcher->end_b[i] == MYR_NONE));
    }
    /* Ends that the design lacks are vertices behind its ports: never planned, perhaps found. */
    uint32_t foreign = (uint32_t)matcher->foreign.count;
    verify->vertex_count = verify->design->port_count + foreign;
    verify->foreign = MYR_ARENA_NEW(verify->arena, struct myr_cabling_end, foreign);
    matcher->job->foreign_unread = MYR_ARENA_NEW(verify->arena, uint8_t, foreign);
    if (foreign) {
        memcpy(matcher->job->foreign_unread, matcher->foreign_unread.items, foreign);
        memcpy(verify->foreign, matcher->foreign.items, foreign * sizeof(*verify->foreign));
    }
    uint32_t *plan = MYR_ARENA_NEW(verify->arena, uint32_t, verify->vertex_count);
    verify->found = MYR_ARENA_NEW(verify->arena, uint32_t, verify->vertex_count);
    verify->found_link = MYR_ARENA_NEW(verify->arena, uint32_t, verify->vertex_count);
    memcpy(plan, verify->plan, verify->design->port_count * sizeof(uint32_t));
    for (uint32_t v = 0; v < verify->vertex_count; v++) {
        verify->found[v] = verify->found_link[v] = MYR_NONE;
        plan[v] = v < verify->design->port_count ? plan[v] : MYR_NONE;
    }
    verify->plan = plan;
}

/* Found is a matching: both ends are free. */
static void join(struct matcher *matcher, uint32_t link, uint32_t a, uint32_t b)
{
    struct myr_verify *verify = matcher->verify;
    MYR_ASSERT(verify->found[a] == MYR_NONE && verify->found[b] == MYR_NONE);
    MYR_ASSERT(a != b && a < verify->vertex_count && b < verify->vertex_count);
    verify->found[a] = b;
    verify->found[b] = a;
    verify->found_link[a] = verify->found_link[b] = link;
}

/* Points at the second line, and names the first. */
static int complain_double(const struct matcher *matcher, uint32_t link, uint32_t vertex,
                           struct myr_err *err)
{
    const struct myr_cabling_link *second = &matcher->cabling->links.items[link];
    const struct myr_cabling_link *first =
        &matcher->cabling->links.items[matcher->verify->found_link[vertex]];
    MYR_ASSERT(matcher->verify->found[vertex] != MYR_NONE);
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_verify_port_name(matcher->verify, vertex, &name);
    const struct myr_doc place = {
        .file = matcher->cabling->files.items[second->file], .line = second->line, .column = 1};
    return myr_doc_error(err, &place, MYR_EINVAL, "port %s has two cables: the first is in %s:%u",
                         name.data, matcher->cabling->files.items[first->file], first->line);
}

/* True when the ends already are each other's, also through a far end that the design lacks. */
static bool is_repeated(const struct matcher *matcher, uint32_t a, uint32_t b)
{
    const struct myr_verify *verify = matcher->verify;
    if (verify->found[a] == b) {
        return true;
    }
    uint32_t known = verify_is_foreign(verify, a) ? b : a;
    uint32_t far = known == a ? b : a, told = verify->found[known];
    if (!verify_is_foreign(verify, far) || told == MYR_NONE || !verify_is_foreign(verify, told)) {
        return false;
    }
    const struct myr_cabling_end *x = &verify->foreign[far - verify->design->port_count];
    const struct myr_cabling_end *y = &verify->foreign[told - verify->design->port_count];
    return x->device == y->device && myr_str_eq(x->port, y->port);
}

/* InfiniBand's own numbers at both ends, of other chips than before: a part of one link. */
static bool is_other_chip(const struct matcher *matcher, uint32_t first, uint32_t second)
{
    const struct myr_cabling_link *x = &matcher->cabling->links.items[first];
    const struct myr_cabling_link *y = &matcher->cabling->links.items[second];
    uint64_t number;
    bool straight = x->a.device == y->a.device && x->b.device == y->b.device;
    bool turned = x->a.device == y->b.device && x->b.device == y->a.device;
    return matcher->cabling->numbered && !straight && !turned &&
           myr_str_to_u64(x->a.port, &number) && myr_str_to_u64(x->b.port, &number) &&
           myr_str_to_u64(y->a.port, &number) && myr_str_to_u64(y->b.port, &number);
}

/* Whether a link says more of its speed than the other one, or says that it is slower. */
static bool tells_worse(const struct myr_cabling_link *link, const struct myr_cabling_link *than)
{
    if (link->gbps != than->gbps) {
        return link->gbps && (than->gbps == 0 || link->gbps < than->gbps);
    }
    return link->width && (than->width == 0 || link->width < than->width);
}

/* Chips that share a port tell the same link once each; another source tells it again. */
static void note_repeat(struct matcher *matcher, uint32_t link, uint32_t a, uint32_t b)
{
    struct myr_verify *verify = matcher->verify;
    uint32_t known = verify_is_foreign(verify, a) ? b : a, first = verify->found_link[known];
    uint32_t far = verify->found[known];
    uint8_t *planes = matcher->job->planes;
    if (verify_is_foreign(verify, known) || first == link) {
        return;
    }
    if (is_other_chip(matcher, first, link)) {
        planes[known] = (uint8_t)(planes[known] + (planes[known] < UINT8_MAX));
        return;
    }
    bool parts = planes[known] || (!verify_is_foreign(verify, far) && planes[far]);
    const struct myr_cabling_link *links = matcher->cabling->links.items;
    if (!parts && tells_worse(&links[link], &links[first])) {
        verify->found_link[known] = verify->found_link[far] = link;
        link = first;
    }
    struct verify_repeat row = {known, link};
    myr_vec_push(&matcher->job->repeats, row);
}

/* Links that both ends tell: two different ones at a port are a mistake in the files. */
static int match_lists(struct matcher *matcher, struct myr_err *err)
{
    struct myr_verify *verify = matcher->verify;
    for (uint32_t i = 0; i < matcher->cabling->links.count; i++) {
        uint32_t a = matcher->end_a[i], b = matcher->end_b[i];
        if (a == MYR_NONE) {
            continue;
        }
        if (matcher->cabling->links.items[i].one_sided) {
            matcher->one_sided = true;
            continue;
        }
        if (is_repeated(matcher, a, b)) {
            note_repeat(matcher, i, a, b);
            continue;
        }
        if (verify->found[a] != MYR_NONE || verify->found[b] != MYR_NONE) {
            return complain_double(matcher, i, verify->found[a] != MYR_NONE ? a : b, err);
        }
        join(matcher, i, a, b);
    }
    return MYR_OK;
}

/* Whether some claim of 'near' names 'far'. */
static bool claims(const struct matcher *matcher, uint32_t near, uint32_t far)
{
    if (verify_is_foreign(matcher->verify, near)) {
        return false;
    }
    uint32_t link = matcher->claim[near];
    for (uint32_t i = 0; link && i < CLAIMS_LOOKED_AT; i++) {
        if (matcher->end_b[link - 1] == far && !matcher->guessed[link - 1]) {
            return true;
        }
        link = matcher->claim_before[link - 1];
    }
    return false;
}

/* From the strongest witness to the weakest; a port that has its cable is not asked again. */
enum claim_round { ROUND_BOTH_AGREE, ROUND_PLAN_AGREES, ROUND_GUESSED, ROUND_ANY, ROUND_COUNT };

/* Whether a claim has what this round asks for. */
static bool counts_in(const struct matcher *matcher, uint32_t link, enum claim_round round)
{
    uint32_t a = matcher->end_a[link], b = matcher->end_b[link];
    switch (round) {
    case ROUND_BOTH_AGREE:
        return claims(matcher, b, a);
    case ROUND_PLAN_AGREES:
        return matcher->verify->plan[a] == b && !matcher->guessed[link];
    case ROUND_GUESSED:
        return matcher->guessed[link];
    case ROUND_ANY:
    case ROUND_COUNT:
        break;
    }
    return !matcher->guessed[link];
}

/* The newest claim of a port leads to those before it. */
static void note_claims(struct matcher *matcher)
{
    for (uint32_t i = 0; i < matcher->cabling->links.count; i++) {
        uint32_t a = matcher->end_a[i];
        if (a == MYR_NONE || !matcher->cabling->links.items[i].one_sided ||
            verify_is_foreign(matcher->verify, a)) {
            continue;
        }
        MYR_ASSERT(matcher->claim[a] <= i); /* lists go back in time: they have no circles */
        matcher->claim_before[i] = matcher->claim[a];
        matcher->claim[a] = i + 1;
    }
}

/* One round: claims that count join their ends while both are free. */
static void match_claims(struct matcher *matcher, enum claim_round round)
{
    struct myr_verify *verify = matcher->verify;
    for (uint32_t i = 0; i < matcher->cabling->links.count; i++) {
        uint32_t a = matcher->end_a[i], b = matcher->end_b[i];
        if (a == MYR_NONE || !matcher->cabling->links.items[i].one_sided ||
            verify->found[a] != MYR_NONE || verify->found[b] != MYR_NONE ||
            !counts_in(matcher, i, round)) {
            continue;
        }
        if (round == ROUND_GUESSED) { /* nobody has said which port it is */
            matcher->job->flags[a] |= VERIFY_UNREAD;
            matcher->job->flags[b] |= VERIFY_UNREAD;
            MYR_ASSERT(verify->unread_count < 2 * matcher->cabling->links.count);
            verify->unread[verify->unread_count++] = matcher->cabling->links.items[i].b;
            continue;
        }
        join(matcher, i, a, b);
        verify->one_sided_links += round != ROUND_BOTH_AGREE;
    }
}

/* A port whose neighbour took another one's word is neither wrong nor empty. */
static void note_doubts(struct matcher *matcher)
{
    struct myr_verify *verify = matcher->verify;
    for (uint32_t i = 0; i < matcher->cabling->links.count; i++) {
        uint32_t a = matcher->end_a[i], b = matcher->end_b[i];
        if (a == MYR_NONE || !matcher->cabling->links.items[i].one_sided ||
            (matcher->guessed[i] && matcher->job->flags[a] & VERIFY_UNREAD)) {
            continue;
        }
        if (is_repeated(matcher, a, b)) {
            note_repeat(matcher, i, a, b);
            continue;
        }
        verify->contradicted++;
        if (!verify_is_foreign(verify, a)) {
            matcher->job->flags[a] |= VERIFY_DOUBT;
        }
    }
}

/* Rounds from the strongest witness to the weakest; then what was denied. */
static void match_one_sided(struct matcher *matcher)
{
    struct myr_arena *arena = matcher->verify->arena;
    matcher->claim_before = MYR_ARENA_NEW(arena, uint32_t, matcher->cabling->links.count);
    matcher->claim = MYR_ARENA_NEW(arena, uint32_t, matcher->verify->design->port_count);
    note_claims(matcher);
    for (uint32_t round = 0; round < ROUND_COUNT; round++) {
        match_claims(matcher, (enum claim_round)round);
    }
    note_doubts(matcher);
}

/* What a source listed whole is empty where it says nothing; a bare port says so itself. */
static void note_looked(struct verify_job *job)
{
    const struct myr_design *design = job->verify->design;
    const struct myr_cabling *cabling = job->verify->cabling;
    for (uint32_t i = 0; i < cabling->devices.count; i++) {
        struct myr_port_span known = job->identify.devices[i];
        if (!cabling->devices.items[i].reported || known.count == 0) {
            continue;
        }
        /* A host whose other NICs answer is there: its silent NIC has no link. */
        struct myr_port_span all = identity_of_device(design, design->port_device[known.first]);
        for (uint32_t p = all.first; p < all.first + all.count; p++) {
            job->flags[p] |= VERIFY_LOOKED;
        }
    }
    for (uint32_t i = 0; i < cabling->bare.count; i++) {
        uint32_t port = identify_port(&job->identify, cabling->bare.items[i].end);
        /* "?" in a list: somebody says that nobody looked. */
        if (port != MYR_NONE && cabling->bare.items[i].unknown) {
            job->flags[port] |= VERIFY_DOUBT;
        } else if (port != MYR_NONE) {
            job->flags[port] |= VERIFY_LOOKED;
        }
    }
}

/* A device of which a port was not read may have any of its empty ports in use. */
static void note_open_devices(struct matcher *matcher)
{
    const struct myr_verify *verify = matcher->verify;
    for (uint32_t p = 0; p < verify->design->port_count; p++) {
        if (matcher->unread[verify->design->port_device[p]] && verify->found[p] == MYR_NONE &&
            verify->plan[p] != MYR_NONE) {
            matcher->job->flags[p] |= VERIFY_UNREAD;
        }
    }
}

/*
 * The order matters: plan, ends, links of two sides, claims of one, and at last what is left open.
 */
int verify_match(struct verify_job *job, struct myr_err *err)
{
    struct myr_verify *verify = job->verify;
    const struct myr_cabling *cabling = verify->cabling;
    size_t links = cabling->links.count;
    struct matcher matcher = {.job = job, .verify = verify, .cabling = cabling};
    matcher.end_a = MYR_ARENA_NEW(verify->arena, uint32_t, links);
    matcher.end_b = MYR_ARENA_NEW(verify->arena, uint32_t, links);
    matcher.guessed = MYR_ARENA_NEW(verify->arena, uint8_t, links);
    matcher.told = MYR_ARENA_NEW(verify->arena, uint8_t, verify->design->port_count);
    matcher.placed = MYR_ARENA_NEW(verify->arena, uint8_t, verify->design->device_count);
    matcher.unread = MYR_ARENA_NEW(verify->arena, uint8_t, verify->design->device_count);
    job->planes = MYR_ARENA_NEW(verify->arena, uint8_t, verify->design->port_count);
    verify->plan = MYR_ARENA_NEW(verify->arena, uint32_t, verify->design->port_count);
    memset(verify->plan, 0xFF, verify->design->port_count * sizeof(uint32_t));
    fill_plan(job);
    resolve_all(&matcher);
    myr_vec_done(&matcher.foreign); /* the verify has its own copy */
    myr_vec_done(&matcher.foreign_unread);
    MYR_TRY(match_lists(&matcher, err));
    if (matcher.one_sided) { /* lists of cables have none: six walks over all links less */
        match_one_sided(&matcher);
    }
    note_looked(job);
    if (matcher.one_sided) {
        verify_note_silent(job);
    }
    note_open_devices(&matcher);
    return MYR_OK;
}
