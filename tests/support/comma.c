/* comma.c: a locale with a decimal comma. */
#include "comma.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* LC_NUMERIC as glibc reads it: a number for the format and the category (0x20031115 ^ 1), the
 * number of values, the offset of each, then the values: decimal point, thousands separator,
 * grouping, both again as wide characters, the character set. */
static bool write_numeric(const char *path)
{
    static const uint32_t head[] = { 0x20031114, 6, 32, 34, 35, 36, 40, 44 };
    static const uint32_t wide[] = { ',', 0 };
    FILE *file = fopen(path, "wb");
    bool ok;

    if (!file)
        return false;
    ok = fwrite(head, sizeof head, 1, file) == 1 && fwrite(",\0\0\0", 4, 1, file) == 1 &&
         fwrite(wide, sizeof wide, 1, file) == 1 && fwrite("UTF-8", 6, 1, file) == 1;
    return fclose(file) == 0 && ok;
}

bool comma_begin(void)
{
    char folder[] = "/tmp/later-comma-XXXXXX", place[48], path[64], half[8];
    bool ok;

    if (!mkdtemp(folder))
        return false;
    snprintf(place, sizeof place, "%s/comma", folder);
    snprintf(path, sizeof path, "%s/LC_NUMERIC", place);
    ok = mkdir(place, 0700) == 0 && write_numeric(path) && setenv("LOCPATH", folder, 1) == 0 &&
         setlocale(LC_NUMERIC, "comma") != NULL;
    unsetenv("LOCPATH");
    unlink(path);
    rmdir(place);
    rmdir(folder);
    snprintf(half, sizeof half, "%.1f", 0.5);
    return ok && strcmp(half, "0,5") == 0;
}

void comma_end(void)
{
    setlocale(LC_NUMERIC, "C");
}
