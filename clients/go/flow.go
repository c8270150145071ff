// flow.go: flows: jobs that wait for each other (doc/protocol.md, "Flows").

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
	flowKept = ""                     // how long a flow is kept after its end is for its queue to say
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
	case j.Flow == "" && (j.Step != "" || j.After != nil || j.When != "" || j.Adder != "" || j.Home != ""):
		return &Refused{"Step, After, When, Adder and Home go with Flow"}
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
	jobs = c.changed(jobs)
	prepared, err := prepareFlow(queue, name, jobs)
	if err == nil {
		err = checkPlan(prepared, open)
	}
	if err != nil {
		return nil, err
	}
	way := &way{c: c, home: queue, name: name, jobs: prepared, answers: make([]Pushed, len(jobs))}
	err = way.send(!open)
	return c.told(jobs, way.answers, err)
}

func checkFlow(queue, name string) error {
	if err := checkQueue(queue); err != nil {
		return err
	}
	return checkLabel("flow", name)
}

// prepareFlow: a job without ID and Step is known by its place, so that the same jobs again are the same.
func prepareFlow(home, name string, jobs []NewJob) ([]*prepared, error) {
	if len(jobs) > flowMax {
		return nil, &Refused{fmt.Sprintf("a flow has at most %d jobs", flowMax)}
	}
	all := make([]*prepared, len(jobs))
	for i, job := range jobs {
		if job.Flow != "" && job.Flow != name {
			return nil, &Refused{fmt.Sprintf("job %d: Flow: is not %s", i+1, name)}
		}
		if job.Home != "" && job.Home != home {
			return nil, &Refused{fmt.Sprintf("job %d: Home: is not %s", i+1, home)}
		}
		if job.Flow = name; job.Queue == "" {
			job.Queue = home
		}
		if job.ID == "" && job.Step == "" && !job.isUnique() {
			job.ID = fmt.Sprintf("%s:%d", name, i+1)
		}
		var err error
		if all[i], err = job.prepare(); err != nil {
			return nil, numbered(i, err)
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

// way is a flow whose jobs are on their way.
type way struct {
	c          *Client
	home, name string
	jobs       []*prepared
	answers    []Pushed
}

// flowPart is some of the jobs, for one place; "" is the flow's own queue.
type flowPart struct {
	place string
	jobs  []int
	bytes int
}

// send pushes all, and closes the flow if these are all of its jobs. Those that wait go first, so that nothing
// has begun whose successor is not there; what goes to the flow's own queue goes last, so that it can close the
// flow.
func (w *way) send(whole bool) error {
	seen := map[string]bool{}
	for _, job := range w.jobs {
		if !seen[job.queue] {
			seen[job.queue] = true
			if _, err := w.c.freshPlan(job.queue); err != nil {
				return err
			}
		}
	}
	if err := w.c.announce(w.home); err != nil {
		return err
	}
	parts := w.parts()
	closes := whole && len(parts) > 0 && parts[len(parts)-1].place == ""
	for i, part := range parts {
		var err error
		if part.place != "" {
			err = w.away(part.jobs)
		} else {
			err = w.push(part.jobs, closes && i == len(parts)-1)
		}
		if err != nil {
			return err
		}
	}
	if whole && !closes {
		return w.push(nil, true)
	}
	return nil
}

// place returns the place of a job, "" if the flow's own queue takes it at once.
func (w *way) place(i int) string {
	queue := w.jobs[i].queue
	plan := w.c.planOf(queue)
	route := plan.route(queue, w.jobs[i].id)
	if queue == w.home && plan.epoch == "0" {
		return ""
	}
	return route[len(route)-1]
}

// parts splits the jobs into calls of bounded size.
func (w *way) parts() []*flowPart {
	places, all := make([]string, len(w.jobs)), map[string]bool{}
	for i := range w.jobs {
		places[i] = w.place(i)
		all[places[i]] = true
	}
	var order []string
	for place := range all {
		order = append(order, place)
	}
	sort.Sort(sort.Reverse(sort.StringSlice(order)))
	var parts []*flowPart
	last := map[string]*flowPart{}
	for _, waits := range []bool{true, false} {
		turn := map[string][]*flowPart{}
		if len(order) > 1 { // in one place those that wait come first as they are
			last = map[string]*flowPart{}
		}
		for i, job := range w.jobs {
			if (len(job.after) > 0) != waits {
				continue
			}
			part, size := last[places[i]], len(job.document)
			if part == nil || len(part.jobs) >= partMax || part.bytes+size > bytesMax {
				part = &flowPart{place: places[i]}
				last[places[i]] = part
				turn[places[i]] = append(turn[places[i]], part)
			}
			part.jobs, part.bytes = append(part.jobs, i), part.bytes+size
		}
		for _, place := range order {
			parts = append(parts, turn[place]...)
		}
	}
	return parts
}

// addToFlow adds a job to its flow, which stays open.
func (c *Client) addToFlow(queue string, job *prepared) (Pushed, error) {
	if job.queue = queue; job.home == "" {
		job.home = queue
	}
	way := &way{c: c, home: job.home, name: job.flow, jobs: []*prepared{job}, answers: make([]Pushed, 1)}
	err := way.send(false)
	return way.answers[0], err
}

// call runs flow_push or flow_join.
func (w *way) call(s *script, part []int, close int, words func(job *prepared, i int) []interface{}) ([]string, error) {
	adder := ""
	if len(part) > 0 {
		adder = w.jobs[part[0]].adder
	}
	args := []interface{}{w.name, adder, close, flowKept}
	for _, i := range part {
		args = append(args, words(w.jobs[i], i)...)
	}
	reply, err := w.c.call(s, w.home, w.name, args...)
	if word, no := redis.String(reply, err); no == nil && word != "CLOSED" { // else it is a list
		return nil, strange(word)
	} else if no == nil {
		return nil, fmt.Errorf("%w: %s", ErrFlowClosed, w.name)
	}
	return redis.Strings(reply, err)
}

// push pushes some of the jobs into the flow's own queue. To repeat it is safe: what is there is known.
func (w *way) push(part []int, close bool) error {
	shut := 0
	if close {
		shut = 1
	}
	told, err := w.call(flowPush, part, shut, func(job *prepared, _ int) []interface{} {
		return []interface{}{job.id, job.step, strings.Join(job.after, ","), job.fate, job.when, job.rank, job.document}
	})
	if err != nil {
		return err
	}
	for n, i := range part {
		if err := w.take(i, told[n]); err != nil {
			return err
		}
	}
	return w.full(part)
}

func (w *way) take(i int, answer string) (err error) {
	w.answers[i], err = pushedOf(w.jobs[i].id, answer)
	return err
}

func (w *way) full(part []int) error {
	for _, i := range part {
		if w.answers[i].Result == "full" {
			return ErrFull
		}
	}
	return nil
}

// away announces jobs of another queue, or of shards, to the flow and parks them there, until it has them run.
func (w *way) away(part []int) error {
	queue := w.jobs[part[0]].queue
	err := w.c.byPlan(queue, func() error {
		var left []int
		for _, i := range part {
			if w.answers[i].Result == "" {
				left = append(left, i)
			}
		}
		told, err := w.call(flowJoin, left, 0, func(job *prepared, i int) []interface{} {
			return []interface{}{job.id, job.step, strings.Join(job.after, ","), job.fate, job.when, w.place(i)}
		})
		if err != nil {
			return err
		}
		numbers := map[int]string{}
		for n, i := range left {
			if number := strings.TrimPrefix(told[n], "PARK "); number != told[n] {
				numbers[i] = number
			} else if err := w.take(i, told[n]); err != nil {
				return err
			}
		}
		return w.park(queue, left, numbers)
	})
	if err != nil {
		return err
	}
	return w.full(part)
}

// park puts those that have a number into their places. Former places are only searched.
func (w *way) park(queue string, part []int, numbers map[int]string) error {
	plan, routes := w.c.planOf(queue), map[int][]string{}
	for i := range numbers {
		routes[i] = plan.route(queue, w.jobs[i].id)
	}
	for len(routes) > 0 {
		groups := map[string][]int{}
		for _, i := range part {
			if route := routes[i]; len(route) > 0 {
				key := mode(len(route) > 1, "new") + " " + route[0]
				groups[key] = append(groups[key], i)
			}
		}
		for key, group := range groups {
			if err := w.parkAt(key, plan.epoch, group, numbers, routes); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *way) parkAt(key, epoch string, group []int, numbers map[int]string, routes map[int][]string) error {
	words := strings.Fields(key)
	if words[0] == "new" {
		if err := w.c.announce(words[1]); err != nil {
			return err
		}
	}
	args := []interface{}{words[0] + "/" + epoch, w.name, w.home}
	for _, i := range group {
		args = append(args, w.jobs[i].id, numbers[i], w.jobs[i].rank, w.jobs[i].document)
	}
	told, err := redis.Strings(w.c.call(flowPark, words[1], "none", args...))
	if err != nil {
		return err
	}
	for n, i := range group {
		if told[n] == "ABSENT" {
			routes[i] = routes[i][1:]
			continue
		}
		delete(routes, i)
		if err := w.take(i, told[n]); err != nil {
			return err
		}
	}
	return nil
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

// WaitFlow waits until a flow has ended or is blocked, or ctx is done, and returns how it stands. While Redis is away
// it goes on as Wait does.
func (c *Client) WaitFlow(ctx context.Context, queue, name string) (*Flow, error) {
	away := outage{ctx: ctx}
	for {
		flow, err := c.knownFlow(queue, name)
		if err != nil {
			if err = away.outlast(err); err != nil {
				return nil, err
			}
			continue
		}
		if away.over(); flow.State != "open" && flow.State != "running" {
			return flow, nil
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
	return (&way{c: c, home: queue, name: name}).push(nil, true)
}

// KickFlow kicks the dead jobs of a flow, so that it goes on. It returns how many there were.
func (c *Client) KickFlow(queue, name string) (int, error) {
	return c.actOnFlow(queue, name, "x", kick, c.Kick)
}

// CancelFlow cancels the jobs of a flow that have not ended, and returns how many there were. Those that
// wait go first: otherwise one that waits for a failure would run now.
func (c *Client) CancelFlow(queue, name string) (int, error) {
	waited, err := c.actOnFlow(queue, name, "w", cancel, c.Cancel)
	if err != nil {
		return waited, err
	}
	others, err := c.actOnFlow(queue, name, "wox", cancel, c.Cancel)
	if err == nil {
		err = c.CloseFlow(queue, name)
	}
	return waited + others, err
}

// actOnFlow acts on the jobs that are in one of these states, many in a call; it returns for how many it
// could. One that is not found there, since it runs or has moved, is looked for by itself.
func (c *Client) actOnFlow(queue, name, states string, s *script,
	act func(queue, id string) (string, error)) (int, error) {
	if _, err := c.knownFlow(queue, name); err != nil {
		return 0, err
	}
	of, err := c.flowPlaces(queue, name, states)
	places := map[string][]string{}
	for id, place := range of {
		places[place] = append(places[place], id)
	}
	acted := 0
	for place, ids := range places {
		for len(ids) > 0 && err == nil {
			some := ids
			if len(some) > partMax {
				some = ids[:partMax]
			}
			ids = ids[len(some):]
			var count int
			count, err = c.actOnSome(place, some, s, act)
			acted += count
		}
	}
	return acted, err
}

func (c *Client) actOnSome(place string, ids []string, s *script,
	act func(queue, id string) (string, error)) (int, error) {
	args := make([]interface{}, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	was, err := redis.Strings(c.call(s, place, "none", args...))
	acted := 0
	for i := 0; i < len(was) && err == nil; i++ {
		if was[i] == "" {
			own, _, _ := strings.Cut(place, "/")
			was[i], err = act(own, ids[i])
		}
		if was[i] != "" {
			acted++
		}
	}
	return acted, err
}

// flowPlaces returns the queue, or shard, of each job in one of these states.
func (c *Client) flowPlaces(queue, name, states string) (map[string]string, error) {
	key, places := c.flowKey(queue, name), map[string]string{}
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
			if !strings.Contains(states, fields[i+1][:1]) {
				continue
			}
			// `STATE STEP WHEN DELAY AFTER QUEUE:NUMBER`; the last is there if the job lies in another queue.
			own := queue
			if words := strings.Fields(fields[i+1]); len(words) > 5 {
				own, _, _ = strings.Cut(words[5], ":")
			}
			places[fields[i][2:]] = own
		}
		if cursor == "0" {
			return places, nil
		}
	}
}
