/*
 * Texts of every format that is imported, with what is rarely in them: lengths and units, modes of
 * correction, ports that are down, ends in both orders, names in quotes. Not taken from anywhere:
 * made after the formats' descriptions.
 */
#pragma once

#include "myriad/site/import.h"

struct import_text {
    enum myr_import_format format;
    const char *name, *text;
    const char *second; /* read after it; or NULL */
};

static const struct import_text import_texts[] = {
    {MYR_IMPORT_P2P, "all columns",
     "A-Node Name,A-Type,A-Port,Z-Node Name,Z-Type,Z-Port,Label,Speed,Width,Errors,BER,FEC,"
     "Medium,Rack\n"
     "node-00000,Host,nic0,leaf-1,Switch,1/1,c-1,400,4,0,1e-7,RS,dac-passive,r1\n"
     "node-00000,Host,nic1,leaf-2,SWITCH,1/1,,200,2,17,0.5,none,smf,r1\n"
     " node-00001 ,Host,nic0,leaf-1,Switch, 1/2 ,,,,,,OFF,,\n"
     "node-00001,Host,nic1,,,,,,,,,,,\n"
     ",,,leaf-2,Switch,1/2,,,,,,,,\n"
     "node-00002,Host,nic0,?,,?,,,,,,,,\n"
     ",,,,,,,,,,,,,\n"
     "LEAF-1,Switch,2/1,spine-1.site.example,Switch,1/1,,1000000,64,18446744073709551615,1,No-FEC,"
     "mmf,\n",
     NULL},
    {MYR_IMPORT_P2P, "pairs of columns",
     "Rack,U,Name,HCA/Port,Rack,U,Node Name,Port\n"
     "a1,12,gpu01,mlx5_0,b1,40,leaf-1,1\n"
     "a1,14,gpu02,mlx5_0,b1,40,leaf-1,2\n"
     "a1,14,\"gpu,02\",\"mlx5 \"\"1\"\"\",b1,41,leaf-2,2\n",
     "Source Device,Source Port,Destination Device,Destination Port,Lanes,Raw BER\n"
     "leaf-1,2,gpu02,mlx5_0,4,3e-5\nleaf-2,9,gpu03,mlx5_1,,\n"},
    {MYR_IMPORT_NETBOX, "units and kinds",
     "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,status,"
     "label,color,length,length_unit\n"
     "node-00000,dcim.interface,nic0,leaf-1,dcim.interface,2,mmf,connected,00000000,,50,m\n"
     "node-00001,dcim.interface,nic0,leaf-1,,1,smf,Planned,1,,1.5,ft\n"
     "node-00002,,nic0,leaf-1,dcim.interface,3,smf-os2,connected,,,1.5,ft\n"
     "leaf-1,,5,spine-1,,3,dac-passive,connected,,,30.5,cm\n"
     "leaf-1,,6,spine-1,,4,dac-passive,,,,12,in\n"
     "leaf-1,,7,spine-1,,5,smf,,,,0.25,km\n"
     "leaf-1,,8,spine-1,,6,smf,,,,3,mi\n"
     "leaf-1,,9,spine-1,,7,smf,,,,2.0004,Meters\n"
     "leaf-1,,10,spine-1,,8,smf,,,,100000,Kilometers\n"
     "node-00001,dcim.powerport,PS1,pdu,dcim.poweroutlet,1,power,connected,,,,\n"
     "node-00003,dcim.interface,nic0,,,,,,,,,\n",
     NULL},
    {MYR_IMPORT_NETBOX, "exported",
     "Device A,Termination A,Device B,Termination B,Type,Status,Length\n"
     "leaf-1,swp1,node-00000,nic0,smf,Connected,10.5 m\n"
     "leaf-1,swp2,node-00001,nic0,smf,Connected,4 feet\n"
     "leaf-1,swp3,node-00002,nic0,,,7 inches\n"
     "leaf-1,swp4,node-00003,nic0,,,\n",
     NULL},
    {MYR_IMPORT_IBNETDISCOVER, "a fabric",
     "#\n# Topology file: generated on now\n#\n"
     "vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x98039b0300a1b2c4\n"
     "switchguid=0x98039b0300a1b2c4(98039b0300a1b2c4)\n"
     "Switch\t64 \"S-98039b0300a1b2c4\"\t\t# \"MF0;leaf-1:MQM9700/U1\" enhanced port 0 lid 7 lmc "
     "0\n"
     "[1]\t\"H-9c0591030012ab34\"[1](9c0591030012ab35) \t\t# \"node-00000 mlx5_0\" lid 9 4xNDR\n"
     "[2]\t\"H-9c0591030012ab44\"[2](9c0591030012ab45) \t\t# \"node-00001 mlx5_0\" lid 10 2xHDR\n"
     "[40]\t\"S-98039b0300a1b2d4\"[3]\t\t# \"spine-1\" lid 8 4xXDR\n\n"
     "switchguid=0x98039b0300a1b2d4(98039b0300a1b2d4)\n"
     "Switch\t36 \"S-98039b0300a1b2d4\"\t\t# \"spine-1\" base port 0 lid 8 lmc 0\n"
     "[3]\t\"S-98039b0300a1b2c4\"[40]\t\t# \"MF0;leaf-1:MQM9700/U1\" lid 7 4xXDR\n\n"
     "caguid=0x9c0591030012ab34\n"
     "Ca\t1 \"H-9c0591030012ab34\"\t\t# \"node-00000 mlx5_0\"\n"
     "[1](9c0591030012ab35) \t\"S-98039b0300a1b2c4\"[1]\t\t# lid 9 lmc 0 \"leaf-1\" lid 7 4xNDR\n\n"
     "caguid=0x9c0591030012ab44\n"
     "Ca\t2 \"H-9c0591030012ab44\"\t\t# \"node-00001 mlx5_0\"\n"
     "[2](9c0591030012ab45) \t\"S-98039b0300a1b2c4\"[2]\t\t# lid 10 lmc 0 \"leaf-1\" lid 7 2xHDR\n",
     "Switch\t4 \"S-98039b0300a1b2e4\"\t\t# \"spine-2\" lid 11\n"
     "[1]\t\"S-98039b0300a1b2c4\"[41]\t\t# \"leaf-1\" lid 7 1xFDR10\n"},
    {MYR_IMPORT_IBQUERYERRORS, "counters",
     "Errors for 0x98039b0300a1b2c4 \"leaf-1\"\n"
     "   GUID 0x98039b0300a1b2c4 port ALL: [SymbolErrorCounter == 9999]\n"
     "   GUID 0x98039b0300a1b2c4 port 5: [SymbolErrorCounter == 12] [PortXmitWait == 4]\n"
     "   GUID 0x98039b0300a1b2c4 port 6: [LinkErrorRecoveryCounter == 1] [LinkDownedCounter == 2] "
     "[PortRcvErrors == 4] [PortRcvRemotePhysicalErrors == 8] [LocalLinkIntegrityErrors == 16] "
     "[ExcessiveBufferOverrunErrors == 32] [PortXmitDiscards == 64]\n"
     "   GUID 0x98039b0300a1b2c4 port 7: [SymbolErrorCounter == 18446744073709551615] "
     "[PortRcvErrors == 5 (0.005KB)]\n\n"
     "## Summary: 2 nodes checked, 1 bad nodes found\n",
     NULL},
    {MYR_IMPORT_LLDP, "json",
     "{\"local-chassis\": {\"chassis\": {\"leaf-1\": {\"id\": {\"type\": \"mac\", \"value\": "
     "\"aa:bb:cc:dd:ee:01\"}, \"descr\": \"x\"}}}}\n"
     "{\"lldp\": {\"interface\": [\n"
     " {\"swp1\": {\"via\": \"LLDP\", \"rid\": \"1\", \"chassis\": {\"node-00000\": {\"id\": "
     "{\"type\": \"mac\", \"value\": \"3e:9c:2b:3d:21:25\"}, \"mgmt-ip\": [\"10.0.0.1\", "
     "\"fe80::1\"], "
     "\"capability\": [{\"type\": \"Bridge\", \"enabled\": true}]}}, \"port\": {\"id\": {\"type\": "
     "\"ifname\", \"value\": \"nic0\"}, \"descr\": \"to the leaf\", \"ttl\": \"120\"}}},\n"
     " {\"swp2\": {\"chassis\": {\"node-00001\": {}}, \"port\": {\"id\": {\"type\": \"mac\", "
     "\"value\": \"3e:9c:2b:3d:21:26\"}, \"descr\": \"enp26s0np0\"}}},\n"
     " {\"swp3\": {\"chassis\": {\"node-00002\": {}}, \"port\": {\"id\": {\"type\": \"local\", "
     "\"value\": \"17\"}, \"descr\": \"et-0/0/16:1\"}}},\n"
     " {\"swp4\": {\"chassis\": {\"id\": {\"type\": \"mac\", \"value\": \"3e:9c:2b:3d:21:27\"}}, "
     "\"port\": {\"id\": {\"type\": \"ifalias\", \"value\": \"a port of the\\tfourth \\\"box\\\" "
     "\\u00e9\"}}}},\n"
     " {\"swp5\": [{\"chassis\": {\"spine-1\": {\"mgmt-ip\": \"10.0.0.9\"}}, \"port\": {\"id\": "
     "{\"type\": \"ifname\", \"value\": \"swp1\"}}}]}\n"
     "]}}\n",
     "{\"lldp\": {\"interface\": {\"swp1\": {\"chassis\": {\"LEAF-1\": {}}, \"port\": {\"id\": "
     "{\"type\": \"ifname\", \"value\": \"swp5\"}}}}}}"},
    {MYR_IMPORT_LLDP, "json0, host by host",
     "{\"leaf-1\": {\"lldp\": [{\"interface\": [{\"name\": \"swp1\", \"chassis\": [{\"id\": "
     "[{\"type\": \"mac\", \"value\": \"3e:9c:2b:3d:21:25\"}], \"name\": [{\"value\": "
     "\"node-00000\"}], \"mgmt-ip\": [{\"value\": \"10.0.0.1\"}]}], \"port\": [{\"id\": "
     "[{\"type\": "
     "\"ifname\", \"value\": \"nic0\"}], \"descr\": [{\"value\": \"x\"}]}]}]}]},\n"
     " \"leaf-2\": {\"lldp\": [{\"interface\": [{\"name\": \"swp1\", \"chassis\": [{\"name\": "
     "[{\"value\": \"node-00001\"}]}], \"port\": [{\"id\": [{\"type\": \"mac\", \"value\": "
     "\"3e:9c:2b:3d:21:29\"}]}]}]}]}}\n",
     NULL},
    {MYR_IMPORT_SONIC_LLDP, "a table in a session",
     "admin@leaf-1:~$ show lldp table\n"
     "Capability codes: (R) Router, (B) Bridge, (O) Other\n"
     "LocalPort    RemoteDevice  RemotePortID       Capability  RemotePortDescr\n"
     "-----------  ------------  -----------------  ----------  ---------------\n"
     "Ethernet0    gpu0001       mlx5_0             BR\n"
     "Ethernet8    gpu0002       3e:9c:2b:3d:21:25  BR          enp26s0np0\n"
     "Ethernet16   spine-1       Ethernet0          BR          etp1\n"
     "Ethernet24                 3e:9c:2b:3d:21:26  R           eth1\n"
     "--------------------------------------------------\n"
     "Total entries displayed:  4\n",
     NULL},
    {MYR_IMPORT_PTM, "a graph",
     "/* made by hand,\n twice */\nstrict graph G {\n hostidtype=\"hostname\", BFD=\"x\";\n"
     " node [a=\"b\"]; // c\n \"leaf-1\":\"swp1\" -- \"node-00000\":\"nic0\" [k=\"v\"];\n"
     " leaf-1:swp2 -> node-00001:nic0; # remark\n"
     " \"leaf-1\":\"swp 3\" -- \"spine-1\":swp1\n}\n",
     "graph H { spine-1:swp2 -- leaf-2:swp3; }"},
    {MYR_IMPORT_IB_LINES, "a line a port",
     "SW     1  1 0x98039b0300a1b2c4 4x NDR - CA     9  1 0x9c0591030012ab34 ( "
     "'MF0;leaf-1:MQM9700/U1' - 'gpu0001 HCA-1' )\n"
     "SW     1  2 0x98039b0300a1b2c4 2x HDR - SW     2 40 0x98039b0300a1b2d4 ( "
     "'MF0;leaf-1:MQM9700/U1' - 'spine-1' )\n"
     "CA     9  1 0x9c0591030012ab34 4x NDR - SW     1  1 0x98039b0300a1b2c4 ( "
     "'gpu0001 HCA-1' - 'MF0;leaf-1:MQM9700/U1' )\n"
     "RT     9  2 0x9c0591030012ab3f 4x NDR - SW     1  9 0x98039b0300a1b2c4 ( 'r' - 'leaf-1' )\n"
     "SW     1 64 0x98039b0300a1b2c4 ?? ??? 'MF0;leaf-1:MQM9700/U1'\n"
     "DR path slid 0; dlid 0; 0,1,2 unknown\n",
     NULL},
    {MYR_IMPORT_IBLINKINFO, "switch by switch",
     "Switch: 0x98039b0300a1b2c4 MF0;leaf-1:MQM9700/U1:\n"
     "               1    1[  ] ==( 4X       106.25 Gbps Active/  LinkUp)==>      9    1[  ] "
     "\"node-00000 mlx5_0\" ( )\n"
     "               1    2[  ] ==( 2X        53.125 Gbps Active/  LinkUp)==>     17    1[  ] "
     "\"node-00001 mlx5_0\" ( Could be 106.25 Gbps)\n"
     "               1   40[  ] ==( 4X       NDR Active/  LinkUp)==>      2   62[  ] \"spine-1\" ( "
     ")\n"
     "               1   64[  ] ==(                Down/ Polling)==>             [  ] \"\" ( )\n"
     "CA: node-00000 mlx5_0:\n"
     "      0x9c0591030012ab35      9    1[  ] ==( 4X       106.25 Gbps Active/  LinkUp)==>      1 "
     "   1[  ] \"leaf-1\" ( )\n",
     NULL},
    {MYR_IMPORT_IBLINKINFO, "a line a link",
     "0x98039b0300a1b2c4 \"        leaf-1\"      1    5[  ] ==( 4X       106.25 Gbps Active/  "
     "LinkUp)==>  0x9c0591030012ab34      5    1[  ] \"gpu01 mlx5_0\" ( )\n"
     "0x98039b0300a1b2c4 \"leaf-1\"      1    6[  ] ==(                Down/ Polling)==>           "
     "  "
     "[  ] \"\" ( )\n"
     "0x98039b0300a1b2c4 \"leaf-1\"      1    7[  ] ==( 1X      14.0625 Gbps Active/  LinkUp)==>  "
     "0x98039b0300a1b2d4      7   12[  ] \"spine-1\" ( )\n",
     NULL},
    {MYR_IMPORT_IBDIAGNET, "net_dump",
     "# This database file was automatically generated by IBDIAG\n\n"
     "\"leaf-1\", Mellanox, 0x98039b0300a1b2c4, LID 1\n"
     " # : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid : N# : NLID : "
     "Neighbor Description\n"
     " 1/1 : 1 : ACT : LINK UP : 5 : 4x : 100 : STD-RS : NO-RTR : 0x9c0591030012ab34 : 1 : 9 : "
     "\"node-00000 nic0\"\n"
     " 1/2 : 2 : ACT : LINK UP : 5 : 2x : 50 : NO-FEC : NO-RTR : 0x9c0591030012ab44 : 1 : 17 : "
     "\"node:00001 nic0\"\n"
     " 2/1 : 3 : ACT : LINK UP : 5 : 4x : NDR : none : NO-RTR : 0x98039b0300a1b2d4 : 62 : 2 : "
     "\"spine-1\"\n"
     " 2/2 : 4 : DOWN : POLL : N/A : N/A : N/A : N/A : N/A : : : : \n"
     " 3/1 : 5 : ACT : LINK UP : 5 : 16x : 999 : STD : NO : 0x98039b0300a1b2d4 : 63 : 2 : \"\"\n",
     NULL},
    {MYR_IMPORT_IBDIAGNET, "lst",
     "{ CA Ports:01 SystemGUID:9c0591030012ab34 NodeGUID:9c0591030012ab34 "
     "PortGUID:9c0591030012ab35 "
     "VenID:000002C9 {gpu0001 mlx5_0} LID:0009 PN:01 } { SW Ports:41 NodeGUID:98039b0300a1b2c4 "
     "PortGUID:98039b0300a1b2c4 {LEAF-1} LID:0001 PN:0a } PHY=4x LOG=ACT SPD=100\n"
     "{ SW Ports:41 NodeGUID:98039b0300a1b2c4 {LEAF-1} LID:0001 PN:0b } { SW Ports:41 "
     "NodeGUID:98039b0300a1b2d4 {spine-1} LID:0002 PN:1f } PHY=16x LOG=ACT SPD=12.5\n"
     "{ SW NodeGUID:98039b0300a1b2c4 {LEAF-1} PN:0c } { SW NodeGUID:98039b0300a1b2d4 {} PN:20 }\n",
     NULL},
    {MYR_IMPORT_IBDIAGNET, "cables",
     "-------------------------------------------------------\n"
     "Port=1 Lid=0x00a4 GUID=0xf45214030046a0a1 Port Name=gpu01/U1/P1\n"
     "-------------------------------------------------------\n"
     "PN: MMA4Z00-NS400\nLength: 3 m\nType: 850 nm VCSEL\n"
     "RX1 Power: 0.851 mW, -0.701 dBm\nRX2 Power: 0.451 mW, -3.458 dBm\n"
     "RX3 Power: 0.551 mW, -2.588 dBm\nRX4 Power: 1.551 mW, 1.906 dBm\n"
     "TX1 Power: 0.000 mW, -999.999 dBm\nTX2 Power: 0.9 mW, -0.4 dBm\n\n"
     "Port=2 Lid=0x00a5 GUID=0xf45214030046a0b1 Port Name=gpu02/U1/P2\n"
     "Type: Copper cable- unequalized\nRX1 Power: N/A\n"
     "Port=3 Lid=0x00a6 GUID=0xf45214030046a0c1 Port Name=x\nType: 1310 nm DFB\n"
     "RX1 Power: -98.9 dBm\nRX2 Power: 99.9 dBm\nRX3 Power: 100.1 dBm\n",
     NULL},
    {MYR_IMPORT_IBDIAGNET, "topo",
     "# topology\nMQM9700 leaf-1\n    P2 -4x-100G-> HCA_mlx5_3 gpu01 mlx5_0/P1\n"
     "    P40 -4x-100G-> MQM9700 spine-1 P62\n    p41 -1X-14.0625g-> MQM9700 spine-1 p63\n"
     "    P42 -16x-999G-> MQM9700 spine-1 P64\n    P43 -17x-1000G-> MQM9700 spine-1 P65\n"
     "MQM9700 spine-1\n    P62 -4x-100G-> MQM9700 leaf-1 P40\n"
     "HCA_mlx5_3 gpu02\n    mlx5_1/P1 -2x-50G-> MQM9700 leaf-1 P3\n",
     NULL},
    {MYR_IMPORT_LINKS_JSON, "UFM",
     "[{\"source_guid\": \"0x9c0591030012ab34\", \"source_port\": \"1\", "
     "\"source_port_node_description\": \"gpu0001 mlx5_0\",\n  \"destination_guid\": "
     "\"98039b0300a1b2c4\", \"destination_port\": \"1\", \"destination_port_node_description\": "
     "\"leaf-1:1/19/2\", \"severity\": \"Info\", \"more\": {\"x\": [1, 2.5e3, null, true]}},\n"
     " {\"source_guid\": \"98039b0300a1b2c4\", \"source_port\": 5, "
     "\"source_port_node_description\": "
     "\"leaf-1:sw37p1\", \"destination_guid\": \"98039b0300a1b2d4\", \"destination_port\": 6, "
     "\"destination_port_node_description\": \"spine-1\"},\n"
     " {\"source_guid\": \"98039b0300a1b2c4\", \"source_port\": \"4\", \"destination_guid\": "
     "\"98039b0300a1b2e4\", \"destination_port\": \"28\", \"name\": \"x\"}]\n",
     NULL},
    {MYR_IMPORT_LINKS_JSON, "NetQ",
     "{\"lldp\": [{\"hostname\": \"leaf-1\", \"ifname\": \"swp1\", \"peerHostname\": \"gpu0001\", "
     "\"peerIfname\": \"enp26s0np0\", \"lastChanged\": 1731700000.1},\n"
     " {\"hostname\": \"leaf-1\", \"ifname\": \"swp2\", \"peer_hostname\": \"gpu0002\", "
     "\"peer_ifname\": \"enp26s0np0\"},\n {\"hostname\": \"gpu0001\", \"ifname\": \"enp26s0np0\", "
     "\"peerHostname\": \"leaf-1\", \"peerIfname\": \"swp1\"}]}\n",
     NULL},
    {MYR_IMPORT_LINKS_JSON, "UFM compares",
     "{\"added\": {\"nodes\": [{\"guid\": \"98039b0300a1b2c4\", \"system_name\": \"leaf-1\", "
     "\"type\": \"switch\"}], \"links\": [{\"source_guid\": \"98039b0300a1b2c4\", \"name\": "
     "\"98039b0300a1b2c4_28:9c0591030012ab34_1\"}]},\n \"removed\": {\"links\": [{\"name\": "
     "\"98039b0300a1b2c4_29:9c0591030012ab44_1\"}]}, \"changed\": {}}\n",
     NULL},
    {MYR_IMPORT_LINKS_JSON, "UFM says",
     "{\"Added Links\": [\"GUID 0x98039b0300a1b2c4 (leaf-1) Port 28 to GUID 9c0591030012ab34 "
     "(gpu01 "
     "mlx5_0) Port 1\"],\n \"Removed Links\": [\"GUID 98039b0300a1b2c4 (leaf-1) port 29 to GUID "
     "9c0591030012ab44 Port 2.\"],\n \"Changed Links\": [\"GUID 98039b0300a1b2c4 (leaf-1) Port 2 "
     "to "
     "GUID 9c0591030012ab54 (b) Port 4 peer changed to GUID 9c0591030012ab64 (c) Port 6\"]}\n",
     NULL},
};
