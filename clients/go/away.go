// away.go: waits that outlast a Redis that is away.

package laterd

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

const (
	// @errors wait: // away{Pascal}: {help}\naway{Pascal} = time.Duration({seconds} * float64(time.Second))
	// awayAgain: until a Redis that is away is asked again
	awayAgain = time.Duration(0.5 * float64(time.Second))
	// awayPatience: without an answer after which a wait gives up
	awayPatience = time.Duration(30.0 * float64(time.Second))
	// @end
)

// errNoMaster is of Sentinels: a failover goes on.
var errNoMaster = errors.New("no master")

// passing are the first words of answers by which Redis says that it cannot serve now, or not here.
var passing = map[string]bool{
	// @errors away: // {help}\n"{UPPER}": true,
	// a script runs longer than busy-reply-threshold
	"BUSY": true,
	// no master for the slot at the moment
	"CLUSTERDOWN": true,
	// it reads its file after a start
	"LOADING": true,
	// a replica that has lost its master
	"MASTERDOWN": true,
	// it cannot write to its disk
	"MISCONF": true,
	// min-replicas-to-write is not met
	"NOREPLICAS": true,
	// maxmemory is reached
	"OOM": true,
	// it has become a replica
	"READONLY": true,
	// the slot is being moved
	"TRYAGAIN": true,
	// its role has changed under a BLPOP
	"UNBLOCKED": true,
	// @end
}

// passingCluster are redisc's words for a Cluster of which it reaches no node, or none that serves the key.
var passingCluster = []string{"redisc: failed to get a connection", "redisc: too many attempts", "redisc: all nodes failed"}

// isAway tells whether it is the error of a Redis that is away for now: it cannot be reached, does not answer, or is
// starting. That it refuses us, or the call, is none: that would be the answer again.
func isAway(err error) bool {
	var answer redis.Error
	if errors.As(err, &answer) {
		word, _, _ := strings.Cut(string(answer), " ")
		return passing[word]
	}
	for _, words := range passingCluster {
		if strings.HasPrefix(err.Error(), words) {
			return true
		}
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, errNoMaster)
}

// lost is the error of a connection with which a wait ends. A time-out of it is a context.DeadlineExceeded to package
// net, and here it is none: it does not say that the wait's time is up.
type lost struct{ error }

func (l lost) As(target interface{}) bool { return errors.As(l.error, target) }

func (l lost) Is(target error) bool {
	return target != context.DeadlineExceeded && errors.Is(l.error, target)
}

// outage is what a wait knows of a Redis that is away.
type outage struct {
	ctx   context.Context // of the wait
	since time.Time       // of the first call that failed; zero: none has, since one worked
}

// over is told that a call has worked.
func (o *outage) over() { o.since = time.Time{} }

// outlast is told the error of a call. It returns nil, after a pause, if the wait goes on; else the error with which
// it ends. After an answer there is always one look more, which tells whether the time is up or Redis is away.
func (o *outage) outlast(err error) error {
	if !isAway(err) {
		return err
	}
	now, again := time.Now(), o.ctx.Err() == nil || o.since.IsZero()
	if o.since.IsZero() {
		o.since = now
	}
	if pause := awayPause(now.Sub(o.since)); pause == 0 || !again {
		err = lost{err}
	} else {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-o.ctx.Done():
		}
		err = nil
	}
	if errors.Is(o.ctx.Err(), context.Canceled) {
		return o.ctx.Err()
	}
	return err
}

// awayPause returns how long until a Redis is asked again that has been away for this long; 0: not any more.
func awayPause(away time.Duration) time.Duration {
	switch left := awayPatience - away; {
	case left <= 0:
		return 0
	case left < awayAgain:
		return left
	}
	return awayAgain
}
