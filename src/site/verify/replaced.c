#include "hosts/hosts.h"
#include "verify/verify.h"

/*
 * A binding says what stands where. Cables put a device into a place whatever it is: one that has
 * other numbers, or another name where no number is bound, took the place of the one that was.
 */

static bool is_other_number(uint64_t bound, uint64_t found)
{
    return bound && found && bound != found;
}

/* Names of hosts, without domains and NICs; the plan's own name for the place is nobody's. */
static bool is_other_name(const struct myr_verify *verify, const struct myr_bound *bound,
                          const struct myr_cabling_device *found)
{
    struct myr_str host, was, nic;
    if (!bound->host.len || !hosts_split(found->name, &host, &nic) ||
        !hosts_split(bound->host, &was, &nic)) {
        return false;
    }
    return !myr_str_eq_nocase(host, was) && myr_site_find(verify->design, host) != bound->device;
}

static bool is_replaced(const struct myr_verify *verify, uint32_t found, uint32_t first, bool nic)
{
    const struct myr_binding *binding = verify->options.binding;
    const struct myr_cabling_device *device = &verify->cabling->devices.items[found];
    uint32_t at = verify->design->port_device[first];
    const struct myr_bound *whole = myr_binding_get(binding, at, MYR_NONE);
    const struct myr_bound *own = nic ? myr_binding_get(binding, at, first) : whole;
    uint64_t mac = 0;
    if (own && (is_other_number(own->guid, device->guid) ||
                is_other_number(own->port_guid, device->port_guid))) {
        return true;
    }
    if (own && device->mac.len && myr_mac_parse(device->mac, &mac) &&
        is_other_number(own->mac, mac)) {
        return true;
    }
    bool proved = own && ((own->guid && device->guid) || (own->mac && mac));
    return !proved && !device->is_switch && whole && is_other_name(verify, whole, device);
}

/* Each place once, with the first of its NICs that is another one. */
void verify_find_replaced(struct myr_verify *verify)
{
    const struct myr_cabling *cabling = verify->cabling;
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map seen = {};
    if (!verify->options.binding) {
        return;
    }
    verify->replaced = MYR_ARENA_NEW(verify->arena, struct myr_replaced, cabling->devices.count);
    for (uint32_t d = 0; d < cabling->devices.count; d++) {
        struct myr_port_span place = verify->places[d];
        bool nic = cabling->numbered && !cabling->devices.items[d].is_switch;
        if (place.count && is_replaced(verify, d, place.first, nic) &&
            myr_u64map_add(&seen, verify->design->port_device[place.first], 1)) {
            verify->replaced[verify->replaced_count++] =
                (struct myr_replaced){d, verify->design->port_device[place.first]};
        }
    }
}
