package laterd

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

const (
	flowKept = 86400 // seconds that a flow is kept after its end
	partMax  = 200   // jobs of a flow per call
	flowMax  = 1000000
	lookTime = 200 * time.Millisecond // between two looks of WaitFlow
)

// ErrFlowClosed means that only a running job of the flow may add to it (Adder). Nothing was pushed by
// the call.
var ErrFlowClosed = errors.New("laterd: the flow is closed")

// ErrFlowUnknown means that there is no flow of this name in the queue.
var ErrFlowUnknown = errors.New("laterd: no such flow")

var flowCounts = []string{"total", "open", "waiting", "dead", "done", "gone", "skipped"}

// Flow says how a flow stands, and how many of its jobs are in which state. State is "open": more may be
// added; "running"; "blocked": what is left waits for a dead job, and a kick lets it go on; "done";
// "ended": some jobs are gone (cancelled, expired …). Open counts jobs that are ready, delayed or
// reserved, Skipped those that were to run after a failure that did not come.
type Flow struct {
	Name, State                                     string
	Closed                                          bool
	Made                                            time.Time
	Total, Open, Waiting, Dead, Done, Gone, Skipped int
}

// Chain returns the jobs, each of which waits for the one before.
func Chain(jobs ...NewJob) []NewJob {
	chain := append([]NewJob{}, jobs...)
	for i := range chain {
		if chain[i].Step == "" {
			chain[i].Step = strconv.Itoa(i + 1)
		}
		if i > 0 {
			chain[i].After = []string{chain[i-1].Step}
		}
	}
	return chain
}

// Ends are jobs that wait for all others of a batch: Then runs when all are done, Finally when all have
// ended in whatever way, Failed when the first one is dead or gone. Nil: none.
type Ends struct{ Then, Finally, Failed *NewJob }

// Batch returns the jobs and those that wait for all of them.
func Batch(jobs []NewJob, ends Ends) []NewJob {
	batch := append([]NewJob{}, jobs...)
	for _, end := range []struct {
		job  *NewJob
		when string
	}{{ends.Then, "done"}, {ends.Finally, "ended"}, {ends.Failed, "failed"}} {
		if end.job != nil {
			job := *end.job
			job.After, job.When = []string{"*"}, end.when
			batch = append(batch, job)
		}
	}
	return batch
}

// checkTie checks what ties a job to a flow. Some of what a push can do, the push into a flow cannot.
func (j NewJob) checkTie() error {
	switch {
	case j.Flow == "" && (j.Step != "" || j.After != nil || j.When != "" || j.Adder != ""):
		return &Refused{"Step, After, When and Adder go with Flow"}
	case j.Flow != "" && (j.ExpiresIn > 0 || j.UniqueFor > 0 || j.Throttle > 0 || j.mode() != "new"):
		return &Refused{"ExpiresIn, UniqueFor, Replace, Again, Debounce, Throttle: not for a job of a flow"}
	case j.When != "" && j.After == nil:
		return &Refused{"When: goes with After"}
	}
	return nil
}

// Flow pushes a whole flow: jobs that wait for each other, by Step, After and When. What waits for what
// is checked before anything is sent. The same call again pushes only what is missing. open: more jobs
// of it are pushed later, until CloseFlow.
func (c *Client) Flow(queue, name string, jobs []NewJob, open bool) ([]Pushed, error) {
	if err := checkFlow(queue, name); err != nil {
		return nil, err
	}
	prepared, err := prepareFlow(name, jobs)
	if err == nil {
		err = checkPlan(prepared, open)
	}
	if err == nil {
		err = c.announce(queue)
	}
	if err != nil {
		return nil, err
	}
	answers := make([]Pushed, len(jobs))
	parts := partsOf(prepared)
	for i, part := range parts {
		if err = c.pushPart(queue, name, prepared, part, i == len(parts)-1 && !open, answers); err != nil {
			return answers, err
		}
	}
	return answers, nil
}

func checkFlow(queue, name string) error {
	if err := checkQueue(queue); err != nil {
		return err
	}
	if !queueForm.MatchString(name) {
		return &Refused{"flow: 1 to 64 letters, digits and _ . -"}
	}
	return nil
}

// prepareFlow: a job without ID and Step is known by its place, so that the same jobs again are the same.
func prepareFlow(name string, jobs []NewJob) ([]*prepared, error) {
	if len(jobs) > flowMax {
		return nil, &Refused{fmt.Sprintf("a flow has at most %d jobs", flowMax)}
	}
	all := make([]*prepared, len(jobs))
	for i, job := range jobs {
		if job.Flow != "" && job.Flow != name {
			return nil, &Refused{fmt.Sprintf("job %d: Flow: is not %s", i+1, name)}
		}
		job.Flow = name
		if job.ID == "" && job.Step == "" {
			job.ID = fmt.Sprintf("%s:%d", name, i+1)
		}
		var err error
		if all[i], err = job.prepare(); err != nil {
			var refused *Refused
			if errors.As(err, &refused) {
				err = &Refused{fmt.Sprintf("job %d: %s", i+1, refused.Text)}
			}
			return nil, err
		}
	}
	return all, nil
}

// checkPlan refuses a flow that cannot end: steps of one name, or that nobody has, and circles.
func checkPlan(jobs []*prepared, open bool) error {
	steps := map[string]int{} // the job of each
	for i, job := range jobs {
		if job.step == "" {
			continue
		}
		if _, twice := steps[job.step]; twice {
			return &Refused{fmt.Sprintf("job %d: Step: another job is %s, too", i+1, job.step)}
		}
		steps[job.step] = i
	}
	left, waiters := make([]int, len(jobs)), make([][]int, len(jobs))
	for i, job := range jobs {
		for _, step := range job.after {
			known, is := steps[step]
			switch {
			case step == "*" || !is && open:
			case !is:
				return &Refused{fmt.Sprintf("job %d: After: there is no step %s", i+1, step)}
			case len(jobs[known].after) == 1 && jobs[known].after[0] == "*":
				return &Refused{fmt.Sprintf("job %d: After: step %s waits for all jobs, this one too", i+1, step)}
			default:
				waiters[known] = append(waiters[known], i)
				left[i]++
			}
		}
	}
	return checkCircle(jobs, left, waiters)
}

func checkCircle(jobs []*prepared, left []int, waiters [][]int) error {
	var free []int
	for i := range jobs {
		if left[i] == 0 {
			free = append(free, i)
		}
	}
	for at := 0; at < len(free); at++ {
		for _, waiter := range waiters[free[at]] {
			if left[waiter]--; left[waiter] == 0 {
				free = append(free, waiter)
			}
		}
	}
	if len(free) == len(jobs) {
		return nil
	}
	var stuck []string
	for i, job := range jobs {
		if left[i] > 0 && len(stuck) < 10 {
			stuck = append(stuck, job.id)
		}
	}
	return &Refused{"After: a circle: " + strings.Join(stuck, ", ") + " wait for each other"}
}

// partsOf: first those that wait, so that nothing has begun whose successor is not there.
func partsOf(jobs []*prepared) [][]int {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool {
		return len(jobs[order[a]].after) > 0 && len(jobs[order[b]].after) == 0
	})
	parts, bytes := [][]int{nil}, 0
	for _, i := range order {
		last := len(parts) - 1
		if len(parts[last]) >= partMax || parts[last] != nil && bytes+len(jobs[i].document) > bytesMax {
			parts, bytes, last = append(parts, nil), 0, last+1
		}
		parts[last] = append(parts[last], i)
		bytes += len(jobs[i].document)
	}
	return parts
}

// addToFlow adds a job to its flow, which stays open.
func (c *Client) addToFlow(queue string, job *prepared) (Pushed, error) {
	answers := make([]Pushed, 1)
	err := c.announce(queue)
	if err == nil {
		err = c.pushPart(queue, job.flow, []*prepared{job}, []int{0}, false, answers)
	}
	return answers[0], err
}

// pushPart pushes some of the jobs. To repeat it is safe: what is there is known.
func (c *Client) pushPart(queue, name string, jobs []*prepared, part []int, close bool, answers []Pushed) error {
	args := []interface{}{name, "", 0, flowKept}
	if close {
		args[2] = 1
	}
	for _, i := range part {
		job := jobs[i]
		args[1] = job.adder
		args = append(args, job.id, job.step, strings.Join(job.after, ","), job.fate, job.when, job.rank, job.document)
	}
	reply, err := c.call(flowPush, queue, name, args...)
	if closed, is := reply.(string); is && closed == "CLOSED" {
		return fmt.Errorf("%w: %s", ErrFlowClosed, name)
	}
	if raw, is := reply.([]byte); is && string(raw) == "CLOSED" {
		return fmt.Errorf("%w: %s", ErrFlowClosed, name)
	}
	told, err := redis.Strings(reply, err)
	if err != nil {
		return err
	}
	for n, i := range part {
		words := append(strings.Fields(strings.ToLower(told[n])), "")
		if words[0] == "waiting" {
			words = []string{"pushed", "waiting"}
		}
		answers[i] = Pushed{ID: jobs[i].id, Result: words[0], State: words[1]}
		if words[0] == "full" {
			err = ErrFull
		}
	}
	return err
}

// ShowFlow returns how a flow stands, or nil if there is none of this name.
func (c *Client) ShowFlow(queue, name string) (*Flow, error) {
	if err := checkFlow(queue, name); err != nil {
		return nil, err
	}
	key := c.flowKey(queue, name)
	args := []interface{}{key, "closed", "made"}
	for _, count := range flowCounts {
		args = append(args, count, "*"+count)
	}
	told, err := redis.Strings(c.do(key, "HMGET", args...))
	if err != nil || told[0] == "" {
		return nil, err
	}
	counts := make([]int, len(flowCounts))
	for i := range counts {
		plain, _ := strconv.Atoi(told[2+2*i]) // "": 0
		starred, _ := strconv.Atoi(told[3+2*i])
		counts[i] = plain + starred
	}
	made, _ := strconv.ParseFloat(told[1], 64)
	flow := &Flow{Name: name, Closed: told[0] == "1", Made: time.UnixMicro(int64(made * 1e6)), Total: counts[0],
		Open: counts[1], Waiting: counts[2], Dead: counts[3], Done: counts[4], Gone: counts[5], Skipped: counts[6]}
	flow.State = flow.word()
	return flow, nil
}

func (f *Flow) word() string {
	switch {
	case f.Open == 0 && f.Dead > 0:
		return "blocked"
	case !f.Closed:
		return "open"
	case f.Open+f.Waiting > 0:
		return "running"
	case f.Gone > 0:
		return "ended"
	}
	return "done"
}

func (c *Client) flowKey(queue, name string) string {
	return c.Prefix + ":{" + queue + "}:flow:" + name
}

func (c *Client) knownFlow(queue, name string) (*Flow, error) {
	flow, err := c.ShowFlow(queue, name)
	if err == nil && flow == nil {
		err = fmt.Errorf("%w: %s in queue %s", ErrFlowUnknown, name, queue)
	}
	return flow, err
}

// WaitFlow waits until a flow has ended or is blocked, or ctx is done, and returns how it stands.
func (c *Client) WaitFlow(ctx context.Context, queue, name string) (*Flow, error) {
	for {
		flow, err := c.knownFlow(queue, name)
		if err != nil || flow.State != "open" && flow.State != "running" {
			return flow, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lookTime):
		}
	}
}

// CloseFlow says that no more jobs of the flow will be pushed.
func (c *Client) CloseFlow(queue, name string) error {
	if _, err := c.knownFlow(queue, name); err != nil {
		return err
	}
	return c.pushPart(queue, name, nil, nil, true, nil)
}

// KickFlow kicks the dead jobs of a flow, so that it goes on. It returns how many there were.
func (c *Client) KickFlow(queue, name string) (int, error) {
	return c.actOnFlow(queue, name, "x", c.Kick)
}

// CancelFlow cancels the jobs of a flow that have not ended, and returns how many there were. Those that
// wait go first: otherwise one that waits for a failure would run now.
func (c *Client) CancelFlow(queue, name string) (int, error) {
	waited, err := c.actOnFlow(queue, name, "w", c.Cancel)
	if err != nil {
		return waited, err
	}
	others, err := c.actOnFlow(queue, name, "wox", c.Cancel)
	if err == nil {
		err = c.CloseFlow(queue, name)
	}
	return waited + others, err
}

// actOnFlow acts on the jobs that are in one of these states; it returns for how many it could.
func (c *Client) actOnFlow(queue, name, states string, act func(queue, id string) (string, error)) (int, error) {
	if _, err := c.knownFlow(queue, name); err != nil {
		return 0, err
	}
	ids, err := c.flowIDs(queue, name, states)
	acted := 0
	for id := range ids {
		var state string
		if state, err = act(queue, id); err != nil {
			break
		}
		if state != "" {
			acted++
		}
	}
	return acted, err
}

func (c *Client) flowIDs(queue, name, states string) (map[string]bool, error) {
	key, ids := c.flowKey(queue, name), map[string]bool{}
	for cursor := "0"; ; {
		page, err := redis.Values(c.do(key, "HSCAN", key, cursor, "MATCH", "j:*", "COUNT", 500))
		if err != nil {
			return nil, err
		}
		var fields []string
		if _, err = redis.Scan(page, &cursor, &fields); err != nil {
			return nil, err
		}
		for i := 0; i+1 < len(fields); i += 2 {
			if strings.Contains(states, fields[i+1][:1]) {
				ids[fields[i][2:]] = true
			}
		}
		if cursor == "0" {
			return ids, nil
		}
	}
}
