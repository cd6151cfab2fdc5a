package mapping

import (
	"fmt"

	"github.com/pitwall-otel/pitwall/schema"
)

// Mapper is what names mean, for all targets. It never changes, so targets may run beside each other.
type Mapper struct {
	options  Options
	registry *schema.Registry
	profiles map[string]*schema.Profile
}

// New returns an error that names the option, as the receiver's configuration calls it.
func New(o Options) (*Mapper, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	registry, err := schema.Load()
	if err != nil {
		return nil, fmt.Errorf("load the registry: %w", err)
	}
	m := &Mapper{options: o, registry: registry, profiles: map[string]*schema.Profile{}}
	for _, producer := range [...]string{sglang, vllm, router} {
		if m.profiles[producer] = registry.Profile(producer); m.profiles[producer] == nil {
			return nil, fmt.Errorf("the registry has no producer %q", producer)
		}
	}
	return m, nil
}
