// Package names holds the names of the registry as constants, for whoever writes a metric, an attribute or a query: nothing
// outside schema spells one out. Attributes, spans, events and names in the table carry a prefix (AttributeRLStep,
// EventRLState, TableSysCPUPercent), metrics do not (RLLossPolicy).
package names
