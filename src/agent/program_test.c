/* The words that the program is called with: what each does, and with which status it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leaks.h"
#include "myriad/agent.h"

/* Streams of the C library. */
long myr_leaks_allowed = 200;

static void read_all(int fd, char *ret, size_t size)
{
    size_t len = 0;
    char byte;
    while (read(fd, &byte, 1) == 1) {
        if (len + 1 < size) {
            ret[len++] = byte;
        }
    }
    ret[len] = '\0';
    close(fd);
}

/* In a process of its own. Output and errors, each from its beginning. */
static int call(const char *const *words, bool full, char output[200], char errors[400])
{
    int out[2], error[2];
    assert_int_equal(pipe2(out, O_CLOEXEC) | pipe2(error, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[8] = {(char *)"myriad-agent"};
        int argc = 1;
        for (; words[argc - 1]; argc++) {
            argv[argc] = (char *)words[argc - 1];
        }
        int to = full ? open("/dev/full", O_WRONLY | O_CLOEXEC) : out[1];
        if (dup2(to, STDOUT_FILENO) < 0 || dup2(error[1], STDERR_FILENO) < 0) {
            _exit(99);
        }
        setenv("MYRIAD_AGENT_NVML", "/no/such/library.so", 1);
        _exit(myr_agent_main(argc, argv));
    }
    close(out[1]);
    close(error[1]);
    int status;
    read_all(out[0], output, 200);
    read_all(error[0], errors, 400);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void words_and_what_they_do(void **state)
{
    static const char forms[] =
        "myriad-agent: inventory: '-o table', '-o json' or '-o yaml' is expected\n";
    static const struct {
        const char *words[5];
        bool full;
        int status;
        const char *output, *errors; /* how they begin */
    } all[] = {
        {{"inventory", NULL}, false, 0, "CPUs ", ""},
        {{"inventory", "-o", "table", NULL}, false, 0, "CPUs ", ""},
        {{"inventory", "-o", "json", NULL}, false, 0, "{\n  \"schema\": \"myriad.inventory\"", ""},
        {{"inventory", "-o", "yaml", NULL}, false, 0, "schema: myriad.inventory", ""},
        {{"inventory", "-o", "json", NULL}, true, 3, "", ""},
        {{"inventory", "-o", "xml", NULL}, false, 2, "", forms},
        {{"inventory", "-o", NULL}, false, 2, "", forms},
        {{"inventory", "-x", "json", NULL}, false, 2, "", forms},
        {{"inventory", "-x", "yaml", NULL}, false, 2, "", forms},
        {{"inventory", "-x", "table", NULL}, false, 2, "", forms},
        {{"inventory", "-o", "json", "x", NULL}, false, 2, "", forms},
        {{"watch", NULL}, false, 0, "", ""},
        {{"watch", "x", NULL}, false, 2, "", "myriad-agent: "},
        {{"shim", "/no/such/folder", NULL}, false, 2, "", "myriad-agent: /no/such/folder/order: "},
        {{"shim", NULL}, false, 2, "", "myriad-agent: "},
        {{"--help", NULL},
         false,
         0,
         "Usage: myriad agent [OPTION]...\n\nRun on a node: start, watch and stop ranks for the",
         ""},
        {{"--help", NULL}, true, 3, "", ""},
        {{NULL}, false, 2, "", "myriad-agent: --server HOST:PORT is needed\n"},
        {{"--sever", "x", NULL}, false, 2, "", "myriad-agent: "},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        char output[200], errors[400];
        int status = call(all[i].words, all[i].full, output, errors);
        bool good = strncmp(output, all[i].output, strlen(all[i].output)) == 0 &&
                    strncmp(errors, all[i].errors, strlen(all[i].errors)) == 0 &&
                    (all[i].output[0] || !output[0]) && (all[i].errors[0] || !errors[0]);
        if (!good || status != all[i].status) {
            fail_msg("call %zu: %d, '%s', '%s'", i, status, output, errors);
        }
    }
}

/* What might have been meant is said on a line of its own. */
static void hints_are_lines_of_their_own(void **state)
{
    static const char *const words[] = {"--sever", "x", NULL};
    char output[200], errors[400];
    (void)state;
    assert_int_equal(call(words, false, output, errors), 2);
    assert_string_equal(errors,
                        "myriad-agent: unknown option '--sever' for 'myriad agent'; did you "
                        "mean '--server'?\nmyriad-agent: hint: myriad agent --help\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_what_they_do),
        cmocka_unit_test(hints_are_lines_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
