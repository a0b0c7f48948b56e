#include "export/writers.h"
#include "myriad/site/addresses.h"
#include "myriad/text.h"

/*
 * The fabric as a laboratory of containers, and as a list of machines for Ansible. Containers run
 * FRR with the files of `export frr`, so interfaces have the same names there and here.
 */

/* What FRR's containers are; a site that has its own changes one line. */
#define IMAGE "quay.io/frrouting/frr:10.2.1"

static const char daemons[] = "# FRR in a container of this laboratory: the daemons to start.\n"
                              "zebra=yes\nbgpd=yes\nvtysh_enable=yes\n"
                              "zebra_options=\"-A 127.0.0.1\"\nbgpd_options=\"-A 127.0.0.1\"\n";

/* The order of groups in the inventory. */
static const struct {
    const char *group;
    enum myr_device_kind kind;
} kinds[] = {{"nodes", MYR_DEVICE_NODE},
             {"leaf", MYR_DEVICE_LEAF},
             {"spine", MYR_DEVICE_SPINE},
             {"core", MYR_DEVICE_CORE},
             {"router", MYR_DEVICE_ROUTER},
             {"access", MYR_DEVICE_ACCESS},
             {"aggregation", MYR_DEVICE_AGGREGATION},
             {"storage", MYR_DEVICE_STORAGE},
             {"management", MYR_DEVICE_MANAGEMENT},
             {"fabric_manager", MYR_DEVICE_FABRIC_MANAGER}};

/* With a cable: spare devices have no place in the laboratory. */
static bool is_on_net(const struct myr_export *job, uint32_t device)
{
    const struct myr_design *design = job->design;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        if (design->port_link[p] != MYR_NONE && myr_design_port_group(design, p)->net == job->net) {
            return true;
        }
    }
    return false;
}

static void put_end(const struct myr_design *design, uint32_t port, struct myr_buf *text)
{
    myr_buf_putc(text, '"'); /* made of letters, digits and dashes alone */
    myr_site_name(design, design->port_device[port], text);
    myr_buf_putc(text, ':');
    myr_site_interface(design, port, text);
    myr_buf_putc(text, '"');
}

/*
 * The name of the laboratory is part of its containers' names, for which Docker takes letters,
 * digits and "_.-" alone, a letter or digit first. What is between others becomes one dash.
 */
static void put_lab_name(struct myr_str name, struct myr_buf *text)
{
    size_t begin = text->len;
    bool gap = false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (text->len == begin || (c != '_' && c != '.' && c != '-'))) {
            gap = true;
            continue;
        }
        if (gap && text->len > begin) {
            myr_buf_putc(text, '-');
        }
        gap = false;
        myr_buf_putc(text, c);
    }
    if (text->len == begin) {
        myr_buf_put_lit(text, "cluster");
    }
}

/* Nodes bind the files of `export frr`, which lie in folders of their names. */
static void put_topology(const struct myr_export *job, struct myr_buf *text)
{
    const struct myr_design *design = job->design;
    myr_buf_put_lit(text, "# containerlab deploy --topo topology.clab.yml, in the folder of\n"
                          "# `myriad export frr`\nname: ");
    /* Quoted: a name may be a number. */
    myr_buf_putc(text, '"');
    put_lab_name(myr_str_from(myr_design_str(design, design->head->name)), text);
    myr_buf_put_lit(text, "\"\ntopology:\n  defaults:\n    kind: linux\n    image: " IMAGE
                          "\n  nodes:\n");
    for (uint32_t d = 0; d < design->device_count; d++) {
        /* A node for each, with its own file and the list of daemons. */
        if (is_on_net(job, d)) {
            myr_buf_put_lit(text, "    ");
            myr_site_name(design, d, text);
            myr_buf_put_lit(text, ":\n      binds:\n        - ");
            myr_site_name(design, d, text);
            myr_buf_put_lit(text, "/frr.conf:/etc/frr/frr.conf\n"
                                  "        - daemons:/etc/frr/daemons\n");
        }
    }
    myr_buf_put_lit(text, "  links:\n");
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t type = design->cable_type[design->link_cable[link]];
        if (design->cabletypes[type].net == job->net) {
            myr_buf_put_lit(text, "    - endpoints: [");
            put_end(design, design->link_a[link], text);
            myr_buf_put_lit(text, ", ");
            put_end(design, design->link_b[link], text);
            myr_buf_put_lit(text, "]\n");
        }
    }
}

int export_containerlab(const struct myr_export *job, const struct myr_export_sink *sink,
                        struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (export_technology(job, job->net) == MYR_TECH_INFINIBAND) {
        int rc =
            myr_err_set(err, MYR_EINVAL, "the %s network is InfiniBand, containers have Ethernet",
                        myr_net_names[job->net]);
        myr_err_hint(err, "myriad export ibsim");
        return rc;
    }
    put_topology(job, &text);
    MYR_TRY(export_put(sink, "topology.clab.yml", &text, err));
    myr_buf_puts(&text, daemons);
    return export_put(sink, "daemons", &text, err);
}

struct inventory {
    const struct myr_export *job;
    struct myr_addresses addresses;
    bool routed; /* 'addresses' is the plan of `export frr` */
    struct myr_buf text;
};

static void inventory_done(struct inventory *inventory)
{
    myr_buf_done(&inventory->text);
}

/* What a binding knows stands first: Ansible goes by it. */
static void put_machine(struct inventory *inventory, uint32_t device)
{
    const struct myr_export *job = inventory->job;
    const struct myr_bound *bound =
        job->binding ? myr_binding_get(job->binding, device, MYR_NONE) : NULL;
    struct myr_buf *text = &inventory->text;
    myr_buf_put_lit(text, "        ");
    myr_site_name(job->design, device, text);
    myr_buf_put_lit(text, ": {part: ");
    const struct myr_devtype *type = &job->design->devtypes[job->design->device_type[device]];
    myr_json_quote(text, myr_str_from(myr_design_str(job->design, type->part)));
    /* The address, where both are known. */
    if (bound && (bound->address.len || bound->host.len)) {
        myr_buf_put_lit(text, ", ansible_host: ");
        myr_json_quote(text, bound->address.len ? bound->address : bound->host);
    }
    if (inventory->routed) {
        myr_buf_put_lit(text, ", asn: ");
        myr_buf_put_u64(text, myr_address_asn(&inventory->addresses, device));
        myr_buf_put_lit(text, ", loopback: \"");
        myr_address_put(text, myr_address_of_device(&inventory->addresses, device));
        myr_buf_putc(text, '"');
    }
    myr_buf_put_lit(text, "}\n");
}

/* Groups without machines are left out. */
int export_ansible(const struct myr_export *job, const struct myr_export_sink *sink,
                   struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(inventory_done) struct inventory inventory = {.job = job};
    myr_arena_init(&arena);
    /* A network without an address plan is listed all the same, without addresses. */
    inventory.routed =
        export_technology(job, job->net) != MYR_TECH_INFINIBAND &&
        myr_addresses_init(&inventory.addresses, &arena, job->design, job->net, NULL) == MYR_OK;
    myr_buf_put_lit(&inventory.text, "all:\n  children:\n");
    for (uint32_t k = 0; k < MYR_ARRAY_COUNT(kinds); k++) {
        uint32_t count = 0;
        for (uint32_t d = 0; d < job->design->device_count; d++) {
            if (job->design->place[d].kind != kinds[k].kind || !is_on_net(job, d)) {
                continue;
            }
            /* The group's head comes with its first machine. */
            if (count++ == 0) {
                myr_buf_printf(&inventory.text, "    %s:\n      hosts:\n", kinds[k].group);
            }
            put_machine(&inventory, d);
        }
    }
    return export_put(sink, "inventory.yaml", &inventory.text, err);
}
