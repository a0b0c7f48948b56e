#include "myriad/plan.h"

#include <stdlib.h>

#include "myriad/plan/report.h"
#include "myriad/text/csv.h"
#include "plan_internal.h"
#include "report/labels.h"

/*
 * The files of a plan. Cable and label lists have one row a cable (hundreds of thousands), so names
 * are made once per device and copied.
 */

/*
 * What the writers share: names of all devices end to end, so that a row copies bytes and formats
 * nothing.
 */
struct names {
    struct myr_buf text;
    uint32_t *start; /* by device; device_count + 1 */
    const struct myr_plan_about *about;
    struct myr_buf workbook; /* made first: it alone may fail */
};

/* Offsets instead of strings: one allocation for all names. */
static void names_init(struct names *names, const struct myr_design *design)
{
    *names = (struct names){};
    names->start = myr_xrealloc(NULL, (size_t)design->device_count + 1, sizeof(uint32_t));
    for (uint32_t device = 0; device < design->device_count; device++) {
        names->start[device] = (uint32_t)names->text.len;
        myr_design_name(design, device, &names->text);
    }
    names->start[design->device_count] = (uint32_t)names->text.len;
}

static void names_done(struct names *names)
{
    myr_buf_done(&names->text);
    myr_buf_done(&names->workbook);
    free(names->start);
}

static void put_device(struct myr_buf *buf, const struct names *names, uint32_t device)
{
    myr_buf_put(buf, names->text.data + names->start[device],
                names->start[device + 1] - names->start[device]);
}

/* Ordered lengths are whole tenths of a metre. */
static void put_meters(struct myr_buf *buf, uint32_t length_mm)
{
    myr_buf_put_u64(buf, length_mm / 1000);
    if (length_mm % 1000) {
        myr_buf_putc(buf, '.');
        myr_buf_put_u64(buf, length_mm % 1000 / 100);
    }
}

static void put_end(struct myr_buf *buf, const struct myr_design *design, const struct names *names,
                    uint32_t port)
{
    put_device(buf, names, design->port_device[port]);
    myr_buf_putc(buf, ',');
    myr_design_port_name(design, port, buf);
    myr_buf_putc(buf, ',');
}

/* A part is named by whoever wrote the catalogue; all other cells are made here. */
static void put_part(struct myr_buf *buf, const struct myr_design *design, uint32_t name)
{
    myr_csv_put_text(buf, myr_str_from(myr_design_str(design, name)));
}

/* Where the two ends stand and how far it is, behind all other columns. */
static void put_route(struct myr_buf *buf, const struct myr_design *design, uint32_t link)
{
    const uint32_t ends[] = {design->port_device[design->link_a[link]],
                             design->port_device[design->link_b[link]]};
    for (uint32_t i = 0; i < 2; i++) {
        myr_buf_putc(buf, ',');
        myr_design_rack_name(design, design->device_rack[ends[i]], buf);
        myr_buf_putc(buf, ',');
        myr_buf_put_u64(buf, design->device_unit[ends[i]]);
    }
    /* Rounded up: a cable must not be shorter than its route. */
    uint32_t route_cm = (design->cable_mm[design->link_cable[link]] + 9) / 10;
    myr_buf_putc(buf, ',');
    myr_buf_put_u64(buf, route_cm / 100);
    myr_buf_putc(buf, '.');
    myr_buf_put_u64_pad(buf, route_cm % 100, 2);
}

/* The part of a row that all cables of one type share, made once. */
static void type_tail(struct myr_buf *buf, const struct myr_design *design,
                      const struct myr_cabletype *type)
{
    static const char *const media[] = {"copper", "multimode", "singlemode"};
    myr_buf_put_u64(buf, type->gbps);
    myr_buf_putc(buf, ',');
    put_part(buf, design, type->part);
    myr_buf_putc(buf, ',');
    put_meters(buf, type->length_mm);
    myr_buf_putc(buf, ',');
    myr_buf_puts(buf, media[type->medium]);
    myr_buf_putc(buf, ',');
    put_part(buf, design, type->optic_a);
    myr_buf_putc(buf, ',');
    put_part(buf, design, type->optic_b);
}

/* One row a link; links of one cable have its number in common. */
static void put_cables(const struct myr_design *design, const struct names *names,
                       struct myr_outfile *file)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    /*
     * Designs have few kinds of cables; those beyond 64 are made row by row, which is slower and
     * the same.
     */
    struct myr_buf tails[64] = {}; /* what ends a row, the same for all cables of a type */
    uint32_t kinds = design->cabletype_count < 64 ? design->cabletype_count : 64;
    for (uint32_t i = 0; i < kinds; i++) {
        type_tail(&tails[i], design, &design->cabletypes[i]);
    }
    myr_buf_put_lit(&buf, "cable,link,network,layer,a_device,a_port,b_device,b_port,gbps,part,"
                          "length_m,medium,optic_a,optic_b");
    myr_buf_puts(&buf, design->room ? ",a_rack,a_u,b_rack,b_u,route_m\n" : "\n");
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t cable = design->link_cable[link];
        const struct myr_cabletype *type = &design->cabletypes[design->cable_type[cable]];
        myr_buf_put_u64_pad(&buf, myr_design_cable_id(design, cable), 8);
        myr_buf_putc(&buf, ',');
        myr_buf_put_u64_pad(&buf, myr_design_link_id(design, link), 8);
        myr_buf_putc(&buf, ',');
        myr_buf_puts(&buf, myr_net_names[type->net]);
        myr_buf_putc(&buf, ',');
        myr_buf_puts(&buf, myr_layer_names[type->layer]);
        myr_buf_putc(&buf, ',');
        put_end(&buf, design, names, design->link_a[link]);
        put_end(&buf, design, names, design->link_b[link]);
        if (design->cable_type[cable] < kinds) {
            const struct myr_buf *tail = &tails[design->cable_type[cable]];
            myr_buf_put(&buf, tail->data, tail->len);
        } else {
            type_tail(&buf, design, type);
        }
        if (design->room) {
            put_route(&buf, design, link);
        }
        myr_buf_putc(&buf, '\n');
        /*
         * Writes what has gathered when it is much, so that the file never lies in memory as a
         * whole.
         */
        myr_outfile_drain(file, &buf);
    }
    myr_outfile_write(file, buf.data, buf.len);
    for (uint32_t i = 0; i < kinds; i++) {
        myr_buf_done(&tails[i]);
    }
}

/* What is printed on the flag at one end: where it goes, where it comes from, which cable it is. */
static void put_label(struct myr_buf *buf, const struct myr_design *design,
                      const struct names *names, uint32_t cable, char side, uint32_t here,
                      uint32_t there)
{
    myr_buf_put_u64_pad(buf, myr_design_cable_id(design, cable), 8);
    myr_buf_putc(buf, ',');
    myr_buf_putc(buf, side);
    myr_buf_putc(buf, ',');
    put_end(buf, design, names, here);
    put_device(buf, names, design->port_device[here]);
    myr_buf_putc(buf, ':');
    myr_design_port_name(design, here, buf);
    myr_buf_put_lit(buf, " -> ");
    put_device(buf, names, design->port_device[there]);
    myr_buf_putc(buf, ':');
    myr_design_port_name(design, there, buf);
    myr_buf_putc(buf, '\n');
}

/* A flag for each link and end: a splitter has one for every leg. */
static void put_labels(const struct myr_design *design, const struct names *names,
                       struct myr_outfile *file)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_buf_put_lit(&buf, "cable,end,device,port,label\n");
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t cable = design->link_cable[link];
        put_label(&buf, design, names, cable, 'A', design->link_a[link], design->link_b[link]);
        put_label(&buf, design, names, cable, 'B', design->link_b[link], design->link_a[link]);
        myr_outfile_drain(file, &buf);
    }
    myr_outfile_write(file, buf.data, buf.len);
}

static void put_bom(const struct myr_design *design, const struct names *names,
                    struct myr_outfile *file)
{
    (void)names;
    struct myr_buf text MYR_CLEANUP(myr_buf_done) = {};
    myr_plan_bom_csv(design, &text);
    myr_outfile_write(file, text.data, text.len);
}

static void put_drawing(const struct myr_design *design, const struct names *names,
                        struct myr_outfile *file)
{
    (void)names;
    struct myr_buf text MYR_CLEANUP(myr_buf_done) = {};
    myr_plan_svg(design, &text);
    myr_outfile_write(file, text.data, text.len);
}

static void put_json(const struct myr_design *design, const struct names *names,
                     struct myr_outfile *file)
{
    (void)names;
    myr_design_put_json(design, file);
}

static void put_design(const struct myr_design *design, const struct names *names,
                       struct myr_outfile *file)
{
    (void)names;
    myr_design_put(design, file);
}

static void put_racks(const struct myr_design *design, const struct names *names,
                      struct myr_outfile *file)
{
    (void)names;
    plan_racks_csv(design, file);
}

static void put_floor(const struct myr_design *design, const struct names *names,
                      struct myr_outfile *file)
{
    (void)names;
    struct myr_buf text MYR_CLEANUP(myr_buf_done) = {};
    myr_plan_racks_svg(design, &text);
    myr_outfile_write(file, text.data, text.len);
}

static void put_report(const struct myr_design *design, const struct names *names,
                       struct myr_outfile *file)
{
    struct myr_buf text MYR_CLEANUP(myr_buf_done) = {};
    myr_plan_report(design, names->about, &text);
    myr_outfile_write(file, text.data, text.len);
}

/* Written already, for it alone could fail. */
static void put_workbook(const struct myr_design *design, const struct names *names,
                         struct myr_outfile *file)
{
    (void)design;
    myr_outfile_write(file, names->workbook.data, names->workbook.len);
}

/* In the order in which they take their names: design.myr, which every later stage reads, last. */
static const struct {
    const char *name;
    void (*put)(const struct myr_design *, const struct names *, struct myr_outfile *);
    bool of_room;
} plan_files[] = {
    {"design.json", put_json, false},  {"bom.csv", put_bom, false},
    {"cables.csv", put_cables, false}, {"labels.csv", put_labels, false},
    {"racks.csv", put_racks, true},    {"topology.svg", put_drawing, false},
    {"racks.svg", put_floor, true},    {"report.html", put_report, false},
    {"bom.xlsx", put_workbook, false}, {"design.myr", put_design, false},
};

_Static_assert(MYR_ARRAY_COUNT(plan_files) == MYR_PLAN_FILES_MAX, "every file is a step");

/* NULL behind the last one. Files of the room are skipped and not counted where there is none. */
const char *myr_plan_file_name(const struct myr_design *design, uint32_t index)
{
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(plan_files); i++) {
        if (plan_files[i].of_room && !design->room) {
            continue;
        }
        if (index-- == 0) {
            return plan_files[i].name;
        }
    }
    return NULL;
}

/*
 * Sheets to print where they are asked for: with a code on each they are large. With a wrong choice
 * of labels nothing at all is written.
 */
static int add_labels(struct myr_file_set *set, const struct myr_design *design,
                      const struct myr_plan_about *about, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct report_labels which;
    struct myr_outfile file;
    if (!about->labels) {
        return MYR_OK;
    }
    MYR_TRY(report_labels_choose(design, about->labels, &which, err));
    report_labels_put(design, about, &which, &text);
    MYR_TRY(myr_file_set_open(set, MYR_REPORT_LABELS, &file, err));
    myr_outfile_write(&file, text.data, text.len);
    return myr_outfile_commit(&file, err);
}

/*
 * Labels and workbook first: they may be refused, and then nothing else has been written for
 * nothing.
 */
int plan_add_files(struct myr_file_set *set, const struct myr_design *design,
                   const struct myr_plan_about *about, struct myr_err *err)
{
    static const struct myr_plan_about plain = {};
    struct names names MYR_CLEANUP(names_done) = {};
    names_init(&names, design);
    names.about = about ? about : &plain;
    /* Sheets of labels are no part of plan_files: they are made on request alone. */
    MYR_TRY(add_labels(set, design, names.about, err));
    MYR_TRY(myr_plan_workbook(design, names.about, set->folder ? set->folder : ".", &names.workbook,
                              err));
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(plan_files); i++) {
        if (plan_files[i].of_room && !design->room) {
            continue;
        }
        struct myr_outfile file;
        if (names.about->listener) {
            names.about->listener->hear(names.about->listener->context, plan_files[i].name);
        }
        MYR_TRY(myr_file_set_open(set, plan_files[i].name, &file, err));
        plan_files[i].put(design, &names, &file);
        MYR_TRY(myr_outfile_commit(&file, err));
    }
    return MYR_OK;
}

/* All files or none: the set is committed when every one of them is complete. */
int myr_plan_write(const struct myr_design *design, const struct myr_plan_about *about,
                   const char *folder, struct myr_err *err)
{
    struct myr_file_set set MYR_CLEANUP(myr_file_set_abandon) = {};
    MYR_TRY(myr_file_set_begin(&set, folder, err));
    MYR_TRY(plan_add_files(&set, design, about, err));
    return myr_file_set_commit(&set, err);
}
