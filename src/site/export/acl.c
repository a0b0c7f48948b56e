#include "export/acl.h"

#include <stdlib.h>

/*
 * Bounds of the file and of names, the priority of a table's first rule, and the prefix of one
 * address.
 */
enum { NAME_BYTES = 80, PRIORITY_FIRST = 9999, NOBODY_BITS = 32 };

void acl_done(struct acl *acl)
{
    myr_site_tenants_done(&acl->tenants);
    myr_buf_done(&acl->list);
}

static int compare_addresses(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* The fewest prefixes that hold these addresses and no other; 'sorted' without doubles. */
static uint32_t to_prefixes(const uint32_t *sorted, uint32_t count, struct acl_prefix *ret)
{
    uint32_t made = 0;
    for (uint32_t i = 0; i < count;) {
        /* One address, then twice as many as long as all of them are there. */
        uint32_t size = 1, bits = 32;
        /* As large as its first address is round, and as far as the addresses go on. */
        while (bits > 0 && sorted[i] % (2 * size) == 0 && i + 2 * size <= count &&
               sorted[i + 2 * size - 1] == sorted[i] + 2 * size - 1) {
            size *= 2;
            bits--;
        }
        ret[made++] = (struct acl_prefix){sorted[i], bits};
        i += size;
    }
    return made;
}

/* Both ends of every link of a tenant's nodes, and their loopbacks. */
static void gather(struct acl *acl, struct myr_arena *arena, uint32_t *lists, const uint32_t *start)
{
    const struct myr_design *design = acl->job->design;
    /* Filled so far, by tenant. */
    uint32_t *at = MYR_ARENA_NEW(arena, uint32_t, acl->tenants.names.count + 1);
    for (uint32_t d = 0; d < design->device_count; d++) {
        uint32_t tenant = acl->tenants.of_node[d];
        if (tenant == MYR_NONE) {
            continue;
        }
        /* Lists of tenants are parts of one array. */
        uint32_t *list = lists + start[tenant];
        list[at[tenant]++] = myr_address_of_device(acl->addresses, d);
        for (uint32_t p = design->first_port[d]; p < design->first_port[d + 1]; p++) {
            if (design->port_link[p] != MYR_NONE &&
                myr_design_port_group(design, p)->net == acl->job->net) {
                uint32_t own = myr_address_of_port(acl->addresses, p);
                /*
                 * A link's two addresses differ in the last bit alone: the leaf's end is the
                 * tenant's too.
                 */
                list[at[tenant]++] = own & ~UINT32_C(1);
                list[at[tenant]++] = own | 1;
            }
        }
    }
    for (uint32_t t = 0; t < acl->tenants.names.count; t++) {
        struct acl_tenant *item = &acl->items[t];
        qsort(lists + start[t], at[t], sizeof(*lists), compare_addresses);
        item->prefixes = MYR_ARENA_NEW(arena, struct acl_prefix, at[t]);
        item->count = to_prefixes(lists + start[t], at[t], item->prefixes);
    }
}

int acl_init(struct acl *acl, struct myr_arena *arena, const struct myr_export *job,
             const struct myr_addresses *addresses, struct myr_err *err)
{
    const struct myr_design *design = job->design;
    *acl = (struct acl){.job = job, .addresses = addresses, .used = job->tenants && !job->vrf};
    if (!acl->used) {
        return MYR_OK;
    }
    MYR_TRY(myr_site_tenants_file(job->tenants, &acl->list, err));
    struct myr_str list = {acl->list.len ? acl->list.data : "", acl->list.len};
    MYR_TRY(myr_site_tenants_read(&acl->tenants, arena, design, job->tenants, list, err));
    uint32_t count = (uint32_t)acl->tenants.names.count;
    /*
     * As many addresses as there can be: a loopback and two for each port. Ports of other networks
     * leave room unused.
     */
    uint32_t *start = MYR_ARENA_NEW(arena, uint32_t, (size_t)count + 2);
    for (uint32_t d = 0; d < design->device_count; d++) {
        if (acl->tenants.of_node[d] != MYR_NONE) {
            uint32_t ports = design->first_port[d + 1] - design->first_port[d];
            start[acl->tenants.of_node[d] + 1] += 1 + 2 * ports;
        }
    }
    for (uint32_t t = 0; t < count; t++) {
        start[t + 1] += start[t];
    }
    /* The prefixes are the same on every leaf: made once. */
    acl->items = MYR_ARENA_NEW(arena, struct acl_tenant, count);
    gather(acl, arena, MYR_ARENA_NEW(arena, uint32_t, start[count]), start);
    return MYR_OK;
}

static uint32_t tenant_at(const struct acl *acl, uint32_t port)
{
    return myr_site_tenant_at(&acl->tenants, acl->job->design, acl->job->net, port);
}

static void put_table_name(const struct acl *acl, uint32_t tenant, struct myr_buf *buf)
{
    buf->len = 0;
    if (tenant == acl->tenants.names.count) {
        myr_buf_put_lit(buf, "NO_TENANT"); /* those of tenants have a prefix of their own */
        return;
    }
    struct myr_str name = acl->tenants.names.items[tenant];
    myr_buf_put_lit(buf, "TENANT_");
    myr_buf_put(buf, name.data, name.len);
}

/* The ports of a tenant on a switch; how many. */
static uint32_t put_table(const struct acl *acl, struct myr_json *json, uint32_t device,
                          uint32_t tenant, export_port_name *name, const void *context)
{
    const struct myr_design *design = acl->job->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
    char text[NAME_BYTES];
    uint32_t count = 0;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        /* One past the last tenant stands for nobody. */
        if (tenant_at(acl, p) != tenant) {
            continue;
        }
        if (count++ == 0) {
            put_table_name(acl, tenant, &key);
            myr_json_object(json, key.data);
            myr_json_text(json, "policy_desc", "what hosts of one tenant may reach");
            myr_json_text(json, "type", "L3");
            myr_json_text(json, "stage", "ingress");
            myr_json_list(json, "ports");
        }
        myr_json_text(json, NULL, name(context, p, text));
    }
    if (count) {
        myr_json_end(json);
        myr_json_end(json);
    }
    return count;
}

/* Rules are tried from the highest priority down: each later one has a lower one. */
static void put_rule(const struct acl *acl, struct myr_json *json, uint32_t tenant, uint32_t number,
                     struct acl_prefix to, bool forward)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    put_table_name(acl, tenant, &text);
    myr_buf_printf(&text, "|RULE_%u", number + 1);
    myr_json_object(json, text.data);
    text.len = 0;
    myr_buf_put_u64(&text, PRIORITY_FIRST - number);
    myr_json_text(json, "PRIORITY", text.data);
    myr_json_text(json, "PACKET_ACTION", forward ? "FORWARD" : "DROP");
    /* Anything of IPv4, whatever it carries. */
    myr_json_text(json, "IP_TYPE", "IPV4ANY");
    text.len = 0;
    myr_address_put(&text, to.address);
    myr_buf_printf(&text, "/%u", to.bits);
    myr_json_text(json, "DST_IP", text.data);
    myr_json_end(json);
}

/* The whole space of the network: four quarters, of which the first is the hosts'. */
static struct acl_prefix all_of_it(const struct acl *acl)
{
    uint32_t quarter = acl->addresses->fabric_base - acl->addresses->host_base, bits = 30;
    while (quarter > 1) {
        quarter /= 2;
        bits--;
    }
    return (struct acl_prefix){acl->addresses->host_base, bits};
}

/* The box may hold more, but a filter that does not fit leaves tenants open to each other. */
static int check_room(const struct acl *acl, uint32_t device, uint32_t rules, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    if (rules <= ACL_RULES_MAX) {
        return MYR_OK;
    }
    myr_design_name(acl->job->design, device, &name);
    int rc = myr_err_set(err, MYR_EINFEASIBLE, "%s: its tenants need %u rules, %u is the most",
                         name.data, rules, (uint32_t)ACL_RULES_MAX);
    myr_err_hint(err, "tenants of whole rail groups have few rules, scattered nodes many");
    return rc;
}

/* Rules of one table; their number. */
static uint32_t put_rules(const struct acl *acl, struct myr_json *json, uint32_t device,
                          uint32_t tenant)
{
    const struct myr_design *design = acl->job->design;
    uint32_t count = 0;
    /* What a tenant may reach is the same on every leaf. */
    if (tenant < acl->tenants.names.count) {
        for (uint32_t i = 0; i < acl->items[tenant].count; i++) {
            put_rule(acl, json, tenant, count++, acl->items[tenant].prefixes[i], true);
        }
    }
    /* Hosts of nobody reach the leaf's own end of their link, so that BGP stays up. */
    for (uint32_t p = design->first_port[device];
         p < design->first_port[device + 1] && tenant == acl->tenants.names.count; p++) {
        if (tenant_at(acl, p) == tenant) {
            struct acl_prefix own = {myr_address_of_port(acl->addresses, p), NOBODY_BITS};
            put_rule(acl, json, tenant, count++, own, true);
        }
    }
    /* Last: what no rule before it let through. */
    put_rule(acl, json, tenant, count++, all_of_it(acl), false);
    return count;
}

/* Filters are where packets enter the fabric: on leaves, at the ports of hosts. */
int acl_put(const struct acl *acl, struct myr_json *json, uint32_t device, export_port_name *name,
            const void *context, struct myr_err *err)
{
    const struct myr_design *design = acl->job->design;
    /* One table more than tenants: nobody's. */
    uint32_t tables = (uint32_t)acl->tenants.names.count + 1, rules = 0;
    if (!acl->used || design->place[device].kind != MYR_DEVICE_LEAF) {
        return MYR_OK;
    }
    MYR_CLEANUP(myr_free_at) uint8_t *here = myr_xcalloc(tables, 1);
    myr_json_object(json, "ACL_TABLE");
    for (uint32_t t = 0; t < tables; t++) {
        here[t] = put_table(acl, json, device, t, name, context) > 0;
    }
    myr_json_end(json);
    myr_json_object(json, "ACL_RULE");
    for (uint32_t t = 0; t < tables; t++) {
        rules += here[t] ? put_rules(acl, json, device, t) : 0;
        MYR_TRY(check_room(acl, device, rules, err));
    }
    myr_json_end(json);
    return MYR_OK;
}
