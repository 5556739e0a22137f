package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"time"

	"baoco/app"
)

// Installation has the settings with which serve was started: only its flags change them.
type Installation struct {
	Version      string
	StartedAt    time.Time
	Listen       string // host and port
	BaseURL      string // empty: none was given
	Domain       string // with a certificate by ACME; empty: none
	AllowTargets []string
	Files        uint64 // that the process may have open; 0: not known
	Keep         PruneLimits
	Backups      BackupSchedule
	CertFile     string // with a certificate of the operator's; empty: none
	// Certificate is about the one for Domain or in CertFile. Nil without either.
	Certificate func(ctx context.Context) CertificateStatus
}

// FewFiles says that the process may open too few files, and what to do.
func (in Installation) FewFiles() (app.Text, bool) {
	return app.Textf(
			"baoco may open only %d files, too few for 512 attempts at once beside its clients. "+
				"Set LimitNOFILE=8192 in the systemd unit, or run ulimit -n 8192 before it starts.",
			"baoco chỉ được mở %d tệp, không đủ để gửi 512 thông báo cùng lúc và phục vụ kết nối. "+
				"Hãy đặt LimitNOFILE=8192 trong unit của systemd, hoặc chạy ulimit -n 8192 trước khi khởi động.", in.Files), in.Files > 0 &&
			in.Files < enoughFiles
}

// CertificateStatus is the state of the certificate that the server uses.
type CertificateStatus struct {
	End    time.Time // of its validity; zero: there is none yet
	Unused bool      // there is a newer one in CertFile that can't be used
}

func (in Installation) certificate(ctx context.Context) CertificateStatus {
	if in.Certificate == nil {
		return CertificateStatus{}
	}
	return in.Certificate(ctx)
}

// StorageStatus is the state of the files.
type StorageStatus struct {
	Path     string
	Schema   int
	Size     int64 // of the database file, in bytes
	LogSize  int64 // of the write-ahead log
	Free     int64 // bytes of the disk that this process can use; -1: not known
	FileMode fs.FileMode
	KeyMode  fs.FileMode // of the key file
}

// QueueStatus is about the pending deliveries of all accounts.
type QueueStatus struct {
	Pending   int64
	Due       int64     // due now
	OldestDue time.Time // due time of the longest waiting one; zero: none is due
}

// AnswerTimes is how long receivers took to answer.
type AnswerTimes struct {
	Count       int64 // attempts of all accounts, the last ones
	Median, P95 time.Duration
}

// Which attempts AnswerTimes is about: those that began within answersWithin,
// at most the last AnswersCounted.
const (
	answersWithin  = time.Hour
	AnswersCounted = 1000
)

// SystemStatus is the state of the installation.
type SystemStatus struct {
	Installation
	StorageStatus
	QueueStatus
	Answers AnswerTimes
	Backup  BackupStatus
	Replica *ReplicaCheck // nil: there is no replica, or nobody has looked yet
	// CertificateEndsAt is zero without a domain, and before the first
	// certificate.
	CertificateEndsAt time.Time
	GoVersion         string
	InFlight          int   // attempts
	Unindexed         int64 // transactions that searches read one by one
	NotReady          error // nil: ready
	Warnings          []Warning
}

// Warning is something that an operator should change. Grave ones are about
// money or secrets.
type Warning struct {
	app.Text
	Name  WarningName
	Grave bool
}

// WarningName is the kind of a warning.
type WarningName string

// The names of the warnings.
const (
	WarningInsecure    WarningName = "insecure"
	WarningDisk        WarningName = "disk"
	WarningKeyMode     WarningName = "key mode"
	WarningFileMode    WarningName = "file mode"
	WarningLog         WarningName = "log"
	WarningBaseURL     WarningName = "base url"
	WarningQueue       WarningName = "queue"
	WarningCertificate WarningName = "certificate"
	WarningBackup      WarningName = "backup"
	WarningReplica     WarningName = "replica"
	WarningClock       WarningName = "clock"
	WarningFiles       WarningName = "files"
)

// SystemStatus reads the state of the installation.
func (s *Service) SystemStatus(ctx context.Context, in Installation, now time.Time) (SystemStatus, error) {
	status := SystemStatus{Installation: in, GoVersion: runtime.Version(), NotReady: s.Ready(now)}
	for _, part := range []func() error{
		func() (err error) { status.StorageStatus, err = s.store.StorageStatus(); return err },
		func() (err error) { status.QueueStatus, err = s.store.QueueStatus(ctx, now); return err },
		func() (err error) {
			status.Answers, err = s.store.AnswerTimes(ctx, now.Add(-answersWithin))
			return err
		},
		func() (err error) { status.Unindexed, err = s.store.Unindexed(ctx); return err },
		func() (err error) { status.Backup, err = s.BackupStatus(ctx); return err },
	} {
		if err := part(); err != nil {
			return status, err
		}
	}
	certificate := in.certificate(ctx)
	status.CertificateEndsAt = certificate.End
	if c := s.attempts.Load(); c != nil {
		status.InFlight, _, _ = attempting(c)
	}
	if c, looked := s.ReplicaCheck(now); looked {
		status.Replica = &c
	}
	status.Warnings = s.warnings(in, status.StorageStatus, status.Backup, certificate, now)
	if since := now.Sub(status.OldestDue); !status.OldestDue.IsZero() && since > waitsTooLong {
		status.Warnings = append(status.Warnings, Warning{Name: WarningQueue, Text: app.Textf(
			"A delivery is overdue by %d minutes: your webhooks respond too slowly or not at all.",
			"Có thông báo đã quá hạn %d phút: máy chủ nhận webhook phản hồi quá chậm hoặc không phản hồi.", int(since.Minutes()))})
	}
	return status, nil
}

// waitsTooLong is how long a delivery may be due before there is a warning.
const waitsTooLong = 2 * time.Minute

// attempting counts the attempts in flight, and lists their deliveries and webhooks.
func attempting(c *Attempts) (n int, deliveries []int64, webhooks map[int64]bool) {
	webhooks = map[int64]bool{}
	for webhook, ids := range c.InFlight() {
		n += len(ids)
		deliveries = append(deliveries, ids...)
		webhooks[webhook] = true
	}
	return n, deliveries, webhooks
}

// Figures are for a machine that monitors this one.
type Figures struct {
	StorageStatus
	InFlight   int       // attempts
	OldestDue  time.Time // of what is due and not in flight; zero: nothing
	Neglected  time.Time // the same for webhooks without any attempt, in flight or just ended
	LastBackup time.Time // zero: there never was one
}

// Figures reads them. Their cost grows with the number of webhooks, not with that of waiting deliveries.
func (s *Service) Figures(ctx context.Context, now time.Time) (f Figures, err error) {
	var deliveries []int64
	var busy map[int64]bool
	if c := s.attempts.Load(); c != nil {
		f.InFlight, deliveries, busy = attempting(c)
	}
	due, err := s.store.OldestDue(ctx, now, deliveries)
	if err != nil {
		return f, err
	}
	earlier := func(a, b time.Time) time.Time {
		if a.IsZero() || b.Before(a) {
			return b
		}
		return a
	}
	for webhook, since := range due {
		f.OldestDue = earlier(f.OldestDue, since)
		if !busy[webhook] {
			f.Neglected = earlier(f.Neglected, since)
		}
	}
	backup, err := s.store.BackupStatus(ctx)
	if err != nil {
		return f, err
	}
	f.LastBackup = backup.Last.At
	f.StorageStatus, err = s.store.StorageStatus()
	return f, err
}

// noRoom is how many bytes of the disk must be free: as many as the write-ahead
// log may grow by.
const noRoom = 64 << 20

// Well is nil while storage and deliveries are well, so that nobody needs to look:
// commits work, the disk has room, and no webhook waits for its turn for longer
// than waitsTooLong. A receiver that is slow or silent has attempts in flight, so
// it isn't a fault of this machine.
func (s *Service) Well(ctx context.Context, now time.Time) error {
	if err := s.Ready(now); err != nil {
		return err
	}
	if err := s.Alive(now); err != nil {
		return err
	}
	f, err := s.Figures(ctx, now)
	switch {
	case err != nil:
		return err
	case f.Free >= 0 && f.Free < noRoom:
		return errors.New("the disk is full")
	case !f.Neglected.IsZero() && now.Sub(f.Neglected) > waitsTooLong:
		return errors.New("due deliveries are not attempted")
	}
	return nil
}

// SystemWarnings reads the files and gives the Warnings.
func (s *Service) SystemWarnings(ctx context.Context, in Installation, now time.Time) ([]Warning, error) {
	storage, err := s.store.StorageStatus()
	if err != nil {
		return nil, err
	}
	backup, err := s.BackupStatus(ctx)
	return s.warnings(in, storage, backup, in.certificate(ctx), now), err
}

// warnings are those about the replica and the clock, and all Warnings.
func (s *Service) warnings(in Installation, storage StorageStatus, backup BackupStatus, certificate CertificateStatus,
	now time.Time) []Warning {
	list := Warnings(in, storage, backup, certificate, now)
	for _, warning := range []func(time.Time) (Warning, bool){s.clockWarning, s.replicaWarning} {
		if w, bad := warning(now); bad {
			list = append([]Warning{w}, list...)
		}
	}
	return list
}

// LittleRoom is how many bytes of the disk are free when there is no warning. Only tests
// change it: the disk on which they run may be small.
var LittleRoom int64 = 500 << 20

// largeLog is how many bytes of the log there are without a warning.
const largeLog = 512 << 20

// enoughFiles is how many files the process must be able to open for all attempts
// in flight, the database and a thousand clients.
const enoughFiles = 2048

// certificateSoon is how long before the end of a certificate there is a
// warning. It should have been renewed 30 days before.
const certificateSoon = 14 * 24 * time.Hour

// Warnings lists what an operator should change, gravest first.
func Warnings(in Installation, storage StorageStatus, backup BackupStatus, certificate CertificateStatus, now time.Time) (list []Warning) {
	warn := func(name WarningName, grave bool, text app.Text) { list = append(list, Warning{text, name, grave}) }
	secure := strings.HasPrefix(in.BaseURL, "https://") || in.Domain != "" || in.CertFile != ""
	if !secure && in.Listen != "" && !loopback(in.Listen) {
		warn(WarningInsecure, true, app.Text{
			EN: "Passwords and keys are sent unencrypted: baoco accepts outside connections without HTTPS. " +
				"Use --domain, or put baoco behind an HTTPS proxy and set its address with --base-url.",
			VI: "Mật khẩu và khoá đang được truyền không mã hoá: baoco nhận kết nối từ bên ngoài nhưng chưa có HTTPS. " +
				"Hãy dùng --domain, hoặc đặt baoco sau proxy có HTTPS rồi khai báo địa chỉ bằng --base-url.",
		})
	}
	list = append(list, storageWarnings(storage)...)
	if text, soon := certificateWarning(in, certificate, now); soon {
		warn(WarningCertificate, true, text)
	}
	if w, overdue := backup.warning(now); overdue {
		list = append(list, w)
	}
	if storage.LogSize > largeLog {
		warn(WarningLog, false, app.Textf(
			"The write-ahead log has grown to %d MB: another program may be holding the database open. If Litestream copies it, restart that: "+
				"systemctl restart baoco-litestream.",
			"Nhật ký ghi trước (WAL) đã lên tới %d MB: có thể một chương trình khác đang mở cơ sở dữ liệu. "+
				"Nếu đang dùng Litestream để sao chép, hãy khởi động lại: systemctl restart baoco-litestream.", storage.LogSize>>20))
	}
	if text, few := in.FewFiles(); few {
		warn(WarningFiles, false, text)
	}
	if in.BaseURL == "" {
		warn(WarningBaseURL, false, app.Text{
			EN: "baoco does not know its public address, so its URLs begin with the address that you opened it at; a provider may not reach that. " +
				"Start it with --base-url.",
			VI: "baoco chưa biết địa chỉ công khai của mình nên các URL được ghép từ địa chỉ bạn đang truy cập; " +
				"nhà cung cấp có thể không gọi được. Hãy khởi động với --base-url.",
		})
	}
	return list
}

// storageWarnings are the warnings about the disk and its files, all grave.
func storageWarnings(storage StorageStatus) (list []Warning) {
	warn := func(name WarningName, text app.Text) {
		list = append(list, Warning{Text: text, Name: name, Grave: true})
	}
	if storage.Free >= 0 && storage.Free < LittleRoom {
		warn(WarningDisk, app.Textf(
			"Only %d MB of disk space left; the database takes %d MB and its log %d MB. When the disk is full, nothing more can be recorded.",
			"Ổ đĩa chỉ còn trống %d MB; cơ sở dữ liệu chiếm %d MB, nhật ký của nó %d MB. Khi đầy, hệ thống sẽ không ghi nhận thêm được giao dịch.",
			storage.Free>>20, storage.Size>>20, storage.LogSize>>20))
	}
	if storage.KeyMode.Perm()&0o077 != 0 {
		warn(WarningKeyMode, app.Textf(
			"Other users of the server can read the key file. Run: chmod 600 %s",
			"Người dùng khác trên máy chủ đọc được tệp khoá. Hãy chạy: chmod 600 %s", app.ShellWord(storage.Path+".key")))
	}
	if storage.FileMode.Perm()&0o077 != 0 {
		warn(WarningFileMode, app.Textf(
			"Other users of the server can read the database. Run: chmod 600 %s",
			"Người dùng khác trên máy chủ đọc được cơ sở dữ liệu. Hãy chạy: chmod 600 %s", app.ShellWord(storage.Path)))
	}
	return list
}

func certificateWarning(in Installation, c CertificateStatus, now time.Time) (app.Text, bool) {
	left := c.End.Sub(now)
	switch {
	case c.Unused:
		return app.Text{EN: "The new certificate in --cert-file can’t be used, so the old one stays. The log says why.",
			VI: "Không dùng được chứng chỉ mới trong --cert-file nên vẫn dùng chứng chỉ cũ, nhật ký có ghi lý do."}, true
	case c.End.IsZero() || left > certificateSoon:
		return app.Text{}, false
	case in.CertFile != "":
		return app.Textf("The HTTPS certificate in --cert-file expires in %d days. Put a new one there.",
			"Chứng chỉ HTTPS trong --cert-file còn %d ngày là hết hạn. Hãy thay bằng chứng chỉ mới.", max(0, int(left/(24*time.Hour)))), true
	case left <= 0:
		return app.Text{
			EN: "The HTTPS certificate has expired, so providers and browsers refuse the connection. " +
				"Ports 80 and 443 must be reachable from outside to renew it.",
			VI: "Chứng chỉ HTTPS đã hết hạn: nhà cung cấp và trình duyệt sẽ từ chối kết nối. Cổng 80 và 443 phải mở ra bên ngoài " +
				"thì mới gia hạn được.",
		}, true
	}
	return app.Textf(
		"The HTTPS certificate expires in %d days and could not be renewed. Ports 80 and 443 must be reachable from outside.",
		"Chứng chỉ HTTPS còn %d ngày là hết hạn mà chưa gia hạn được: cổng 80 và 443 phải mở ra bên ngoài.", int(left/(24*time.Hour))), true
}

// loopback reports whether only this machine reaches a listening address.
func loopback(listen string) bool {
	if strings.HasPrefix(listen, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}
