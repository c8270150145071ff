/*
 * config_check.h: what is wrong with a value, beyond its type and range.
 *
 * The functions for one string return NULL if it is right, otherwise a static text "what is wrong;
 * what would be right". They do not repeat the value, since a URL may hold a password.
 */
#ifndef LATER_CONFIG_CHECK_H
#define LATER_CONFIG_CHECK_H

#define CONFIG_PLUGIN_NAME_MAX 64

/* "embedded", "unix:/path", "redis://[user@]host[:port][/db]" or "sentinel://host,host/NAME". */
const char *config_check_url(const char *url);

/* A prefix or a queue name, by the rules of key.h. */
const char *config_check_prefix(const char *prefix);
const char *config_check_queue(const char *name);
const char *config_check_served(const char *name); /* or a pattern */

/* A path that begins with '/' and fits the system. */
const char *config_check_absolute(const char *path);

/* The same; it can also be written into other files. */
const char *config_check_state_dir(const char *path);

/* `[A-Za-z0-9_.:-]{1,128}`, with a '*' after it if it stands for all types that begin that way. */
const char *config_check_pattern(const char *pattern);

/* The same without a star; perhaps with @ and a queue behind it. */
const char *config_check_hook(const char *name);

/* `[A-Za-z0-9_.:-]{1,32}`: a member of a payload. */
const char *config_check_member(const char *name);

/* A group of jobs: 1 to 64 printable ASCII characters without space and braces. */
const char *config_check_group(const char *name);

/* `[a-z0-9_-]{1,64}`: a plugin's file name without .so. */
const char *config_check_plugin(const char *name);

#endif
