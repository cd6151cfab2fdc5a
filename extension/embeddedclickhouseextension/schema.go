package embeddedclickhouseextension

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/collector/config/configopaque"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/clickhouse"
)

// schemaTimeout bounds the migrations; they take a fifth of a second.
const schemaTimeout = 30 * time.Second

// createSchema makes the tables before the exporters start. The exporter of traces and logs looks only once, at its
// start, whether its tables are there and which columns they have; without them the first run would begin with its
// complaint. A failure is left to the metricpoints exporter, which applies the same migrations until they succeed.
func (e *embedded) createSchema(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, schemaTimeout)
	defer cancel()
	endpoint := strings.TrimSuffix(e.pinger.url, "/ping")
	client, err := clickhouse.NewClient(e.pinger.untimed(), endpoint, e.cfg.User, e.password)
	if err == nil {
		target := clickhouse.Target{Database: clickhouse.DefaultDatabase, Table: clickhouse.DefaultTable}
		err = clickhouse.Migrate(ctx, client, target)
	}
	if err != nil {
		e.logger.Warn("Could not make the tables in the embedded ClickHouse", zap.Error(err))
	}
}

func (e *embedded) password() (configopaque.String, error) {
	if e.cfg.Password != "" {
		return e.cfg.Password, nil
	}
	content, err := os.ReadFile(e.cfg.passwordFile())
	if err != nil {
		return "", fmt.Errorf("password_file: %w", err)
	}
	return configopaque.String(strings.TrimSpace(string(content))), nil
}
