#include "hosts/hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "verify/verify_test.h"

/*
 * A fabric whose hosts and NICs have names of their own, as every real one has: built as planned,
 * or with two cables exchanged at their switches.
 */
struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    enum myr_nic_view view;
    struct myr_cabling planned, found;
    struct myr_import import;
    struct myr_binding binding;
    struct myr_verify_options options;
    struct myr_verify verify;
    struct myr_buf text;
    struct myr_err err;
};

/* 12 nodes with 4 NICs, 4 leaves with 4 uplinks each: 64 cables. */
static const struct small_shape shape = {12, 4, 2, 2};
enum { ALL = 128, NIC_ENDS = 96 };

static void begin(struct fixture *f, enum myr_nic_view view)
{
    *f = (struct fixture){.view = view};
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, shape);
    myr_cabling_init(&f->planned, &f->arena);
    myr_cabling_init(&f->found, &f->arena);
    myr_import_init(&f->import, &f->found);
    myr_binding_init(&f->binding, &f->arena, &f->design);
    myr_cabling_from_design(&f->planned, &f->design, MYR_NET_COMPUTE, view);
    for (size_t i = 0; i < f->planned.devices.count; i++) {
        f->planned.devices.items[i].guid += UINT64_C(0x0a00000000000000); /* real ones */
    }
}

static void finish(struct fixture *f)
{
    myr_buf_done(&f->text);
    myr_binding_done(&f->binding);
    myr_import_done(&f->import);
    myr_cabling_done(&f->planned);
    myr_cabling_done(&f->found);
    myr_arena_done(&f->arena);
}

static struct myr_str keep(struct fixture *f, const char *text)
{
    return (struct myr_str){myr_arena_strndup(&f->arena, text, strlen(text)), strlen(text)};
}

/* Which NIC an end is, of its node; false: a switch. */
static bool is_nic(const struct fixture *f, struct myr_cabling_end end, uint32_t *node,
                   uint32_t *nic)
{
    uint32_t port = myr_cabling_port(&f->design, &f->planned, end);
    assert_int_not_equal(port, MYR_NONE);
    *node = f->design.port_device[port];
    *nic = port - f->design.first_port[*node];
    return f->design.place[*node].kind == MYR_DEVICE_NODE;
}

static struct myr_cabling_end *switch_end(struct fixture *f, uint32_t node, uint32_t nic)
{
    for (size_t i = 0; i < f->planned.links.count; i++) {
        struct myr_cabling_link *link = &f->planned.links.items[i];
        uint32_t n, k;
        if (is_nic(f, link->a, &n, &k) && n == node && k == nic) {
            return &link->b;
        }
        if (is_nic(f, link->b, &n, &k) && n == node && k == nic) {
            return &link->a;
        }
    }
    fail_msg("no such NIC");
    return NULL;
}

static void exchange(struct fixture *f, uint32_t node, uint32_t nic, uint32_t node2, uint32_t nic2)
{
    struct myr_cabling_end *one = switch_end(f, node, nic), *two = switch_end(f, node2, nic2);
    struct myr_cabling_end kept = *one;
    *one = *two;
    *two = kept;
}

/* InfiniBand's view: host and NIC are one name. */
static void name_nics(struct fixture *f, const char *form)
{
    char name[100];
    for (uint32_t i = 0; i < f->planned.devices.count; i++) {
        uint32_t node, nic;
        struct myr_cabling_end end = {i, MYR_STR("1")};
        if (!f->planned.devices.items[i].is_switch && is_nic(f, end, &node, &nic)) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(name, sizeof(name), form, 17 + node, nic);
#pragma GCC diagnostic pop
            f->planned.devices.items[i].name = keep(f, name);
        }
    }
}

/* The view of lists: NICs are ports. NULL keeps the design's names. */
static void name_ports(struct fixture *f, const char *host_form, const char *nic_form)
{
    char name[100];
    struct myr_str hosts[12] = {};
    for (size_t i = 0; i < 2 * f->planned.links.count; i++) {
        struct myr_cabling_link *link = &f->planned.links.items[i / 2];
        struct myr_cabling_end *end = i & 1 ? &link->b : &link->a;
        uint32_t node, nic;
        if (!is_nic(f, *end, &node, &nic)) {
            continue;
        }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(name, sizeof(name), nic_form, nic, node);
        end->port = keep(f, name);
        snprintf(name, sizeof(name), host_form, 17 + node);
#pragma GCC diagnostic pop
        hosts[node] = keep(f, name);
    }
    for (uint32_t d = 0; d < f->planned.devices.count; d++) {
        uint32_t node = myr_site_find(&f->design, f->planned.devices.items[d].name);
        if (host_form[0] && node < shape.nodes) {
            f->planned.devices.items[d].name = hosts[node];
        }
    }
}

static void discover(struct fixture *f)
{
    if (f->view == MYR_NIC_AS_DEVICE) {
        assert_int_equal(
            myr_write_ibnetdiscover(&f->planned, MYR_NETLIST_IBNETDISCOVER, &f->text, &f->err),
            MYR_OK);
    } else {
        myr_write_p2p(&f->planned, &f->text);
    }
    if (myr_import_text(&f->import, MYR_IMPORT_AUTO, "found", myr_str_from(f->text.data), &f->err) <
            0 ||
        myr_verify(&f->verify, &f->arena, &f->design, &f->found, &f->options, &f->err) < 0) {
        fail_msg("%s", f->err.message);
    }
}

static void expect_wrong(const struct fixture *f, uint32_t wrong, uint32_t moves)
{
    assert_int_equal(f->verify.counts[MYR_STATE_WRONG], wrong);
    assert_int_equal(f->verify.counts[MYR_STATE_RIGHT], ALL - wrong);
    assert_int_equal(f->verify.repair.moves, moves);
    assert_int_equal(myr_verify_clean(&f->verify), wrong == 0);
}

static const char *const nic_forms[] = {"gpu%u mlx5_%u",        "gpu%u HCA-%u",
                                        "gpu%u ibp%us0",        "gpu%u.hall.example mlx5_%u",
                                        "rack-7-gpu%u-mlx5_%u", "node-%05u mlx5_%u"};

static void nics_are_told_with_the_others_of_their_host(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(nic_forms); i++) {
        for (uint32_t fault = 0; fault < 3; fault++) {
            struct fixture f;
            begin(&f, MYR_NIC_AS_DEVICE);
            if (fault == 1) {
                exchange(&f, 0, 0, 2, 3); /* two hosts, two rails */
            } else if (fault == 2) {
                exchange(&f, 1, 0, 1, 2); /* two rails of a host */
            }
            name_nics(&f, nic_forms[i]);
            discover(&f);
            expect_wrong(&f, fault ? 4 : 0, fault ? 1 : 0);
            finish(&f);
        }
    }
}

static void a_host_that_names_no_nic_is_one_host_still(void **state)
{
    (void)state;
    for (uint32_t fault = 0; fault < 2; fault++) {
        struct fixture f;
        begin(&f, MYR_NIC_AS_DEVICE);
        if (fault) {
            exchange(&f, 0, 0, 2, 3);
        }
        name_nics(&f, "gpu%u");
        discover(&f);
        /* Which of its NICs is which nobody says; that two cables lead to other hosts is seen. */
        assert_int_equal(f.verify.counts[MYR_STATE_WRONG], fault ? 2 : 0);
        assert_int_equal(f.verify.counts[MYR_STATE_UNREAD], NIC_ENDS - (fault ? 2 : 0));
        assert_false(myr_verify_clean(&f.verify));
        finish(&f);
    }
}

/* Names that many hosts have say nothing: what its own cable says of a NIC is no proof. */
static void names_of_nobody_make_no_host(void **state)
{
    (void)state;
    static const char *const forms[] = {"localhost mlx5_0", "MT4129 ConnectX7 Mellanox", "worker"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(forms); i++) {
        struct fixture f;
        begin(&f, MYR_NIC_AS_DEVICE);
        name_nics(&f, forms[i]);
        discover(&f);
        assert_int_equal(f.verify.counts[MYR_STATE_WRONG], 0);
        assert_int_equal(f.verify.counts[MYR_STATE_UNREAD], NIC_ENDS);
        assert_int_equal(f.verify.repair.step_count, 0);
        assert_false(myr_verify_clean(&f.verify));
        finish(&f);
    }
}

static void ports_with_names_of_their_own_are_told_by_cables(void **state)
{
    (void)state;
    static const char *const forms[][2] = {
        {"gpu%u", "mlx5_%u"},
        {"gpu%u", "ens%unp0"},
        {"", "ens%unp0"},
        {"gpu%u.hall.example", "roce%u"},
        {"gpu%u", "aa:bb:cc:00:%02x:%02x"},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(forms); i++) {
        bool macs = strchr(forms[i][1], ':');
        for (uint32_t fault = 0; fault < 3; fault++) {
            struct fixture f;
            begin(&f, MYR_NIC_AS_PORT);
            if (fault == 1) {
                exchange(&f, 0, 0, 2, 3);
            } else if (fault == 2) {
                exchange(&f, 1, 0, 1, 2);
            }
            name_ports(&f, forms[i][0], forms[i][1]);
            discover(&f);
            if (macs) { /* addresses do not say which rail they are of */
                assert_int_equal(f.verify.counts[MYR_STATE_WRONG], fault == 1 ? 2 : 0);
                assert_int_equal(f.verify.counts[MYR_STATE_UNREAD],
                                 NIC_ENDS - (fault == 1 ? 2 : 0));
            } else {
                expect_wrong(&f, fault ? 4 : 0, fault ? 1 : 0);
            }
            finish(&f);
        }
    }
}

/* A fabric of twice the size: half of its hosts are nobody, and names that none votes for. */
static void hosts_that_are_nobody_stay_so(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, MYR_NIC_AS_DEVICE);
    struct small_shape twice = {2 * shape.nodes, shape.rails, shape.spines, shape.pair_links};
    small_design(&f.design, &f.arena, twice);
    myr_cabling_done(&f.planned);
    myr_cabling_init(&f.planned, &f.arena);
    myr_cabling_from_design(&f.planned, &f.design, MYR_NET_COMPUTE, MYR_NIC_AS_DEVICE);
    for (size_t i = 0; i < f.planned.devices.count; i++) {
        f.planned.devices.items[i].guid += UINT64_C(0x0a00000000000000);
    }
    name_nics(&f, "gpu%1$u mlx%1$u_%2$u");
    small_design(&f.design, &f.arena, shape);
    discover(&f);
    assert_false(myr_verify_clean(&f.verify));
    finish(&f);
}

/*
 * What more than half of the hosts say is what NICs are called, and the others are miscabled; where
 * no half is larger no rail is read, and none is called wrong.
 */
static void rails_without_a_majority_are_unread(void **state)
{
    (void)state;
    static const struct myr_hca_name map[] = {{MYR_STR("mlx5_0"), MYR_STR("nic0")},
                                              {MYR_STR("mlx5_1"), MYR_STR("nic1")},
                                              {MYR_STR("mlx5_2"), MYR_STR("nic2")},
                                              {MYR_STR("mlx5_3"), MYR_STR("nic3")}};
    for (uint32_t reversed = 1; reversed <= shape.nodes / 2; reversed++) {
        for (uint32_t told = 0; told < 2; told++) {
            struct fixture f;
            begin(&f, MYR_NIC_AS_DEVICE);
            for (uint32_t node = 0; node < reversed; node++) {
                exchange(&f, node, 0, node, 3);
                exchange(&f, node, 1, node, 2);
            }
            name_nics(&f, nic_forms[0]);
            f.options.hcas = told ? map : NULL;
            f.options.hca_count = told ? MYR_ARRAY_COUNT(map) : 0;
            discover(&f);
            bool read = told || reversed < shape.nodes / 2;
            assert_int_equal(f.verify.counts[MYR_STATE_WRONG], read ? 8 * reversed : 0);
            assert_int_equal(f.verify.counts[MYR_STATE_UNREAD], read ? 0 : NIC_ENDS);
            assert_int_equal(f.verify.repair.moves, read ? 2 * reversed : 0);
            assert_false(myr_verify_clean(&f.verify));
            finish(&f);
        }
    }
}

/* A host that deviates from what the others agree on is named. */
static void hosts_against_the_majority_are_named(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, MYR_NIC_AS_DEVICE);
    exchange(&f, 5, 0, 5, 3);
    name_nics(&f, nic_forms[0]);
    discover(&f);
    expect_wrong(&f, 4, 1);
    assert_int_equal(f.verify.assumed_count, 4);
    assert_int_equal(f.verify.deviating_count, 1);
    assert_int_equal(f.verify.deviating[0], 5);
    finish(&f);
}

/* Leaves the NICs of the first hosts and all switches: the others are not in service yet. */
static void keep_hosts(struct fixture *f, uint32_t hosts)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->planned.links.count; i++) {
        struct myr_cabling_link link = f->planned.links.items[i];
        uint32_t a = myr_cabling_port(&f->design, &f->planned, link.a);
        uint32_t b = myr_cabling_port(&f->design, &f->planned, link.b);
        uint32_t low = f->design.port_device[a < b ? a : b];
        if (low < hosts || low >= shape.nodes) {
            f->planned.links.items[kept++] = link;
        }
    }
    f->planned.links.count = kept;
}

/*
 * What NICs are called is learned from three hosts and more; from fewer only where their order, or
 * their own numbers, say the same: else one exchange of plugs would be learned as a name.
 */
static void few_hosts_teach_no_order_of_their_own(void **state)
{
    (void)state;
    for (uint32_t view = 0; view < 2; view++) {
        for (uint32_t hosts = 1; hosts <= 4; hosts++) {
            for (uint32_t crossed = 0; crossed < 2; crossed++) {
                struct fixture f;
                begin(&f, view ? MYR_NIC_AS_DEVICE : MYR_NIC_AS_PORT);
                for (uint32_t node = 0; crossed && node < hosts; node++) {
                    exchange(&f, node, 0, node, 3);
                }
                keep_hosts(&f, hosts);
                if (view) {
                    name_nics(&f, nic_forms[0]);
                } else {
                    name_ports(&f, "gpu%u", "mlx5_%u");
                }
                f.options.partial = true;
                discover(&f);
                bool unread = crossed && hosts < 3;
                assert_int_equal(f.verify.counts[MYR_STATE_WRONG], 0);
                assert_int_equal(f.verify.counts[MYR_STATE_UNREAD], unread ? 8 * hosts : 0);
                assert_int_equal(f.verify.assumed_count, unread ? 0 : 4);
                assert_int_equal(f.verify.few_hosts, unread ? hosts : 0);
                /* What is unread is not bound, unless the wiring is to decide. */
                struct myr_discovery found;
                myr_binding_discover(&f.binding, &f.verify, false, &found);
                assert_int_equal(found.by_cable + found.by_cable_ports, unread ? 4 * hosts : 0);
                uint32_t nic = f.design.first_port[0] + (crossed ? 3 : 0);
                uint32_t port = myr_binding_port(&f.binding, 0, MYR_STR("mlx5_0"));
                assert_int_equal(port, unread ? MYR_NONE : nic);
                myr_binding_discover(&f.binding, &f.verify, true, &found);
                assert_int_equal(found.by_cable + found.by_cable_ports, 0);
                assert_int_equal(myr_binding_port(&f.binding, 0, MYR_STR("mlx5_0")), nic);
                finish(&f);
            }
        }
    }
}

/* With a NIC dark, names that count from another number than the ports do say no place. */
static void few_hosts_without_all_nics_need_numbers_of_their_own(void **state)
{
    (void)state;
    static const char *const forms[] = {"gpu%u mlx5_%u", "gpu%u HCA-%u", "gpu%u mlx5_1%u"};
    static const char *const dark_names[] = {"gpu17 mlx5_1", "gpu17 HCA-1", "gpu17 mlx5_11"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(forms); i++) {
        struct fixture f;
        begin(&f, MYR_NIC_AS_DEVICE);
        keep_hosts(&f, 1);
        struct myr_cabling_end *far = switch_end(&f, 0, 1);
        for (size_t l = 0; l < f.planned.links.count; l++) {
            struct myr_cabling_link *link = &f.planned.links.items[l];
            if (far == &link->a || far == &link->b) {
                *link = f.planned.links.items[f.planned.links.count - 1];
            }
        }
        f.planned.links.count--;
        name_nics(&f, forms[i]);
        for (uint32_t d = 0; d < f.planned.devices.count; d++) {
            /* It is not there at all. */
            bool dark = strcmp(f.planned.devices.items[d].name.data, dark_names[i]) == 0;
            f.planned.devices.items[d].name =
                dark ? MYR_STR("elsewhere") : f.planned.devices.items[d].name;
        }
        f.options.partial = true;
        discover(&f);
        assert_int_equal(f.verify.counts[MYR_STATE_UNREAD] > 0, i > 0);
        finish(&f);
    }
}

static void a_divided_host_is_never_as_planned(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, MYR_NIC_AS_DEVICE);
    exchange(&f, 0, 0, 2, 0);
    exchange(&f, 0, 1, 2, 1);
    name_nics(&f, nic_forms[0]);
    discover(&f);
    expect_wrong(&f, 8, 2);
    finish(&f);
}

static void hosts_and_nics_are_bound_where_they_belong(void **state)
{
    (void)state;
    for (uint32_t fault = 0; fault < 2; fault++) {
        struct fixture f;
        struct myr_discovery found;
        begin(&f, MYR_NIC_AS_DEVICE);
        if (fault) {
            exchange(&f, 0, 0, 2, 3);
        }
        name_nics(&f, "gpu%u.hall.example mlx5_%u");
        discover(&f);
        myr_binding_discover(&f.binding, &f.verify, false, &found);
        assert_int_equal(found.conflicts, 0);
        for (uint32_t node = 0; node < shape.nodes; node++) {
            char name[32];
            snprintf(name, sizeof(name), "gpu%u", 17 + node);
            const struct myr_bound *host = myr_binding_get(&f.binding, node, MYR_NONE);
            assert_non_null(host);
            assert_true(myr_str_eq(host->host, myr_str_from(name)));
            for (uint32_t nic = 0; nic < shape.rails; nic++) {
                snprintf(name, sizeof(name), "mlx5_%u", nic);
                uint32_t port = myr_binding_port(&f.binding, node, myr_str_from(name));
                assert_int_equal(port, f.design.first_port[node] + nic);
                const struct myr_bound *row = myr_binding_get(&f.binding, node, port);
                uint64_t made = myr_site_guid(&f.design, port);
                assert_true(row->guid == made + UINT64_C(0x0a00000000000000));
            }
        }
        finish(&f);
    }
}

/* What hosts are called in the field, and of what a card's name is made. */
static void names_of_cards_are_a_host_and_a_card(void **state)
{
    (void)state;
    static const struct {
        const char *name, *host, *nic; /* no host: the name is not one of a host */
    } cases[] = {
        {"", NULL, NULL},
        {"gpu042", "gpu042", ""},
        {"gpu042.site.example", "gpu042", ""},
        {".site", ".site", ""},
        {"g.site", "g", ""},
        {"10.0.0.3", "10.0.0.3", ""},
        {"10.0.0.4", "10.0.0.4", ""},
        {"10.0.0.3 mlx5_0", "10.0.0.3", "mlx5_0"},
        {"10.0.0.3-mlx5_0", "10.0.0.3", "mlx5_0"},
        {"10.0.0.x", "10", ""},
        {"3com.site", "3com", ""},
        {"gpu042.site mlx5_3", "gpu042", "mlx5_3"},
        {"gpu042 HCA-1", "gpu042", "HCA-1"},
        {"gpu042 card", NULL, NULL},
        {"gpu042 ", NULL, NULL},
        {" mlx5_0", NULL, NULL},
        {"MT4129 ConnectX7 Mellanox", NULL, NULL},
        {"gpu-042", "gpu-042", ""},
        {"gpu-042-mlx5_0", "gpu-042", "mlx5_0"},
        {"gpu-042-mlx", "gpu-042-mlx", ""},
        {"gpu-042-ib", "gpu-042-ib", ""},
        {"gpu-042-ib0", "gpu-042", "ib0"},
        {"gpu-042-IB0", "gpu-042", "IB0"},
        {"gpu-042-hca1", "gpu-042", "hca1"},
        {"gpu-042-nic7", "gpu-042", "nic7"},
        {"gpu-042-hfi1_0", "gpu-042", "hfi1_0"},
        {"gpu-042-en9", "gpu-042", "en9"},
        {"gpu-042-eth9", "gpu-042", "eth9"},
        {"gpu-042-bnxt_re0", "gpu-042", "bnxt_re0"},
        {"gpu-042-irdma0", "gpu-042", "irdma0"},
        {"gpu-042-roce1", "gpu-042", "roce1"},
        {"gpu-042-rdma0", "gpu-042", "rdma0"},
        {"gpu-042-cxi0", "gpu-042", "cxi0"},
        {"gpu-042-xmlx5", "gpu-042-xmlx5", ""},
        {"gpu-042-", "gpu-042-", ""},
        {"-mlx5_0", "-mlx5_0", ""},
        {"localhost", NULL, NULL},
        {"localhost.localdomain", NULL, NULL},
        {"localhost mlx5_0", NULL, NULL},
        {"localhost2", "localhost2", ""},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_str host = {}, nic = {};
        bool split = hosts_split(myr_str_from(cases[i].name), &host, &nic);
        if (split != (cases[i].host != NULL) ||
            (split && (!myr_str_eq(host, myr_str_from(cases[i].host)) ||
                       !myr_str_eq(nic, myr_str_from(cases[i].nic))))) {
            fail_msg("'%s': %d, '%.*s' and '%.*s'", cases[i].name, split, (int)host.len, host.data,
                     (int)nic.len, nic.data);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_cards_are_a_host_and_a_card),
        cmocka_unit_test(nics_are_told_with_the_others_of_their_host),
        cmocka_unit_test(a_host_that_names_no_nic_is_one_host_still),
        cmocka_unit_test(names_of_nobody_make_no_host),
        cmocka_unit_test(ports_with_names_of_their_own_are_told_by_cables),
        cmocka_unit_test(hosts_that_are_nobody_stay_so),
        cmocka_unit_test(rails_without_a_majority_are_unread),
        cmocka_unit_test(hosts_against_the_majority_are_named),
        cmocka_unit_test(few_hosts_teach_no_order_of_their_own),
        cmocka_unit_test(few_hosts_without_all_nics_need_numbers_of_their_own),
        cmocka_unit_test(a_divided_host_is_never_as_planned),
        cmocka_unit_test(hosts_and_nics_are_bound_where_they_belong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
