// Package lint reads finished dashboards and says what is wrong with them: what Grafana would refuse, draw wrongly or leave
// blank, and what would ask for a metric, an attribute or an event that the registry does not have. It looks at the JSON only,
// never at how it was made, so that a dashboard that somebody exports or edits is held to the same.
//
// It does not run queries: test/panels does.
package lint
