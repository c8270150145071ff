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
	if err := checkQueue(queue); err != nil {
		return sum, err
	}
	if err := c.readPlan(queue); err != nil {
		return sum, err
	}
	sum.Paused = true
	for _, place := range c.planOf(queue).places(queue) {
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

// act returns what do says at the first place that has the job.
func (c *Client) act(queue, id string, do func(place string) (string, error)) (string, error) {
	if err := checkQueue(queue); err != nil {
		return "", err
	}
	if err := c.readPlan(queue); err != nil {
		return "", err
	}
	for _, place := range c.planOf(queue).route(queue, id) {
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
