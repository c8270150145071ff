/*
 * fuzz.h: what the fuzzers share.
 *
 * With clang and --enable-fuzzing (-fsanitize=fuzzer,address,undefined) each is run on its corpus
 * and on what libFuzzer makes of it. Without, main.c reads the files that are named on the command
 * line, so that what was found once is tried again by every compiler. A broken promise aborts.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Of libFuzzer (https://llvm.org/docs/LibFuzzer.html): tries one input. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts with a message if the condition does not hold. */
void must(int holds, const char *what);

#endif
