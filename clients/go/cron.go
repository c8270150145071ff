// cron.go: schedules, as Redis keeps them: doc/protocol.md, "Schedules". What an expression means is laterd's: here only
// its form is checked.

package laterd

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

const cronRow = 5 // elements of the answer of cron_look for each

// NewSchedule is a schedule to set: such a job is pushed whenever At is due. Durations are whole seconds.
type NewSchedule struct {
	Name string
	// At: "0 3 * * mon-fri", "@every 90s": later(1), `later cron`
	At string
	// Job: without an ID, a time, a flow
	Job NewJob
	// @schedule own: // {Pascal}: {help} ({value}; {unsaid})\n{Pascal} {go}
	// Zone: by whose clocks it is due, such as Europe/Berlin (a time zone; UTC)
	Zone string
	// CatchUp: ticks missed while no host was up: the last, none, or all of a day, at most 100 (last, none, all; last)
	CatchUp string
	// Overlap: if the last job has not ended: allow, skip, replace it if it waits, queue one (allow, skip, replace, queue; allow)
	Overlap string
	// Spread: jobs are spread over this time after their ticks (whole seconds; 0)
	Spread time.Duration
	// Late: a tick that is later than this is missed (whole seconds; 60)
	Late *time.Duration
	// From: no tick is before this time (UNIX seconds; no bound)
	From time.Time
	// Until: no tick is after this time (UNIX seconds; no bound)
	Until time.Time
	// Limit: how many jobs it pushes in all (whole number; no limit)
	Limit int
	// @end
}

// Schedule is a schedule that is in Redis.
type Schedule struct {
	Name, At, Zone string
	Next           time.Time // when it is due; zero: never, or it is paused; a Fake does not know
	Paused         bool
	Origin         string // "set", or "config:HOST:ID": it stands in the configuration of that laterd
}

// CronSet makes a schedule, or changes it; a paused one stays paused. It tells whether that changed anything: what is so
// already stays so, and a deploy may say its schedules each time. laterd reads At and Zone within a second; what is
// wrong with them stands in its log and in `later cron`.
func (c *Client) CronSet(queue string, schedule NewSchedule) (bool, error) {
	definition, err := schedule.definition(queue)
	if err != nil {
		return false, err
	}
	told, err := first(c.call(cronPut, queue, "none", schedule.Name, definition, "?", "set")) // ?: laterd works out when
	if err == nil {
		err = c.announce(queue)
	}
	return told == "PUT", err
}

// CronDelete takes a schedule away. It tells whether there was one. One of a configuration comes back.
func (c *Client) CronDelete(queue, name string) (bool, error) {
	if err := checkCron(queue, name); err != nil {
		return false, err
	}
	had, err := redis.Ints(c.call(cronMove, queue, "none", "drop", name, ""))
	return err == nil && had[0] == 1, err
}

// CronList returns the schedules of a queue, the one that is due next first.
func (c *Client) CronList(queue string) ([]Schedule, error) {
	if err := checkQueue(queue); err != nil {
		return nil, err
	}
	var all []Schedule
	places := map[string]int{} // one that is fired meanwhile may be found twice
	for from := 0; ; {
		reply, err := redis.Strings(c.call(cronLook, queue, "none", from, jobsMax))
		page := schedulesOf(reply)
		if err != nil || len(page) == 0 {
			return all, err
		}
		from += len(page)
		for _, one := range page {
			if at, known := places[one.Name]; known {
				all[at] = one
				continue
			}
			places[one.Name] = len(all)
			all = append(all, one)
		}
	}
}

func checkCron(queue, name string) error {
	if err := checkLabel("name", name); err != nil {
		return err
	}
	return checkQueue(queue)
}

// definition returns how Redis keeps it.
func (s NewSchedule) definition(queue string) ([]byte, error) {
	if err := checkCron(queue, s.Name); err != nil {
		return nil, err
	}
	document, err := s.Job.scheduled()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, option := range s.options() {
		if option.is == nil {
			continue
		}
		line, must := option.line()
		if must != "" {
			return nil, &Refused{option.field + ": " + must}
		}
		if line != fmt.Sprint(option.usual) {
			fmt.Fprintf(&text, "%s=%s\n", option.tag, line)
		}
	}
	if !s.From.IsZero() && !s.Until.IsZero() && upward(s.From) > downward(s.Until) {
		return nil, &Refused{"Until: at or after From"}
	}
	text.WriteByte('\n')
	text.Write(document)
	return text.Bytes(), nil
}

// cronOption is an option of a schedule: its name here and in Redis, its value (nil: nobody has said it), its range, and
// what is left out.
type cronOption struct {
	field, tag, kind string
	is               interface{}
	least, most      float64
	usual            interface{}
}

func (s NewSchedule) options() []cronOption {
	return []cronOption{
		// @schedule option: {"{Pascal}", "{name}", "{kind}", cronGiven("{kind}", {go_owner}.{Pascal}), {least}, {most}, {usual}},
		{"At", "at", "expression", cronGiven("expression", s.At), 1, 256, 0},
		{"Zone", "zone", "zone", cronGiven("zone", s.Zone), 1, 64, ""},
		{"CatchUp", "catch_up", "choice", cronGiven("choice", s.CatchUp), 0, 0, "last"},
		{"Overlap", "overlap", "choice", cronGiven("choice", s.Overlap), 0, 0, "allow"},
		{"Spread", "spread", "span", cronGiven("span", s.Spread), 0, 31536000, 0},
		{"Late", "late", "span", cronGiven("span", s.Late), 0, 31536000, 60},
		{"Priority", "priority", "rank", cronGiven("rank", s.Job.Priority), -100, 100, 0},
		{"Group", "group", "group", cronGiven("group", s.Job.Group), 1, 64, ""},
		{"ExpiresIn", "expires_in", "life", cronGiven("life", s.Job.ExpiresIn), 1, 31536000, ""},
		{"From", "from", "start", cronGiven("start", s.From), 1e9, 1e11, ""},
		{"Until", "until", "end", cronGiven("end", s.Until), 1e9, 1e11, ""},
		{"Limit", "limit", "count", cronGiven("count", s.Limit), 1, 1000000000, ""},
		// @end
	}
}

// cronGiven returns nil for what is not set. An expression must be.
func cronGiven(kind string, value interface{}) interface{} {
	switch v := value.(type) {
	case *time.Duration:
		if v == nil {
			return nil
		}
		return *v
	case time.Time:
		if v.IsZero() {
			return nil
		}
	case string:
		if v == "" && kind != "expression" {
			return nil
		}
	case time.Duration:
		if v == 0 && kind == "life" {
			return nil
		}
	case int:
		if v == 0 {
			return nil
		}
	}
	return value
}

// upward and downward: ticks are whole seconds; 0: not set.
func upward(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return downward(t)
}

func downward(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

var cronForms = map[string]*regexp.Regexp{
	// @schedule pattern: // {name}:\n"{name}": regexp.MustCompile(`\A{regex}\z`),
	// expression:
	"expression": regexp.MustCompile(`\A((CRON_)?TZ=[!-~]+ +)?(@[!-~]+( +[!-~]+)?|[!-~]+( +[!-~]+){4,5})\z`),
	// zone:
	"zone": regexp.MustCompile(`\A[A-Za-z0-9_+/-]+\z`),
	// @end
}

var cronWords = map[string][]string{
	// @schedule choice: // {name}:\n"{name}": {{quoted}},
	// catch_up:
	"catch_up": {"last", "none", "all"},
	// overlap:
	"overlap": {"allow", "skip", "replace", "queue"},
	// @end
}

// line returns how Redis keeps it, or what is wrong.
func (o cronOption) line() (line, must string) {
	switch v := o.is.(type) {
	case string:
		return v, o.checkText(v)
	case int:
		if float64(v) < o.least || float64(v) > o.most {
			must = fmt.Sprintf("from %.0f to %.0f, or 0 for no end", o.least, o.most)
		}
		return strconv.Itoa(v), must
	case time.Duration:
		must = option{o.field, "", "seconds", v.Seconds(), 0, o.most}.check()
		if must == "" && (v%time.Second != 0 || v.Seconds() < o.least) {
			must = fmt.Sprintf("whole seconds, from %.0f to %.0f", o.least, o.most)
		}
		return strconv.FormatInt(int64(v/time.Second), 10), must
	case time.Time:
		if at := float64(v.Unix()); at < o.least || at >= o.most {
			must = "not a plausible time"
		}
		if o.kind == "start" {
			return strconv.FormatInt(upward(v), 10), must
		}
		return strconv.FormatInt(downward(v), 10), must
	}
	return "", fmt.Sprintf("not a %T", o.is)
}

func (o cronOption) checkText(value string) string {
	fits := cronForms[o.kind] == nil || len(value) <= int(o.most) && cronForms[o.kind].MatchString(value)
	switch {
	case o.kind == "expression" && !fits:
		return "an expression of five fields (minute hour day month weekday), six with the second first, or @hourly, @every 90s …"
	case o.kind == "zone" && !fits:
		return "a time zone, such as Europe/Berlin"
	case o.kind == "choice" && !isOneOf(cronWords[o.tag], value):
		return "one of " + strings.Join(cronWords[o.tag], ", ")
	}
	return "" // the job's own check has seen its group
}

func isOneOf(words []string, value string) bool {
	for _, word := range words {
		if value == word {
			return true
		}
	}
	return false
}

func cronValue(lines, tag string) string {
	for _, line := range strings.Split(lines, "\n") {
		if strings.HasPrefix(line, tag+"=") {
			return line[len(tag)+1:]
		}
	}
	return ""
}

// schedulesOf reads the answer of cron_look.
func schedulesOf(reply []string) []Schedule {
	var told []Schedule
	for i := 2; i+cronRow <= len(reply); i += cronRow {
		lines, state := reply[i+3], reply[i+4]
		one := Schedule{Name: reply[i], At: cronValue(lines, "at"), Zone: cronValue(lines, "zone"),
			Paused: cronValue(state, "paused") == "1", Origin: cronValue(state, "origin")}
		if one.Zone == "" {
			one.Zone = "UTC"
		}
		if next, err := strconv.ParseFloat(reply[i+1], 64); err == nil && !math.IsInf(next, 0) {
			one.Next = time.UnixMicro(int64(math.Round(next * 1e6)))
		}
		told = append(told, one)
	}
	return told
}
