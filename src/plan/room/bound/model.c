#include "room/bound/star.h"

/*
 * Stars of a fabric of leaves, spines and, in three tiers, cores. Switches that hang together are
 * one part (a plane, a rail); each part has its own. What leads up from a leaf is cut up evenly,
 * for all leaves of a class and all switches at the top alike:
 *
 *   a  from a server through the leaf to the top      around the top: servers
 *   b  from the leaf to the top                       around the top: leaves
 *   c  the same, with the leaf in the middle          around the leaf: tops
 *   d  from one top through the leaf to another       around the top: the other tops
 *   e  from one leaf through a top to another         around the leaf: the other leaves
 *   f  from a spine to the top, of three tiers        around the top: spines
 *
 * What a takes of a cable from a server to its leaf is not left for the leaf's own star of servers.
 * A class takes the least of its leaves everywhere, so that no cable is used more than once.
 */

enum { CLASSES = 3, SHARES = 5, A = 0, B, C, D, E };

struct leaf_class {
    uint32_t leaves, servers;     /* of all its leaves together */
    uint32_t servers_each;        /* at the least, as all that follows but for 'hosts' */
    double cables_each, to_top;   /* from a server to a leaf; from a leaf to a top */
    double hosts, of_server;      /* cables of a leaf to servers, at the most; of a server */
    uint32_t joined, key_servers; /* class that it became part of; what tells it from others */
    double key_hosts, key_top;
};

struct part {
    struct bound *b;
    uint32_t *root;         /* by device: which part; union-find */
    uint32_t *server_class; /* by server */
    double *to, *arriving;  /* by device */
    double *of_server;      /* by server */
    uint32_t *reached;      /* by top: spines that have cables to it */
    struct load need;
    uint32_t id, top_first, top_end, tops;
    uint32_t spines;              /* that a top has cables to; 0: leaves hang on the tops */
    double spine_top, spine_used; /* cables from one to a top; share of them from below */
    uint32_t class_count;
    struct leaf_class classes[CLASSES];
};

/* ---- which switches hang together ---- */

/* With halved paths, so that chains stay short. */
static uint32_t root_of(struct part *part, uint32_t device)
{
    while (part->root[device] != device) {
        part->root[device] = part->root[part->root[device]];
        device = part->root[device];
    }
    return device;
}

/* Links between switches of this network that lead upwards. */
static bool is_up(const struct bound *b, uint32_t link)
{
    uint32_t layer;
    return bound_of_net(b, link, &layer) && (layer == MYR_LAYER_FABRIC || layer == MYR_LAYER_CORE);
}

/* The lowest device of a part is its root: the result does not hang on the order of links. */
static void join_parts(struct part *part)
{
    const struct myr_design *design = part->b->design;
    for (uint32_t i = 0; i < design->device_count; i++) {
        part->root[i] = i;
    }
    for (uint32_t link = 0; link < design->link_count; link++) {
        if (is_up(part->b, link)) {
            uint32_t low = root_of(part, design->port_device[design->link_a[link]]);
            uint32_t high = root_of(part, design->port_device[design->link_b[link]]);
            part->root[low < high ? high : low] = low < high ? low : high;
        }
    }
}

/* The link that leads up from a port; MYR_NONE where there is none. */
static uint32_t link_up(const struct bound *b, uint32_t port)
{
    uint32_t link = b->design->port_link[port];
    return link != MYR_NONE && b->design->link_a[link] == port && is_up(b, link) ? link : MYR_NONE;
}

/* ---- what leads from a leaf to the top ---- */

/* Adds what leads up from a device, so much of every cable, to what it arrives at. */
static void send_up(const struct bound *b, uint32_t device, double share, double *to)
{
    const struct myr_design *design = b->design;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = link_up(b, p);
        if (link != MYR_NONE) {
            to[design->port_device[design->link_b[link]]] += share * bound_link_weight(b, link);
        }
    }
}

/* Tops are then cores, else spines. */
static bool three_tiers(const struct bound *b)
{
    return b->net->core > 0;
}

/* The least that a leaf has to any top of its part; 0 where it does not reach all of them. */
static double least_to_top(struct part *part, uint32_t leaf)
{
    struct bound *b = part->b;
    uint32_t first = b->net->first_spine, end = first + b->net->spine;
    memset(part->to + part->top_first, 0, sizeof(*part->to) * (part->top_end - part->top_first));
    if (three_tiers(b)) {
        memset(part->to + first, 0, sizeof(*part->to) * (end - first));
        send_up(b, leaf, 1, part->to);
        for (uint32_t i = first; i < end; i++) {
            /* A spine passes on no more than it has cables for, and shares that out among all that
             * arrives. */
            double most = part->arriving[i] > b->up[i] ? part->arriving[i] : b->up[i];
            if (part->to[i] > 0 && most > 0) {
                send_up(b, i, part->to[i] / most, part->to);
            }
        }
    } else {
        send_up(b, leaf, 1, part->to);
    }
    /* The top that the leaf has least to: with it all tops may be treated alike. */
    double least = -1;
    for (uint32_t i = part->top_first; i < part->top_end; i++) {
        if (root_of(part, i) == part->id && (least < 0 || part->to[i] < least)) {
            least = part->to[i];
        }
    }
    return least > 0 ? least : 0;
}

/* ---- servers of a leaf ---- */

/* Goes through the GPU servers of a leaf, with their cables; ports of one follow each other. */
struct server_ports {
    const struct bound *b;
    uint32_t port, end, server;
    double cables;
};

/* False when there are no more; else 'server' and its cables to the leaf. */
static bool next_server(struct server_ports *at)
{
    const struct myr_design *design = at->b->design;
    uint32_t nodes = at->b->plan->server->server.nodes;
    at->server = MYR_NONE;
    at->cables = 0;
    for (; at->port < at->end; at->port++) {
        uint32_t link = design->port_link[at->port], layer;
        if (link == MYR_NONE || design->link_b[link] != at->port ||
            !bound_of_net(at->b, link, &layer) || layer != MYR_LAYER_HOST) {
            continue;
        }
        /* Storage and managers on the leaf are no servers of the stars. */
        uint32_t device = design->port_device[design->link_a[link]];
        if (design->place[device].kind != MYR_DEVICE_NODE) {
            continue;
        }
        uint32_t server = (device - design->head->first_node) / nodes;
        if (at->server != MYR_NONE && server != at->server) {
            break;
        }
        at->server = server;
        at->cables += bound_link_weight(at->b, link);
    }
    return at->server != MYR_NONE;
}

static struct server_ports servers_of(const struct bound *b, uint32_t leaf)
{
    return (struct server_ports){
        .b = b, .port = b->design->first_port[leaf], .end = b->design->first_port[leaf + 1]};
}

/* ---- classes of leaves ---- */

/* Sums of fractions come out differently by the order in which they were added. */
static bool near_to(double a, double b)
{
    double off = a < b ? b - a : a - b;
    return off <= 1e-9 * (a < b ? b : a);
}

/* The class of leaves like this one; when there are too many, the last one takes what comes. */
static uint32_t class_of(struct part *part, const struct leaf_class *leaf)
{
    for (uint32_t i = 0; i < part->class_count; i++) {
        const struct leaf_class *other = &part->classes[i];
        if (other->key_servers == leaf->key_servers && near_to(other->key_hosts, leaf->key_hosts) &&
            near_to(other->key_top, leaf->key_top)) {
            return i;
        }
    }
    if (part->class_count == CLASSES) {
        return CLASSES - 1;
    }
    part->classes[part->class_count] = *leaf;
    part->classes[part->class_count].joined = part->class_count;
    return part->class_count++;
}

/* A class may have become part of one that became part of a third. */
static uint32_t joined_of(const struct part *part, uint32_t at)
{
    while (part->classes[at].joined != at) {
        at = part->classes[at].joined;
    }
    return at;
}

/* The bound uses no more of any leaf than the least one has; only 'hosts' is the most, as it is
 * what the share of chains is divided by. */
static void take_least(struct leaf_class *all, const struct leaf_class *one)
{
    all->servers_each =
        one->servers_each < all->servers_each ? one->servers_each : all->servers_each;
    all->cables_each = one->cables_each < all->cables_each ? one->cables_each : all->cables_each;
    all->to_top = one->to_top < all->to_top ? one->to_top : all->to_top;
    all->hosts = one->hosts > all->hosts ? one->hosts : all->hosts;
    all->leaves += one->leaves;
}

/* One leaf: its servers, cables, and to which class it belongs. False: no bound for this part. */
static bool look_at_leaf(struct part *part, uint32_t leaf)
{
    /* A leaf that misses a top would make that top's star too large. */
    struct leaf_class one = {.leaves = 1, .to_top = least_to_top(part, leaf)};
    if (one.to_top <= 0) {
        return false;
    }
    struct server_ports at = servers_of(part->b, leaf);
    while (next_server(&at)) {
        one.cables_each =
            one.servers_each && one.cables_each < at.cables ? one.cables_each : at.cables;
        one.servers_each++;
        one.hosts += at.cables;
    }
    one.key_servers = one.servers_each;
    one.key_hosts = one.hosts;
    one.key_top = one.to_top;
    /* The first leaf of a class is the class; later ones only lower it. */
    uint32_t count = part->class_count, found = class_of(part, &one);
    if (count == part->class_count) {
        take_least(&part->classes[found], &one);
    }
    /* A server that hangs on leaves of two classes makes one of them. */
    at = servers_of(part->b, leaf);
    while (next_server(&at)) {
        uint32_t *of = &part->server_class[at.server];
        if (*of != MYR_NONE) {
            uint32_t x = joined_of(part, *of), y = joined_of(part, found);
            part->classes[x < y ? y : x].joined = x < y ? x : y;
        }
        *of = found;
        part->of_server[at.server] += at.cables;
    }
    return true;
}

/* Puts classes together that share servers, then counts servers, each in the class of its leaves.
 */
static void join_classes(struct part *part)
{
    /* From the last on: a class may have been joined to one that was joined itself. */
    for (uint32_t i = part->class_count; i-- > 1;) {
        struct leaf_class *one = &part->classes[i];
        if (one->joined != i) {
            take_least(&part->classes[joined_of(part, i)], one);
            one->leaves = 0;
        }
    }
    for (uint32_t s = 0; s < part->b->plan->spec->servers; s++) {
        if (part->server_class[s] == MYR_NONE) {
            continue;
        }
        struct leaf_class *one = &part->classes[joined_of(part, part->server_class[s])];
        double cables = part->of_server[s];
        one->of_server = one->servers && one->of_server < cables ? one->of_server : cables;
        one->servers++;
    }
}

/* ---- the part ---- */

/* Spines of three tiers: how many have cables to a top, and how many, at the least. */
static bool look_at_spines(struct part *part)
{
    const struct bound *b = part->b;
    uint32_t first = b->net->first_spine, tops = part->top_end - part->top_first;
    double *to = part->to + part->top_first, used = 0, least = -1;
    memset(part->reached, 0, sizeof(*part->reached) * tops);
    for (uint32_t i = first; i < first + b->net->spine; i++) {
        if (root_of(part, i) != part->id) {
            continue;
        }
        if (b->up[i] <= 0) {
            return false;
        }
        part->need = bound_least_load(part->need, bound_device_load(b, i));
        /* Share of a spine's uplinks that is filled from below; the rest is free for its own paths.
         */
        double share = part->arriving[i] < b->up[i] ? part->arriving[i] / b->up[i] : 1;
        used = share > used ? share : used;
        memset(to, 0, sizeof(*to) * tops);
        send_up(b, i, 1, part->to);
        for (uint32_t k = 0; k < tops; k++) {
            part->reached[k] += to[k] > 0;
            least = to[k] > 0 && (least < 0 || to[k] < least) ? to[k] : least;
        }
    }
    /* The top with the fewest spines: all tops are treated as that one. */
    part->spines = UINT32_MAX;
    for (uint32_t k = 0; k < tops; k++) {
        if (root_of(part, part->top_first + k) == part->id && part->reached[k] < part->spines) {
            part->spines = part->reached[k];
        }
    }
    part->spine_top = least > 0 ? least : 0;
    part->spine_used = used;
    return true;
}

/* Tops of the part, and with three tiers its spines. */
static bool look_at_switches(struct part *part)
{
    for (uint32_t i = part->top_first; i < part->top_end; i++) {
        if (root_of(part, i) == part->id) {
            part->need = bound_least_load(part->need, bound_device_load(part->b, i));
            part->tops++;
        }
    }
    return part->tops > 0 && (!three_tiers(part->b) || look_at_spines(part));
}

/* All that the stars need of one part. False where some switch does not fit the model: the part
 * then adds nothing, which is a bound as well. */
static bool look_at_part(struct part *part)
{
    const struct bound *b = part->b;
    part->class_count = part->tops = part->spines = 0;
    part->spine_top = part->spine_used = 0;
    part->need = (struct load){INT64_MAX, INT64_MAX, INT64_MAX};
    /* MYR_NONE in every byte. */
    memset(part->server_class, 0xff, sizeof(*part->server_class) * b->plan->spec->servers);
    memset(part->of_server, 0, sizeof(*part->of_server) * b->plan->spec->servers);
    memset(part->classes, 0, sizeof(part->classes));
    if (!look_at_switches(part)) {
        return false;
    }
    /* Leaves of this part alone: others have stars of their own. */
    for (uint32_t i = 0; i < b->net->leaf; i++) {
        uint32_t leaf = b->net->first_leaf + i;
        if (root_of(part, leaf) == part->id) {
            part->need = bound_least_load(part->need, bound_device_load(b, leaf));
            if (!look_at_leaf(part, leaf)) {
                return false;
            }
        }
    }
    join_classes(part);
    return part->class_count > 0;
}

/* ---- variables and stars ---- */

struct sketch {
    struct sky *sky;
    double reach_mm; /* about how far the servers stand from the middle */
    double x[STAR_VARS];
};

/* All variables begin within their limits: the search needs a first point. */
static uint32_t new_var(struct sketch *sketch, double first)
{
    MYR_ASSERT(sketch->sky->var_count < STAR_VARS);
    sketch->x[sketch->sky->var_count] = first;
    return sketch->sky->var_count++;
}

/* A kind around a star's centre; 'most' is the most that its weight may be. */
static struct star_kind *new_kind(struct sketch *sketch, struct star *star, double count,
                                  double most)
{
    MYR_ASSERT(star->kind_count < STAR_KINDS);
    struct star_kind *kind = &star->kinds[star->kind_count++];
    *kind = (struct star_kind){
        .count = count, .price_var = new_var(sketch, 0.5), .price_scale = most * sketch->reach_mm};
    return kind;
}

static void add_term(struct star_kind *kind, uint32_t var, double by)
{
    MYR_ASSERT(kind->terms < STAR_TERMS);
    kind->var[kind->terms] = var;
    kind->by[kind->terms++] = by;
}

/* 'centres' switches have such a star. */
static struct star *new_star(struct sky *sky, uint32_t centres)
{
    MYR_ASSERT(sky->star_count < STAR_STARS);
    struct star *star = &sky->stars[sky->star_count++];
    *star = (struct star){.centres = centres};
    return star;
}

/* The shares of a class: a to e and, of all classes together, f. */
static void limit_shares(struct sky *sky, uint32_t shares, uint32_t spine_share, double chains)
{
    struct star_limit *sum = &sky->limits[sky->limit_count++];
    *sum = (struct star_limit){.count = SHARES, .most = 1};
    for (uint32_t i = 0; i < SHARES; i++) {
        sum->var[i] = shares + i;
    }
    if (spine_share != MYR_NONE) {
        sum->var[sum->count++] = spine_share;
    }
    sky->limits[sky->limit_count++] = (struct star_limit){1, {shares + A}, chains};
}

/* Share of a leaf's uplinks that its servers can fill. */
static double chains_of(const struct part *part, const struct leaf_class *one)
{
    double up = one->to_top * part->tops;
    return one->hosts < up ? one->hosts / up : 1;
}

/* Around the leaf: its servers, less what chains through it use; tops; other leaves of its class. A
 * path between two leaves is seen from both, each with half of it. */
static void draw_leaf_star(struct sketch *sketch, const struct part *part,
                           const struct leaf_class *one, uint32_t shares)
{
    struct star *star = new_star(sketch->sky, one->leaves);
    /* All that leads up from a leaf, in cables. */
    double up = one->to_top * part->tops;
    if (one->servers_each) {
        struct star_kind *servers = new_kind(sketch, star, one->servers_each, one->cables_each);
        servers->server = true;
        servers->fixed = one->cables_each;
        add_term(servers, shares + A, -one->cables_each * up / one->hosts);
    }
    add_term(new_kind(sketch, star, part->tops, one->to_top / 2), shares + C, one->to_top);
    if (one->leaves > 1) {
        double others = one->leaves - 1;
        add_term(new_kind(sketch, star, others, one->to_top / 2), shares + E, up / (2 * others));
    }
}

/* One star for the tops and one for each class of leaves. First come the shares, then a price for
 * every kind around a centre. */
static void draw_stars(struct sketch *sketch, const struct part *part)
{
    struct sky *sky = sketch->sky;
    uint32_t shares[CLASSES] = {}, spine_share = MYR_NONE, last = 0;
    struct star *top = new_star(sky, part->tops);
    double part_of = part->spines ? 6 : 5;
    for (uint32_t i = 0; i < part->class_count; i++) {
        const struct leaf_class *one = &part->classes[i];
        last = one->leaves ? i : last;
        /* A first point within the limits: most of what can be chains, the rest in equal parts. */
        shares[i] = one->leaves ? new_var(sketch, 0.8 * chains_of(part, one)) : MYR_NONE;
        for (uint32_t k = 1; one->leaves && k < SHARES; k++) {
            new_var(sketch, (1 - 0.8 * chains_of(part, one)) / part_of);
        }
    }
    if (part->spines) {
        spine_share = new_var(sketch, 0.2 / part_of);
        struct star_kind *spines = new_kind(sketch, top, part->spines, part->spine_top / 2);
        /* What no leaf fills of a spine's cables is the spine's own in any case. */
        spines->fixed = part->spine_top * (1 - part->spine_used);
        add_term(spines, spine_share, part->spine_top * part->spine_used);
    }
    struct star_kind *tops =
        part->tops > 1 ? new_kind(sketch, top, part->tops - 1, part->classes[last].to_top / 2)
                       : NULL;
    for (uint32_t i = 0; i < part->class_count; i++) {
        const struct leaf_class *one = &part->classes[i];
        if (!one->leaves) {
            continue;
        }
        double chains = chains_of(part, one), up = one->to_top * part->tops;
        limit_shares(sky, shares[i], spine_share, chains);
        if (one->servers) {
            /* What a server sends up through all its leaves, for each top. */
            double by = one->of_server * up / one->hosts / part->tops;
            struct star_kind *servers = new_kind(sketch, top, one->servers, by * chains);
            servers->server = true;
            add_term(servers, shares[i] + A, by);
        }
        add_term(new_kind(sketch, top, one->leaves, one->to_top / 2), shares[i] + B, one->to_top);
        if (tops) {
            /* Half for each of the two tops at the ends of a path. */
            add_term(tops, shares[i] + D, one->leaves * one->to_top / (2.0 * (part->tops - 1)));
        }
        draw_leaf_star(sketch, part, one, shares[i]);
    }
}

/* How far from the middle the racks lie that all servers need, and half as far again. */
static double reach_of(const struct sky *sky, double servers)
{
    double places = 0;
    for (uint32_t i = 0; i < sky->ring_count; i++) {
        places += sky->rings[i].racks * sky->rack.servers;
        if (places >= servers) {
            return 1.5 * sky->rings[i].mm + sky->pitch_mm;
        }
    }
    return 1.5 * sky->rings[sky->ring_count - 1].mm + sky->pitch_mm;
}

/* 0 where the room is no single hall. */
static double part_mm(struct part *part)
{
    struct sky *sky = MYR_ARENA_ONE(part->b->plan->arena, struct sky);
    sky->b = part->b;
    if (!star_room(sky, &part->need)) {
        return 0;
    }
    struct sketch sketch = {.sky = sky, .reach_mm = reach_of(sky, part->b->plan->spec->servers)};
    draw_stars(&sketch, part);
    star_search(sky, sketch.x);
    return star_least_mm(sky, sketch.x);
}

static bool same_class(const struct leaf_class *one, const struct leaf_class *other)
{
    return one->leaves == other->leaves && one->servers == other->servers &&
           one->servers_each == other->servers_each && one->cables_each == other->cables_each &&
           one->to_top == other->to_top && one->hosts == other->hosts &&
           one->of_server == other->of_server && one->joined == other->joined &&
           one->key_servers == other->key_servers && one->key_hosts == other->key_hosts &&
           one->key_top == other->key_top;
}

/* Whether two parts have the same stars: planes and rails mostly do. */
static bool same_part(const struct part *one, const struct part *other)
{
    bool same = one->tops == other->tops && one->spines == other->spines &&
                one->spine_top == other->spine_top && one->spine_used == other->spine_used &&
                one->class_count == other->class_count &&
                memcmp(&one->need, &other->need, sizeof(one->need)) == 0;
    for (uint32_t i = 0; same && i < CLASSES; i++) {
        same = same_class(&one->classes[i], &other->classes[i]);
    }
    return same;
}

/* Parts share no cables, so their bounds add up. */
double bound_stars_mm(struct bound *b)
{
    struct myr_arena *arena = b->plan->arena;
    uint32_t devices = b->design->device_count, servers = b->plan->spec->servers;
    const struct myr_network *net = b->net;
    if (net->leaf == 0 || net->spine == 0) {
        return 0;
    }
    struct part part = {.b = b};
    part.root = MYR_ARENA_NEW(arena, uint32_t, devices);
    part.server_class = MYR_ARENA_NEW(arena, uint32_t, servers);
    part.to = MYR_ARENA_NEW(arena, double, devices);
    part.arriving = MYR_ARENA_NEW(arena, double, devices);
    part.of_server = MYR_ARENA_NEW(arena, double, servers);
    part.reached = MYR_ARENA_NEW(arena, uint32_t, (size_t)net->spine + net->core);
    /* The highest tier that there is. */
    part.top_first = three_tiers(b) ? net->first_core : net->first_spine;
    part.top_end = part.top_first + (three_tiers(b) ? net->core : net->spine);
    join_parts(&part);
    for (uint32_t i = 0; i < net->leaf; i++) {
        send_up(b, net->first_leaf + i, 1, part.arriving);
    }
    /* By root. */
    bool *seen = MYR_ARENA_NEW(arena, bool, devices);
    struct part last = {};
    double sum = 0, last_mm = 0;
    for (uint32_t i = part.top_first; i < part.top_end; i++) {
        part.id = root_of(&part, i);
        if (seen[part.id]) {
            continue; /* each part once, at its first top */
        }
        seen[part.id] = true;
        if (!look_at_part(&part)) {
            continue;
        }
        last_mm = same_part(&part, &last) ? last_mm : part_mm(&part);
        last = part;
        sum += last_mm;
    }
    return sum;
}
