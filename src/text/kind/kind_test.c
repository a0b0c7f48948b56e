#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/text.h"

#define BYTES(literal)               \
    {                                \
        literal, sizeof(literal) - 1 \
    }

/* A text of every kind, and the words for it. */
static const struct {
    struct myr_str text;
    enum myr_kind kind;
    const char *words;
} samples[] = {
    {BYTES(""), MYR_KIND_EMPTY, "an empty file"},
    {BYTES("\xEF\xBB\xBF \n\t\r\n"), MYR_KIND_EMPTY, "an empty file"},
    {BYTES("\0\0\0\0"), MYR_KIND_BINARY, "binary data"},
    {BYTES("\x7F"
           "ELF\x02\x01\x01\0\0"),
     MYR_KIND_OTHER, "a program"},
    {BYTES("\xFF\xD8\xE0\x01\x02\xC3\x28\xA0\xA1\xF0\x82"), MYR_KIND_BINARY, "binary data"},
    {BYTES("\x1F\x8B\x08\0\0"), MYR_KIND_GZIP, "a gzip archive"},
    {BYTES("PK\x03\x04\x14\0"), MYR_KIND_ZIP, "a ZIP archive or an Excel workbook"},
    {BYTES("\xFF\xFEs\0e\0"), MYR_KIND_UTF16, "text in UTF-16"},
    {BYTES("MYRIAD\r\n\x03\0\0\0"), MYR_KIND_DESIGN, "a design.myr"},
    {BYTES("<svg xmlns='x'/>"), MYR_KIND_SVG, "an SVG drawing"},
    {BYTES("<?xml version='1.0'?>\n<svg/>"), MYR_KIND_SVG, "an SVG drawing"},
    {BYTES("<!DOCTYPE html>\n<title>"), MYR_KIND_HTML, "an HTML page"},
    {BYTES("<?xml version=\"1.0\"?>\n<a/>\n"), MYR_KIND_XML, "XML"},
    {BYTES("#\n# Topology file: generated on Mon\n#\n"), MYR_KIND_IBNETDISCOVER,
     "ibnetdiscover output"},
    {BYTES("vendid=0x2c9\ndevid=0xd2f2\n"), MYR_KIND_IBNETDISCOVER, "ibnetdiscover output"},
    {BYTES("# mine\n\nSwitch 64 \"S-1\" # x\n"), MYR_KIND_IBNETDISCOVER, "ibnetdiscover output"},
    {BYTES("Errors for \"leaf\"\n"), MYR_KIND_IBQUERYERRORS, "ibqueryerrors output"},
    {BYTES("## Summary: 4 nodes\n"), MYR_KIND_IBQUERYERRORS, "ibqueryerrors output"},
    {BYTES("Unicast lids [0x0-0x9] of switch\n"), MYR_KIND_FORWARDING,
     "forwarding tables of a subnet manager"},
    {BYTES("{\"a\": {\"x\": 1}, \"b\": \"c\"}"), MYR_KIND_JSON, "JSON with the keys 'a', 'b'"},
    {BYTES("[1, 2]"), MYR_KIND_JSON, "JSON"},
    {BYTES("{\"k\\\"q\": [\"x\"]"), MYR_KIND_JSON, "JSON with the key 'k\\\"q'"},
    {BYTES("{\"open"), MYR_KIND_JSON, "JSON"},
    {BYTES("{\"lldp\": {}}"), MYR_KIND_LLDP, "lldpcli's JSON"},
    {BYTES("{\"version\": 3, \"gpus_per_node\": 8, \"cable_types\": []}"), MYR_KIND_DESIGN_JSON,
     "a design.json"},
    {BYTES("{\"leaf-1\": {\"lldp\": {}}, \"leaf-2\": {}}"), MYR_KIND_LLDP, "lldpcli's JSON"},
    {BYTES("lldp.eth0.via=LLDP\nlldp.eth0.rid=1\n"), MYR_KIND_LLDP_TEXT, "lldpcli's text"},
    {BYTES("-----------\nLLDP neighbors:\n-----------\n"), MYR_KIND_LLDP_TEXT, "lldpcli's text"},
    {BYTES("A-Node Name;A-Port;Z-Node Name;Z-Port\n"), MYR_KIND_SEPARATED,
     "a list with ';' or tabs between its columns"},
    {BYTES("A-Node\tA-Port\tZ-Node\tZ-Port\n"), MYR_KIND_SEPARATED,
     "a list with ';' or tabs between its columns"},
    {BYTES("from;to\n0;8\n"), MYR_KIND_SEPARATED, "a list with ';' or tabs between its columns"},
    {BYTES("HYBRID\tmodel_parallel: 8\n"), MYR_KIND_TEXT, "some text"},
    {BYTES("a,b,c\n1,2,3\n"), MYR_KIND_CSV, "a CSV list with the header 'a,b,c'"},
    {BYTES("# x\n\ncable,end\n"), MYR_KIND_CSV, "a CSV list with the header 'cable,end'"},
    {BYTES("A-Node Name,A-Port,Z-Node Name,Z-Port\n"), MYR_KIND_P2P,
     "a point-to-point list in CSV"},
    {BYTES("#,A-Node,A-Port,Z-Node,Z-Port\n"), MYR_KIND_P2P, "a point-to-point list in CSV"},
    {BYTES("Rack,A_Device,A-Port,zNode\n"), MYR_KIND_P2P, "a point-to-point list in CSV"},
    /* One end alone is any list; so is half of NetBox's. */
    {BYTES("A-Node Name,A-Port\n"), MYR_KIND_CSV,
     "a CSV list with the header 'A-Node Name,A-Port'"},
    {BYTES("Z_Device,port\n"), MYR_KIND_CSV, "a CSV list with the header 'Z_Device,port'"},
    {BYTES("side_a_device,x\n"), MYR_KIND_CSV, "a CSV list with the header 'side_a_device,x'"},
    {BYTES("side_b_device,x\n"), MYR_KIND_CSV, "a CSV list with the header 'side_b_device,x'"},
    {BYTES("side_a_device,side_a_name,side_b_device\n"), MYR_KIND_NETBOX,
     "a NetBox cable list in CSV"},
    {BYTES("a: 1\nb: 2\nc:\n  d: 3\ne: 4\n"), MYR_KIND_YAML, "YAML with the keys 'a', 'b', 'c'"},
    {BYTES("---\n- x\n"), MYR_KIND_YAML, "YAML"},
    {BYTES("# the cluster\nname: a, b\nservers: 64\n"), MYR_KIND_SPEC, "a spec"},
    {BYTES("{\"servers\": 64}"), MYR_KIND_SPEC, "a spec"},
    {BYTES("servers: many\n"), MYR_KIND_YAML, "YAML with the key 'servers'"},
    {BYTES("servers:\n  mine: {gpu: x}\n"), MYR_KIND_YAML, "YAML with the key 'servers'"},
    {BYTES("servers: {}\nnics: {}\n"), MYR_KIND_CATALOG, "a catalogue"},
    {BYTES("switches: {}\n"), MYR_KIND_CATALOG, "a catalogue"},
    {BYTES("design: lab\ndevices: {}\n"), MYR_KIND_BINDING, "a binding"},
    {BYTES("SW  7  1 0x98039b0300a1b2c4 4x NDR - CA 9 1 0x1 ( 'a' - 'b' )\n"), MYR_KIND_IB_LINES,
     "output of 'ibnetdiscover -p'"},
    {BYTES("Switch: 0x98039b0300a1b2c4 leaf:\n"), MYR_KIND_IBLINKINFO, "iblinkinfo output"},
    {BYTES("CA: gpu01 mlx5_0:\n"), MYR_KIND_IBLINKINFO, "iblinkinfo output"},
    {BYTES("{ SW Ports:41 NodeGUID:1 {leaf} PN:1 }\n"), MYR_KIND_IBDIAGNET, "ibdiagnet output"},
    {BYTES("\"leaf\", x, 0x1, LID 7\n # : IB# : Neighbor Guid : N#\n"), MYR_KIND_IBDIAGNET,
     "ibdiagnet output"},
    {BYTES("[{\"source_port_node_description\": \"leaf:1/1\"}]"), MYR_KIND_LINKS_JSON,
     "links of UFM or NetQ as JSON"},
    {BYTES("{\"lldp\": [{\"peerHostname\": \"leaf\"}]}"), MYR_KIND_LINKS_JSON,
     "links of UFM or NetQ as JSON"},
    {BYTES("LocalPort  RemoteDevice  RemotePortID\n---  ---  ---\n"), MYR_KIND_SONIC_LLDP,
     "SONiC's 'show lldp table'"},
    {BYTES("graph G {\n"), MYR_KIND_PTM, "a graph in dot"},
    {BYTES("\"a\":\"swp1\" -- \"b\":\"swp2\";\n"), MYR_KIND_PTM, "a graph in dot"},
    {BYTES("Label,Device A,Termination A,Device B,Termination B\n"), MYR_KIND_NETBOX,
     "a NetBox cable list in CSV"},
    {BYTES("hello\n"), MYR_KIND_TEXT, "some text"},
    {BYTES("[17] \"S-1\"[1]\n"), MYR_KIND_TEXT, "some text"},
    {BYTES("- a\n- b\n"), MYR_KIND_TEXT, "some text"},
    {BYTES("%PDF-1.7\n"), MYR_KIND_OTHER, "a PDF document"},
    {BYTES("CA 'mlx5_0'\n\tCA type: MT4129\n"), MYR_KIND_PRINTED, "ibstat output"},
    /* Documents of ours, by keys that no other one has. */
    {BYTES("schema: myriad.layout\nversion: 1\n"), MYR_KIND_LAYOUT, "a layout"},
    {BYTES("layout:\n  tp: 8\n"), MYR_KIND_LAYOUT, "a layout"},
    {BYTES("layout: tp8\n"), MYR_KIND_YAML, "YAML with the key 'layout'"},
    {BYTES("{\"model_type\": \"llama\"}"), MYR_KIND_MODEL, "a model"},
    {BYTES("name: m\nlayers: 2\nhidden: 64\nheads: 2\n"), MYR_KIND_MODEL, "a model"},
    {BYTES("gpus: 8\ncommand: echo\n"), MYR_KIND_JOB, "a job file"},
    {BYTES("gpus: 8\n"), MYR_KIND_YAML, "YAML with the key 'gpus'"},
    {BYTES("gpus:\n  h100: {}\n"), MYR_KIND_CATALOG, "a catalogue"},
    {BYTES("cluster: {nodes: 4}\nhours: 1\n"), MYR_KIND_SCENARIO, "a scenario of the twin"},
    {BYTES("cluster: {nodes: 4}\ndays: 1\n"), MYR_KIND_SCENARIO, "a scenario of the twin"},
    {BYTES("seed: 1\nhash: 00\nscenario: |\n"), MYR_KIND_CASE, "a case of the twin"},
    {BYTES("cluster: \"a\"\nworld: agents\nnodes: n\n"), MYR_KIND_CONFIG,
     "a server's configuration"},
    {BYTES("tenants:\n  a: {}\n"), MYR_KIND_TENANTS, "a tree of tenants"},
    {BYTES("tenants: 4\n"), MYR_KIND_YAML, "YAML with the key 'tenants'"},
    {BYTES("topology: x\nworkload: y\n"), MYR_KIND_SWEEP, "a sweep of simulations"},
    {BYTES("design: x\nworkload: y\n"), MYR_KIND_SWEEP, "a sweep of simulations"},
    {BYTES("constants:\n"), MYR_KIND_PROFILE, "a profile of fit"},
    {BYTES("recovery: {}\n"), MYR_KIND_RECOVERY, "recovery data"},
    {BYTES("{\"policy\": \"ecmp\", \"gpus\": 8, \"links\": 4, \"rows\": []}"), MYR_KIND_CONTENTION,
     "a table of 'myriad sim contention'"},
    {BYTES("rows: 2\ncolumns: 3\n"), MYR_KIND_ROOM, "a room"},
    {BYTES("apiVersion: v1\nclusters: []\ncontexts: []\nusers: []\n"), MYR_KIND_KUBECONFIG,
     "a kubeconfig"},
    {BYTES("{\"schema\": \"myriad.fit\", \"version\": 1}"), MYR_KIND_ANSWER,
     "an answer of Myriad (myriad.fit)"},
    {BYTES("CTRL\x01\0\0\0\x10"), MYR_KIND_STATE, "a saved state of the controller"},
    {BYTES("CTRL,ALT,DEL\n"), MYR_KIND_CSV, "a CSV list with the header 'CTRL,ALT,DEL'"},
    {BYTES("MYRSIMRN\x01\0"), MYR_KIND_SAVED, "a saved run of 'myriad sim'"},
    /* Secrets: one word drawn at random, or PEM wherever it stands. */
    {BYTES("b8dbd92a45abb47f39d032c334f5c1ede15cc23d098a1e0c\n"), MYR_KIND_SECRET,
     "a token, a key or a certificate"},
    {BYTES("HF_TOKEN=hf_kD93jsLq02MzPw71xTbn4\n"), MYR_KIND_SECRET,
     "a token, a key or a certificate"},
    {BYTES("Bag Attributes\n-----BEGIN PRIVATE KEY-----\nMII\n"), MYR_KIND_SECRET,
     "a certificate or a key"},
    {BYTES("b8dbd92a45abb47f39d032c334f5c1ed  a.yaml\n"), MYR_KIND_TEXT, "some text"},
    {BYTES("node0001-rack12-row3.cluster.example.com\n"), MYR_KIND_TEXT, "some text"},
    {BYTES("a-long-name-of-words-without-any-figures\n"), MYR_KIND_TEXT, "some text"},
    {BYTES("<!DOCTYPE html>\n<html><svg/></html>\n"), MYR_KIND_HTML, "an HTML page"},
    {BYTES("iteration 10, loss: 3\n"), MYR_KIND_TEXT, "some text"},
    {BYTES("one stray \xFF byte\n"), MYR_KIND_TEXT, "some text"},
    {BYTES("# only a remark\n"), MYR_KIND_TEXT, "some text"},
};

static void every_kind_is_told_and_named(void **state)
{
    (void)state;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(samples); i++) {
        char words[MYR_KIND_WORDS_MAX];
        enum myr_kind kind = myr_kind_of(samples[i].text);
        if (kind != samples[i].kind) {
            fail_msg("sample %u is of kind %d, not %d", i, (int)samples[i].kind, (int)kind);
        }
        assert_string_equal(myr_kind_words(samples[i].text, words), samples[i].words);
        seen |= UINT64_C(1) << kind;
    }
    assert_true(seen == (UINT64_C(1) << MYR_KIND_COUNT) - 1);
}

static void a_reader_takes_its_own_kind_and_what_is_not_known(void **state)
{
    (void)state;
    struct myr_err err = {};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(samples); i++) {
        uint64_t own = UINT64_C(1) << samples[i].kind;
        assert_int_equal(myr_kind_check("f", samples[i].text, own, "x", &err), MYR_OK);
        assert_string_equal(err.message, "");
        struct myr_err other = {};
        /* Where a secret is expected no words of the text are told. */
        int rc =
            myr_kind_check("f", samples[i].text, ~own & ~MYR_KIND_BIT(SECRET), "a thing", &other);
        if (samples[i].kind == MYR_KIND_TEXT) {
            assert_int_equal(rc, MYR_OK);
            continue;
        }
        assert_int_equal(rc, MYR_EINVAL);
        struct myr_buf buf = {};
        if (samples[i].kind == MYR_KIND_EMPTY) {
            myr_buf_puts(&buf, "f:1:1: the file is empty, a thing is expected");
        } else {
            myr_buf_printf(&buf, "f:1:1: looks like %s; a thing is expected", samples[i].words);
        }
        assert_string_equal(other.message, buf.data);
        uint64_t hinted = MYR_KIND_BIT(GZIP) | MYR_KIND_BIT(ZIP) | MYR_KIND_BIT(UTF16) |
                          MYR_KIND_BIT(LLDP_TEXT) | MYR_KIND_BIT(SEPARATED) | MYR_KIND_BIT(SPEC) |
                          MYR_KIND_BIT(LAYOUT) | MYR_KIND_BIT(MODEL) | MYR_KIND_BIT(JOB) |
                          MYR_KIND_BIT(SCENARIO) | MYR_KIND_BIT(CASE) | MYR_KIND_BIT(CONFIG) |
                          MYR_KIND_BIT(SWEEP) | MYR_KIND_BIT(PROFILE) | MYR_KIND_BIT(STATE) |
                          MYR_KIND_BIT(SAVED) | MYR_KIND_BIT(SECRET);
        uint64_t others = MYR_KIND_BIT(OTHER) | MYR_KIND_BIT(PRINTED); /* some have one */
        assert_true(own & others || (other.hint[0] != 0) == ((own & hinted) != 0));
        myr_buf_done(&buf);
    }
}

static void what_is_secret_is_never_shown(void **state)
{
    (void)state;
    static const char *const names[] = {"lab/admin.token", "ca-key.pem", "a/b.key", "x.crt",
                                        "id_rsa",          "token",      ".netrc"};
    struct myr_str list = MYR_STR("user,hunter2\n");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        struct myr_err err = {};
        assert_int_equal(myr_kind_check(names[i], list, MYR_KINDS_CSV, "a list", &err), MYR_EINVAL);
        assert_non_null(strstr(err.message, "looks like a token, a key or a certificate;"));
        assert_null(strstr(err.message, "hunter2"));
    }
    struct myr_err err = {};
    assert_int_equal(myr_kind_check("tokens.csv", list, MYR_KINDS_CSV, "a list", &err), MYR_OK);
    /* Neither is what was given in the place of a secret. */
    assert_int_equal(myr_kind_check("f", list, MYR_KIND_BIT(SECRET), "a token", &err), MYR_EINVAL);
    assert_string_equal(err.message, "f:1:1: looks like a CSV list; a token is expected");
    char shown[MYR_EXCERPT_MAX];
    assert_string_equal(
        myr_text_excerpt(MYR_STR("key=b8dbd92a45abb47f39d032c334f5c1ed end"), shown),
        "key=*** end");
    assert_string_equal(myr_text_excerpt(MYR_STR("0x248a0703008a8a30 S-248a0703008a8a30"), shown),
                        "0x248a0703008a8a30 S-248a0703008a8a30");
}

/* The window of the look may end anywhere, also within a character. */
static void a_long_text_is_judged_by_its_beginning(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    myr_buf_puts(&buf, "name: x\n# ");
    for (uint32_t i = 0; i < 20000; i++) {
        myr_buf_puts(&buf, "\xE4\xBA\xA4");
    }
    for (size_t cut = 0; cut < 4; cut++) {
        struct myr_str text = {buf.data, 16 * 1024 - cut};
        assert_int_equal(myr_kind_of(text), MYR_KIND_YAML);
    }
    assert_int_equal(myr_kind_of((struct myr_str){buf.data, buf.len}), MYR_KIND_YAML);
    myr_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_told_and_named),
        cmocka_unit_test(a_reader_takes_its_own_kind_and_what_is_not_known),
        cmocka_unit_test(a_long_text_is_judged_by_its_beginning),
        cmocka_unit_test(what_is_secret_is_never_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
