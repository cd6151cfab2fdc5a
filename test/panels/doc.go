// Package panels runs every query of every dashboard, as Grafana would, against the real engine: variables are filled in as
// Grafana's front end does, macros as the ClickHouse data source does, and the answer becomes data frames through
// Grafana's own plugin SDK. A panel that would be blank, has a wrong column or fails, fails a test here.
//
// testdata/coverage-*.golden say which panels show something of which engine version and which training framework.
//
// It is a module of its own: Grafana's SDK brings some 280 modules that nothing else of ours needs. It reads the committed
// JSON in dashboards/ and starts the programs in bin/ (make deps build); it imports nothing of the main module.
//
// What only a Grafana server could show stays unproved: provisioning, the variables' bar, drawing.
package panels
