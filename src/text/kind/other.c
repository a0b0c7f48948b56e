/*
 * kind_other: two tables, one of bytes at a fixed place and one of words near the top. Adding a
 * kind is adding a row; none of them is ever read, only named.
 */
#include "kind/other.h"

#include "letter/scan.h"

/* Hints that several kinds share. */
static const char as_csv[] = "in a spreadsheet, save as \"CSV UTF-8\"";
static const char unpack[] = "unpack it first";
static const char p2p[] = "a list with the columns A-Node Name, A-Port, Z-Node Name and Z-Port is "
                          "read, or lldpcli -f json";
static const char links[] = "ibnetdiscover and iblinkinfo tell of links";
static const char run_again[] = "the command failed: run it again, as root where it needs that";

/* How a text begins. Bytes that are no letters are told as they are. */
static const struct {
    const char *magic;
    /* 'at' is where the bytes lie: not every format has them in front. */
    uint32_t length, at;
    struct kind_other kind;
} magics[] = {
    {"%PDF-", 5, 0, {"a PDF document", NULL}},
    {"\x89PNG", 4, 0, {"a PNG picture", NULL}},
    {"\xFF\xD8\xFF", 3, 0, {"a JPEG picture", NULL}},
    {"GIF8", 4, 0, {"a GIF picture", NULL}},
    {"\x7F"
     "ELF",
     4,
     0,
     {"a program", NULL}},
    {"BZh", 3, 0, {"a bzip2 archive", "bzcat FILE | myriad ... -"}},
    {"\xFD"
     "7zXZ",
     5,
     0,
     {"an xz archive", "xzcat FILE | myriad ... -"}},
    {"\x28\xB5\x2F\xFD", 4, 0, {"a zstd archive", "zstdcat FILE | myriad ... -"}},
    {"7z\xBC\xAF", 4, 0, {"a 7z archive", unpack}},
    {"Rar!", 4, 0, {"a RAR archive", unpack}},
    /* A tar archive has its mark behind the head of its first file. */
    {"ustar", 5, 257, {"a tar archive", unpack}},
    {"\xD0\xCF\x11\xE0", 4, 0, {"an old Excel or Word file", as_csv}},
    {"SQLite format 3", 15, 0, {"an SQLite database", NULL}},
    {"\xD4\xC3\xB2\xA1", 4, 0, {"a packet capture", NULL}},
    {"\x0A\x0D\x0D\x0A", 4, 0, {"a packet capture", NULL}},
    {"#!", 2, 0, {"a script", NULL}},
};

/* Where a word is looked for: at the start of the first line, or anywhere near the top. */
enum where { STARTS, ANYWHERE };

/* The second word, where there is one, must be there too. */
static const struct {
    enum where where;
    const char *word, *also;
    struct kind_other kind;
} texts[] = {
    /* InfiniBand and GPUs, in forms that are not read. */
    {STARTS, "CA '", NULL, {"ibstat output", links}},
    {STARTS, "Infiniband device '", NULL, {"ibstatus output", links}},
    {STARTS, "hca_id:", NULL, {"ibv_devinfo output", links}},
    {STARTS, "Switch\t: 0x", NULL, {"ibswitches output", links}},
    {STARTS, "Ca\t: 0x", NULL, {"ibhosts output", links}},
    {ANYWHERE, "# Port counters:", NULL, {"perfquery output", "ibqueryerrors tells of all ports"}},
    {ANYWHERE, "# Node info:", NULL, {"smpquery output", links}},
    {ANYWHERE, "# Port info:", NULL, {"smpquery output", links}},
    {STARTS, "NodeRecord dump:", NULL, {"saquery output", links}},
    {STARTS, "LinkRecord dump:", NULL, {"saquery output", links}},
    {ANYWHERE, "START_NODES", NULL, {"an ibdiagnet2.db_csv", "ibdiagnet2.lst tells of links"}},
    {STARTS, "-I- ", NULL, {"the log of ibdiagnet", "ibdiagnet2.lst tells of links"}},
    {ANYWHERE, "IBDIAG", "-I- ", {"the log of ibdiagnet", "ibdiagnet2.lst tells of links"}},
    {ANYWHERE, "OpenSM 3.", NULL, {"the log of OpenSM", links}},
    {STARTS, "MST modules:", NULL, {"mst status output", links}},
    {ANYWHERE, "Operational Info", "Physical state", {"mlxlink output", links}},
    {ANYWHERE, "| NVIDIA-SMI", NULL, {"nvidia-smi output", NULL}},
    {ANYWHERE, "GPU0\tGPU1", NULL, {"output of 'nvidia-smi topo -m'", NULL}},
    {ANYWHERE, "Infiniband controller:", NULL, {"lspci output", NULL}},
    /*
     * Ethernet: links and neighbours as hosts and switches print them, each in a form of its own.
     */
    {STARTS, "1: lo: <LOOPBACK", NULL, {"output of 'ip link'", p2p}},
    {STARTS, "Settings for ", NULL, {"ethtool output", p2p}},
    {STARTS, "Matching lldp records:", NULL, {"NetQ's text", "netq show lldp json"}},
    {ANYWHERE, "Neighbor Device ID", NULL, {"LLDP neighbours as EOS prints them", p2p}},
    {ANYWHERE, "Device ID", "Hold-time", {"LLDP neighbours as NX-OS prints them", p2p}},
    {ANYWHERE, "Parent Interface", "Chassis Id", {"LLDP neighbours as Junos prints them", p2p}},
    {ANYWHERE, "Exptime(s)", "Neighbor", {"LLDP neighbours as VRP prints them", p2p}},
    {ANYWHERE, "Chassis ID : ", "Port ID", {"LLDP neighbours as Comware prints them", p2p}},
    {ANYWHERE, "Interface", "Oper    Admin", {"SONiC's 'show interfaces status'", p2p}},
    {STARTS, "Ethernet0 ", "index", {"SONiC's port_config.ini", NULL}},
    {ANYWHERE, "\"DEVICE_METADATA\"", NULL, {"a SONiC config_db.json", p2p}},
    {ANYWHERE, "\"lldpNeighbors\"", NULL, {"EOS's LLDP neighbours as JSON", p2p}},
    {ANYWHERE, "\"TABLE_nbor", NULL, {"NX-OS's LLDP neighbours as JSON", p2p}},
    {ANYWHERE, "\"lldp-neighbors-information\"", NULL, {"Junos's LLDP neighbours as JSON", p2p}},
    {ANYWHERE, "\"previous\"", "\"results\"", {"an answer of NetBox's REST", "export it as CSV"}},
    {STARTS, "! Command: show running-config", NULL, {"a switch's configuration", p2p}},
    {ANYWHERE, "router bgp ", "neighbor ", {"a configuration of routes", p2p}},
    /* Configurations of other programs. */
    {STARTS, "apiVersion:", NULL, {"a Kubernetes manifest", NULL}},
    {ANYWHERE, "topology:", "kinds:", {"a containerlab topology", p2p}},
    {STARTS, "SwitchName=", NULL, {"Slurm's topology.conf", p2p}},
    {ANYWHERE, "ClusterName=", "NodeName=", {"Slurm's slurm.conf", NULL}},
    {STARTS, "subnet ", "range ", {"a dhcpd.conf", NULL}},
    {STARTS, "Default=0x7fff", NULL, {"OpenSM's partitions.conf", links}},
    {ANYWHERE, "<system version=", NULL, {"a topology of NCCL", NULL}},
    {ANYWHERE, "<lldp", NULL, {"lldpcli's XML", "lldpcli -f json show neighbors"}},
    {ANYWHERE, "<rpc-reply", NULL, {"an answer of NETCONF", p2p}},
    /* Not output at all: what a command says when it fails, kept in the file instead. */
    {ANYWHERE, "Traceback (most recent call last)", NULL, {"an error of a script", run_again}},
    {ANYWHERE, "command not found", NULL, {"an error message of the shell", run_again}},
    {STARTS, "ibwarn:", NULL, {"error messages of InfiniBand's tools", run_again}},
    {STARTS, "ibpanic:", NULL, {"error messages of InfiniBand's tools", run_again}},
    {ANYWHERE, "Permission denied", NULL, {"an error message", run_again}},
    {STARTS, "Connection ", "refused", {"an error message", run_again}},
};

/* The first that fits, so the order of the tables counts. */
const struct kind_other *kind_other_of(struct myr_str text, struct myr_str line, bool *ret_printed)
{
    *ret_printed = false;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(magics); i++) {
        if (text.len >= magics[i].at + magics[i].length &&
            memcmp(text.data + magics[i].at, magics[i].magic, magics[i].length) == 0) {
            return &magics[i].kind;
        }
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        bool there = texts[i].where == STARTS ? kind_begins(line, texts[i].word)
                                              : kind_contains(text, texts[i].word);
        if (there && (!texts[i].also || kind_contains(text, texts[i].also))) {
            *ret_printed = true;
            return &texts[i].kind;
        }
    }
    return NULL;
}
