package app

import (
	"context"
	"io/fs"
	"net"
	"net/netip"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"
)

// Installation is how serve was started: what only its flags change.
type Installation struct {
	Version      string
	StartedAt    time.Time
	Listen       string // host and port
	BaseURL      string // empty: none was given
	Domain       string // with a certificate by ACME; empty: none
	AllowTargets []string
	Keep         PruneLimits
}

// StorageStatus is what the storage tells of itself.
type StorageStatus struct {
	Path     string
	Size     int64 // of the database file, in bytes
	LogSize  int64 // of the write-ahead log
	Free     int64 // what the disk has left for this process; -1: not known
	FileMode fs.FileMode
	KeyMode  fs.FileMode // of the key file
	Commits  CommitTimes
}

// CommitTimes is how long the commits of the last few minutes took, from their
// beginning until they were on disk.
type CommitTimes struct {
	Count       int // at most some hundreds, the last ones
	Median, P99 time.Duration
}

// QueueStatus is the deliveries that are still to be attempted, of all
// accounts.
type QueueStatus struct {
	Pending   int64
	Due       int64     // of them, now
	OldestDue time.Time // since when the longest waiting is due; zero: none is
}

type systemStore interface {
	// StorageStatus looks at the files from outside.
	StorageStatus(now time.Time) (StorageStatus, error)
	// QueueStatus reads the queue's index.
	QueueStatus(ctx context.Context, now time.Time) (QueueStatus, error)
}

// SystemStatus is how the installation is doing.
type SystemStatus struct {
	Installation
	StorageStatus
	QueueStatus
	GoVersion  string
	InFlight   int   // attempts
	Unindexed  int64 // transactions that searches read one by one
	Memory     int64 // that the process holds of the system, in bytes
	Goroutines int64
	NotReady   error // nil: ready
	Warnings   []Warning
}

// Warning is something that an operator should change. A grave one is about
// money or secrets.
type Warning struct {
	Text
	Name  WarningName
	Grave bool
}

// WarningName tells a warning from others, whatever it says.
type WarningName string

// The names of the warnings.
const (
	WarningInsecure WarningName = "insecure"
	WarningDisk     WarningName = "disk"
	WarningKeyMode  WarningName = "key mode"
	WarningFileMode WarningName = "file mode"
	WarningLog      WarningName = "log"
	WarningBaseURL  WarningName = "base url"
	WarningQueue    WarningName = "queue"
)

// SystemStatus gathers how the installation is doing, at now.
func (s *Service) SystemStatus(ctx context.Context, in Installation, now time.Time) (SystemStatus, error) {
	status := SystemStatus{Installation: in, GoVersion: runtime.Version(), NotReady: s.Ready(now)}
	var err error
	if status.StorageStatus, err = s.store.StorageStatus(now); err != nil {
		return status, err
	}
	if status.QueueStatus, err = s.store.QueueStatus(ctx, now); err != nil {
		return status, err
	}
	if status.Unindexed, err = s.store.Unindexed(ctx); err != nil {
		return status, err
	}
	if count := s.inFlight.Load(); count != nil {
		status.InFlight = (*count)()
	}
	status.Memory, status.Goroutines = processFigures()
	status.Warnings = Warnings(in, status.StorageStatus)
	if since := now.Sub(status.OldestDue); !status.OldestDue.IsZero() && since > waitsTooLong {
		status.Warnings = append(status.Warnings, Warning{Name: WarningQueue, Text: Textf(
			"A delivery is overdue by %d minutes: your webhooks respond too slowly or not at all.",
			"Có lượt gửi đã quá hạn %d phút: máy chủ nhận webhook phản hồi quá chậm hoặc không phản hồi.", int(since.Minutes()))})
	}
	return status, nil
}

// waitsTooLong is for how long something may be due before that is worth a
// warning.
const waitsTooLong = 2 * time.Minute

// SystemWarnings are the Warnings at now.
func (s *Service) SystemWarnings(in Installation, now time.Time) ([]Warning, error) {
	storage, err := s.store.StorageStatus(now)
	return Warnings(in, storage), err
}

// The figures from which on the storage is worth a warning, in bytes.
const (
	littleRoom = 500 << 20
	largeLog   = 512 << 20
)

// Warnings are what an operator should change, gravest first.
func Warnings(in Installation, storage StorageStatus) (list []Warning) {
	warn := func(name WarningName, grave bool, text Text) { list = append(list, Warning{text, name, grave}) }
	secure := strings.HasPrefix(in.BaseURL, "https://") || in.Domain != ""
	if !secure && in.Listen != "" && !loopback(in.Listen) {
		warn(WarningInsecure, true, Text{
			"Passwords and keys are sent unencrypted: baoco accepts outside connections without HTTPS. Use --domain, or put baoco behind an HTTPS proxy and set its address with --base-url.",
			"Mật khẩu và khoá đang được truyền không mã hoá: baoco nhận kết nối từ bên ngoài nhưng chưa có HTTPS. Hãy dùng --domain, hoặc đặt baoco sau proxy có HTTPS rồi khai báo địa chỉ bằng --base-url.",
		})
	}
	if storage.Free >= 0 && storage.Free < littleRoom {
		warn(WarningDisk, true, Textf(
			"Only %d MB of disk space left. When the disk is full, nothing more can be recorded.",
			"Ổ đĩa chỉ còn trống %d MB. Khi đầy, hệ thống sẽ không ghi nhận thêm được giao dịch.", storage.Free>>20))
	}
	if storage.KeyMode.Perm()&0o077 != 0 {
		warn(WarningKeyMode, true, Textf(
			"Other users of the server can read the key file. Run: chmod 600 %s.key",
			"Người dùng khác trên máy chủ đọc được tệp khoá. Hãy chạy: chmod 600 %s.key", storage.Path))
	}
	if storage.FileMode.Perm()&0o077 != 0 {
		warn(WarningFileMode, true, Textf(
			"Other users of the server can read the database. Run: chmod 600 %s",
			"Người dùng khác trên máy chủ đọc được cơ sở dữ liệu. Hãy chạy: chmod 600 %s", storage.Path))
	}
	if storage.LogSize > largeLog {
		warn(WarningLog, false, Textf(
			"The write-ahead log has grown to %d MB: another program may be holding the database open.",
			"Nhật ký ghi trước (WAL) đã lên tới %d MB: có thể một chương trình khác đang mở cơ sở dữ liệu.", storage.LogSize>>20))
	}
	if in.BaseURL == "" {
		warn(WarningBaseURL, false, Text{
			"baoco does not know its public address, so it can only show paths. Start it with --base-url.",
			"baoco chưa biết địa chỉ công khai của mình nên chỉ hiển thị được đường dẫn. Hãy khởi động với --base-url.",
		})
	}
	return list
}

// loopback tells whether only this machine reaches a listening address.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// processFigures are the memory that the process holds of the system, less
// what it has given back, and the number of its goroutines.
func processFigures() (memory, goroutines int64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/sched/goroutines:goroutines"},
	}
	metrics.Read(samples)
	value := func(i int) int64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(samples[i].Value.Uint64())
	}
	return value(0) - value(1), value(2)
}
