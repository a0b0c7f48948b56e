#include <stdarg.h>
#include <stdio.h>

#include "myriad/text.h"
#include "verify/verify.h"

/* What people read first: states, mistakes by name, the repair, and what else was noticed. */

const char *const myr_verify_list_names[MYR_VERIFY_LISTS] = {"steps", "ports", "patterns",
                                                             "unread"};

/* Steps and degraded links shown on the page; the lists have them all. */
enum { SHOWN_MAX = 100 };

/* A small table of its own, which programs do not see. */
static void show_states(const struct myr_verify *verify, struct myr_answer *answer)
{
    static const char *const meanings[MYR_STATE_COUNT] = {
        [MYR_STATE_RIGHT] = "the planned one",
        [MYR_STATE_WRONG] = "another one",
        [MYR_STATE_MISSING] = "none",
        [MYR_STATE_UNSEEN] = "nobody looked",
        [MYR_STATE_EXTRA] = "one where none is planned",
        [MYR_STATE_DEGRADED] = "the planned one, but slow or with errors",
        [MYR_STATE_UNREAD] = "a name that is not read: it may be right",
    };
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("state", "STATE", 0),
        MYR_COLUMN("ports", "PORTS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("meaning", "NEIGHBOUR", 0),
    };
    /* The answer itself has these as single numbers. */
    struct myr_answer digest;
    myr_answer_init(&digest, answer->arena, "digest", 1);
    const struct myr_value *states = myr_answer_list(&digest, "states");
    for (uint32_t state = MYR_STATE_RIGHT; state < MYR_STATE_COUNT; state++) {
        myr_answer_object(&digest, NULL);
        myr_answer_text(&digest, "state", myr_port_state_names[state]);
        myr_answer_u64(&digest, "ports", verify->counts[state]);
        myr_answer_text(&digest, "meaning", meanings[state]);
        myr_answer_end(&digest);
    }
    myr_answer_end(&digest);
    myr_answer_table(answer, states, columns, MYR_ARRAY_COUNT(columns));
}

/* The largest cause first. */
static void show_patterns(const struct myr_verify *verify, struct myr_answer *answer)
{
    if (verify->pattern_count == 0) {
        return;
    }
    myr_answer_heading(answer, "Patterns");
    for (uint32_t i = 0; i < verify->pattern_count; i++) {
        const struct myr_pattern *pattern = &verify->patterns[i];
        myr_answer_para(answer, "%s: %.*s (%s)", myr_pattern_kind_names[pattern->kind],
                        (int)pattern->where.len, pattern->where.data,
                        MYR_COUNT(pattern->ports, "port"));
    }
}

/* "3 moves, 1 new cable; nothing shorter exists" */
static const char *numbers(struct myr_answer *answer, const struct myr_repair *repair,
                           uint32_t open_chains)
{
    struct myr_arena *arena = answer->arena;
    const char *text = myr_arena_printf(arena, "%s", MYR_COUNT(repair->moves, "move"));
    if (repair->adds) {
        text = myr_arena_printf(arena, "%s, %s", text, MYR_COUNT(repair->adds, "new cable"));
    }
    if (repair->removes) {
        text = myr_arena_printf(arena, "%s, %s to take out", text, MYR_GROUPED(repair->removes));
    }
    /* Whether anything shorter exists is known only of an exact one. */
    if (open_chains) {
        return myr_arena_printf(arena, "%s of what was read; the least of all is not known", text);
    }
    return repair->exact ? myr_arena_printf(arena, "%s; nothing shorter exists", text)
                         : myr_arena_printf(arena, "%s; at least %s", text,
                                            MYR_COUNT(repair->lower_bound, "move"));
}

/* Says where the rest is; nothing where nothing is left. */
static void show_more(struct myr_answer *answer, uint32_t left, const char *list)
{
    if (left) {
        myr_answer_para(answer, "and %s more: --list %s", MYR_GROUPED(left), list);
    }
}

/* Slow or narrow as nearly all links of that plan are, and nothing else. */
static bool is_slow_as_all(const struct myr_verify *verify, uint32_t port)
{
    const struct myr_cabling_link *link = &verify->cabling->links.items[verify->found_link[port]];
    uint32_t planned = verify_planned_gbps(verify->design, port);
    if (verify->why[port] != 1U << MYR_WHY_SPEED) {
        return false;
    }
    bool slow = verify->slow_links && link->gbps == verify->slow_found_gbps &&
                planned == verify->slow_planned_gbps;
    return slow || (verify->narrow_links && (link->gbps == 0 || link->gbps >= planned) &&
                    link->width == verify->narrow_found &&
                    verify_planned_lanes(verify, port) == verify->narrow_planned);
}

/* ": 200 of 400 Gb/s", ": 1 of 4 lanes". */
static void put_speed(const struct myr_verify *verify, uint32_t port, struct myr_buf *line)
{
    const struct myr_cabling_link *link = &verify->cabling->links.items[verify->found_link[port]];
    uint32_t planned = verify_planned_gbps(verify->design, port);
    uint32_t lanes = verify_planned_lanes(verify, port);
    if (link->gbps && link->gbps < planned) {
        myr_buf_printf(line, ": %s of %s Gb/s", MYR_GROUPED(link->gbps), MYR_GROUPED(planned));
    } else if (link->width && link->width < lanes) {
        myr_buf_printf(line, ": %u of %s", link->width, MYR_COUNT(lanes, "lane"));
    } else {
        myr_buf_put_lit(line, ": fewer lanes than the others");
    }
}

/* Links that are in their place, but not as they should be. */
static void show_degraded(const struct myr_verify *verify, struct myr_answer *answer)
{
    static const char *const whys[MYR_WHYS] = {NULL, /* stands in numbers */
                                               "errors",
                                               "more bit errors than correction can mend (2.4e-4)",
                                               "errors are not corrected (FEC)",
                                               "a cable of another kind than planned",
                                               "one lane gets much less light: clean it",
                                               "light out of the range of such modules"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    uint32_t shown = 0, left = 0;
    if (verify->counts[MYR_STATE_DEGRADED] == 0) {
        return;
    }
    myr_answer_heading(answer, "Degraded");
    if (verify->slow_links) { /* one cause, one line */
        myr_answer_para(answer, "%s: %s of %s Gb/s, as nearly all of that plan",
                        MYR_COUNT(verify->slow_links, "link"), MYR_GROUPED(verify->slow_found_gbps),
                        MYR_GROUPED(verify->slow_planned_gbps));
    }
    if (verify->narrow_links) {
        myr_answer_para(answer, "%s: %s of %s, as nearly all of that plan",
                        MYR_COUNT(verify->narrow_links, "link"), MYR_GROUPED(verify->narrow_found),
                        MYR_COUNT(verify->narrow_planned, "lane"));
    }
    for (uint32_t p = 0; p < verify->design->port_count; p++) {
        /* Each link once, and none that the line above speaks of. */
        if (verify->state[p] != MYR_STATE_DEGRADED || verify->found[p] < p ||
            is_slow_as_all(verify, p)) {
            continue;
        }
        /* Counted on, so that the page can say how many are left. */
        if (shown++ >= SHOWN_MAX) {
            left++;
            continue;
        }
        myr_buf_clear(&line);
        myr_verify_port_name(verify, p, &line);
        myr_buf_put_lit(&line, " - ");
        myr_verify_port_name(verify, verify->found[p], &line);
        if (verify->why[p] >> MYR_WHY_SPEED & 1) {
            put_speed(verify, p, &line);
        }
        for (uint32_t w = 0; w < MYR_WHYS; w++) {
            if (verify->why[p] >> w & 1 && whys[w]) {
                myr_buf_printf(&line, ": %s", whys[w]);
            }
        }
        myr_answer_para(answer, "%s", line.data);
    }
    show_more(answer, left, "ports");
}

/* Three ways, so that people can weigh plugs against labels. */
static void show_choices(const struct myr_verify *verify, struct myr_answer *answer)
{
    if (verify->labelled.components + verify->open_chains == 0) {
        return;
    }
    myr_answer_heading(answer, "Repair");
    myr_answer_fact(answer, "  as labelled", "%s",
                    numbers(answer, &verify->labelled, verify->open_chains));
    myr_answer_fact(answer, "  as equivalent", "%s",
                    numbers(answer, &verify->equivalent, verify->open_chains));
    myr_answer_fact(answer, "  relabel", "%s and %s of the plan, then %s",
                    MYR_COUNT(verify->relabel_links, "link"),
                    MYR_COUNT(verify->relabel_devices + verify->renamed_count, "device"),
                    MYR_COUNT(verify->relabel_moves, "move"));
}

/* Names before plugs: renaming may make most steps needless. */
static void show_steps(const struct myr_verify *verify, struct myr_answer *answer)
{
    const struct myr_repair *repair = &verify->repair;
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    if (repair->step_count == 0) {
        return;
    }
    verify_show_renames(verify, answer);
    myr_answer_heading(answer, "Steps, %s, in walking order%s",
                       verify->options.equivalent ? "as equivalent" : "as labelled",
                       verify->relabel_devices ? ", if the names are to stay" : "");
    for (uint32_t i = 0; i < repair->step_count && i < SHOWN_MAX; i++) {
        /* Steps of one chain depend on each other. */
        bool follows = i > 0 && repair->steps[i].component == repair->steps[i - 1].component;
        myr_buf_clear(&line);
        myr_verify_step_text(verify, &repair->steps[i], &line);
        myr_answer_fact(answer, myr_arena_printf(answer->arena, "%6u", i + 1), "%s%s",
                        follows ? "then " : "", line.data);
    }
    show_more(answer, repair->step_count > SHOWN_MAX ? repair->step_count - SHOWN_MAX : 0, "steps");
}

/* The heading comes with the first note. */
struct notes {
    struct myr_answer *answer;
    bool any; /* the heading is there */
};

MYR_PRINTF(2, 3)
static void note(struct notes *notes, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (!notes->any) {
        myr_answer_heading(notes->answer, "Notes");
        notes->any = true;
    }
    myr_answer_para(notes->answer, "%s", text);
}

static void note_count(struct notes *notes, uint32_t count, const char *word, const char *rest)
{
    if (count) {
        note(notes, "%s %s", MYR_COUNT(count, word), rest);
    }
}

/* Of what cables told; the others are hosts or their NICs. */
static uint32_t count_switches(const struct myr_verify *verify)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < verify->identity_count; i++) {
        uint32_t port = verify->identities[i].first_port;
        count += myr_design_port_group(verify->design, port)->role != MYR_PORT_NIC;
    }
    return count;
}

/* Classes that look alike are told by one example each. */
static void note_identities(const struct myr_verify *verify, struct notes *notes)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf other = {};
    const struct myr_design *design = verify->design;
    note_count(notes, verify->identity_count, "device",
               "told by their cables: the design does not know their names");
    uint32_t switches = count_switches(verify);
    if (switches) {
        note(notes, "%s of them %s, identified by their neighbours: which is which is assumed",
             MYR_GROUPED(switches), switches == 1 ? "is a switch" : "are switches");
    }
    for (uint32_t i = 0; i < verify->ambiguity_count; i++) {
        const struct myr_ambiguity *row = &verify->ambiguities[i];
        myr_buf_clear(&name);
        myr_design_name(design, design->port_device[row->first_port], &name);
        note(notes, "%s %s like %s of the design, such as %s",
             MYR_COUNT(row->found_count, "device"), row->found_count == 1 ? "looks" : "look",
             MYR_COUNT(row->design_count, "place"), name.data);
    }
    /* What the renames are based on. */
    for (uint32_t d = 0; verify->relabel_devices && d < design->device_count; d++) {
        if (verify->renames[d] != MYR_NONE) {
            myr_buf_clear(&name);
            myr_buf_clear(&other);
            myr_design_name(design, d, &name);
            myr_design_name(design, verify->renames[d], &other);
            note(notes, "%s has the cables of %s", name.data, other.data);
        }
    }
}

/* "mlx5_0 is nic0" and so on, as it was taken for granted, and who speaks against it. */
static void note_assumed(const struct myr_verify *verify, struct notes *notes)
{
    enum { NAMED_MAX = 8 };
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    verify_assumed_text(verify, &line);
    if (verify->assumed_count) {
        note(notes, "%s", line.data);
    }
    if (verify_is_against_order(verify)) {
        note(notes, "that is not the order of their names: either these hosts count so, or the "
                    "same cables are exchanged on all of them");
    }
    if (verify->few_hosts) {
        note(notes,
             "not assumed: what %s call%s a NIC, as too few hosts agree on it against the order "
             "of the names (3 are enough; --hca-map says it outright)",
             MYR_COUNT(verify->few_hosts, "host"), verify->few_hosts == 1 ? "s" : "");
    }
    myr_buf_clear(&line);
    for (uint32_t i = 0; i < verify->deviating_count && i < NAMED_MAX; i++) {
        myr_buf_puts(&line, i ? ", " : "");
        myr_design_name(verify->design, verify->deviating[i], &line);
    }
    if (verify->deviating_count) {
        note(notes, "%s %s from it: %s%s", MYR_COUNT(verify->deviating_count, "host"),
             verify->deviating_count == 1 ? "deviates" : "deviate", line.data,
             verify->deviating_count > NAMED_MAX ? ", ..." : "");
    }
}

static const char *const fact_words[MYR_LINK_FACTS] = {"speed", "FEC", "status", "medium"};

/* "speed of 16 links is not understood: ZDR": neither right nor wrong. */
static void note_words(const struct myr_verify *verify, struct notes *notes)
{
    for (uint32_t i = 0; i < verify->word_count; i++) {
        const struct myr_unread_word *word = &verify->words[i];
        note(notes, "%s of %s is not understood: %.*s", fact_words[word->fact],
             MYR_COUNT(word->links, "link"), (int)word->text.len, word->text.data);
    }
}

/* "; not judged: speed, medium": what stands behind any verdict. */
static void put_not_judged(const struct myr_verify *verify, struct myr_buf *buf)
{
    uint32_t links[MYR_LINK_FACTS] = {0}, told = 0;
    for (uint32_t i = 0; i < verify->word_count; i++) {
        links[verify->words[i].fact] += verify->words[i].links;
    }
    for (uint32_t fact = 0; fact < MYR_LINK_FACTS; fact++) {
        if (links[fact]) {
            myr_buf_printf(buf, "%s%s of %s",
                           told++ ? ", " : "; not judged: ", myr_link_fact_names[fact],
                           MYR_COUNT(links[fact], "link"));
        }
    }
}

/* Only what there is any of. */
static void show_notes(const struct myr_verify *verify, struct myr_answer *answer)
{
    struct notes notes = {answer, false};
    note_identities(verify, &notes);
    note_count(&notes, verify->rogue_links, "cable",
               "between ports of switches that the plan does not use");
    note_count(&notes, verify->outside_links, "link", "of other networks or devices: not judged");
    note_count(&notes, verify->one_sided_links, "link", "told by one end only");
    note_count(&notes, verify->contradicted, "neighbour",
               "told by one end and denied by the other");
    note_count(&notes, verify->name_conflicts, "device",
               "whose name another device has or is bound to");
    /* The source may have another word for the speed. */
    if (verify->slow_planned_gbps) {
        note(&notes,
             "%s planned at %s Gb/s %s at %s Gb/s; where the source has other words for "
             "speeds, as simulators have: --speed-map",
             MYR_COUNT(verify->slow_links, "link"), MYR_GROUPED(verify->slow_planned_gbps),
             verify->slow_links == 1 ? "runs" : "run", MYR_GROUPED(verify->slow_found_gbps));
    }
    note_assumed(verify, &notes);
    note_words(verify, &notes);
}

/* Rows without cables are left out before: there is something to divide by. */
static void show_ready(struct myr_answer *answer, const char *name, const struct myr_ready *row)
{
    uint32_t percent = (uint32_t)((uint64_t)row->right * 100 / row->cables);
    const char *more = "";
    if (row->unseen) {
        more = myr_arena_printf(answer->arena, "%s, %s not seen", more, MYR_GROUPED(row->unseen));
    }
    if (row->unread) {
        more = myr_arena_printf(answer->arena, "%s, %s not read", more, MYR_GROUPED(row->unread));
    }
    if (row->bad) {
        more =
            myr_arena_printf(answer->arena, "%s, %s not as planned", more, MYR_GROUPED(row->bad));
    }
    myr_answer_fact(answer, name, "%s of %s right (%u %%)%s", MYR_GROUPED(row->right),
                    MYR_COUNT(row->cables, "cable"), percent, more);
}

/* What was seen comes before what it says. Pods and racks only where something is left to do. */
static void show_coverage(const struct myr_verify *verify, struct myr_answer *answer)
{
    enum { ROWS_MAX = 12 };
    const struct myr_coverage *cover = &verify->coverage;
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    uint32_t pods = 0, racks = 0;
    if (cover->all.cables == 0) {
        return;
    }
    myr_answer_heading(answer, "Seen");
    show_ready(answer, "  all", &cover->all);
    /* Nothing is left to do: parts need not be told. */
    if (cover->all.right == cover->all.cables) {
        return;
    }
    for (uint32_t i = 0; i < cover->layer_count; i++) {
        const char *name = myr_layer_names[cover->layers[i].key];
        show_ready(answer, myr_arena_printf(answer->arena, "  %s", name), &cover->layers[i]);
    }
    for (uint32_t i = 0; i < cover->pod_count && cover->pod_count > 1; i++) {
        const struct myr_ready *row = &cover->pods[i];
        /* Finished pods are not worth a line. */
        if (row->right < row->cables && pods++ < ROWS_MAX) {
            show_ready(answer, myr_arena_printf(answer->arena, "  pod %u", row->key), row);
        }
    }
    for (uint32_t i = 0; i < cover->rack_count; i++) {
        const struct myr_ready *row = &cover->racks[i];
        if (row->right < row->cables && racks++ < ROWS_MAX) {
            myr_buf_clear(&line);
            myr_design_rack_name(verify->design, row->key, &line);
            show_ready(answer, myr_arena_printf(answer->arena, "  rack %s", line.data), row);
        }
    }
    myr_buf_clear(&line);
    /* The first few by name; the count tells the rest. */
    for (uint32_t i = 0; i < cover->absent_count && i < ROWS_MAX; i++) {
        myr_buf_puts(&line, i ? ", " : "");
        myr_design_name(verify->design, cover->absent[i], &line);
    }
    if (cover->absent_count) {
        myr_answer_para(answer, "%s of the plan %s told of by nobody: %s%s",
                        MYR_COUNT(cover->absent_count, "device"),
                        cover->absent_count == 1 ? "is" : "are", line.data,
                        cover->absent_count > ROWS_MAX ? ", ..." : "");
    }
}

/* With what the user can do about it. */
static void show_unread(const struct myr_verify *verify, struct myr_answer *answer)
{
    enum { UNREAD_MAX = 12 };
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    if (verify->counts[MYR_STATE_UNREAD] + verify->unread_count == 0) {
        return;
    }
    myr_answer_heading(answer, "Not read");
    for (uint32_t i = 0; i < verify->unread_count && i < UNREAD_MAX; i++) {
        struct myr_cabling_end end = verify->unread[i];
        myr_buf_clear(&line);
        verify_found_name(verify, end.device, &line);
        myr_answer_para(answer, "%s port %.*s", line.data, (int)end.port.len, end.port.data);
    }
    show_more(answer, verify->unread_count > UNREAD_MAX ? verify->unread_count - UNREAD_MAX : 0,
              "unread");
    myr_answer_para(answer, "Neither right nor wrong: --hca-map mlx5_0=nic0 says what hosts call "
                            "their ports, --binding which device is which, --port-names how a "
                            "switch names its ports.");
}

/* Faults first, then what is not known; a list in which nothing was seen proves nothing. */
static const char *verdict(const struct myr_verify *verify)
{
    /* Ports that anybody looked at. */
    uint32_t seen = 0;
    for (uint32_t state = MYR_STATE_RIGHT; state < MYR_STATE_COUNT; state++) {
        seen += state == MYR_STATE_UNSEEN ? 0 : verify->counts[state];
    }
    uint32_t bad = verify->counts[MYR_STATE_WRONG] + verify->counts[MYR_STATE_MISSING] +
                   verify->counts[MYR_STATE_EXTRA] + verify->counts[MYR_STATE_DEGRADED] +
                   verify->rogue_links;
    /* Not seen, not read, or read in part. */
    uint32_t open =
        verify->counts[MYR_STATE_UNSEEN] + verify->counts[MYR_STATE_UNREAD] + verify->unread_count;
    return seen == 0               ? "nothing of it was seen, nothing is known"
           : bad                   ? "not as planned"
           : verify->renamed_count ? "its cables are as planned, names of hosts are not"
           : verify->replaced_count
               ? "its cables are as planned, but devices are not those that are bound"
           : open == 0                            ? "as planned"
           : verify->counts[MYR_STATE_RIGHT] == 0 ? "nothing of it was read, nothing is known"
           : verify->options.partial
               ? "what was seen is as planned"
               : "not all of it was seen and read; the rest is as planned (--partial while it is "
                 "being built)";
}

/* What was seen stands before what it says; steps come last, for they are long. */
void myr_verify_page(const struct myr_verify *verify, struct myr_answer *answer)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf not_judged = {};
    if (verify_is_against_order(verify)) {
        myr_buf_put_lit(&not_judged, "; NICs are not in the order of their names (see the notes)");
    }
    put_not_judged(verify, &not_judged);
    myr_answer_para(answer, "%s: %s%s", myr_design_str(verify->design, verify->design->head->name),
                    verdict(verify), not_judged.len ? not_judged.data : "");
    show_coverage(verify, answer);
    show_states(verify, answer);
    show_patterns(verify, answer);
    show_degraded(verify, answer);
    show_unread(verify, answer);
    verify_show_replaced(verify, answer);
    verify_show_renamed(verify, answer);
    show_choices(verify, answer);
    show_notes(verify, answer);
    show_steps(verify, answer);
}

/* One list alone, with its columns. */
void myr_verify_page_list(const struct myr_verify_lists *lists, enum myr_verify_list list,
                          struct myr_answer *answer)
{
    static const struct myr_answer_column step_columns[] = {
        MYR_COLUMN("step", "STEP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("component", "CHAIN", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("do", "DO", 0),
        MYR_COLUMN("at_device", "AT", 0),
        MYR_COLUMN("at_port", "PORT", 0),
        MYR_COLUMN("to_device", "TO", 0),
        MYR_COLUMN("to_port", "PORT", 0),
        MYR_COLUMN("other_end_at_device", "OTHER END", 0),
        MYR_COLUMN("other_end_at_port", "PORT", 0),
        MYR_COLUMN("other_end_to_device", "AND", MYR_COLUMN_WIDE),
        MYR_COLUMN("other_end_to_port", "PORT", MYR_COLUMN_WIDE),
        MYR_COLUMN("check_first", "LOOK FIRST", MYR_COLUMN_WIDE),
    };
    static const struct myr_answer_column port_columns[] = {
        MYR_COLUMN("device", "DEVICE", 0),
        MYR_COLUMN("port", "PORT", 0),
        MYR_COLUMN("state", "STATE", 0),
        MYR_COLUMN("why", "WHY", MYR_COLUMN_WIDE),
        MYR_COLUMN("planned_device", "PLANNED", 0),
        MYR_COLUMN("planned_port", "PORT", 0),
        MYR_COLUMN("found_device", "FOUND", 0),
        MYR_COLUMN("found_port", "PORT", 0),
    };
    static const struct myr_answer_column pattern_columns[] = {
        MYR_COLUMN("kind", "PATTERN", 0), MYR_COLUMN("where", "WHERE", 0),
        MYR_COLUMN("ports", "PORTS", MYR_COLUMN_NUMBER)};
    static const struct myr_answer_column unread_columns[] = {
        MYR_COLUMN("found_device", "DEVICE", 0), MYR_COLUMN("found_port", "PORT", 0)};
    static const struct {
        const struct myr_answer_column *columns;
        uint32_t count;
    } shapes[MYR_VERIFY_LISTS] = {
        [MYR_VERIFY_STEPS] = {step_columns, MYR_ARRAY_COUNT(step_columns)},
        [MYR_VERIFY_PORTS] = {port_columns, MYR_ARRAY_COUNT(port_columns)},
        [MYR_VERIFY_PATTERNS] = {pattern_columns, MYR_ARRAY_COUNT(pattern_columns)},
        [MYR_VERIFY_UNREAD] = {unread_columns, MYR_ARRAY_COUNT(unread_columns)},
    };
    myr_answer_table(answer, lists->lists[list], shapes[list].columns, shapes[list].count);
}
