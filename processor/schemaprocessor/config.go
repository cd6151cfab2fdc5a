package schemaprocessor

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/component"
)

// Config is the processor's configuration. The zero value is not valid; createDefaultConfig has the defaults.
type Config struct {
	// Producers say whose names a scope uses, where it does not say so itself. The first that fits wins.
	Producers []ProducerConfig `mapstructure:"producers"`
	Rules     RulesConfig      `mapstructure:"rules"`
	// RequiredIdentity are attributes that every item must have, itself, on its scope or on its resource.
	RequiredIdentity []string `mapstructure:"required_identity"`
	// CacheSize is how many names' meanings are kept.
	CacheSize int `mapstructure:"cache_size"`

	_ struct{}
}

// ProducerConfig names the producer of scopes that fit everything it says. In Scope, Service and Value "*" stands for
// any text.
type ProducerConfig struct {
	// Producer is one of the registry's, or "none" for names that must not be translated.
	Producer string `mapstructure:"producer"`
	Scope    string `mapstructure:"scope"`
	Service  string `mapstructure:"service"`
	// Attribute and Value are a resource attribute.
	Attribute string `mapstructure:"attribute"`
	Value     string `mapstructure:"value"`

	_ struct{}
}

// RulesConfig has the mode of every rule.
type RulesConfig struct {
	UnknownName      ruleMode `mapstructure:"unknown_name"`
	BadName          ruleMode `mapstructure:"bad_name"`
	Unit             ruleMode `mapstructure:"unit"`
	Instrument       ruleMode `mapstructure:"instrument"`
	AttributeUnknown ruleMode `mapstructure:"attribute_unknown"`
	AttributeMissing ruleMode `mapstructure:"attribute_missing"`
	AttributeType    ruleMode `mapstructure:"attribute_type"`
	AttributeValue   ruleMode `mapstructure:"attribute_value"`
	IdentityMissing  ruleMode `mapstructure:"identity_missing"`
	VersionUnknown   ruleMode `mapstructure:"version_unknown"`

	_ struct{}
}

// noProducer switches recognition off for a scope.
const noProducer = "none"

// The cache may hold at most this many meanings, some hundred bytes each.
const maxCacheSize = 1 << 20

func createDefaultConfig() component.Config {
	return &Config{
		Rules: RulesConfig{
			UnknownName: modeObserve, BadName: modeQuarantine, Unit: modeCoerce, Instrument: modeObserve,
			AttributeUnknown: modeObserve, AttributeMissing: modeObserve, AttributeType: modeCoerce, AttributeValue: modeObserve,
			IdentityMissing: modeObserve, VersionUnknown: modeQuarantine,
		},
		CacheSize: 10_000,
	}
}

// modes are the modes in the order of the rules.
func (c *RulesConfig) modes() [ruleCount]ruleMode {
	return [ruleCount]ruleMode{
		c.UnknownName, c.BadName, c.Unit, c.Instrument, c.AttributeUnknown, c.AttributeMissing,
		c.AttributeType, c.AttributeValue, c.IdentityMissing, c.VersionUnknown,
	}
}

// Validate reports every key that cannot work. Whether the registry knows a producer is found out at start.
func (c *Config) Validate() error {
	var errs []error
	for i, p := range c.Producers {
		key := fmt.Sprintf("'producers::%d'", i)
		if p.Producer == "" {
			errs = append(errs, fmt.Errorf("%s needs 'producer'", key))
		}
		if p.Scope == "" && p.Service == "" && p.Attribute == "" {
			errs = append(errs, fmt.Errorf("%s needs 'scope', 'service' or 'attribute'", key))
		}
		if (p.Attribute == "") != (p.Value == "") {
			errs = append(errs, fmt.Errorf("%s needs 'attribute' and 'value' together", key))
		}
	}
	for r, mode := range c.Rules.modes() {
		r := rule(r)
		switch mode {
		case modeObserve, modeQuarantine, modeReject:
		case modeCoerce:
			if r != wrongUnit && r != wrongType {
				errs = append(errs, fmt.Errorf("'rules::%s' cannot be coerce: nothing can be made to fit", r))
			}
		default:
			errs = append(errs, fmt.Errorf("'rules::%s' must be observe, coerce, quarantine or reject, not %q", r, string(mode)))
		}
	}
	for _, key := range c.RequiredIdentity {
		if key == "" {
			errs = append(errs, errors.New("'required_identity' must not have an empty name"))
		}
	}
	if len(c.RequiredIdentity) > maxIdentity {
		errs = append(errs, fmt.Errorf("'required_identity' may have %d names at most", maxIdentity))
	}
	if c.CacheSize < 1 || c.CacheSize > maxCacheSize {
		errs = append(errs, fmt.Errorf("'cache_size' must be between 1 and %d", maxCacheSize))
	}
	return errors.Join(errs...)
}
