// bounds.go: the bounds that laterd and its clients have.

package laterd

const (
	// @bounds bound,call: // {camel}: {help}\n{camel} = {number}
	// jobsMax: jobs in one call of any script
	jobsMax = 500
	// bytesMax: bytes of documents in one call that pushes, which one job may exceed
	bytesMax = 262144
	// partMax: jobs of a flow in one call
	partMax = 200
	// flowMax: jobs of a flow
	flowMax = 1000000
	// shardsMax: shards of a queue
	shardsMax = 32
	// depthMax: arrays and objects of a document within each other
	depthMax = 128
	// documentMax: bytes of a document, if laterd.conf does not say another limit
	documentMax = 1048576
	// expiresRoom: bytes that a document grows by `expires_in`, in Redis
	expiresRoom = 40
	// pauseMax: seconds that what somebody says for a time may last: a year
	pauseMax = 31536000
	// foundMax: jobs that one search finds
	foundMax = 500
	// lookedMax: jobs that one search looks at
	lookedMax = 100000
	// waitedMax: jobs whose ends one call waits for
	waitedMax = 1000
	// endsMax: ends that one call of events returns
	endsMax = 1000
	// @end
)
