package fleet

import (
	"math"
	"time"
)

// histogram is what a producer keeps: counts by upper bound, the last for what is above all of them.
type histogram struct {
	bounds  []float64
	buckets []uint64
	sum     float64
}

func newHistogram(bounds ...float64) *histogram {
	return &histogram{bounds: bounds, buckets: make([]uint64, len(bounds)+1)}
}

func (h *histogram) observe(value float64, times int) {
	i := 0
	for i < len(h.bounds) && value > h.bounds[i] {
		i++
	}
	h.buckets[i] += uint64(times)
	h.sum += value * float64(times)
}

func (h *histogram) count() uint64 {
	var count uint64
	for _, n := range h.buckets {
		count += n
	}
	return count
}

// counts is what a scheduler's process counts for its exposition: it hears of the same events as the ledger, and keeps
// its own books.
type counts struct {
	atFinish bool

	computed, hit, again          float64
	decoded                       float64
	preemptions, preIn, preOut    float64
	prompt, cached, output        float64
	stopped, cutOff, aborted      float64
	iterations                    *histogram
	ttft, itl, e2e, queue         *histogram
	perToken, prefill, inference  *histogram
	decodeTime, prompts, uncached *histogram
	answers                       *histogram
	transferTime, transferSize    *histogram
	transferSpeed                 *histogram
	bootstrap, alloc              *histogram
	lastTransfer, lastSize        float64
	lastSpeed                     float64
}

func newCounts(v Version) *counts {
	c := &counts{atFinish: v.sglang()}
	if v.sglang() {
		ttft := []float64{.1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400}
		c.ttft, c.e2e = newHistogram(ttft...), newHistogram(append(ttft, 600, 1200, 1800, 2400)...)
		c.itl = newHistogram(.002, .004, .006, .008, .01, .015, .02, .025, .03, .035, .04, .06, .08, .1, .2, .4, .6, .8, 1, 2, 4, 6, 8)
		c.queue = newHistogram(sglangQueueBounds(v)...)
		c.prompts, c.uncached = newHistogram(sglangTokenBounds()...), newHistogram(sglangTokenBounds()...)
		c.answers = newHistogram(sglangTokenBounds()...)
		c.prefill = newHistogram(exponential(.001, 1.62, 30)...)
		c.transferTime = newHistogram(1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000) // ms
		c.bootstrap = newHistogram(1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500)          // ms
		c.alloc = newHistogram(1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500)              // ms
		c.transferSpeed = newHistogram(.1, .5, 1, 5, 10, 25, 50, 100, 200, 400)             // GiB/s
		c.transferSize = newHistogram(1, 5, 10, 50, 100, 500, 1000, 5000, 10000)            // MiB
		return c
	}
	c.ttft = newHistogram(.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560)
	perToken := []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	c.itl, c.perToken = newHistogram(perToken...), newHistogram(perToken...)
	long := []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	c.e2e, c.queue, c.inference, c.prefill, c.decodeTime = newHistogram(long...), newHistogram(long...), newHistogram(long...),
		newHistogram(long...), newHistogram(long...)
	c.prompts, c.answers, c.uncached = newHistogram(oneTwoFive(20000)...), newHistogram(oneTwoFive(20000)...), newHistogram(oneTwoFive(20000)...)
	c.iterations = newHistogram(1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
	c.transferTime = newHistogram(.005, .01, .025, .05, .075, .1, .2, .3, .5, .75, 1, 5)
	c.transferSize = newHistogram(exponential(1<<11, 4, 12)...)
	return c
}

func sglangQueueBounds(v Version) []float64 {
	bounds := []float64{.1, .2, .5, 1, 2, 3, 4, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100}
	if v == SGLangMain {
		bounds = append([]float64{0, .001, .005, .01, .05}, bounds...)
	}
	for b := 200.0; b <= 1000; b += 100 {
		bounds = append(bounds, b)
	}
	return append(bounds, 1200, 1400, 1600, 1800, 2000, 2500, 3000)
}

// sglangTokenBounds are 35 bounds from 100 to 1.1 million.
func sglangTokenBounds() []float64 {
	bounds := exponential(100, math.Pow(11000, 1./34), 35)
	for i := range bounds {
		bounds[i] = math.Round(bounds[i])
	}
	return bounds
}

func exponential(start, factor float64, n int) []float64 {
	bounds := make([]float64, n)
	for i := range bounds {
		bounds[i] = start * math.Pow(factor, float64(i))
	}
	return bounds
}

// oneTwoFive is 1, 2, 5, 10, 20 … up to the model's length, as vLLM builds it.
func oneTwoFive(limit float64) (bounds []float64) {
	for decade := 1.0; ; decade *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if m*decade > limit {
				return bounds
			}
			bounds = append(bounds, m*decade)
		}
	}
}

func (c *counts) scheduled(r *request, wait time.Duration) {
	c.hit += float64(r.cached)
	c.computed += float64(r.prompt - r.cached)
	c.queue.observe(wait.Seconds(), 1)
	if c.atFinish {
		c.prefill.observe((r.prefillEnd - r.scheduled).Seconds(), 1)
		return
	}
	c.iterations.observe(float64(r.prompt-r.cached), 1)
}

func (c *counts) repeated(tokens int) { c.again += float64(tokens) }

func (c *counts) firstToken(r *request) {
	if !c.atFinish {
		c.request(r)
		c.output++
	}
}

func (c *counts) request(r *request) {
	c.prompt += float64(r.prompt)
	c.cached += float64(r.cached)
	c.ttft.observe((r.firstToken - r.arrived).Seconds(), 1)
}

func (c *counts) tokens(n int, each time.Duration) {
	c.decoded += float64(n)
	if !c.atFinish {
		c.output += float64(n)
		c.itl.observe(each.Seconds(), n)
		c.iterations.observe(1, n)
	}
}

func (c *counts) preempted(r *request) {
	c.preemptions++
	c.preIn += float64(r.prompt)
	c.preOut += float64(r.generated)
}

func (c *counts) transferred(took time.Duration, bytes int64) {
	if !c.atFinish {
		c.transferTime.observe(took.Seconds(), 1)
		c.transferSize.observe(float64(bytes), 1)
		return
	}
	c.lastTransfer = took.Seconds() * 1000
	c.lastSize = float64(bytes) / (1 << 20)
	c.lastSpeed = float64(bytes) / took.Seconds() / (1 << 30)
	c.transferTime.observe(c.lastTransfer, 1)
	c.transferSize.observe(c.lastSize, 1)
	c.transferSpeed.observe(c.lastSpeed, 1)
	c.bootstrap.observe(c.lastTransfer/4, 1)
	c.alloc.observe(c.lastTransfer/8, 1)
}

func (c *counts) finished(r *request, at time.Duration, aborted bool) {
	if aborted {
		c.aborted++
		return
	}
	if r.cutOff {
		c.cutOff++
	} else {
		c.stopped++
	}
	c.e2e.observe((at - r.arrived).Seconds(), 1)
	c.prompts.observe(float64(r.prompt), 1)
	c.uncached.observe(float64(r.prompt-r.cached), 1)
	c.answers.observe(float64(r.generated), 1)
	if !c.atFinish {
		c.inference.observe((at - r.scheduled).Seconds(), 1)
		c.prefill.observe((r.firstToken - r.scheduled).Seconds(), 1)
		c.decodeTime.observe((at - r.firstToken).Seconds(), 1)
		if r.generated > 1 {
			c.perToken.observe((at-r.firstToken).Seconds()/float64(r.generated-1), 1)
		}
		return
	}
	c.request(r)
	c.output += float64(r.generated)
	for _, d := range r.deliveries {
		c.itl.observe(d.each.Seconds(), d.tokens)
	}
}

// Histogram is what was observed since an engine's start: counts by upper bound, the last above all of them.
type Histogram struct {
	Bounds []float64
	Counts []uint64
	Sum    float64
}

// Histograms are those of an engine in seconds, tokens, bytes and bytes per second, whatever its version's units. What
// the version does not have is empty.
type Histograms struct {
	FirstToken, BetweenTokens, EndToEnd, QueueTime Histogram
	PromptTokens, OutputTokens                     Histogram
	Transfers, TransferredBytes                    Histogram
	TransferWaits, TransferSpeed                   Histogram
}

// Histograms has the buckets that the engine would serve now.
func (e *Engine) Histograms() Histograms {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	sum := func(of func(*counts) *histogram, factor float64) Histogram {
		all := of(newCounts(e.spec.Version))
		if all == nil {
			return Histogram{}
		}
		for _, s := range e.ranks {
			all.merge(of(s.counts))
		}
		return all.scaled(factor)
	}
	seconds, bytes := 1.0, 1.0
	if e.spec.Version.sglang() {
		seconds, bytes = 1e-3, 1<<20
	}
	return Histograms{
		FirstToken:       sum(func(c *counts) *histogram { return c.ttft }, 1),
		BetweenTokens:    sum(func(c *counts) *histogram { return c.itl }, 1),
		EndToEnd:         sum(func(c *counts) *histogram { return c.e2e }, 1),
		QueueTime:        sum(func(c *counts) *histogram { return c.queue }, 1),
		PromptTokens:     sum(func(c *counts) *histogram { return c.prompts }, 1),
		OutputTokens:     sum(func(c *counts) *histogram { return c.answers }, 1),
		Transfers:        sum(func(c *counts) *histogram { return c.transferTime }, seconds),
		TransferredBytes: sum(func(c *counts) *histogram { return c.transferSize }, bytes),
		TransferWaits:    sum(func(c *counts) *histogram { return c.alloc }, 1e-3),
		TransferSpeed:    sum(func(c *counts) *histogram { return c.transferSpeed }, 1<<30),
	}
}

func (h *histogram) scaled(factor float64) Histogram {
	bounds := make([]float64, len(h.bounds))
	for i, b := range h.bounds {
		bounds[i] = b * factor
	}
	return Histogram{bounds, h.buckets, h.sum * factor}
}
