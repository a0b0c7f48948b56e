#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/shim.h"

static char folder[] = "/tmp/myr-devices-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    memcpy(folder + sizeof(folder) - 7, "XXXXXX", 7);
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char path[AGENT_PATH_MAX];
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            folder_remove(path);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return rmdir(folder);
}

static void put_gpu(const char *id, const char *information)
{
    char path[AGENT_PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", folder, id);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/%s/information", folder, id);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(information, file);
    fclose(file);
}

/* The driver gives minor numbers as it finds the cards; NVML counts by bus address. */
static void others_are_found_by_address_not_by_minor(void **state)
{
    (void)state;
    struct device found[DEVICES_MAX];
    uint32_t count;
    put_gpu("0000:5d:00.0", "Model: \t\t A\nDevice Minor: \t 0\nGPU Excluded:\t No\n");
    put_gpu("0000:3a:00.0", "Model: \t\t A\nDevice Minor: \t 3\n");
    put_gpu("0000:9a:00.0", "Device Minor: \t 1");
    put_gpu("0001:0a:00.0", "Device Minor: 12\r\n");
    assert_true(devices_of_others(folder, 0x6, found, &count));
    assert_int_equal(count, 2);
    assert_int_equal(found[0].major, 195);
    assert_int_equal(found[0].minor, 3);
    assert_int_equal(found[1].minor, 12);
    assert_true(devices_of_others(folder, 0xF, found, &count));
    assert_int_equal(count, 0);
    assert_true(devices_of_others(folder, 0x8, found, &count));
    assert_int_equal(count, 3);
}

static void what_is_not_known_is_not_guessed(void **state)
{
    (void)state;
    struct device found[DEVICES_MAX];
    uint32_t count;
    assert_false(devices_of_others(folder, 1, found, &count));
    assert_false(devices_of_others("/no/such/folder", 1, found, &count));
    put_gpu("0000:01:00.0", "Device Minor: \t 0\n");
    assert_true(devices_of_others(folder, 1, found, &count));
    assert_false(devices_of_others(folder, 2, found, &count));
    put_gpu("0000:02:00.0", "Model: B\n");
    assert_false(devices_of_others(folder, 1, found, &count));
    put_gpu("0000:03:00.0", "Device Minor: \t -1\n");
    assert_false(devices_of_others(folder, 1, found, &count));
}

static void put_name(uint32_t len, char letter)
{
    char name[64];
    memset(name, letter, sizeof(name));
    name[len] = '\0';
    put_gpu(name, "Device Minor: 7\n");
}

/* Names that are too long for an address, or hidden, are no GPUs; numbers have twenty bits. */
static void names_and_numbers_have_limits(void **state)
{
    (void)state;
    struct device found[DEVICES_MAX];
    uint32_t count;
    put_name(31, 'b');
    put_name(32, 'a');
    put_gpu(".hidden", "");
    assert_true(devices_of_others(folder, 0, found, &count));
    assert_int_equal(count, 1);
    assert_int_equal(found[0].minor, 7);
    put_gpu("0000:01:00.0", "Device Minor: 1048575\n");
    assert_true(devices_of_others(folder, 2, found, &count));
    assert_int_equal(count, 1);
    assert_int_equal(found[0].minor, 1048575);
    put_gpu("0000:02:00.0", "Device Minor: 1048576\n");
    assert_false(devices_of_others(folder, 1, found, &count));
}

/* A folder without its file, or with nothing in it, hides the number of that GPU. */
static void a_file_that_is_missing_or_empty_says_nothing(void **state)
{
    (void)state;
    struct device found[DEVICES_MAX];
    uint32_t count;
    char path[AGENT_PATH_MAX];
    put_gpu("0000:01:00.0", "");
    assert_false(devices_of_others(folder, 1, found, &count));
    snprintf(path, sizeof(path), "%s/0000:01:00.0/information", folder);
    assert_int_equal(unlink(path), 0);
    assert_false(devices_of_others(folder, 1, found, &count));
    assert_int_equal(count, 0);
    char far[AGENT_PATH_MAX + 200]; /* the same folder, by a way that is too long */
    size_t len = (size_t)snprintf(far, sizeof(far), "%s", folder);
    while (len < AGENT_PATH_MAX - 14) {
        far[len++] = '/';
    }
    far[len] = '\0';
    put_gpu("0000:02:00.0", "Device Minor: 1\n");
    assert_false(devices_of_others(far, 2, found, &count));
}

static void more_than_can_be_named_is_not_known(void **state)
{
    (void)state;
    struct device found[DEVICES_MAX];
    uint32_t count;
    for (uint32_t i = 0; i <= DEVICES_MAX; i++) {
        char id[32], text[64];
        snprintf(id, sizeof(id), "0000:%02x:00.0", i);
        snprintf(text, sizeof(text), "Device Minor: \t %u\n", i);
        put_gpu(id, text);
        if (i == DEVICES_MAX - 1) {
            assert_true(devices_of_others(folder, 1ULL << 63, found, &count));
            assert_int_equal(count, DEVICES_MAX - 1);
            assert_int_equal(found[62].minor, 62);
        }
    }
    assert_false(devices_of_others(folder, 1, found, &count));
}

static void no_group_takes_no_filter(void **state)
{
    (void)state;
    struct device device = {195, 1};
    assert_false(device_filter("/no/such/group", &device, 1));
    assert_false(device_filter(folder, &device, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(others_are_found_by_address_not_by_minor, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_is_not_known_is_not_guessed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(more_than_can_be_named_is_not_known, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(names_and_numbers_have_limits, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_file_that_is_missing_or_empty_says_nothing, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(no_group_takes_no_filter, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
