/*
 * collect: what this machine has, from /proc and sysfs, with GPUs by nvml.c and topology by
 * topology.c. A file that is not there is an empty text: machines differ, and none is refused. It
 * runs in a process that ends, so that what it loads does not stay in memory.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "disk/files.h"
#include "inventory.h"
#include "myriad/text.h"
#include "nvml.h"

/* Empty where it cannot be read; some of these are for root alone. */
static void first_line(const char *folder, const char *name, char *ret, size_t size)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    ret[0] = '\0';
    if (file_get(folder, name, &text, NULL) == MYR_OK && text.len > 0) {
        size_t len = strcspn(text.data, "\n");
        for (size_t i = 0; i < len; i++) { /* from firmware: any byte may stand there */
            unsigned char c = (unsigned char)text.data[i];
            text.data[i] = (char)(c < 0x20 || c >= 0x7f ? '?' : c);
        }
        snprintf(ret, size, "%.*s", (int)len, text.data);
    }
}

/* In KiB there; 0 where it cannot be read. */
static uint64_t memory_bytes(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint64_t kib = 0;
    if (file_get("/proc", "meminfo", &text, NULL) < 0 || text.len == 0) {
        return 0;
    }
    /* "MemTotal:       263856264 kB", the first line. */
    const char *at = strstr(text.data, "MemTotal:");
    if (at) {
        at += strlen("MemTotal:");
        at += strspn(at, " ");
        (void)!myr_str_to_u64((struct myr_str){at, strspn(at, "0123456789")}, &kib);
    }
    return kib * 1024;
}

/* Calls 'put' for each entry of a folder of sysfs, in the order of their names. */
static void each(const char *folder, struct myr_answer *answer,
                 void (*put)(struct myr_answer *answer, const char *folder, const char *name))
{
    /* Sorted: the same machine gives the same answer each time. */
    struct dirent **found = NULL;
    int count = scandir(folder, &found, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (found[i]->d_name[0] != '.') {
            put(answer, folder, found[i]->d_name);
        }
        free(found[i]);
    }
    free(found);
}

/* As the kernel writes it: "4: ACTIVE", "400 Gb/sec (4X NDR)". */
static void put_port(struct myr_answer *answer, const char *folder, const char *name)
{
    char path[AGENT_PATH_MAX];
    char text[128];
    path_join(path, folder, name);
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "port", name);
    first_line(path, "state", text, sizeof(text));
    myr_answer_text(answer, "state", text);
    first_line(path, "rate", text, sizeof(text));
    myr_answer_text(answer, "rate", text);
    first_line(path, "link_layer", text, sizeof(text));
    myr_answer_text(answer, "link_layer", text);
    myr_answer_end(answer);
}

static void put_nic(struct myr_answer *answer, const char *folder, const char *name)
{
    char path[AGENT_PATH_MAX];
    char below[AGENT_PATH_MAX];
    char text[128];
    path_join(path, folder, name);
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "name", name);
    first_line(path, "node_guid", text, sizeof(text));
    myr_answer_text(answer, "guid", text);
    first_line(path, "fw_ver", text, sizeof(text));
    myr_answer_text(answer, "firmware", text);
    path_join(below, path, "device");
    first_line(below, "numa_node", text, sizeof(text));
    /* -1 where the kernel does not know. */
    myr_answer_text(answer, "numa", text);
    myr_answer_list(answer, "ports");
    path_join(below, path, "ports");
    each(below, answer, put_port);
    myr_answer_end(answer);
    myr_answer_end(answer);
}

static void put_disk(struct myr_answer *answer, const char *folder, const char *name)
{
    char path[AGENT_PATH_MAX];
    char below[AGENT_PATH_MAX];
    char text[128];
    uint64_t sectors = 0;
    path_join(path, folder, name);
    first_line(path, "size", text, sizeof(text));
    /* No disks, or none with a medium in it. */
    if (strncmp(name, "loop", 4) == 0 || strncmp(name, "ram", 3) == 0 ||
        !myr_str_to_u64(myr_str_from(text), &sectors) || sectors == 0) {
        return;
    }
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "name", name);
    /* sysfs counts in 512 bytes, whatever the disk's own sectors are. */
    myr_answer_u64(answer, "bytes", sectors * 512);
    path_join(below, path, "device");
    first_line(below, "model", text, sizeof(text));
    myr_answer_text(answer, "model", text);
    myr_answer_end(answer);
}

static void put_disks(struct myr_answer *answer)
{
    myr_answer_list(answer, "disks");
    each("/sys/block", answer, put_disk);
    myr_answer_end(answer);
}

/* What people see are the facts and the table of GPUs; programs get all of it. */
void inventory_collect(struct myr_answer *answer)
{
    char text[256] = "";
    (void)gethostname(text, sizeof(text) - 1);
    myr_answer_text(answer, "host", text);
    /* Read by root alone; the controller binds a node by its certificate, not by this. */
    first_line("/sys/class/dmi/id", "product_serial", text, sizeof(text));
    myr_answer_text(answer, "serial", text);
    first_line("/sys/class/dmi/id", "product_name", text, sizeof(text));
    myr_answer_text(answer, "product", text);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    myr_answer_u64(answer, "cpus", cpus > 0 ? (uint64_t)cpus : 0);
    myr_answer_u64(answer, "memory_bytes", memory_bytes());
    myr_answer_fact(answer, "CPUs", "%s", MYR_GROUPED((uint64_t)cpus));
    myr_answer_fact(answer, "memory", "%s GiB", MYR_GROUPED(memory_bytes() >> 30));
    nvml_collect(answer);
    topology_collect(answer);
    myr_answer_list(answer, "nics");
    each("/sys/class/infiniband", answer, put_nic);
    myr_answer_end(answer);
    put_disks(answer);
}
