/*
 * model_steps.h: the steps of test_model.c: each calls a script with random arguments, compares its
 * answer with the model's and lets the model do the same.
 */
#ifndef TESTS_SCRIPTS_MODEL_STEPS_H
#define TESTS_SCRIPTS_MODEL_STEPS_H

#include "model.h"

#include <stdint.h>

#define ERROR        "\"kind\":\"retry\",\"text\":\"no\",\"host\":\"h\"}"
#define IDS          12         /* j0 … j11 */
#define LINE_DUE     2000000000 /* of a job that waits in a line */
#define ONE_OF(list) ((list)[random_below((int)(sizeof(list) / sizeof *(list)))])

extern uint64_t seed;
extern struct model model;

/* Returns a random number below limit, from the seed. */
int random_below(int limit);

/* The id of some job, or of none. */
const char *any_id(void);

/* Before each call that makes scores of Redis's time. */
void begin(void);

/* Reads the score that a job got in its set: the time of the call + after - its priority. In ready
 * and dead it must come after the one before. */
void take_score(struct job *job, double after);

/* The same where places go by groups. left: it comes back to the place with this score; NAN: to a
 * new one. */
void take_place(struct job *job, double left);

/* It is handed out. */
void leave_place(struct job *job);

/* Drops a job and counts it. Pointers into the model do not outlive a drop. */
void drop(struct job *job, enum counter counter);

/* It comes back to the place that it had. */
void place_back(struct job *job, double left);

/* All that a token holds is its own until then. */
void renew_lease(char token, double until);

/* model_moves.c */
void step_push(void);
void step_plain(void);
void step_time(void);
void step_free(void);
void step_migrate(void);
void step_kick(void);
void step_cancel(void);
void step_purge(void);
void step_trim(void);
void step_pause(void);
void step_eat(void);
void step_hasten(void);
void step_put_off(void);
void step_reschedule(void);
void step_move(void);

/* model_settles.c */
void step_reserve(void);
void step_ack(void);
void step_ack_all(void);
void step_finish_all(void);
void step_step(void);
void step_expire(void);
void step_touch(void);
void step_release(void);
void step_return(void);
void step_aside(void);
void step_bury(void);

/* model_aside.c */
void set_aside(struct job *job, int type);
void step_lay(void);
void step_heed(void);

/* model_lines.c; nobody waits as the walk begins */
void lines_begin(void);
void step_take(void);
void step_give_back(void);
void step_line(void);

#endif
