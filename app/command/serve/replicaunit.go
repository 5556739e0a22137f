package serve

import (
	_ "embed"
	"io"
	"path/filepath"
	"text/template"
)

//go:embed baoco-litestream.service
var replicaUnitText string

var replicaUnitFile = template.Must(template.New("").Option("missingkey=error").Parse(replicaUnitText))

// ReplicaUnitName is the file of Litestream's systemd unit.
const ReplicaUnitName = "baoco-litestream.service"

// ReplicaUnit is what Litestream's unit is made of. All paths are absolute.
type ReplicaUnit struct {
	User                      string // of the database
	Program, Config, Database string
	KeyFile                   string // of SFTP; may be empty
	Place                     string // a directory of this machine; empty: the place is elsewhere
}

// Write writes the unit. Its command line has no secrets and no environment: both are in the
// configuration.
func (u ReplicaUnit) Write(w io.Writer) error {
	paths := []string{u.Program, u.Database, u.KeyFile, u.Place + "/"}
	return replicaUnitFile.Execute(w, map[string]any{
		"Version": Version, "User": u.User, "CommandLine": commandLine(u.Program, "replicate", "-config", u.Config, "-no-expand-env"),
		"Directory": unitWord(filepath.Dir(u.Database)), "Mount": unitWord(u.Place), "InHome": inHome(paths...), "InTmp": inTmp(paths...),
	})
}
