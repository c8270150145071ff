// testing_test.go: laterd.Fake and laterd.Perform, as a user's tests use them.

package laterd_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"laterd"
)

var ctx = context.Background()

// A program: what it pushes goes through the interface.
type shop struct {
	queues laterd.Queues
	app    laterd.Handlers
}

type object = map[string]interface{}

func newShop() (*shop, *laterd.Fake) {
	fake := laterd.NewFake()
	s := &shop{queues: fake}
	s.app.On("welcome", welcome).On("feed.*", s.feed).On("again", s.again)
	s.app.On("odd", func(context.Context, *laterd.Job) (interface{}, error) { return func() {}, nil })
	s.app.On("sums", func(_ context.Context, job *laterd.Job) (interface{}, error) { return job.Values, nil })
	s.app.On("flow", func(_ context.Context, job *laterd.Job) (interface{}, error) { return job.Flow, nil })
	s.app.On("pages", pages)
	s.app.On("panics", func(context.Context, *laterd.Job) (interface{}, error) { panic("at the disco") })
	return s, fake
}

func welcome(_ context.Context, job *laterd.Job) (interface{}, error) {
	var mail struct{ To string }
	job.Into(&mail)
	switch mail.To {
	case "busy":
		return nil, errors.New("the mailer is busy")
	case "bad":
		return nil, laterd.Bury(errors.New("no such address"))
	case "later":
		return nil, laterd.Return(errors.New("not yet"), time.Minute)
	}
	job.Progress(1, 2, "half")
	return object{"sent": mail.To, "attempt": job.Attempt}, nil
}

func pages(_ context.Context, job *laterd.Job) (interface{}, error) {
	var from, at int
	json.Unmarshal(job.Resumes, &from)
	if job.Into(&at); string(job.Payload) == "null" {
		at = -1
	}
	for page := from; page < 3; page++ {
		if err := job.Checkpoint(page + 1); err != nil {
			return nil, err
		}
		if job.Stopping() {
			return nil, nil
		}
		if page == at && job.Attempt == 1 {
			return nil, fmt.Errorf("page %d", page)
		}
	}
	return from, nil
}

func TestOptions(t *testing.T) {
	queues, end := laterd.NewFake(), time.Unix(4e9, 0)
	push := func(job laterd.NewJob) string {
		job.Type, job.Payload = "all", 1
		pushed, err := queues.Push("default", job)
		must(t, err)
		return pushed.ID
	}
	stateOf := func(job laterd.NewJob) string {
		known, err := queues.Show("default", push(job))
		must(t, err)
		return known.State
	}
	push(laterd.NewJob{ID: "all", Priority: 2, MaxAttempts: 3, RetryFor: time.Minute, Timeout: 5 * time.Second, Backoff: []int{1, 2},
		ExpiresAt: end, Result: time.Minute, Lock: "l", Group: "g", Trace: "t", Description: "d", OnDead: "a", OnDone: "b@c"})
	known, err := queues.Show("default", "all")
	must(t, err)
	var document object
	must(t, json.Unmarshal(known.Document, &document))
	same(t, document, object{"type": "all", "id": "all", "priority": 2.0, "max_attempts": 3.0, "retry_for": 60.0, "timeout": 5.0,
		"backoff": []interface{}{1.0, 2.0}, "expires_at": 4e9, "result": 60.0, "lock": "l", "group": "g", "trace": "t",
		"description": "d", "on_dead": "a", "on_done": "b@c", "payload": 1.0})
	same(t, stateOf(laterd.NewJob{ExpiresIn: time.Minute}), "ready")
	same(t, stateOf(laterd.NewJob{At: end}), "delayed")
	same(t, stateOf(laterd.NewJob{ID: "d", Debounce: 5 * time.Second, MaxWait: time.Minute}), "delayed")
	_, err = queues.Flow("one", "wide", []laterd.NewJob{{Type: "flow"}}, true)
	must(t, err)
	_, err = queues.Push("two", laterd.NewJob{Type: "flow", Flow: "wide", Step: "c", Home: "one"})
	must(t, err)
	flow, err := queues.ShowFlow("one", "wide")
	must(t, err)
	same(t, flow.Total, 2)
}

func TestSchedules(t *testing.T) {
	queues, late := laterd.NewFake(), 5*time.Second
	noon := laterd.NewSchedule{Name: "noon", At: "0 12 * * *", Zone: "Europe/Berlin", Late: &late,
		Job: laterd.NewJob{Type: "sum", Group: "acme", ExpiresIn: 5 * time.Second}}
	set := func(queue string, change func(*laterd.NewSchedule)) bool {
		changed := noon
		change(&changed)
		is, err := queues.CronSet(queue, changed)
		must(t, err)
		return is
	}
	unchanged := func(*laterd.NewSchedule) {}
	same(t, []bool{set("default", unchanged), set("default", unchanged), set("mail", unchanged)}, []bool{true, false, true})
	same(t, set("default", func(s *laterd.NewSchedule) { s.CatchUp, s.Overlap = "last", "allow" }), false)
	same(t, set("default", func(s *laterd.NewSchedule) { s.Job.Priority = 1 }), true)
	found, err := queues.CronList("default")
	must(t, err)
	same(t, found, []laterd.Schedule{{Name: "noon", At: "0 12 * * *", Zone: "Europe/Berlin", Origin: "set"}})
	for _, wanted := range []bool{true, false} {
		had, err := queues.CronDelete("default", "noon")
		must(t, err)
		same(t, had, wanted)
	}
	for text, change := range map[string]func(*laterd.NewSchedule){
		"name: 1 to 64 letters, digits and _ . -":      func(s *laterd.NewSchedule) { s.Name = "a b" },
		"At: an expression of five fields":             func(s *laterd.NewSchedule) { s.At = "noon" },
		"Zone: a time zone, such as Europe/Berlin":     func(s *laterd.NewSchedule) { s.Zone = "Mars?" },
		"Overlap: one of allow, skip":                  func(s *laterd.NewSchedule) { s.Overlap = "kill" },
		"Spread: whole seconds":                        func(s *laterd.NewSchedule) { s.Spread = 1500 * time.Millisecond },
		"Spread: a time.Duration, and 30 is so many":   func(s *laterd.NewSchedule) { s.Spread = 30 },
		"ExpiresIn: whole seconds":                     func(s *laterd.NewSchedule) { s.Job.ExpiresIn = time.Second / 2 },
		"From: not a plausible time":                   func(s *laterd.NewSchedule) { s.From = time.Unix(90, 0) },
		"Limit: from 1 to 1000000000, or 0 for no end": func(s *laterd.NewSchedule) { s.Limit = -1 },
		"ID: not for a job of a schedule":              func(s *laterd.NewSchedule) { s.Job.ID = "x" },
		"Unique: not for a job of a schedule":          func(s *laterd.NewSchedule) { s.Job.Unique = true },
		"type: 1 to 128 letters, digits and _ . : -":   func(s *laterd.NewSchedule) { s.Job.Type = "" },
		"Until: at or after From": func(s *laterd.NewSchedule) {
			s.From, s.Until = time.Unix(2e9, 1), time.Unix(2e9, 2)
		},
	} {
		wrong := noon
		change(&wrong)
		_, err := queues.CronSet("default", wrong)
		var refused *laterd.Refused
		same(t, errors.As(err, &refused) && strings.HasPrefix(refused.Text, text), true)
	}
}

func TestPaused(t *testing.T) {
	s, queues := newShop()
	inline := laterd.NewFake(&s.app)
	for _, fake := range []*laterd.Fake{queues, inline} {
		changed, err := fake.Pause("default", time.Minute, "ann")
		must(t, err)
		same(t, changed, true)
		_, err = fake.Push("default", laterd.NewJob{Type: "feed.one", Payload: 0, ID: "a", Result: time.Minute})
		must(t, err)
		attempts, err := fake.Drain(&s.app)
		must(t, err)
		same(t, len(attempts), 0)
		outcomes, err := fake.WaitMany(ctx, "default", []string{"a", "b"})
		must(t, err)
		same(t, []string{outcomes[0].State, outcomes[1].State}, []string{"waiting", "gone"})
		found, err := fake.Search("default", laterd.Conditions{Type: "feed.*"})
		must(t, err)
		same(t, len(found), 1)
		_, err = fake.Resume("default")
		must(t, err)
		_, err = fake.Drain(&s.app)
		must(t, err)
		outcomes, err = fake.WaitMany(ctx, "default", []string{"a"})
		must(t, err)
		same(t, outcomes, []laterd.Outcome{{ID: "a", State: "done", Value: json.RawMessage("0")}})
	}
}

func TestCheckpoints(t *testing.T) {
	s, queues := newShop()
	try := func(try laterd.Try) []interface{} {
		try.Type = "pages"
		one, err := laterd.Perform(&s.app, try)
		must(t, err)
		return []interface{}{one.Result, string(one.Value), one.Error, string(one.Checkpoint)}
	}
	same(t, try(laterd.Try{NewJob: laterd.NewJob{Payload: 1}}), []interface{}{"retry", "", "page 1", "2"})
	same(t, try(laterd.Try{Resumes: 2}), []interface{}{"done", "2", "", "3"})
	same(t, try(laterd.Try{Stopping: true}), []interface{}{"return", "", "", "1"})
	same(t, try(laterd.Try{Resumes: 3, Stopping: true}), []interface{}{"done", "3", "", ""})
	_, err := queues.Push("default", laterd.NewJob{Type: "pages", Payload: 1, ID: "paged"})
	must(t, err)
	for i := 0; i < 2; i++ {
		_, err = queues.Drain(&s.app)
		must(t, err)
	}
	kept := queues.Pushed("pages")[0]
	same(t, []string{kept.State, string(kept.Value), string(kept.Checkpointed)}, []string{"done", "2", "3"})
}

func (s *shop) feed(_ context.Context, job *laterd.Job) (interface{}, error) {
	var n int
	if job.Into(&n); n > 0 {
		s.queues.Push("default", laterd.NewJob{Type: "feed.next", Payload: n - 1})
	}
	return n, nil
}

func (s *shop) again(_ context.Context, job *laterd.Job) (interface{}, error) {
	pushed, err := s.queues.Push("default", laterd.NewJob{Type: "again", ID: "a", Again: string(job.Payload) != "null"})
	return pushed.Result, err
}

func same(t *testing.T, seen, wanted interface{}) {
	t.Helper()
	if !reflect.DeepEqual(seen, wanted) {
		t.Errorf("%#v, wanted %#v", seen, wanted)
	}
}

// must is for what may fail, but does not.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// failures counts what is reported in place of a test.
type failures struct{ count int }

func (f *failures) Helper()                           {}
func (f *failures) Errorf(_ string, _ ...interface{}) { f.count++ }

func TestWhatWasPushed(t *testing.T) {
	_, queues := newShop()
	pushed, err := queues.Push("mail", laterd.NewJob{Type: "welcome", Payload: object{"to": []string{"a"}}, In: time.Minute})
	must(t, err)
	same(t, pushed.Result, "pushed")
	_, err = queues.PushMany("default", []laterd.NewJob{{Type: "thumb", Payload: 0}, {Type: "thumb", Payload: 1, Priority: 2}})
	must(t, err)
	queues.AssertPushed(t, "mail", laterd.NewJob{Type: "welcome", Payload: object{"to": []string{"a"}}, In: time.Minute})
	same(t, len(queues.AssertPushed(t, "", laterd.NewJob{Type: "thumb"})), 2)
	queues.AssertPushed(t, "default", laterd.NewJob{Type: "thumb", Payload: 1, Priority: 2})
	queues.AssertNothingPushed(t, "sum")
	same(t, string(queues.Pushed("thumb")[1].PayloadJSON()), "1")
	failed := &failures{}
	queues.AssertPushed(failed, "", laterd.NewJob{Type: "sum"})
	queues.AssertPushed(failed, "", laterd.NewJob{Type: "thumb", Payload: 7})
	queues.AssertPushed(failed, "default", laterd.NewJob{Type: "welcome"})
	queues.AssertPushed(failed, "", laterd.NewJob{Type: "welcome", In: time.Hour})
	queues.AssertNothingPushed(failed, "")
	same(t, failed.count, 5)
	size, err := queues.Size("mail")
	must(t, err)
	same(t, size, laterd.Size{Delayed: 1})
}

func TestBadOnesAreRefused(t *testing.T) {
	_, queues := newShop()
	for _, job := range []laterd.NewJob{{Type: "no good"}, {Type: "a", Payload: func() {}}, {Type: "a", Debounce: 5},
		{Type: "a", Payload: json.RawMessage("\"\xff\"")}, {Type: "a", Payload: json.RawMessage(`{"a":1,"a":2}`)}} {
		var refused *laterd.Refused
		if _, err := queues.Push("default", job); !errors.As(err, &refused) {
			t.Errorf("%v: %v", job.Type, err)
		}
	}
	if _, err := queues.PushMany("default", []laterd.NewJob{{Type: "a"}, {Type: "a", Priority: 101}}); err == nil {
		t.Error("priority 101")
	}
	if _, err := queues.Push("a b", laterd.NewJob{Type: "a"}); err == nil {
		t.Error("a queue with a space")
	}
	queues.AssertNothingPushed(t, "")
}

func TestADurationWantsItsUnit(t *testing.T) {
	_, queues := newShop()
	for _, job := range []laterd.NewJob{{In: 60}, {Timeout: 300}, {RetryFor: 86400}, {Result: 600}, {ExpiresIn: 60},
		{ID: "a", UniqueFor: 60}, {ID: "a", Throttle: 60}, {ID: "a", Debounce: 5}} {
		job.Type = "a"
		if _, err := queues.Push("default", job); err == nil || !strings.Contains(err.Error(), " * time.Second") {
			t.Errorf("%+v: %v", job, err)
		}
	}
	_, err := queues.Push("default", laterd.NewJob{Type: "a", In: time.Millisecond, Backoff: 5})
	must(t, err)
}

func TestAnIDIsOneJob(t *testing.T) {
	_, queues := newShop()
	queues.Push("default", laterd.NewJob{Type: "a", ID: "x"})
	pushed, _ := queues.Push("default", laterd.NewJob{Type: "a", ID: "x"})
	same(t, pushed, laterd.Pushed{ID: "x", Result: "exists", State: "ready"})
	pushed, _ = queues.Push("default", laterd.NewJob{Type: "a", ID: "x", Payload: 3, Replace: true})
	same(t, pushed.Result, "replaced")
	job, err := queues.Show("default", "x")
	must(t, err)
	same(t, strings.Contains(string(job.Document), `"payload":3`), true)
	same(t, job.Type(), "a")
	pushed, _ = queues.Push("other", laterd.NewJob{Type: "a", ID: "x"})
	same(t, pushed.IsNew(), true)
	for _, wanted := range []string{"ready", ""} {
		came, err := queues.Cancel("default", "x")
		must(t, err)
		same(t, came, wanted)
	}
	job, _ = queues.Show("default", "x")
	same(t, job, (*laterd.KnownJob)(nil))
}

func TestOneAttempt(t *testing.T) {
	s, _ := newShop()
	one, err := laterd.Perform(&s.app, laterd.Try{NewJob: laterd.NewJob{Type: "welcome", Payload: object{"to": "a"}}, Attempt: 2})
	must(t, err)
	same(t, one.Result+" "+string(one.Value), `done {"attempt":2,"sent":"a"}`)
	same(t, one.Progress, []laterd.Progress{{Done: 1, Total: 2, Text: "half"}})
	for kind, wanted := range map[string]string{"odd": "bury its value is not JSON: json: unsupported type: func()",
		"nobody": "bury the program has no handler for type nobody", "panics": "retry panic: at the disco"} {
		one, err = laterd.Perform(&s.app, laterd.Try{NewJob: laterd.NewJob{Type: kind}})
		must(t, err)
		same(t, one.Result+" "+strings.Split(one.Error, "\n")[0], wanted)
	}
	one, _ = laterd.Perform(&s.app, laterd.Try{NewJob: laterd.NewJob{Type: "welcome", Payload: object{"to": "later"}}})
	same(t, one.In, time.Minute)
	one, _ = laterd.Perform(&s.app, laterd.Try{NewJob: laterd.NewJob{Type: "sums"}, Values: object{"a": 1}})
	same(t, string(one.Value), `{"a":1}`)
}

// drained returns what became of each job.
func drained(t *testing.T, s *shop, fake *laterd.Fake) []string {
	t.Helper()
	attempts, err := fake.Drain(&s.app)
	must(t, err)
	var told []string
	for _, one := range attempts {
		told = append(told, strings.TrimSpace(one.Result+" "+string(one.Value)))
	}
	return told
}

func TestDrain(t *testing.T) {
	s, queues := newShop()
	first, _ := queues.Push("default", laterd.NewJob{Type: "feed.first", Payload: 2, In: time.Minute})
	queues.Push("default", laterd.NewJob{Type: "welcome", ID: "w", Payload: object{"to": "a"}, Priority: 5, Result: time.Minute})
	same(t, drained(t, s, queues), []string{`done {"attempt":1,"sent":"a"}`, "done 2", "done 1", "done 0"})
	value, err := queues.Wait(ctx, "default", "w")
	must(t, err)
	same(t, string(value), `{"attempt":1,"sent":"a"}`)
	_, err = queues.Wait(ctx, "default", first.ID)
	same(t, err, laterd.ErrUnknown)
	same(t, drained(t, s, queues), []string(nil))
}

func TestRetriesAndBurials(t *testing.T) {
	s, queues := newShop()
	for id, to := range map[string]string{"b": "busy", "c": "bad", "d": "later"} {
		queues.Push("default", laterd.NewJob{Type: "welcome", ID: id, Payload: object{"to": to}, MaxAttempts: 2})
	}
	states := func() (all string) {
		for _, id := range []string{"b", "c", "d"} {
			job, err := queues.Show("default", id)
			must(t, err)
			all += fmt.Sprint(job.State, job.Attempts, " ")
		}
		return all
	}
	same(t, len(drained(t, s, queues)), 3)
	same(t, states(), "delayed1 dead1 delayed0 ")
	_, err := queues.Wait(ctx, "default", "b")
	same(t, errors.Is(err, context.DeadlineExceeded), true)
	same(t, len(drained(t, s, queues)), 2)
	same(t, states(), "dead2 dead1 delayed0 ")
	var failed *laterd.Failed
	_, err = queues.Wait(ctx, "default", "b")
	same(t, errors.As(err, &failed) && strings.Contains(err.Error(), "the mailer is busy"), true)
	came, _ := queues.Kick("default", "b")
	job, _ := queues.Show("default", "b")
	same(t, fmt.Sprint(came, job.Attempts), "dead0")
	pushed, _ := queues.Push("default", laterd.NewJob{Type: "welcome", ID: "c", Replace: true})
	same(t, pushed.IsDead(), true)
}

func TestIDsThatStayTaken(t *testing.T) {
	s, queues := newShop()
	queues.Push("default", laterd.NewJob{Type: "again", ID: "a", Payload: true})
	same(t, drained(t, s, queues), []string{`done "again"`, `done "exists"`})
	for _, job := range []laterd.NewJob{{ID: "t", Throttle: time.Minute}, {ID: "u", UniqueFor: time.Minute}} {
		job.Type = "feed.a"
		queues.Push("default", job)
		drained(t, s, queues)
		pushed, _ := queues.Push("default", laterd.NewJob{Type: "feed.a", ID: job.ID})
		same(t, pushed, laterd.Pushed{ID: job.ID, Result: "exists", State: "ended"})
		came, _ := queues.Cancel("default", job.ID)
		again, _ := queues.Cancel("default", job.ID)
		same(t, came+" "+again, "ended ")
	}
}

func TestInlineAndWithoutEnd(t *testing.T) {
	s, _ := newShop()
	inline := laterd.NewFake(&s.app)
	job, err := inline.Push("default", laterd.NewJob{Type: "welcome", Payload: object{"to": "a"}, In: time.Hour, Result: time.Hour})
	must(t, err)
	value, err := inline.Wait(ctx, "default", job.ID)
	must(t, err)
	same(t, string(value), `{"attempt":1,"sent":"a"}`)
	s.app.On("endless", func(context.Context, *laterd.Job) (interface{}, error) {
		return s.queues.Push("default", laterd.NewJob{Type: "endless"})
	})
	s.queues.Push("default", laterd.NewJob{Type: "endless"})
	if _, err = s.queues.(*laterd.Fake).Drain(&s.app); err == nil || !strings.Contains(err.Error(), "more and more") {
		t.Error(err)
	}
}

// Orders: pay, then mail with what pay gave back; undo if pay fails; all: when all others have ended.
func order(t *testing.T, queues laterd.Queues, to string, open bool) (states []string) {
	t.Helper()
	pushed, err := queues.Flow("default", "order", []laterd.NewJob{
		{Type: "welcome", Payload: object{"to": to}, Step: "pay", MaxAttempts: 1},
		{Type: "sums", Step: "mail", After: []string{"pay"}},
		{Type: "flow", Step: "undo", After: []string{"pay"}, When: "failed"},
		{Type: "flow", Step: "all", After: []string{"*"}, When: "ended", In: time.Minute}}, open)
	must(t, err)
	for _, one := range pushed {
		states = append(states, one.Result+" "+one.State)
	}
	return states
}

func TestAFlowThatGoesWell(t *testing.T) {
	s, queues := newShop()
	same(t, order(t, queues, "a", false), []string{"pushed ", "pushed waiting", "pushed waiting", "pushed waiting"})
	same(t, drained(t, s, queues), []string{`done {"attempt":1,"sent":"a"}`, `done {"pay":{"attempt":1,"sent":"a"}}`,
		`done {"name":"order","total":3,"open":0,"waiting":0,"done":2,"dead":0,"gone":0,"skipped":1,"failed":[]}`})
	flow, err := queues.WaitFlow(ctx, "default", "order")
	must(t, err)
	same(t, fmt.Sprint(flow.State, flow.Total, flow.Done, flow.Skipped), "done4 3 1")
	same(t, order(t, queues, "a", false), []string{"exists done", "exists done", "exists skipped", "exists done"})
}

func TestAFlowThatIsBlocked(t *testing.T) {
	s, queues := newShop()
	order(t, queues, "bad", false)
	same(t, len(drained(t, s, queues)), 2)
	flow, err := queues.WaitFlow(ctx, "default", "order")
	must(t, err)
	same(t, flow.State, "blocked")
	kicked, err := queues.KickFlow("default", "order")
	must(t, err)
	same(t, kicked, 1)
	_, err = queues.WaitFlow(ctx, "default", "order")
	same(t, errors.Is(err, context.DeadlineExceeded), true)
	queues.Cancel("default", "order.pay")
	job, _ := queues.Show("default", "order.mail")
	same(t, strings.Contains(string(job.Error), "needs step pay of flow order, which was cancelled"), true)
	attempts, err := queues.Drain(&s.app)
	must(t, err)
	var counts laterd.FlowCounts
	must(t, json.Unmarshal(attempts[0].Value, &counts))
	same(t, counts.Failed, []string{"order.pay", "order.mail"})
	cancelled, err := queues.CancelFlow("default", "order")
	must(t, err)
	flow, _ = queues.ShowFlow("default", "order")
	same(t, fmt.Sprint(cancelled, flow.Gone), "1 2")
}

func TestWhoMayAddToAFlow(t *testing.T) {
	s, queues := newShop()
	order(t, queues, "a", true)
	pushed, err := queues.Push("default", laterd.NewJob{Type: "flow", Flow: "order", Step: "more", After: []string{"mail"}})
	must(t, err)
	same(t, pushed.State, "waiting")
	drained(t, s, queues)
	flow, _ := queues.ShowFlow("default", "order")
	same(t, fmt.Sprint(flow.State, flow.Waiting), "open1")
	must(t, queues.CloseFlow("default", "order"))
	same(t, len(drained(t, s, queues)), 1)
	_, err = queues.Push("default", laterd.NewJob{Type: "flow", Flow: "order", Step: "late"})
	same(t, errors.Is(err, laterd.ErrFlowClosed), true)
	_, err = queues.KickFlow("default", "none")
	same(t, errors.Is(err, laterd.ErrFlowUnknown), true)
	_, err = queues.Flow("default", "circle", []laterd.NewJob{{Type: "a", Step: "a", After: []string{"b"}},
		{Type: "a", Step: "b", After: []string{"a"}}}, false)
	same(t, err != nil, true)
	flow, _ = queues.ShowFlow("default", "circle")
	same(t, flow, (*laterd.Flow)(nil))
}

func TestARunningJobAddsToItsFlow(t *testing.T) {
	s, queues := newShop()
	s.app.On("adds", func(_ context.Context, job *laterd.Job) (interface{}, error) {
		pushed, err := s.queues.Push("default", laterd.NewJob{Type: "flow", Flow: "f", Step: "more", Adder: job.ID})
		return pushed.Result, err
	})
	_, err := queues.Flow("default", "f", laterd.Batch([]laterd.NewJob{{Type: "adds"}},
		laterd.Ends{Then: &laterd.NewJob{Type: "flow", Step: "end"}}), false)
	must(t, err)
	told := drained(t, s, queues)
	same(t, len(told) == 3 && told[0] == `done "pushed"` && strings.Contains(told[2], `"total":2`), true)
	inline := laterd.NewFake(&s.app)
	_, err = inline.Flow("default", "f", laterd.Chain(laterd.NewJob{Type: "feed.a"},
		laterd.NewJob{Type: "sums", Result: time.Minute}), false)
	must(t, err)
	value, err := inline.Wait(ctx, "default", "f.2")
	must(t, err)
	same(t, string(value), `{"1":0}`)
}

// ---- hooks, and what middleware carries along

type tenantKey struct{}

func hooked() (app *laterd.Handlers, fake *laterd.Fake, heard *[]string) {
	fake, heard = laterd.NewFake(), &[]string{}
	app = &laterd.Handlers{Queues: fake}
	hear := func(format string, words ...interface{}) { *heard = append(*heard, fmt.Sprintf(format, words...)) }
	app.Around(func(next laterd.Handler) laterd.Handler {
		return func(ctx context.Context, job *laterd.Job) (interface{}, error) {
			return next(context.WithValue(ctx, tenantKey{}, job.Context["tenant"]), job)
		}
	})
	app.Before(func(_ context.Context, job *laterd.Job) error {
		hear("before %s", job.Type)
		if string(job.Payload) == `"no"` {
			return laterd.Bury(errors.New("not today"))
		}
		return nil
	})
	app.After(func(ctx context.Context, job *laterd.Job, value interface{}) {
		hear("after %s %v %v", job.Type, value, ctx.Value(tenantKey{}))
	})
	app.Failed(func(_ context.Context, job *laterd.Job, err error) { hear("failed %s %v", job.Type, err) })
	return app, fake, heard
}

func TestContextGoesFromJobToJob(t *testing.T) {
	app, fake, heard := hooked()
	fake.BeforePush(func(job laterd.NewJob) laterd.NewJob {
		job.Trace = "t"
		return job
	})
	last := app.Task("last", func(_ context.Context, job *laterd.Job) (interface{}, error) { return job.Context["locale"], nil })
	first := app.Task("first", func(ctx context.Context, job *laterd.Job) (interface{}, error) {
		job.Context["locale"] = "de"
		_, err := last.Later("default", laterd.NewJob{Context: job.Context, Priority: 5})
		return ctx.Value(tenantKey{}), err
	}, laterd.Policy{Retries: 3})
	_, err := first.Later("default", laterd.NewJob{ID: "f", Payload: object{"n": 1}, Context: object{"tenant": "shop"}})
	must(t, err)
	fake.AssertPushed(t, "default", laterd.NewJob{Type: "first", ID: "f", Trace: "t", Context: object{"tenant": "shop"}})
	attempts, err := fake.Drain(app)
	must(t, err)
	same(t, string(attempts[0].Value)+string(attempts[1].Value), `"shop""de"`)
	same(t, *heard, []string{"before first", "after first shop shop", "before last", "after last de shop"})
}

func TestHooksOfFailures(t *testing.T) {
	app, _, heard := hooked()
	bad := errors.New("bad")
	fails := func(_ context.Context, job *laterd.Job) (interface{}, error) {
		if string(job.Payload) == `"later"` {
			return nil, laterd.Return(errors.New("later"), 0)
		}
		return nil, bad
	}
	app.On("a", fails, laterd.Policy{Bury: []error{bad}}).On("b", fails, laterd.Policy{Bury: []error{context.Canceled}})
	app.On("fine", func(context.Context, *laterd.Job) (interface{}, error) { return 7, nil })
	app.On("panics", func(context.Context, *laterd.Job) (interface{}, error) { panic("at the disco") })
	app.After(func(context.Context, *laterd.Job, interface{}) { panic("in a hook") })
	results := ""
	for _, job := range []laterd.NewJob{{Type: "a"}, {Type: "b"}, {Type: "a", Payload: "later"}, {Type: "a", Payload: "no"},
		{Type: "fine"}, {Type: "panics"}} {
		one, err := laterd.Perform(app, laterd.Try{NewJob: job})
		must(t, err)
		results += one.Result + " "
	}
	same(t, results, "bury retry return bury done retry ") // each type keeps its own
	same(t, *heard, []string{"before a", "failed a bad", "before b", "failed b bad", "before a", "before a",
		"failed a not today", "before fine", "after fine 7 <nil>", "before panics", "failed panics panic: at the disco"})
}

// panics returns what the function panics with.
func panics(do func()) (cause interface{}) {
	defer func() { cause = recover() }()
	do()
	return nil
}

func TestWhatIsTooLargeIsNamed(t *testing.T) {
	fake := laterd.NewFake()
	big := laterd.NewJob{Type: "big", ID: "b", Payload: strings.Repeat("x", 1<<20)}
	_, one := fake.Push("default", laterd.NewJob{Type: "big", Payload: big.Payload})
	_, many := fake.PushMany("default", []laterd.NewJob{{Type: "a"}, big})
	for said, err := range map[string]error{"too large: big: ": one, "job 2: too large: big, id b: ": many} {
		if err == nil || !strings.HasPrefix(err.Error(), "laterd: "+said+"a document of ") {
			t.Error(err)
		}
	}
}

func TestATypeHasOneHandler(t *testing.T) {
	app := laterd.Handlers{}
	one := func(context.Context, *laterd.Job) (interface{}, error) { return 1, nil }
	app.On("a", one).GivenUp("mail.*", one)
	for _, odd := range []string{"mail send", "mail.*.x", ""} {
		same(t, fmt.Sprint(panics(func() { app.On(odd, one) })),
			"laterd: On: "+odd+" is neither a type nor a prefix of types that ends in *")
	}
	const here = `.*testing_test\.go:\d+`
	for kind, twice := range map[string]func(){"a": func() { app.Task("a", one) },
		"mail.given_up": func() { app.GivenUp("mail", one) }} {
		said := fmt.Sprint(panics(twice))
		form := "^laterd: type " + kind + " has two handlers, at " + here + " and at " + here + ": remove one$"
		if !regexp.MustCompile(form).MatchString(said) {
			t.Error(said)
		}
	}
}

func TestGivenUpAndLater(t *testing.T) {
	app, fake, _ := hooked()
	tell := func(_ context.Context, job *laterd.Job) (interface{}, error) {
		var gone struct{ ID string }
		err := job.Into(&gone)
		return gone.ID, err
	}
	app.GivenUp("mail.*", tell).GivenUp("exact", tell)
	for kind, id := range map[string]string{"mail.given_up": "x", "exact.given_up": "y"} {
		one, err := laterd.Perform(app, laterd.Try{NewJob: laterd.NewJob{Type: kind, Payload: object{"id": id}}})
		must(t, err)
		same(t, string(one.Value), `"`+id+`"`)
	}
	for _, wrong := range []func(){func() { app.On("exact", tell, laterd.Policy{OnDead: "alert"}) },
		func() { app.GivenUp("exact", tell) }, func() { app.Task("a.*", tell) }} {
		same(t, panics(wrong) != nil, true)
	}
	lonely := laterd.Handlers{}
	_, err := lonely.Task("a", tell).Later("default", laterd.NewJob{})
	same(t, err != nil && strings.Contains(err.Error(), "Queues are not set"), true)
	_, err = fake.Push("default", laterd.NewJob{Type: "a", Context: object{"a": func() {}}})
	same(t, err != nil && strings.HasPrefix(err.Error(), "laterd: Context: "), true)
}

func TestHooksTellOfWhatIsDeadOrDone(t *testing.T) {
	fake, app := laterd.NewFake(), &laterd.Handlers{}
	heard := []string{}
	hear := func(_ context.Context, job *laterd.Job) (interface{}, error) {
		var told struct {
			ID, Type, Queue, Ending string
			Attempts                int
			Error                   *struct{ Kind string }
			Value                   interface{}
		}
		err := job.Into(&told)
		heard = append(heard, fmt.Sprint(job.Type, " ", told.ID, " ", told.Type, " ", told.Queue, " ", told.Ending, " ",
			told.Attempts, " ", told.Error != nil && told.Error.Kind == "retry", " ", told.Value))
		return nil, err
	}
	fails := func(_ context.Context, job *laterd.Job) (interface{}, error) {
		if string(job.Payload) == "0" {
			return nil, errors.New("zero")
		}
		return 7, nil
	}
	app.On("tries", fails, laterd.Policy{Retries: 1, OnDead: "policy", OnDone: "policy"})
	app.On("gone", fails, laterd.Policy{Retries: laterd.NoRetries}).GivenUp("gone", hear)
	app.On("policy", hear, laterd.Policy{OnDone: "own"}).On("own", hear)
	for _, job := range []laterd.NewJob{{Type: "tries", Payload: 0, ID: "a"},
		{Type: "tries", Payload: 1, ID: "b", OnDone: "own@tell"}, {Type: "gone", Payload: 0, ID: "c"}} {
		_, err := fake.Push("default", job)
		must(t, err)
	}
	for range []int{1, 2} {
		_, err := fake.Drain(app)
		must(t, err)
	}
	same(t, strings.Join(heard, ", "), "own b tries default done 1 false 7, "+
		"gone.given_up c gone default dead 1 true <nil>, policy a tries default dead 2 true <nil>")
}

func TestCall(t *testing.T) {
	s, _ := newShop()
	var sent struct{ Sent string }
	inline := laterd.NewFake(&s.app)
	must(t, inline.Call(ctx, "default", laterd.NewJob{Type: "welcome", Payload: object{"to": "a"}}, &sent))
	same(t, sent.Sent, "a")
	var failed *laterd.Failed
	same(t, errors.As(inline.Call(ctx, "default", laterd.NewJob{Type: "nobody"}, nil), &failed), true)
}

func TestWaitsOfOnesOwn(t *testing.T) {
	var wrong error
	var app laterd.Handlers
	buries := errors.New("buries")
	app.On("a", func(context.Context, *laterd.Job) (interface{}, error) { return nil, wrong },
		laterd.Policy{Bury: []error{buries}, Backoff: func(job *laterd.Job, err error) time.Duration {
			if err.Error() == "ours" {
				return -1
			}
			return time.Duration(job.Attempt) * 10 * time.Second
		}})
	for _, one := range []struct {
		wrong  error
		result string
		in     time.Duration
	}{
		{errors.New("x"), "retry", 30 * time.Second},
		{laterd.Retry(errors.New("x"), 5*time.Second), "retry", 5 * time.Second},
		{laterd.Return(errors.New("x"), time.Second), "return", time.Second},
		{laterd.Return(errors.New("x"), time.Millisecond), "return", time.Millisecond},
		{buries, "bury", 0},
		{errors.New("ours"), "retry", 0},
	} {
		wrong = one.wrong
		tried, err := laterd.Perform(&app, laterd.Try{NewJob: laterd.NewJob{Type: "a"}, Attempt: 3})
		must(t, err)
		same(t, tried.Result, one.result)
		same(t, tried.In, one.in)
	}
}

func TestAWaitWantsItsUnit(t *testing.T) {
	for result, say := range map[string]func(error, time.Duration) error{"retry": laterd.Retry, "return": laterd.Return} {
		var app laterd.Handlers
		app.On("a", func(context.Context, *laterd.Job) (interface{}, error) { return nil, say(errors.New("busy"), 60) })
		tried, err := laterd.Perform(&app, laterd.Try{NewJob: laterd.NewJob{Type: "a"}})
		must(t, err)
		same(t, tried.Result, result)
		same(t, tried.Error, "busy (a wait of 60ns is none: write 60 * time.Second)")
	}
	var app laterd.Handlers
	app.On("a", func(context.Context, *laterd.Job) (interface{}, error) { return nil, errors.New("busy") },
		laterd.Policy{Backoff: func(*laterd.Job, error) time.Duration { return 60 }})
	tried, err := laterd.Perform(&app, laterd.Try{NewJob: laterd.NewJob{Type: "a"}})
	must(t, err)
	same(t, tried.Error, "busy (a wait of 60ns is none: write 60 * time.Second)")
}

func TestAPayloadIsSealedOnItsWay(t *testing.T) {
	fake, seen := laterd.NewFake(), ""
	fake.BeforePush(func(job laterd.NewJob) laterd.NewJob {
		plain, _ := json.Marshal(job.Payload)
		job.Payload = object{"z": plain} // bytes are base64 in JSON; a program would encrypt them
		return job
	})
	var app laterd.Handlers
	app.Before(func(_ context.Context, job *laterd.Job) error {
		var sealed struct{ Z []byte }
		err := job.Into(&sealed)
		job.Payload = sealed.Z
		return err
	})
	app.On("a", func(_ context.Context, job *laterd.Job) (interface{}, error) {
		seen = string(job.Payload)
		return nil, nil
	})
	_, err := fake.Push("default", laterd.NewJob{Type: "a", Payload: "4111"})
	must(t, err)
	_, err = fake.Drain(&app)
	must(t, err)
	same(t, seen, `"4111"`)
	id, err := laterd.UniqueID("a", object{"card": "4111"})
	must(t, err)
	pushed, err := fake.Push("default", laterd.NewJob{Type: "a", Payload: object{"card": "4111", "n": 1}, UniqueBy: []string{"card"}})
	must(t, err)
	same(t, pushed.ID, id) // of the payload as it was given
	pushed, err = fake.Push("default", laterd.NewJob{Type: "a", Payload: object{"card": "4111"}, Unique: true})
	must(t, err)
	same(t, pushed.Result, "exists")
}

func TestMapTakesItemsAsTheyCome(t *testing.T) {
	fake, row, most := laterd.NewFake(), -1, 0
	rows := func() (interface{}, bool) {
		if waits := row - 2*len(fake.Pushed("row")); waits > most {
			most = waits
		}
		row++
		return row, row < 1001
	}
	told, err := fake.Map("default", laterd.NewJob{Type: "row"}, rows,
		laterd.Mapping{Chunk: 2, Flow: "f", Ends: laterd.Ends{Then: &laterd.NewJob{Type: "sum"}}})
	must(t, err)
	same(t, told, laterd.Mapped{Pushed: 502})
	same(t, most < 400, true)
	same(t, row, 1001) // nobody asks again after the end
	told, err = fake.Map("default", laterd.NewJob{Type: "one", Priority: 5}, laterd.Each([]string{"a", "b", "c"}), laterd.Mapping{})
	must(t, err)
	same(t, told, laterd.Mapped{Pushed: 3})
}

func TestEventsTellWhatHasEnded(t *testing.T) {
	s, fake := newShop()
	push := func(id, to string) {
		_, err := fake.Push("default", laterd.NewJob{Type: "welcome", ID: id, Payload: object{"to": to}})
		must(t, err)
	}
	push("a", "a")
	push("b", "bad")
	_, err := fake.Drain(&s.app)
	must(t, err)
	page, err := fake.Events(context.Background(), "default", "", 0)
	must(t, err)
	var told []string
	for _, end := range page.Ends {
		told = append(told, strings.Join([]string{end.ID, end.Type, end.Ending, end.State, end.Kind}, " "))
	}
	same(t, told, []string{"a welcome done done ", "b welcome bury dead buried"})
	push("d", "busy")
	_, err = fake.Drain(&s.app)
	must(t, err)
	page, err = fake.Events(context.Background(), "default", page.Bookmark, 1)
	must(t, err)
	same(t, page.Ends[0].ID, "d")
	page, err = fake.Events(context.Background(), "default", "now", 0)
	must(t, err)
	same(t, page.Bookmark, "default:3")
}
