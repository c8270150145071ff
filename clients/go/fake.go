// fake.go: for tests of programs that use laterd: Fake, which keeps queues in memory, and Perform.

package laterd

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	fakeAttempts = 25    // as laterd is configured by default
	drainMax     = 10000 // a handler may push without end
)

// Queues is what a program needs of a Client: a type to ask for, so that a test can give it a Fake.
type Queues interface {
	Push(queue string, job NewJob) (Pushed, error)
	PushMany(queue string, jobs []NewJob) ([]Pushed, error)
	Map(queue string, job NewJob, next func() (interface{}, bool), how Mapping) (Mapped, error)
	Show(queue, id string) (*KnownJob, error)
	Wait(ctx context.Context, queue, id string) (json.RawMessage, error)
	WaitMany(ctx context.Context, queue string, ids []string) ([]Outcome, error)
	Call(ctx context.Context, queue string, job NewJob, value interface{}) error
	Kick(queue, id string) (string, error)
	Cancel(queue, id string) (string, error)
	Reschedule(queue, id string, to Rescheduled) (string, error)
	Forget(queue, id string) (bool, error)
	Size(queue string) (Size, error)
	Pause(queue string, long time.Duration, by string) (bool, error)
	Resume(queue string) (bool, error)
	CronSet(queue string, schedule NewSchedule) (bool, error)
	CronDelete(queue, name string) (bool, error)
	CronList(queue string) ([]Schedule, error)
	Search(queue string, what Conditions) ([]KnownJob, error)
	Events(ctx context.Context, queue, after string, limit int) (*Events, error)
	Flow(queue, name string, jobs []NewJob, open bool) ([]Pushed, error)
	ShowFlow(queue, name string) (*Flow, error)
	WaitFlow(ctx context.Context, queue, name string) (*Flow, error)
	KickFlow(queue, name string) (int, error)
	CancelFlow(queue, name string) (int, error)
	CloseFlow(queue, name string) error
}

var (
	_ Queues = (*Client)(nil)
	_ Queues = (*Fake)(nil)
)

// Attempt is what became of one attempt: the answer as laterd gets it.
type Attempt struct {
	Result   string // "done", "retry" …
	Value    json.RawMessage
	Error    string
	In       time.Duration // until the next one, if the handler said so; else 0
	Progress []Progress
	// The last one that it has left, or nil.
	Checkpoint json.RawMessage
}

// Progress is one report of a handler.
type Progress struct {
	Done, Total float64
	Text        string
}

// Try is a job for Perform. Queue is "default" and Attempt 1, if not said. Values: what steps of its flow
// gave back. Resumes: a checkpoint. Stopping: laterd stops.
type Try struct {
	NewJob
	Queue    string
	Attempt  int
	Values   map[string]interface{}
	Resumes  interface{}
	Stopping bool
}

// Perform performs one job with its handler, without Redis and without laterd, for a test of the handler.
func Perform(app *Handlers, try Try) (Attempt, error) {
	made, err := try.NewJob.prepare()
	if err != nil {
		return Attempt{}, err
	}
	kept := &Kept{NewJob: try.NewJob, Queue: try.Queue, Attempts: try.Attempt, made: made}
	if kept.Queue == "" {
		kept.Queue = "default"
	}
	if kept.Attempts == 0 {
		kept.Attempts = 1
	}
	given := map[string]interface{}{"values": try.Values}
	if try.Resumes != nil {
		given["checkpoint"] = try.Resumes
	}
	return kept.attempt(app, given, try.Stopping)
}

// Kept is a job that was pushed to a Fake.
type Kept struct {
	NewJob
	ID, Queue string
	State     string // ready, delayed, reserved, dead, waiting; done, cancelled, skipped (not needed in its flow)
	Attempts  int
	Why       json.RawMessage // why it failed last: at, attempt, kind, text, host; or nil
	Value     json.RawMessage
	HookOf    string // pushed since the job of this id is dead, or done
	// The last checkpoint that it has left, or nil.
	Checkpointed json.RawMessage

	policy    NewJob // what its program says of its type
	made      *prepared
	successor *Kept     // pushed with Again while this one ran
	home      *keptFlow // the flow in which it waits, or has waited
}

func newKept(job NewJob, queue string, made *prepared) *Kept {
	kept := &Kept{NewJob: job, ID: made.id, Queue: queue, made: made}
	kept.State = kept.due()
	return kept
}

// due returns its state when it may run.
func (k *Kept) due() string {
	return dueBy(strings.SplitN(k.made.when, "!", 2)[0])
}

func dueBy(when string) string {
	at, _ := strconv.ParseFloat(when, 64)
	if when != "+0" && strings.HasPrefix(when, "+") || at > unix(time.Now()) {
		return "delayed"
	}
	return "ready"
}

// isThere tells whether it is in its queue still.
func (k *Kept) isThere() bool {
	return k != nil && k.State != "done" && k.State != "cancelled" && k.State != "skipped"
}

// known returns it as Show tells it.
func (k *Kept) known() *KnownJob {
	return &KnownJob{ID: k.ID, State: k.State, Attempts: k.Attempts, Priority: k.Priority, Error: k.Why,
		Document: k.made.document, Checkpoint: k.Checkpointed}
}

// waits tells whether it may be performed.
func (k *Kept) waits() bool { return k.State == "ready" || k.State == "delayed" }

// PayloadJSON returns the payload as it was pushed.
func (k *Kept) PayloadJSON() json.RawMessage {
	var document struct{ Payload json.RawMessage }
	json.Unmarshal(k.made.document, &document)
	if document.Payload == nil {
		return json.RawMessage("null")
	}
	return document.Payload
}

func (k *Kept) most() int {
	if k.MaxAttempts != 0 {
		return k.MaxAttempts
	}
	if k.policy.MaxAttempts != 0 {
		return k.policy.MaxAttempts
	}
	return fakeAttempts
}

// hook returns the job that tells of its end, or nil.
func (k *Kept) hook() *Kept {
	dead := k.State == "dead"
	if k.HookOf != "" || !dead && k.State != "done" {
		return nil
	}
	said, byType := k.OnDone, k.policy.OnDone
	if dead {
		said, byType = k.OnDead, k.policy.OnDead
	}
	if said == "" {
		said = byType
	}
	if said == "" {
		return nil
	}
	kind, queue := hookOf(said, k.Queue)
	told := map[string]interface{}{"id": k.ID, "type": k.Type, "queue": k.Queue, "ending": k.State,
		"attempts": k.Attempts, "error": nil, "value": nil}
	if dead {
		told["error"] = k.Why
	} else if k.Value != nil {
		told["value"] = k.Value
	}
	of := k.ID
	if len(of) > 160 {
		of = fmt.Sprintf("%x", sha1.Sum([]byte(of)))
	}
	job := NewJob{Type: kind, Payload: told, ID: fmt.Sprintf("%s.%s.%d", of, k.State, time.Now().UnixNano()/1000)}
	made, _ := job.prepare() // its type was checked when it was said
	hook := newKept(job, queue, made)
	hook.HookOf = k.ID
	return hook
}

// attempt performs it. given: what its line has besides.
func (k *Kept) attempt(app *Handlers, given map[string]interface{}, stopping bool) (Attempt, error) {
	line := map[string]interface{}{"id": k.made.id, "type": k.Type, "queue": k.Queue, "attempt": k.Attempts,
		"max_attempts": k.most(), "time_left": 300, "token": "test", "document": json.RawMessage(k.made.document)}
	for name, value := range given {
		line[name] = value
	}
	text, err := marshal(line)
	if err != nil {
		return Attempt{}, err
	}
	var heard bytes.Buffer
	job, err := newJob(text, &answers{to: &heard})
	if err != nil {
		return Attempt{}, err
	}
	job.stops = stopping
	lines := linesOf(app.perform(job))
	job.cancel()
	return attemptOf(lines[len(lines)-1], heard.Bytes())
}

func attemptOf(last string, heard []byte) (Attempt, error) {
	var told struct {
		Result, Error string
		Value         json.RawMessage
		In            float64
	}
	attempt := Attempt{}
	if err := json.Unmarshal([]byte(last), &told); err != nil {
		return attempt, err
	}
	for _, line := range bytes.Split(heard, []byte("\n")) {
		var said struct {
			Progress   *Progress
			Checkpoint json.RawMessage
		}
		if json.Unmarshal(line, &said) != nil {
			continue
		}
		if said.Progress != nil {
			attempt.Progress = append(attempt.Progress, *said.Progress)
		}
		if said.Checkpoint != nil {
			attempt.Checkpoint = said.Checkpoint
		}
	}
	attempt.Result, attempt.Error, attempt.Value = told.Result, told.Error, told.Value
	attempt.In = time.Duration(told.In * float64(time.Second))
	return attempt, nil
}

// Fake keeps what is pushed, in the place of a Client: for tests of programs that use laterd. It needs no
// Redis. Many goroutines may use it.
//
//	queues := laterd.NewFake()
//	signUp(queues, "a@b.c")
//	queues.AssertPushed(t, "mail", laterd.NewJob{Type: "mail.send", Payload: map[string]string{"to": "a@b.c"}})
//	queues.Drain(&app) // performs what was pushed
//
// What is pushed is checked as by a Client, and a handler gets what JSON makes of its payload. Time does not
// pass: a delay is kept but not waited for, and an ID that stays taken stays so. Jobs of a flow wait for each
// other, and get values.
type Fake struct {
	pushing
	app    *Handlers
	mutex  sync.Mutex
	jobs   []*Kept          // all, in the order of their pushes
	byID   map[string]*Kept // the last one of each queue and ID
	taken  map[string]bool  // IDs that stay taken
	ends   []End
	flows  map[string]*keptFlow
	woken  []*Kept         // whose time in a flow has come
	paused map[string]bool // queues, and whether only Resume ends it

	crontabs map[string]map[string]string // of each queue the definitions, by name
}

// NewFake makes one. If a program is given, each job is performed as it is pushed.
func NewFake(inline ...*Handlers) *Fake {
	fake := &Fake{byID: map[string]*Kept{}, taken: map[string]bool{}, flows: map[string]*keptFlow{}, paused: map[string]bool{},
		crontabs: map[string]map[string]string{}}
	if len(inline) > 0 {
		fake.app = inline[0]
	}
	return fake
}

// Push is like Client.Push.
func (f *Fake) Push(queue string, job NewJob) (Pushed, error) {
	pushed, err := f.pushAll(queue, []NewJob{job}, prepareOne)
	if len(pushed) == 0 {
		return Pushed{}, err
	}
	return pushed[0], err
}

// PushMany is like Client.PushMany.
func (f *Fake) PushMany(queue string, jobs []NewJob) ([]Pushed, error) {
	for i, job := range jobs {
		if job.Flow != "" {
			return nil, notHere(i)
		}
	}
	return f.pushAll(queue, jobs, prepareAll)
}

func (f *Fake) pushAll(queue string, jobs []NewJob,
	prepare func(string, []NewJob) ([]*prepared, error)) ([]Pushed, error) {
	jobs = f.changed(jobs)
	made, err := prepare(queue, jobs)
	if err != nil {
		return nil, err
	}
	pushed, err := f.keepAll(queue, jobs, made)
	return f.told(jobs, pushed, err)
}

func (f *Fake) keepAll(queue string, jobs []NewJob, made []*prepared) ([]Pushed, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var all []Pushed
	for i, job := range jobs {
		var err error
		where := queue
		if job.Queue != "" {
			where = job.Queue
		}
		kept, pushed := newKept(job, where, made[i]), Pushed{}
		if job.Flow != "" {
			pushed, err = f.add(kept)
		} else {
			pushed = f.keep(kept)
		}
		if err != nil {
			return all, err
		}
		all = append(all, pushed)
	}
	return all, nil
}

// Show is like Client.Show.
func (f *Fake) Show(queue, id string) (*KnownJob, error) {
	if err := checkQueue(queue); err != nil {
		return nil, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	kept := f.find(queue, id)
	if kept == nil {
		return nil, nil
	}
	return kept.known(), nil
}

// Wait is like Client.Wait, but does not wait: of a job that has not ended, it says that the time is up.
func (f *Fake) Wait(ctx context.Context, queue, id string) (json.RawMessage, error) {
	if err := checkQueue(queue); err != nil {
		return nil, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	kept := f.byID[queue+" "+id]
	switch {
	case kept != nil && kept.State == "dead":
		return nil, &Failed{id, kept.Why}
	case kept.isThere():
		return nil, fmt.Errorf("laterd: %s has not ended; Drain performs it: %w", id, context.DeadlineExceeded)
	case kept == nil || kept.State != "done" || kept.Result == 0:
		return nil, ErrUnknown
	case kept.Value == nil:
		return json.RawMessage("null"), nil
	}
	return kept.Value, nil
}

// WaitMany is like Client.WaitMany, but does not wait.
func (f *Fake) WaitMany(ctx context.Context, queue string, ids []string) ([]Outcome, error) {
	return waitMany(ctx, f, queue, ids)
}

// Call is like Client.Call, inline: otherwise it says that the time is up.
func (f *Fake) Call(ctx context.Context, queue string, job NewJob, value interface{}) error {
	return call(ctx, f, queue, job, value)
}

// Kick is like Client.Kick.
func (f *Fake) Kick(queue, id string) (string, error) {
	if err := checkQueue(queue); err != nil {
		return "", err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.kick(f.find(queue, id)), nil
}

func (f *Fake) kick(kept *Kept) string {
	if kept == nil || kept.State != "dead" && kept.State != "delayed" {
		return ""
	}
	came := kept.State
	kept.State = "ready"
	if came == "dead" {
		kept.Attempts = 0
	}
	f.settleFlows()
	return came
}

// Cancel is like Client.Cancel.
func (f *Fake) Cancel(queue, id string) (string, error) {
	if err := checkQueue(queue); err != nil {
		return "", err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	kept := f.find(queue, id)
	if kept == nil && f.taken[queue+" "+id] {
		delete(f.taken, queue+" "+id)
		return "ended", nil
	}
	return f.cancel(kept), nil
}

func (f *Fake) cancel(kept *Kept) string {
	if kept == nil {
		return ""
	}
	came := kept.State
	kept.State = "cancelled"
	f.settleFlows()
	return came
}

// Reschedule is like Client.Reschedule.
func (f *Fake) Reschedule(queue, id string, to Rescheduled) (string, error) {
	words, err := to.words()
	if err == nil {
		err = checkQueue(queue)
	}
	if err != nil {
		return "", err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	kept := f.find(queue, id)
	if kept == nil || !kept.waits() {
		return "", nil
	}
	came := kept.State
	if when := words[0].(string); when != "" {
		kept.State = dueBy(when)
	}
	if to.Priority != nil {
		kept.Priority = *to.Priority
	}
	return came, nil
}

// Forget is like Client.Forget.
func (f *Fake) Forget(queue, id string) (bool, error) {
	if err := checkQueue(queue); err != nil {
		return false, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	kept := f.byID[queue+" "+id]
	if kept == nil || kept.State != "done" && kept.State != "dead" || kept.Result == 0 {
		return false, nil
	}
	kept.Result = 0
	return true, nil
}

// Size is like Client.Size.
func (f *Fake) Size(queue string) (Size, error) {
	if err := checkQueue(queue); err != nil {
		return Size{}, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	counts := map[string]int{}
	for _, kept := range f.jobs {
		if kept.Queue == queue {
			counts[kept.State]++
		}
	}
	_, paused := f.paused[queue]
	return Size{Ready: counts["ready"], Delayed: counts["delayed"], Reserved: counts["reserved"], Dead: counts["dead"],
		Paused: paused}, nil
}

// Pause is like Client.Pause: nothing of the queue is performed until Resume, since time does not pass.
func (f *Fake) Pause(queue string, long time.Duration, by string) (bool, error) {
	if err := checkQueue(queue); err != nil {
		return false, err
	}
	if _, err := pauseWords(long, by); err != nil {
		return false, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	changed := long > 0 || !f.paused[queue]
	f.paused[queue] = long == 0
	return changed, nil
}

// Resume is like Client.Resume. What was pushed meanwhile is performed by Drain, also inline.
func (f *Fake) Resume(queue string) (bool, error) {
	if err := checkQueue(queue); err != nil {
		return false, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	_, was := f.paused[queue]
	delete(f.paused, queue)
	return was, nil
}

// Search is like Client.Search. No job that is done is kept.
func (f *Fake) Search(queue string, what Conditions) ([]KnownJob, error) {
	if err := checkQueue(queue); err != nil {
		return nil, err
	}
	if err := what.check(); err != nil {
		return nil, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var found []KnownJob
	for _, state := range what.states() {
		for i := len(f.jobs) - 1; i >= 0 && len(found) < what.Limit; i-- {
			kept := f.jobs[i]
			if kept.Queue == queue && kept.State == state && kept.isThere() && what.fit(kept.made.document) {
				found = append(found, *kept.known())
			}
		}
	}
	return found, nil
}

// Pushed returns what was pushed of this type, "" for all, whatever has become of it.
func (f *Fake) Pushed(kind string) []*Kept {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var such []*Kept
	for _, kept := range f.jobs {
		if kind == "" || kept.Type == kind {
			such = append(such, kept)
		}
	}
	return such
}

// T is what a Fake needs of a *testing.T.
type T interface {
	Helper()
	Errorf(format string, words ...interface{})
}

// AssertPushed fails the test unless a job like this one was pushed to the queue ("": to any): of its type,
// and the same in all fields that are set here. It returns those jobs.
func (f *Fake) AssertPushed(t T, queue string, like NewJob) []*Kept {
	t.Helper()
	payload, err := payloadBytes(like.Payload)
	if err != nil {
		t.Errorf("AssertPushed: payload: %v", err)
	}
	var such []*Kept
	for _, kept := range f.Pushed(like.Type) {
		if (queue == "" || kept.Queue == queue) && kept.isLike(like) &&
			(like.Payload == nil || sameJSON(kept.PayloadJSON(), payload)) {
			such = append(such, kept)
		}
	}
	if len(such) == 0 {
		t.Errorf("no such %s was pushed; there are: %s", like.Type, f.list(""))
	}
	return such
}

// AssertNothingPushed fails the test if a job of this type was pushed, "" for any.
func (f *Fake) AssertNothingPushed(t T, kind string) {
	t.Helper()
	if len(f.Pushed(kind)) > 0 {
		t.Errorf("pushed: %s", f.list(kind))
	}
}

func (f *Fake) list(kind string) string {
	all := ""
	for _, kept := range f.Pushed(kind) {
		all += fmt.Sprintf("\n%s %s %s", kept.Queue, kept.Type, kept.PayloadJSON())
	}
	return all
}

// isLike compares all fields that are set in the other job, but the payload.
func (k *Kept) isLike(like NewJob) bool {
	mine, other := reflect.ValueOf(k.NewJob), reflect.ValueOf(like)
	for i := 0; i < other.NumField(); i++ {
		if other.Type().Field(i).Name != "Payload" && !other.Field(i).IsZero() &&
			!reflect.DeepEqual(mine.Field(i).Interface(), other.Field(i).Interface()) {
			return false
		}
	}
	return true
}

func sameJSON(one, other []byte) bool {
	var a, b interface{}
	return json.Unmarshal(one, &a) == nil && json.Unmarshal(other, &b) == nil && reflect.DeepEqual(a, b)
}

// Drain performs each job that is ready or delayed once, the highest priority first, then those that were
// pushed meanwhile. One that is to be tried again waits for the next Drain.
func (f *Fake) Drain(app *Handlers) ([]Attempt, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	lines, begun, seen := map[int][]*Kept{}, map[*Kept]bool{}, 0
	var attempts []Attempt
	for {
		for _, kept := range append(f.jobs[seen:len(f.jobs):len(f.jobs)], f.woken...) {
			lines[kept.Priority] = append(lines[kept.Priority], kept)
		}
		seen, f.woken = len(f.jobs), nil
		kept := nextOf(lines)
		if kept == nil {
			return attempts, nil
		}
		if !f.mayRun(kept) || begun[kept] {
			continue
		}
		if len(attempts) == drainMax {
			return attempts, fmt.Errorf("laterd: Drain: %d jobs were performed, and they push more and more", drainMax)
		}
		begun[kept] = true
		attempt, err := f.perform(app, kept)
		if err != nil {
			return attempts, err
		}
		attempts = append(attempts, attempt)
	}
}

// nextOf takes the first job of the highest priority.
func nextOf(lines map[int][]*Kept) *Kept {
	highest, found := 0, false
	for priority, line := range lines {
		if len(line) > 0 && (!found || priority > highest) {
			highest, found = priority, true
		}
	}
	if !found {
		return nil
	}
	kept := lines[highest][0]
	lines[highest] = lines[highest][1:]
	return kept
}

// ---- with the mutex

func (f *Fake) find(queue, id string) *Kept {
	if kept := f.byID[queue+" "+id]; kept.isThere() {
		return kept
	}
	return nil
}

func (f *Fake) mayRun(kept *Kept) bool {
	_, paused := f.paused[kept.Queue]
	return kept.waits() && !paused
}

func (f *Fake) keep(kept *Kept) Pushed {
	key := kept.Queue + " " + kept.ID
	old := f.find(kept.Queue, kept.ID)
	pushed := Pushed{ID: kept.ID, Result: "pushed"}
	switch {
	case old == nil && f.taken[key]:
		return Pushed{ID: kept.ID, Result: "exists", State: "ended"}
	case old == nil:
	case old.State == "reserved" && kept.made.mode == "again":
		old.successor = kept
		return Pushed{ID: kept.ID, Result: "again"}
	case kept.made.mode == "new" || !old.waits():
		return Pushed{ID: kept.ID, Result: "exists", State: old.State}
	default:
		pushed.Result = "replaced"
		f.replace(old, kept)
	}
	f.jobs, f.byID[key] = append(f.jobs, kept), kept
	if f.app != nil && f.mayRun(kept) {
		f.perform(f.app, kept)
		f.performWoken()
	}
	return pushed
}

// perform performs a job, without the mutex meanwhile: its handler may push.
func (f *Fake) perform(app *Handlers, kept *Kept) (Attempt, error) {
	kept.policy = app.policyOf(app.match(kept.Type)).job()
	kept.State = "reserved"
	kept.Attempts++
	given := kept.heard()
	if kept.Checkpointed != nil {
		given["checkpoint"] = kept.Checkpointed
	}
	f.mutex.Unlock()
	attempt, err := kept.attempt(app, given, false)
	f.mutex.Lock()
	if attempt.Checkpoint != nil {
		kept.Checkpointed = attempt.Checkpoint
	}
	if err == nil && kept.State == "reserved" { // else it was cancelled meanwhile
		f.settle(kept, attempt)
		f.noteEnd(kept, attempt.Result)
		if hook := kept.hook(); hook != nil {
			f.keep(hook)
		}
	}
	successor := kept.successor
	kept.successor = nil
	if successor != nil && !kept.isThere() {
		f.keep(successor)
	}
	f.settleFlows()
	return attempt, err
}

func (f *Fake) settle(kept *Kept, attempt Attempt) {
	if attempt.Result == "done" {
		kept.State, kept.Value = "done", attempt.Value
		if kept.UniqueFor > 0 || kept.Throttle > 0 {
			f.taken[kept.Queue+" "+kept.ID] = true
		}
		return
	}
	kind := attempt.Result
	kept.State = "delayed"
	if kind == "bury" || kind == "retry" && kept.Attempts >= kept.most() {
		kept.State = "dead"
	}
	if kind == "bury" {
		kind = "buried"
	}
	kept.Why = whyOf(kept.Attempts, kind, attempt.Error, "test")
	if kind == "return" {
		kept.Attempts--
	}
}

func whyOf(attempt int, kind, text, host string) json.RawMessage {
	why, _ := marshal(map[string]interface{}{"at": unix(time.Now()), "attempt": attempt, "kind": kind, "text": text,
		"host": host})
	return why
}
