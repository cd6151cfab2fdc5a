package source

// checkRows finds two metrics whose rows would have one name in the table. The exporter makes of a histogram rows whose
// names end in one of the suffixes.
func (l *loader) checkRows() {
	suffixes := []string{".count", ".sum", ".min", ".max", ".bucket"}
	rows := map[string]*Metric{}
	for _, m := range l.registry.Metrics {
		rows[m.Name] = m
	}
	check := func(at Place, m *Metric, row string) {
		if other := rows[row]; other != nil && other != m {
			l.fail(at, "metric %q: its rows are called %q, like those of %q at %s", m.Name, row, other.Name, other.Place)
		}
	}
	for _, m := range l.registry.Metrics {
		names := []string{m.Name}
		for _, rule := range m.Table {
			check(m.Place, m, rule.Name.String())
			names = append(names, rule.Name.String())
		}
		if m.Instrument != "histogram" {
			continue
		}
		for _, name := range names {
			for _, suffix := range suffixes {
				check(m.Place, m, name+suffix)
			}
		}
	}
}
