/*
 * port_names: which port of a box a name means, by rules that are data.
 *
 * A port name has no meaning without the model and the system of its box: "Ethernet8" is cage 2
 * under SONiC with eight lanes a cage, cage 3 with four, and cage 8 under EOS. The rules are rows
 * of catalog/port-names.csv, which the program carries inside it; a user's own file is read after
 * it. A row says for which parts and which system a pattern holds, and how cage and port in the
 * cage follow from it. Nothing is decided here: a name gets one reading for each system that knows
 * it, and whoever asks must tell which system the box runs (verify/spelling.h).
 *
 * Patterns: {a} {b} {c} are numbers, {l} a letter from a to h, [x] may be missing; capitals and
 * blanks do not count. Expressions may use these and: ports (of that cage, as the design divides
 * it), connectors (of the cage), lanes (electrical, of a cage), cages (of the box), numbers (that
 * InfiniBand counts for a cage). Cage 0 is a port that does not belong to the fabric.
 */
#pragma once

#include "myriad/base.h"
#include "myriad/model.h"

#define MYR_PORT_SYSTEMS_MAX 32
/* A port of the box that is no port of the design: a cage without use, a service port. */
#define MYR_PORT_SPARE (MYR_NONE - 1)

struct myr_name_rule {
    struct myr_str platform; /* words */
    uint32_t system;
    struct myr_str pattern, when, cage, lane;
    struct myr_str example, at, ports;
};

struct myr_port_names {
    MYR_VEC(struct myr_name_rule) rules;
    MYR_VEC(struct myr_str) systems; /* "own" is the first: names as the design gives them */
};

/* How a type of device is divided, and what it is. */
struct myr_box {
    const struct myr_devtype *type;
    struct myr_str part;
    uint32_t technology; /* enum myr_technology; MYR_TECH_ANY: not known */
    bool host;
    uint32_t cages, lanes;
    uint32_t numbers;   /* that InfiniBand counts for one cage, as the design divides the box */
    uint32_t lane_gbps; /* the fastest that a lane of a cage runs; 0: not known */
    uint32_t planes;    /* switch chips that share each port, as the catalogue says; mostly 1 */
};

/* The built-in rules. Everything belongs to the arena, but for the two lists: done() gives back. */
MYR_MUST_USE int myr_port_names_init(struct myr_port_names *names, struct myr_arena *arena,
                                     struct myr_err *err);
void myr_port_names_done(struct myr_port_names *names);
/* A user's own rules, before the built-in ones of the same system. */
MYR_MUST_USE int myr_port_names_add_file(struct myr_port_names *names, struct myr_arena *arena,
                                         const char *path, struct myr_err *err);
MYR_MUST_USE int myr_port_names_add_text(struct myr_port_names *names, struct myr_arena *arena,
                                         const char *file, struct myr_str text,
                                         struct myr_err *err);

/* What the catalogue knows of a type of device; 'catalog' may be NULL. */
void myr_box_of(const struct myr_design *design, uint32_t devtype,
                const struct myr_catalog *catalog, struct myr_box *ret);

/*
 * Fills ret[system] with the port's index on its device or MYR_PORT_SPARE, for each system of the
 * returned mask. System 0 knows the names that the design itself gives.
 */
uint32_t myr_port_names_read(const struct myr_port_names *names, const struct myr_box *box,
                             struct myr_str name, uint32_t ret[MYR_PORT_SYSTEMS_MAX]);
