package nvmlreceiver

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/scraper/scraperhelper"

	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

// defaultDeviceTimeout is for a GPU whose driver has to wake it up first, which takes most of a second.
const defaultDeviceTimeout = 2 * time.Second

// Config says how often to read the GPUs and at which cost.
type Config struct {
	scraperhelper.ControllerConfig `mapstructure:",squash"`
	metadata.MetricsBuilderConfig  `mapstructure:",squash"`

	// HelperPath is the program pitwall-nvml; by default the one beside the collector's executable.
	HelperPath string `mapstructure:"helper_path"`
	// LibraryPath is libnvidia-ml.so.1; by default the one that the system's loader finds.
	LibraryPath string `mapstructure:"library_path"`
	// DeviceTimeout is how long the driver may take to answer for a GPU before that GPU is stale. 0 is two seconds, or
	// the collection interval where that is shorter.
	DeviceTimeout time.Duration `mapstructure:"device_timeout"`
	// IdleThreshold is the utilization, 0 to 1, below which a GPU is idle.
	IdleThreshold float64 `mapstructure:"idle_threshold"`
	// Budget is the share of one core that collecting may take, averaged over a minute; 0 is no limit.
	Budget float64 `mapstructure:"budget"`
	// MaxEventsPerMinute bounds log records; what comes beyond is counted only.
	MaxEventsPerMinute int `mapstructure:"max_events_per_minute"`
	// Attribution says how processes on GPUs are told apart.
	Attribution attributionConfig `mapstructure:"attribution"`
}

// attributionConfig is about finding the run of a process.
type attributionConfig struct {
	// Enabled turns it off when false: then nothing under /proc is read.
	Enabled bool `mapstructure:"enabled"`
	// ProcRoot is where the process file system is mounted, /host/proc in many containers.
	ProcRoot string `mapstructure:"proc_root"`
	// RunIDFrom are the environment variables that name a run; the first one that a process has counts.
	RunIDFrom []string `mapstructure:"run_id_from"`
	// MaxProcesses bounds how many processes are remembered.
	MaxProcesses int `mapstructure:"max_processes"`
}

func createDefaultConfig() component.Config {
	controller := scraperhelper.NewDefaultControllerConfig()
	controller.CollectionInterval = 10 * time.Second
	return &Config{
		ControllerConfig:     controller,
		MetricsBuilderConfig: metadata.NewDefaultMetricsBuilderConfig(),
		IdleThreshold:        0.05,
		Budget:               0.01,
		MaxEventsPerMinute:   300,
		Attribution: attributionConfig{
			Enabled:  true,
			ProcRoot: "/proc",
			RunIDFrom: []string{
				"RL_RUN_ID", "WANDB_RUN_ID", "MLFLOW_RUN_ID", "SKYPILOT_TASK_ID", "TORCHELASTIC_RUN_ID",
			},
			MaxProcesses: 1024,
		},
	}
}

// Validate checks what can be checked without a GPU.
func (cfg *Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }

	if cfg.DeviceTimeout < 0 || cfg.DeviceTimeout > cfg.CollectionInterval {
		bad("device_timeout: %s must be between 0 and collection_interval, %s", cfg.DeviceTimeout, cfg.CollectionInterval)
	}
	if !(cfg.IdleThreshold >= 0 && cfg.IdleThreshold <= 1) {
		bad("idle_threshold: %v must be between 0 and 1", cfg.IdleThreshold)
	}
	if !(cfg.Budget >= 0 && cfg.Budget <= 64) {
		bad("budget: %v must be between 0 and 64, in cores", cfg.Budget)
	}
	if cfg.MaxEventsPerMinute < 1 {
		bad("max_events_per_minute: %d must be at least 1", cfg.MaxEventsPerMinute)
	}
	if cfg.Attribution.Enabled {
		if !filepath.IsAbs(cfg.Attribution.ProcRoot) {
			bad("attribution::proc_root: %q must be an absolute path", cfg.Attribution.ProcRoot)
		}
		for _, name := range cfg.Attribution.RunIDFrom {
			if name == "" {
				bad("attribution::run_id_from: a variable must have a name")
			}
		}
		if cfg.Attribution.MaxProcesses < 1 {
			bad("attribution::max_processes: %d must be at least 1", cfg.Attribution.MaxProcesses)
		}
	}
	return errors.Join(errs...)
}

func (cfg *Config) deviceTimeout() time.Duration {
	if cfg.DeviceTimeout > 0 {
		return cfg.DeviceTimeout
	}
	return min(defaultDeviceTimeout, cfg.CollectionInterval)
}
