package targets

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Leases are the targets that programs registered, each until its time is over. They live in memory only.
type Leases struct {
	limit        int
	usual, most  time.Duration
	now          func() time.Time
	mu           sync.Mutex
	all          map[string]lease
	changed      func()
	registration uint64
}

type lease struct {
	labels  map[string]string
	target  Target
	expires time.Time
	// number orders leases by their first registration, so that a limit on all targets leaves out the newest.
	number uint64
}

// errFull says that no further target is taken.
var errFull = errors.New("too many registered targets")

// NewLeases keeps at most limit targets, for the usual time where the program does not say, and never longer than most.
// It calls changed after each change that a program asks for.
func NewLeases(limit int, usual, most time.Duration, changed func()) *Leases {
	return &Leases{limit: limit, usual: usual, most: most, now: time.Now, all: map[string]lease{}, changed: changed}
}

// Targets returns what is registered at this moment, and when the next of them will expire; zero for never.
func (l *Leases) Targets() (found []Target, next time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.sorted() {
		found = append(found, one.target)
		if next.IsZero() || one.expires.Before(next) {
			next = one.expires
		}
	}
	return found, next
}

// sorted drops what has expired and returns the rest in the order of registration. The caller holds the lock.
func (l *Leases) sorted() []lease {
	now := l.now()
	maps.DeleteFunc(l.all, func(_ string, one lease) bool { return !one.expires.After(now) })
	return slices.SortedFunc(maps.Values(l.all), func(a, b lease) int { return cmp.Compare(a.number, b.number) })
}

// put registers a target or renews it. Errors other than errFull are about the spec.
func (l *Leases) put(spec Spec, ttl time.Duration) (lease, error) {
	if ttl == 0 {
		ttl = l.usual
	}
	if ttl < time.Second || ttl > l.most {
		return lease{}, fmt.Errorf("'ttl' must be between 1s and %s, not %s", l.most, ttl)
	}
	target, err := spec.Target("registration")
	if err != nil {
		return lease{}, err
	}
	l.mu.Lock()
	before := l.sorted()
	one, known := l.all[target.Name]
	if !known {
		if len(before) >= l.limit {
			l.mu.Unlock()
			return lease{}, fmt.Errorf("%w: %d", errFull, len(before))
		}
		l.registration++
		one.number = l.registration
	}
	one.labels, one.target, one.expires = spec.Labels, target, l.now().Add(ttl)
	l.all[target.Name] = one
	l.mu.Unlock()
	l.changed()
	return one, nil
}

// remove ends the lease of an endpoint, and reports whether there was one.
func (l *Leases) remove(spec Spec) (bool, error) {
	target, err := spec.Target("registration")
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	_, found := l.all[target.Name]
	delete(l.all, target.Name)
	l.mu.Unlock()
	if found {
		l.changed()
	}
	return found, nil
}

func (l *Leases) list() []lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sorted()
}
