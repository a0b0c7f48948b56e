#include "myriad/text/svg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void shapes_come_out_in_order_and_in_pixels(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    struct myr_svg svg;
    myr_svg_begin(&svg, &buf, 300, 200, "a <b> & \"c\"");
    size_t head = buf.len;
    myr_svg_group(&svg, "rack");
    myr_svg_rect(&svg, 105, -20, 600, 300, "leaf", "leaf/p0-r1\nport 3 < 4");
    myr_svg_rect(&svg, 0, 0, 24, 6, NULL, NULL);
    myr_svg_group_end(&svg);
    myr_svg_line(&svg, 0, 1, -1, 20, "link-hot", NULL);
    myr_svg_line(&svg, 0, 0, 10, 10, NULL, "tip");
    myr_svg_text(&svg, 10, 20, MYR_SVG_MIDDLE, "label muted", "x < \xE4\xB8\x87\x01\xFF");
    myr_svg_text(&svg, 10, 20, MYR_SVG_END, NULL, "");
    myr_svg_end(&svg);
    assert_string_equal(
        buf.data + head,
        "<g class=\"rack\">\n"
        "<rect x=\"10.5\" y=\"-2\" width=\"60\" height=\"30\" rx=\"4\" class=\"leaf\">"
        "<title>leaf/p0-r1\nport 3 &lt; 4</title></rect>\n"
        "<rect x=\"0\" y=\"0\" width=\"2.4\" height=\"0.6\" rx=\"0.1\"/>\n"
        "</g>\n"
        "<line x1=\"0\" y1=\"0.1\" x2=\"-0.1\" y2=\"2\" class=\"link-hot\"/>\n"
        "<line x1=\"0\" y1=\"0\" x2=\"1\" y2=\"1\" class=\"link\"><title>tip</title></line>\n"
        "<text x=\"1\" y=\"2\" text-anchor=\"middle\" class=\"label muted\">x &lt; "
        "\xE4\xB8\x87\xEF\xBF\xBD\xEF\xBF\xBD</text>\n"
        "<text x=\"1\" y=\"2\" text-anchor=\"end\" class=\"label\"></text>\n"
        "</svg>\n");
    assert_non_null(strstr(buf.data, "width=\"300\" height=\"200\" viewBox=\"0 0 300 200\""));
    assert_non_null(strstr(buf.data, "<title>a &lt;b&gt; &amp; &quot;c&quot;</title>"));
    myr_buf_done(&buf);
}

static void circles_and_paths_join_many_strokes_into_one_shape(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    struct myr_svg svg;
    myr_svg_begin(&svg, &buf, 10, 10, "t");
    size_t head = buf.len;
    myr_svg_style(&svg, ".own{fill:red}");
    myr_svg_circle(&svg, 15, 20, 5, "core", "round");
    myr_svg_path_begin(&svg); /* empty: leaves nothing */
    myr_svg_path_end(&svg, "link", "tip");
    myr_svg_path_begin(&svg);
    myr_svg_path_move(&svg, 0, -1);
    myr_svg_path_line(&svg, 105, 20);
    myr_svg_path_move(&svg, 0, 0);
    myr_svg_path_curve(&svg, 10, 20, 30, 40);
    myr_svg_path_close(&svg);
    myr_svg_path_end(&svg, NULL, "a & b");
    myr_svg_end(&svg);
    assert_string_equal(buf.data + head, "<style>.own{fill:red}</style>\n"
                                         "<circle cx=\"1.5\" cy=\"2\" r=\"0.5\" class=\"core\">"
                                         "<title>round</title></circle>\n"
                                         "<path d=\"M0 -0.1L10.5 2M0 0Q1 2 3 4Z\" class=\"link\">"
                                         "<title>a &amp; b</title></path>\n"
                                         "</svg>\n");
    myr_buf_done(&buf);
}

static void the_stylesheet_has_every_class_for_light_and_dark(void **state)
{
    (void)state;
    static const char *const classes[] = {".page{",     ".host{",     ".leaf{",    ".spine{",
                                          ".core{",     ".ethernet{", ".storage{", ".link{",
                                          ".link-hot{", "text{"};
    struct myr_buf buf = {};
    struct myr_svg svg;
    myr_svg_begin(&svg, &buf, 1, 1, "t");
    myr_svg_end(&svg);
    const char *dark = strstr(buf.data, "@media (prefers-color-scheme:dark){");
    assert_non_null(dark);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(classes); i++) {
        const char *light = strstr(buf.data, classes[i]);
        assert_true(light && light < dark);
        assert_non_null(strstr(dark, classes[i]));
    }
    static const char *const sizes[] = {".title{", ".label{", ".label-small{", "text.muted{"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        assert_non_null(strstr(buf.data, sizes[i]));
    }
    myr_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_come_out_in_order_and_in_pixels),
        cmocka_unit_test(circles_and_paths_join_many_strokes_into_one_shape),
        cmocka_unit_test(the_stylesheet_has_every_class_for_light_and_dark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
