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

const (
	cronLate     = time.Minute
	cronSpanMax  = 365 * 24 * time.Hour // of Spread, Late and ExpiresIn
	cronLimitMax = 1000000000
	cronAtMax    = 256 // bytes
	cronRow      = 5   // elements of the answer of cron_look for each
)

// NewSchedule is a schedule to set: such a job is pushed whenever At is due. Durations are whole seconds.
type NewSchedule struct {
	Name    string
	At      string         // "0 3 * * mon-fri", "@every 90s": later(1), `later cron`
	Job     NewJob         // without an ID, a time, a flow
	Zone    string         // "Europe/Berlin"; "": UTC
	CatchUp string         // of the ticks missed while no host was up: "last", "none", "all"; "": the last
	Overlap string         // if the last job has not ended: "allow" another, "skip", "replace", "queue"; "": another
	Spread  time.Duration  // jobs are spread over so long after their ticks
	Late    *time.Duration // a tick that is later is missed; nil: a minute
	From    time.Time      // no tick before, if it is set
	Until   time.Time      // no tick after, if it is set
	Limit   int            // how many jobs in all; 0: no end
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
	if !queueForm.MatchString(name) {
		return &Refused{"name: 1 to 64 letters, digits and _ . -"}
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
	if must := s.check(); must != "" {
		return nil, &Refused{must}
	}
	var text bytes.Buffer
	for _, line := range s.lines() {
		if line.value != "" {
			fmt.Fprintf(&text, "%s=%s\n", line.tag, line.value)
		}
	}
	text.WriteByte('\n')
	text.Write(document)
	return text.Bytes(), nil
}

type cronLine struct{ tag, value string }

// lines returns them in their order, with "" where it is the default.
func (s NewSchedule) lines() []cronLine {
	late := ""
	if s.Late != nil && *s.Late != cronLate {
		late = strconv.FormatInt(int64(*s.Late/time.Second), 10)
	}
	return []cronLine{
		{"at", s.At}, {"zone", s.Zone}, {"catch_up", unless("last", s.CatchUp)}, {"overlap", unless("allow", s.Overlap)},
		{"spread", unlessZero(int64(s.Spread / time.Second))}, {"late", late},
		{"priority", unlessZero(int64(s.Job.Priority))}, {"group", s.Job.Group},
		{"expires_in", unlessZero(int64(s.Job.ExpiresIn / time.Second))},
		{"from", unlessZero(upward(s.From))}, {"until", unlessZero(downward(s.Until))}, {"limit", unlessZero(int64(s.Limit))},
	}
}

func unless(usual, value string) string {
	if value == usual {
		return ""
	}
	return value
}

func unlessZero(number int64) string { return unless("0", strconv.FormatInt(number, 10)) }

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

var (
	cronAtForm   = regexp.MustCompile(`\A((CRON_)?TZ=[!-~]+ +)?(@[!-~]+( +[!-~]+)?|[!-~]+( +[!-~]+){4,5})\z`)
	cronZoneForm = regexp.MustCompile(`\A[A-Za-z0-9_+/-]{0,64}\z`)
	cronCatchUps = []string{"last", "none", "all"}
	cronOverlaps = []string{"allow", "skip", "replace", "queue"}
)

// check returns what is wrong, "" if nothing is. Its job is checked.
func (s NewSchedule) check() string {
	late := cronLate
	if s.Late != nil {
		late = *s.Late
	}
	switch {
	case len(s.At) > cronAtMax || !cronAtForm.MatchString(s.At):
		return "At: an expression of five fields (minute hour day month weekday), six with the second first, or @hourly, @every 90s …"
	case !cronZoneForm.MatchString(s.Zone):
		return "Zone: a time zone, such as Europe/Berlin"
	case !isOneOf(cronCatchUps, s.CatchUp):
		return "CatchUp: one of " + strings.Join(cronCatchUps, ", ")
	case !isOneOf(cronOverlaps, s.Overlap):
		return "Overlap: one of " + strings.Join(cronOverlaps, ", ")
	case s.Limit < 0 || s.Limit > cronLimitMax:
		return fmt.Sprintf("Limit: from 1 to %d, or 0 for no end", cronLimitMax)
	}
	for _, must := range []string{cronSpan("Spread", s.Spread), cronSpan("Late", late), cronSpan("ExpiresIn", s.Job.ExpiresIn),
		cronInstant("From", s.From), cronInstant("Until", s.Until)} {
		if must != "" {
			return must
		}
	}
	if !s.From.IsZero() && !s.Until.IsZero() && upward(s.From) > downward(s.Until) {
		return "Until: at or after From"
	}
	return ""
}

// isOneOf: "" is the first of them.
func isOneOf(words []string, value string) bool {
	for _, word := range words {
		if value == word || value == "" {
			return true
		}
	}
	return false
}

func cronSpan(field string, value time.Duration) string {
	must := option{field, "", "seconds", value.Seconds(), 0, cronSpanMax.Seconds()}.check()
	if must == "" && value%time.Second != 0 {
		must = "whole seconds"
	}
	if must == "" {
		return ""
	}
	return field + ": " + must
}

func cronInstant(field string, value time.Time) string {
	if value.IsZero() || value.Unix() >= 1e9 && value.Unix() < 1e11 {
		return ""
	}
	return field + ": not a plausible time"
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
