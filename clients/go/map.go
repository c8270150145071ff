// map.go: a job for each of many payloads, pushed as they come.

package laterd

import "fmt"

const mapPart = 200 // jobs of a call

// Mapping says how Map makes jobs of items. Chunk: so many items are the payload of a job, as a list; 0: each is one.
// Flow: the jobs are a flow of this name, for whose end those of Ends wait, as of Batch.
type Mapping struct {
	Chunk int
	Flow  string
	Ends
}

// Mapped says how many jobs of a Map were new, and how many were known.
type Mapped struct{ Pushed, Known int }

// Each returns the items of a list, one after the other, for Map.
func Each[Item any](items []Item) func() (interface{}, bool) {
	i := -1
	return func() (interface{}, bool) {
		if i++; i >= len(items) {
			return nil, false
		}
		return items[i], true
	}
}

// Map pushes a job for each item, as they come from wherever they are, until next gives false: a call for 200 of
// them, and no more in memory. The job is pushed with each item as its Payload. The same call again pushes what is
// missing, if it is a flow, or Unique.
func (c *Client) Map(queue string, job NewJob, next func() (interface{}, bool), how Mapping) (Mapped, error) {
	return mapAll(c, queue, job, next, how)
}

// Map is like Client.Map.
func (f *Fake) Map(queue string, job NewJob, next func() (interface{}, bool), how Mapping) (Mapped, error) {
	return mapAll(f, queue, job, next, how)
}

func mapAll(queues Queues, queue string, job NewJob, next func() (interface{}, bool), how Mapping) (told Mapped, err error) {
	switch {
	case job.ID != "" || job.Step != "":
		return told, &Refused{"Map: each job has an ID of its own; Unique makes one"}
	case how.Chunk < 0:
		return told, &Refused{fmt.Sprintf("Chunk: a whole number from 1 (%d)", how.Chunk)}
	case how.Flow == "" && how.Ends != Ends{}:
		return told, &Refused{"Then, Finally and Failed: go with Flow"}
	}
	number, next := 0, chunked(next, how.Chunk)
	for part := partOf(job, next); len(part) > 0; part = partOf(job, next) {
		if err = told.push(queues, queue, how.Flow, part, true, &number); err != nil {
			return told, err
		}
	}
	if how.Flow != "" {
		err = told.push(queues, queue, how.Flow, Batch(nil, how.Ends), false, &number)
	}
	return told, err
}

// chunked returns the payloads of jobs, one after the other. It does not ask for more after the last item.
func chunked(next func() (interface{}, bool), size int) func() (interface{}, bool) {
	over := false
	return func() (interface{}, bool) {
		var chunk []interface{}
		for !over && (len(chunk) < size || len(chunk) == 0) {
			item, more := next()
			if over = !more; more {
				chunk = append(chunk, item)
			}
		}
		if size == 0 && len(chunk) > 0 {
			return chunk[0], true
		}
		return chunk, len(chunk) > 0
	}
}

// partOf returns the jobs of the next call.
func partOf(job NewJob, next func() (interface{}, bool)) (jobs []NewJob) {
	for len(jobs) < mapPart {
		payload, more := next()
		if !more {
			break
		}
		job.Payload = payload
		jobs = append(jobs, job)
	}
	return jobs
}

// push pushes the jobs of one call. In a flow they have the IDs that Flow would give them, so that the same again is
// the same; number is that of the last one.
func (m *Mapped) push(queues Queues, queue, flow string, jobs []NewJob, open bool, number *int) error {
	for i := range jobs {
		if *number++; flow != "" && jobs[i].ID == "" && jobs[i].Step == "" && !jobs[i].isUnique() {
			jobs[i].ID = fmt.Sprintf("%s:%d", flow, *number)
		}
	}
	var pushed []Pushed
	var err error
	if flow == "" {
		pushed, err = queues.PushMany(queue, jobs)
	} else {
		pushed, err = queues.Flow(queue, flow, jobs, open)
	}
	for _, one := range pushed {
		if one.Result == "exists" {
			m.Known++
		} else {
			m.Pushed++
		}
	}
	return err
}
