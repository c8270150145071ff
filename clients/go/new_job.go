// new_job.go: a job to push: its options, their checks, and the document made of it.

package laterd

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// @options wait.list: // {camel}Max: {help}\n{camel}Max = {most}
	// listMax: waits, one after the other; the last one is used again and again
	listMax = 32
	// @end
)

// NewJob is a job to push. Options that are not set have laterd's defaults for the type.
type NewJob struct {
	Type    string      // required; chooses the handler
	Payload interface{} // anything that json.Marshal takes; json.RawMessage is sent unchanged, if it is what laterd takes

	// @options option: // {Pascal}: {help} ({value})\n{Pascal} {go}
	// ID: the same id is the same job (text)
	ID string
	// Priority: -100 to 100, higher first (whole number)
	Priority int
	// In: how long until it may run (seconds)
	In time.Duration
	// At: not before this time (UNIX seconds)
	At time.Time
	// MaxAttempts: failed attempts after which it is buried (whole number)
	MaxAttempts int
	// RetryFor: how long after its first failure it is tried again; what fails later is buried (seconds, above 0)
	RetryFor time.Duration
	// Timeout: how long one attempt may run (seconds, above 0)
	Timeout time.Duration
	// Backoff: wait before each next attempt, or a list of waits (seconds, a list of them, or base and max)
	Backoff interface{}
	// ExpiresAt: if it has not begun by then, it is dropped (UNIX seconds)
	ExpiresAt time.Time
	// ExpiresIn: if it has not begun this long from now, it is dropped (seconds, above 0)
	ExpiresIn time.Duration
	// Result: how long its result is kept (seconds, above 0)
	Result time.Duration
	// Lock: it runs only while it holds this lock (text)
	Lock string
	// Group: whose job it is: groups share a queue fairly (text)
	Group string
	// Trace: logged with each line of the job (text)
	Trace string
	// Description: what it is, for people who look at it (text)
	Description string
	// OnDead: push a job of this type when it is dead (TYPE, or TYPE@QUEUE)
	OnDead string
	// OnDone: push a job of this type when it is done (TYPE, or TYPE@QUEUE)
	OnDone string
	// Flow: the flow that it belongs to (name)
	Flow string
	// Step: its name in the flow (name)
	Step string
	// After: steps of the flow that it waits for; *: all jobs without * (list of names, or *)
	After []string
	// When: how they must end: all done, all ended, or one failed (done, ended or failed)
	When string
	// Adder: the running job of the flow that adds this one to it (text)
	Adder string
	// Home: the queue that its flow lies in, if that is another one (name)
	Home string
	// Queue: among the jobs of a whole flow: the queue that it goes into (name)
	Queue string
	// UniqueFor: the id stays taken this long after the job has ended (seconds)
	UniqueFor time.Duration
	// Replace: replace a job of this id that waits (yes or no)
	Replace bool
	// Again: replace a job of this id that waits; if it runs, run this after it (yes or no)
	Again bool
	// Debounce: begin after this long without another push of the id (seconds)
	Debounce time.Duration
	// MaxWait: with debounce: but at the latest this long after the first push (seconds, above 0)
	MaxWait time.Duration
	// Throttle: the id stays taken this long from now, at least until the job ends (seconds, above 0)
	Throttle time.Duration
	// @end

	// Unique: the ID is a hash of Type and Payload, so that what is pushed twice is one job; UniqueBy: of Type and
	// these members of the payload
	Unique   bool
	UniqueBy []string

	// Context: what middleware carries along (locale, tenant …), by name; laterd hands it on
	Context map[string]interface{}
}

// Backoff is a growing wait.
type Backoff struct {
	// @options member: // {Pascal}: {help}\n{Pascal} float64 `json:"{name},omitempty"`
	// Base: wait before the second attempt, doubled before each further one
	Base float64 `json:"base,omitempty"`
	// Max: longest wait
	Max float64 `json:"max,omitempty"`
	// @end
}

// Refused is a bad job or queue name. Nothing was sent.
type Refused struct{ Text string }

func (r *Refused) Error() string { return "laterd: " + r.Text }

// prepared is a job in the form that the scripts take.
type prepared struct {
	id, when, rank string
	document       []byte
	mode           string // new, replace, again

	flow, step, fate, adder, home, queue string // "" for a job of no flow
	after                                []string
}

func (p *prepared) plain() bool {
	return p.mode == "new" && p.when == "" && p.rank == "0" && p.flow == ""
}

var (
	// @options pattern: // {name}Form is the form of a {name}.\n{name}Form = regexp.MustCompile(`\A{regex}\z`)
	// typeForm is the form of a type.
	typeForm = regexp.MustCompile(`\A[A-Za-z0-9_.:-]{1,128}\z`)
	// labelForm is the form of a label.
	labelForm = regexp.MustCompile(`\A[A-Za-z0-9_.-]{1,64}\z`)
	// wordForm is the form of a word.
	wordForm = regexp.MustCompile(`\A[!-~]+\z`)
	// nameForm is the form of a name.
	nameForm = regexp.MustCompile(`\A[!-z|~]+\z`)
	// hookForm is the form of a hook.
	hookForm = regexp.MustCompile(`\A[A-Za-z0-9_.:-]{1,128}(@[A-Za-z0-9_.-]{1,64})?\z`)
	// @end
)

func (j NewJob) prepare() (*prepared, error) {
	j, err := j.named()
	if err != nil {
		return nil, err
	}
	if err = j.check(); err != nil {
		return nil, err
	}
	if err = j.checkTie(); err != nil {
		return nil, err
	}
	p := &prepared{id: j.ID, rank: strconv.Itoa(j.Priority), mode: j.mode(),
		flow: j.Flow, step: j.Step, after: j.After, fate: j.When, adder: j.Adder, home: j.Home,
		queue: j.Queue}
	if p.fate == "" {
		p.fate = "done"
	}
	if p.id == "" && j.Flow != "" && j.Step != "" {
		p.id = j.Flow + "." + j.Step
	}
	if p.id == "" {
		p.id = NewID()
	}
	if j.UniqueFor > 0 {
		p.rank += "/" + decimal(j.UniqueFor.Seconds())
	}
	if j.Throttle > 0 {
		p.rank += "/+" + decimal(j.Throttle.Seconds())
	}
	if j.Group != "" {
		p.rank += "@" + j.Group
	}
	if j.Debounce > 0 {
		p.when = "+" + decimal(j.Debounce.Seconds())
		if j.MaxWait > 0 {
			p.when += "/" + decimal(j.MaxWait.Seconds())
		}
	} else if j.In > 0 {
		p.when = "+" + decimal(j.In.Seconds())
	} else if !j.At.IsZero() {
		p.when = decimal(unix(j.At))
	}
	if j.ExpiresIn > 0 {
		p.when += "!" + decimal(j.ExpiresIn.Seconds())
	}
	p.document, err = j.document(p.id)
	return p, err
}

func (j NewJob) mode() string {
	switch {
	case j.Again || j.Debounce > 0:
		return "again"
	case j.Replace:
		return "replace"
	}
	return "new"
}

// option is an option of a job: its value, in the form of the document, and what that must be.
type option struct {
	field, name, kind string
	value             interface{} // nil: not set
	least, most       float64
}

// members returns the options that the document has.
func (j NewJob) members() []option {
	return []option{
		// @options document: {"{Pascal}", "{name}", "{kind}", given("{kind}", j.{Pascal}), {least}, {most}},
		{"ID", "id", "word", given("word", j.ID), 1, 200},
		{"Priority", "priority", "whole", given("whole", j.Priority), -100, 100},
		{"MaxAttempts", "max_attempts", "count", given("count", j.MaxAttempts), 1, 1000000},
		{"RetryFor", "retry_for", "span", given("span", j.RetryFor), 0, 315360000},
		{"Timeout", "timeout", "span", given("span", j.Timeout), 0, 604800},
		{"Backoff", "backoff", "waits", given("waits", j.Backoff), 0, 1e300},
		{"ExpiresAt", "expires_at", "time", given("time", j.ExpiresAt), 1e9, 1e300},
		{"Result", "result", "span", given("span", j.Result), 0, 315360000},
		{"Lock", "lock", "name", given("name", j.Lock), 1, 200},
		{"Group", "group", "name", given("name", j.Group), 1, 64},
		{"Trace", "trace", "text", given("text", j.Trace), 0, 256},
		{"Description", "description", "text", given("text", j.Description), 0, 200},
		{"OnDead", "on_dead", "hook", given("hook", j.OnDead), 1, 193},
		{"OnDone", "on_done", "hook", given("hook", j.OnDone), 1, 193},
		{"Flow", "flow", "label", given("label", j.Flow), 1, 64},
		{"Step", "step", "label", given("label", j.Step), 1, 64},
		{"After", "after", "steps", given("steps", j.After), 1, 100},
		{"When", "when", "fate", given("fate", j.When), 1, 6},
		// @end
	}
}

// options returns all options.
func (j NewJob) options() []option {
	return append(j.members(), []option{
		// @options line,item,tie,part: {"{Pascal}", "{name}", "{kind}", given("{kind}", j.{Pascal}), {least}, {most}},
		{"In", "in", "seconds", given("seconds", j.In), 0, 315360000},
		{"At", "at", "time", given("time", j.At), 1e9, 1e11},
		{"ExpiresIn", "expires_in", "span", given("span", j.ExpiresIn), 0, 315360000},
		{"Adder", "adder", "word", given("word", j.Adder), 1, 200},
		{"Home", "home", "label", given("label", j.Home), 1, 64},
		{"Queue", "queue", "label", given("label", j.Queue), 1, 64},
		{"UniqueFor", "unique_for", "seconds", given("seconds", j.UniqueFor), 0, 1000000000},
		{"Replace", "replace", "flag", given("flag", j.Replace), 0, 1},
		{"Again", "again", "flag", given("flag", j.Again), 0, 1},
		{"Debounce", "debounce", "seconds", given("seconds", j.Debounce), 0, 315360000},
		{"MaxWait", "max_wait", "span", given("span", j.MaxWait), 0, 315360000},
		{"Throttle", "throttle", "span", given("span", j.Throttle), 0, 1000000000},
		// @end
	}...)
}

func (j NewJob) check() error {
	if !typeForm.MatchString(j.Type) {
		return &Refused{"type: 1 to 128 letters, digits and _ . : -"}
	}
	for _, o := range j.options() {
		if must := o.check(); must != "" {
			return &Refused{o.field + ": " + must}
		}
	}
	return j.checkTogether()
}

// checkTogether checks options that need an ID, and options that exclude each other.
func (j NewJob) checkTogether() error {
	if name := j.nameless(); name != "" {
		return &Refused{name + ": goes with ID or Unique: the same ID is the same job"}
	}
	at := !j.At.IsZero()
	for _, rule := range []struct {
		so   bool
		text string
	}{
		{!(j.In > 0 && at) && !(j.Debounce > 0 && (j.In > 0 || at)), "Debounce, In and At: only one of them"},
		{j.MaxWait == 0 || j.Debounce > 0, "MaxWait: goes with Debounce"},
		{j.Throttle == 0 || j.UniqueFor == 0, "Throttle and UniqueFor: only one of them"},
		{j.ExpiresIn == 0 || j.ExpiresAt.IsZero() && !at,
			"ExpiresIn: not with ExpiresAt; with At, give the time by ExpiresAt"},
		{j.ExpiresIn == 0 || j.In < j.ExpiresIn && j.Debounce < j.ExpiresIn,
			"ExpiresIn: it would not be due yet, and would be lost"},
	} {
		if !rule.so {
			return &Refused{rule.text}
		}
	}
	return nil
}

// nameless returns the first option that means nothing without an ID, which the job has not, or "".
func (j NewJob) nameless() string {
	for _, o := range []struct {
		field string
		value interface{}
	}{
		// @options named: {"{Pascal}", given("{kind}", j.{Pascal})},
		{"UniqueFor", given("seconds", j.UniqueFor)},
		{"Again", given("flag", j.Again)},
		{"Debounce", given("seconds", j.Debounce)},
		{"Throttle", given("span", j.Throttle)},
		// @end
	} {
		if o.value != nil && j.ID == "" {
			return o.field
		}
	}
	return ""
}

// given returns a value in the form of the document, nil if it is not set.
func given(kind string, value interface{}) interface{} {
	if kind == "waits" { // a wait of 0 is one
		return value
	}
	switch v := value.(type) {
	case time.Duration:
		value = v.Seconds()
	case time.Time:
		if v.IsZero() {
			return nil
		}
		return unix(v)
	case []string:
		if v == nil {
			return nil
		}
		return v
	}
	if value == "" || value == 0 || value == 0.0 || value == false {
		return nil
	}
	return value
}

// A shorter duration is a number of seconds that somebody has written without its unit.
const shortest = time.Millisecond

// check returns what the value must be, "" if it is that.
func (o option) check() string {
	if o.value == nil {
		return ""
	}
	switch v := o.value.(type) {
	case string:
		return o.checkText(v)
	case int:
		if o.kind == "waits" {
			return o.checkWaits()
		}
		return o.checkNumber(float64(v))
	case float64:
		if o.kind == "time" && !(v >= o.least && v < o.most) {
			return "not a plausible time; for a duration use In or ExpiresIn"
		}
		if (o.kind == "seconds" || o.kind == "span") && v > 0 && v < shortest.Seconds() {
			return fmt.Sprintf("a time.Duration, and %.0f is so many nanoseconds: write %.0f * time.Second", v*1e9, v*1e9)
		}
		return o.checkNumber(v)
	case bool:
		return ""
	case []string:
		return o.checkSteps(v)
	}
	return o.checkWaits()
}

func (o option) checkNumber(number float64) string {
	if number >= o.least && number <= o.most {
		return ""
	}
	return fmt.Sprintf("from %.0f to %.0f", o.least, o.most)
}

// hookOf splits TYPE or TYPE@QUEUE; queue: if it names none.
func hookOf(text, queue string) (string, string) {
	if at := strings.IndexByte(text, '@'); at >= 0 {
		return text[:at], text[at+1:]
	}
	return text, queue
}

func (o option) checkText(text string) string {
	good := len(text) <= int(o.most)
	switch o.kind {
	case "word":
		good = good && wordForm.MatchString(text)
	case "name":
		good = good && nameForm.MatchString(text)
	case "hook":
		good = hookForm.MatchString(text)
	case "label":
		good = labelForm.MatchString(text)
	case "fate":
		good = text == "done" || text == "ended" || text == "failed"
	case "text":
		good = good && utf8.ValidString(text) && strings.IndexFunc(text, control) < 0
	default:
		return o.checkWaits()
	}
	if good {
		return ""
	}
	return map[string]string{
		"word":  fmt.Sprintf("1 to %.0f printable ASCII characters without space", o.most),
		"name":  fmt.Sprintf("1 to %.0f printable ASCII characters without space or brace", o.most),
		"hook":  "a type, or TYPE@QUEUE",
		"label": "1 to 64 letters, digits and _ . -",
		"fate":  "done, ended or failed",
		"text":  fmt.Sprintf("at most %.0f bytes, no control characters", o.most),
	}[o.kind]
}

func (o option) checkSteps(steps []string) string {
	good := len(steps) >= int(o.least) && len(steps) <= int(o.most)
	for _, step := range steps {
		good = good && (labelForm.MatchString(step) || step == "*" && len(steps) == 1)
	}
	if good {
		return ""
	}
	return fmt.Sprintf("a list of %.0f to %.0f steps, or * for all jobs", o.least, o.most)
}

func control(r rune) bool { return r < ' ' || r == 127 }

func (o option) checkWaits() string {
	var waits []float64
	switch b := o.value.(type) {
	case int:
		waits = []float64{float64(b)}
	case float64:
		waits = []float64{b}
	case []float64:
		waits = b
	case []int:
		for _, wait := range b {
			waits = append(waits, float64(wait))
		}
	case Backoff:
		waits = []float64{
			// @options member: b.{Pascal},
			b.Base,
			b.Max,
			// @end
		}
	default:
		return "a number, a list of numbers, or Backoff"
	}
	if len(waits) < 1 || len(waits) > listMax {
		return fmt.Sprintf("a list of 1 to %d numbers", listMax)
	}
	for _, wait := range waits {
		if !(wait >= o.least && wait <= o.most) {
			return "seconds, from 0"
		}
	}
	return ""
}

// What a schedule decides, or what a job of a schedule cannot be.
var notScheduled = []string{
	"ID",
	// @options one: "{Pascal}",
	"In",
	"At",
	"ExpiresAt",
	"Flow",
	"Step",
	"After",
	"When",
	"Adder",
	"Home",
	"Queue",
	"UniqueFor",
	"Replace",
	"Again",
	"Debounce",
	"MaxWait",
	"Throttle",
	// @end
}

// scheduled checks a job of a schedule and returns its document, which has no ID and no priority.
func (j NewJob) scheduled() ([]byte, error) {
	if j.isUnique() {
		return nil, &Refused{"Unique: not for a job of a schedule"}
	}
	for _, o := range j.options() {
		if o.value != nil && isOneOf(notScheduled, o.field) {
			return nil, &Refused{o.field + ": not for a job of a schedule"}
		}
	}
	if err := j.check(); err != nil {
		return nil, err
	}
	j.Priority = 0
	return j.document("")
}

// document returns what laterd keeps, byte for byte.
func (j NewJob) document(id string) ([]byte, error) {
	named := j.Type
	if j.ID != "" {
		named += ", id " + j.ID
	}
	j.ID = id
	document := []byte(`{"type":"` + j.Type + `"`) // needs no escaping
	for _, o := range j.members() {
		if o.value == nil {
			continue
		}
		value, err := marshal(o.value)
		if err != nil {
			return nil, &Refused{o.field + ": " + err.Error()}
		}
		document = append(append(document, `,"`+o.name+`":`...), value...)
	}
	document = append(document, '}')
	var err error
	if len(j.Context) > 0 {
		var carried []byte
		if carried, err = payloadBytes(j.Context); err != nil {
			return nil, &Refused{"Context: " + err.Error()}
		}
		document = append(append(append(document[:len(document)-1], `,"context":`...), carried...), '}')
	}
	if j.Payload != nil {
		var payload []byte
		if payload, err = payloadBytes(j.Payload); err == nil {
			document = append(document[:len(document)-1], `,"payload":`...)
			document = append(append(document, payload...), '}')
		}
	}
	if err != nil {
		return nil, &Refused{"payload: " + err.Error()}
	}
	size := len(document)
	if j.ExpiresIn > 0 {
		size += expiresRoom
	}
	if size > documentMax {
		return nil, &Refused{fmt.Sprintf("too large: %s: a document of %d bytes, %d allowed", named, size, documentMax)}
	}
	return document, nil
}

func payloadBytes(payload interface{}) ([]byte, error) {
	text, raw := payload.(json.RawMessage)
	if !raw {
		var err error
		if text, err = marshal(payload); err != nil {
			return nil, err
		}
	}
	if !json.Valid(text) {
		return nil, fmt.Errorf("not JSON")
	}
	if depth(text) >= depthMax {
		return nil, fmt.Errorf("more than %d levels", depthMax-1)
	}
	if raw || bytes.Contains(text, []byte(`\u0000`)) {
		return text, checkStrict(text)
	}
	return text, nil
}

// marshal does not escape <, > and &.
func marshal(value interface{}) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// depth returns the nesting of valid JSON.
func depth(text []byte) int {
	level, most, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if level++; level > most {
				most = level
			}
		case c == ']' || c == '}':
			level--
		}
	}
	return most
}

// NewID makes an id of 14 random letters and digits, which are 83 bits. It is short because Redis
// keeps it twice.
func NewID() string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz01"
	id := chance(make([]byte, 14))
	for i, drawn := range id {
		id[i] = digits[drawn&63]
	}
	return string(id)
}

func chance(bytes []byte) []byte {
	if _, err := rand.Read(bytes); err != nil {
		panic("laterd: no random numbers: " + err.Error())
	}
	return bytes
}

func unix(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// decimal formats a number without an exponent, since scripts do not take 1e3.
func decimal(number float64) string {
	text := strconv.FormatFloat(number, 'f', 6, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
