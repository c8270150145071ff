// job.go: a job as its handler is given it.

package laterd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

const progressEvery = 100 * time.Millisecond // between two progress lines of a job

// Job is a job as its handler is given it.
type Job struct {
	ID, Type, Queue      string
	Attempt, MaxAttempts int // attempts count from 1
	Token, Trace         string
	LockFence            int64           // of a job with a lock: the number of its taking; whoever guards a thing refuses a lower one
	Document, Payload    json.RawMessage // as they were pushed
	// Context is what middleware has carried along.
	Context map[string]interface{}
	// Values is what the steps that it has waited for gave back, by step; null for one that gave nothing.
	Values map[string]json.RawMessage
	// Flow is not nil if it has waited for all others ("*").
	Flow *FlowCounts
	// Resumes is the checkpoint that an earlier attempt has left; nil if there is none.
	Resumes json.RawMessage

	ctx     context.Context
	cancel  context.CancelFunc
	end     time.Time
	mutex   sync.Mutex
	told    time.Time
	stops   bool // laterd does
	knows   bool // the handler has been told so
	left    bool // it has left a checkpoint
	answers *answers
}

// FlowCounts tells how many jobs of a flow there are in each state, and the ids of those that failed.
type FlowCounts struct {
	Name    string   `json:"name"`
	Total   int      `json:"total"`
	Open    int      `json:"open"`
	Waiting int      `json:"waiting"`
	Done    int      `json:"done"`
	Dead    int      `json:"dead"`
	Gone    int      `json:"gone"`
	Skipped int      `json:"skipped"`
	Failed  []string `json:"failed"`
}

// jobKey is where a handler's context has its job.
type jobKey struct{}

// CurrentJob returns the job whose handler was given this context, or one that was made of it; nil if there
// is none.
func CurrentJob(ctx context.Context) *Job {
	job, _ := ctx.Value(jobKey{}).(*Job)
	return job
}

func newJob(line []byte, to *answers) (*Job, error) {
	var said struct {
		ID, Type, Queue, Token, Trace string
		Attempt                       int
		MaxAttempts                   int     `json:"max_attempts"`
		LockFence                     int64   `json:"lock_fence"`
		TimeLeft                      float64 `json:"time_left"`
		Document                      json.RawMessage
		Values                        map[string]json.RawMessage
		Flow                          *FlowCounts
		Checkpoint                    json.RawMessage
	}
	var document struct {
		Payload json.RawMessage
		Context json.RawMessage
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(said.Document, &document); err != nil {
		return nil, err
	}
	if document.Payload == nil {
		document.Payload = json.RawMessage("null")
	}
	job := &Job{ID: said.ID, Type: said.Type, Queue: said.Queue, Attempt: said.Attempt, MaxAttempts: said.MaxAttempts,
		Token: said.Token, Trace: said.Trace, LockFence: said.LockFence, Document: said.Document,
		Payload: document.Payload, Values: said.Values, Flow: said.Flow, Resumes: said.Checkpoint, answers: to}
	json.Unmarshal(document.Context, &job.Context) // that of another pusher may be no object
	job.end = time.Now().Add(time.Duration(said.TimeLeft * float64(time.Second)))
	job.ctx, job.cancel = context.WithCancel(context.Background())
	return job, nil
}

// Into unmarshals the payload.
func (j *Job) Into(payload interface{}) error { return json.Unmarshal(j.Payload, payload) }

// TimeLeft returns how long it is until the job is asked to stop.
func (j *Job) TimeLeft() time.Duration {
	if left := time.Until(j.end); left > 0 {
		return left
	}
	return 0
}

// Progress reports progress. It is cheap, since most calls send nothing.
func (j *Job) Progress(done, total float64, text string) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if time.Since(j.told) < progressEvery {
		return
	}
	j.told = time.Now()
	j.answers.put(map[string]interface{}{"id": j.ID, "progress": map[string]interface{}{
		"done": finite(done), "total": finite(total), "text": fit(text, textMax)}})
}

// Checkpoint leaves one, any JSON up to 64 KiB: the next attempt finds the last one in Resumes, whatever ends
// this one.
func (j *Job) Checkpoint(state interface{}) error {
	text, why, err := keepable(state)
	if err == nil && why != "" {
		err = errors.New(why)
	}
	if err != nil {
		return fmt.Errorf("the checkpoint is not kept: %w", err)
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.left = true
	j.answers.put(map[string]interface{}{"id": j.ID, "checkpoint": json.RawMessage(text)})
	return nil
}

// Stopping tells whether laterd stops, as at a deploy. A handler that has seen this, has left a checkpoint and
// returns nil, nil goes on in another laterd at once, and has not used up an attempt.
func (j *Job) Stopping() bool {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.knows = j.stops
	return j.stops
}

func (j *Job) stop() {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.stops = true
}

// goesOn is what ends an attempt that is to go on at its checkpoint.
var goesOn = Return(errors.New("it goes on at its checkpoint"), 0)

// orGoesOn returns the handler, which ends so if its job is to go on elsewhere.
func orGoesOn(handler Handler) Handler {
	return func(ctx context.Context, job *Job) (interface{}, error) {
		value, err := handler(ctx, job)
		job.mutex.Lock()
		defer job.mutex.Unlock()
		if value == nil && err == nil && job.knows && job.left {
			err = goesOn
		}
		return value, err
	}
}

// Log writes a line of laterd's log, with the job's fields. level is error, warn, info or debug.
func (j *Job) Log(level, text string) {
	j.answers.put(map[string]interface{}{"log": level, "text": fit(text, textMax), "id": j.ID})
}

// finite returns a number that JSON has: 0 if it is none.
func finite(number float64) float64 {
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return 0
	}
	return number
}
