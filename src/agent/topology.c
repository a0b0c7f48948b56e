#include <hwloc.h>
#include <stdio.h>

#include "nvml.h"

static void put_numa(struct myr_answer *answer, hwloc_topology_t topology)
{
    int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    myr_answer_list(answer, "numa");
    for (int i = 0; i < count; i++) {
        hwloc_obj_t node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, (unsigned)i);
        char cpus[256];
        hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), node->cpuset);
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "node", node->os_index);
        myr_answer_text(answer, "cpus", cpus);
        myr_answer_u64(answer, "memory_bytes", node->attr->numanode.local_memory);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* GPUs, NICs and disks; bridges and the like help nobody. */
static void put_pcie(struct myr_answer *answer, hwloc_topology_t topology)
{
    myr_answer_list(answer, "pcie");
    hwloc_obj_t device = NULL;
    while ((device = hwloc_get_next_pcidev(topology, device)) != NULL) {
        const struct hwloc_pcidev_attr_s *pci = &device->attr->pcidev;
        char address[32];
        char ids[16];
        snprintf(address, sizeof(address), "%04x:%02x:%02x.%x", pci->domain, pci->bus, pci->dev,
                 pci->func);
        snprintf(ids, sizeof(ids), "%04x:%04x", pci->vendor_id, pci->device_id);
        hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, device);
        int numa = near && near->nodeset ? hwloc_bitmap_first(near->nodeset) : -1;
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "address", address);
        myr_answer_text(answer, "device", ids);
        myr_answer_u64(answer, "class", pci->class_id);
        myr_answer_double(answer, "link_gbps", (double)pci->linkspeed * 8, 1);
        myr_answer_i64(answer, "numa", numa);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

void topology_collect(struct myr_answer *answer)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) < 0) {
        myr_answer_null(answer, "numa");
        myr_answer_null(answer, "pcie");
        return;
    }
    (void)hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(topology) < 0) {
        myr_answer_null(answer, "numa");
        myr_answer_null(answer, "pcie");
    } else {
        put_numa(answer, topology);
        put_pcie(answer, topology);
    }
    hwloc_topology_destroy(topology);
}
