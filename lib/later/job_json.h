/*
 * later/job_json.h: a job's payload as JSON, for plugins that use jansson. All of it is inline: the
 * plugin needs jansson (-ljansson), laterd does not hand out its own.
 *
 *     static enum later_result mail_send(struct later_job *job)
 *     {
 *         json_error_t error;
 *         json_t *payload = later_job_json(job, &error);
 *         const char *to = later_json_string(payload, "to", NULL);
 *         enum later_result result = LATER_BURY;
 *
 *         if (!payload)
 *             later_job_error(job, "payload: %s", error.text);
 *         else if (!to)
 *             later_job_error(job, "payload: no \"to\"");
 *         else
 *             result = deliver(to, later_json_integer(payload, "copies", 1));
 *         json_decref(payload);
 *         return result;
 *     }
 *
 * Clean in C99 and C++11.
 */
#ifndef LATER_JOB_JSON_H
#define LATER_JOB_JSON_H

#include <later/job.h>

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parses the job's payload, which may be any JSON value; a job without one has null. Returns a new
 * reference for the caller to json_decref(); or NULL with *error (may be NULL). laterd has found
 * the payload to be JSON, so NULL means no memory, or one of two things that jansson's values and
 * C's strings cannot hold: an integer of more than 64 bits, and the character U+0000. If you must
 * take those, read the bytes of later_job_payload(). */
static inline json_t *later_job_json(const struct later_job *job, json_error_t *error)
{
    size_t len;
    const char *payload = later_job_payload(job, &len);

    return json_loadb(payload, len, JSON_DECODE_ANY, error);
}

/* The three below give a member of an object; or `otherwise` if there is no such member, if it is
 * of another kind (null, too), or if `object` is not an object or NULL. */

/* A string member, borrowed from the object: valid until its json_decref(). */
static inline const char *later_json_string(const json_t *object, const char *name,
                                            const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : otherwise;
}

/* An integer member. 5.0 is one, too, since some languages write it so; 5.5 is none. */
static inline json_int_t later_json_integer(const json_t *object, const char *name,
                                            json_int_t otherwise)
{
    const json_t *member = json_object_get(object, name);
    double real = json_real_value(member);

    if (json_is_integer(member))
        return json_integer_value(member);
    /* Beyond 2^53 a double does not tell one integer from the next. */
    if (json_is_real(member) && real >= -9007199254740992.0 && real <= 9007199254740992.0 &&
        (double)(json_int_t)real == real)
        return (json_int_t)real;
    return otherwise;
}

/* A number member, whole or not. */
static inline double later_json_number(const json_t *object, const char *name, double otherwise)
{
    const json_t *member = json_object_get(object, name);

    return json_is_number(member) ? json_number_value(member) : otherwise;
}

#ifdef __cplusplus
}
#endif
#endif
