package compose

import (
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

func TestStackLoads(t *testing.T) { _ = cli.ProjectOptions{} }
