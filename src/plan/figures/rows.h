/*
 * rows: the table of all figures of a plan. Private to the planner; figures.h says what they are.
 *
 * It is data: a path in the answer, a unit, digits, a title for people and a rule. The tree for
 * programs, the explanation and the document all come from it, so that they cannot drift apart.
 */
#pragma once

/*
 * X(id, path, unit, digits, title, rule). Paths of one object stand together: the answer is written
 * in this order.
 */
#define FIGURES_COMPARED(X, ID, path)                                                             \
    X(ID##_PUE, path ".pue", "", 4, "PUE", "1 + the shares of this kind of cooling, at the load") \
    X(ID##_WUE, path ".wue_l_per_kwh", "l/kWh", 3, "water use (WUE)",                             \
      "of air * its share + of liquid * its share")                                               \
    X(ID##_KW, path ".facility_kw", "kW", 1, "facility power", "IT power * PUE at full load")     \
    X(ID##_MWH, path ".energy_mwh_per_year", "MWh", 1, "energy a year",                           \
      "IT power * PUE * 8,760 h * load")                                                          \
    X(ID##_COST, path ".energy_cost_per_year", "money", 2, "energy cost a year",                  \
      "energy * tariff")                                                                          \
    X(ID##_PLANT, path ".plant_cost", "money", 2, "cooling plant",                                \
      "IT power * price of the plant a kW")                                                       \
    X(ID##_YEARS, path ".cost_of_years", "money", 2, "plant and energy over the years",           \
      "plant + years * energy cost")                                                              \
    X(ID##_CARBON, path ".carbon_t_per_year", "t", 1, "carbon a year",                            \
      "energy * grid factor * (1 - green share)")                                                 \
    X(ID##_LEAKS, path ".leak_points", "", 0, "points that may leak",                             \
      "quick connectors of all racks and tanks")                                                  \
    X(ID##_RIDE, path ".ride_through_s", "s", 0, "time without cooling",                          \
      "heat that 10 K take up in what cools, over the power: how long all runs on without "       \
      "cooling")                                                                                  \
    X(ID##_RACK, path ".rack_kw_max", "kW", 1, "most that a rack may draw",                       \
      "the most that one rack may draw, cooled so")                                               \
    X(ID##_FITS, path ".fits", "", 0, "carries the fullest rack", "1 where no rack draws more")

/*
 * What the building must supply, how it is spent and what it costs (power/). Rules with figures in
 * them, as 8,760 h, are those of docs/planning.md.
 */
#define FIGURES_POWER(X)                                                                           \
    X(IT_SERVERS, "power.it.servers_kw", "kW", 1, "GPU servers",                                   \
      "servers * watts of the part, or of the room")                                               \
    X(IT_STORAGE, "power.it.storage_kw", "kW", 1, "storage servers",                               \
      "storage servers * watts of the part")                                                       \
    X(IT_FABRIC, "power.it.fabric_kw", "kW", 1, "switches of compute and storage",                 \
      "switches of compute and storage, each at the watts for its cables: copper, multimode, "     \
      "most")                                                                                      \
    X(IT_ETHERNET, "power.it.ethernet_kw", "kW", 1, "switches of service and management",          \
      "switches of service and oob * watts")                                                       \
    X(IT_MANAGEMENT, "power.it.management_kw", "kW", 1, "management nodes and fabric managers",    \
      "management nodes and fabric managers * watts")                                              \
    X(IT_OTHER, "power.it.other_kw", "kW", 1, "other equipment",                                   \
      "items with a power cord * watts")                                                           \
    X(IT_MAX, "power.it.max_kw", "kW", 1, "IT power with all switches at their most",              \
      "the same with every switch at the most it draws")                                           \
    X(IT_UNKNOWN, "power.it.unknown_devices", "", 0, "devices of unknown power",                   \
      "devices whose part states no watts")                                                        \
    X(IT_SOURCE, "power.it.source", "", 0, "where the IT power comes from",                        \
      "parts, unless the spec states it or asks per GPU")                                          \
    X(IT, "power.it.kw", "kW", 3, "IT power",                                                      \
      "the sum of the parts; stated; or GPUs * the rule of one GPU")                               \
    X(GPU_W, "power.per_gpu.gpu_w", "W", 1, "one GPU", "power limit of the GPU part")              \
    X(HOST_W, "power.per_gpu.host_w", "W", 1, "a GPU's share of its host",                         \
      "what a GPU's share of its host draws")                                                      \
    X(OTHER_SHARE, "power.per_gpu.other_share", "", 3, "share of network and storage",             \
      "network and storage, a share of the two")                                                   \
    X(GPU_RULE, "power.per_gpu.rule_kw", "kW", 4, "a GPU by the rule",                             \
      "(gpu_w + host_w) * (1 + other_share)")                                                      \
    X(GPU_KW, "power.per_gpu.kw", "kW", 4, "IT power of one GPU", "IT power / GPUs")               \
    X(LOAD, "power.load", "", 3, "load of the year", "mean over the year, as a share of IT power") \
    X(PUE_FANS, "power.pue.fans", "", 4, "fans", "of air * share of heat in air")                  \
    X(PUE_PUMPS, "power.pue.pumps", "", 4, "pumps",                                                \
      "of air and of liquid * their shares of heat, by load")                                      \
    X(PUE_CHILLER, "power.pue.chiller", "", 4, "chiller or coolers",                               \
      "of air and of liquid * their shares of heat")                                               \
    X(PUE_UPS, "power.pue.ups", "", 4, "UPS losses",                                               \
      "share of IT power, by load; HVDC converts once less")                                       \
    X(PUE_TRANSFORMER, "power.pue.transformer", "", 4, "transformer losses",                       \
      "share of IT power, by load")                                                                \
    X(PUE_LIGHTING, "power.pue.lighting", "", 4, "lighting", "share of IT power / load")           \
    X(PUE, "power.pue.value", "", 4, "PUE at the load of the year",                                \
      "1 + fans + pumps + chiller + ups + transformer + lighting")                                 \
    X(FULL_PUE, "power.full_load_pue", "", 4, "PUE at full load", "the same at full load")         \
    X(FACILITY, "power.facility_kw", "kW", 3, "facility power", "IT power * PUE at full load")     \
    X(CLIMATE, "power.climate.zone", "", 0, "climate zone",                                        \
      "given, of ASHRAE 169; a mild one with a plant alone")                                       \
    X(AIR_PLANT, "power.climate.air_plant", "", 0, "plant for the air's heat",                     \
      "given; outside air where a climate is given")                                               \
    X(BAND_LOW, "power.climate.air_pue_low", "", 2, "published PUE of such halls, low",            \
      "5th percentile that is published of it")                                                    \
    X(BAND_HIGH, "power.climate.air_pue_high", "", 2, "published PUE of such halls, high",         \
      "95th percentile that is published of it")                                                   \
    X(WUE, "power.water.wue_l_per_kwh", "l/kWh", 3, "water use (WUE)",                             \
      "of air * its share of heat + of liquid * its share")                                        \
    X(WATER, "power.water.m3_per_year", "m3", 0, "water a year",                                   \
      "IT power * 8,760 h * load * WUE")                                                           \
    X(MWH, "power.energy.mwh_per_year", "MWh", 1, "energy a year",                                 \
      "IT power * PUE * 8,760 h * load")                                                           \
    X(TARIFF, "power.energy.tariff_per_kwh", "money", 4, "tariff", "what a kWh costs")             \
    X(ENERGY_CURRENCY, "power.energy.currency", "", 0, "currency of the tariff", "of the tariff")  \
    X(ENERGY_COST, "power.energy.cost_per_year", "money", 2, "energy cost a year",                 \
      "kWh of a year * tariff")                                                                    \
    X(YEARS, "power.energy.years", "", 1, "years that are counted", "for how long it is paid")     \
    X(EXCHANGE, "power.energy.exchange", "", 4, "exchange rate",                                   \
      "of the bill's currency for one of the tariff's")                                            \
    X(TCO, "power.energy.cost_of_years", "money", 2, "bill and energy over the years",             \
      "bill + years * energy cost * exchange, in the bill's currency")                             \
    X(GRID, "power.carbon.grid_kg_per_kwh", "kg/kWh", 3, "carbon of a kWh",                        \
      "what a kWh of the grid emits")                                                              \
    X(GREEN, "power.carbon.green_share", "", 3, "share of green energy",                           \
      "share of energy that emits nothing")                                                        \
    X(CARBON, "power.carbon.t_per_year", "t", 1, "carbon a year",                                  \
      "MWh * grid factor * (1 - green share)")                                                     \
    X(PFLOPS, "power.efficiency.bf16_pflops", "PFLOP/s", 1, "BF16 peak",                           \
      "GPUs * dense BF16 peak of one")                                                             \
    X(GFLOPS_W, "power.efficiency.bf16_gflops_per_w", "GFLOP/s/W", 2, "BF16 peak of a watt",       \
      "peak / facility power")                                                                     \
    X(RACKS, "power.racks.count", "", 0, "racks",                                                  \
      "racks in use; without a room, what all would fill")                                         \
    X(RACK_KW, "power.racks.kw", "kW", 2, "fullest rack", "what the fullest rack draws")           \
    X(RACK_LIMIT, "power.racks.kw_limit", "kW", 2, "limit of a rack", "what a rack may draw")      \
    X(MODULES, "power.racks.modules", "", 0, "prefabricated modules",                              \
      "prefabricated modules: the larger of racks / its racks and IT / its kW, rounded up")        \
    X(SUPPLY, "power.supply.kind", "", 0, "kind of supply", "AC, or DC of high voltage")           \
    X(VOLTS, "power.supply.volts", "V", 0, "voltage", "between two phases, or of the DC")          \
    X(FACTOR, "power.supply.power_factor", "", 3, "power factor", "watts / (volts * amperes)")     \
    X(CONTINUOUS, "power.supply.continuous_share", "", 3, "share of a rating for hours",           \
      "of a rating, that may flow for hours")                                                      \
    X(RACK_AMPS, "power.supply.rack_amps", "A", 1, "current of the fullest rack",                  \
      "AC: W / (sqrt(3) * V * factor), DC: W / V; one feed carries the whole rack")                \
    X(BREAKER, "power.supply.breaker_a", "A", 0, "breaker of a rack",                              \
      "given, or the least standard size whose continuous share carries the rack")                 \
    X(LINE_KW, "power.supply.line_kw", "kW", 1, "fullest line of racks",                           \
      "what the fullest line of racks draws")                                                      \
    X(LINE_AMPS, "power.supply.line_amps", "A", 1, "current of the fullest line",                  \
      "as for a rack; one busway carries the line")                                                \
    X(BUSWAY, "power.supply.busway_a", "A", 0, "busway of a line",                                 \
      "given, or the least standard size whose continuous share carries the line")                 \
    X(UPS_KIND, "power.ups.kind", "", 0, "UPS", "none, n, n+1 or 2n")                              \
    X(UPS_LOAD, "power.ups.load_kw", "kW", 1, "load on the UPS", "IT power at the most")           \
    X(UPS_MODULE, "power.ups.module_kw", "kW", 1, "one UPS module", "rating of one module")        \
    X(UPS_MODULES, "power.ups.modules", "", 0, "UPS modules",                                      \
      "n = ceil(load / module); n+1: one more; 2n: twice")                                         \
    X(UPS_MINUTES, "power.ups.minutes", "min", 1, "time on batteries",                             \
      "how long batteries carry it")                                                               \
    X(UPS_KWH, "power.ups.battery_kwh", "kWh", 1, "batteries", "load * minutes / 60")              \
    X(PROVISIONED, "power.pool.provisioned_kw", "kW", 1, "power that racks may draw",              \
      "limits of all racks in use")                                                                \
    X(STRANDED, "power.pool.stranded_kw", "kW", 1, "power that stays unused",                      \
      "provisioned, less what they draw")                                                          \
    X(POOLED, "power.pool.more_servers", "", 0, "servers more with shared power",                  \
      "servers that lines of racks would carry if each shared its power: sum of floor(left / "     \
      "one)")                                                                                      \
    X(STEP_IDLE, "power.step.idle_share", "", 3, "share that an idle GPU draws",                   \
      "what a GPU draws before it computes")                                                       \
    X(STEP, "power.step.kw", "kW", 1, "step when all GPUs start",                                  \
      "GPUs * watts of one * (1 - idle share): all start at once")                                 \
    X(STEP_LIMIT, "power.step.limit_share", "", 3, "step that the supply accepts",                 \
      "of the facility's power, that may come at once")                                            \
    X(WAVES, "power.step.waves", "", 0, "waves to start in",                                       \
      "ceil(step / (limit share * facility power))")                                               \
    X(FLOOR, "power.floor.kg_per_m2", "kg/m2", 1, "load on the floor",                             \
      "heaviest rack and its own weight, over its floor")                                          \
    X(FLOOR_LIMIT, "power.floor.limit_kg_per_m2", "kg/m2", 1, "load that the floor carries",       \
      "what the floor carries")

/* Where the heat goes, what carries it, and the same cluster with each kind of cooling. */
#define FIGURES_COOLING(X)                                                                     \
    X(COOLING, "cooling.kind", "", 0, "kind of cooling",                                       \
      "given, or air up to its limit a rack and cold plate above")                             \
    X(LIQUID_SHARE, "cooling.liquid_share", "", 3, "share of heat in liquid",                  \
      "share of the heat that goes into liquid")                                               \
    X(LIQUID_KW, "cooling.liquid_kw", "kW", 1, "heat in liquid", "IT power * liquid share")    \
    X(AIR_KW, "cooling.air_kw", "kW", 1, "heat in air", "IT power less what goes into liquid") \
    X(COOLANT, "cooling.coolant", "", 0, "coolant", "water, or a quarter of glycol in it")     \
    X(LIQUID_K, "cooling.liquid_delta_k", "K", 1, "warming of the coolant",                    \
      "between supply and return")                                                             \
    X(FLOW, "cooling.flow_l_per_min", "l/min", 1, "flow of the coolant",                       \
      "14.3 * kW / K of water, 15 with glycol")                                                \
    X(AIR_K, "cooling.air_delta_k", "K", 1, "warming of the air",                              \
      "between front and back of a rack")                                                      \
    X(AIRFLOW, "cooling.airflow_m3_per_h", "m3/h", 0, "flow of air", "2,985 * kW / K")         \
    X(CDU_KW, "cooling.cdu.kw", "kW", 1, "one CDU", "rating of one")                           \
    X(CDU_DERATE, "cooling.cdu.derate", "", 3, "share of it that is relied on",                \
      "share of its rating that is relied on")                                                 \
    X(CDU_SPARES, "cooling.cdu.spares", "", 0, "spare CDUs",                                   \
      "of each line of racks, or of the room")                                                 \
    X(CDU_LINES, "cooling.cdu.lines", "", 0, "lines of racks", "lines of racks in use")        \
    X(CDUS, "cooling.cdu.count", "", 0, "CDUs",                                                \
      "for each line (or the room) ceil(liquid kW / (rating * derate)) + spares")              \
    X(PIPE_M, "cooling.pipe.m", "m", 1, "length of the longest pipe",                          \
      "supply and return of the longest line")                                                 \
    X(PIPE_MM, "cooling.pipe.mm", "mm", 0, "bore of the pipes",                                \
      "least stock bore with at most 2 m/s")                                                   \
    X(PIPE_SPEED, "cooling.pipe.m_per_s", "m/s", 2, "speed in the pipe",                       \
      "flow of the line / bore")                                                               \
    X(PIPE_KPA, "cooling.pipe.drop_kpa", "kPa", 1, "pressure lost in the pipe",                \
      "0.02 * length / bore * 1,000 * speed^2 / 2")                                            \
    X(PIPE_HEAD, "cooling.pipe.head_kpa", "kPa", 1, "pressure of a CDU",                       \
      "what a CDU presses against")                                                            \
    X(BILL_CDUS, "cooling.bill.cdus", "", 0, "CDUs to buy", "as counted above")                \
    X(BILL_MANIFOLDS, "cooling.bill.manifolds", "", 0, "rack manifolds",                       \
      "supply and return of each cooled rack")                                                 \
    X(BILL_CONNECTORS, "cooling.bill.quick_connectors", "", 0, "quick connectors",             \
      "two a cooled box: supply and return; two a tank")                                       \
    X(BILL_COOLANT, "cooling.bill.coolant_l", "l", 0, "coolant to buy",                        \
      "100 a CDU and 1.2 a liquid kW, 700 a tank")                                             \
    X(BILL_TANKS, "cooling.bill.tanks", "", 0, "immersion tanks",                              \
      "immersion: a tank for each rack")                                                       \
    X(BILL_AIR_UNITS, "cooling.bill.air_units", "", 0, "air units", "ceil(air kW / 100) + 1")  \
    X(REUSE_SHARE, "cooling.heat.reuse_share", "", 3, "share of heat that is used",            \
      "share of the liquid's heat that is used")                                               \
    X(REUSABLE, "cooling.heat.reusable_kw", "kW", 1, "heat that could be used",                \
      "what liquid carries: warm enough to use")                                               \
    X(REUSED, "cooling.heat.reused_mwh_per_year", "MWh", 1, "heat that is used a year",        \
      "reusable * share * load * 8,760 h")                                                     \
    FIGURES_COMPARED(X, WITH_AIR, "cooling.compare.air")                                       \
    FIGURES_COMPARED(X, WITH_PLATE, "cooling.compare.cold-plate")                              \
    FIGURES_COMPARED(X, WITH_IMMERSION, "cooling.compare.immersion")

/* How many servers each wish needs by itself, and what those that are planned give. */
#define FIGURES_STORAGE(X)                                                                         \
    X(ST_CAPACITY, "storage.needs.by_capacity", "", 0, "servers by capacity",                      \
      "ceil(usable * stored / data / raw of one server)")                                          \
    X(ST_RATE, "storage.needs.by_rate", "", 0, "servers by rate",                                  \
      "ceil(max(read, write * stored / data) / rate of one server)")                               \
    X(ST_IOPS, "storage.needs.by_iops", "", 0, "servers by operations",                            \
      "ceil(operations / operations of one server)")                                               \
    X(ST_METADATA, "storage.needs.by_metadata", "", 0, "servers by metadata",                      \
      "ceil(max(asked, files / scan time) / metadata operations of one server)")                   \
    X(ST_FILES, "storage.needs.by_files", "", 0, "servers by files",                               \
      "ceil(files * bytes of an entry * copies / metadata space of one server)")                   \
    X(ST_CHECKPOINT, "storage.needs.by_checkpoint", "", 0, "servers by checkpoint",                \
      "ceil(state * stored / data / window / write rate of one server)")                           \
    X(ST_READ, "storage.gives.read_gbytes_per_s", "GB/s", 1, "read rate",                          \
      "servers * the least of its ports and its disks")                                            \
    X(ST_WRITE, "storage.gives.write_gbytes_per_s", "GB/s", 1, "write rate",                       \
      "servers * the least of its ports and its disks * data / stored")                            \
    X(ST_GPU_READ, "storage.gives.read_gbytes_per_s_per_gpu", "GB/s", 4, "read rate of one GPU",   \
      "read rate / GPUs")                                                                          \
    X(ST_GPU_IOPS, "storage.gives.iops", "", 0, "operations a second",                             \
      "servers * operations of one")                                                               \
    X(ST_META_OPS, "storage.gives.metadata_ops_per_s", "", 0, "metadata operations a second",      \
      "servers * metadata operations of one")                                                      \
    X(ST_CLASS, "storage.gives.class", "", 0, "published class",                                   \
      "the best published class that both rates reach")                                            \
    X(ST_NIC, "storage.server.port_gbytes_per_s", "GB/s", 3, "ports of one server",                \
      "ports * speed / 8")                                                                         \
    X(ST_DISK_READ, "storage.server.read_gbytes_per_s", "GB/s", 3, "disks of one server, read",    \
      "disks * read rate of one")                                                                  \
    X(ST_DISK_WRITE, "storage.server.write_gbytes_per_s", "GB/s", 3, "disks of one server, write", \
      "disks * write rate of one")                                                                 \
    X(ST_ONE_IOPS, "storage.server.iops", "", 0, "operations of one server", "of the part")        \
    X(ST_ONE_META, "storage.server.metadata_ops_per_s", "", 0,                                     \
      "metadata operations of one server", "of the part")                                          \
    X(ST_CPUS, "storage.server.processors", "", 0, "processors of one server", "of the part")      \
    X(ST_CORES, "storage.server.processor_cores", "", 0, "cores of a processor", "of the part")    \
    X(ST_MEMORY, "storage.server.memory_gb", "GB", 0, "memory of one server", "of the part")       \
    X(ST_SYS, "storage.server.system_disks", "", 0, "system disks of one server", "of the part")   \
    X(ST_SYS_GB, "storage.server.system_disk_gb", "GB", 0, "one system disk", "of the part")       \
    X(ST_META_DISKS, "storage.server.metadata_disks", "", 0, "metadata disks of one server",       \
      "of the part")                                                                               \
    X(ST_META_GB, "storage.server.metadata_disk_gb", "GB", 0, "one metadata disk", "of the part")  \
    X(ST_DISKS, "storage.server.disks", "", 0, "data disks of one server", "of the part")          \
    X(ST_DISK_GB, "storage.server.disk_gb", "GB", 0, "one data disk", "of the part")               \
    X(ST_STATE, "storage.checkpoint.state_gb", "GB", 1, "state of the model",                      \
      "parameters * 14 bytes: weights, master, moments")                                           \
    X(ST_WINDOW, "storage.checkpoint.window_s", "s", 1, "window of a checkpoint", "given")         \
    X(ST_TAKES, "storage.checkpoint.takes_s", "s", 2, "time of a checkpoint",                      \
      "state / write rate of all servers")                                                         \
    X(ST_READS, "storage.checkpoint.restore_s", "s", 2, "time to restore",                         \
      "state * readers / read rate of all servers")                                                \
    X(ST_SPACE, "storage.checkpoint.kept_tb", "TB", 2, "space of kept checkpoints",                \
      "state * checkpoints kept")                                                                  \
    X(ST_FILE_COUNT, "storage.files.count", "", 0, "files", "given")                               \
    X(ST_FILE_DATA, "storage.files.data_tb", "TB", 2, "space of the files",                        \
      "files * mean size, rounded up to 4 KiB")                                                    \
    X(ST_FILE_META, "storage.files.metadata_tb", "TB", 3, "space of their entries",                \
      "files * bytes of an entry * copies")                                                        \
    X(ST_SCAN, "storage.files.scan_h", "h", 2, "time to walk through all",                         \
      "files / metadata operations of all servers")                                                \
    X(ST_DOWN, "storage.availability.server_down", "", 7, "time a server is down",                 \
      "repair / (time between failures + repair)")                                                 \
    X(ST_GROUPS, "storage.availability.placement_groups", "", 0, "placement groups",               \
      "given, or 100 for each disk / servers of a stripe")                                         \
    X(ST_STRIPE, "storage.availability.stripe_share", "", 9, "availability of one stripe",         \
      "1 - chance that more of one stripe's servers are down at once than it can lose")            \
    X(ST_NINES, "storage.availability.share", "", 9, "availability of all data",                   \
      "1 - chance that any placement group has more servers down at once than it can lose")        \
    X(ST_AWAY, "storage.availability.hours_per_year", "h", 3, "hours a year without some data",    \
      "(1 - share) * 8,760 h: some data is away")                                                  \
    X(ST_WISH, "storage.availability.wish", "", 9, "availability that is asked for", "given")

/* What one tier below the flash holds. */
#define FIGURES_TIER(X, ID, path)                                                        \
    X(ID##_SERVERS, path ".servers", "", 0, "servers of the tier",                       \
      "ceil(usable * stored / data / raw of one server)")                                \
    X(ID##_RAW, path ".raw_tb", "TB", 2, "raw capacity", "servers * raw of one")         \
    X(ID##_USABLE, path ".usable_tb", "TB", 2, "usable capacity", "raw * data / stored") \
    X(ID##_READ, path ".read_gbytes_per_s", "GB/s", 1, "read rate",                      \
      "servers * the least of its ports and its disks")

/* How far the total of the bill reaches (prices/totals.c). */
#define FIGURES_PRICED(X)                                                                          \
    X(PRICED_LINES, "totals.priced.lines", "", 3, "lines with a price",                            \
      "lines with a price / lines")                                                                \
    X(PRICED_MONEY, "totals.priced.money", "", 3, "share of the estimated money with a price",     \
      "total / (total + estimates of lines without a price)")                                      \
    X(PRICED_LACK, "totals.priced.lacking", "", 0, "main lines without a price",                   \
      "main lines without a price: a twentieth of the estimate or more, or of no known cost; all " \
      "where less than nine tenths are priced")                                                    \
    X(PRICED_SUPPLIED, "totals.priced.supplied", "", 0, "supplied by others",                      \
      "given: not in the bill")                                                                    \
    X(PRICED_ASSUMED, "totals.priced.assumed_cost", "money", 2, "assumed part of the price",       \
      "of the total, what is assumed")                                                             \
    X(PRICED_LOW, "totals.priced.estimate_low", "money", 2, "all lines, low estimate",             \
      "all lines at the lowest that is stated or assumed")                                         \
    X(PRICED_TYPICAL, "totals.priced.estimate", "money", 2, "all lines, estimate",                 \
      "total + estimates of the others")                                                           \
    X(PRICED_HIGH, "totals.priced.estimate_high", "money", 2, "all lines, high estimate",          \
      "all lines at the highest that is stated or assumed")                                        \
    X(PRICED_LEAD, "totals.priced.lead_weeks", "weeks", 0, "longest time of delivery",             \
      "the longest that a price states")

/* What fails in a year, and what of it lies on the shelf (spares.c). */
#define FIGURES_SPARE(X, ID, path)                                                 \
    X(SPARE_##ID##_PIECES, path ".pieces", "", 0, "pieces", "counted in the plan") \
    X(SPARE_##ID##_FAIL, path ".failures_per_year", "", 2, "failures a year",      \
      "pieces * published failures of one in a year")                              \
    X(SPARE_##ID, path ".spares", "", 0, "spares",                                 \
      "failures until new ones come + twice the square root of them, rounded up")
#define FIGURES_SPARES(X)                                                                         \
    X(SPARE_WEEKS, "spares.restock_weeks", "weeks", 0, "time until new ones come", "class value") \
    FIGURES_SPARE(X, GPU, "spares.gpus")                                                          \
    FIGURES_SPARE(X, NIC, "spares.cards")                                                         \
    FIGURES_SPARE(X, OPTIC, "spares.modules")                                                     \
    FIGURES_SPARE(X, SWITCH, "spares.switches")                                                   \
    FIGURES_SPARE(X, PSU, "spares.power_supplies")                                                \
    FIGURES_SPARE(X, DISK, "spares.disks")

#define FIGURES(X)                                     \
    FIGURES_SPARES(X)                                  \
    FIGURES_PRICED(X)                                  \
    FIGURES_POWER(X)                                   \
    FIGURES_COOLING(X)                                 \
    FIGURES_STORAGE(X)                                 \
    FIGURES_TIER(X, ST_HYBRID, "storage.tiers.hybrid") \
    FIGURES_TIER(X, ST_OBJECT, "storage.tiers.object")
