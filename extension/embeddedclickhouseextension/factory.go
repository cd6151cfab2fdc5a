package embeddedclickhouseextension

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/pitwall-otel/pitwall/extension/embeddedclickhouseextension/internal/metadata"
)

// NewFactory makes the factory of the embedded_clickhouse extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, createExtension, metadata.ExtensionStability)
}

func createDefaultConfig() component.Config {
	return &Config{
		DataDirectory:  "data/clickhouse",
		ListenAddress:  "127.0.0.1:8123",
		MemoryLimitMiB: 2048,
		User:           "default",
		CreateSchema:   true,
		StartTimeout:   15 * time.Second,
		StopTimeout:    15 * time.Second,
	}
}

func createExtension(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	return newEmbedded(cfg.(*Config), set.Logger), nil
}
