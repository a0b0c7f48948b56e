/* The kinds of parts: their fields, and the questions that one part answers alone. */
#include "parts.h"

/* Words of files, in the order of their enums. */
const char *const myr_net_names[MYR_NET_COUNT] = {"compute", "storage", "service", "oob"};

static const char *const technology_names[] = {"infiniband", "ethernet", "any"};
static const char *const medium_names[] = {"copper", "multimode", "singlemode"};
static const char *const breakout_names[] = {"splitter", "module"};

/* Ranges keep out typing errors; they are no engineering limits. */
#define BIG 1e9

/* Keys of every part; switches.yaml says what they mean. */
static const struct field common_fields[] = {
    FIELD_ROW_TEXT("order", struct myr_part, order),
    FIELD_ROW_TEXT("title", struct myr_part, title),
    FIELD_ROW_TEXT("vendor", struct myr_part, vendor),
    FIELD_ROW_TEXT("source", struct myr_part, source),
    FIELD_ROW_DOUBLE("watts", struct myr_part, watts, 0, BIG),
    FIELD_ROW_DOUBLE("rack_units", struct myr_part, rack_units, 0, 100),
    FIELD_ROW_DOUBLE("weight_kg", struct myr_part, weight_kg, 0, 1e5),
    FIELD_ROW_BOOL("assumed", struct myr_part, assumed),
};

/* Every kind has aliases; cables and servers have one key more that is read apart. */
static const struct field extra_fields[] = {
    FIELD_ROW_NODE("aliases", struct part_extra, aliases),
};

static const struct field cable_extra_fields[] = {
    FIELD_ROW_NODE("aliases", struct part_extra, aliases),
    FIELD_ROW_NODE("lengths_m", struct part_extra, lengths),
};

static const struct field server_extra_fields[] = {
    FIELD_ROW_NODE("aliases", struct part_extra, aliases),
    FIELD_ROW_NODE("nics", struct part_extra, nics),
};

/* Keys of catalog/switches.yaml, whose head says what they mean; so do the other files' heads. */
static const struct field switch_fields[] = {
    FIELD_ROW_CHOICE("technology", struct myr_part, sw.technology, technology_names),
    FIELD_ROW_U32("cages", struct myr_part, sw.cages, 1, 1024),
    FIELD_ROW_TEXT("form", struct myr_part, sw.form),
    FIELD_ROW_U32("cage_gbps", struct myr_part, sw.cage_gbps, 1, 100000),
    FIELD_ROW_U32("port_gbps", struct myr_part, sw.port_gbps, 1, 100000),
    FIELD_ROW_SPEEDS("splits", struct myr_part, sw.splits),
    FIELD_ROW_CHOICE("breakout", struct myr_part, sw.breakout, breakout_names),
    /* Speed between switches; without it links there run at the hosts' speed. */
    FIELD_ROW_U32("uplink_gbps", struct myr_part, sw.uplink_gbps, 1, 100000),
    FIELD_ROW_U32("ports_max", struct myr_part, sw.ports_max, 1, 4096),
    /* By what is plugged in: 'watts' is with all cages full of single-mode modules. */
    FIELD_ROW_DOUBLE("watts_copper", struct myr_part, sw.watts_copper, 0, BIG),
    FIELD_ROW_DOUBLE("watts_multimode", struct myr_part, sw.watts_multimode, 0, BIG),
    FIELD_ROW_DOUBLE("buffer_mb", struct myr_part, sw.buffer_mb, 0, BIG),
    /*
     * What the cages take: finned or flat modules, further forms, electrical lanes. What a part
     * does not state is not judged.
     */
    FIELD_ROW_TEXT("top", struct myr_part, sw.top),
    FIELD_ROW_TEXT("takes", struct myr_part, sw.takes),
    FIELD_ROW_U32("lanes", struct myr_part, sw.lanes, 1, 64),
    FIELD_ROW_U32("lane_gbps", struct myr_part, sw.lane_gbps, 1, 1000),
    FIELD_ROW_SPEEDS("lane_also", struct myr_part, sw.lane_also),
    FIELD_ROW_U32("mgmt_ports", struct myr_part, sw.mgmt_ports, 0, 16),
    /* Chips that share every port, each a switch of its own to InfiniBand. */
    FIELD_ROW_U32("chips", struct myr_part, sw.chips, 1, 16),
    FIELD_ROW_U32("per_box", struct myr_part, sw.per_box, 1, 16),
};

/* catalog/nics.yaml. A card may have several cages, a cage several ports. */
static const struct field nic_fields[] = {
    FIELD_ROW_CHOICE("technology", struct myr_part, nic.technology, technology_names),
    FIELD_ROW_TEXT("form", struct myr_part, nic.form),
    FIELD_ROW_TEXT("top", struct myr_part, nic.top),
    FIELD_ROW_U32("cages", struct myr_part, nic.cages, 1, 16),
    FIELD_ROW_U32("cage_ports", struct myr_part, nic.cage_ports, 1, 8),
    FIELD_ROW_U32("port_gbps", struct myr_part, nic.port_gbps, 1, 100000),
    FIELD_ROW_SPEEDS("also", struct myr_part, nic.also),
    FIELD_ROW_TEXT("takes", struct myr_part, nic.takes),
    FIELD_ROW_U32("lanes", struct myr_part, nic.lanes, 1, 64),
    FIELD_ROW_U32("lane_gbps", struct myr_part, nic.lane_gbps, 1, 1000),
    FIELD_ROW_SPEEDS("lane_also", struct myr_part, nic.lane_also),
    /* Two where a twin cage of the server serves two cards, one port each. */
    FIELD_ROW_U32("cards", struct myr_part, nic.cards, 1, 16),
    FIELD_ROW_U32("card_gbps", struct myr_part, nic.card_gbps, 1, 100000),
};

/* catalog/gpus.yaml: peaks without sparsity, as the data sheets give them for dense products. */
static const struct field gpu_fields[] = {
    FIELD_ROW_DOUBLE("memory_gb", struct myr_part, gpu.memory_gb, 0, BIG),
    FIELD_ROW_DOUBLE("memory_gbytes_per_s", struct myr_part, gpu.memory_gbytes_per_s, 0, BIG),
    FIELD_ROW_DOUBLE("bf16_tflops", struct myr_part, gpu.bf16_tflops, 0, BIG),
    FIELD_ROW_DOUBLE("fp8_tflops", struct myr_part, gpu.fp8_tflops, 0, BIG),
    FIELD_ROW_DOUBLE("fp4_tflops", struct myr_part, gpu.fp4_tflops, 0, BIG),
};

/* catalog/servers.yaml. A server may be several nodes; what is counted here is of one node. */
static const struct field server_fields[] = {
    FIELD_ROW_TEXT("gpu", struct myr_part, server.gpu),
    FIELD_ROW_U32("nodes", struct myr_part, server.nodes, 1, 4096),
    FIELD_ROW_U32("gpus_per_node", struct myr_part, server.gpus_per_node, 1, 64),
    FIELD_ROW_U32("rails", struct myr_part, server.rails, 1, 64),
    FIELD_ROW_U32("numa", struct myr_part, server.numa, 1, 16),
    /* 0: GPUs and NICs hang on the processor directly. */
    FIELD_ROW_U32("pcie_switches", struct myr_part, server.pcie_switches, 0, 32),
    FIELD_ROW_U32("pcie_gen", struct myr_part, server.pcie_gen, 1, 9),
    /*
     * GPUs that reach each other without the network, the bandwidth of one of them one way, and the
     * switch chips of the domain; 0 of them: the GPUs are meshed.
     */
    FIELD_ROW_U32("scale_up_gpus", struct myr_part, server.scale_up_gpus, 1, 65536),
    FIELD_ROW_U32("scale_up_gbps", struct myr_part, server.scale_up_gbps, 1, 1000000),
    FIELD_ROW_U32("scale_up_switches", struct myr_part, server.scale_up_switches, 0, 4096),
    FIELD_ROW_TEXT("scale_up_kind", struct myr_part, server.scale_up_kind),
    FIELD_ROW_TEXT("dpu", struct myr_part, server.dpu),
    /* Where in a rack-scale system things are: first unit and how many, for each run of them. */
    FIELD_ROW_SPEEDS("node_trays", struct myr_part, server.node_trays),
    FIELD_ROW_SPEEDS("switch_trays", struct myr_part, server.switch_trays),
    FIELD_ROW_SPEEDS("power_shelves", struct myr_part, server.power_shelves),
};

/* catalog/optics.yaml, modules: the side of the cage, then that of the fibre. */
static const struct field optic_fields[] = {
    FIELD_ROW_TEXT("form", struct myr_part, optic.form),
    FIELD_ROW_TEXT("top", struct myr_part, optic.top),
    FIELD_ROW_TEXT("connector", struct myr_part, optic.connector),
    /* Beginnings of the NIC ids that it is made for; absent: any of its form. */
    FIELD_ROW_TEXT("fits", struct myr_part, optic.fits),
    FIELD_ROW_U32("cage_gbps", struct myr_part, optic.cage_gbps, 1, 100000),
    FIELD_ROW_U32("connectors", struct myr_part, optic.connectors, 1, 16),
    FIELD_ROW_U32("port_gbps", struct myr_part, optic.port_gbps, 1, 100000),
    FIELD_ROW_U32("lane_gbps", struct myr_part, optic.lane_gbps, 1, 1000),
    FIELD_ROW_SPEEDS("also", struct myr_part, optic.also),
    FIELD_ROW_CHOICE("medium", struct myr_part, optic.medium, medium_names),
    FIELD_ROW_U32("wavelength_nm", struct myr_part, optic.wavelength_nm, 1, 10000),
    FIELD_ROW_DOUBLE("reach_m", struct myr_part, optic.reach_m, 0.1, 1e6),
    FIELD_ROW_U32("lanes", struct myr_part, optic.lanes, 1, 64),
    /* Where a gearbox stands between the electrical lanes and those of light. */
    FIELD_ROW_U32("cage_lane_gbps", struct myr_part, optic.cage_lane_gbps, 1, 1000),
    FIELD_ROW_CHOICE("technology", struct myr_part, optic.technology, technology_names),
    FIELD_ROW_BOOL("built_in", struct myr_part, optic.built_in),
    FIELD_ROW_TEXT("grid", struct myr_part, optic.grid),
};

/*
 * catalog/optics.yaml, cables: fibre between modules, or with fixed ends that fit cages themselves.
 */
static const struct field cable_fields[] = {
    FIELD_ROW_CHOICE("medium", struct myr_part, cable.medium, medium_names),
    FIELD_ROW_U32("legs", struct myr_part, cable.legs, 1, 8),
    FIELD_ROW_DOUBLE("length_m", struct myr_part, cable.length_m, 0.1, 1e6),
    FIELD_ROW_TEXT("connector", struct myr_part, cable.connector),
    /*
     * Of a cable with fixed ends: what its other side goes into, and what side A carries as a
     * whole.
     */
    FIELD_ROW_TEXT("form_b", struct myr_part, cable.form_b),
    FIELD_ROW_BOOL("fixed_ends", struct myr_part, cable.fixed_ends),
    FIELD_ROW_U32("gbps", struct myr_part, cable.gbps, 1, 100000),
    FIELD_ROW_TEXT("top", struct myr_part, cable.top),
    FIELD_ROW_TEXT("top_b", struct myr_part, cable.top_b),
    FIELD_ROW_U32("lanes", struct myr_part, cable.lanes, 1, 64),
    FIELD_ROW_U32("lane_gbps", struct myr_part, cable.lane_gbps, 1, 1000),
    FIELD_ROW_CHOICE("technology", struct myr_part, cable.technology, technology_names),
};

/* catalog/storage.yaml: one server. */
static const struct field storage_fields[] = {
    FIELD_ROW_U32("disks", struct myr_part, storage.disks, 1, 1000),
    FIELD_ROW_U64("disk_gb", struct myr_part, storage.disk_gb, 1, 1e9),
    FIELD_ROW_TEXT("nic", struct myr_part, storage.nic),
    FIELD_ROW_U32("nic_ports", struct myr_part, storage.nic_ports, 1, 64),
    FIELD_ROW_TEXT("software", struct myr_part, storage.software),
    /* Of one disk; the two below of one server. Absent: class values. */
    FIELD_ROW_DOUBLE("disk_read_mbytes", struct myr_part, storage.disk_read_mbytes, 0, 1e6),
    FIELD_ROW_DOUBLE("disk_write_mbytes", struct myr_part, storage.disk_write_mbytes, 0, 1e6),
    FIELD_ROW_DOUBLE("iops", struct myr_part, storage.iops, 0, BIG),
    FIELD_ROW_DOUBLE("metadata_ops", struct myr_part, storage.metadata_ops, 0, BIG),
    /* What else is in one; nothing is sized by it. */
    FIELD_ROW_U32("processors", struct myr_part, storage.processors, 1, 64),
    FIELD_ROW_U32("processor_cores", struct myr_part, storage.processor_cores, 1, 1024),
    FIELD_ROW_U32("memory_gb", struct myr_part, storage.memory_gb, 1, 1000000),
    FIELD_ROW_U32("system_disks", struct myr_part, storage.system_disks, 1, 64),
    FIELD_ROW_U32("system_disk_gb", struct myr_part, storage.system_disk_gb, 1, 1000000),
    FIELD_ROW_U32("metadata_disks", struct myr_part, storage.metadata_disks, 1, 64),
    FIELD_ROW_U32("metadata_disk_gb", struct myr_part, storage.metadata_disk_gb, 1, 1000000),
};

/* catalog/ethernet.yaml: fixed ports, in place of cages. */
static const struct field ethernet_fields[] = {
    FIELD_ROW_U32("access_ports", struct myr_part, eth.access_ports, 1, 1024),
    FIELD_ROW_U32("access_gbps", struct myr_part, eth.access_gbps, 1, 100000),
    FIELD_ROW_U32("uplink_ports", struct myr_part, eth.uplink_ports, 0, 1024),
    FIELD_ROW_U32("uplink_gbps", struct myr_part, eth.uplink_gbps, 1, 100000),
    FIELD_ROW_TEXT("access_form", struct myr_part, eth.access_form),
    FIELD_ROW_TEXT("uplink_form", struct myr_part, eth.uplink_form),
    FIELD_ROW_U32("mgmt_ports", struct myr_part, eth.mgmt_ports, 0, 16),
};

static const struct field device_fields[] = {
    FIELD_ROW_TEXT("nic", struct myr_part, device.nic),
};

#define KIND(section, name, fields)                    \
    {                                                  \
        section, name, fields, MYR_ARRAY_COUNT(fields) \
    }

/* Racks and services have no fields but the common ones. */
const struct part_kind part_kinds[MYR_PART_KIND_COUNT] = {
    [MYR_PART_SWITCH] = KIND("switches", "switch", switch_fields),
    [MYR_PART_NIC] = KIND("nics", "NIC", nic_fields),
    [MYR_PART_GPU] = KIND("gpus", "GPU", gpu_fields),
    [MYR_PART_SERVER] = KIND("servers", "server", server_fields),
    [MYR_PART_TRANSCEIVER] = KIND("transceivers", "transceiver", optic_fields),
    [MYR_PART_CABLE] = KIND("cables", "cable", cable_fields),
    [MYR_PART_STORAGE] = KIND("storage", "storage server", storage_fields),
    [MYR_PART_RACK] = {"racks", "rack", NULL, 0},
    [MYR_PART_ETHERNET] = KIND("ethernet", "Ethernet switch", ethernet_fields),
    [MYR_PART_DEVICE] = KIND("devices", "device", device_fields),
    [MYR_PART_SERVICE] = {"services", "licence or service", NULL, 0},
};

const char *myr_part_kind_name(enum myr_part_kind kind)
{
    return part_kinds[kind].name;
}

/* Counts that are 1 unless a file says otherwise, and values for "not stated", which is not 0. */
struct myr_part part_defaults(enum myr_part_kind kind)
{
    struct myr_part part = {.kind = kind};
    switch (kind) {
    case MYR_PART_SWITCH:
        part.sw.mgmt_ports = MYR_PART_NONE; /* not stated */
        part.sw.per_box = part.sw.chips = 1;
        break;
    case MYR_PART_ETHERNET:
        part.eth.mgmt_ports = MYR_PART_NONE;
        break;
    case MYR_PART_NIC:
        part.nic.cages = part.nic.cage_ports = part.nic.cards = 1;
        part.nic.technology = MYR_TECH_ANY;
        break;
    case MYR_PART_SERVER:
        part.server.nodes = part.server.numa = 1;
        break;
    case MYR_PART_TRANSCEIVER:
        part.optic.connectors = 1;
        part.optic.technology = MYR_TECH_ANY;
        break;
    case MYR_PART_CABLE:
        part.cable.legs = 1;
        part.cable.technology = MYR_TECH_ANY;
        break;
    default:
        break;
    }
    return part;
}

/* Tables are handed out with the part that they are to fill. */
struct field_table part_common_table(struct myr_part *part)
{
    return (struct field_table){common_fields, MYR_ARRAY_COUNT(common_fields), part};
}

struct field_table part_extra_table(enum myr_part_kind kind, struct part_extra *extra)
{
    switch (kind) {
    case MYR_PART_CABLE:
        return (struct field_table){cable_extra_fields, MYR_ARRAY_COUNT(cable_extra_fields), extra};
    case MYR_PART_SERVER:
        return (struct field_table){server_extra_fields, MYR_ARRAY_COUNT(server_extra_fields),
                                    extra};
    default:
        return (struct field_table){extra_fields, MYR_ARRAY_COUNT(extra_fields), extra};
    }
}

/* Also asked after an override: it may not take away what the part needs. */
const char *part_missing(const struct myr_part *part)
{
    switch (part->kind) {
    case MYR_PART_SWITCH:
        return !part->sw.cages       ? "cages"
               : !part->sw.cage_gbps ? "cage_gbps"
               : !part->sw.port_gbps ? "port_gbps"
               : !part->sw.form      ? "form"
                                     : NULL;
    case MYR_PART_NIC:
        return !part->nic.form ? "form" : !part->nic.port_gbps ? "port_gbps" : NULL;
    case MYR_PART_SERVER:
        return !part->server.gpu ? "gpu" : !part->server.gpus_per_node ? "gpus_per_node" : NULL;
    case MYR_PART_TRANSCEIVER:
        return !part->optic.form          ? "form"
               : !part->optic.cage_gbps   ? "cage_gbps"
               : !part->optic.port_gbps   ? "port_gbps"
               : !part->optic.connector   ? "connector"
               : part->optic.reach_m <= 0 ? "reach_m"
                                          : NULL;
    case MYR_PART_CABLE:
        return part->cable.length_m <= 0 ? "length_m" : !part->cable.connector ? "connector" : NULL;
    case MYR_PART_STORAGE:
        return !part->storage.disks ? "disks" : !part->storage.disk_gb ? "disk_gb" : NULL;
    case MYR_PART_ETHERNET:
        return !part->eth.access_ports                            ? "access_ports"
               : !part->eth.access_gbps                           ? "access_gbps"
               : part->eth.uplink_ports && !part->eth.uplink_gbps ? "uplink_gbps"
                                                                  : NULL;
    default:
        return NULL;
    }
}

/* 0 at a speed that the switch does not have. */
uint32_t myr_switch_ports_per_cage(const struct myr_part_switch *sw, uint32_t gbps)
{
    /* The speed of a port as it comes, or one that it can be divided into. */
    bool can = gbps == sw->port_gbps;
    for (uint32_t i = 0; i < sw->splits.count; i++) {
        can = can || gbps == sw->splits.items[i];
    }
    if (!can || gbps == 0 || gbps > sw->cage_gbps) {
        return 0;
    }
    /* Splitters divide one connector each: what a connector cannot give is lost. */
    bool divided = sw->breakout == MYR_BREAKOUT_SPLITTER && gbps < sw->port_gbps;
    return divided ? sw->cage_gbps / sw->port_gbps * (sw->port_gbps / gbps) : sw->cage_gbps / gbps;
}

uint32_t myr_switch_radix(const struct myr_part_switch *sw, uint32_t gbps)
{
    /* A chip may serve fewer ports than its cages could be divided into. */
    uint32_t ports = sw->cages * myr_switch_ports_per_cage(sw, gbps);
    return sw->ports_max && ports > sw->ports_max ? sw->ports_max : ports;
}
