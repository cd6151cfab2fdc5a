package targets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Types of DNS records.
const (
	// TypeA asks for addresses, IPv4 and IPv6; the port comes from the query.
	TypeA = "a"
	// TypeSRV asks for services, which have ports of their own.
	TypeSRV = "srv"
)

// DNS asks for the addresses behind a name.
type DNS struct {
	// Name is looked up as Type, TypeA or TypeSRV.
	Name, Type string
	Port       int
	// Spec has everything but the endpoint.
	Spec    Spec
	Timeout time.Duration
	// Resolver is net.DefaultResolver where it is nil.
	Resolver *net.Resolver

	last []Target
}

// Find returns a target for each address. A name that does not exist has none; while the server does not answer, the
// addresses are those of the last answer. Not for concurrent use.
func (d *DNS) Find(ctx context.Context) ([]Target, error) {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	endpoints, err := d.lookUp(ctx)
	if failed, ok := errors.AsType[*net.DNSError](err); ok && failed.IsNotFound {
		endpoints, err = nil, nil
	}
	if err != nil {
		return d.last, fmt.Errorf("look up %s: %w", d.Name, err)
	}
	found := make([]Target, 0, len(endpoints))
	var errs []error
	for _, endpoint := range endpoints {
		spec := d.Spec
		spec.Endpoint = endpoint
		t, err := spec.Target("dns")
		if err != nil {
			errs = append(errs, fmt.Errorf("%s is %s: %w", d.Name, endpoint, err))
			continue
		}
		found = append(found, t)
	}
	d.last = found
	return found, errors.Join(errs...)
}

func (d *DNS) lookUp(ctx context.Context) ([]string, error) {
	resolver := d.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	endpoints := map[string]bool{}
	if d.Type == TypeSRV {
		_, records, err := resolver.LookupSRV(ctx, "", "", d.Name)
		if err != nil && len(records) == 0 {
			return nil, err
		}
		for _, r := range records {
			if r.Target == "." {
				continue // how SRV says that there is no such service
			}
			endpoints[net.JoinHostPort(strings.TrimSuffix(r.Target, "."), strconv.Itoa(int(r.Port)))] = true
		}
	} else {
		addresses, err := resolver.LookupNetIP(ctx, "ip", d.Name)
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			endpoints[net.JoinHostPort(a.Unmap().WithZone("").String(), strconv.Itoa(d.Port))] = true
		}
	}
	// Sorted: the order of an answer changes, and must not change which targets a limit leaves out.
	return slices.Sorted(maps.Keys(endpoints)), nil
}
