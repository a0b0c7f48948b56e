#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/text/kind.h"

/*
 * What a file looks like, for a sample of everything that is known. Each is shown whole, then with
 * each of its bytes as another one: '.' where the words stay, '!' where the file is something else
 * then. So a word that is compared with a byte less, or one more, shows.
 */

#define BYTES(literal)               \
    {                                \
        literal, sizeof(literal) - 1 \
    }

static const struct myr_str samples[] = {

    /* Magic bytes. */
    BYTES("%PDF-1"),
    BYTES("\x89PNG\r"),
    BYTES("\xFF\xD8\xFF\xE0"),
    BYTES("GIF89a"),
    BYTES("\x7F"
          "ELF\x02"),
    BYTES("BZh9"),
    BYTES("\xFD"
          "7zXZ\0"),
    BYTES("\x28\xB5\x2F\xFD$"),
    BYTES("7z\xBC\xAF'"),
    BYTES("Rar!\x1A"),
    BYTES("\xD0\xCF\x11\xE0\xA1"),
    BYTES("SQLite format 3\0"),
    BYTES("\xD4\xC3\xB2\xA1\x02"),
    BYTES("\x0A\x0D\x0D\x0A\x1C"),
    BYTES("-----BEGIN CERTIFICATE"),
    BYTES("#!/bin/sh\n"),
    BYTES("MYRIAD\r\n"),
    BYTES("\x1F\x8B\x08"),
    BYTES("PK\x03\x04\x14"),
    BYTES("\xFF\xFE"
          "a\0"),
    BYTES("\xFE\xFF\0a"),
    /* What tools print. */
    BYTES("CA 'mlx5_0'\n"),
    BYTES("Infiniband device 'mlx5_0'\n"),
    BYTES("hca_id:\tmlx5_0\n"),
    BYTES("Switch\t: 0x1 ports 64\n"),
    BYTES("Ca\t: 0x1 ports 1\n"),
    BYTES("x\n# Port counters: Lid 7\n"),
    BYTES("x\n# Node info: Lid 7\n"),
    BYTES("x\n# Port info: Lid 7\n"),
    BYTES("NodeRecord dump:\n"),
    BYTES("LinkRecord dump:\n"),
    BYTES("x\nSTART_NODES\n"),
    BYTES("-I- a\n"),
    BYTES("a IBDIAGNET\nb -I- c\n"),
    BYTES("a IBDIAGNET\nb\n"),
    BYTES("a OpenSM 3.3\n"),
    BYTES("MST modules:\n"),
    BYTES("Operational Info\n-\nPhysical state\n"),
    BYTES("Operational Info\n"),
    BYTES("+---+\n| NVIDIA-SMI 535\n"),
    BYTES("\tGPU0\tGPU1\n"),
    BYTES("1a:00.0 Infiniband controller: x\n"),
    BYTES("1: lo: <LOOPBACK,UP>\n"),
    BYTES("Settings for eth0:\n"),
    BYTES("Matching lldp records:\n"),
    BYTES("Port  Neighbor Device ID\n"),
    BYTES("Device ID  Local Intf  Hold-time\n"),
    BYTES("Device ID  Local Intf\n"),
    BYTES("Local  Parent Interface  Chassis Id\n"),
    BYTES("Local  Exptime(s)  Neighbor\n"),
    BYTES("Chassis ID : 1\nPort ID\n"),
    BYTES("  Interface  Lanes  Oper    Admin\n"),
    BYTES("Ethernet0 0,1 1 index\n"),
    BYTES("{\"DEVICE_METADATA\": {}}"),
    BYTES("{\"lldpNeighbors\": []}"),
    BYTES("{\"TABLE_nbor_detail\": 1}"),
    BYTES("{\"lldp-neighbors-information\": []}"),
    BYTES("{\"previous\": null, \"results\": []}"),
    BYTES("{\"previous\": null}"),
    BYTES("! Command: show running-config\n"),
    BYTES("a\nrouter bgp 1\n neighbor x\n"),
    BYTES("a\nrouter bgp 1\n"),
    BYTES("apiVersion: v1\n"),
    BYTES("name: a\ntopology:\n  kinds:\n"),
    BYTES("SwitchName=s0\n"),
    BYTES("ClusterName=a\nNodeName=b\n"),
    BYTES("ClusterName=a\n"),
    BYTES("subnet 10.0.0.0 {\n range 1 2;\n"),
    BYTES("Default=0x7fff,ipoib\n"),
    BYTES("<system version=\"1\">"),
    BYTES("<?xml?><lldp label=\"x\">"),
    BYTES("<rpc-reply>"),
    BYTES("Traceback (most recent call last):\n"),
    BYTES("sh: ibstat: command not found\n"),
    BYTES("ibwarn: [1] x\n"),
    BYTES("ibpanic: [1] x\n"),
    BYTES("ls: Permission denied\n"),
    BYTES("Connection to a refused\n"),
    /* Links of InfiniBand. */
    BYTES("vendid=0x2c9\n"),
    BYTES("devid=0x1\n"),
    BYTES("sysimgguid=0x1\n"),
    BYTES("switchguid=0x1\n"),
    BYTES("Switch\t64 \"S-1\"\n"),
    BYTES("Ca\t1 \"H-1\"\n"),
    BYTES("Hca\t1 \"H-1\"\n"),
    BYTES("Hca 1\n"),
    BYTES("Ca 1\n"),
    BYTES("x\n# Topology file: generated on Mon\n"),
    BYTES("SW\t7 0x1\n"),
    BYTES("CA  7 0x1\n"),
    BYTES("0x1 ==( 4X )==> 2\n"),
    BYTES("a\nPort=1\nPort Name=b\n"),
    BYTES("1 G-> HCA_1\n"),
    BYTES("1 G-> MQM9\n"),
    BYTES("a Neighbor Guid\n"),
    BYTES("{ CA Ports:1 }"),
    BYTES("x { SW \n"),
    BYTES("Errors for a\n"),
    BYTES("## Summary: 1\n"),
    BYTES("Unicast LIDs [1]\n"),
    /* Neighbours. */
    BYTES("LocalPort RemoteDevice\n"),
    BYTES("digraph g {\n"),
    BYTES("graph{}\n"),
    BYTES("/* a */\ngraph g\na -- b\n"),
    BYTES("// a\ngraph g\na -- b\n"),
    BYTES("strict graph g\na -- b\n"),
    BYTES("\"a\" -- \"b\"\n"),
    BYTES("lldp.eth0=1\n"),
    BYTES("a\nLLDP neighbors:\nb\n"),
    BYTES("[{\"peer_hostname\": 1}]"),
    BYTES("[{\"Added Links\": 1}]"),
    BYTES("[{\"Removed Links\": 1}]"),
    BYTES("{\"added\": 1, \"removed\": 2}"),
    BYTES("[{\"source_guid\": 1, \"destination_guid\": 2}]"),
    BYTES("{\"a\": {\"lldp\": 1}}"),
    BYTES("{\"a\": { \"lldp\": 1}}"),
    BYTES("{\"a\":\n \"lldp\": {}}"),
    /* Lists and documents. */
    BYTES("Source Device,Destination Device\n"),
    BYTES("from-device,to-device\n"),
    BYTES("a node,z node\n"),
    BYTES("A Device,Z Device\n"),
    BYTES("Name,HCA Port\n"),
    BYTES("\"a\",\"b\"\n"),
    BYTES("(a,b\n"),
    BYTES("a,b:\n"),
    BYTES("a,b=1\n"),
    BYTES("a,b: c\n"),
    BYTES("a;b\n"),
    BYTES("from\tto\n"),
    BYTES("transceivers:\n"),
    BYTES("cables: {}\n"),
    BYTES("gpus: 1\n"),
    BYTES("nics: 1\n"),
    BYTES("ethernet: 1\n"),
    BYTES("services: 1\n"),
    BYTES("racks: 1\n"),
    BYTES("cable_types: 1\ngpus_per_node: 2\n"),
    BYTES("lldp: 1\n"),
    BYTES("design: a\ndevices: b\n"),
    BYTES("servers: 9\n"),
    BYTES("a-b_9: 1\n"),
    BYTES("a:b\n"),
    BYTES("[12]\n"),
    BYTES("[12, 13]\n"),
    BYTES("[]\n"),
    BYTES("[1"),
    BYTES("<!doctype html>"),
    BYTES("<html>"),
    BYTES("<a/>"),
};

static void put_sample(struct myr_buf *text, struct myr_str sample)
{
    char words[MYR_KIND_WORDS_MAX], others[MYR_KIND_WORDS_MAX];
    MYR_CLEANUP(myr_buf_done) struct myr_buf changed = {};
    struct myr_err err = {};
    myr_kind_words(sample, words);
    int rc = myr_kind_check("f", sample, 0, "x", &err);
    myr_buf_printf(text, "%s%s%s%s\n    ", words, rc < 0 ? "" : ", or anything",
                   err.hint[0] ? " | " : "", err.hint);
    for (size_t i = 0; i < sample.len; i++) {
        char c = sample.data[i];
        myr_buf_putc(text, c > ' ' && c < 0x7F ? c : '_');
    }
    myr_buf_puts(text, "\n    ");
    for (size_t i = 0; i < sample.len; i++) {
        myr_buf_clear(&changed);
        myr_buf_put(&changed, sample.data, sample.len);
        changed.data[i] = (char)(changed.data[i] ^ 4);
        myr_kind_words((struct myr_str){changed.data, changed.len}, others);
        myr_buf_putc(text, strcmp(words, others) == 0 ? '.' : '!');
    }
    myr_buf_puts(text, "\n");
}

static void samples_are_told_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(samples); i++) {
        put_sample(&text, samples[i]);
    }
    /* A tar archive says so behind its first file's name. */
    char tar[300] = "a.txt";
    memcpy(tar + 257, "ustar", sizeof("ustar"));
    put_sample(&text, (struct myr_str){tar, 262});
    put_sample(&text, (struct myr_str){tar, 261});
    assert_kept("kinds.txt", &text);
}

static void assert_kind(const struct myr_buf *text, enum myr_kind kind)
{
    assert_int_equal(myr_kind_of((struct myr_str){text->data, text->len}), kind);
}

/* Only so far is looked: 16 KiB of a text, 512 bytes of a header, 24 keys of 64 bytes. */
static void a_look_has_its_limits(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf far = {}, keys = {}, header = {};
    char words[MYR_KIND_WORDS_MAX];
    while (far.len < 16384 - 8) {
        myr_buf_puts(&far, "words\n\n ");
    }
    far.len = 16384 - 12;
    myr_buf_puts(&far, "OpenSM 3.1 x");
    assert_kind(&far, MYR_KIND_PRINTED);
    far.data[16384 - 12] = 'o';
    assert_kind(&far, MYR_KIND_TEXT);
    far.data[16384 - 1] = '\0'; /* the last byte that is looked at */
    assert_kind(&far, MYR_KIND_BINARY);
    far.len = 16384 - 9;
    myr_buf_puts(&far, " OpenSM 3.");
    assert_kind(&far, MYR_KIND_TEXT);
    for (uint32_t i = 0; i < 24; i++) {
        myr_buf_printf(&keys, "key%02u: 1\n", i);
    }
    size_t len = keys.len;
    myr_buf_puts(&keys, "racks: 1\n");
    assert_kind(&keys, MYR_KIND_YAML); /* the 25th */
    memcpy(keys.data + len - 9, "racks", 5);
    assert_kind(&keys, MYR_KIND_CATALOG);
    myr_buf_clear(&keys);
    myr_buf_puts(&keys, "a: 1\n");
    for (uint32_t i = 0; i < 64; i++) {
        myr_buf_putc(&keys, 'k');
    }
    myr_buf_puts(&keys, ": 1\nlast: 2\n");
    assert_string_equal(myr_kind_words((struct myr_str){keys.data, keys.len}, words),
                        "YAML with the keys 'a', 'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk', "
                        "'last'");
    myr_buf_clear(&keys);
    myr_buf_puts(&keys, "a: 1\n");
    for (uint32_t i = 0; i < 65; i++) {
        myr_buf_putc(&keys, 'k');
    }
    myr_buf_puts(&keys, ": 1\nlast: 2\n");
    assert_string_equal(myr_kind_words((struct myr_str){keys.data, keys.len}, words),
                        "YAML with the keys 'a', 'last'");
    for (uint32_t i = 0; i < 498; i++) {
        myr_buf_putc(&header, 'h');
    }
    myr_buf_puts(&header, ",anode,znode\n");
    assert_kind(&header, MYR_KIND_CSV); /* 510 bytes are compared */
    myr_buf_clear(&header);
    for (uint32_t i = 0; i < 497; i++) {
        myr_buf_putc(&header, 'h');
    }
    myr_buf_puts(&header, ",anode,znode\n");
    assert_kind(&header, MYR_KIND_P2P);
}

/* A few bytes that are no text are a typing error; more than four, and an eighth, are not. */
static void stray_bytes_are_counted(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t bad = 3; bad <= 8; bad++) {
        for (uint32_t len = 16; len <= 64; len += 8) {
            myr_buf_clear(&text);
            for (uint32_t i = 0; i < len; i++) {
                myr_buf_putc(&text, i < bad ? '\x01' : 'a');
            }
            assert_kind(&text, bad > 4 && bad > len / 8 ? MYR_KIND_BINARY : MYR_KIND_TEXT);
            for (uint32_t i = 0; i < bad; i++) {
                text.data[i] = '\x80';
            }
            assert_kind(&text, bad > 4 && bad > len / 8 ? MYR_KIND_BINARY : MYR_KIND_TEXT);
        }
    }
    myr_buf_clear(&text);
    myr_buf_put(&text, "a\0b", 3);
    assert_kind(&text, MYR_KIND_BINARY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_told_as_they_were),
        cmocka_unit_test(a_look_has_its_limits),
        cmocka_unit_test(stray_bytes_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
