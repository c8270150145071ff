// wait.go: waits for the results of jobs: doc/protocol.md, "Results".

package laterd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

const (
	block = time.Second // of one waiting call; a job may end without leaving anything
	least = time.Millisecond
)

// ErrUnknown means that there is no job of this id, and no result of one.
var ErrUnknown = errors.New("laterd: no such job, and no result of it; Result of a NewJob keeps one")

// Failed means that a job is dead. Why has at, attempt, kind, text and host, or is nil.
type Failed struct {
	ID  string
	Why json.RawMessage
}

func (f *Failed) Error() string {
	var why struct{ Text string }
	if json.Unmarshal(f.Why, &why) != nil || why.Text == "" {
		why.Text = "dead"
	}
	return fmt.Sprintf("laterd: %s: %s", f.ID, why.Text)
}

// Wait returns the result of a job that was pushed with Result. It waits for the job's end until ctx is
// done, which it checks every second. It holds a connection meanwhile, whose ReadTimeout must be longer than
// that. If the job is dead it returns a *Failed at once. If nobody knows the job it returns ErrUnknown at
// once. A Redis that is away is asked again twice a second. When it has been away for 30 seconds without a break, or
// when ctx has run out meanwhile, Wait returns the error of the connection.
func (c *Client) Wait(ctx context.Context, queue, id string) (json.RawMessage, error) {
	behind := true // what comes may be of an earlier job
	away := outage{ctx: ctx}
	for {
		key, element, followed, err := c.lookForResult(queue, id)
		if err == nil {
			away.over()
			behind = behind && followed
		}
		if err == nil && element == "" {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if element, err = c.blockFor(key, left(ctx)); behind {
				element = ""
			}
		}
		if err != nil {
			if err = away.outlast(err); err != nil {
				return nil, err
			}
		} else if element != "" {
			return valueOf(id, element)
		}
	}
}

// Outcome is what has become of a job that was waited for, with others.
type Outcome struct {
	ID    string
	State string          // done: it has a value; dead: it has an error; gone: there is no such job and no result; waiting: the time was up, and it goes on
	Value json.RawMessage // or nil
	Error json.RawMessage // as in KnownJob, or nil
}

// WaitMany waits for the ends of up to 1,000 jobs that were pushed with Result, which should last at least as
// long as ctx. It returns what has become of each, in their order.
func (c *Client) WaitMany(ctx context.Context, queue string, ids []string) ([]Outcome, error) {
	return waitMany(ctx, c, queue, ids)
}

func waitMany(ctx context.Context, queues Queues, queue string, ids []string) ([]Outcome, error) {
	if len(ids) < 1 || len(ids) > waitedMax {
		return nil, &Refused{fmt.Sprintf("ids: 1 to %d", waitedMax)}
	}
	outcomes := make([]Outcome, len(ids))
	for i, id := range ids {
		value, err := queues.Wait(ctx, queue, id)
		outcome := Outcome{ID: id, State: "done", Value: value}
		var failed *Failed
		switch {
		case err == nil:
		case errors.As(err, &failed):
			outcome.State, outcome.Error = "dead", failed.Why
		case errors.Is(err, ErrUnknown):
			outcome.State = "gone"
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			outcome.State = "waiting"
		default:
			return nil, err
		}
		outcomes[i] = outcome
	}
	return outcomes, nil
}

const (
	resultKept = time.Minute // after a caller has given up
	resultMost = 24 * time.Hour
)

// Call pushes one job, waits for its end until ctx is done, and unmarshals its result into value: see Wait. If
// the time is up, the job goes on.
func (c *Client) Call(ctx context.Context, queue string, job NewJob, value interface{}) error {
	return call(ctx, c, queue, job, value)
}

func call(ctx context.Context, queues Queues, queue string, job NewJob, value interface{}) error {
	if job.Result == 0 {
		job.Result = resultMost
		if deadline, is := ctx.Deadline(); is && time.Until(deadline)+resultKept < resultMost {
			job.Result = time.Until(deadline) + resultKept
		}
	}
	pushed, err := queues.Push(queue, job)
	if err != nil {
		return err
	}
	result, err := queues.Wait(ctx, queue, pushed.ID)
	if err != nil || value == nil {
		return err
	}
	return json.Unmarshal(result, value)
}

func left(ctx context.Context) time.Duration {
	deadline, is := ctx.Deadline()
	wait := time.Until(deadline)
	switch {
	case !is || wait > block:
		return block
	case wait < least:
		return least
	}
	return wait
}

// blockFor returns "" if nothing came in that time. A call that is lost is not repeated, since it would wait for its
// whole time again.
func (c *Client) blockFor(key string, wait time.Duration) (string, error) {
	element, err := redis.String(c.once(key, "BLMOVE", key, key, "LEFT", "LEFT", decimal(wait.Seconds())))
	if err == redis.ErrNil {
		err = nil
	}
	return element, err
}

// lookForResult returns the key under which the result comes, the result if it is there, and whether the
// job runs and another of its id follows it. The element is read before the state: an element that was
// there while the job is not over belongs to an earlier job of that id.
func (c *Client) lookForResult(queue, id string) (key, element string, followed bool, err error) {
	plan, err := c.freshPlan(queue)
	if err != nil {
		return
	}
	places := plan.route(queue, id)
	for i := len(places) - 1; i >= 0; i-- {
		key = c.Prefix + ":{" + places[i] + "}:result:" + id
		if element, err = c.element(key); err != nil {
			return
		}
		var reply []string
		if reply, err = redis.Strings(c.call(show, places[i], "none", id)); err != nil {
			return
		}
		over := reply[0] == "" || reply[0] == "done" // done: it is kept
		switch {
		case reply[0] == "dead":
			return "", "", false, &Failed{id, known(id, reply).Error}
		case !over && element != "":
			_, err = c.do(key, "LREM", key, 1, element)
		}
		if !over {
			return key, "", reply[0] == "reserved" && strings.Contains("\n"+reply[2], "\nn="), err
		}
		// It may have ended in between, and the first was older.
		if element, err = c.element(key); err != nil || element != "" && !precedes(element) {
			return
		}
	}
	return "", "", false, ErrUnknown
}

func (c *Client) element(key string) (string, error) {
	element, err := redis.String(c.do(key, "LINDEX", key, 0))
	if err == redis.ErrNil {
		err = nil
	}
	return element, err
}

// precedes tells whether there is, or was, a later job of the id than the one that left the element.
func precedes(element string) bool {
	var head struct{ Again bool }
	return json.Unmarshal([]byte(strings.SplitN(element, "\n", 2)[0]), &head) == nil && head.Again
}

func valueOf(id, element string) (json.RawMessage, error) {
	parts := strings.SplitN(element, "\n", 2)
	var head struct{ State string }
	if err := json.Unmarshal([]byte(parts[0]), &head); err != nil || len(parts) != 2 {
		return nil, fmt.Errorf("laterd: %s: no result: %.100s", id, element)
	}
	if head.State != "done" {
		return nil, &Failed{id, json.RawMessage(parts[1])}
	}
	return json.RawMessage(parts[1]), nil
}
