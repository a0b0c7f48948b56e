#include "export/dgx.h"
#include "export/writers.h"

/*
 * NCCL's topology of one node, as it dumps it (NCCL_TOPO_DUMP_FILE) and reads it (NCCL_TOPO_FILE):
 * CPUs, below them PCIe switches, below them GPUs and NICs, with what NVLink joins.
 *
 * NCCL finds GPUs by PCI address and NICs by name. It asks the machine about processors as well,
 * but not for all that a file lists, and insists on their kind; affinities may be missing. PCI
 * addresses are known of few servers: others get made ones in the domain ffff, which no machine
 * has, for simulators and to be replaced.
 */

/* Bus numbers of made addresses, a range for each sort; all cards have sixteen lanes. */
enum { MADE_SWITCH = 0x10, MADE_GPU = 0x40, MADE_NIC = 0x80, MADE_NVSWITCH = 0xe0, WIDTH = 16 };

struct topo {
    const struct myr_export *job;
    const struct myr_part_server *server;
    struct myr_buf *buf;
    bool known;          /* PCI addresses and names are those of the server */
    uint32_t links;      /* of NVLink, a GPU */
    uint32_t generation; /* of NVLink; 0: something else joins the GPUs, or nothing */
    uint32_t cards;      /* for compute */
    const struct myr_port_group *ports; /* of these */
};

static void indent(const struct topo *t, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) {
        myr_buf_put_lit(t->buf, "  ");
    }
}

static void put_bus(const struct topo *t, bool made, uint32_t bus)
{
    myr_buf_printf(t->buf, "%s:%02x:00.0", made ? "ffff" : "0000", bus);
}

static void put_gpu_bus(const struct topo *t, uint32_t gpu)
{
    bool known = t->known && gpu < DGX_CARDS;
    put_bus(t, !known, known ? dgx_cards[gpu].gpu_bus : MADE_GPU + gpu);
}

/* What one lane of a generation carries, as the kernel writes it. */
static void put_speed(const struct topo *t)
{
    static const char *const speeds[] = {"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};
    /* Servers of which it is not known are taken for PCIe 5. */
    uint32_t generation = t->server->pcie_gen ? t->server->pcie_gen : 5;
    /* Newer ones than are known are written as the last one. */
    generation = generation < MYR_ARRAY_COUNT(speeds) ? generation : MYR_ARRAY_COUNT(speeds);
    myr_buf_printf(t->buf, " link_speed=\"%s GT/s PCIe\" link_width=\"%u\"", speeds[generation - 1],
                   (uint32_t)WIDTH);
}

/* A GPU's links are dealt out to the switches as evenly as they go. */
static void put_nvlinks(const struct topo *t, uint32_t depth)
{
    uint32_t switches = t->server->scale_up_switches ? t->server->scale_up_switches : 1;
    for (uint32_t s = 0; s < switches; s++) {
        uint32_t count = t->links / switches + (s < t->links % switches);
        if (count == 0) {
            continue;
        }
        indent(t, depth);
        myr_buf_put_lit(t->buf, "<nvlink target=\"");
        put_bus(t, true, MADE_NVSWITCH + s);
        myr_buf_printf(t->buf, "\" count=\"%u\" tclass=\"0x068000\"/>\n", count);
    }
}

/* Ranks are numbers of GPUs: there is one node in the file. */
static void put_gpu(const struct topo *t, uint32_t gpu, uint32_t depth)
{
    static const uint32_t compute[] = {0, 0, 0, 80, 90, 100}; /* by generation of NVLink */
    indent(t, depth);
    myr_buf_put_lit(t->buf, "<pci busid=\"");
    put_gpu_bus(t, gpu);
    myr_buf_put_lit(t->buf, "\" class=\"0x030200\"");
    put_speed(t);
    myr_buf_put_lit(t->buf, ">\n");
    indent(t, depth + 1);
    myr_buf_printf(t->buf, "<gpu dev=\"%u\"", gpu);
    if (t->generation) {
        myr_buf_printf(t->buf, " sm=\"%u\"", compute[t->generation]);
    }
    myr_buf_printf(t->buf, " rank=\"%u\" gdr=\"1\">\n", gpu);
    put_nvlinks(t, depth + 2);
    indent(t, depth + 1);
    myr_buf_put_lit(t->buf, "</gpu>\n");
    indent(t, depth);
    myr_buf_put_lit(t->buf, "</pci>\n");
}

/* A card, and a device of NCCL's for each of its ports: those of a card have equal rails. */
static void put_nic(const struct topo *t, uint32_t card, uint32_t depth)
{
    bool ethernet = export_technology(t->job, MYR_NET_COMPUTE) == MYR_TECH_ETHERNET;
    bool known = t->known && card < DGX_CARDS;
    uint32_t ports = t->ports->count / t->cards;
    indent(t, depth);
    myr_buf_put_lit(t->buf, "<pci busid=\"");
    put_bus(t, !known, known ? dgx_cards[card].nic_bus : MADE_NIC + card);
    myr_buf_puts(t->buf, ethernet ? "\" class=\"0x020000\"" : "\" class=\"0x020700\"");
    put_speed(t);
    myr_buf_put_lit(t->buf, ">\n");
    indent(t, depth + 1);
    myr_buf_put_lit(t->buf, "<nic>\n");
    /* The first ports of all cards come first, then the second ones. */
    for (uint32_t p = 0; p < ports; p++) {
        uint32_t nic = card + p * t->cards;
        indent(t, depth + 2);
        /* Names of other servers' cards are made, as their addresses are. */
        if (known) {
            myr_buf_printf(t->buf, "<net name=\"mlx5_%u\"", dgx_cards[card].device);
        } else {
            myr_buf_printf(t->buf, "<net name=\"nic%u\"", nic);
        }
        myr_buf_printf(t->buf, " dev=\"%u\" speed=\"%u\" port=\"1\" gdr=\"1\"/>\n", nic,
                       t->ports->gbps * 1000);
    }
    indent(t, depth + 1);
    myr_buf_put_lit(t->buf, "</nic>\n");
    indent(t, depth);
    myr_buf_put_lit(t->buf, "</pci>\n");
}

/* Whether the part of a node at 'child' hangs on the one at 'parent'. */
static bool hangs_on(const struct myr_design *design, uint32_t parent, uint32_t child)
{
    /* Links inside a node lead from the part nearer to the processor to the one behind it. */
    for (uint32_t i = 0; i < design->inside_link_count; i++) {
        if (design->inside_links[i].a == parent && design->inside_links[i].b == child) {
            return true;
        }
    }
    return false;
}

/* GPUs and compute cards that hang on a switch, or on a processor itself. */
static void put_devices(const struct topo *t, uint32_t parent, uint32_t depth)
{
    const struct myr_design *design = t->job->design;
    for (uint32_t i = 0; i < design->inside_count; i++) {
        const struct myr_inside *part = &design->insides[i];
        bool gpu = part->kind == MYR_INSIDE_GPU;
        bool nic =
            part->kind == MYR_INSIDE_NIC && part->net == MYR_NET_COMPUTE && part->index < t->cards;
        if ((!gpu && !nic) || !hangs_on(design, parent, i)) {
            continue;
        }
        if (gpu) {
            put_gpu(t, part->index, depth);
        } else {
            put_nic(t, part->index, depth);
        }
    }
}

/* Of DGX H100 and H200 (Xeon 8480C), and of superchips; of all others only the usual. */
static void put_kind(const struct topo *t)
{
    const struct myr_part_server *server = t->server;
    bool superchip = server->nodes > 1 && t->generation >= 5;
    myr_buf_printf(t->buf, " arch=\"%s\"", superchip ? "arm64" : "x86_64");
    myr_buf_puts(t->buf, t->known    ? " vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\">\n"
                         : superchip ? ">\n"
                                     : " vendor=\"unknown\">\n");
}

/* PCIe switches first, then what hangs on the processor itself. */
static void put_processor(const struct topo *t, uint32_t numa)
{
    const struct myr_design *design = t->job->design;
    myr_buf_printf(t->buf, "  <cpu numaid=\"%u\"", design->insides[numa].index);
    put_kind(t);
    for (uint32_t i = 0; i < design->inside_count; i++) {
        if (design->insides[i].kind == MYR_INSIDE_PCIE_SWITCH && hangs_on(design, numa, i)) {
            indent(t, 2);
            myr_buf_put_lit(t->buf, "<pci busid=\"");
            put_bus(t, true, MADE_SWITCH + design->insides[i].index);
            myr_buf_put_lit(t->buf, "\" class=\"0x060400\"");
            put_speed(t);
            myr_buf_put_lit(t->buf, ">\n");
            put_devices(t, i, 3);
            indent(t, 2);
            myr_buf_put_lit(t->buf, "</pci>\n");
        }
    }
    put_devices(t, numa, 2);
    myr_buf_put_lit(t->buf, "  </cpu>\n");
}

/* "NVLink 4", and how many links a GPU has: each carries 200 Gb/s, from generation 5 on 400. */
static void read_nvlink(struct topo *t)
{
    const char *kind = t->server->scale_up_kind;
    size_t len = kind ? strlen(kind) : 0;
    bool nvlink = len == 8 && memcmp(kind, "NVLink ", 7) == 0 && kind[7] >= '3' && kind[7] <= '5';
    t->generation = nvlink ? (uint32_t)(kind[7] - '0') : 0;
    t->links = nvlink ? t->server->scale_up_gbps / (t->generation >= 5 ? 400 : 200) : 0;
}

/* The inside of nodes is known only where all of them are alike. */
static int check_node(const struct myr_export *job, const struct myr_part **ret,
                      struct myr_err *err)
{
    const struct myr_design *design = job->design;
    if (job->net != MYR_NET_COMPUTE) {
        return myr_err_set(err, MYR_EINVAL, "NCCL uses the compute network, not the %s network",
                           myr_net_names[job->net]);
    }
    if (design->inside_count == 0) {
        return myr_err_set(err, MYR_EINVAL,
                           "the nodes of this design differ: there is no one topology of them");
    }
    *ret = export_part(job, design->head->first_node);
    if (!*ret || (*ret)->kind != MYR_PART_SERVER) {
        int rc = myr_err_set(err, MYR_EINVAL, "the catalogue does not know the server");
        myr_err_hint(err, "--catalog FILE adds own parts");
        return rc;
    }
    return MYR_OK;
}

int export_nccl_topo(const struct myr_export *job, const struct myr_export_sink *sink,
                     struct myr_err *err)
{
    const struct myr_design *design = job->design;
    const struct myr_part *part = NULL;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(check_node(job, &part, err));
    MYR_ASSERT(part); /* one that is not known has ended above */
    struct topo topo = {.job = job, .server = &part->server, .buf = &text};
    const struct myr_devtype *type =
        &design->devtypes[design->device_type[design->head->first_node]];
    /* Made addresses are marked in the file, so that nobody takes them for real ones. */
    topo.known = dgx_is(myr_design_str(design, type->part));
    /* The last group on the compute network. */
    for (uint32_t g = 0; g < type->group_count; g++) {
        topo.ports = type->groups[g].net == MYR_NET_COMPUTE ? &type->groups[g] : topo.ports;
    }
    for (uint32_t i = 0; topo.ports && i < design->inside_count; i++) {
        const struct myr_inside *one = &design->insides[i];
        topo.cards += one->kind == MYR_INSIDE_NIC && one->net == MYR_NET_COMPUTE;
    }
    read_nvlink(&topo);
    myr_buf_put_lit(&text, "<!-- One node, for NCCL_TOPO_FILE. Bridges and NVSwitches have made "
                           "addresses (ffff:..). -->\n");
    myr_buf_puts(&text, topo.known
                            ? "<!-- GPUs and cards are those of a DGX H100 or H200: compare with "
                              "lspci and ibdev2netdev. -->\n"
                            : "<!-- PCI addresses and names of GPUs and cards are made: put in "
                              "those of lspci. -->\n");
    myr_buf_put_lit(&text, "<system version=\"1\">\n");
    for (uint32_t i = 0; i < design->inside_count; i++) {
        if (design->insides[i].kind == MYR_INSIDE_NUMA) {
            put_processor(&topo, i);
        }
    }
    myr_buf_put_lit(&text, "</system>\n");
    return export_put(sink, "nccl-topo.xml", &text, err);
}
