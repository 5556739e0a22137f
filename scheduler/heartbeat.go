package scheduler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/app/target"
	"baoco/scheduler/courier"
)

const (
	heartbeatInterval = time.Minute
	heartbeatTime     = 10 * time.Second
)

// Heartbeat calls an address of the operator while storage and deliveries are well,
// so that another machine notices when this one is down. The address is a secret, and
// errors of the network may contain it, so none of them leaves this file unchanged.
type Heartbeat struct {
	transport http.RoundTripper
	url       string
	userAgent string
	last      string // why the last one wasn't sent; empty: it was
}

// NewHeartbeat makes a heartbeat that connects where policy allows. A transport
// that isn't nil stands in for the network.
func NewHeartbeat(policy *target.Policy, url, version string, transport http.RoundTripper) *Heartbeat {
	if transport == nil {
		transport = courier.NewNetwork(policy, nil, nil)
	}
	return &Heartbeat{transport: transport, url: url, userAgent: delivery.UserAgent(version)}
}

// call makes one request, and follows no redirect.
func (h *Heartbeat) call(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url, nil)
	if err != nil {
		return errors.New("its address can't be read")
	}
	request.Header.Set("User-Agent", h.userAgent)
	response, err := h.transport.RoundTrip(request)
	if err != nil {
		class, _ := courier.Classify(err, "")
		return fmt.Errorf("its address can't be reached: %s", class)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("its address answered %d", response.StatusCode)
	}
	return nil
}

// callIfWell calls the address if all is well, and reports whether the outcome changed.
func (h *Heartbeat) callIfWell(ctx context.Context, service *services.All) (changed bool, fault error) {
	fault = service.Upkeep.Well(ctx, time.Now())
	if fault == nil {
		fault = h.call(ctx)
	}
	if ctx.Err() != nil {
		return false, nil // the server stops
	}
	now := ""
	if fault != nil {
		now = fault.Error()
	}
	changed, h.last = now != h.last, now
	return changed, fault
}

func (s *Scheduler) heartbeat(ctx context.Context, service *services.All, h *Heartbeat) {
	switch changed, fault := h.callIfWell(ctx, service); {
	case !changed:
	case fault != nil:
		s.log.Warn("no heartbeat is sent", "err", fault)
	default:
		s.log.Info("the heartbeat is sent again")
	}
}
