package enginereceiver

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	troublesEvery = time.Minute
	// namedTroubles are in one line of the log, keptTroubles are told apart until it is written.
	namedTroubles = 10
	keptTroubles  = 100
)

// troubles collects what goes wrong and says it in the log, at most once a minute: a run with 64 engines that all went
// away must not fill the disk.
type troubles struct {
	logger *zap.Logger
	now    func() time.Time

	mu     sync.Mutex
	said   time.Time
	counts map[string]int
	others int
}

func newTroubles(logger *zap.Logger) *troubles {
	return &troubles{logger: logger, now: time.Now, counts: map[string]int{}}
}

func (t *troubles) add(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.counts[what]; known || len(t.counts) < keptTroubles {
		t.counts[what]++
	} else {
		t.others++
	}
	if t.now().Sub(t.said) >= troublesEvery {
		t.say()
	}
}

// flush says what the last minute left.
func (t *troubles) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.counts) > 0 {
		t.say()
	}
}

func (t *troubles) say() {
	all := slices.SortedFunc(maps.Keys(t.counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.counts[b], t.counts[a]), cmp.Compare(a, b))
	})
	named := make([]string, 0, namedTroubles)
	others := t.others
	for i, what := range all {
		if i < namedTroubles {
			named = append(named, what+": "+strconv.Itoa(t.counts[what]))
		} else {
			others += t.counts[what]
		}
	}
	t.logger.Warn("Some engines could not be scraped as they should", zap.Strings("troubles", named), zap.Int("others", others))
	t.said, t.others = t.now(), 0
	clear(t.counts)
}
