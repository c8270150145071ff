/* config_file.h: the files and directories that a configuration comes from. */
#ifndef LATERD_CONFIG_FILE_H
#define LATERD_CONFIG_FILE_H

/* The text of a file that is fit to configure a daemon: regular, not writable by everyone, at
 * most 1 MiB, no NUL byte. To be freed. NULL with *why, which lives until the next call. */
char *config_file_read(const char *path, const char **why);

/* The directory a path lies in, "." if it names none. To be freed; NULL without memory. */
char *config_file_directory(const char *path);

/* The paths of all *.conf in dir in the order of their names' bytes, NULL-terminated, into *paths,
 * to be freed by config_file_list_free(). No such directory: none. Returns how many, or -1 with
 * *why, which lives until the next call. */
int config_file_list(const char *dir, char ***paths, const char **why);

/* NULL is fine. */
void config_file_list_free(char **paths);

#endif
