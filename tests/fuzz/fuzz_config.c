/*
 * fuzz_config.c: any text as a configuration.
 *
 * What is taken must print as a file that is taken again and prints the same; what is refused must
 * be refused with a place and a reason. The text is a file in memory, so that @include is tried,
 * too.
 */
#include "fuzz.h"

#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* libconfig 1.5 forgets strings that it has read when it meets a syntax error. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libconfig.so\n";
}

/* Loads these bytes as a file of mode 0644. */
static struct config *load(const void *bytes, size_t size, struct later_error *err)
{
    static int fd = -1;
    char path[64];

    if (fd < 0)
        fd = memfd_create("fuzz.conf", MFD_CLOEXEC);
    must(fd >= 0 && fchmod(fd, 0644) == 0 && ftruncate(fd, 0) == 0 &&
             pwrite(fd, bytes, size, 0) == (ssize_t)size,
         "there is a file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return config_load(path, err);
}

static char *print(const struct config *config, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    must(out != NULL, "there is memory");
    config_print(config, out);
    must(fclose(out) == 0 && text, "it prints");
    return text;
}

static void check_taken(const struct config *config)
{
    struct later_error err;
    size_t len, len_again;
    char *text = print(config, &len), *text_again;
    struct config *again = load(text, len, &err);

    if (!again)
        fprintf(stderr, "%s\n%s", err.text, text);
    must(again != NULL, "what was printed is taken");
    text_again = print(again, &len_again);
    must(len == len_again && memcmp(text, text_again, len) == 0, "it prints the same again");
    must(config_fixed_difference(config, again) == NULL, "nothing fixed has changed");
    must(config->pool_count > 0 && config->pools[0].workers > 0 &&
             config->pools[0].queue_count + config->pools[0].pattern_count > 0,
         "somebody works");
    must(config->lease >= 1 && config->lease <= 3600, "the lease is in its range");
    config_type_find(config, "mail.send");
    config_free(again);
    free(text);
    free(text_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct later_error err = { LATER_OK, "" };
    struct config *config = load(data, size, &err);

    if (config)
        check_taken(config);
    else
        must(err.code == LATER_E_CONFIG && strchr(err.text, ':') && !strpbrk(err.text, "\n\r\t"),
             "a refusal has its place and reason, in one line");
    config_free(config);
    return 0;
}
