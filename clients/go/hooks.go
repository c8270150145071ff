// hooks.go: hooks around handlers, handlers of jobs that are given up, and tasks.

package laterd

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// hooks are what is called around each job of a program.
type hooks struct {
	before []func(context.Context, *Job) error
	after  []func(context.Context, *Job, interface{})
	failed []func(context.Context, *Job, error)
	around []func(Handler) Handler
}

// Before has the function called before each job. If it returns an error, that ends the attempt.
func (h *Handlers) Before(hook func(ctx context.Context, job *Job) error) *Handlers {
	h.hooks.before = append(h.hooks.before, hook)
	return h
}

// After has the function called after each job that is done.
func (h *Handlers) After(hook func(ctx context.Context, job *Job, value interface{})) *Handlers {
	h.hooks.after = append(h.hooks.after, hook)
	return h
}

// Failed has the function called after each attempt that has returned an error, but Return's, or has
// panicked. It does not see crashes and time-outs; GivenUp does.
func (h *Handlers) Failed(hook func(ctx context.Context, job *Job, err error)) *Handlers {
	h.hooks.failed = append(h.hooks.failed, hook)
	return h
}

// Around puts a middleware around each job and its other hooks.
//
//	app.Around(func(next laterd.Handler) laterd.Handler {
//		return func(ctx context.Context, job *laterd.Job) (interface{}, error) {
//			return next(withTenant(ctx, job.Context["tenant"]), job)
//		}
//	})
func (h *Handlers) Around(middleware func(next Handler) Handler) *Handlers {
	h.hooks.around = append(h.hooks.around, middleware)
	return h
}

// GivenUp registers a handler that gets a job when one of this type is dead, whatever the reason, also after a
// crash. Its payload has id, type, queue, attempts and error of the other. Its own type is TYPE.given_up, which
// laterd.conf must give to the program, too, where it names types.
func (h *Handlers) GivenUp(kind string, handler Handler) *Handlers {
	name := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(kind, "*"), ".")+".given_up", ".")
	h.checkOnDead(kind, h.functions[kind].policy, name)
	h.On(name, handler)
	if h.givenUp == nil {
		h.givenUp = map[string]string{}
	}
	h.givenUp[kind] = name
	return h
}

func (h *Handlers) checkOnDead(kind string, policy Policy, givenUp string) {
	if policy.OnDead != "" && givenUp != "" {
		panic("laterd: OnDead: of type " + kind + " it is GivenUp")
	}
}

// Task is a type whose jobs are pushed by its program.
type Task struct {
	app  *Handlers
	kind string
}

// Task registers the handler like On, for a type without a star. What it returns pushes jobs of the type.
func (h *Handlers) Task(kind string, handler Handler, policy ...Policy) Task {
	if strings.HasSuffix(kind, "*") {
		panic("laterd: Task: " + kind + " is no type")
	}
	h.On(kind, handler, policy...)
	return Task{h, kind}
}

// Later pushes a job of the type, by the program's Queues. The job needs no Type.
func (t Task) Later(queue string, job NewJob) (Pushed, error) {
	if t.app.Queues == nil {
		return Pushed{}, errors.New("laterd: Later: the program's Queues are not set; give it a Client")
	}
	job.Type = t.kind
	return t.app.Queues.Push(queue, job)
}

// withHooks returns the handler with all that is around it.
func (h *Handlers) withHooks(handler Handler) Handler {
	handler = orGoesOn(handler)
	if len(h.hooks.before)+len(h.hooks.after)+len(h.hooks.failed) > 0 {
		handler = h.hooks.with(handler)
	}
	for i := len(h.hooks.around) - 1; i >= 0; i-- {
		handler = h.hooks.around[i](handler)
	}
	return handler
}

func (h *hooks) with(handler Handler) Handler {
	return func(ctx context.Context, job *Job) (value interface{}, err error) {
		defer func() {
			if cause := recover(); cause != nil {
				h.tellFailed(ctx, job, fmt.Errorf("panic: %v", cause))
				panic(cause)
			}
		}()
		for _, before := range h.before {
			if err = before(ctx, job); err != nil {
				break
			}
		}
		if err == nil {
			value, err = handler(ctx, job)
		}
		if err != nil {
			h.tellFailed(ctx, job, err)
			return nil, err
		}
		for _, after := range h.after {
			after := after
			quietly("After", job, func() { after(ctx, job, value) })
		}
		return value, nil
	}
}

func (h *hooks) tellFailed(ctx context.Context, job *Job, err error) {
	var said *outcome
	if errors.As(err, &said) && said.result == "return" {
		return
	}
	for _, failed := range h.failed {
		failed := failed
		quietly("Failed", job, func() { failed(ctx, job, err) })
	}
}

// quietly: the job is over, so a hook that panics changes nothing.
func quietly(name string, job *Job, hook func()) {
	defer func() {
		if cause := recover(); cause != nil {
			job.Log("error", fmt.Sprintf("the hook %s: panic: %v", name, cause))
		}
	}()
	hook()
}

// Gone is the payload of a job for GivenUp.
type Gone struct {
	ID, Type, Queue string
	Attempts        int
	Error           struct {
		At         float64
		Kind, Text string
		Host       string
	}
}
