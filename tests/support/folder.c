/* folder.c: what is in a folder. */
#include "folder.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

static int folder_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void folder_remove(char *folder)
{
    if (*folder)
        nftw(folder, folder_remove_one, 8, FTW_DEPTH | FTW_PHYS);
    *folder = '\0';
}

int folder_open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    if (!dir)
        abort();
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}
