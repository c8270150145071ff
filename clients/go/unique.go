// unique.go: an id that says what a job is: doc/protocol.md, "An id of type and payload".

package laterd

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

const wholeMax = 1<<53 - 1 // above it, not every whole number is one of its own in a float

// UniqueID returns the ID that Push gives a job of this type and payload that is Unique, or UniqueBy these members
// (doc/protocol.md, "An id of type and payload").
func UniqueID(kind string, payload interface{}, by ...string) (string, error) {
	text, err := payloadBytes(payload)
	if err != nil {
		return "", &Refused{"payload: " + err.Error()}
	}
	var value interface{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err = decoder.Decode(&value); err != nil {
		return "", &Refused{"payload: " + err.Error()}
	}
	if len(by) > 0 {
		members, _ := value.(map[string]interface{})
		chosen := map[string]interface{}{}
		for _, name := range by {
			part, known := members[name]
			if !known {
				return "", &Refused{fmt.Sprintf("UniqueBy: the payload has no member %.70s", name)}
			}
			chosen[name] = part
		}
		value = chosen
	}
	var out strings.Builder
	if err = canonical(&out, []interface{}{kind, value}); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(out.String()))
	return hex.EncodeToString(sum[:16]), nil
}

func (j NewJob) isUnique() bool { return j.Unique || len(j.UniqueBy) > 0 }

// named returns the job with the ID that Unique and UniqueBy mean.
func (j NewJob) named() (NewJob, error) {
	if !j.isUnique() {
		return j, nil
	}
	if j.ID != "" {
		return j, &Refused{"ID and Unique: only one of them"}
	}
	id, err := UniqueID(j.Type, j.Payload, j.UniqueBy...)
	if err != nil {
		return j, err
	}
	j.ID, j.Unique, j.UniqueBy = id, false, nil
	return j, nil
}

// canonical writes the JSON of RFC 8785, which is the same bytes in every language.
func canonical(out *strings.Builder, value interface{}) error {
	switch v := value.(type) {
	case map[string]interface{}:
		return canonicalMembers(out, v)
	case []interface{}:
		return canonicalList(out, v)
	case json.Number:
		return canonicalNumber(out, string(v))
	case string:
		canonicalText(out, v)
	case bool:
		out.WriteString(strconv.FormatBool(v))
	default:
		out.WriteString("null")
	}
	return nil
}

func canonicalList(out *strings.Builder, list []interface{}) error {
	comma := "["
	for _, one := range list {
		out.WriteString(comma)
		if err := canonical(out, one); err != nil {
			return err
		}
		comma = ","
	}
	out.WriteString(strings.TrimSuffix(comma, ",") + "]")
	return nil
}

func canonicalMembers(out *strings.Builder, members map[string]interface{}) error {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	// UTF-8 sorts as UTF-16 if what UTF-16 has as pairs comes before U+E000.
	order := strings.NewReplacer("\xee", "\xfe", "\xef", "\xff").Replace
	sort.Slice(names, func(a, b int) bool { return order(names[a]) < order(names[b]) })
	comma := "{"
	for _, name := range names {
		out.WriteString(comma)
		canonicalText(out, name)
		out.WriteByte(':')
		if err := canonical(out, members[name]); err != nil {
			return err
		}
		comma = ","
	}
	out.WriteString(strings.TrimSuffix(comma, ",") + "}")
	return nil
}

var shortEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

func canonicalText(out *strings.Builder, text string) {
	out.WriteByte('"')
	for _, r := range text {
		if short, known := shortEscapes[r]; known {
			out.WriteString(short)
		} else if r < ' ' {
			fmt.Fprintf(out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}

func canonicalNumber(out *strings.Builder, digits string) error {
	number, err := strconv.ParseFloat(digits, 64)
	isWhole := number == math.Trunc(number)
	switch {
	case isWhole && math.Abs(number) <= wholeMax:
		out.WriteString(strconv.FormatInt(int64(number), 10))
	case !strings.ContainsAny(digits, ".eE"):
		out.WriteString(digits)
	case isWhole || err != nil:
		return &Refused{"Unique: " + digits + ": above 2^53, not every language has the same number; make it text"}
	default:
		var text []byte
		text, err = json.Marshal(number) // as JavaScript writes it
		out.Write(text)
	}
	return err
}
