// noop.go: a program of handlers that do nothing.
package main

import (
	"context"

	"laterd"
)

func main() {
	app := laterd.Handlers{}
	app.On("null", func(ctx context.Context, job *laterd.Job) (interface{}, error) { return nil, nil })
	app.Run()
}
