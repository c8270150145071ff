// fake_cron.go: schedules in a Fake: kept, and no more, since time does not pass.

package laterd

import "sort"

// CronSet is like Client.CronSet.
func (f *Fake) CronSet(queue string, schedule NewSchedule) (bool, error) {
	made, err := schedule.definition(queue)
	if err != nil {
		return false, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	before := f.crontabs[queue][schedule.Name]
	if f.crontabs[queue] == nil {
		f.crontabs[queue] = map[string]string{}
	}
	f.crontabs[queue][schedule.Name] = string(made)
	return before != string(made), nil
}

// CronDelete is like Client.CronDelete.
func (f *Fake) CronDelete(queue, name string) (bool, error) {
	if err := checkCron(queue, name); err != nil {
		return false, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	_, had := f.crontabs[queue][name]
	delete(f.crontabs[queue], name)
	return had, nil
}

// CronList is like Client.CronList, but by their names.
func (f *Fake) CronList(queue string) ([]Schedule, error) {
	if err := checkQueue(queue); err != nil {
		return nil, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var names []string
	for name := range f.crontabs[queue] {
		names = append(names, name)
	}
	sort.Strings(names)
	reply := []string{"", ""}
	for _, name := range names {
		reply = append(reply, name, "inf", "", f.crontabs[queue][name], "origin=set")
	}
	return schedulesOf(reply), nil
}
