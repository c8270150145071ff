// program.go: the main loop of a program of handlers: reads lines, performs jobs side by side.

package laterd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

const chunkMax = 1 << 18

// program is the main loop of a program of handlers. One goroutine reads lines, each job has one, and the
// loop writes their answers.
type program struct {
	handlers *Handlers
	in       io.Reader
	answers  *answers
	jobs     map[string]*Job // that were read and are not answered
	done     chan answer
	ending   bool
}

func newProgram(handlers *Handlers, in io.Reader, to io.Writer) *program {
	return &program{handlers: handlers, in: in, answers: &answers{to: to}, jobs: map[string]*Job{},
		done: make(chan answer)}
}

func (p *program) run() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	defer signal.Stop(signals)
	signal.Ignore(syscall.SIGINT) // laterd's affair
	p.introduce()
	lines := make(chan [][]byte)
	go p.read(lines)
	for !p.ending || len(p.jobs) > 0 {
		select {
		case chunk, more := <-lines:
			if !more {
				lines, p.ending = nil, true
			}
			p.take(chunk)
		case told := <-p.done:
			p.finish(told)
		case <-signals:
			lines, p.ending = nil, true
			for _, job := range p.jobs {
				job.cancel()
			}
		}
	}
}

func (p *program) introduce() {
	types := []map[string]interface{}{}
	for _, kind := range p.handlers.Types() {
		types = append(types, p.handlers.policyOf(kind).said(kind))
	}
	p.answers.put(struct {
		Hello    int                      `json:"hello"`
		Stopping bool                     `json:"stopping"`
		Types    []map[string]interface{} `json:"types"`
	}{1, true, types})
}

func (p *program) take(lines [][]byte) {
	for _, line := range lines {
		var asked struct {
			ID               string
			Cancel, Stopping bool
		}
		if err := json.Unmarshal(line, &asked); err != nil {
			fmt.Fprintln(os.Stderr, "a line that cannot be read:", err)
			continue
		}
		if job := p.jobs[asked.ID]; asked.Cancel && job != nil {
			job.cancel()
		} else if asked.Stopping && job != nil {
			job.stop()
		} else if !asked.Cancel && !asked.Stopping {
			p.begin(line)
		}
	}
}

func (p *program) begin(line []byte) {
	job, err := newJob(line, p.answers)
	if err != nil {
		fmt.Fprintln(os.Stderr, "a job that cannot be read:", err)
		return
	}
	p.jobs[job.ID] = job
	go func() {
		told := answer{ID: job.ID, Result: "retry", Error: "the handler has ended its goroutine"}
		defer func() { p.done <- told }() // also after runtime.Goexit
		told = p.handlers.perform(job)
	}()
}

func (p *program) finish(told answer) {
	p.jobs[told.ID].cancel() // frees its context
	delete(p.jobs, told.ID)
	told.Last = p.ending && len(p.jobs) == 0
	p.answers.write(linesOf(told)...)
}

// read hands over the lines of each piece that it reads. It ends with the input, or when it is enough; but a
// job that was read in part counts as begun by this program, so the rest is read too.
func (p *program) read(lines chan<- [][]byte) {
	defer close(lines)
	var rest []byte
	piece := make([]byte, chunkMax)
	for begun := 0; len(rest) > 0 || !p.isEnough(begun); {
		n, err := p.in.Read(piece)
		rest = append(rest, piece[:n]...)
		if end := bytes.LastIndexByte(rest, '\n'); end >= 0 {
			whole := bytes.Split(append([]byte(nil), rest[:end]...), []byte("\n"))
			rest = append([]byte(nil), rest[end+1:]...)
			begun += len(whole)
			lines <- whole
		}
		if err != nil {
			return
		}
	}
}

func (p *program) isEnough(begun int) bool {
	if p.handlers.MaxJobs > 0 && begun >= p.handlers.MaxJobs {
		return true
	}
	if p.handlers.MaxMemory == 0 {
		return false
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.Sys-memory.HeapReleased > p.handlers.MaxMemory
}
