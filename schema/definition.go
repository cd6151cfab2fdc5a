package schema

// Definition is a registry as data: what package source makes of the YAML and schema/generate writes as Go.
type Definition struct {
	Version string
	// BaseURL followed by Version is the schema URL.
	BaseURL    string
	Attributes []Attribute
	Entities   []Entity
	Metrics    []Metric
	Spans      []Span
	Events     []Event
	Producers  []Producer
}

// Metric is one canonical metric.
type Metric struct {
	Name string
	// Instrument is counter, updowncounter, gauge or histogram.
	Instrument string
	// Unit is UCUM, as in the semantic conventions: "By", "1", "{packet}/s".
	Unit       string
	Brief      string
	Stability  string
	Attributes []Use
	// Table says what the metric's points are called in metric_points. Without a matching rule a point keeps Name and Unit.
	Table      []TableRule
	Deprecated *Deprecation
}

// Attribute is an attribute that points, spans, events or resources may carry.
type Attribute struct {
	Name string
	// Type is string, int, double, boolean, one of these with [] behind it, or, with Members, enum: a string.
	Type  string
	Brief string
	// Members are the known values of an enum. The conventions leave enums open: others may come.
	Members    []string
	Deprecated *Deprecation
}

// Use is an attribute where it is used.
type Use struct {
	// Name is the attribute's; New finds Attribute by it.
	Name string
	// Requirement is required, conditionally_required, recommended, opt_in or "".
	Requirement string
	// Role is identifying or descriptive, on an entity.
	Role string
	*Attribute
}

// Entity is something that a resource describes: a run, a process, a device.
type Entity struct {
	Name       string
	Brief      string
	Attributes []Use
	Deprecated *Deprecation
}

// Span is one canonical span; for training, a phase.
type Span struct {
	Name       string
	Brief      string
	Kind       string
	Attributes []Use
	Deprecated *Deprecation
}

// Event is one canonical log event.
type Event struct {
	Name       string
	Brief      string
	Attributes []Use
	Deprecated *Deprecation
}

// Deprecation says that a name is superseded since a version of the registry: by RenamedTo, or by nothing.
type Deprecation struct{ RenamedTo, Since, Reason, Note string }

// TableRule names a point in the table. The first rule of a metric whose conditions all hold, and whose template's
// attributes the point all has, wins. Attributes in When or in Name are consumed: they do not repeat in tags_json.
type TableRule struct {
	When []Condition
	Name Template
	Unit string
	// Scale multiplies the value; 1 where the units are the same. Rescale does it without an error of rounding.
	Scale float64
}

// Condition holds for a point whose attribute, as a string, equals Value.
type Condition struct{ Attribute, Value string }

// Producer holds what one producer's names mean. Name is "" for aliases of attributes that anyone may use.
type Producer struct {
	Name       string
	Metrics    []Rule
	Spans      []Rule
	Events     []Rule
	Attributes []AttributeRule
}

// Rule maps one name of a producer.
type Rule struct {
	// Name is the producer's. With Captures it is a template, whose places capture as they say, in the same order.
	Name     string
	Captures []Capture
	// To is the canonical name.
	To   string
	Type SourceType
	// Scale makes a value in our unit of one in the producer's; 0 stands for 1.
	Scale float64
	// When are the producer's own labels that a point must carry.
	When []Condition
	// Set are attributes of ours, values as text.
	Set []Condition
	// Since and Until are the first and last version of the producer with this meaning; "" is open.
	Since, Until string
}

// Capture says what may stand in a place of a name: the producer's Values, which become ours; or digits; or any text without
// "/".
type Capture struct {
	Values []Translation
	Digits bool
}

// AttributeRule maps one attribute key of a producer.
type AttributeRule struct {
	Name, To string
	// Values translate; without any, values stay.
	Values []Translation
	// Preference orders the keys that become one attribute: the lowest present wins, and the canonical key over all.
	Preference int
}

// Translation is a producer's value and ours.
type Translation struct{ Theirs, Ours string }
