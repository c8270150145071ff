// away_test.go: which errors a wait outlasts, and for how long.

package laterd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

func TestIsAway(t *testing.T) {
	_, refused := net.Dial("unix", t.TempDir()+"/nobody")
	passes := []error{refused, io.EOF, fmt.Errorf("a dial: %w", io.ErrUnexpectedEOF), errNoMaster,
		redis.Error("LOADING Redis is loading the dataset in memory"), redis.Error("READONLY You can't write"),
		redis.Error("CLUSTERDOWN The cluster is down"), errors.New("redisc: failed to get a connection")}
	for _, err := range passes {
		if !isAway(err) {
			t.Errorf("%v: ends a wait", err)
		}
	}
	lasts := []error{redis.Error("WRONGPASS invalid username-password pair or user is disabled."),
		redis.Error("NOAUTH Authentication required."), redis.Error("NOPERM this user has no permissions"),
		redis.Error("WRONGTYPE Operation against a key"), redis.Error("ERR wrong number of arguments"), ErrUnknown,
		&Failed{ID: "a"}, &Refused{Text: "queue"}, ErrProtocol, ErrFlowUnknown, redis.ErrPoolExhausted}
	for _, err := range lasts {
		if isAway(err) {
			t.Errorf("%v: is outlasted", err)
		}
	}
}

func TestAwayPause(t *testing.T) {
	for away, pause := range map[time.Duration]time.Duration{0: awayAgain, 29 * time.Second: awayAgain,
		29800 * time.Millisecond: 200 * time.Millisecond, 30 * time.Second: 0, time.Hour: 0} {
		if awayPause(away) != pause {
			t.Errorf("away for %s: a pause of %s", away, awayPause(away))
		}
	}
}

func TestOutlast(t *testing.T) {
	lost := outage{ctx: context.Background()}
	if err := lost.outlast(io.EOF); err != nil || lost.since.IsZero() {
		t.Errorf("at first: %v", err)
	}
	lost.since = lost.since.Add(-awayPatience)
	if err := lost.outlast(io.EOF); !errors.Is(err, io.EOF) {
		t.Errorf("after half a minute: %v", err)
	}
	lost.over()
	if err := lost.outlast(io.EOF); err != nil {
		t.Errorf("after an answer: %v", err)
	}
	if err := lost.outlast(ErrUnknown); err != ErrUnknown {
		t.Errorf("no outage: %v", err)
	}
}

// A time-out of the connection says nothing of the wait's.
func TestLost(t *testing.T) {
	_, late := (&net.Dialer{Deadline: time.Unix(1, 0)}).Dial("tcp", "127.0.0.1:1")
	up, cancel := context.WithDeadline(context.Background(), time.Now())
	defer cancel()
	err := (&outage{ctx: up, since: time.Now()}).outlast(late)
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &network) || !network.Timeout() {
		t.Errorf("%v: is the wait's time", err)
	}
}

func TestOutlastEnds(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := (&outage{ctx: canceled}).outlast(io.EOF); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	up, cancel := context.WithDeadline(context.Background(), time.Now())
	defer cancel()
	late := outage{ctx: up}
	if err := late.outlast(io.EOF); err != nil {
		t.Errorf("the time is up, and Redis has just answered: %v", err)
	}
	if err := late.outlast(io.EOF); !errors.Is(err, io.EOF) {
		t.Errorf("the time is up: %v", err)
	}
}
