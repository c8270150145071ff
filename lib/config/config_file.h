/* config_file.h: reads the files and directories of a configuration. */
#ifndef LATER_CONFIG_FILE_H
#define LATER_CONFIG_FILE_H

/* Returns the text of a file that may configure a daemon: regular, not writable by everyone, at
 * most 1 MiB, no NUL byte. To be freed. NULL with *why, which is valid until the next call. */
char *config_file_read(const char *path, const char **why);

/* Returns the directory of a path, "." if it names none. To be freed; NULL without memory. */
char *config_file_directory(const char *path);

/* Puts the paths of all *.conf in dir into *paths, sorted by the bytes of their names and
 * NULL-terminated, to be freed by config_file_list_free(). If dir does not exist, there are none.
 * Returns how many, or -1 with *why, which is valid until the next call. */
int config_file_list(const char *dir, char ***paths, const char **why);

/* NULL is fine. */
void config_file_list_free(char **paths);

#endif
