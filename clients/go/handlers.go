// handlers.go: handlers by type, and what they say of their types: attempts, backoff, hooks; Run, for laterd and by hand.

package laterd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"syscall"
	"time"
)

// Handler performs one job. What it returns is the job's value, or the error that ends the attempt. ctx is
// done when the job is asked to stop: it is over its time or was cancelled.
type Handler func(ctx context.Context, job *Job) (interface{}, error)

// Handlers are the functions of a program, by type: a program of laterd's plugin exec, with `lines = true`.
// later-job(3), section exec, describes the lines that it reads and writes.
//
//	app := laterd.Handlers{}
//	app.On("mail.send", func(ctx context.Context, job *laterd.Job) (interface{}, error) { … })
//	app.Run()
type Handlers struct {
	// After so many jobs, or when it has more than so many bytes, the program ends, and laterd starts it
	// again. 0: never.
	MaxJobs   int
	MaxMemory uint64
	// A Client, or a Fake in a test: tasks push by it.
	Queues Queues

	functions map[string]registered
	givenUp   map[string]string // the type of the jobs that tell of one that was given up, by its type
	hooks     hooks
}

type registered struct {
	perform Handler
	policy  Policy
	place   string // FILE:LINE
}

// Policy counts for a type if neither the job nor laterd.conf says otherwise.
type Policy struct {
	Retries int         // how often a job is tried again; 0: not said, see NoRetries
	Backoff interface{} // after which waits, as of NewJob; or a BackoffFunc
	Bury    []error     // errors (errors.Is) after which another try cannot help: the job is buried at once
	OnDead  string      // the type of a job that is pushed when one of these is dead, also after a crash,
	OnDone  string      // or done
}

// BackoffFunc is asked after each attempt that fails: after how long the job is tried again. Below 0: laterd's own
// waits count.
type BackoffFunc = func(job *Job, err error) time.Duration

// NoRetries of Policy: a job has one attempt.
const NoRetries = -1

func (p Policy) job() NewJob {
	job := NewJob{Type: "policy", Backoff: p.Backoff, OnDead: p.OnDead, OnDone: p.OnDone}
	if _, asked := p.Backoff.(BackoffFunc); asked {
		job.Backoff = nil
	}
	if p.Retries != 0 {
		job.MaxAttempts = p.Retries + 1
	}
	if p.Retries == NoRetries {
		job.MaxAttempts = 1
	}
	return job
}

// What a program says of its types, as a document has it.
var spoken = map[string]bool{"max_attempts": true, "backoff": true, "on_dead": true, "on_done": true}

// said returns the members of a job's document that say the same.
func (p Policy) said(kind string) map[string]interface{} {
	said := map[string]interface{}{}
	made, err := p.job().prepare()
	if err != nil {
		panic(fmt.Sprintf("laterd: the policy of %s: %v", kind, err))
	}
	json.Unmarshal(made.document, &said)
	for name := range said {
		if !spoken[name] {
			delete(said, name)
		}
	}
	said["name"] = kind
	return said
}

// On registers the handler for this type. A type that ends in * is a prefix. A policy that is wrong panics,
// and so does a second handler of the type.
func (h *Handlers) On(kind string, handler Handler, policy ...Policy) *Handlers {
	if h.functions == nil {
		h.functions = map[string]registered{}
	}
	one := registered{perform: handler, place: placeOfCaller()}
	if len(policy) > 0 {
		one.policy = policy[0]
	}
	one.policy.said(kind)
	h.checkOnDead(kind, one.policy, h.givenUp[kind])
	if prefix := strings.TrimSuffix(kind, "*"); kind == "" || prefix != "" && !typeForm.MatchString(prefix) {
		panic("laterd: On: " + kind + " is neither a type nor a prefix of types that ends in *")
	}
	if other, known := h.functions[kind]; known {
		panic("laterd: type " + kind + " has two handlers, at " + other.place + " and at " + one.place + ": remove one")
	}
	h.functions[kind] = one
	return h
}

// placeOfCaller returns which FILE:LINE outside of this package has called it.
func placeOfCaller() string {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	frame, more := frames.Next()
	for own := strings.TrimSuffix(frame.Function, "placeOfCaller"); more && strings.HasPrefix(frame.Function, own); {
		frame, more = frames.Next()
	}
	return fmt.Sprintf("%s:%d", frame.File, frame.Line)
}

// Types returns the types, sorted.
func (h *Handlers) Types() []string {
	types := make([]string, 0, len(h.functions))
	for kind := range h.functions {
		types = append(types, kind)
	}
	sort.Strings(types)
	return types
}

// match finds the exact name, otherwise the longest prefix.
func (h *Handlers) match(kind string) string {
	name := kind
	for end := len(kind); h.functions[name].perform == nil && end >= 0; end-- {
		name = kind[:end] + "*"
	}
	return name
}

// policyOf returns what the program tells laterd of a type that it has registered.
func (h *Handlers) policyOf(name string) Policy {
	policy := h.functions[name].policy
	if givenUp := h.givenUp[name]; givenUp != "" {
		policy.OnDead = givenUp
	}
	return policy
}

// outcome is an error that ends an attempt in another way than by a retry after the backoff.
type outcome struct {
	error
	result string
	in     *float64
}

func (o *outcome) Unwrap() error { return o.error }

// @answers so_long: // {Pascal} returns an error that {help}.\nfunc {Pascal}(err error, in time.Duration) error { return after(err, "{name}", in) }\n
// Retry returns an error that tries the job again, after the backoff or the wait given; after the last attempt it is buried.
func Retry(err error, in time.Duration) error { return after(err, "retry", in) }

// Return returns an error that gives the job back for the wait given, as if it had not begun; it is no attempt.
func Return(err error, in time.Duration) error { return after(err, "return", in) }

// @end

// @answers at_once: // {Pascal} returns an error that {help}.\nfunc {Pascal}(err error) error { return &outcome{err, "{name}", nil} }\n
// Bury returns an error that buries the job at once, because another try cannot help.
func Bury(err error) error { return &outcome{err, "bury", nil} }

// @end

// after is an outcome that takes its time. A number of seconds without its unit, which would be nanoseconds, is no
// wait: the job's error says so, and the wait is that of the backoff.
func after(err error, result string, in time.Duration) *outcome {
	if in > 0 && in < shortest {
		return &outcome{fmt.Errorf("%w (a wait of %v is none: write %d * time.Second)", err, in, int64(in)), result, nil}
	}
	seconds := math.Max(in.Seconds(), 0)
	return &outcome{err, result, &seconds}
}

// answer is what a program writes at the end of a job.
type answer struct {
	ID     string   `json:"id"`
	Result string   `json:"result"`
	Error  string   `json:"error,omitempty"`
	In     *float64 `json:"in,omitempty"`
	Last   bool     `json:"last,omitempty"`
	Done   bool     `json:"done,omitempty"`

	value interface{}
}

// perform performs one job. A panic ends only that.
func (h *Handlers) perform(job *Job) (told answer) {
	told = answer{ID: job.ID, Result: "retry"}
	handler := h.functions[h.match(job.Type)]
	if handler.perform == nil {
		return answer{ID: job.ID, Result: "bury", Error: "the program has no handler for type " + job.Type}
	}
	defer func() {
		if cause := recover(); cause != nil {
			told.Error = fit(fmt.Sprintf("panic: %v\n%s", cause, debug.Stack()), errorMax)
		}
	}()
	value, err := h.withHooks(handler.perform)(context.WithValue(job.ctx, jobKey{}, job), job)
	if err != nil {
		return handler.policy.failed(job, err)
	}
	return answer{ID: job.ID, Result: "done", value: value}
}

func (p Policy) failed(job *Job, err error) answer {
	told := answer{ID: job.ID, Result: "retry", Error: fit(err.Error(), errorMax)}
	for _, one := range p.Bury {
		if errors.Is(err, one) {
			told.Result = "bury"
		}
	}
	var said *outcome
	if errors.As(err, &said) {
		told.Result, told.In = said.result, said.in
	}
	if waits, asked := p.Backoff.(BackoffFunc); asked && told.Result == "retry" && told.In == nil {
		if in := waits(job, err); in >= 0 {
			late := after(err, "retry", in)
			told.In, told.Error = late.in, fit(late.Error(), errorMax)
		}
	}
	if err == goesOn {
		told.Error = ""
	} else if told.Error == "" {
		told.Error = fmt.Sprintf("%T", err)
	}
	return told
}

// Run performs jobs until laterd closes standard input, and then finishes those under way. By hand,
// `program TYPE [PAYLOAD]`, it performs one job, and exits with 0 if it is done, 65 if buried, else 75.
// `program --work [Q…] [OPTIONS of later work]` is a laterd for this program alone, until ^C.
func (h *Handlers) Run() {
	fd := os.Getenv("LATER_ANSWERS")
	if fd == "" && len(os.Args) > 1 && os.Args[1] == "--work" {
		fmt.Fprintln(os.Stderr, "later:", work(os.Args[2:]), "(it comes with laterd)")
		os.Exit(69)
	}
	if fd == "" {
		os.Exit(h.try(os.Args[1:]))
	}
	var number uintptr
	if _, err := fmt.Sscan(fd, &number); err != nil {
		fmt.Fprintln(os.Stderr, "LATER_ANSWERS:", err)
		os.Exit(64)
	}
	newProgram(h, os.Stdin, os.NewFile(number, "answers")).run()
}

// work becomes `later work`, which starts a laterd that runs this program. Without -p, it gets ten jobs at
// once. It returns only if that is not possible.
func work(words []string) error {
	later, err := exec.LookPath("later")
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	line := []string{"later", "work"}
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		line = append(line, "default")
	}
	line = append(line, words...)
	if !strings.Contains(" "+strings.Join(words, " "), " -p") && !strings.Contains(strings.Join(words, " "), "--parallel") {
		line = append(line, "-p", "10")
	}
	return syscall.Exec(later, append(line, "--lines", "--", program), os.Environ())
}

// usage says how the program is called, by hand; option is what it was called with. It returns the exit status.
func usage(option string) int {
	if option != "--help" && option != "-h" {
		fmt.Fprintln(os.Stderr, option+": no such option; it is --work [Q...], or TYPE [PAYLOAD]")
		return 64
	}
	fmt.Printf(`usage: %[1]s [TYPE [PAYLOAD|-]]
       %[1]s --work [Q...] [OPTIONS of later work]

Performs one job, without laterd; without a TYPE it lists its types. --work: a laterd for
this program alone, until ^C; %[2]slater help work%[2]s has the options.
`, os.Args[0], "`")
	return 0
}

// try performs one job from the command line, and returns the exit status.
func (h *Handlers) try(words []string) int {
	if len(words) == 0 {
		fmt.Println(strings.Join(h.Types(), "\n"))
		return 0
	}
	if _, known := h.functions[words[0]]; !known && strings.HasPrefix(words[0], "-") {
		return usage(words[0])
	}
	payload := []byte("null")
	if len(words) > 1 {
		payload = []byte(words[1])
	}
	if string(payload) == "-" {
		payload, _ = io.ReadAll(os.Stdin)
	}
	if !json.Valid(payload) {
		fmt.Fprintln(os.Stderr, "PAYLOAD is no JSON")
		return 64
	}
	kind, _ := json.Marshal(words[0])
	job, _ := newJob([]byte(fmt.Sprintf(`{"id":"try","type":%s,"queue":"default","attempt":1,"max_attempts":25,`+
		`"time_left":300,"document":{"type":%s,"payload":%s}}`, kind, kind, payload)), &answers{to: os.Stderr})
	return shown(linesOf(h.perform(job)))
}

func statusOf(result string) int {
	switch result {
	// @answers answer: case "{name}":\n	return {status}
	case "done":
		return 0
	case "retry":
		return 75
	case "bury":
		return 65
	case "return":
		return 75
	// @end
	default:
		return 1
	}
}

// shown prints what was told, and returns the exit status.
func shown(lines []string) int {
	var told struct {
		Result, Error, Text string
		Value               json.RawMessage
	}
	for _, line := range lines {
		json.Unmarshal([]byte(line), &told)
	}
	if told.Text != "" {
		fmt.Fprintln(os.Stderr, told.Text)
	}
	if told.Error != "" {
		fmt.Fprintf(os.Stderr, "%s: %s\n", told.Result, told.Error)
	} else if told.Value == nil {
		fmt.Println("null")
	} else {
		fmt.Println(string(told.Value))
	}
	return statusOf(told.Result)
}
