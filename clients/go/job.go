package laterd

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	bytesMax    = 1 << 20
	expiresRoom = 40  // bytes that ExpiresIn adds to a document, in Redis
	depthMax    = 127 // for a payload; the document is one level more
)

// Job is a job to push. Members that are not set have laterd's defaults for the type.
type Job struct {
	Type      string      // required; chooses the handler
	Payload   interface{} // anything that json.Marshal takes; json.RawMessage is sent unchanged
	ID        string      // the same id is the same job; if empty, a new id is made
	In        time.Duration
	At        time.Time // wait until then; not together with In
	Priority  int       // -100 to 100, higher first
	Replace   bool      // replace a waiting job of this id
	UniqueFor time.Duration
	// UniqueFor is how long the id stays taken after the job has ended.

	// The next four need an ID. Again is like Replace, but if the job runs, this one (or the last of
	// several) is pushed when it ends. Debounce is like In; each such push of the id puts the job off
	// again, but at most until MaxWait after the first one. Throttle keeps the id taken this long from
	// now, so that there is at most one job in that time.
	Again                       bool
	Debounce, MaxWait, Throttle time.Duration

	MaxAttempts int
	Timeout     time.Duration
	Backoff     interface{}   // seconds, a list of them, or Backoff
	ExpiresAt   time.Time     // if it has not begun by then, it is dropped
	ExpiresIn   time.Duration // the same, from now by Redis's clock; not together with ExpiresAt
	Trace       string        // logged with each line of the job
	Lock        string        // the job runs only while it holds this lock
	Result      time.Duration
	// Result is how long the handler's result is kept.
}

// Backoff is a growing wait: the wait before the second attempt, doubled before each further one,
// up to a maximum.
type Backoff struct {
	Base float64 `json:"base,omitempty"`
	Max  float64 `json:"max,omitempty"`
}

// Refused is a bad job or queue name. Nothing was sent.
type Refused struct{ Text string }

func (r *Refused) Error() string { return "laterd: " + r.Text }

// prepared is a job in the form that the scripts take.
type prepared struct {
	id, when, rank string
	document       []byte
	mode           string // new, replace, again
}

func (p *prepared) plain() bool { return p.mode == "new" && p.when == "" && p.rank == "0" }

var (
	typeForm = regexp.MustCompile(`\A[A-Za-z0-9_.:-]{1,128}\z`)
	idForm   = regexp.MustCompile(`\A[!-~]{1,200}\z`)
	lockForm = regexp.MustCompile(`\A[!-z|~]{0,200}\z`)
)

func (j Job) prepare() (*prepared, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	p := &prepared{id: j.ID, rank: strconv.Itoa(j.Priority), mode: j.mode()}
	if p.id == "" {
		p.id = NewID()
	}
	if j.UniqueFor > 0 {
		p.rank += "/" + decimal(j.UniqueFor.Seconds())
	}
	if j.Throttle > 0 {
		p.rank += "/+" + decimal(j.Throttle.Seconds())
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
	var err error
	p.document, err = j.document(p.id)
	return p, err
}

func (j Job) mode() string {
	switch {
	case j.Again || j.Debounce > 0:
		return "again"
	case j.Replace:
		return "replace"
	}
	return "new"
}

func (j Job) check() error {
	at := 0.0
	if !j.At.IsZero() {
		at = unix(j.At)
	}
	for _, rule := range []struct {
		so   bool
		text string
	}{
		{typeForm.MatchString(j.Type), "type: 1 to 128 letters, digits and _ . : -"},
		{j.ID == "" || idForm.MatchString(j.ID), "id: 1 to 200 printable ASCII characters without space"},
		{j.In >= 0 && j.In <= 315360000*time.Second && !(j.In > 0 && at > 0), "In: 0 to ten years, or else At"},
		{at == 0 || at >= 1e9 && at <= 1e11, "At: a time from 2001 on; a delay is In"},
		{j.Priority >= -100 && j.Priority <= 100, "Priority: -100 to 100"},
		{j.UniqueFor >= 0 && j.UniqueFor <= 1e9*time.Second, "UniqueFor: 0 to 1000000000 seconds"},
		{j.ID != "" || !(j.Again || j.Debounce > 0 || j.Throttle > 0),
			"Again, Debounce and Throttle go with an ID: the same ID is the same job"},
		{j.Debounce >= 0 && j.Debounce <= 315360000*time.Second && !(j.Debounce > 0 && (j.In > 0 || at > 0)),
			"Debounce: 0 to ten years, or else In or At"},
		{j.MaxWait >= 0 && (j.MaxWait == 0 || j.Debounce > 0), "MaxWait: goes with Debounce"},
		{j.Throttle >= 0 && j.Throttle <= 1e9*time.Second && !(j.Throttle > 0 && j.UniqueFor > 0),
			"Throttle: 0 to 1000000000 seconds, or else UniqueFor"},
		{j.MaxAttempts >= 0 && j.MaxAttempts <= 1000000, "MaxAttempts: 1 to 1000000"},
		{j.Timeout >= 0 && j.Timeout <= 604800*time.Second, "Timeout: at most a week"},
		{j.ExpiresAt.IsZero() || unix(j.ExpiresAt) >= 1e9,
			"ExpiresAt: not a plausible time, before 2001; for a duration use ExpiresIn"},
		{j.ExpiresIn >= 0 && j.ExpiresIn <= 315360000*time.Second, "ExpiresIn: at most ten years"},
		{j.ExpiresIn == 0 || j.ExpiresAt.IsZero() && at == 0,
			"ExpiresIn: not with ExpiresAt; with At, give the time by ExpiresAt"},
		{j.ExpiresIn == 0 || j.In < j.ExpiresIn && j.Debounce < j.ExpiresIn,
			"ExpiresIn: it would not be due yet, and would be lost"},
		{len(j.Trace) <= 256 && utf8.ValidString(j.Trace) && strings.IndexFunc(j.Trace, control) < 0,
			"Trace: at most 256 bytes, no control characters"},
		{lockForm.MatchString(j.Lock), "Lock: 1 to 200 printable ASCII characters without space or brace"},
		{j.Result >= 0 && j.Result <= 86400*time.Second, "Result: at most a day"},
	} {
		if !rule.so {
			return &Refused{rule.text}
		}
	}
	return checkBackoff(j.Backoff)
}

func control(r rune) bool { return r < ' ' || r == 127 }

func checkBackoff(backoff interface{}) error {
	var waits []float64
	switch b := backoff.(type) {
	case nil:
		return nil
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
		waits = []float64{b.Base, b.Max}
	default:
		return &Refused{"Backoff: a number, a list of numbers, or Backoff"}
	}
	if len(waits) < 1 || len(waits) > 32 {
		return &Refused{"Backoff: a list of 1 to 32 numbers"}
	}
	for _, wait := range waits {
		if !(wait >= 0) || math.IsInf(wait, 0) {
			return &Refused{"Backoff: seconds, from 0"}
		}
	}
	return nil
}

// document returns what laterd keeps, byte for byte.
func (j Job) document(id string) ([]byte, error) {
	members := struct {
		Type        string      `json:"type"`
		ID          string      `json:"id"`
		Trace       string      `json:"trace,omitempty"`
		Priority    int         `json:"priority,omitempty"`
		MaxAttempts int         `json:"max_attempts,omitempty"`
		Timeout     float64     `json:"timeout,omitempty"`
		ExpiresAt   float64     `json:"expires_at,omitempty"`
		Backoff     interface{} `json:"backoff,omitempty"`
		Lock        string      `json:"lock,omitempty"`
		Result      float64     `json:"result,omitempty"`
	}{Type: j.Type, ID: id, Trace: j.Trace, Priority: j.Priority, MaxAttempts: j.MaxAttempts,
		Timeout: j.Timeout.Seconds(), Backoff: j.Backoff, Lock: j.Lock, Result: j.Result.Seconds()}
	if !j.ExpiresAt.IsZero() {
		members.ExpiresAt = unix(j.ExpiresAt)
	}
	document, err := marshal(members)
	if err == nil && j.Payload != nil {
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
	if size > bytesMax {
		return nil, &Refused{fmt.Sprintf("too large: %d bytes, %d allowed", size, bytesMax)}
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
	if depth(text) > depthMax {
		return nil, fmt.Errorf("more than %d levels", depthMax)
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
