// plan.go: a queue that is spread over several: doc/protocol.md, "Shards".

package laterd

import (
	"strconv"
	"strings"
)

// plan says over how many shards a queue is spread: doc/protocol.md, "Shards".
type plan struct {
	epoch   string
	count   int
	formers []int // former counts, under which jobs may still lie
}

// parsePlan reads the value of the key `shards` of the plain queue. "" means that it is not spread.
func parsePlan(text string) plan {
	p := plan{epoch: "0", count: 1}
	for i, word := range strings.Fields(text) {
		count, _ := strconv.Atoi(word)
		switch i {
		case 0:
			p.epoch = word
		case 1:
			p.count = count
		default:
			p.formers = append(p.formers, count)
		}
	}
	return p
}

// route returns the places to look for an id, in order. It is pushed to the last one.
func (p plan) route(queue, id string) []string {
	last := place(queue, p.count, id)
	if len(p.formers) == 0 {
		return []string{last}
	}
	seen := map[string]bool{last: true}
	var places []string
	for _, count := range p.formers {
		if former := place(queue, count, id); !seen[former] {
			seen[former] = true
			places = append(places, former)
		}
	}
	return append(places, last)
}

// places returns all places of a queue, also those of former counts. The plain queue is always one.
func (p plan) places(queue string) []string {
	most := p.count
	for _, count := range p.formers {
		if count > most {
			most = count
		}
	}
	places := []string{queue}
	for i := 0; most > 1 && i < most; i++ {
		places = append(places, queue+"/"+strconv.Itoa(i))
	}
	return places
}

func place(queue string, count int, id string) string {
	if count <= 1 {
		return queue
	}
	return queue + "/" + strconv.Itoa(int(crc16(id))%count)
}

// crc16 is CRC16/XMODEM, which Redis Cluster uses for slots.
func crc16(text string) uint16 {
	var crc uint16
	for i := 0; i < len(text); i++ {
		crc ^= uint16(text[i]) << 8
		for bit := 0; bit < 8; bit++ {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}
