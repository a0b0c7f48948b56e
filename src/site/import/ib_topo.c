#include "import/ib_links.h"
#include "import/scan.h"

/*
 * Topology files of ibdiagnet, which cable checkers and UFM take as the plan of a fabric:
 *
 *     MQM9700 leaf-1
 *         P2 -4x-100G-> HCA_mlx5_3 gpu01 mlx5_0/P1
 *         P40 -4x-100G-> MQM9700 spine-1 P62
 *
 * A line in the margin opens a system, by its model and its name; a line with an arrow is a cable.
 */

/* A cable has five words; more make the line wrong. */
enum { WORDS_MAX = 8 };

static int complain(const struct scan *s, struct myr_err *err)
{
    int rc = import_error(err, scan_here(s), "a system, or a port with an arrow, is expected");
    myr_err_hint(err, "P40 -4x-100G-> MQM9700 spine-1 P62");
    return rc;
}

/* "P62"; hosts have the device in front: "mlx5_0/P1". */
static bool port_of(struct myr_str text, struct myr_str *ret_device, uint64_t *ret)
{
    const char *slash = memrchr(text.data, '/', text.len);
    size_t front = slash ? (size_t)(slash - text.data) : 0;
    struct myr_str port = {text.data + (slash ? front + 1 : 0), text.len - (slash ? front + 1 : 0)};
    *ret_device = (struct myr_str){text.data, front};
    return port.len > 1 && (port.data[0] == 'P' || port.data[0] == 'p') &&
           myr_str_to_u64((struct myr_str){port.data + 1, port.len - 1}, ret) && *ret > 0;
}

static uint32_t words_of(struct scan *s, struct myr_str words[WORDS_MAX])
{
    uint32_t count = 0;
    for (scan_blanks(s); s->at < s->end && count < WORDS_MAX; scan_blanks(s)) {
        words[count++] = scan_until(s, " \t");
    }
    return count;
}

/* "-4x-100G->" */
static void speed_of(struct myr_str arrow, uint32_t *ret_gbps, uint32_t *ret_width,
                     struct myr_str *ret_unread)
{
    struct scan s = {.at = arrow.data, .end = arrow.data + arrow.len};
    uint64_t lanes;
    double lane;
    *ret_gbps = *ret_width = 0;
    (void)scan_take(&s, "-");
    struct myr_str width = scan_until(&s, "xX");
    /* Past the cross itself. */
    s.at += s.at < s.end;
    (void)scan_take(&s, "-");
    struct myr_str rate = scan_until(&s, "Gg-");
    if (myr_str_to_u64(width, &lanes) && lanes <= 16 && myr_str_to_double(rate, &lane) &&
        lane > 0 && lane < 1000) {
        *ret_width = (uint32_t)lanes;
        *ret_gbps = (uint32_t)(lane * (double)lanes);
    } else if (!myr_link_says_nothing(arrow)) {
        *ret_unread = arrow;
    }
}

/* Models of hosts begin with HCA. */
static bool is_host(struct myr_str model)
{
    return model.len >= 3 && memcmp(model.data, "HCA", 3) == 0;
}

/* The name of a host's NIC is that of the host, a blank, and that of the device. */
static struct ib_end end_of(struct scan *s, struct myr_str model, struct myr_str name,
                            struct myr_str device, uint64_t port)
{
    struct ib_end end = {.is_switch = !is_host(model), .name = name, .port = port};
    if (device.len) {
        end.name =
            myr_str_from(myr_arena_printf(s->import->cabling->arena, "%.*s %.*s", (int)name.len,
                                          name.data, (int)device.len, device.data));
    }
    return end;
}

struct topo_system {
    struct myr_str model, name;
};

/* Port, arrow, model, name and port of the other end. */
static int read_cable(struct scan *s, const struct topo_system *system, struct myr_err *err)
{
    struct myr_str words[WORDS_MAX], device, far_device;
    uint32_t count = words_of(s, words), gbps, width;
    uint64_t port, far_port;
    bool good = count == 5 && system->name.len && port_of(words[0], &device, &port) &&
                words[1].len > 2 && memcmp(words[1].data + words[1].len - 2, "->", 2) == 0 &&
                port_of(words[4], &far_device, &far_port);
    if (!good) {
        /* The whole line is wrong, not the word at which it was noticed. */
        s->at = s->line_start;
        return complain(s, err);
    }
    struct ib_end own = end_of(s, system->model, system->name, device, port);
    speed_of(words[1], &gbps, &width, &own.speed_word);
    struct ib_end far = end_of(s, words[2], words[3], far_device, far_port);
    /* The file is of a fabric that was walked through whole: who is a neighbour was found. */
    uint32_t found;
    MYR_TRY(ib_links_device(s->import, scan_here(s), &far, &found, err));
    s->import->cabling->devices.items[found].reported = !s->import->partial;
    return ib_links_add(s->import, scan_here(s), &own, &far, gbps, width, err);
}

/* A system stays open until the next line in the margin. */
int import_ib_topo(struct myr_import *import, const char *file, struct myr_str text,
                   struct myr_err *err)
{
    struct scan s = scan_of(import, file, text);
    struct topo_system system = {{NULL, 0}, {NULL, 0}};
    import->cabling->numbered = true;
    while (scan_line(&s)) {
        bool margin = s.at < s.end && *s.at != ' ' && *s.at != '\t';
        struct myr_str words[WORDS_MAX];
        scan_blanks(&s);
        if (s.at == s.end || *s.at == '#') {
            continue;
        }
        if (!margin) {
            MYR_TRY(read_cable(&s, &system, err));
            continue;
        }
        uint32_t count = words_of(&s, words);
        if (count != 2 || !import_name_is_good(words[1])) {
            s.at = s.line_start;
            return complain(&s, err);
        }
        system = (struct topo_system){words[0], words[1]};
    }
    return MYR_OK;
}
