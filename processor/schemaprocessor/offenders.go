package schemaprocessor

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
)

// reportInterval is how often offenders are named in the log, at most, whatever their number.
const reportInterval = time.Minute

// maxOffenders is how many are told apart between two reports; the others are counted together.
const maxOffenders = 64

// namedOffenders is how many a report names: those with most findings.
const namedOffenders = 10

// offence is who broke what.
type offence struct {
	rule                 rule
	action               action
	name, scope, service string
}

// offenders says who breaks rules, in one log line a minute. Counts by name would be a series per name, so they are not
// in the telemetry.
type offenders struct {
	logger *zap.Logger
	now    func() time.Time

	mu       sync.Mutex
	count    map[offence]uint64
	others   uint64
	reported time.Time
}

func newOffenders(logger *zap.Logger) *offenders {
	return &offenders{logger: logger, now: time.Now, count: map[offence]uint64{}}
}

// add takes the offences of one request.
func (o *offenders) add(found map[offence]uint64) {
	if len(found) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for who, n := range found {
		if _, known := o.count[who]; known || len(o.count) < maxOffenders {
			o.count[who] += n
		} else {
			o.others += n
		}
	}
	if now := o.now(); now.Sub(o.reported) >= reportInterval {
		o.report(now)
	}
}

// flush reports what the last minute left.
func (o *offenders) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.count) > 0 {
		o.report(o.now())
	}
}

func (o *offenders) report(now time.Time) {
	all := make([]offence, 0, len(o.count))
	for who := range o.count {
		all = append(all, who)
	}
	slices.SortFunc(all, func(a, b offence) int {
		return cmp.Or(cmp.Compare(o.count[b], o.count[a]), cmp.Compare(a.name, b.name), cmp.Compare(a.rule, b.rule))
	})
	others := o.others
	lines := make([]string, 0, namedOffenders)
	for i, who := range all {
		if i >= namedOffenders {
			others += o.count[who]
			continue
		}
		lines = append(lines, fmt.Sprintf("%s, %s: %q, scope %q, service %q: %d", who.rule, who.action, who.name, who.scope, who.service, o.count[who]))
	}
	o.logger.Warn("data does not follow the schema", zap.Strings("offenders", lines), zap.Uint64("others", others))
	clear(o.count)
	o.others, o.reported = 0, now
}

// unknownNames counts different names, up to a bound.
type unknownNames struct {
	seed maphash.Seed
	most int
	mu   sync.Mutex
	seen map[uint64]struct{}
}

func newUnknownNames(most int) *unknownNames {
	return &unknownNames{seed: maphash.MakeSeed(), most: most, seen: map[uint64]struct{}{}}
}

func (u *unknownNames) see(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.seen) < u.most {
		u.seen[maphash.String(u.seed, name)] = struct{}{}
	}
}

func (u *unknownNames) number() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.seen)
}
