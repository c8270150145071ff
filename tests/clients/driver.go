// driver.go: the Go client, or its Fake, driven by judge.py. README.md says what is spoken.

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/mna/redisc"
	"laterd"
)

type object = map[string]interface{}

type place struct {
	Kind, Socket, Master, Prefix, Password string
	Nodes                                  [][2]interface{}
	Context                                object
}

type call struct {
	Open               *place
	Push               json.RawMessage
	PushMany           []json.RawMessage `json:"push_many"`
	Show               *string
	Wait               *string
	Call               json.RawMessage
	Size               bool
	Kick               *string
	Cancel             *string
	Reschedule, Forget *string
	In, At             *float64
	Priority           *int
	WaitMany           *[]string `json:"wait_many"`
	Pause              *struct {
		Seconds *float64
		By      string
	}
	Resume, Heard bool
	Search        *struct {
		State, Type, Text string
		Limit             *int
	}
	Timeout     float64
	Queue       string
	Cron_set    *schedule
	Cron_delete *string
	Cron_list   bool

	Flow                    *string
	Stays_open              bool
	Jobs                    []json.RawMessage
	Chain                   []json.RawMessage
	Batch                   []json.RawMessage
	Then                    json.RawMessage
	Finally                 json.RawMessage
	Failed                  json.RawMessage
	Map                     json.RawMessage
	Items                   []json.RawMessage
	Chunk                   int
	Events                  *string
	Limit                   int
	Show_flow               *string
	Wait_flow               *string
	Kick_flow               *string
	Cancel_flow, Close_flow *string
}

type schedule struct {
	Name, At, Zone, Catch_up, Overlap string
	Spread, Late, From, Until         *float64
	Limit                             *int
	Job                               json.RawMessage
}

// queues is what a Client and a Fake have.
type queues interface {
	laterd.Queues
	BeforePush(func(laterd.NewJob) laterd.NewJob)
	AfterPush(func(laterd.NewJob, laterd.Pushed))
}

var heard []string // after pushes, of those whose client has a context

func open(p *place) queues {
	var opened queues = laterd.NewFake()
	if p.Kind != "fake" {
		opened = connect(p)
	}
	if p.Context != nil {
		heard = []string{}
		opened.BeforePush(carrying(p.Context))
		opened.AfterPush(func(job laterd.NewJob, pushed laterd.Pushed) {
			heard = append(heard, job.Type+" "+pushed.ID+" "+pushed.Result)
		})
	}
	return opened
}

// carrying returns middleware.
func carrying(carried object) func(laterd.NewJob) laterd.NewJob {
	return func(job laterd.NewJob) laterd.NewJob {
		context := object{}
		for _, from := range []object{carried, job.Context} {
			for name, value := range from {
				context[name] = value
			}
		}
		job.Context = context
		return job
	}
}

func connect(p *place) *laterd.Client {
	var nodes []string
	for _, node := range p.Nodes {
		nodes = append(nodes, fmt.Sprintf("%v:%v", node[0], node[1]))
	}
	client := laterd.New((&redis.Pool{MaxIdle: 1, Dial: func() (redis.Conn, error) {
		return redis.Dial("unix", p.Socket, redis.DialPassword(p.Password))
	}}).Get)
	switch p.Kind {
	case "sentinel":
		client = laterd.New((&redis.Pool{MaxIdle: 1, Dial: laterd.Sentinel(p.Master, nodes)}).Get)
	case "cluster":
		cluster := &redisc.Cluster{StartupNodes: nodes}
		client = laterd.NewCluster(func(key string) redis.Conn {
			conn := cluster.Get()
			redisc.BindConn(conn, key)
			retry, _ := redisc.RetryConn(conn, 3, 50*time.Millisecond)
			return retry
		})
	}
	if p.Prefix != "" {
		client.Prefix = p.Prefix
	}
	return client
}

// job: what Go's types cannot hold, an empty id or a time-out of 0 that was said, is refused here.
func job(text []byte) (laterd.NewJob, error) {
	var m struct {
		Type, Payload_json, Id, Trace, Lock, Group         *string
		Description                                        *string
		Payload, Backoff                                   json.RawMessage
		Priority, Max_attempts                             *int
		In, At, Timeout, Retry_for, Expires_at, Unique_for *float64
		Result, Debounce, Max_wait, Throttle               *float64
		Expires_in                                         *float64
		On_dead, On_done                                   *string
		Replace, Again                                     bool
		Flow, Step, When, Adder, Home, Queue               *string
		After                                              interface{}
		Context                                            object
		Unique                                             interface{}
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return laterd.NewJob{}, &laterd.Refused{Text: err.Error()}
	}
	for _, text := range []*string{m.Id, m.Lock, m.Group, m.On_dead, m.On_done} {
		if text != nil && *text == "" {
			return laterd.NewJob{}, &laterd.Refused{Text: "empty"}
		}
	}
	for _, number := range []*float64{m.Timeout, m.Retry_for, m.Expires_at, m.Expires_in, m.Result} {
		if number != nil && *number == 0 {
			return laterd.NewJob{}, &laterd.Refused{Text: "0"}
		}
	}
	if m.Max_attempts != nil && *m.Max_attempts == 0 {
		return laterd.NewJob{}, &laterd.Refused{Text: "0"}
	}
	job := laterd.NewJob{Type: valueOf(m.Type), ID: valueOf(m.Id), Trace: valueOf(m.Trace), Lock: valueOf(m.Lock), Group: valueOf(m.Group),
		In: duration(m.In), At: moment(m.At), Timeout: duration(m.Timeout), RetryFor: duration(m.Retry_for), ExpiresAt: moment(m.Expires_at),
		UniqueFor: duration(m.Unique_for), Result: duration(m.Result), Replace: m.Replace,
		Again: m.Again, Debounce: duration(m.Debounce), MaxWait: duration(m.Max_wait), Throttle: duration(m.Throttle),
		ExpiresIn: duration(m.Expires_in), OnDead: valueOf(m.On_dead), OnDone: valueOf(m.On_done), Priority: valueOf(m.Priority), MaxAttempts: valueOf(m.Max_attempts)}
	job.Flow, job.Step, job.When, job.Adder = valueOf(m.Flow), valueOf(m.Step), valueOf(m.When), valueOf(m.Adder)
	job.Home, job.Queue, job.Context = valueOf(m.Home), valueOf(m.Queue), m.Context
	job.Description = valueOf(m.Description)
	switch unique := m.Unique.(type) {
	case bool:
		job.Unique = unique
	case string:
		job.UniqueBy = []string{unique}
	case []interface{}:
		if len(unique) == 0 {
			return job, &laterd.Refused{Text: "empty"}
		}
		for _, name := range unique {
			job.UniqueBy = append(job.UniqueBy, fmt.Sprint(name))
		}
	}
	switch after := m.After.(type) {
	case string:
		job.After = []string{after}
	case []interface{}:
		job.After = []string{}
		for _, step := range after {
			job.After = append(job.After, fmt.Sprint(step))
		}
	}
	if m.Payload_json != nil {
		job.Payload = json.RawMessage(*m.Payload_json)
	} else if m.Payload != nil {
		job.Payload = m.Payload
	}
	return job, backoff(&job, m.Backoff)
}

func backoff(job *laterd.NewJob, text json.RawMessage) error {
	var one float64
	var list []float64
	var both struct{ Base, Max, Factor *float64 }
	switch {
	case text == nil:
	case json.Unmarshal(text, &one) == nil:
		job.Backoff = one
	case json.Unmarshal(text, &list) == nil:
		job.Backoff = list
	case json.Unmarshal(text, &both) == nil && both.Factor == nil:
		job.Backoff = laterd.Backoff{Base: valueOf(both.Base), Max: valueOf(both.Max)}
	default:
		return &laterd.Refused{Text: "backoff"}
	}
	return nil
}

// valueOf returns what was said, else 0 or "".
func valueOf[Value any](said *Value) (value Value) {
	if said != nil {
		value = *said
	}
	return value
}

func duration(value *float64) time.Duration {
	return time.Duration(math.Round(valueOf(value) * 1e9))
}

func moment(value *float64) time.Time {
	if value == nil {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(*value * 1e6)))
}

func told(p laterd.Pushed) object {
	answer := object{"id": p.ID, "result": p.Result}
	if p.State != "" {
		answer["state"] = p.State
	}
	return answer
}

func toldAll(pushed []laterd.Pushed, err error) (interface{}, error) {
	results := []object{}
	for _, one := range pushed {
		results = append(results, told(one))
	}
	return object{"results": results}, err
}

// known: in Go's answers 0 and "" stand for what the others have as null.
func known(age time.Duration) interface{} {
	if age == 0 {
		return nil
	}
	return age.Seconds()
}

func state_of(state string) interface{} {
	if state == "" {
		return nil
	}
	return state
}

func jobsOf(texts []json.RawMessage) ([]laterd.NewJob, error) {
	var jobs []laterd.NewJob
	for _, text := range texts {
		job, err := job(text)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

func endsOf(c call) (ends laterd.Ends, err error) {
	for _, end := range []struct {
		text json.RawMessage
		job  **laterd.NewJob
	}{{c.Then, &ends.Then}, {c.Finally, &ends.Finally}, {c.Failed, &ends.Failed}} {
		if end.text != nil {
			job, err := job(end.text)
			if err != nil {
				return ends, err
			}
			*end.job = &job
		}
	}
	return ends, nil
}

func events(ctx context.Context, client queues, c call) (interface{}, error) {
	said, err := client.Events(ctx, c.Queue, *c.Events, c.Limit)
	if err != nil {
		return nil, err
	}
	ends := []object{}
	for _, end := range said.Ends {
		ends = append(ends, object{"queue": end.Queue, "id": end.ID, "type": state_of(end.Type), "ending": end.Ending,
			"state": end.State, "at": float64(end.At.UnixMicro()) / 1e6, "host": end.Host, "kind": state_of(end.Kind),
			"attempt": end.Attempt, "ms": end.Ms, "waited": end.Waited})
	}
	answer := object{"ends": ends, "missed": said.Missed, "bookmark": said.Bookmark}
	if said.Missed < 0 {
		answer["missed"] = nil
	}
	return answer, nil
}

func mapItems(client queues, c call) (interface{}, error) {
	how := laterd.Mapping{Chunk: c.Chunk, Flow: valueOf(c.Flow)}
	made, err := job(c.Map)
	if err == nil {
		how.Ends, err = endsOf(c)
	}
	if err != nil {
		return nil, err
	}
	told, err := client.Map(c.Queue, made, laterd.Each(c.Items), how)
	return object{"pushed": told.Pushed, "known": told.Known}, err
}

// pushFlow: the jobs as they are, a chain, or a batch.
func pushFlow(client queues, c call) (interface{}, error) {
	ends, err := endsOf(c)
	if err != nil {
		return nil, err
	}
	jobs, err := jobsOf(append(append(c.Jobs, c.Chain...), c.Batch...))
	if err != nil {
		return nil, err
	}
	if c.Chain != nil {
		jobs = laterd.Chain(jobs...)
	}
	if c.Batch != nil {
		jobs = laterd.Batch(jobs, ends)
	}
	return toldAll(client.Flow(c.Queue, *c.Flow, jobs, c.Stays_open))
}

func flowTold(flow *laterd.Flow, err error) (interface{}, error) {
	if flow == nil {
		return object{"state": nil}, err
	}
	return object{"state": flow.State, "closed": flow.Closed, "made": flow.Made.Unix(),
		"total": flow.Total, "open": flow.Open, "waiting": flow.Waiting, "dead": flow.Dead, "done": flow.Done,
		"gone": flow.Gone, "skipped": flow.Skipped}, err
}

func counted(count int, err error) (interface{}, error) {
	return object{"count": count}, err
}

func job_of(known laterd.KnownJob) object {
	answer := object{"id": known.ID, "state": known.State, "attempts": known.Attempts,
		"priority": known.Priority, "document": known.Document}
	for name, said := range map[string]json.RawMessage{"error": known.Error, "progress": known.Progress,
		"checkpoint": known.Checkpoint, "log": known.Log} {
		if said != nil {
			answer[name] = said
		}
	}
	return answer
}

func search(client queues, c call) (interface{}, error) {
	what := laterd.Conditions{State: c.Search.State, Type: c.Search.Type, Text: c.Search.Text, Limit: valueOf(c.Search.Limit)}
	if c.Search.Limit != nil && what.Limit == 0 {
		return nil, &laterd.Refused{Text: "0"}
	}
	found, err := client.Search(c.Queue, what)
	jobs := []interface{}{}
	for _, known := range found {
		jobs = append(jobs, job_of(known))
	}
	return object{"jobs": jobs}, err
}

func came(state string, err error) (interface{}, error) {
	return object{"state": state_of(state)}, err
}

func changed(changed bool, err error) (interface{}, error) {
	return object{"changed": changed}, err
}

func cronSet(client queues, c call) (interface{}, error) {
	said := c.Cron_set
	if said.Limit != nil && *said.Limit == 0 {
		return nil, &laterd.Refused{Text: "0"}
	}
	pushed, err := job(said.Job)
	if err != nil {
		return nil, err
	}
	set := laterd.NewSchedule{Name: said.Name, At: said.At, Zone: said.Zone, CatchUp: said.Catch_up, Overlap: said.Overlap,
		Spread: duration(said.Spread), From: moment(said.From), Until: moment(said.Until), Limit: valueOf(said.Limit), Job: pushed}
	if said.Late != nil {
		late := duration(said.Late)
		set.Late = &late
	}
	return changed(client.CronSet(c.Queue, set))
}

func cronList(client queues, c call) (interface{}, error) {
	found, err := client.CronList(c.Queue)
	schedules := []interface{}{}
	for _, one := range found {
		told := object{"name": one.Name, "at": one.At, "zone": one.Zone, "next": nil, "paused": one.Paused,
			"origin": one.Origin}
		if !one.Next.IsZero() {
			told["next"] = one.Next.Unix()
		}
		schedules = append(schedules, told)
	}
	return object{"schedules": schedules}, err
}

func outcomes(told []laterd.Outcome, err error) (interface{}, error) {
	results := []interface{}{}
	for _, one := range told {
		results = append(results, object{"id": one.ID, "state": one.State, "value": one.Value, "error": one.Error})
	}
	return object{"results": results}, err
}

func answer(client queues, c call) (interface{}, error) {
	ctx, cancel := context.WithTimeout(context.Background(), duration(&c.Timeout))
	defer cancel()
	switch {
	case c.Open != nil:
		return struct{}{}, nil
	case c.Heard:
		return object{"heard": heard}, nil
	case c.Push != nil:
		job, err := job(c.Push)
		if err != nil {
			return nil, err
		}
		pushed, err := client.Push(c.Queue, job)
		return told(pushed), err
	case c.Events != nil:
		return events(ctx, client, c)
	case c.Map != nil:
		return mapItems(client, c)
	case c.Flow != nil:
		return pushFlow(client, c)
	case c.Show_flow != nil:
		return flowTold(client.ShowFlow(c.Queue, *c.Show_flow))
	case c.Wait_flow != nil:
		return flowTold(client.WaitFlow(ctx, c.Queue, *c.Wait_flow))
	case c.Kick_flow != nil:
		return counted(client.KickFlow(c.Queue, *c.Kick_flow))
	case c.Cancel_flow != nil:
		return counted(client.CancelFlow(c.Queue, *c.Cancel_flow))
	case c.Close_flow != nil:
		return struct{}{}, client.CloseFlow(c.Queue, *c.Close_flow)
	case c.Call != nil:
		job, err := job(c.Call)
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		err = client.Call(ctx, c.Queue, job, &value)
		return object{"value": value}, err
	case c.Wait != nil:
		value, err := client.Wait(ctx, c.Queue, *c.Wait)
		return object{"value": value}, err
	case c.Size:
		size, err := client.Size(c.Queue)
		return object{"ready": size.Ready, "delayed": size.Delayed, "reserved": size.Reserved,
			"dead": size.Dead, "paused": size.Paused, "oldest_ready": known(size.OldestReady)}, err
	case c.WaitMany != nil:
		return outcomes(client.WaitMany(ctx, c.Queue, *c.WaitMany))
	case c.Pause != nil:
		if c.Pause.Seconds != nil && *c.Pause.Seconds == 0 {
			return nil, &laterd.Refused{Text: "0"}
		}
		return changed(client.Pause(c.Queue, duration(c.Pause.Seconds), c.Pause.By))
	case c.Resume:
		return changed(client.Resume(c.Queue))
	case c.Search != nil:
		return search(client, c)
	case c.Reschedule != nil:
		return reschedule(client, c)
	case c.Cron_set != nil:
		return cronSet(client, c)
	case c.Cron_delete != nil:
		return changed(client.CronDelete(c.Queue, *c.Cron_delete))
	case c.Cron_list:
		return cronList(client, c)
	case c.Forget != nil:
		return changed(client.Forget(c.Queue, *c.Forget))
	case c.Kick != nil:
		return came(client.Kick(c.Queue, *c.Kick))
	case c.Cancel != nil:
		return came(client.Cancel(c.Queue, *c.Cancel))
	case c.Show != nil:
		known, err := client.Show(c.Queue, *c.Show)
		if known == nil {
			return object{"state": nil}, err
		}
		return job_of(*known), err
	}
	jobs, err := jobsOf(c.PushMany)
	if err != nil {
		return nil, err
	}
	return toldAll(client.PushMany(c.Queue, jobs))
}

func reschedule(client queues, c call) (interface{}, error) {
	to := laterd.Rescheduled{At: moment(c.At), Priority: c.Priority}
	if c.In != nil {
		in := duration(c.In)
		to.In = &in
	}
	return came(client.Reschedule(c.Queue, *c.Reschedule, to))
}

func main() {
	var client queues
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var c call
		if err := json.Unmarshal(line, &c); err != nil {
			panic(err)
		}
		if c.Open != nil {
			client = open(c.Open)
		}
		said, err := answer(client, c)
		var refused *laterd.Refused
		var failed *laterd.Failed
		kind := "redis"
		switch {
		case err == nil:
			kind = ""
		case errors.As(err, &refused):
			kind = "refused"
		case errors.As(err, &failed):
			kind = "failed"
		case errors.Is(err, laterd.ErrFlowClosed):
			kind = "closed"
		case errors.Is(err, laterd.ErrUnknown), errors.Is(err, laterd.ErrFlowUnknown):
			kind = "unknown"
		case errors.Is(err, context.DeadlineExceeded):
			kind = "timeout"
		case errors.Is(err, laterd.ErrFull):
			kind = "full"
		case errors.Is(err, laterd.ErrProtocol):
			kind = "protocol"
		}
		if kind != "" {
			said = map[string]string{"error": kind, "text": err.Error()}
		}
		json.NewEncoder(os.Stdout).Encode(said)
	}
}
