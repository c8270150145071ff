/*
 * abi1.h: the layout that plugins of API 1 were built with. Included where <later/job.h> is: a
 * change that would break them does not compile. New members come behind the last one here; these
 * lines never change.
 */
#ifndef ABI1_H
#define ABI1_H

#include <stddef.h>

#define ABI1(type, member, offset)                                                                 \
    _Static_assert(offsetof(struct type, member) == (offset), #type "." #member " has moved")

#if defined(__LP64__)
_Static_assert(LATER_API == 1,
               "another API number: keep job-api1.h, add a test that it is refused");
_Static_assert(sizeof(struct later_type) >= 32, "struct later_type has shrunk");
_Static_assert(sizeof(struct later_plugin) >= 80, "struct later_plugin has shrunk");
_Static_assert(sizeof(struct later_push_job) >= 72, "struct later_push_job has shrunk");
_Static_assert(sizeof(struct later_host) >= 152, "struct later_host has shrunk");

ABI1(later_type, name, 0);
ABI1(later_type, mode, 8);
ABI1(later_type, reserved, 12);
ABI1(later_type, perform, 16);
ABI1(later_type, cancel, 24);

ABI1(later_plugin, api, 0);
ABI1(later_plugin, size, 4);
ABI1(later_plugin, type_size, 8);
ABI1(later_plugin, reserved, 12);
ABI1(later_plugin, name, 16);
ABI1(later_plugin, version, 24);
ABI1(later_plugin, types, 32);
ABI1(later_plugin, config, 40);
ABI1(later_plugin, config_done, 48);
ABI1(later_plugin, start, 56);
ABI1(later_plugin, stop, 64);
ABI1(later_plugin, config_help, 72);

ABI1(later_push_job, size, 0);
ABI1(later_push_job, priority, 4);
ABI1(later_push_job, queue, 8);
ABI1(later_push_job, type, 16);
ABI1(later_push_job, payload, 24);
ABI1(later_push_job, payload_len, 32);
ABI1(later_push_job, id, 40);
ABI1(later_push_job, delay, 48);
ABI1(later_push_job, max_attempts, 56);
ABI1(later_push_job, reserved, 60);
ABI1(later_push_job, timeout, 64);

ABI1(later_host, api, 0);
ABI1(later_host, size, 4);
ABI1(later_host, job_string, 8);
ABI1(later_host, job_bytes, 16);
ABI1(later_host, job_number, 24);
ABI1(later_host, job_time_left, 32);
ABI1(later_host, job_cancelled, 40);
ABI1(later_host, job_logv, 48);
ABI1(later_host, job_errorv, 56);
ABI1(later_host, job_retry_in, 64);
ABI1(later_host, job_set_data, 72);
ABI1(later_host, job_data, 80);
ABI1(later_host, job_finish, 88);
ABI1(later_host, logv, 96);
ABI1(later_host, event_base, 104);
ABI1(later_host, push, 112);
ABI1(later_host, stock_claim, 120);
ABI1(later_host, lock, 128);
ABI1(later_host, unlock, 136);
ABI1(later_host, limit, 144);
#endif

/* Values that are compiled into plugins. */
_Static_assert(LATER_DONE == 0 && LATER_RETRY == 1 && LATER_BURY == 2 && LATER_DEFERRED == 3, "");
_Static_assert(LATER_SERIAL == 0 && LATER_EVENT == 1, "");
_Static_assert(LATER_ERROR == 0 && LATER_WARN == 1 && LATER_INFO == 2 && LATER_DEBUG == 3, "");
_Static_assert(LATER_YES == 0 && LATER_EXISTS == 1 && LATER_NO == 2 && LATER_FAILED == -1, "");
_Static_assert(LATER_JOB_ID == 0 && LATER_JOB_TYPE == 1 && LATER_JOB_QUEUE == 2, "");
_Static_assert(LATER_JOB_TOKEN == 3 && LATER_JOB_TRACE == 4, "");
_Static_assert(LATER_JOB_PAYLOAD == 0 && LATER_JOB_DOCUMENT == 1, "");
_Static_assert(LATER_JOB_ATTEMPT == 0 && LATER_JOB_MAX_ATTEMPTS == 1, "");

#endif
