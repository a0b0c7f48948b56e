/*
 * hwloc is loaded at run time, by the process that collects and ends: linked, it would stay in the
 * memory of every agent and launcher. Its tree is walked by its fields.
 */
#include "topology.h"

#include <dlfcn.h>
#include <stdio.h>

#include "nvml.h"

static const struct {
    const char *symbol;
    size_t at;
} symbols[] = {
    {"hwloc_topology_init", offsetof(struct hwloc, init)},
    {"hwloc_topology_load", offsetof(struct hwloc, load)},
    {"hwloc_topology_destroy", offsetof(struct hwloc, destroy)},
    {"hwloc_topology_set_io_types_filter", offsetof(struct hwloc, io_filter)},
    {"hwloc_get_obj_by_depth", offsetof(struct hwloc, by_depth)},
    {"hwloc_bitmap_list_snprintf", offsetof(struct hwloc, list)},
    {"hwloc_bitmap_first", offsetof(struct hwloc, first)},
};

/* All of them or none: a library without one of these is not the one that the header is of. */
static bool load(struct hwloc *hwloc)
{
    /* The version of the interface that the header is of. */
    void *library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library && i < MYR_ARRAY_COUNT(symbols); i++) {
        void *found = dlsym(library, symbols[i].symbol);
        if (!found) {
            return false;
        }
        memcpy((char *)hwloc + symbols[i].at, &found, sizeof(found));
    }
    return library != NULL;
}

static void put_numa(struct myr_answer *answer, const struct hwloc *hwloc, hwloc_obj_t node)
{
    char cpus[256];
    hwloc->list(cpus, sizeof(cpus), node->cpuset);
    myr_answer_object(answer, NULL);
    myr_answer_u64(answer, "node", node->os_index);
    myr_answer_text(answer, "cpus", cpus);
    myr_answer_u64(answer, "memory_bytes", node->attr->numanode.local_memory);
    myr_answer_end(answer);
}

/* hwloc gives the speed of the link in GB/s; -1 is no NUMA node. */
static void put_device(struct myr_answer *answer, const struct hwloc *hwloc, hwloc_obj_t device)
{
    const struct hwloc_pcidev_attr_s *pci = &device->attr->pcidev;
    char address[32];
    char ids[16];
    snprintf(address, sizeof(address), "%04x:%02x:%02x.%x", (unsigned)pci->domain, pci->bus,
             pci->dev, pci->func);
    snprintf(ids, sizeof(ids), "%04x:%04x", pci->vendor_id, pci->device_id);
    /*
     * Devices have no memory of their own: the first object above them that has some is the
     * nearest.
     */
    hwloc_obj_t near = device;
    while (near && !near->nodeset) {
        near = near->parent;
    }
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "address", address);
    myr_answer_text(answer, "device", ids);
    myr_answer_u64(answer, "class", pci->class_id);
    myr_answer_double(answer, "link_gbps", (double)pci->linkspeed * 8, 1);
    myr_answer_i64(answer, "numa", near ? hwloc->first(near->nodeset) : -1);
    myr_answer_end(answer);
}

/* The object behind this one, children first; NULL at the end. */
static hwloc_obj_t next(hwloc_obj_t at)
{
    /* Memory, then cores, then devices: an order that the way back up must keep. */
    hwloc_obj_t below[] = {at->memory_first_child, at->first_child, at->io_first_child};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(below); i++) {
        if (below[i]) {
            return below[i];
        }
    }
    for (; at->parent; at = at->parent) {
        hwloc_obj_t parent = at->parent;
        if (at->next_sibling) {
            return at->next_sibling;
        }
        /* From the memory side to the others, in the same order as above. */
        bool memory = at->type == HWLOC_OBJ_NUMANODE || at->type == HWLOC_OBJ_MEMCACHE;
        bool io = at->type == HWLOC_OBJ_BRIDGE || at->type == HWLOC_OBJ_PCI_DEVICE ||
                  at->type == HWLOC_OBJ_OS_DEVICE;
        if (memory && parent->first_child) {
            return parent->first_child;
        }
        if (!io && parent->io_first_child) {
            return parent->io_first_child;
        }
    }
    return NULL;
}

/* Two walks over the same tree, one for each list. */
static void put_all(struct myr_answer *answer, const struct hwloc *hwloc, hwloc_obj_t root)
{
    myr_answer_list(answer, "numa");
    for (hwloc_obj_t at = root; at; at = next(at)) {
        if (at->type == HWLOC_OBJ_NUMANODE) {
            put_numa(answer, hwloc, at);
        }
    }
    myr_answer_end(answer);
    myr_answer_list(answer, "pcie");
    for (hwloc_obj_t at = root; at; at = next(at)) {
        if (at->type == HWLOC_OBJ_PCI_DEVICE) {
            put_device(answer, hwloc, at);
        }
    }
    myr_answer_end(answer);
}

/* Null, not empty, where it cannot be said: the two are different answers. */
void topology_tell(const struct hwloc *hwloc, struct myr_answer *answer)
{
    hwloc_topology_t topology;
    if (!hwloc || hwloc->init(&topology) < 0) {
        myr_answer_null(answer, "numa");
        myr_answer_null(answer, "pcie");
        return;
    }
    /* Bridges and small devices would fill the list, and are left out. */
    (void)hwloc->io_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc->load(topology) < 0) {
        myr_answer_null(answer, "numa");
        myr_answer_null(answer, "pcie");
    } else {
        put_all(answer, hwloc, hwloc->by_depth(topology, 0, 0));
    }
    hwloc->destroy(topology);
}

void topology_collect(struct myr_answer *answer)
{
    struct hwloc hwloc = {};
    topology_tell(load(&hwloc) ? &hwloc : NULL, answer);
}
