// script.go: the scripts that a client calls: copies of laterd's, made by clients/carry.sh.

package laterd

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"regexp"
	"strings"
)

//go:generate sh ../carry.sh go

// Copies of the scripts that laterd installs, made by `make` or `go generate`.
//
//go:embed scripts/*.lua
var scriptFiles embed.FS

var (
	keysLine = regexp.MustCompile(`(?m)^-- KEYS +(.*)$`)
	pushNow  = readScript("push_now")
	push     = readScript("push")
	show     = readScript("show")
	size     = readScript("size")
	kick     = readScript("kick")
	cancel   = readScript("cancel")
	peek     = readScript("peek")
	stop     = readScript("pause")
	resched  = readScript("reschedule")
	resume   = readScript("resume")
	cronLook = readScript("cron_look")
	cronMove = readScript("cron_move")
	cronPut  = readScript("cron_put")
	flowJoin = readScript("flow_join")
	flowPark = readScript("flow_park")
	flowPush = readScript("flow_push")
)

type script struct {
	text, sha string
	names     []string // names of its KEYS, from its head
}

func readScript(name string) *script {
	text, err := scriptFiles.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		panic(err)
	}
	sum := sha1.Sum(text)
	s := &script{text: string(text), sha: hex.EncodeToString(sum[:])}
	for _, line := range keysLine.FindAllStringSubmatch(s.text, -1) {
		s.names = append(s.names, strings.Fields(line[1])...)
	}
	return s
}

// keys returns its KEYS. own is the id of the call, the token, or the name of the flow, where the script
// has a key for one.
func (s *script) keys(prefix, place, own string) []interface{} {
	stem := prefix + ":{" + place + "}:"
	keys := make([]interface{}, len(s.names))
	for i, name := range s.names {
		switch name {
		case "call":
			name += ":" + own
		case "held":
			name = "reserved:" + own
		case "flow":
			name += ":" + own
		case "unknown":
			name = "flow:" + own + ":unknown"
		}
		keys[i] = stem + name
	}
	return keys
}
