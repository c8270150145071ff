/* http_curl.c: loads libcurl when the first target is configured. */
#include "http_curl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

#define LIBRARY "libcurl.so.4"
#define OLDEST  0x075000 /* 7.80 is the first version with CURLOPT_PREREQFUNCTION */

struct http_curl http_curl;

/* Finds one function, for HTTP_CURL_FUNCTIONS(). */
#define FIND(name)                                                                                 \
    http_curl.name = (__typeof__(http_curl.name))dlsym(library, "curl_" #name);                    \
    all = all && http_curl.name;

int http_curl_load(char *err, size_t n)
{
    static void *library; /* never closed: it may have threads and exit handlers */
    bool all = true;

    if (library)
        return 0;
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(err, n, "%s", dlerror());
        return -1;
    }
    HTTP_CURL_FUNCTIONS(FIND)
    if (all && http_curl.version_info(CURLVERSION_NOW)->version_num >= OLDEST)
        return 0;
    snprintf(err, n, LIBRARY " is older than 7.80");
    dlclose(library);
    library = NULL;
    return -1;
}
