package schemaprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// rule is something that data may break. The order is that of the names in String.
type rule uint8

const (
	unknownName rule = iota
	badName
	wrongUnit
	wrongInstrument
	unknownAttribute
	missingAttribute
	wrongType
	unknownValue
	missingIdentity
	unknownVersion
	ruleCount
)

// String is the rule's name in the configuration, in counts and in reasons; the registry lists the same.
func (r rule) String() string {
	return [ruleCount]string{
		"unknown_name", "bad_name", "unit", "instrument", "attribute_unknown", "attribute_missing",
		"attribute_type", "attribute_value", "identity_missing", "version_unknown",
	}[r]
}

// rules is a set of broken rules.
type rules uint16

func (s rules) has(r rule) bool { return s&(1<<r) != 0 }

func (s *rules) add(r rule) { *s |= 1 << r }

// ruleMode says what is done about a broken rule.
type ruleMode string

// The modes. modeCoerce makes data fit and quarantines what cannot be made to fit.
const (
	modeObserve    ruleMode = "observe"
	modeCoerce     ruleMode = "coerce"
	modeQuarantine ruleMode = "quarantine"
	modeReject     ruleMode = "reject"
)

// action is a mode as counts are kept: an index.
type action uint8

const (
	observe action = iota
	coerce
	quarantine
	reject
	actionCount
)

func (a action) String() string {
	return [actionCount]string{string(modeObserve), string(modeCoerce), string(modeQuarantine), string(modeReject)}[a]
}

func (m ruleMode) action() action {
	switch m {
	case modeCoerce:
		return coerce
	case modeQuarantine:
		return quarantine
	case modeReject:
		return reject
	default:
		return observe
	}
}

// policy is the configured action of every rule, and the sets of rules by action.
type policy struct {
	action                        [ruleCount]action
	coerced, quarantined, refused rules
}

func newPolicy(c RulesConfig) policy {
	var p policy
	for r, mode := range c.modes() {
		p.action[r] = mode.action()
		switch p.action[r] {
		case coerce:
			p.coerced.add(rule(r))
		case quarantine:
			p.quarantined.add(rule(r))
		case reject:
			p.refused.add(rule(r))
		case observe, actionCount:
		}
	}
	return p
}

// of says what is done about one rule; hopeless are those for which nothing can be made to fit.
func (p *policy) of(r rule, hopeless rules) action {
	if p.action[r] == coerce && hopeless.has(r) {
		return quarantine
	}
	return p.action[r]
}

// decide says what becomes of an item that broke rules: the gravest of the actions.
func (p *policy) decide(broken, hopeless rules) action {
	switch {
	case broken&p.refused != 0:
		return reject
	case broken&p.quarantined != 0, hopeless&p.coerced != 0:
		return quarantine
	case broken&p.coerced != 0:
		return coerce
	default:
		return observe
	}
}

// fitsTypes says whether values of a wrong type are to be made to fit.
func (p *policy) fitsTypes() bool { return p.action[wrongType] == coerce }

// cause is the first rule that led to the action.
func (p *policy) cause(broken, hopeless rules, a action) rule {
	for r := range ruleCount {
		if broken.has(r) && p.of(r, hopeless) == a {
			return r
		}
	}
	return unknownName
}

// reasonKey marks a resource that was set apart; its value is a rule, a colon and what was wrong.
// ruleKey has the rule alone, to count by.
const (
	reasonKey = names.AttributePitwallQuarantineReason
	ruleKey   = names.AttributePitwallSchemaRule
)

// cause is why something is set apart.
type cause struct {
	rule   rule
	detail string
}

// mark says on a resource why it was set apart.
func (c cause) mark(resource pcommon.Map) {
	reason := c.rule.String()
	if c.detail != "" {
		reason += ": " + c.detail
	}
	resource.PutStr(reasonKey, reason)
	resource.PutStr(ruleKey, c.rule.String())
}
