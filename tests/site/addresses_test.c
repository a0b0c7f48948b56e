#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "designs.h"

static bool on_network(const struct myr_design *design, uint32_t port, uint32_t net)
{
    return design->port_link[port] != MYR_NONE && myr_design_port_group(design, port)->net == net;
}

static void check_ports(const struct myr_addresses *addresses, struct myr_u64map *taken)
{
    const struct myr_design *design = addresses->design;
    for (uint32_t p = 0; p < design->port_count; p++) {
        if (!on_network(design, p, addresses->net)) {
            continue;
        }
        uint32_t mine = myr_address_of_port(addresses, p);
        uint32_t other = myr_address_of_port(addresses, myr_design_peer(design, p));
        assert_true(myr_u64map_add(taken, mine, p));
        assert_int_equal(mine ^ other, 1); /* the two of a /31 */
        uint32_t peer = design->port_device[myr_design_peer(design, p)];
        if (myr_design_port_group(design, p)->role == MYR_PORT_NIC) {
            uint32_t block = myr_address_block(addresses, peer);
            assert_int_equal(block & ((1U << addresses->block_bits) - 1), 0);
            assert_int_equal(mine >> addresses->block_bits, block >> addresses->block_bits);
        } else if (myr_design_port_group(design, myr_design_peer(design, p))->role !=
                   MYR_PORT_NIC) {
            assert_int_not_equal(myr_address_asn(addresses, design->port_device[p]),
                                 myr_address_asn(addresses, peer));
        }
    }
}

/* RFC 7938: leaves have their own number, spines of a pod share one, core groups share one. */
static void check_numbers(const struct myr_addresses *addresses)
{
    const struct myr_design *design = addresses->design;
    const struct myr_network *net = &design->networks[addresses->net];
    struct myr_u64map leaves = {}, above = {};
    for (uint32_t i = 0; i < net->leaf; i++) {
        assert_true(myr_u64map_add(&leaves, myr_address_asn(addresses, net->first_leaf + i), i));
    }
    for (uint32_t i = 0; i < net->spine + net->core; i++) {
        uint32_t device = i < net->spine ? net->first_spine + i : net->first_core + i - net->spine;
        uint32_t asn = myr_address_asn(addresses, device);
        assert_true(asn >= 4200000000U);
        assert_null(myr_u64map_find(&leaves, asn));
        (void)myr_u64map_add(&above, asn, device);
    }
    if (net->spine && net->pod_spines) {
        uint32_t groups = net->spine / net->pod_spines;
        groups += net->core && net->group_cores ? net->core / net->group_cores : 0;
        assert_int_equal(above.count, groups);
    }
    myr_u64map_done(&leaves);
    myr_u64map_done(&above);
}

static void no_two_ports_or_devices_share_an_address(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < MYR_ARRAY_COUNT(shapes); s++) {
        struct planned planned;
        plan_shape(&planned, &shapes[s]);
        for (uint32_t net = 0; net <= MYR_NET_STORAGE; net++) {
            if (!has_network(&planned.design, net)) {
                continue;
            }
            struct myr_addresses addresses;
            struct myr_u64map taken = {};
            struct myr_err err = {};
            assert_int_equal(myr_addresses_init(&addresses, &planned.arena, &planned.design,
                                                (enum myr_net_id)net, &err),
                             MYR_OK);
            check_ports(&addresses, &taken);
            for (uint32_t d = 0; d < planned.design.device_count; d++) {
                assert_true(myr_u64map_add(&taken, myr_address_of_device(&addresses, d), d));
            }
            check_numbers(&addresses);
            myr_u64map_done(&taken);
        }
        planned_done(&planned);
    }
}

static void access_networks_are_not_routed(void **state)
{
    (void)state;
    struct planned planned;
    struct myr_addresses addresses;
    struct myr_err err = {};
    plan_shape(&planned, &shapes[3]);
    assert_true(has_network(&planned.design, MYR_NET_OOB));
    assert_int_equal(
        myr_addresses_init(&addresses, &planned.arena, &planned.design, MYR_NET_OOB, &err),
        MYR_EINVAL);
    assert_string_equal(err.message, "the oob network is not routed");
    planned_done(&planned);
}

/* 1,568 leaves of 64 hosts: a /25 each, and 401,408 addresses on the links between switches. */
static void a_hundred_thousand_gpus_fit(void **state)
{
    (void)state;
    const struct shape large = {"large", 12544, "h100-8gpu",
                                "compute: {switch: sn5600, nic_gbps: 400}"};
    struct planned planned;
    struct myr_addresses addresses;
    struct myr_u64map taken = {};
    struct myr_err err = {};
    plan_shape(&planned, &large);
    assert_int_equal(
        myr_addresses_init(&addresses, &planned.arena, &planned.design, MYR_NET_COMPUTE, &err),
        MYR_OK);
    assert_int_equal(addresses.block_bits, 7);
    check_ports(&addresses, &taken);
    assert_int_equal(taken.count, 2 * 301056);
    uint32_t last = 0;
    for (uint32_t link = 0; link < planned.design.link_count; link++) {
        uint32_t number = addresses.fabric_number[link];
        last = number != MYR_NONE && number > last ? number : last;
    }
    assert_int_equal(2 * (last + 1), 401408);
    check_numbers(&addresses);
    myr_u64map_done(&taken);
    planned_done(&planned);
}

/* What switches' own systems call a port leads to the same port. */
static void ports_are_found_under_the_names_of_switch_systems(void **state)
{
    (void)state;
    struct myr_buf name = {};
    for (uint32_t s = 0; s < MYR_ARRAY_COUNT(shapes); s++) {
        struct planned planned;
        plan_shape(&planned, &shapes[s]);
        const struct myr_design *design = &planned.design;
        for (uint32_t p = 0; p < design->port_count; p++) {
            uint32_t device = design->port_device[p];
            myr_buf_clear(&name);
            myr_site_interface(design, p, &name);
            assert_true(name.len < 16); /* Linux allows 15 letters */
            assert_int_equal(
                myr_site_find_port(design, device, (struct myr_str){name.data, name.len}), p);
            if (myr_design_port_group(design, p)->per_cage > 1) {
                myr_buf_clear(&name);
                myr_buf_put_lit(&name, "Ethernet");
                myr_design_port_name(design, p, &name);
                assert_int_equal(
                    myr_site_find_port(design, device, (struct myr_str){name.data, name.len}),
                    memchr(name.data, '/', name.len) ? p : MYR_NONE);
            }
        }
        planned_done(&planned);
    }
    myr_buf_done(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_ports_or_devices_share_an_address),
        cmocka_unit_test(access_networks_are_not_routed),
        cmocka_unit_test(a_hundred_thousand_gpus_fit),
        cmocka_unit_test(ports_are_found_under_the_names_of_switch_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
