#include <math.h>

#include "storage/storage.h"

/*
 * How much of the time all data is there, and what of it hangs on one port or one switch.
 *
 * Data lies in placement groups: each has its copies, or a code's pieces, on as many servers, which
 * are drawn among all. Some data is away as soon as one group has lost more servers than it can
 * spare, so the share falls with the number of servers: of two copies on 18 servers any two that
 * fail together hold some group between them. What one group alone has is told beside it.
 */

enum { SPARE_MAX = 255 }; /* pieces of parity that a code may have */

/* Servers, and what lies on them. */
struct spread {
    uint32_t servers, width, spare; /* of a group: on so many servers, of which it may lose some */
    double groups, down;            /* how many; chance that a server is down */
};

/* The chance that at least one of 'times' things happens that each have that chance: by doubling,
 * so that small chances keep their digits and no function of the system has a say. */
static double any_of(double chance, double times)
{
    double ret = 0;
    for (uint64_t left = (uint64_t)times; left; left >>= 1) {
        ret = left & 1 ? ret + chance - ret * chance : ret;
        chance = 2 * chance - chance * chance;
    }
    return ret;
}

/* The chance that more than 'spare' of a group's servers are among the 'gone' of all. */
static double group_lost(const struct spread *s, uint64_t gone)
{
    double chance[SPARE_MAX + 1] = {1},
                              lost = 0; /* by how many are among them so far: no more are spared */
    for (uint32_t i = 0; i < s->width; i++) {
        /* Drawn one after the other, and none twice. */
        double left = s->servers - i;
        lost += chance[s->spare] * fmax((double)gone - s->spare, 0) / left;
        for (uint32_t j = s->spare + 1; j-- > 0;) {
            double hit = fmin(fmax((double)gone - j, 0) / left, 1);
            double came = j ? chance[j - 1] * fmin(fmax((double)gone - (j - 1), 0) / left, 1) : 0;
            chance[j] = chance[j] * (1 - hit) + came;
        }
    }
    return fmin(lost, 1);
}

/* The chance that some group has lost too many, over all numbers of servers that may be down. Their
 * weights are those of the binomial over the most likely one, so that none is too small to see. */
static double some_lost(const struct spread *s)
{
    double odds = s->down / (1 - s->down), all = 0, away = 0;
    uint64_t likely = (uint64_t)((s->servers + 1.0) * s->down);
    likely = likely > s->servers ? s->servers : likely;
    double weight = 1;
    for (uint64_t k = likely; weight > 1e-20; k++) {
        all += weight;
        away += k > s->spare ? weight * any_of(group_lost(s, k), s->groups) : 0;
        if (k == s->servers) {
            break;
        }
        weight *= (double)(s->servers - k) / (double)(k + 1) * odds;
    }
    weight = 1;
    for (uint64_t k = likely; k > 0 && weight > 1e-20; k--) {
        weight *= (double)k / (double)(s->servers - k + 1) / odds;
        all += weight;
        away += k - 1 > s->spare ? weight * any_of(group_lost(s, k - 1), s->groups) : 0;
    }
    return away / all;
}

/* A hundred groups for each disk is what such systems are told to keep (assumed). */
static struct spread spread_of(const struct plan *plan, const struct storage_needs *needs,
                               double down)
{
    enum { GROUPS_A_DISK = 100 };
    const struct myr_spec_storage *spec = &plan->spec->storage;
    const struct myr_part_storage *server = &part_at(plan, plan->storage_part)->storage;
    uint32_t width = (uint32_t)needs->stored;
    uint64_t pieces = (uint64_t)GROUPS_A_DISK * server->disks * plan->storage_servers;
    return (struct spread){
        .servers = plan->storage_servers > width ? plan->storage_servers : width,
        .width = width,
        .spare = (uint32_t)(needs->stored - needs->data),
        .groups = spec->placement_groups ? spec->placement_groups : (double)ceil_div(pieces, width),
        .down = down,
    };
}

/* By default a server fails once in three years and is repaired in a day (assumed). */
void storage_availability(struct plan *plan, const struct storage_needs *needs)
{
    const struct myr_spec_storage *spec = &plan->spec->storage;
    double mtbf = spec->mtbf_hours > 0 ? spec->mtbf_hours : 26280;
    double repair = spec->repair_hours > 0 ? spec->repair_hours : 24;
    bool given = spec->mtbf_hours > 0 && spec->repair_hours > 0;
    struct spread all = spread_of(plan, needs, repair / (mtbf + repair)), one = all;
    one.servers = one.width;
    double share = 1 - some_lost(&all);
    plan_figure(plan, FIG_ST_DOWN, all.down, given ? MYR_BASIS_GIVEN : MYR_BASIS_ASSUMED,
                "%g h / (%g + %g h)", repair, mtbf, repair);
    plan_figure(plan, FIG_ST_GROUPS, all.groups,
                spec->placement_groups ? MYR_BASIS_GIVEN : MYR_BASIS_ASSUMED,
                "each on %s of %u, drawn among all", MYR_COUNT(all.width, "server"), all.servers);
    plan_figure(plan, FIG_ST_STRIPE, 1 - some_lost(&one), MYR_BASIS_COMPUTED,
                "a stripe lies on %s and may lose %u", MYR_COUNT(all.width, "server"), all.spare);
    plan_figure(plan, FIG_ST_NINES, share, MYR_BASIS_COMPUTED,
                "%s, each group on %u of them, of which it may lose %u",
                MYR_COUNT(all.servers, "server"), all.width, all.spare);
    plan_figure(plan, FIG_ST_AWAY, (1 - share) * 8760, MYR_BASIS_COMPUTED, "(1 - %.9f) * 8,760 h",
                share);
    /* Copies on fewer servers than there are copies would share a fate. */
    if (plan->storage_servers < needs->stored) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "storage-stripe", "storage",
                     "more storage servers, or a narrower code",
                     "a stripe needs %s to lie on, there %s %u", MYR_COUNT(needs->stored, "server"),
                     plan->storage_servers == 1 ? "is" : "are", plan->storage_servers);
    }
    /* The figure is shown in any case, a wish only where there is one. */
    if (spec->availability_percent <= 0) {
        return;
    }
    plan_figure(plan, FIG_ST_WISH, spec->availability_percent / 100, MYR_BASIS_GIVEN,
                "availability_percent");
    /* Billionths are compared: more digits than anybody states. */
    if (llround(share * 1e9) < llround(spec->availability_percent * 1e7)) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "storage-availability", "storage",
                     "another copy, more parity, or a shorter repair",
                     "all data is there %.7f %% of the time, some of it is away %.3g h a year; "
                     "%.7g %% are asked for",
                     share * 100, (1 - share) * 8760, spec->availability_percent);
    }
}

/* ---- ports and switches ---- */

/* What data goes over: the storage network, or else that of the servers' own traffic. */
static const struct net_plan *data_net(const struct plan *plan)
{
    const struct net_plan *storage = &plan->nets[MYR_NET_STORAGE],
                          *service = &plan->nets[MYR_NET_SERVICE], *oob = &plan->nets[MYR_NET_OOB];
    return storage->present ? storage : service->present ? service : oob->present ? oob : NULL;
}

/* What the ports of one storage server carry on that network, in MB/s. */
static uint64_t ports_mbytes(const struct net_plan *net)
{
    for (uint32_t i = 0; net && i < net->host_class_count; i++) {
        if (net->hosts[i].kind == MYR_DEVICE_STORAGE) {
            return (uint64_t)net->hosts[i].nic_ports * net->out.planes * net->out.host_gbps * 125;
        }
    }
    return 0;
}

/* The sizing takes a server's own card. Where there is no network for it, data comes by what the
 * server has besides, which is far less: the rates of its card are then those of nothing built. */
struct storage_server storage_built(struct plan *plan, const struct storage_needs *needs)
{
    const struct net_plan *net = data_net(plan);
    struct storage_server one = needs->one;
    uint64_t carried = ports_mbytes(net);
    one.port_mbytes = net ? storage_least(one.port_mbytes, carried) : one.port_mbytes;
    uint64_t count = plan->storage_servers;
    uint64_t reads = count * storage_reads(&one);
    uint64_t writes = count * storage_writes(&one) * needs->data / needs->stored;
    if (one.port_mbytes < needs->one.port_mbytes &&
        (needs->read_mbytes > reads || needs->write_mbytes > writes)) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "storage-nics", myr_net_names[net->id],
                     "networks: {storage: }, which takes the cards that the servers are sized for",
                     "its ports %s %llu MB/s, %llu are asked for",
                     needs->read_mbytes > reads ? "read" : "write",
                     (unsigned long long)(needs->read_mbytes > reads ? reads : writes),
                     (unsigned long long)(needs->read_mbytes > reads ? needs->read_mbytes
                                                                     : needs->write_mbytes));
    }
    return one;
}

/* The switches that one storage server hangs on: the first two that differ. */
static uint32_t homes_of(const struct plan *plan, uint32_t device, enum myr_net_id id,
                         uint32_t ret[2])
{
    const struct myr_design *design = &plan->design;
    uint32_t count = 0;
    for (uint32_t port = design->first_port[device];
         port < design->first_port[device + 1] && count < 2; port++) {
        uint32_t link = design->port_link[port];
        uint32_t other = link == MYR_NONE               ? MYR_NONE
                         : design->link_a[link] == port ? design->port_device[design->link_b[link]]
                                                        : design->port_device[design->link_a[link]];
        if (other != MYR_NONE && design->place[other].net == id &&
            (count == 0 || ret[0] != other)) {
            ret[count++] = other;
        }
    }
    return count;
}

/* What one cable or one switch takes away from all who read: named, as copies do not help there. */
void storage_homes(struct plan *plan)
{
    const struct net_plan *net = data_net(plan);
    uint32_t single = 0, first = MYR_NONE, homes[2];
    bool several = false;
    for (uint32_t i = 0; net && i < plan->storage_servers; i++) {
        uint32_t count = homes_of(plan, plan->design.head->first_storage + i, net->id, homes);
        single += count == 1;
        for (uint32_t k = 0; k < count; k++) {
            first = first == MYR_NONE ? homes[k] : first;
            several = several || homes[k] != first;
        }
    }
    if (first == MYR_NONE) {
        return;
    }
    const char *remedy =
        net->out.topology == MYR_TOPOLOGY_ACCESS
            ? "two ports of each storage server, and 'homes: 2'"
            : "networks: {storage: {topology: rail, rails: 2}}: a leaf for each of "
              "a server's two ports";
    if (!several) {
        plan_finding(plan, MYR_SEVERITY_WARNING, "storage-one-switch", myr_net_names[net->id],
                     remedy, "all %s hang on one switch",
                     MYR_COUNT(plan->storage_servers, "storage server"));
    } else if (single) {
        plan_finding(plan, MYR_SEVERITY_WARNING, "storage-single-homed", myr_net_names[net->id],
                     remedy, "%u of %s hang on one switch alone", single,
                     MYR_COUNT(plan->storage_servers, "storage server"));
    }
}
