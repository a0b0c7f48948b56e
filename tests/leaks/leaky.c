/* Takes three blocks at one place and gives two back, one at another, opens a file: what the watch
 * at exit must say.
 */
#include <fcntl.h>
#include <stdlib.h>

int main(void)
{
    void *volatile kept[3];
    for (int i = 0; i < 3; i++) {
        kept[i] = malloc(10);
    }
    kept[0] = realloc(kept[0], 100000);
    free(kept[0]);
    free(kept[1]);
    kept[0] = aligned_alloc(64, 128);
    return open("/dev/null", O_RDONLY) < 0;
}
