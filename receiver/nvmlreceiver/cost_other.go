//go:build !linux

package nvmlreceiver

import "time"

// threadTime is not known here; there is no driver either.
func threadTime() time.Duration { return 0 }
