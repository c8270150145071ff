/* run_values.c: jobs that have waited for others of their flow get what these gave back. If it did
 * not come with the job, it is asked for before that begins: so no handler waits for Redis, and
 * none begins without it. */
#include "reservation/job.h"
#include "worker/attempt.h"
#include "worker/run_inner.h"

#include "link/link.h"
#include "queue/flow.h"

#include <stdlib.h>
#include <string.h>

#define AWAY_SECONDS 1.0 /* until the job comes back if Redis does not answer */

static void run_on_values(void *arg, struct later_answer *answer)
{
    struct later_job *job = arg;
    const char *step;

    if (answer->outcome != LATER_ANSWERED) {
        attempt_log(job, LOG_WARN, "returned: the values of flow %s cannot be read: %s", job->flow,
                    answer->text);
        run_passed(job, AWAY_SECONDS, "its values");
        return;
    }
    job->given = job->values_told = answer->reply;
    answer->reply = NULL;
    step = later_flow_left_out(job->given);
    if (step)
        attempt_log(job, LOG_WARN,
                    "the value of step %s is left out, since all together are over %d bytes", step,
                    LATER_FLOW_VALUES);
    run_proceed(job);
}

bool run_lacks_values(const struct later_job *job)
{
    return job->flow[0] && !job->given;
}

void run_ask_values(struct later_job *job)
{
    const char *home = strchr(job->flow, '@');
    struct worker *worker = job->worker;
    struct later_keys keys = job->from->keys;
    struct later_command cmd = { 0 };
    char name[LATER_FLOW_MAX + 1];

    if (home && later_key_queue_valid(home + 1))
        later_keys_init(&keys, worker->config->redis.prefix, home + 1);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(job->flow, "@"), job->flow);
    later_flow_values(&cmd, &keys, name, job->id, LATER_FLOW_VALUES);
    if (link_send(worker->main, &cmd, LINK_TIMEOUT, run_on_values, job) == 0)
        worker_pump_soon(worker); /* which flushes */
    else
        run_passed(job, AWAY_SECONDS, "its values");
}

void run_forget_values(struct later_job *job)
{
    later_reply_free(job->values_told);
    free(job->values);
    job->given = job->values_told = NULL;
    job->values = NULL;
}
