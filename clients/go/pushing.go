// pushing.go: what a Client and a Fake have in common: hooks before and after a push.

package laterd

// pushing is what a Client and a Fake have in common: what is called before and after a push.
type pushing struct {
	before []func(NewJob) NewJob
	after  []func(NewJob, Pushed)
}

// BeforePush has each job that is pushed given to the function, which returns the job to push. Call it before
// the first push.
func (p *pushing) BeforePush(change func(NewJob) NewJob) { p.before = append(p.before, change) }

// AfterPush has the function told of each job that was pushed, and what became of it. After an error it is not
// called. Call it before the first push.
func (p *pushing) AfterPush(tell func(NewJob, Pushed)) { p.after = append(p.after, tell) }

func (p *pushing) changed(jobs []NewJob) []NewJob {
	if len(p.before) == 0 {
		return jobs
	}
	all := append([]NewJob{}, jobs...)
	for i := range all {
		if named, err := all[i].named(); err == nil { // by the payload as it was given; prepare() tells errors
			all[i] = named
		}
		for _, change := range p.before {
			all[i] = change(all[i])
		}
	}
	return all
}

func (p *pushing) told(jobs []NewJob, pushed []Pushed, err error) ([]Pushed, error) {
	for i := 0; err == nil && i < len(jobs) && i < len(pushed); i++ {
		for _, tell := range p.after {
			tell(jobs[i], pushed[i])
		}
	}
	return pushed, err
}
