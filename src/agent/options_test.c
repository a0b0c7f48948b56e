#include "options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/myr-options-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const folders[] = {"new", "other", "own"};
    (void)unlink("token");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(folders); i++) {
        (void)rmdir(folders[i]);
    }
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

#define DIGITS   "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef"
#define SMALL    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ARGS_MAX 16

/* One variable, or none, in the place of the whole environment: setenv would keep memory. */
static char kept[200];

static void set_variable(const char *text)
{
    static char *variables[2];
    snprintf(kept, sizeof(kept), "%s", text);
    variables[0] = text[0] ? kept : NULL;
    environ = variables;
}

/* Reads a command line of words; each may be overwritten, so that they are copies. */
static int read_words(const char *const *words, struct settings *ret, char shown[ARGS_MAX][200],
                      struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf help = {};
    char *argv[ARGS_MAX + 1] = {shown[0]};
    int argc = 1;
    snprintf(shown[0], 200, "myriad-agent");
    for (; *words; words++, argc++) {
        snprintf(shown[argc], 200, "%s", *words);
        argv[argc] = shown[argc];
    }
    return options_read(argc, argv, ret, &help, err);
}

static void servers_have_a_host_and_a_port(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        uint16_t port;
    } cases[] = {
        {"head:4681", "head", 4681},
        {"h:1", "h", 1},
        {"10.0.0.1:65535", "10.0.0.1", 65535},
        {"[::1]:4681", "::1", 4681},
        {"[a]:7", "a", 7},
        {"head", NULL, 0},
        {":4681", NULL, 0},
        {"head:", NULL, 0},
        {"head:0", NULL, 0},
        {"head:65536", NULL, 0},
        {"head:x", NULL, 0},
        {"::1:4681", NULL, 0},
        {"[]:4681", NULL, 0},
        {"[::1:4681", NULL, 0},
        {"[a:1", NULL, 0},
        {"[:1", NULL, 0},
        {"", NULL, 0},
        {"head:18446744073709551617", NULL, 0},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct settings settings = {};
        struct myr_err err = {};
        int rc = options_server(cases[i].text, &settings, &err);
        if ((rc == MYR_OK) != (cases[i].host != NULL)) {
            fail_msg("'%s': %d %s", cases[i].text, rc, err.message);
        }
        if (cases[i].host) {
            assert_string_equal(settings.host, cases[i].host);
            assert_int_equal(settings.port, cases[i].port);
        } else {
            assert_non_null(strstr(err.message, "HOST:PORT is expected"));
            assert_non_null(strstr(err.message, cases[i].text));
        }
    }
}

static void hosts_have_an_end(void **state)
{
    (void)state;
    char text[300];
    for (size_t length = 254; length < 258; length++) {
        struct settings settings = {};
        struct myr_err err = {};
        memset(text, 'h', length);
        snprintf(text + length, sizeof(text) - length, ":1");
        assert_int_equal(options_server(text, &settings, &err) == MYR_OK, length <= 255);
        assert_int_equal(strlen(settings.host), length <= 255 ? length : 0);
    }
}

static void several_servers_are_kept_in_their_order(void **state)
{
    (void)state;
    struct settings settings = {}, many = {}, most = {}, bad = {};
    struct myr_err err = {};
    assert_int_equal(options_servers("a:1,[::2]:2,c:3", &settings, &err), MYR_OK);
    assert_string_equal(settings.host, "a");
    assert_int_equal(settings.port, 1);
    assert_int_equal(settings.other_count, 2);
    assert_string_equal(settings.others[0].host, "::2");
    assert_int_equal(settings.others[0].port, 2);
    assert_string_equal(settings.others[1].host, "c");
    assert_int_equal(settings.others[1].port, 3);
    assert_int_equal(options_servers("a:1,b:1,c:1,d:1,e:1", &most, &err), MYR_OK);
    assert_int_equal(most.other_count, 4);
    assert_int_equal(options_servers("a:1,b:1,c:1,d:1,e:1,f:1", &many, &err), MYR_ERANGE);
    assert_string_equal(err.message, "--server: more than 5 servers");
    assert_int_equal(options_servers("a:1,b", &bad, &err), MYR_EINVAL);
    assert_int_equal(options_servers(",a:1", &bad, &err), MYR_EINVAL);
}

static void tokens_are_read_and_hidden(void **state)
{
    (void)state;
    static const char *const lines[][10] = {
        {"--server", "h:1", "--state", "new", "--sockets", "own", "--token", ("word@" DIGITS),
         NULL},
        {"--server", "h:1", "--state", "new", "--sockets", "own", ("--token=word@" DIGITS), NULL},
        {"--server", "h:1", "--state", "new", "--sockets", "own", NULL},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lines); i++) {
        struct settings settings = {};
        struct myr_err err = {};
        char shown[ARGS_MAX][200] = {};
        set_variable("MYRIAD_AGENT_TOKEN=other@" DIGITS);
        assert_int_equal(read_words(lines[i], &settings, shown, &err), MYR_OK);
        assert_true(settings.has_token);
        assert_string_equal(settings.token.secret, i < 2 ? "word" : "other");
        assert_string_equal(settings.token.fingerprint, SMALL);
        assert_null(getenv("MYRIAD_AGENT_TOKEN"));
        const char *left = strchr(kept, '='); /* /proc shows the bytes that it began with */
        assert_true(left && strspn(left + 1, "*") == strlen("other@" DIGITS));
        for (size_t a = 0; a < ARGS_MAX; a++) {
            assert_null(strstr(shown[a], "word"));
            assert_null(strstr(shown[a], SMALL));
        }
        assert_string_equal(shown[2], "h:1"); /* nothing else is overwritten */
    }
}

static void token_files_are_for_one_person(void **state)
{
    (void)state;
    static const char *const words[] = {"--server", "h:1",       "--state", "new", "--token-file",
                                        "token",    "--sockets", "own",     NULL};
    static const mode_t modes[] = {0600, 0400, 0640, 0604, 0610, 0601};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(modes); i++) {
        struct settings settings = {};
        struct myr_err err = {};
        char shown[ARGS_MAX][200] = {};
        FILE *file = fopen("token", "w");
        assert_non_null(file);
        assert_true(fputs("word@" DIGITS "\n", file) >= 0);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(chmod("token", modes[i]), 0);
        int rc = read_words(words, &settings, shown, &err);
        assert_int_equal(rc, i < 2 ? MYR_OK : MYR_EINVAL);
        if (i < 2) {
            assert_true(settings.has_token);
            assert_string_equal(settings.token.secret, "word");
        } else {
            assert_string_equal(err.message, "token: others may read it; chmod 600 it first");
        }
        assert_int_equal(unlink("token"), 0);
    }
}

static void what_is_no_token_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "word",
        "@" DIGITS,
        "word@",
        "word@" DIGITS "0",
        "word@0" /* 63 digits more */
        "12345678901234567890123456789012345678901234567890123456789012",
        "word@g"
        "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};
    struct enrol_token token;
    struct myr_err err = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        assert_int_equal(enrol_token_read(myr_str_from(texts[i]), &token, &err), MYR_EINVAL);
    }
    assert_int_equal(enrol_token_read(MYR_STR("w@" SMALL " \n\n"), &token, &err), MYR_OK);
    assert_string_equal(token.secret, "w");
}

static void folders_are_made_and_are_the_nodes_own(void **state)
{
    (void)state;
    static const char *const words[] = {"--server",  "h:9", "--state",   "other", "--name", "n",
                                        "--sockets", "own", "--pretend", "p",     NULL};
    static const char *const plain[] = {"--server",  "127.0.0.1:1", "--state", "new",
                                        "--sockets", "own",         NULL};
    struct settings settings = {};
    struct myr_err err = {};
    struct stat st;
    char shown[ARGS_MAX][200] = {}, full[600], host[256] = "";
    assert_int_equal(read_words(words, &settings, shown, &err), MYR_OK);
    snprintf(full, sizeof(full), "%s/other", folder);
    assert_string_equal(settings.state, full);
    assert_string_equal(settings.sockets, "own");
    assert_string_equal(settings.name, "n");
    assert_string_equal(settings.pretend, "p");
    assert_string_equal(settings.host, "h");
    assert_int_equal(settings.port, 9);
    assert_false(settings.has_token || settings.help || settings.plain);
    assert_int_equal(stat("other", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat("own", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0711);
    assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
    set_variable("MYRIAD_AGENT_PLAIN=1");
    assert_int_equal(read_words(plain, &settings, shown, &err), MYR_OK);
    assert_true(settings.plain); /* to this machine itself alone */
    assert_string_equal(settings.name, host);
    assert_int_equal(read_words(words, &settings, shown, &err), MYR_OK);
    assert_false(settings.plain);
    set_variable("MYRIAD_AGENT_PLAIN=2");
    assert_int_equal(read_words(plain, &settings, shown, &err), MYR_OK);
    assert_false(settings.plain);
    set_variable("");
}

/* A name that is cut would be another folder's. */
static void folders_have_names_that_fit(void **state)
{
    (void)state;
    char deep[151] = "", at[1000];
    memset(deep, 'd', sizeof(deep) - 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(mkdir(deep, 0700) | chdir(deep), 0);
    }
    assert_non_null(getcwd(at, sizeof(at)));
    for (uint32_t more = 0; more < 2; more++) {
        struct settings settings = {};
        struct myr_err err = {};
        char shown[ARGS_MAX][200] = {}, name[100] = "", says[200];
        const char *const words[] = {"--server", "h:1", "--state", name, "--sockets", "own", NULL};
        size_t len = sizeof(settings.state) - 2 - strlen(at) + more;
        assert_in_range(len, 1, sizeof(name) - 1);
        memset(name, 's', len);
        int rc = read_words(words, &settings, shown, &err);
        assert_int_equal(rc, more ? MYR_EINVAL : MYR_OK);
        snprintf(says, sizeof(says), "--state '%s': the name is too long", name);
        assert_string_equal(err.message, more ? says : "");
        assert_int_equal(strlen(settings.state), more ? 0 : sizeof(settings.state) - 1);
        assert_int_equal(rmdir(name), 0);
    }
    assert_int_equal(rmdir("own"), 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(chdir("..") | rmdir(deep), 0);
    }
}

static void help_and_what_is_missing_are_told(void **state)
{
    (void)state;
    static const char *const none[] = {"--state", "new", NULL}, *const asks[] = {"--help", NULL};
    struct settings settings = {};
    struct myr_err err = {};
    char shown[ARGS_MAX][200] = {};
    assert_int_equal(read_words(none, &settings, shown, &err), MYR_EINVAL);
    assert_string_equal(err.message, "--server HOST:PORT is needed");
    assert_int_equal(read_words(asks, &settings, shown, &err), MYR_OK);
    assert_true(settings.help);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_have_a_host_and_a_port),
        cmocka_unit_test(hosts_have_an_end),
        cmocka_unit_test(several_servers_are_kept_in_their_order),
        cmocka_unit_test(tokens_are_read_and_hidden),
        cmocka_unit_test(token_files_are_for_one_person),
        cmocka_unit_test(what_is_no_token_is_refused),
        cmocka_unit_test(folders_are_made_and_are_the_nodes_own),
        cmocka_unit_test(folders_have_names_that_fit),
        cmocka_unit_test(help_and_what_is_missing_are_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
