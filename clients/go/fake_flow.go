// fake_flow.go: the flows of a Fake: its jobs wait for each other as those in Redis do.

package laterd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A job's state in a flow, as a letter: w waits, o open, x dead, d done, g gone, s skipped.
var letters = map[string]string{"waiting": "w", "ready": "o", "delayed": "o", "reserved": "o", "dead": "x", "done": "d",
	"cancelled": "g", "skipped": "s"}

var fates = map[byte]string{'g': "was cancelled, purged, expired or trimmed", 's': "was not needed", 'u': "does not exist"}

// keptFlow is a flow that was pushed to a Fake: what becomes of jobs that wait, as doc/protocol.md says
// ("Flows").
type keptFlow struct {
	name   string
	closed bool
	made   time.Time
	jobs   []*Kept        // a known job may be of several flows
	places map[string]int // of each id in jobs
	steps  map[string]*Kept
	stars  map[string]bool // ids of those that wait for all without `*`
}

// add: tie is how the job was pushed to this flow, which for a known one is not how it was made.
func (k *keptFlow) add(kept *Kept, tie *prepared) {
	if k.find(kept.ID) == nil {
		k.places[kept.ID] = len(k.jobs)
		k.jobs = append(k.jobs, kept)
	}
	if tie.step != "" {
		k.steps[tie.step] = kept
	}
	if tie.isStar() {
		k.stars[kept.ID] = true
	}
}

func (p *prepared) isStar() bool { return len(p.after) == 1 && p.after[0] == "*" }

func (k *keptFlow) find(id string) *Kept {
	if place, is := k.places[id]; is {
		return k.jobs[place]
	}
	return nil
}

// letters returns the states of its jobs; plain: of those without `*`.
func (k *keptFlow) letters(plain bool) string {
	var all strings.Builder
	for _, kept := range k.jobs {
		if !plain || !k.stars[kept.ID] {
			all.WriteString(letters[kept.State])
		}
	}
	return all.String()
}

func (k *keptFlow) stands() *Flow {
	all := k.letters(false)
	count := func(letter string) int { return strings.Count(all, letter) }
	flow := &Flow{Name: k.name, Closed: k.closed, Made: k.made, Total: len(all), Open: count("o"), Waiting: count("w"),
		Dead: count("x"), Done: count("d"), Gone: count("g"), Skipped: count("s")}
	flow.State = flow.word()
	return flow
}

// heard returns what one that has waited gets: members of its line.
func (k *Kept) heard() map[string]interface{} {
	if k.home == nil || len(k.made.after) == 0 {
		return map[string]interface{}{}
	}
	if !k.made.isStar() {
		values := map[string]json.RawMessage{}
		for _, step := range k.made.after {
			if kept := k.home.steps[step]; kept != nil {
				values[step] = kept.Value // nil is null
			}
		}
		return map[string]interface{}{"values": values}
	}
	all := k.home.letters(true)
	count := func(letter string) int { return strings.Count(all, letter) }
	counts := FlowCounts{Name: k.home.name, Total: len(all), Open: count("o"), Waiting: count("w"), Done: count("d"),
		Dead: count("x"), Gone: count("g"), Skipped: count("s"), Failed: []string{}}
	for _, kept := range k.home.jobs {
		if (kept.State == "dead" || kept.State == "cancelled") && !k.home.stars[kept.ID] {
			counts.Failed = append(counts.Failed, kept.ID)
		}
	}
	return map[string]interface{}{"flow": counts}
}

// settle decides about those that wait, whose time has come. It returns whether any job has changed.
func (k *keptFlow) settle(run func(*Kept)) bool {
	changed := false
	for _, kept := range k.jobs {
		if kept.State != "waiting" || kept.home != k {
			continue
		}
		fate, why := k.some(kept.made)
		if kept.made.isStar() {
			fate, why = k.all(kept.made)
		}
		changed = changed || fate != ""
		switch fate {
		case "run":
			run(kept)
		case "skip":
			kept.State = "skipped"
		case "bury":
			kept.State, kept.Why = "dead", whyOf(0, "flow", why, "")
		}
	}
	return changed
}

// all returns "run", "skip", "bury" and why, or "" for one that goes on waiting.
func (k *keptFlow) all(tie *prepared) (string, string) {
	plain := k.letters(true)
	over, gone := k.closed && !strings.ContainsAny(plain, "ow"), strings.Count(plain, "g")
	switch {
	case tie.fate == "failed" && strings.ContainsAny(plain, "xg"):
		return "run", ""
	case tie.fate == "failed" && over:
		return "skip", ""
	case tie.fate == "done" && gone > 0:
		return "bury", fmt.Sprintf("needs all jobs of flow %s, and %d of them are gone", k.name, gone)
	case tie.fate == "ended" && over, tie.fate == "done" && over && !strings.Contains(plain, "x"):
		return "run", ""
	}
	return "", ""
}

func (k *keptFlow) some(tie *prepared) (string, string) {
	told := ""
	for _, step := range tie.after {
		switch kept := k.steps[step]; {
		case kept != nil:
			told += letters[kept.State]
		case k.closed:
			told += "u"
		default:
			told += "w"
		}
	}
	over := !strings.ContainsAny(told, "ow")
	switch {
	case tie.fate == "failed" && strings.ContainsAny(told, "xgu"):
		return "run", ""
	case tie.fate == "failed" && over:
		return "skip", ""
	case tie.fate == "ended" && over:
		return "run", ""
	case tie.fate != "done":
		return "", ""
	}
	for i := range told {
		if why, is := fates[told[i]]; is {
			return "bury", fmt.Sprintf("needs step %s of flow %s, which %s", tie.after[i], k.name, why)
		}
	}
	if strings.Trim(told, "d") == "" {
		return "run", ""
	}
	return "", ""
}

// ---- what a client can

// Flow is like Client.Flow.
func (f *Fake) Flow(queue, name string, jobs []NewJob, open bool) ([]Pushed, error) {
	if err := checkFlow(queue, name); err != nil {
		return nil, err
	}
	jobs = f.changed(jobs)
	made, err := prepareFlow(queue, name, jobs)
	if err == nil {
		err = checkPlan(made, open)
	}
	if err != nil {
		return nil, err
	}
	pushed, err := f.pushFlow(queue, name, jobs, made, open)
	return f.told(jobs, pushed, err)
}

func (f *Fake) pushFlow(queue, name string, jobs []NewJob, made []*prepared, open bool) ([]Pushed, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	flow := f.flowOf(queue, name)
	for _, one := range made {
		if flow.closed && flow.find(one.id) == nil {
			return nil, fmt.Errorf("%w: %s", ErrFlowClosed, name)
		}
	}
	pushed := make([]Pushed, len(jobs))
	for i, job := range jobs {
		pushed[i] = f.join(flow, newKept(job, made[i].queue, made[i]))
	}
	flow.closed = flow.closed || !open
	f.settleFlows()
	f.performWoken()
	return pushed, nil
}

// ShowFlow is like Client.ShowFlow.
func (f *Fake) ShowFlow(queue, name string) (*Flow, error) {
	if err := checkFlow(queue, name); err != nil {
		return nil, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if flow := f.flows[queue+" "+name]; flow != nil {
		return flow.stands(), nil
	}
	return nil, nil
}

// WaitFlow is like Client.WaitFlow, but does not wait: of a flow that goes on, it says that the time is up.
func (f *Fake) WaitFlow(ctx context.Context, queue, name string) (*Flow, error) {
	var stands *Flow
	err := f.withFlow(queue, name, func(flow *keptFlow) { stands = flow.stands() })
	if err == nil && (stands.State == "open" || stands.State == "running") {
		return nil, fmt.Errorf("laterd: flow %s is %s; Drain performs its jobs: %w", name, stands.State,
			context.DeadlineExceeded)
	}
	return stands, err
}

// KickFlow is like Client.KickFlow.
func (f *Fake) KickFlow(queue, name string) (int, error) {
	return f.actOnFlow(queue, name, "x", f.kick)
}

// CancelFlow is like Client.CancelFlow.
func (f *Fake) CancelFlow(queue, name string) (int, error) {
	waited, err := f.actOnFlow(queue, name, "w", f.cancel)
	if err != nil {
		return 0, err
	}
	others, _ := f.actOnFlow(queue, name, "wox", f.cancel)
	return waited + others, f.CloseFlow(queue, name)
}

// CloseFlow is like Client.CloseFlow.
func (f *Fake) CloseFlow(queue, name string) error {
	return f.withFlow(queue, name, func(flow *keptFlow) {
		flow.closed = true
		f.settleFlows()
		f.performWoken()
	})
}

func (f *Fake) withFlow(queue, name string, do func(*keptFlow)) error {
	if err := checkFlow(queue, name); err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	flow := f.flows[queue+" "+name]
	if flow == nil {
		return fmt.Errorf("%w: %s in queue %s", ErrFlowUnknown, name, queue)
	}
	do(flow)
	return nil
}

func (f *Fake) actOnFlow(queue, name, states string, act func(*Kept) string) (int, error) {
	acted := 0
	err := f.withFlow(queue, name, func(flow *keptFlow) {
		for _, kept := range flow.jobs {
			if letter, is := letters[kept.State]; is && strings.Contains(states, letter) && act(kept) != "" {
				acted++
			}
		}
	})
	return acted, err
}

// ---- with the mutex

func (f *Fake) flowOf(queue, name string) *keptFlow {
	flow := f.flows[queue+" "+name]
	if flow == nil {
		flow = &keptFlow{name: name, made: time.Now(), places: map[string]int{}, steps: map[string]*Kept{}, stars: map[string]bool{}}
		f.flows[queue+" "+name] = flow
	}
	return flow
}

// add adds a job to its flow, as Push does.
func (f *Fake) add(kept *Kept) (Pushed, error) {
	where := kept.Home
	if where == "" {
		where = kept.Queue
	}
	flow := f.flowOf(where, kept.Flow)
	adder := flow.find(kept.Adder)
	if flow.closed && flow.find(kept.ID) == nil && (adder == nil || adder.State != "reserved") {
		return Pushed{}, fmt.Errorf("%w: %s", ErrFlowClosed, kept.Flow)
	}
	pushed := f.join(flow, kept)
	f.settleFlows()
	f.performWoken()
	return pushed, nil
}

func (f *Fake) join(flow *keptFlow, kept *Kept) Pushed {
	old := flow.find(kept.ID)
	if old == nil {
		old = f.find(kept.Queue, kept.ID)
	}
	if old != nil {
		flow.add(old, kept.made)
		state := old.State
		if state == "cancelled" {
			state = "gone"
		}
		return Pushed{ID: kept.ID, Result: "exists", State: state}
	}
	flow.add(kept, kept.made)
	pushed := Pushed{ID: kept.ID, Result: "pushed"}
	kept.home = flow
	if len(kept.made.after) > 0 {
		kept.State, pushed.State = "waiting", "waiting"
	} else {
		f.woken = append(f.woken, kept)
	}
	f.jobs, f.byID[kept.Queue+" "+kept.ID] = append(f.jobs, kept), kept
	return pushed
}

// replace: the later job takes the other's place, in flows, too.
func (f *Fake) replace(old, kept *Kept) {
	old.State = "cancelled"
	for _, flow := range f.flows {
		for i := range flow.jobs {
			if flow.jobs[i] != old {
				continue
			}
			flow.jobs[i], kept.home = kept, old.home
			kept.made.step, kept.made.after, kept.made.fate = old.made.step, old.made.after, old.made.fate
		}
		for step, one := range flow.steps {
			if one == old {
				flow.steps[step] = kept
			}
		}
	}
}

func (f *Fake) settleFlows() {
	run := func(kept *Kept) {
		kept.State = kept.due()
		f.woken = append(f.woken, kept)
	}
	for changed := true; changed; {
		changed = false
		for _, flow := range f.flows {
			changed = flow.settle(run) || changed
		}
	}
}

// performWoken performs those whose time has come, inline.
func (f *Fake) performWoken() {
	for f.app != nil && len(f.woken) > 0 {
		kept := f.woken[0]
		f.woken = f.woken[1:]
		if f.mayRun(kept) {
			f.perform(f.app, kept)
		}
	}
}
