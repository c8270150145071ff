// search.go: looks through the sets of a queue, the newest first, a page at a time.

package laterd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gomodule/redigo/redis"
)

const (
	foundSome = 100 // if no limit is given
	pageMax   = 500
)

// states are looked through if none is asked for; what is done and kept is found only if it is.
var states = []string{"reserved", "ready", "delayed", "dead", "waiting"}

// Conditions are what Search looks for; what is not set may be anything.
type Conditions struct {
	State string // ready, delayed, reserved, dead or waiting; jobs that are done and kept are found only by their state
	Type  string // one that ends in * is a prefix
	Text  string // somewhere in the document
	Limit int    // 1 to 500; 0: 100
}

func (w *Conditions) check() error {
	if w.Limit == 0 {
		w.Limit = foundSome
	}
	good := w.State == "" || w.State == "done"
	for _, state := range states {
		good = good || w.State == state
	}
	switch {
	case !good:
		return &Refused{"State: done or one of " + strings.Join(states, ", ")}
	case w.Limit < 1 || w.Limit > foundMax:
		return &Refused{fmt.Sprintf("Limit: from 1 to %d", foundMax)}
	}
	return nil
}

func (w *Conditions) states() []string {
	if w.State != "" {
		return []string{w.State}
	}
	return states
}

// fit tells whether the job meets the conditions. Its text is looked for as it is written and without escapes.
func (w *Conditions) fit(document []byte) bool {
	var job struct{ Type interface{} }
	json.Unmarshal(document, &job) // a plain ZADD may be anything
	kind, _ := job.Type.(string)
	begin := strings.TrimSuffix(w.Type, "*")
	if w.Type != "" && kind != w.Type && (begin == w.Type || kind == "" || !strings.HasPrefix(kind, begin)) {
		return false
	}
	if w.Text == "" || bytes.Contains(document, []byte(w.Text)) {
		return true
	}
	var whole interface{}
	if json.Unmarshal(document, &whole) != nil {
		return false
	}
	plain, err := marshal(whole)
	return err == nil && bytes.Contains(plain, []byte(w.Text))
}

// Search returns the jobs that meet all conditions, the newest of each state first. It looks at 100,000 jobs at
// most; `later search` looks at all. What moves meanwhile may be missed, but nothing is found twice.
func (c *Client) Search(queue string, what Conditions) ([]KnownJob, error) {
	if err := what.check(); err != nil {
		return nil, err
	}
	plan, err := c.freshPlan(queue)
	if err != nil {
		return nil, err
	}
	s := &searching{c: c, what: &what, seen: map[string]bool{}, left: lookedMax}
	for _, place := range plan.places(queue) {
		for _, state := range what.states() {
			if err := s.lookThrough(place, state); err != nil {
				return nil, err
			}
		}
	}
	return s.found, nil
}

// searching is one call of Search.
type searching struct {
	c     *Client
	what  *Conditions
	found []KnownJob
	seen  map[string]bool
	left  int
}

func (s *searching) isOver() bool { return s.left == 0 || len(s.found) == s.what.Limit }

// lookThrough: reserved jobs are under tokens, each of which has a set.
func (s *searching) lookThrough(place, state string) error {
	key := s.c.Prefix + ":{" + place + "}:" + state
	if state != "reserved" {
		return s.set(place, state, key, "")
	}
	tokens, err := redis.Strings(s.c.do(key, "ZRANGE", key, 0, -1))
	for i := 0; err == nil && i < len(tokens); i++ {
		err = s.set(place, state, key+":"+tokens[i], tokens[i])
	}
	return err
}

// set looks through one set, from its end.
func (s *searching) set(place, state, key, token string) error {
	if s.isOver() {
		return nil
	}
	end, err := redis.Int(s.c.do(key, "ZCARD", key))
	for err == nil && end > 0 && !s.isOver() {
		begin := end - pageMax
		if begin < 0 {
			begin = 0
		}
		var members [][]string
		members, err = s.page(place, state, token, begin, end)
		for i := len(members) - 1; i >= 0; i-- {
			s.look(state, members[i])
		}
		end = begin
	}
	return err
}

// page: a reply may have fewer than asked, since it is bounded in bytes, too.
func (s *searching) page(place, state, token string, begin, end int) ([][]string, error) {
	var members [][]string
	for begin+len(members) < end {
		from := begin + len(members)
		reply, err := redis.Strings(s.c.call(peek, place, token, state, from, end-from))
		if err != nil || len(reply) == 0 {
			return members, err
		}
		for ; len(reply) >= 4; reply = reply[4:] {
			members = append(members, reply[:4])
		}
	}
	return members, nil
}

func (s *searching) look(state string, member []string) {
	if s.isOver() {
		return
	}
	s.left--
	id, record, document := member[0], member[2], member[3]
	key := id
	if id == "" {
		key = "{" + document
	}
	if !s.seen[key] && s.what.fit([]byte(document)) {
		s.seen[key] = true
		s.found = append(s.found, *known(id, []string{state, "", record, document}))
	}
}
