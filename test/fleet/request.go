package fleet

import (
	"math"
	"math/rand/v2"
	"time"
)

// request is one prompt on its way. Times are virtual, since the fleet's start.
type request struct {
	prompt, output int // tokens; output is how many it will have
	cached         int // of the prompt, found in the cache
	cutOff         bool

	arrived    time.Duration
	scheduled  time.Duration // first, 0 before
	firstToken time.Duration // 0 before
	delivered  time.Duration // of the last token
	prefillEnd time.Duration // of the prefill under way or done last
	generated  int
	credit     float64 // part of a token decoded already
	deliveries []delivery

	// Disaggregation.
	ready    time.Duration // bootstrap over, or transfer over
	receiver *scheduler    // where a prefill engine's request goes on
}

// delivery is a number of tokens that came together, and the time per token since those before.
type delivery struct {
	each   time.Duration
	tokens int
}

func (r *request) kv() int { return r.prompt + r.generated }

// source draws requests. Sizes are lognormal, as lengths of answers are; every Group requests share one prompt.
type source struct {
	load   Load
	random *rand.Rand
	next   time.Duration // of the next arrival
	left   int           // of the group
	prompt int
	shared float64 // part of the group's prompt that is a system prompt everybody has
}

func newSource(load Load, random *rand.Rand, now time.Duration) *source {
	s := &source{load: load, random: random}
	s.next = now + s.gap()
	return s
}

func (s *source) gap() time.Duration {
	if s.load.RequestsPerSecond <= 0 {
		return math.MaxInt64 / 2
	}
	return time.Duration(s.random.ExpFloat64() / s.load.RequestsPerSecond * float64(time.Second))
}

// due returns the request that arrives before end, or nil.
func (s *source) due(end time.Duration) *request {
	if s.next >= end {
		return nil
	}
	r := s.draw(s.next)
	s.next += s.gap()
	return r
}

func (s *source) draw(at time.Duration) *request {
	first := s.left == 0
	if first {
		s.left = s.load.Group
		s.prompt = s.lognormal(s.load.PromptTokens, 0.5)
		s.shared = 0.1 + 0.2*s.random.Float64()
	}
	s.left--
	r := &request{arrived: at, prompt: s.prompt, output: s.lognormal(s.load.OutputTokens, 0.8)}
	r.cached = r.prompt - 1 // the last token is computed, its logits are needed
	if first {
		r.cached = int(float64(r.prompt) * s.shared)
	}
	if r.output > s.load.MaxOutputTokens {
		r.output, r.cutOff = s.load.MaxOutputTokens, true
	}
	return r
}

// lognormal draws a size of at least 2 with that mean.
func (s *source) lognormal(mean int, sigma float64) int {
	mu := math.Log(float64(mean)) - sigma*sigma/2
	return max(2, int(math.Exp(mu+sigma*s.random.NormFloat64())))
}
