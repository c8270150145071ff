// strict.go: what encoding/json takes, and laterd buries: doc/protocol.md, "The document".

package laterd

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// checkStrict refuses a member that is there twice, a name with a NUL, half a surrogate pair, and a number that is
// infinite. text is valid JSON, and not nested too deeply.
func checkStrict(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("not UTF-8")
	}
	if hasHalfPair(text) {
		return errors.New("half a surrogate pair")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return checkValue(decoder)
}

func checkValue(decoder *json.Decoder) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	switch value := token.(type) {
	case json.Number:
		if _, err = strconv.ParseFloat(string(value), 64); err != nil {
			return errors.New("a number is too large")
		}
	case json.Delim:
		names := map[string]bool{}
		for decoder.More() {
			if value == '{' {
				if err = checkName(decoder, names); err != nil {
					return err
				}
			}
			if err = checkValue(decoder); err != nil {
				return err
			}
		}
		_, err = decoder.Token() // its end
		return err
	}
	return nil
}

func checkName(decoder *json.Decoder, names map[string]bool) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	name, _ := token.(string)
	switch {
	case names[name]:
		return errors.New("a member is there twice")
	case strings.Contains(name, "\x00"):
		return errors.New("a name with a NUL")
	}
	names[name] = true
	return nil
}

// hasHalfPair tells whether an escape names half a character, which encoding/json makes U+FFFD of.
func hasHalfPair(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++ // what is escaped
		if first := escaped(text[i-1:]); utf16.IsSurrogate(first) {
			if i+5 > len(text) || utf16.DecodeRune(first, escaped(text[i+5:])) == utf8.RuneError {
				return true
			}
			i += 6
		}
	}
	return false
}

// escaped returns the unit that the text begins with as \uXXXX, else 0.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	unit, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit)
}
