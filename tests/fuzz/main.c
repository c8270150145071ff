/* main.c: assertions, and the main program of a fuzzer that is built without libFuzzer. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#define INPUT_MAX (1 << 20)

void must(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

#ifndef FUZZING
int main(int argc, char **argv)
{
    static uint8_t data[INPUT_MAX];

    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");

        if (!file) {
            perror(argv[i]);
            return EXIT_FAILURE;
        }
        LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof data, file));
        fclose(file);
    }
    printf("%d files\n", argc - 1);
    return argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
#endif
