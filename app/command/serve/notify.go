package serve

import (
	"context"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"
)

// notify sends systemd the state of the service, as sd_notify(3) does. It does nothing
// if systemd didn't start the process.
func notify(state string) error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}

// keepAlive sends the keep-alive pings that systemd's watchdog waits for, until ctx ends.
// Without a ping in the time of WATCHDOG_USEC systemd kills the process and starts it
// again. While the server isn't alive keepAlive sends none, and asks again every second.
func keepAlive(ctx context.Context, alive func(now time.Time) error, log *slog.Logger) {
	micros, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if pid := os.Getenv("WATCHDOG_PID"); err != nil || micros <= 0 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return
	}
	half := time.Duration(micros) * time.Microsecond / 2
	hangs := false
	for {
		wait := half
		if err := alive(time.Now()); err != nil {
			if !hangs {
				log.Error("the server is stuck, so systemd's watchdog is not notified and will restart it", "err", err)
			}
			hangs, wait = true, min(half, time.Second)
		} else {
			hangs = false
			if err := notify("WATCHDOG=1"); err != nil {
				log.Warn("systemd's watchdog could not be notified", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}
