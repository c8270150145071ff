// sentinel.go: connections to the master that Sentinels name.

package laterd

import (
	"fmt"
	"net"

	"github.com/gomodule/redigo/redis"
)

// Sentinel returns a Dial for redis.Pool. It connects to the master of this name that the first
// answering Sentinel gives, if that server confirms that it is the master. options are for the
// master.
func Sentinel(name string, sentinels []string, options ...redis.DialOption) func() (redis.Conn, error) {
	return SentinelWith(name, sentinels, nil, options...)
}

// SentinelWith is Sentinel with options for the Sentinels, too, such as TLS.
func SentinelWith(name string, sentinels []string, forSentinels []redis.DialOption, options ...redis.DialOption) func() (redis.Conn, error) {
	return func() (redis.Conn, error) {
		err := fmt.Errorf("laterd: no Sentinels")
		for _, address := range sentinels {
			var conn redis.Conn
			if conn, err = dialMaster(name, address, forSentinels, options); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}
}

func dialMaster(name, address string, forSentinels, options []redis.DialOption) (redis.Conn, error) {
	sentinel, err := redis.Dial("tcp", address, forSentinels...)
	if err != nil {
		return nil, err
	}
	defer sentinel.Close()
	master, err := redis.Strings(sentinel.Do("SENTINEL", "get-master-addr-by-name", name))
	if err == redis.ErrNil {
		err = fmt.Errorf("laterd: %s: %w of the name %s", address, errNoMaster, name)
	}
	if err != nil {
		return nil, err
	}
	conn, err := redis.Dial("tcp", net.JoinHostPort(master[0], master[1]), options...)
	if err != nil {
		return nil, err
	}
	role, err := redis.Values(conn.Do("ROLE"))
	if err == nil && string(role[0].([]byte)) != "master" {
		err = fmt.Errorf("laterd: %s:%s is %w", master[0], master[1], errNoMaster)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}
