// answers.go: what a program of handlers writes to laterd, one JSON object a line: later-job(3).

package laterd

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// laterd takes no other line than these, so what a handler says is made fit for one here.
const (
	// @answers said: // {camel}Max: {help}\n{camel}Max = {most}
	// errorMax: bytes of an error that are kept
	errorMax = 1000
	// textMax: bytes of a text for the log that a client sends
	textMax = 16384
	// valueMax: bytes of a value or a checkpoint
	valueMax = 65536
	// levelsMax: levels of a value or a checkpoint
	levelsMax = 128
	// @end
)

// answers is descriptor 3. Many goroutines may write to it.
type answers struct {
	to    io.Writer
	mutex sync.Mutex
}

func (a *answers) put(line interface{}) {
	text, err := marshal(line)
	if err == nil {
		a.write(string(text))
	}
}

func (a *answers) write(lines ...string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	io.WriteString(a.to, strings.Join(lines, "\n")+"\n")
}

// linesOf returns the lines for an answer. The handler has done its work, so a value that cannot be sent has
// nothing run again: what is no JSON buries the job if somebody wants it, and what is too much for laterd is
// left out, with a line for the log.
func linesOf(told answer) []string {
	if told.value == nil {
		return []string{plainLine(told)}
	}
	value, why, err := keepable(told.value)
	if err != nil {
		told.Result, told.Done, told.Error = "bury", true, fit("its value is not JSON: "+err.Error(), errorMax)
		return []string{plainLine(told)}
	}
	if why != "" {
		note, _ := marshal(map[string]string{"log": "error", "text": "its value is not sent: " + why, "id": told.ID})
		return []string{string(note), plainLine(told)}
	}
	return []string{strings.TrimSuffix(plainLine(told), "}") + `,"value":` + string(value) + "}"}
}

// keepable returns a value as JSON; why: laterd does not keep it.
func keepable(value interface{}) (text []byte, why string, err error) {
	text, err = marshal(value)
	if len(text) > valueMax {
		why = fmt.Sprintf("it has %d bytes of JSON, and at most %d are kept", len(text), valueMax)
	} else if err == nil && depth(text) > levelsMax {
		why = fmt.Sprintf("it is deeper than %d levels", levelsMax)
	}
	return text, why, err
}

func plainLine(told answer) string {
	line, _ := marshal(told) // texts and numbers, which are fit
	return string(line)
}

// fit returns a text that laterd takes: UTF-8 without NUL, and cut to this many bytes.
func fit(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
