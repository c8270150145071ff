// act.go: what a client does besides pushing: size, kick, cancel, reschedule, forget, pause.

package laterd

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
)

const holdersMax = 20 // changes of a job's holder in a row before Cancel gives up

// ErrMoving means that a job went from one state to the next faster than it could be cancelled.
var ErrMoving = errors.New("laterd: the job changes its state too fast")

// Size says how many jobs of a queue are in each state.
type Size struct {
	Ready, Delayed, Reserved, Dead int
	Paused                         bool          // with shards: all of them
	OldestReady                    time.Duration // how long the oldest ready job has waited; 0 if there is none
}

// Size counts the jobs of a queue, in all its shards.
func (c *Client) Size(queue string) (Size, error) {
	var sum Size
	plan, err := c.freshPlan(queue)
	if err != nil {
		return sum, err
	}
	sum.Paused = true
	for _, place := range plan.places(queue) {
		part, err := redis.Values(c.call(size, place, "none"))
		if err != nil {
			return sum, err
		}
		if err = sum.add(part); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// add takes the reply of one place.
func (s *Size) add(part []interface{}) error {
	var ready, delayed, reserved, dead, paused int
	var age string
	if _, err := redis.Scan(part, &ready, &delayed, &reserved, &dead, &paused, &age); err != nil {
		return err
	}
	s.Ready, s.Delayed, s.Reserved, s.Dead = s.Ready+ready, s.Delayed+delayed, s.Reserved+reserved, s.Dead+dead
	s.Paused = s.Paused && paused == 1
	seconds, _ := strconv.ParseFloat(age, 64) // "": there is none
	if oldest := time.Duration(seconds * 1e9); oldest > s.OldestReady {
		s.OldestReady = oldest
	}
	return nil
}

// Kick makes a dead or delayed job ready. A dead one starts afresh. It returns the state the job came
// from, "" if it is in neither.
func (c *Client) Kick(queue, id string) (string, error) {
	return c.act(queue, id, func(place string) (string, error) {
		return first(c.call(kick, place, "none", id))
	})
}

// Cancel drops a job, whatever its state; the handler of one that runs is stopped. It returns the state
// that the job had, "" if there is none of this ID. "ended": its ID was taken still, and is free now.
func (c *Client) Cancel(queue, id string) (string, error) {
	return c.act(queue, id, func(place string) (string, error) { return c.cancelAt(place, id) })
}

// Rescheduled says when a job is to begin, and its priority. What is nil or zero stays as it is.
type Rescheduled struct {
	In       *time.Duration // after this long; 0: at once
	At       time.Time
	Priority *int
}

// words returns how the script takes them, with "" for what stays.
func (to Rescheduled) words() ([]interface{}, error) {
	job, moves := NewJob{Type: "reschedule", At: to.At}, to.In != nil || !to.At.IsZero()
	if !moves && to.Priority == nil {
		return nil, &Refused{"Reschedule: In, At or Priority"}
	}
	if to.In != nil {
		job.In = *to.In
	}
	if to.Priority != nil {
		job.Priority = *to.Priority
	}
	one, err := job.prepare()
	if err != nil {
		return nil, err
	}
	if one.when == "" && moves {
		one.when = "+0"
	}
	if to.Priority == nil {
		one.rank = ""
	}
	return []interface{}{one.when, one.rank}, nil
}

// Reschedule has a ready or delayed job begin at another time, or gives it another priority; all else stays. It
// returns the state the job had, "" if it is in neither.
func (c *Client) Reschedule(queue, id string, to Rescheduled) (string, error) {
	words, err := to.words()
	if err != nil {
		return "", err
	}
	return c.act(queue, id, func(place string) (string, error) {
		state, err := redis.String(c.call(resched, place, "none", append([]interface{}{id}, words...)...))
		if state != "ready" && state != "delayed" { // nothing was done
			state = ""
		}
		return state, err
	})
}

// Forget drops the result of a job that has ended. It tells whether there was one.
func (c *Client) Forget(queue, id string) (bool, error) {
	had, err := c.act(queue, id, func(place string) (string, error) {
		key := c.Prefix + ":{" + place + "}:result:" + id
		if count, err := redis.Int(c.do(key, "DEL", key)); err != nil || count == 0 {
			return "", err
		}
		return "forgotten", nil
	})
	return had != "", err
}

// Pause: nothing of the queue is handed out until Resume, or for this long if it is above 0. by: who pauses it,
// for people, or "". It tells whether that changed anything: not if it was paused without an end before.
func (c *Client) Pause(queue string, long time.Duration, by string) (bool, error) {
	words, err := pauseWords(long, by)
	if err != nil {
		return false, err
	}
	return c.setPause(queue, stop, words...)
}

// Resume ends a pause. It tells whether there was one.
func (c *Client) Resume(queue string) (bool, error) { return c.setPause(queue, resume) }

// pauseWords returns how the script takes them: milliseconds, 0 without an end, and who pauses.
func pauseWords(long time.Duration, by string) ([]interface{}, error) {
	if long < 0 || long > 0 && long < time.Millisecond || long > pauseMax*time.Second {
		return nil, &Refused{"pause: from a millisecond to a year, or 0"}
	}
	if by != "" && (len(by) > 64 || !wordForm.MatchString(by)) {
		return nil, &Refused{"pause: by: 1 to 64 printable ASCII characters without space"}
	}
	return []interface{}{long.Milliseconds(), by}, nil
}

// setPause: the plain queue comes first, and then the plan is read. Whoever adds shards writes the plan and then
// copies the plain queue's pause to them, so that one of the two sees the other.
func (c *Client) setPause(queue string, script *script, words ...interface{}) (bool, error) {
	if err := checkQueue(queue); err != nil {
		return false, err
	}
	changed, err := redis.Int(c.call(script, queue, "none", words...))
	if err != nil {
		return false, err
	}
	plan, err := c.freshPlan(queue)
	if err != nil {
		return false, err
	}
	for _, place := range plan.places(queue)[1:] {
		one, err := redis.Int(c.call(script, place, "none", words...))
		if err != nil {
			return false, err
		}
		changed |= one
	}
	return changed == 1, nil
}

// act returns what do says at the first place that has the job.
func (c *Client) act(queue, id string, do func(place string) (string, error)) (string, error) {
	plan, err := c.freshPlan(queue)
	if err != nil {
		return "", err
	}
	for _, place := range plan.route(queue, id) {
		if state, err := do(place); err != nil || state != "" {
			return state, err
		}
	}
	return "", nil
}

// cancelAt: a reserved job is under a token, which its ID does not tell. While it is looked for, the job
// may come under another one, or become ready.
func (c *Client) cancelAt(place, id string) (string, error) {
	token := ""
	for tries := 0; tries < holdersMax; tries++ {
		state, err := first(c.call(cancel, place, token, id))
		if err != nil || state != "" {
			return state, err
		}
		if state, err = first(c.call(show, place, "none", id)); err != nil || state == "" || state == "done" {
			return "", err
		}
		if token, err = c.holder(place, id); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%w: %s", ErrMoving, id)
}

// holder returns the token that holds a reserved job, or "".
func (c *Client) holder(place, id string) (string, error) {
	key := c.Prefix + ":{" + place + "}:reserved"
	tokens, err := redis.Strings(c.do(key, "ZRANGE", key, 0, -1))
	for _, token := range tokens {
		if score, err := c.do(key, "ZSCORE", key+":"+token, id); err != nil || score != nil {
			return token, err
		}
	}
	return "", err
}

// first returns the first word of a reply.
func first(reply interface{}, err error) (string, error) {
	words, err := redis.Strings(reply, err)
	if err != nil || len(words) == 0 {
		return "", err
	}
	return words[0], nil
}
