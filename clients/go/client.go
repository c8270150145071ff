// client.go: the Client, which pushes jobs over redigo and shows them; the package's documentation.

// Package laterd pushes jobs to the queues of laterd in Redis, and performs them.
//
//	later := laterd.New(pool.Get)
//	pushed, err := later.Push("mail", laterd.NewJob{Type: "mail.send", Payload: map[string]string{"to": "a@b.c"}})
package laterd

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

const (
	protocol   = "2"
	remembered = 60 // seconds; a call is repeated at once or not at all
	plansMax   = 20 // changes of plan in a row before it gives up
	loadsMax   = 5  // the same for loads of a script
	pause      = 50 * time.Millisecond
)

// Client pushes jobs. Many goroutines may use it at once.
type Client struct {
	// Prefix is the prefix of laterd's keys, its option redis.prefix. New sets it to "later".
	Prefix string

	get func(key string) redis.Conn
	pushing
	mutex     sync.Mutex
	plans     map[string]plan
	announced map[string]bool
	checked   bool
	calls     string // see newNumber
	callsLeft int
	callsEnd  time.Time
}

// New makes a client. get returns a connection, which is closed after each call, as Pool.Get does.
func New(get func() redis.Conn) *Client {
	return NewCluster(func(string) redis.Conn { return get() })
}

// NewCluster makes a client for a Redis Cluster. get returns a connection to the node that has the
// key. It must follow MOVED and ASK, as redisc's RetryConn does.
func NewCluster(get func(key string) redis.Conn) *Client {
	return &Client{Prefix: "later", get: get, plans: map[string]plan{}, announced: map[string]bool{}}
}

// Pushed says what became of a job.
type Pushed struct {
	ID     string
	Result string // "pushed", "replaced", "again" (one of this id runs, and this one is pushed when it ends), "exists", or "full" (only with ErrFull)
	State  string // for a job that exists: "ready", "delayed", "reserved", "dead", "ended"
}

// IsNew is true for a new job. If false, a job of this id existed, and nothing was changed.
func (p Pushed) IsNew() bool {
	return p.Result == "pushed" || p.Result == "replaced" || p.Result == "again"
}

// IsDead is true if a job of this id has failed for good. Nothing runs until it is kicked.
func (p Pushed) IsDead() bool { return p.State == "dead" }

// pushedOf returns what an answer of a script that pushes means.
func pushedOf(id, answer string) (Pushed, error) {
	word, state, _ := strings.Cut(answer, " ")
	switch word {
	case "WAITING":
		return Pushed{ID: id, Result: "pushed", State: "waiting"}, nil
	case "PUSHED", "REPLACED", "AGAIN", "EXISTS", "FULL":
		return Pushed{ID: id, Result: strings.ToLower(word), State: state}, nil
	}
	return Pushed{ID: id}, strange(answer)
}

// strange is the error for an answer that means nothing here; what became of the job is not known.
func strange(answer string) error {
	return fmt.Errorf("%w: the answer %.40q to a push is not known to this package, which is older than its scripts: "+
		"take the one that came with the laterd that serves the queue", ErrProtocol, answer)
}

// ErrFull means that the queue has as many jobs as laterd's option queues.max_jobs allows. Try
// again later.
var ErrFull = errors.New("laterd: the queue is full")

// ErrProtocol means that this Redis holds queues of another protocol than this package speaks, or that a push was
// answered by an unknown word.
var ErrProtocol = errors.New("laterd: another protocol")

// KnownJob is a job that is in Redis.
type KnownJob struct {
	ID, State          string // "ready", "delayed", "reserved", "dead", or "done" and kept
	Attempts, Priority int
	Error              json.RawMessage // why it failed last: at, attempt, kind, text, host; or nil
	Document           json.RawMessage
	Progress           json.RawMessage // how far it has come: at, done, total, text; or nil; a Fake keeps none
	Checkpoint         json.RawMessage // where its next attempt goes on; nil at its beginning
	Log                json.RawMessage // what it has logged, if its queue keeps that: dropped, lines; nil in a Fake
}

// Type is the job's type; "" if its document has none.
func (k *KnownJob) Type() string {
	var document struct{ Type string }
	json.Unmarshal(k.Document, &document)
	return document.Type
}

// Push pushes one job. Check the result: if the id is known, nothing changes. After an error of the
// connection it is safe to push again with the same id.
func (c *Client) Push(queue string, job NewJob) (Pushed, error) {
	passed := c.changed([]NewJob{job})
	jobs, err := prepareOne(queue, passed)
	if err != nil {
		return Pushed{}, err
	}
	pushed, err := c.pushOne(queue, jobs[0])
	c.told(passed, []Pushed{pushed}, err)
	return pushed, err
}

func (c *Client) pushOne(queue string, job *prepared) (Pushed, error) {
	if job.flow != "" {
		return c.addToFlow(queue, job)
	}
	if done, err := c.pushPlainly(queue, job); err != nil {
		return Pushed{}, err
	} else if done {
		return Pushed{ID: job.id, Result: "pushed"}, nil
	}
	answers, err := c.pushAll(queue, []*prepared{job})
	if len(answers) == 0 {
		return Pushed{}, err
	}
	return answers[0], err
}

// PushMany pushes many jobs, up to 500 per call, each into its own Queue if it has one, and returns results in
// their order. With ErrFull, all were tried.
func (c *Client) PushMany(queue string, jobs []NewJob) ([]Pushed, error) {
	jobs = c.changed(jobs)
	prepared, err := prepareAll(queue, jobs)
	if err != nil {
		return nil, err
	}
	for i, job := range prepared {
		if job.flow != "" {
			return nil, notHere(i)
		}
	}
	pushed, err := c.pushAll(queue, prepared)
	return c.told(jobs, pushed, err)
}

func notHere(i int) error {
	return &Refused{fmt.Sprintf("job %d: Flow: not here; Flow() pushes many jobs of a flow, Push() one", i+1)}
}

// prepareOne is for Push, which has its own word for the queue.
func prepareOne(queue string, jobs []NewJob) ([]*prepared, error) {
	if jobs[0].Queue != "" {
		return nil, &Refused{"Queue: for the jobs of PushMany() and Flow()"}
	}
	if err := checkQueue(queue); err != nil {
		return nil, err
	}
	one, err := jobs[0].prepare()
	return []*prepared{one}, err
}

// prepareAll checks all jobs before any is pushed.
func prepareAll(queue string, jobs []NewJob) ([]*prepared, error) {
	if err := checkQueue(queue); err != nil {
		return nil, err
	}
	all := make([]*prepared, len(jobs))
	for i, job := range jobs {
		var err error
		if all[i], err = job.prepare(); err != nil {
			return nil, numbered(i, err)
		}
	}
	return all, nil
}

// numbered returns the error of the job at this place.
func numbered(i int, err error) error {
	var refused *Refused
	if errors.As(err, &refused) {
		return &Refused{fmt.Sprintf("job %d: %s", i+1, refused.Text)}
	}
	return err
}

// pushPlainly pushes an ordinary job. If it returns false, push has to do it.
func (c *Client) pushPlainly(queue string, job *prepared) (bool, error) {
	plan := c.planOf(queue)
	places := plan.route(queue, job.id)
	if len(places) > 1 || !job.plain() {
		return false, nil
	}
	if err := c.announce(places[0]); err != nil {
		return false, err
	}
	calls, number := c.newNumber()
	told, err := redis.String(c.call(pushNow, places[0], calls, plan.epoch, job.id, job.document, number))
	if err == nil && told != "PUSHED" && told != "ASK" {
		err = strange(told)
	}
	return err == nil && told == "PUSHED", err
}

// pushAll pushes each into its own queue if it has one.
func (c *Client) pushAll(queue string, jobs []*prepared) ([]Pushed, error) {
	answers := make([]Pushed, len(jobs))
	var queues []string
	numbers := map[string][]int{}
	for i, job := range jobs {
		answers[i].ID = job.id
		name := job.queue
		if name == "" {
			name = queue
		}
		if numbers[name] == nil {
			queues = append(queues, name)
		}
		numbers[name] = append(numbers[name], i)
	}
	for _, name := range queues {
		run := &run{c: c, queue: name, jobs: jobs, numbers: numbers[name], answers: answers}
		if err := run.all(); err != nil {
			return nil, err
		}
	}
	for _, answer := range answers {
		if answer.Result == "full" {
			return answers, ErrFull
		}
	}
	return answers, nil
}

// Show returns what Redis knows of a job, or nil if the job has ended or never existed.
func (c *Client) Show(queue, id string) (*KnownJob, error) {
	plan, err := c.freshPlan(queue)
	if err != nil {
		return nil, err
	}
	for _, place := range plan.route(queue, id) {
		reply, err := redis.Strings(c.call(show, place, "none", id))
		if err != nil || reply[0] != "" {
			return known(id, reply), err
		}
	}
	return nil, nil
}

func known(id string, reply []string) *KnownJob {
	if reply == nil {
		return nil
	}
	job := &KnownJob{ID: id, State: reply[0], Document: json.RawMessage(reply[3])}
	for _, line := range strings.Split(reply[2], "\n") {
		switch {
		case strings.HasPrefix(line, "a="):
			job.Attempts, _ = strconv.Atoi(line[2:])
		case strings.HasPrefix(line, "g="):
			job.Progress = json.RawMessage(line[2:])
		case strings.HasPrefix(line, "m="):
			job.Checkpoint = json.RawMessage(line[2:])
		case strings.HasPrefix(line, "o="):
			job.Log = json.RawMessage(line[2:])
		case strings.HasPrefix(line, "p="):
			job.Priority, _ = strconv.Atoi(line[2:])
		case strings.HasPrefix(line, "e="):
			job.Error = json.RawMessage(line[2:])
		}
	}
	return job
}

func checkQueue(queue string) error { return checkLabel("queue", queue) }

func checkLabel(what, label string) error {
	if !labelForm.MatchString(label) {
		return &Refused{what + ": 1 to 64 letters, digits and _ . -"}
	}
	return nil
}

// run is one call of PushMany.
type run struct {
	c       *Client
	queue   string
	jobs    []*prepared
	numbers []int // of those for this queue
	answers []Pushed
}

// to is one call to Redis: a place, a mode and the jobs.
type to struct {
	place, mode string
	jobs        []int
	bytes       int
}

// all goes from place to place until every job has a result. If the plan of shards has changed, it
// starts again.
func (r *run) all() error {
	return r.c.byPlan(r.queue, func() (err error) {
		for open := r.route(); err == nil && len(open) > 0; {
			open, err = r.round(open)
		}
		return err
	})
}

// byPlan follows the plan that is known. If it is stale, Redis says so, and the new plan is followed.
func (c *Client) byPlan(queue string, once func() error) error {
	for tries := 1; ; tries++ {
		err := once()
		if err == nil || !strings.HasPrefix(err.Error(), "RESHARD ") || tries > plansMax {
			return err
		}
		if tries > 3 {
			time.Sleep(pause)
		}
		if _, err = c.freshPlan(queue); err != nil {
			return err
		}
	}
}

// route returns the places where each job without a result has to go, in order.
func (r *run) route() map[int][]string {
	open := map[int][]string{}
	plan := r.c.planOf(r.queue)
	for _, i := range r.numbers {
		if r.answers[i].Result == "" {
			open[i] = plan.route(r.queue, r.jobs[i].id)
		}
	}
	return open
}

// round makes one call at each place where jobs go next, and returns the jobs that go on from there.
func (r *run) round(open map[int][]string) (map[int][]string, error) {
	again := map[int][]string{}
	for _, call := range r.batches(open) {
		told, err := r.push(call)
		if err != nil {
			return nil, err
		}
		for i, n := range call.jobs {
			if told[i] == "ABSENT" {
				again[n] = open[n][1:]
			} else if r.answers[n], err = pushedOf(r.jobs[n].id, told[i]); err != nil {
				return nil, err
			}
		}
	}
	return again, nil
}

func (r *run) batches(open map[int][]string) []*to {
	var order []int
	for n := range open {
		order = append(order, n)
	}
	sort.Ints(order)
	var calls []*to
	last := map[string]*to{}
	for _, n := range order {
		mode, size := mode(len(open[n]) > 1, r.jobs[n].mode), len(r.jobs[n].document)
		call := last[mode+open[n][0]]
		if call == nil || len(call.jobs) >= jobsMax || call.bytes+size > bytesMax {
			call = &to{place: open[n][0], mode: mode}
			last[mode+open[n][0]] = call
			calls = append(calls, call)
		}
		call.jobs = append(call.jobs, n)
		call.bytes += size
	}
	return calls
}

func mode(seeks bool, own string) string {
	switch {
	case seeks && own == "new":
		return "seek"
	case seeks:
		return "seek-" + own
	}
	return own
}

func (r *run) push(call *to) ([]string, error) {
	epoch := r.c.planOf(r.queue).epoch
	if !strings.HasPrefix(call.mode, "seek") {
		if err := r.c.announce(call.place); err != nil {
			return nil, err
		}
	}
	args := []interface{}{remembered, call.mode + "/" + epoch}
	for _, n := range call.jobs {
		job := r.jobs[n]
		args = append(args, job.id, job.when, job.rank, job.document)
	}
	return redis.Strings(r.c.call(push, call.place, newCall(), args...))
}

func (c *Client) planOf(queue string) plan {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if p, known := c.plans[queue]; known {
		return p
	}
	return parsePlan("")
}

// freshPlan asks Redis for the plan, which planOf knows from then on.
func (c *Client) freshPlan(queue string) (plan, error) {
	if err := checkQueue(queue); err != nil {
		return plan{}, err
	}
	key := c.Prefix + ":{" + queue + "}:shards"
	text, err := redis.String(c.do(key, "GET", key))
	if err != nil && err != redis.ErrNil {
		return plan{}, err
	}
	fresh := parsePlan(text)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.plans[queue] = fresh
	return fresh, nil
}

// announce enters the queue in later:queues, so that `later size` finds it.
func (c *Client) announce(place string) error {
	c.mutex.Lock()
	known := c.announced[place]
	c.mutex.Unlock()
	if known {
		return nil
	}
	if _, err := c.do(c.Prefix+":queues", "SADD", c.Prefix+":queues", place); err != nil {
		return err
	}
	c.mutex.Lock()
	c.announced[place] = true
	c.mutex.Unlock()
	return nil
}

// newCall makes the id of a call, under which Redis remembers its answer.
func newCall() string {
	return hex.EncodeToString(chance(make([]byte, 12)))
}

// newNumber makes the number of a call of push_now, and returns the set in which Redis remembers
// it. A new set is used after 500 calls or a minute.
func (c *Client) newNumber() (calls string, number uint64) {
	number = 1e17 + binary.LittleEndian.Uint64(chance(make([]byte, 8)))%9e17
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if now := time.Now(); c.callsLeft <= 0 || now.After(c.callsEnd) {
		c.calls, c.callsLeft, c.callsEnd = newCall(), jobsMax, now.Add(remembered*time.Second)
	}
	c.callsLeft--
	return c.calls, number
}

// call runs a script. If Redis does not know the script, nothing has run; then it is loaded.
func (c *Client) call(s *script, place, id string, args ...interface{}) (interface{}, error) {
	words := make([]interface{}, 0, 2+len(s.names)+len(args))
	words = append(append(words, s.sha, len(s.names)), s.keys(c.Prefix, place, id)...)
	words = append(words, args...)
	key := words[2].(string)
	for tries := 0; ; tries++ {
		reply, err := c.do(key, "EVALSHA", words...)
		if err == nil || tries == loadsMax || !strings.HasPrefix(err.Error(), "NOSCRIPT") {
			return reply, err
		}
		time.Sleep(time.Duration(tries) * pause) // its slot may be moving to a node that does not know the script either
		if _, err = c.do(key, "SCRIPT", "LOAD", s.text); err != nil {
			return nil, err
		}
	}
}

// do sends one command, and sends it again if the connection was lost: every command here may be
// repeated. Before the first one, it compares the number of the protocol.
func (c *Client) do(key, command string, args ...interface{}) (interface{}, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.again(key, command, args...)
}

func (c *Client) again(key, command string, args ...interface{}) (interface{}, error) {
	reply, err := c.once(key, command, args...)
	var answer redis.Error
	if err != nil && !errors.As(err, &answer) {
		reply, err = c.once(key, command, args...)
	}
	return reply, err
}

func (c *Client) once(key, command string, args ...interface{}) (interface{}, error) {
	conn := c.get(key)
	defer conn.Close()
	return conn.Do(command, args...)
}

func (c *Client) check() error {
	c.mutex.Lock()
	checked := c.checked
	c.mutex.Unlock()
	if checked {
		return nil
	}
	key := c.Prefix + ":protocol"
	number, err := redis.String(c.again(key, "GET", key))
	if err != nil && err != redis.ErrNil {
		return err
	}
	if err == nil && number != protocol {
		return fmt.Errorf("%w: this Redis holds %s, and this package knows %s", ErrProtocol, number, protocol)
	}
	c.mutex.Lock()
	c.checked = true
	c.mutex.Unlock()
	return nil
}
