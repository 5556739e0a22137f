package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/upkeep"

	sqlite3 "modernc.org/sqlite/lib"
)

// Examination says how a file is examined.
type Examination struct {
	// Full compares every page with every index and every row with the kept totals, and
	// checks every reference.
	Full bool
	Now  time.Time
	// Progress is called with the name of what is being read; may be nil.
	Progress func(what string)

	schema    *schema // nil: the schema of this baoco
	largeFrom int64   // a file with so many rows is large; 0: largeFile
}

// Examine checks a file and the files beside it. It changes nothing, also while a server
// has the file open: it migrates nothing, copies no log and takes no lock that a server
// needs. The checks contain all problems; an error means only that ctx ended.
func Examine(ctx context.Context, path string, x Examination) ([]upkeep.Check, error) {
	d := &doctor{Examination: x, path: path}
	if d.Progress == nil {
		d.Progress = func(string) {}
	}
	if d.schema == nil {
		d.schema = released()
	}
	if d.run(ctx, "restore", d.restore) && d.run(ctx, "file", d.file) && d.run(ctx, "server", d.server) {
		d.run(ctx, "permissions", d.permissions)
		d.run(ctx, "disk", d.disk)
		d.database(ctx)
	}
	if d.db != nil {
		d.db.Close()
	}
	return d.checks, ctx.Err()
}

// doctor runs the checks, from the files to the rows in them.
type doctor struct {
	Examination
	path   string // resolved, once the file is found
	served bool
	older  bool // the schema is older than that of this baoco
	zone   *time.Location
	db     *sql.DB
	checks []upkeep.Check
}

// run makes a check and adds its result. It returns false if the check failed, also by an
// error.
func (d *doctor) run(ctx context.Context, name string, check func(context.Context) (upkeep.Check, error)) bool {
	if ctx.Err() != nil {
		return false
	}
	c, err := check(ctx)
	if err != nil {
		c = failed(app.Text{EN: err.Error(), VI: err.Error()}, cureOf(err))
	}
	c.Name = name
	d.checks = append(d.checks, c)
	return c.Result != upkeep.CheckFailed
}

func fine(en, vi string, args ...any) (upkeep.Check, error) {
	return upkeep.Check{Result: upkeep.CheckOK, Text: app.Textf(en, vi, args...)}, nil
}

func warning(text, cure app.Text) (upkeep.Check, error) {
	return upkeep.Check{Result: upkeep.CheckWarning, Text: text, Cure: cure}, nil
}

func failed(text, cure app.Text) upkeep.Check {
	return upkeep.Check{Result: upkeep.CheckFailed, Text: text, Cure: cure}
}

var (
	cureRestore = app.Text{EN: "Stop the server, keep a copy of these files, and restore a backup.",
		VI: "Dừng máy chủ, giữ lại một bản sao các tệp này rồi khôi phục từ bản sao lưu."}
	cureKey = app.Text{
		EN: "Put the key file back from where the backup keeps it. If it is lost: baoco doctor --new-key, which drops the secrets that only it " +
			"opens; a copy of the database keeps them.",
		VI: "Đặt lại tệp khoá từ nơi cất bản sao lưu. Nếu đã mất hẳn: baoco doctor --new-key, lệnh này bỏ các khoá bí mật chỉ khoá đó mở được; " +
			"một bản sao của cơ sở dữ liệu sẽ giữ lại chúng.",
	}
	cureTotals = app.Text{EN: "Nothing of a transaction is lost. Stop the server, then: baoco doctor --repair-totals",
		VI: "Không giao dịch nào bị mất. Dừng máy chủ rồi chạy: baoco doctor --repair-totals"}
	cureReport = app.Text{EN: "This should never be: keep a copy of the file and report it.",
		VI: "Điều này lẽ ra không bao giờ xảy ra: hãy giữ một bản sao của tệp và báo lại."}
)

// cureOf returns advice against an error.
func cureOf(err error) app.Text {
	switch {
	case errors.Is(err, ErrNoFile):
		return app.Text{EN: "Where there never was one baoco serve creates it; --db names another; if it is lost, restore a backup.",
			VI: "Nếu chưa từng có tệp, baoco serve sẽ tạo; dùng --db để chỉ tệp khác; nếu bị mất, hãy khôi phục từ bản sao lưu."}
	case errors.Is(err, ErrKey):
		return cureKey
	case errors.Is(err, ErrNewer):
		return app.Text{EN: "Use the newer version of baoco.", VI: "Hãy dùng phiên bản baoco mới hơn."}
	case errors.Is(err, fs.ErrPermission), isRefusedWrite(err):
		return app.Text{EN: "Run this as the user that the server runs as; that user must be able to write into the directory.",
			VI: "Hãy chạy bằng tài khoản mà máy chủ đang dùng; tài khoản đó phải ghi được vào thư mục."}
	case errors.Is(err, ErrNotDatabase):
		return app.Text{EN: "Name the right file with --db, or restore a backup.", VI: "Chỉ đúng tệp bằng --db, hoặc khôi phục từ bản sao lưu."}
	}
	switch code := primaryCode(err); {
	case errors.Is(err, ErrTwoNames), errors.Is(err, ErrTaken):
		return app.Text{} // their own texts say what to do
	case code == sqlite3.SQLITE_BUSY:
		return app.Text{EN: "Another command or program works on it: try again in a moment.",
			VI: "Lệnh hoặc chương trình khác đang dùng tệp: hãy thử lại sau giây lát."}
	case code == 0 && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrSchema), code == sqlite3.SQLITE_IOERR, code == sqlite3.SQLITE_NOMEM,
		code == sqlite3.SQLITE_FULL:
		return app.Text{EN: "The files may be whole: look into the log of the system, and keep a copy of them before anything else.",
			VI: "Các tệp có thể vẫn nguyên vẹn: hãy xem nhật ký hệ thống và sao chép lại các tệp trước khi làm gì khác."}
	}
	return cureRestore
}

// restore fails if a restore was interrupted. Until it is finished the database may be
// missing, older, or beside another key, and no other check would give right advice.
func (d *doctor) restore(context.Context) (upkeep.Check, error) {
	path, err := restorePlace(d.path)
	if err == nil {
		var next string
		if next, _, err = pendingRestore(path); err == nil && next != "" {
			return failed(app.Textf("A restore was interrupted, or is just being made: %s is not in its place yet.",
				"Việc khôi phục bị ngắt giữa chừng hoặc đang diễn ra: %s chưa được đặt vào chỗ.", next),
				app.Text{EN: "Nothing is lost. Leave the files as they are: starting the server finishes it, and so does any other command, " +
					"such as baoco bank list.",
					VI: "Không mất gì cả. Hãy để nguyên các tệp: khởi động máy chủ sẽ hoàn tất việc này, lệnh khác như baoco bank list cũng vậy."}), nil
		}
	}
	if err == nil {
		err = checkRescued(path)
	}
	if errors.Is(err, ErrTaken) {
		return failed(app.Text{EN: err.Error(), VI: err.Error()}, app.Text{}), nil
	}
	return fine("No restore is under way.", "Không có việc khôi phục nào đang dở.")
}

func (d *doctor) file(context.Context) (upkeep.Check, error) {
	resolved, err := checkFile(d.path)
	if err != nil {
		return upkeep.Check{}, err
	}
	d.path = resolved
	info, err := os.Stat(resolved)
	if err == nil {
		err = checkOneName(resolved)
	}
	if err != nil {
		return upkeep.Check{}, err
	}
	return fine("%s, %.1f MB", "%s, %.1f MB", resolved, float64(info.Size())/(1<<20))
}

func (d *doctor) server(context.Context) (c upkeep.Check, err error) {
	if d.served, err = isLocked(d.path + ".lock"); err != nil {
		return c, err
	}
	if _, err := os.Stat(d.path + "-wal"); d.served && errors.Is(err, fs.ErrNotExist) {
		if err := checkServedLog(d.path); err != nil {
			return failed(app.Text{EN: err.Error(), VI: err.Error()}, app.Text{
				EN: "Leave the files as they are: a server whose log was taken away saves what it has and ends within a second.",
				VI: "Hãy để nguyên các tệp: máy chủ bị mất tệp nhật ký sẽ tự lưu những gì đang có rồi dừng trong vòng một giây."}), nil
		}
	}
	if d.served {
		return fine("A server runs on this file.", "Đang có máy chủ chạy trên tệp này.")
	}
	return fine("No server runs on this file.", "Không có máy chủ nào chạy trên tệp này.")
}

// permissions compares the owners of the files. installation checks their modes.
func (d *doctor) permissions(context.Context) (upkeep.Check, error) {
	owner, known := ownerOf(d.path)
	var others []string
	for _, suffix := range []string{".key", "-wal", "-shm", ".lock"} {
		if o, exists := ownerOf(d.path + suffix); exists && o != owner {
			others = append(others, app.ShellWord(d.path+suffix))
		}
	}
	dir, err := os.Stat(filepath.Dir(d.path))
	switch {
	case err != nil:
		return upkeep.Check{}, err
	case known && len(others) > 0:
		return warning(app.Textf("Not owned by the owner of the database: %s", "Không cùng chủ sở hữu với cơ sở dữ liệu: %s",
			strings.Join(others, ", ")),
			app.Textf("chown --reference=%s %s", "chown --reference=%s %s", app.ShellWord(d.path), strings.Join(others, " ")))
	case dir.Mode().Perm()&0o022 != 0 && dir.Mode()&fs.ModeSticky == 0:
		return warning(app.Textf("Others may replace the files in %s.", "Người dùng khác có thể thay thế các tệp trong %s.",
			filepath.Dir(d.path)), app.Textf("chmod go-w %s", "chmod go-w %s", app.ShellWord(filepath.Dir(d.path))))
	}
	return fine("All files have one owner.", "Mọi tệp có cùng một chủ sở hữu.")
}

func (d *doctor) disk(context.Context) (upkeep.Check, error) {
	dir := filepath.Dir(d.path)
	if name := networkFileSystem(dir); name != "" {
		return failed(app.Textf("The file system is %s: on a network neither locks nor syncs can be relied on.",
			"Hệ thống tệp là %s: qua mạng thì không thể tin cậy việc khoá và ghi đĩa.", name),
			app.Text{EN: "Move the database to a disk of this machine.", VI: "Hãy chuyển cơ sở dữ liệu sang ổ đĩa của chính máy này."}), nil
	}
	if free := freeSpace(dir); free >= 0 {
		return fine("%d MB free", "Còn trống %d MB", free>>20)
	}
	return fine("a disk of this machine", "ổ đĩa của máy này")
}

func (d *doctor) database(ctx context.Context) {
	d.db = openUntouched(d.path)
	if !d.run(ctx, "schema", d.version) || d.older || !d.run(ctx, "pages", d.pages) {
		return
	}
	if d.Full {
		d.run(ctx, "references", d.references)
	}
	zoned := d.run(ctx, "zone", d.timezone)
	d.run(ctx, "key", d.key)
	if zoned {
		d.run(ctx, "totals", func(ctx context.Context) (upkeep.Check, error) {
			return d.compareTotals(ctx, "totals")
		})
	}
	d.run(ctx, "history", func(ctx context.Context) (upkeep.Check, error) { return d.compareTotals(ctx, "history") })
	d.run(ctx, "queue", d.queue)
	d.run(ctx, "event_ids", d.eventIDs)
	d.run(ctx, "search", d.search)
	d.run(ctx, "clock", d.clock)
	d.installation(ctx)
}

func (d *doctor) version(ctx context.Context) (upkeep.Check, error) {
	known := d.schema.version()
	version, err := d.schema.versionOf(ctx, d.db, d.path)
	if err == nil && version < known {
		d.older = true
		return warning(app.Textf("The schema is %d, that of this baoco %d: nothing else can be looked at.",
			"Phiên bản cấu trúc là %d, của baoco này là %d: chưa thể kiểm tra thêm.", version, known),
			app.Text{EN: "Restart the server with this baoco, which brings it up to date, and examine it again.",
				VI: "Hãy khởi động lại máy chủ bằng baoco này để nâng cấp rồi kiểm tra lại."})
	}
	if err != nil {
		return upkeep.Check{}, err
	}
	return fine("version %d", "phiên bản %d", version)
}

// pages checks the pages of each table, as a server does at its start. A full
// examination checks the whole file at once, with its indexes.
func (d *doctor) pages(ctx context.Context) (upkeep.Check, error) {
	checks := []string{`PRAGMA integrity_check(3)`}
	if d.Full {
		d.Progress("every page")
	} else {
		rows, err := d.db.QueryContext(ctx, checkedTables)
		tables, err := collect(rows, err, scanOne[string])
		if err != nil {
			return upkeep.Check{}, err
		}
		checks = checks[:0]
		for _, table := range tables {
			checks = append(checks, `PRAGMA quick_check(`+table+`)`)
		}
	}
	for i, check := range checks {
		if !d.Full {
			d.Progress(fmt.Sprintf("pages, table %d of %d", i+1, len(checks)))
		}
		rows, err := d.db.QueryContext(ctx, check)
		findings, err := collect(rows, err, scanOne[string])
		if err != nil {
			return upkeep.Check{}, err
		}
		if len(findings) == 1 && findings[0] == "ok" {
			continue
		}
		if d.Full {
			index, err := d.ofSearchIndex(ctx, findings)
			if err != nil {
				return upkeep.Check{}, err
			}
			if index {
				return warning(app.Textf("The search index is damaged: %s", "Chỉ mục tìm kiếm bị hỏng: %s", strings.Join(findings, "; ")), cureTotals)
			}
		}
		return upkeep.Check{}, fmt.Errorf("%w: %s", ErrDamaged, strings.Join(findings, "; "))
	}
	if d.Full {
		return fine("Every page, row and index entry is whole.", "Mọi trang, dòng và chỉ mục đều nguyên vẹn.")
	}
	return fine("Every page of %d tables is whole; --full compares the indexes too.",
		"Mọi trang của %d bảng đều nguyên vẹn; --full so cả chỉ mục.", len(checks))
}

// ofSearchIndex reports whether all findings are about the search index. A repair makes
// the index again, while a restore would lose everything that was recorded since.
func (d *doctor) ofSearchIndex(ctx context.Context, findings []string) (bool, error) {
	rows, err := d.db.QueryContext(ctx, `PRAGMA integrity_check(transactions_search)`)
	own, err := collect(rows, err, scanOne[string])
	return !slices.ContainsFunc(findings, func(f string) bool { return !slices.Contains(own, f) }), err
}

func (d *doctor) references(ctx context.Context) (upkeep.Check, error) {
	d.Progress("references")
	rows, err := d.db.QueryContext(ctx, `SELECT "table", count(*) FROM pragma_foreign_key_check GROUP BY 1`)
	broken, err := collect(rows, err, func(row scanner) (s string, err error) {
		var table string
		var n int64
		err = row.Scan(&table, &n)
		return fmt.Sprintf("%s: %d", table, n), err
	})
	if err != nil {
		return upkeep.Check{}, err
	}
	if len(broken) > 0 {
		return failed(app.Textf("Rows that refer to rows that aren't there: %s", "Có dòng tham chiếu đến dòng không tồn tại: %s",
			strings.Join(broken, ", ")), cureRestore), nil
	}
	return fine("Every reference leads to a row.", "Mọi tham chiếu đều có dòng tương ứng.")
}
