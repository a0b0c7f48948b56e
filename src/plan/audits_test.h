/* Specs and documents of audits_test.c. */
#pragma once

#include <stdbool.h>

static const struct {
    const char *text;
    bool parts; /* every part in every line, too */
} changed_specs[] = {
    {"servers: 6\nserver: h200-8gpu\nprices: cn-2024-05\nnetworks: {compute: {extra_nodes: 1, "
     "leaf_down: 4, leaf_up: 4, fabric_manager_ports: 2}, storage: {extra_nodes: 1}, service: , "
     "oob: }\nstorage: {capacity_tb: 700, rate: good}\nitems: [{part: firewall, quantity: 2, "
     "system: security}, {part: bastion, quantity: 3}]\n",
     true},
    {"servers: 9\nserver: h100-8gpu\nnetworks: {compute: {switch: sn5600, topology: clos, "
     "leaf_down: 16, leaf_up: 8, length_m: {host_leaf: 30, leaf_spine: 2}}, storage: {switch: "
     "mqm9790-ns2f, nic_ports: 1, nic_gbps: 200}}\nsupplied: [servers]\n",
     false},
    {"servers: 6\nserver: b300-8gpu-xdr\nnetworks: {compute: {switch: q3400, tiers: 2}, oob: "
     "}\nroom: {rows: 2, columns: 4, rack_kw: 80}\n",
     false},
    {"servers: 2\nserver: gb200-nvl72\nnetworks: {compute: , service: }\n", false},
    {"servers: 16\nserver: b300-8gpu\nnetworks: {compute: {switch: sn5600, topology: "
     "twin-planar}}\nstorage: {capacity_tb: 900, erasure: {data: 8, parity: 2}}\n",
     false},
    {"servers: 5\nserver: a100-8gpu\nnetworks: {compute: {switch: qm8790, length_m: 5}, service: "
     "}\nsupplied: [ethernet_cabling]\n",
     false},
};

#define WRITTEN_SPEC                                                                    \
    "servers: 40\nserver: h100-8gpu\nprices: cn-2024-05\nnetworks: {compute: {switch: " \
    "mqm9790-ns2f}, storage: {switch: mqm9790-ns2f}, service: , oob: }\nstorage: "      \
    "{capacity_tb: 700, rate: better}\n"
#define WRITTEN_ROOM "room: {rows: 4, columns: 5, rack_kw: 45}\n"

enum document { CLAIMS, LAYOUT, LIST };

static const struct {
    enum document kind;
    const char *text;
} written[] = {
    {CLAIMS, "servers: 40\nnetworks.compute.switches: {leaf: 16, spine: 7}\n"},
    {CLAIMS, "networks: {compute: {tiers: 3, fill: dense, topology: RAIL}}\n"},
    {CLAIMS, "networks.compute.fill: regular\nnetworks.compute.fill2: 1\n"},
    {CLAIMS, "bom[0].quantity: 3\nbom.1.part: x\n"},
    {CLAIMS, "bom.99.quantity: 3\n"},
    {CLAIMS, "bom: 3\n"},
    {CLAIMS, "networks.compute: 3\n"},
    {CLAIMS, "servers: many\n"},
    {CLAIMS, "totals.cost: 2000\n"},
    {CLAIMS, "totals.cost: 2,001\n"},
    {CLAIMS, "totals.unpriced_lines: 77\n"},
    {CLAIMS, "totals.cost: much\n"},
    {CLAIMS, "storage: {usable_tb: 700, raw_tb: 3041}\n"},
    {CLAIMS, "storage.raw_tb: 1689.6\nstorage.usable_tb: 845\n"},
    {CLAIMS, "storage.raw_tb: 1690\nstorage.usable_tb: 844.7\n"},
    {CLAIMS, "storage.raw_tb: 1689\nstorage.usable_tb: 844.80\n"},
    {CLAIMS, "storage.raw_tb: 1689.61\nstorage.servers: 3\n"},
    {CLAIMS, "watts: {MQM9790-NS2F: 1720 kW, h100-8gpu: 10.2 kW, nothing: 3}\n"},
    {CLAIMS, "watts: {mqm9790-ns2f: 2580, h100-8gpu: 15300 W}\n"},
    {CLAIMS, "watts: {mqm9790-ns2f: 2581, h100-8gpu: 300 W}\n"},
    {CLAIMS, "watts: {mqm9790-ns2f: 300, flash-22x15: 1}\n"},
    {CLAIMS, "watts: {mqm9790-ns2f: heavy}\n"},
    {CLAIMS, "watts: 3\n"},
    {CLAIMS, "storage.rates.best.unit.write: 62.5\nstorage.rates.best.4.read: 500\n"},
    {CLAIMS, "storage.rates.good: {unit: {read: 15, write: 7}, 2: {read: 30}, total: {write: 15}}"},
    {CLAIMS, "storage.rates: {read: 80, write: 40}\n"},
    {CLAIMS, "storage.rates: {read_gb_s: 81, writes: 39.9}\n"},
    {CLAIMS, "storage.rates.su.better: {读: 40, 写: 21}\n"},
    {CLAIMS, "storage.rates.cluster.good.reads: 31\n"},
    {CLAIMS, "storage.rates.fast.read: 31\n"},
    {CLAIMS, "storage.rates.good: 31\n"},
    {CLAIMS, "storage.rates.0.read: 31\n"},
    {CLAIMS, "storage.rates.100000.read: 31\n"},
    {CLAIMS, "storage.rates.100001.read: 31\n"},
    {CLAIMS, "storage.rates.read: high\n"},
    {CLAIMS, "storage.rates.read: [1, 2]\n"},
    {CLAIMS, "optics: [{switch_optic: mms4x00-ns, nic_optic: mma1z00-ns400, cable: mfp7e30-n005}]"},
    {CLAIMS, "optics: [{network: storage, nic_optic: mma1z00-ns400}, {network: storage, nic: "
             "cx6-200g, nic_optic: mma1z00-ns400}]\n"},
    {CLAIMS, "optics: [{network: storage, host_cable: mfp7e10-n050}]\n"},
    {CLAIMS, "optics: [{cable: mfp7e20-n010, switch: sn5600, fabric_optic: mma4z00-ns, "
             "fabric_cable: mfp7e30-n003}]\n"},
    {CLAIMS, "optics: [{fabric_cable: mfp7e30-n003}]\n"},
    {CLAIMS, "optics: [{fabric_optic: mms4x00-ns, fabric_cable: mfp7e10-n003}]\n"},
    {CLAIMS, "optics: [{network: oob, cable: mfp7e30-n003}]\n"},
    {CLAIMS, "optics: [{wire: mfp7e30-n003}]\n"},
    {CLAIMS, "optics: [{cable: no-such-cable}]\n"},
    {CLAIMS, "optics: [{cable: mqm9790-ns2f}]\n"},
    {CLAIMS, "optics: {cable: mfp7e30-n003}\n"},
    {CLAIMS, "optics: [3]\n"},
    {CLAIMS, "[1]\n"},
    {CLAIMS, "watts: {h100-sxm: 10.2 kW}\n"},
    {CLAIMS, "watts: {h100-sxm: 700, mqm9790-ns2f: 800}\n"},
    {CLAIMS, "watts: {mfp7e10-n030: 3, cx7-400g-osfp: 25}\n"},
    {CLAIMS, "room: null\nroom.racks: 3\nstorage.checkpoint.takes_s: null\n"},
    {CLAIMS, "storage.checkpoint.takes_s: 4\nstorage.files: {count: none}\n"},
    {CLAIMS, "networks.compute.oversubscription: [1]\nnetworks.compute.shape.dims: []\n"},
    {CLAIMS, "networks.compute.oversubscription.0: 2\nnetworks.compute.oversubscription.1: 2\n"},
    {CLAIMS, "optics: [{nic: eth-400g-qsfp112, nic_optic: mma1z00-ns400}]\n"},
    {CLAIMS, "optics: [{nic: cx8-800g, nic_optic: mma1z00-ns400, switch_optic: mma4z00-ns}]\n"},
    {CLAIMS, "optics: [{switch: qm8790, switch_optic: mms4x00-ns}, {nic: cx6-200g}]\n"},
    {CLAIMS, "optics: [{fabric_optic: mma4z00-ns, fabric_cable: mfp7e10-n050}]\n"},
    {CLAIMS, "optics: [{cable: mfp7e20-n050}, {network: storage, cable: mfp7e10-n050}]\n"},
    {CLAIMS, "optics: [{network: compute, switch_optic: mms4x00-ns}]\n"},
    {CLAIMS, "optics: [{cable: mfp7e30-n050}]\n"},
    {CLAIMS, "optics: [{cable: mfp7e10-n030}]\n"},
    {CLAIMS, "optics: [{fabric_optic: mms4x00-ns}]\n"},
    {CLAIMS, "optics: [{fabric_cable: mfp7e30-n050}, {fabric_cable: mfp7e10-n030}]\n"},
    {CLAIMS, "optics: [{nic_optic: mms4x00-ns400}, {nic_optic: mma4z00-ns400}]\n"},
    {CLAIMS, "optics: [{switch: qm8790}, {nic: cx6-200g, switch_optic: mma4z00-ns}]\n"},
    {CLAIMS, "servers: 40\nnodes: 40.4\ngpus: 320.0\nname: CLUSTER\n"},
    {LAYOUT, "rack,item,count\nA1,GPU server,39\nA2,leaf,16\nA2,spine,6\n"},
    {LAYOUT, "rack,item,count\nA1,GPU019,1\nA1,GPU20,\n,storage leaf,2\nA2,storage server,7\n"},
    {LAYOUT, "rack,item,count\nA1,GPU server,4\nA1,MQM9790-NS2F,3\nB1,storage spine,9\n"},
    {LAYOUT, "机柜,设备,数量\nA1,GPU服务器,40\nA1,管理节点,2\nA2,业务 接入交换机,4\n"},
    {LAYOUT, "rack,item,count\nA1,service access switch,9\nA1,oob access,9\nA1,service "
             "aggregation switch,1\nA1,oob core switch,9\nA1,switch,3\n"},
    {LAYOUT, "rack,item,part,u,kw\nA1,node/0,h100-8gpu,1,10\nA1,leaf/compute-0,mqm9790-ns2f,9,1\n"
             "A1,leaf/storage-p0-3,mqm9790-ns2f,9,1\nA2,spine/compute-0,mqm9790-ns2f,9,1\n"
             "A1,access/oob-0,eth-48x1g-4x10g,2,1\nA1,agg/service-0,eth-32x100g,2,1\n"
             "A3,core/compute-1,mqm9790-ns2f,1,1\nA3,manager/0,ufm-appliance,1,1\n"},
    {LAYOUT, "rack,item,count\nA1,GPU server,1000000\n"},
    {LAYOUT, "rack,item,count\nA1,GPU server,1000001\n"},
    {LAYOUT, "rack,item,count\nA1,GPU server,1.5\n"},
    {LAYOUT, "rack,item,count\n,GPU server,1\n"},
    {LAYOUT, "rack,item,count\nA1,,1\nA2,,\n"},
    {LAYOUT, "rack,item,item,count\n"},
    {LAYOUT, "rack,item,device,count\n"},
    {LAYOUT, "rack,item\nA1,leaf\n"},
    {LAYOUT, ""},
    {LAYOUT, "rack,item,count\nA1,coffee machine,1\nA1,coffee machine,2\nA2,tea,1\n"},
    {LAYOUT, "rack,item,count\nA1,H100,4\nA2,h100-sxm,1\nA2,GPU,36\n"},
    {LAYOUT, "item,count,rack\nleaf,16,A1\nspine\n,,\nstorage leaf,2\n"},
    {LAYOUT, "rack,item,part,u,kw\nA1,agg/oob-0,eth-32x100g,1,1\nA1,access/none-1,sn2201,1,1\n"},
    {LIST, "part;quantity\nx;1\n"},
    {LIST, "system,name,part,quantity\ncompute,switch,MQM9790-NS2F,24\ncompute,m,MMS4X00-NS,336\n"
           "compute,m,MMA4Z00-NS,336\ncompute,m,MMS4X00-NS400,160\ncompute,m,MMA4Z00-NS400,160\n"
           "compute,f,MFP7E30-N050,416\ncompute,f,MFP7E10-N050,416\n"},
    {LIST, "system,name,part,quantity\ncompute,switch,MQM9790-NS2F,24\ncompute,m,MMA4Z00-NS,336\n"
           "compute,m,MMS4X00-NS,336\ncompute,m,MMA4Z00-NS400,320\ncompute,f,MFP7E10-N040,500\n"
           "compute,f,MFP7E10-N050,332\ncompute,f,MFP7E10-N060,10\n"},
    {LIST, "system,name,part,quantity\ncompute,transceiver NIC end,own-7,320\ncompute,transceiver "
           "switch end,own-6,320\ncompute,fibre cable,own-8,640\nservice,switch,own-9,6\noob,core "
           "switch,own-5,2\n"},
    {LIST, "system,name,part,quantity,unit_price,total\ncompute,switch,MQM9790-NS2F,1,1,1\n"
           "compute,x,unknown,2,5,\nTotal,,,,,100\nTotal,,,,,1\n"},
    {LIST, "system,name,part,quantity\nservice,switch,ETH-48X25G-6X100G,6\nservice,switch,"
           "ETH-32X100G,4\noob,switch,ETH-48X1G-4X10G,9\n"},
    {LIST, "part\tquantity\nx\t1\n"},
    {LIST, "part,quantity,qty\nx,1,1\n"},
    {LIST, "part,quantity\nx,1.5\n"},
    {LIST, "part,quantity\nx,two\n"},
    {LIST, "part,quantity\nx,1000000001\n"},
    {LIST, "part,quantity,price\nx,1,-3\n"},
    {LIST, "part,quantity\n"},
    {LIST, ""},
    {LIST, "Offer of May,,,\n系统,型号,数量,单价,总价\n计算网络,MQM9790-NS2F,\"2,0\",1,1\n"},
    {LIST,
     "系统,名称,型号,描述,数量,单价,总价\n计算网络,交换机,MQM9790-NS2F,x,20,\"¥208,000\","
     "\"4,160,000\"\n,光模块,MMA4Z00-NS,\"850nm, 50m\",640,,\n,光纤,MFP7E10-N035,\"MMF, 50m\","
     "640,1,641\n存储网络,,,,,,\n,交换机,MQM9790-NS2F,,6,5,30\n合计,,,,,,4160700\n"},
    {LIST, "system,name,part,quantity,unit_price,total\ncompute,switch,MQM9790-NS2F,20,1,20\n"
           ",,MMA4Z00-NS,2,3,6\n,,,,,\ntotal,,,,,27\n"},
    {LIST, "system,name,part,quantity,unit_price,total\ncompute,switch,MQM9790-NS2F,20,1,20\n"
           ",,MMA4Z00-NS,2,3,6.02\nTotal:,,,,,26.02\n"},
    {LIST, "system,name,part,quantity\nstorage,NIC,MCX653105A-HDAT,40\nstorage,modules NIC "
           "end,MMA1Z00-NS400,40\ncompute,NIC,cx7-400g-osfp,300\n"},
    {LIST, "system,name,part,quantity\n,GPU servers,DGX H100,40\n,leaf switch,no-such,16\n"
           "service,access switch,own-brand,2\n,login node,,3\n,subnet manager,,1\n,防火墙,,2\n"
           ",存储软件,,1\nstorage,storage node,own,3\n"},
    {LIST, "system,name,part,quantity\n,IW,IW-Venus-3Y,12\n,IW,IW-VenusX,12\n,f,MFP7E10-N0A5,1\n"
           ",f,MFP7E10-N05A,1\n,f,mfp7e10-n777,1\n,f,MFP7E1-N777,1\n"},
    {LIST,
     "name,part,quantity\n30.2 m,MFP7E10-N030,1\n30.4 m,MFP7E10-N030,1\n29.8m,MFP7E10-N030,1\n"
     "29.6m,MFP7E10-N030,1\n"},
    {LIST, "system,name,part,quantity\ncompute,switch,sn5600,20\n,server,b300-8gpu,40\n"},
};
