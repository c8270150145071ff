/*
 * http_curl.h: loads libcurl when the first target is configured.
 *
 * Every worker loads every plugin. libcurl brings about twenty libraries along, which cost a worker
 * more than a MiB and a few milliseconds. Only those that post jobs should pay for it.
 */
#ifndef LATER_JOBS_HTTP_CURL_H
#define LATER_JOBS_HTTP_CURL_H

#include <curl/curl.h>
#include <stddef.h>

/* The functions that we use. curl_easy_init() is called http_curl.easy_init(). */
#define HTTP_CURL_FUNCTIONS(f)                                                                     \
    f(easy_cleanup) f(easy_getinfo) f(easy_init) f(easy_setopt) f(easy_strerror) f(free)           \
        f(multi_add_handle) f(multi_assign) f(multi_cleanup) f(multi_info_read) f(multi_init)      \
            f(multi_remove_handle) f(multi_setopt) f(multi_socket_action) f(slist_append)          \
                f(slist_free_all) f(url) f(url_cleanup) f(url_get) f(url_set) f(version_info)

#define HTTP_CURL_MEMBER(name) __typeof__(curl_##name) *name;

struct http_curl {
    HTTP_CURL_FUNCTIONS(HTTP_CURL_MEMBER)
};

extern struct http_curl http_curl;

/* Loads libcurl once. Returns 0, or -1 with a sentence in err. */
int http_curl_load(char *err, size_t n);

#endif
