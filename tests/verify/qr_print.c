/* A code of each line of standard input, as rows of 0 and 1; an empty line ends each. */
#include <stdio.h>

#include "myriad/text/qr.h"

int main(void)
{
    static struct myr_qr qr;
    char line[1024];
    while (fgets(line, sizeof(line), stdin)) {
        size_t length = strcspn(line, "\n");
        if (!myr_qr_make(&qr, (struct myr_str){line, length})) {
            puts("too long\n");
            continue;
        }
        for (uint32_t y = 0; y < qr.side; y++) {
            for (uint32_t x = 0; x < qr.side; x++) {
                putchar('0' + qr.dark[y * qr.side + x]);
            }
            putchar('\n');
        }
        putchar('\n');
    }
    return 0;
}
