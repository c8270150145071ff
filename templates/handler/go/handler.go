// Performs jobs of the type @NAME@. It reads a JSON line for each job, and answers with a JSON line on
// descriptor 3. What it prints is logged. later-job(3), section exec, lists all members of both lines.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"sync"
)

type Job struct {
	ID       string
	Attempt  int
	Cancel   bool // not a job: the one of this id was cancelled
	Document struct{ Payload json.RawMessage }
}

type Answer struct {
	ID     string `json:"id"`
	Result string `json:"result"`
	Error  string `json:"error,omitempty"`
	Value  any    `json:"value,omitempty"`
}

var errBury = errors.New("bury") // dead at once; any other error is a retry

func perform(job Job) (any, error) {
	var payload struct{ Name string }
	if json.Unmarshal(job.Document.Payload, &payload) != nil || payload.Name == "" {
		return nil, fmt.Errorf("payload.name is missing: %w", errBury)
	}
	log.Print("attempt ", job.Attempt)
	return map[string]string{"greeting": "hello, " + payload.Name}, nil // the job's result
}

func answer(job Job) (done Answer) {
	defer func() { // a panic ends its own job only
		if cause := recover(); cause != nil {
			done = Answer{job.ID, "retry", fmt.Sprintf("panic: %v\n%s", cause, debug.Stack()), nil}
		}
	}()
	value, err := perform(job)
	switch {
	case err == nil:
		return Answer{job.ID, "done", "", value}
	case errors.Is(err, errBury):
		return Answer{job.ID, "bury", err.Error(), nil}
	}
	return Answer{job.ID, "retry", err.Error(), nil}
}

func main() {
	answers := json.NewEncoder(os.NewFile(3, "answers"))
	lines := json.NewDecoder(bufio.NewReader(os.Stdin))
	var one sync.Mutex
	var all sync.WaitGroup
	for {
		var job Job
		if lines.Decode(&job) != nil { // laterd has closed it
			all.Wait()
			return
		}
		if job.Cancel {
			continue
		}
		all.Add(1)
		go func() {
			defer all.Done()
			done := answer(job)
			one.Lock()
			defer one.Unlock()
			if err := answers.Encode(done); err != nil { // the work is done: buried only if somebody wants the value
				answers.Encode(map[string]any{"id": job.ID, "result": "bury", "done": true,
					"error": "its value is not JSON: " + err.Error()})
			}
		}()
	}
}
