// answers_gopkg.go: for handlers_answers.sh, with answers_app.go: a program of the Go client.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"laterd"
)

// Job and errBury are those of the template.
type Job struct {
	ID       string
	Document struct{ Payload json.RawMessage }
}

var errBury = errors.New("bury")

func main() {
	app := laterd.Handlers{}
	app.On("gopkg.*", func(ctx context.Context, job *laterd.Job) (interface{}, error) {
		var does []interface{}
		if err := job.Into(&does); err != nil {
			return nil, err
		}
		switch does[0] {
		case "log":
			job.Log("info", "far\x00too long"+strings.Repeat("\x01", 300000))
		case "progress":
			job.Progress(math.NaN(), math.Inf(1), "a\x00\xf0b")
		case "panic":
			panic(does[1])
		}
		same := Job{ID: laterd.CurrentJob(ctx).ID}
		same.Document.Payload = job.Payload
		value, err := perform(same)
		if job.Resumes != nil {
			return job.Resumes, nil
		}
		if does[0] == "checkpoint" || does[0] == "stop" {
			if err = job.Checkpoint(value); err == nil && does[0] == "checkpoint" {
				err = errors.New("again")
			}
			for value = nil; does[0] == "stop" && !job.Stopping(); {
				time.Sleep(10 * time.Millisecond)
			}
		}
		if does[0] == "log" || does[0] == "progress" {
			value = nil // what it was given, here
		}
		if errors.Is(err, errBury) {
			err = laterd.Bury(err)
		}
		return value, err
	})
	app.Run()
}
