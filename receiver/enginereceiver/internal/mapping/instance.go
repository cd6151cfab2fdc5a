package mapping

import (
	"hash/maphash"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// instance is one engine, or one router, over time: a resource.
type instance struct {
	key      string
	address  string
	router   bool
	worker   bool // named by a router's page
	provider string
	resource pcommon.Map

	metrics []*metric
	named   map[metricKey]*metric
	points  map[string]*point
	drafts  map[string]*drafts
	rates   map[string]*rate
	queues  map[string]*queue
	up, age *point
	// counted are the counts that were forgotten, as hashes; lossy says that there were too many of them to know.
	counted map[uint64]struct{}
	seed    maphash.Seed
	lossy   bool

	// scrape is the last one that had it, at its time; before is the time of the one before, zero when the engine was not
	// known or not completely read.
	scrape     uint64
	scrapes    int
	at, before time.Time
	complete   bool
	// processStart is what the engine says, epoch when all its counts began: the same, or the scrape before a restart.
	processStart, epoch time.Time
	// changed is when a count last moved.
	changed time.Time
	// cumulative says that this scrape had counts.
	cumulative bool
	removed    bool
}

// instance returns the engine or router at an address, nil when there are too many. Empty is the page's own address.
func (t *Target) instance(address string, router bool) *instance {
	key := address
	if router {
		key = "router\x00" + address
	}
	i := t.instances[key]
	if i == nil {
		if len(t.instances) >= t.mapper.options.MaxWorkers {
			return nil
		}
		i = &instance{
			key: key, address: address, router: router, worker: address != "",
			named: map[metricKey]*metric{}, points: map[string]*point{}, drafts: map[string]*drafts{},
			rates: map[string]*rate{}, queues: map[string]*queue{}, counted: map[uint64]struct{}{}, seed: maphash.MakeSeed(),
		}
		if !i.worker {
			i.address = net.JoinHostPort(t.identity.Host, strconv.Itoa(t.identity.Port))
		}
		i.resource = t.resource(i)
		t.instances[key] = i
		t.ordered = append(t.ordered, i)
	}
	return i
}

// touch notes that the scrape has the instance.
func (i *instance) touch(scrape uint64, at time.Time) {
	if i.scrape == scrape {
		return
	}
	i.before = time.Time{}
	if i.complete {
		i.before = i.at
	}
	i.scrape, i.at = scrape, at
	i.scrapes++
	i.cumulative = false
	if i.changed.IsZero() {
		i.changed = at
	}
}

// started takes the time at which the process says that it started. It reports whether that is another process than
// before. The engine's clock may be another: what matters is that the time is not the one before.
func (i *instance) started(seconds float64) bool {
	start := seconds2time(seconds)
	if start.IsZero() {
		return false
	}
	first, moved := i.processStart.IsZero(), start.Sub(i.processStart)
	if !first && moved < time.Second && moved > -time.Second {
		return false
	}
	i.processStart = start
	switch {
	case !first && i.before.IsZero():
		i.epoch = i.at // the page before was cut: how much is new nobody knows
	case !first:
		i.epoch = between(i.before, start, i.at)
	case i.scrapes == 1 && start.Before(i.at):
		i.epoch = start
	}
	return !first
}

// between is when something began that began after one scrape and before another: when it says, if that can be.
func between(before, began, at time.Time) time.Time {
	if began.After(before) && began.Before(at) {
		return began
	}
	return after(before)
}

// seconds2time is the zero time for what is none.
func seconds2time(seconds float64) time.Time {
	const century = 100 * 365 * 86400
	if !(seconds > 0 && seconds < 2*century) {
		return time.Time{}
	}
	return time.Unix(0, int64(seconds*1e9)).UTC()
}

func (t *Target) resource(i *instance) pcommon.Map {
	r := pcommon.NewMap()
	t.identity.Attributes.CopyTo(r)
	host, port := splitAddress(i.address)
	if _, own := r.Get(names.AttributeServiceInstanceID); !own || i.worker {
		r.PutStr(names.AttributeServiceInstanceID, i.address)
	}
	// A host that the target was given is the router's, and that of workers which only it can reach.
	if _, own := r.Get(names.AttributeHostName); !own || i.worker && !IsLoopback(host) {
		r.Remove(names.AttributeHostName)
		switch {
		case !IsLoopback(host):
			r.PutStr(names.AttributeHostName, host)
		case !IsLoopback(t.identity.Host):
			r.PutStr(names.AttributeHostName, t.identity.Host) // the router's loopback
		case t.mapper.options.Host != "":
			r.PutStr(names.AttributeHostName, t.mapper.options.Host)
		}
	}
	r.PutStr(names.AttributeServerAddress, host)
	if port > 0 {
		r.PutInt(names.AttributeServerPort, int64(port))
	}
	scope := "engine"
	if i.router {
		scope = "router"
	}
	r.PutStr(names.AttributeInferenceScope, scope)
	return r
}

// IsLoopback says whether an address means the machine that uses it, whichever that is.
func IsLoopback(host string) bool {
	host = strings.TrimSuffix(host, ".")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// workerAddress makes host:port of what a router calls its worker: a URL, with @ and the rank behind it where the router
// knows data-parallel ranks, each of which then repeats the page of the whole engine.
func workerAddress(text string) string {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		if _, err := strconv.ParseUint(text[at+1:], 10, 16); err == nil {
			text = text[:at]
		}
		text = text[strings.LastIndexByte(text, '@')+1:] // without credentials
	}
	text, _, _ = strings.Cut(text, "/")
	return strings.ToLower(text)
}

func splitAddress(address string) (host string, port int) {
	u, err := url.Parse("//" + address)
	if err != nil {
		return address, 0
	}
	port, _ = strconv.Atoi(u.Port())
	return u.Hostname(), port
}
