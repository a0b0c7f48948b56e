#include "grow/grow_internal.h"

/*
 * The cables between switches: those of the planned design, each with the installed cable that is
 * to be it. A cable that joins the same two boxes stays; one that cannot stay takes another place
 * of its layer, at one of its two ends where that is possible.
 */

/* The planned cables of a layer, and what is known of each. */
struct layer {
    struct grow *grow;
    enum myr_net_id net;
    uint32_t count, link_count;
    uint32_t *cable;         /* of the planned design */
    struct grow_link *links; /* in their order */
    uint32_t *first;         /* count + 1: links of each */
    uint32_t *from;          /* installed cable */
    bool *kept;              /* with both its ports */
};

/*
 * Counted in the first pass, filled in the second. Ports stay open: they are those of what lies
 * there, or dealt out later.
 */
static void gather(struct layer *layer, enum myr_layer which, struct myr_arena *scratch)
{
    const struct myr_design *plan = layer->grow->plan;
    for (uint32_t pass = 0; pass < 2; pass++) {
        layer->count = layer->link_count = 0;
        for (uint32_t c = 0; c < plan->cable_count; c++) {
            const struct myr_cabletype *type = grow_type(plan, c);
            if (type->net != layer->net || type->layer != which) {
                continue;
            }
            if (pass) {
                layer->cable[layer->count] = c;
                layer->from[layer->count] = MYR_NONE;
                layer->first[layer->count] = layer->link_count;
            }
            layer->count++;
            for (uint32_t l = plan->first_link[c]; l < plan->first_link[c + 1]; l++) {
                if (pass) {
                    layer->links[layer->link_count] = (struct grow_link){
                        plan->port_device[plan->link_a[l]], plan->port_device[plan->link_b[l]],
                        MYR_NONE, MYR_NONE, MYR_NONE};
                }
                layer->link_count++;
            }
        }
        if (pass == 0) {
            layer->cable = MYR_ARENA_NEW(scratch, uint32_t, layer->count);
            layer->from = MYR_ARENA_NEW(scratch, uint32_t, layer->count);
            layer->kept = MYR_ARENA_NEW(scratch, bool, layer->count);
            layer->first = MYR_ARENA_NEW(scratch, uint32_t, layer->count + 1);
            layer->links = MYR_ARENA_NEW(scratch, struct grow_link, layer->link_count);
        }
    }
    layer->first[layer->count] = layer->link_count;
}

/* Order within a cable and direction of a link do not matter for which boxes it joins. */
static uint64_t pair_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* Cables that join the same boxes by as many links have the same key. */
static uint64_t planned_key(const struct layer *layer, uint32_t i)
{
    uint64_t sum = 0;
    for (uint32_t l = layer->first[i]; l < layer->first[i + 1]; l++) {
        sum += myr_hash_u64(pair_key(layer->links[l].a, layer->links[l].b));
    }
    return sum;
}

/* The same of an installed cable, with its boxes in their new places. */
static uint64_t old_key(const struct layer *layer, uint32_t cable)
{
    const struct myr_design *old = layer->grow->old;
    uint64_t sum = 0;
    for (uint32_t l = old->first_link[cable]; l < old->first_link[cable + 1]; l++) {
        uint32_t a = layer->grow->to[old->port_device[old->link_a[l]]];
        uint32_t b = layer->grow->to[old->port_device[old->link_b[l]]];
        sum += myr_hash_u64(pair_key(a, b));
    }
    return sum;
}

/* Fills the links of planned cable i with the ports of the installed one; false when they are of
 * another role now. */
static bool keep(struct layer *layer, uint32_t i, uint32_t cable)
{
    struct grow *grow = layer->grow;
    const struct myr_design *old = grow->old;
    uint32_t first = old->first_link[cable], count = old->first_link[cable + 1] - first;
    if (count != layer->first[i + 1] - layer->first[i] ||
        !grow_same_cable(grow, cable, grow->plan->cable_type[layer->cable[i]])) {
        return false;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (grow_port(grow, old->link_a[first + k]) == MYR_NONE ||
            grow_port(grow, old->link_b[first + k]) == MYR_NONE) {
            return false;
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t a = grow_port(grow, old->link_a[first + k]);
        uint32_t b = grow_port(grow, old->link_b[first + k]);
        layer->links[layer->first[i] + k] = (struct grow_link){
            grow->plan->port_device[a], grow->plan->port_device[b], a, b, first + k};
    }
    layer->from[i] = cable;
    layer->kept[i] = true;
    return true;
}

static bool of_layer(const struct layer *layer, uint32_t cable, enum myr_layer which)
{
    const struct myr_cabletype *type = grow_type(layer->grow->old, cable);
    return type->net == layer->net && type->layer == which;
}

/*
 * Chains of planned cables by key: the first by a map, the next by an array. Each chain is taken
 * from its head.
 */
struct chains {
    struct myr_u64map heads;
    uint32_t *next;
};

/* To the head of its chain. */
static void chain(struct chains *chains, uint64_t key, uint32_t i)
{
    uint32_t *head = myr_u64map_find(&chains->heads, key);
    chains->next[i] = MYR_NONE;
    if (!head) {
        (void)myr_u64map_add(&chains->heads, key, i);
    } else {
        chains->next[i] = *head;
        *head = i;
    }
}

/* Which of several alike stays does not matter: each place takes the next. */
static void keep_all(struct layer *layer, enum myr_layer which, struct myr_arena *scratch)
{
    const struct myr_design *old = layer->grow->old;
    struct chains chains = {.next = MYR_ARENA_NEW(scratch, uint32_t, layer->count)};
    /* From the last to the first, as each goes to the head: chains are in the order of cables. */
    for (uint32_t i = layer->count; i-- > 0;) {
        chain(&chains, planned_key(layer, i), i);
    }
    for (uint32_t cable = 0; cable < old->cable_count; cable++) {
        uint32_t *head = of_layer(layer, cable, which)
                             ? myr_u64map_find(&chains.heads, old_key(layer, cable))
                             : NULL;
        /* A cable that cannot stay leaves the place to the next one; it is moved later. */
        if (head && *head != MYR_NONE && keep(layer, *head, cable)) {
            layer->grow->old_placed[cable] = true;
            *head = chains.next[*head];
        }
    }
    myr_u64map_done(&chains.heads);
}

/* An installed cable becomes planned cable i; the port at 'device' stays, where it may. */
static void move(struct layer *layer, uint32_t i, uint32_t cable, uint32_t device)
{
    struct grow *grow = layer->grow;
    const struct myr_design *old = grow->old;
    layer->from[i] = cable;
    grow->old_placed[cable] = true;
    uint32_t first = old->first_link[cable], count = old->first_link[cable + 1] - first;
    for (uint32_t k = 0; k < count && layer->first[i] + k < layer->first[i + 1]; k++) {
        struct grow_link *link = &layer->links[layer->first[i] + k];
        link->from = first + k;
        if (count > 1) {
            continue; /* all legs of a splitter are plugged anew */
        }
        const uint32_t ends[] = {old->link_a[first + k], old->link_b[first + k]};
        for (uint32_t e = 0; e < 2; e++) {
            uint32_t port = grow_port(grow, ends[e]);
            if (grow->to[old->port_device[ends[e]]] != device || port == MYR_NONE) {
                continue;
            }
            if (link->a == device) {
                link->port_a = port;
            } else {
                link->port_b = port;
            }
            break;
        }
    }
}

/*
 * Those that cannot stay: at one end if there is a place for it, else anywhere. First by the lower
 * end, then by the upper, then any place of the layer.
 */
static void move_all(struct layer *layer, enum myr_layer which, struct myr_arena *scratch)
{
    struct grow *grow = layer->grow;
    const struct myr_design *old = grow->old;
    for (uint32_t pass = 0; pass < 3; pass++) {
        struct chains chains = {.next = MYR_ARENA_NEW(scratch, uint32_t, layer->count)};
        for (uint32_t i = layer->count; i-- > 0;) {
            const struct grow_link *link = &layer->links[layer->first[i]];
            if (layer->from[i] == MYR_NONE) {
                chain(&chains, pass == 0 ? link->a : pass == 1 ? link->b : 0, i);
            }
        }
        for (uint32_t cable = 0; cable < old->cable_count; cable++) {
            if (grow->old_placed[cable] || !of_layer(layer, cable, which)) {
                continue;
            }
            uint32_t l = old->first_link[cable];
            uint32_t end = pass == 0 ? old->link_a[l] : old->link_b[l];
            uint32_t device = pass < 2 ? grow->to[old->port_device[end]] : 0;
            uint32_t *head = myr_u64map_find(&chains.heads, device);
            if (head && *head != MYR_NONE &&
                grow_same_cable(grow, cable, grow->plan->cable_type[layer->cable[*head]])) {
                move(layer, *head, cable, pass < 2 ? device : MYR_NONE);
                *head = chains.next[*head];
            }
        }
        myr_u64map_done(&chains.heads);
    }
}

/*
 * Planned pairs may first be chosen anew, then installed cables stay, then they move. A layer in
 * which nothing is installed passes through the same steps: all its cables are new.
 */
static void lay_layer(struct grow *grow, enum myr_net_id net, enum myr_layer which)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    struct layer layer = {.grow = grow, .net = net};
    gather(&layer, which, &scratch);
    /* Where cables have several links, or were measured in a room, the pairs stay as planned. */
    bool single = layer.count == layer.link_count && !grow_in_room(grow);
    const struct myr_network *out = &grow->plan->networks[net];
    /* Windows of an access network are dealt out as a dense fill is; below cores it has blocks,
     * which are regular. */
    bool dense = out->access ? out->tiers < 3 : out->fill == MYR_FILL_DENSE;
    if (single && dense && (which == MYR_LAYER_FABRIC || which == MYR_LAYER_CORE)) {
        grow_spread(grow, layer.links, layer.link_count);
    } else if (single && which == MYR_LAYER_GLOBAL) {
        grow_global(grow, net, layer.links, layer.link_count);
    }
    keep_all(&layer, which, &scratch);
    move_all(&layer, which, &scratch);
    for (uint32_t i = 0; i < layer.count; i++) {
        struct grow_cable *cable =
            grow_push(grow, grow->plan->cable_type[layer.cable[i]], MYR_NONE);
        cable->from = layer.from[i];
        cable->planned = layer.cable[i];
        cable->kept = layer.kept[i];
        for (uint32_t l = layer.first[i]; l < layer.first[i + 1]; l++) {
            grow_push_link(grow, layer.links[l]);
        }
    }
}

void grow_lay_switches(struct grow *grow, enum myr_net_id net)
{
    for (uint32_t which = MYR_LAYER_HOST + 1; which < MYR_LAYER_COUNT; which++) {
        lay_layer(grow, net, (enum myr_layer)which);
    }
}
