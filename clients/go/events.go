// events.go: ends of jobs, as a queue tells of them: doc/protocol.md, "Events".

package laterd

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

const (
	entriesMax = 10  // of a place in one answer
	endsSome   = 500 // if no limit is given
)

// End is an attempt that has ended.
type End struct {
	Queue  string    `json:"queue"`
	ID     string    `json:"id"`
	Type   string    `json:"type"`   // "": not known
	Ending string    `json:"ending"` // done, retry, timeout, crash, bury, expired …: doc/protocol.md, "Attempts"
	State  string    `json:"state"`  // what the job is now: done, expired, dead, delayed, ready
	At     time.Time `json:"-"`
	Host   string    `json:"host"`
	// Of its error, or "".
	Kind    string `json:"kind"`
	Attempt int    `json:"attempt"`
	// How long it took, in milliseconds, and for how many seconds it had been ready; nil: not known.
	Ms     *float64 `json:"ms"`
	Waited *float64 `json:"waited"`
}

// Events is what Events has found: the ends in the order of their times; how many were missed, as they are no longer
// kept (-1: they are counted anew, since the queue was forgotten or Redis has lost some); what the next call goes on
// after.
type Events struct {
	Ends     []End
	Missed   int
	Bookmark string
}

var bookmarkForm = regexp.MustCompile(`\A[A-Za-z0-9_./-]+:[0-9]{1,15}( [A-Za-z0-9_./-]+:[0-9]{1,15})*\z`)

// page is one call of Events: what it goes on after, by place (the queue, or a shard), and what it has found.
type page struct {
	queue            string
	limit            int
	fromNow, follows bool // follows: what is not there is missed
	numbers          map[string]int64
	told             Events
}

func newPage(queue, after string, limit int) (*page, error) {
	if err := checkQueue(queue); err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = endsSome
	}
	p := &page{queue: queue, limit: limit, fromNow: after == "now", numbers: map[string]int64{}}
	p.follows = after != "" && !p.fromNow
	switch {
	case limit < 1 || limit > endsMax:
		return nil, &Refused{fmt.Sprintf("limit: from 1 to %d", endsMax)}
	case !p.follows:
		return p, nil
	case !bookmarkForm.MatchString(after):
		return nil, &Refused{"after: a bookmark, now or nothing"}
	}
	for _, word := range strings.Split(after, " ") {
		colon := strings.IndexByte(word, ':')
		place := word[:colon]
		if strings.Split(place, "/")[0] != queue {
			return nil, &Refused{"after: the bookmark is of another queue: " + place}
		}
		p.numbers[place], _ = strconv.ParseInt(word[colon+1:], 10, 64)
	}
	return p, nil
}

// Events returns the ends that a queue has told of after a bookmark, at most limit (1 to 1,000; 0: 500); "" is what
// is kept, "now" nothing before. If there is none, it waits until ctx is done, which is no error. The queue tells if
// its laterd has queues.events_kept.
func (c *Client) Events(ctx context.Context, queue, after string, limit int) (*Events, error) {
	p, err := newPage(queue, after, limit)
	if err != nil {
		return nil, err
	}
	if _, err = c.freshPlan(queue); err != nil {
		return nil, err
	}
	for {
		places := c.planOf(queue).places(queue)
		for _, place := range places {
			if err = p.readFrom(c, place, (p.limit+len(places)-1)/len(places)); err != nil {
				return nil, err
			}
		}
		if len(p.told.Ends) > 0 || p.fromNow || ctx.Err() != nil {
			return p.end(), nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookTime):
		}
	}
}

// readFrom: no place has more than its share, so that none has to wait for another.
func (p *page) readFrom(c *Client, place string, share int) error {
	key, taken := c.Prefix+":{"+place+"}:events", 0
	for taken < share && !p.fromNow {
		entries, err := redis.Values(c.do(key, "XRANGE", key, p.numbers[place]+1, "+", "COUNT", entriesMax))
		if err != nil {
			return err
		}
		taken += p.take(place, entries, share-taken)
		if len(entries) < entriesMax {
			break
		}
	}
	if taken > 0 || !p.fromNow && p.numbers[place] == 0 {
		p.numbers[place] += 0 // it is known
		return nil
	}
	return p.checkLast(c, key, place, share)
}

// checkLast: nothing is there after the last one; perhaps they are counted anew.
func (p *page) checkLast(c *Client, key, place string, share int) error {
	entries, err := redis.Values(c.do(key, "XREVRANGE", key, "+", "-", "COUNT", 1))
	if err != nil {
		return err
	}
	number := int64(0)
	if len(entries) > 0 {
		number, _, _ = entryOf(entries[0])
	}
	if p.fromNow {
		p.numbers[place] = number
	} else if number < p.numbers[place] {
		p.numbers[place], p.told.Missed = 0, -1
		return p.readFrom(c, place, share)
	}
	return nil
}

// entryOf reads an entry: the number of its last end, its time, its fields.
func entryOf(entry interface{}) (int64, time.Time, map[string]string) {
	parts, err := redis.Values(entry, nil)
	if err != nil || len(parts) < 2 {
		return 0, time.Time{}, nil
	}
	id, _ := redis.String(parts[0], nil)
	fields, _ := redis.StringMap(parts[1], nil)
	numbers := strings.SplitN(id+"-0", "-", 3)
	last, _ := strconv.ParseInt(numbers[0], 10, 64)
	micro, _ := strconv.ParseInt(numbers[1], 10, 64)
	return last, time.UnixMicro(micro), fields
}

// take takes what it has not told of yet, and returns how many ends.
func (p *page) take(place string, entries []interface{}, share int) (taken int) {
	for _, entry := range entries {
		last, at, fields := entryOf(entry)
		lines := strings.Split(fields["ends"], "\n")
		number := last - int64(len(lines))
		if missed := number - p.numbers[place]; p.follows && missed > 0 && p.told.Missed >= 0 {
			p.told.Missed += int(missed)
		}
		for _, line := range lines {
			if taken == share {
				return taken
			}
			if number++; number > p.numbers[place] {
				taken++
				p.numbers[place] = number
				p.tell(line, at, fields["host"])
			}
		}
	}
	return taken
}

func (p *page) tell(line string, at time.Time, host string) {
	end := End{Queue: p.queue, At: at, Host: host}
	if json.Unmarshal([]byte(line), &end) == nil && end.Ending != "" { // else another program wrote it
		p.told.Ends = append(p.told.Ends, end)
	}
}

func (p *page) end() *Events {
	sort.SliceStable(p.told.Ends, func(a, b int) bool { return p.told.Ends[a].At.Before(p.told.Ends[b].At) })
	var words []string
	for place := range p.numbers {
		words = append(words, place)
	}
	sort.Strings(words)
	for i, place := range words {
		words[i] = fmt.Sprintf("%s:%d", place, p.numbers[place])
	}
	p.told.Bookmark = strings.Join(words, " ")
	return &p.told
}

// Events is like Client.Events, but it does not wait. All ends are kept.
func (f *Fake) Events(ctx context.Context, queue, after string, limit int) (*Events, error) {
	p, err := newPage(queue, after, limit)
	if err != nil {
		return nil, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	number := int64(0)
	for _, end := range f.ends {
		if end.Queue != queue {
			continue
		}
		if number++; p.fromNow || number > p.numbers[queue] && len(p.told.Ends) < p.limit {
			p.numbers[queue] = number
			if !p.fromNow {
				p.told.Ends = append(p.told.Ends, end)
			}
		}
	}
	p.numbers[queue] += 0 // it is known
	return p.end(), nil
}

func (f *Fake) noteEnd(kept *Kept, ending string) {
	if ending == "return" {
		return
	}
	end := End{Queue: kept.Queue, ID: kept.ID, Type: kept.Type, Ending: ending, State: kept.State, At: time.Now(),
		Host: "test", Attempt: kept.Attempts}
	if ending != "done" {
		var why struct{ Kind string }
		json.Unmarshal(kept.Why, &why)
		end.Kind = why.Kind
	}
	f.ends = append(f.ends, end)
}
