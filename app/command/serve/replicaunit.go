package serve

import (
	_ "embed"
	"io"
	"path/filepath"
	"text/template"
)

//go:embed baoco-litestream.service
var replicaUnitText string

var replicaUnitFile = template.Must(template.New("").Parse(replicaUnitText))

// ReplicaUnitName is the file of Litestream's systemd unit.
const ReplicaUnitName = "baoco-litestream.service"

// ReplicaUnit is what Litestream's unit is made of. All paths are absolute.
type ReplicaUnit struct {
	User                      string // of the database
	Program, Config, Database string
	KeyFile                   string // of SFTP; may be empty
	Place                     string // a directory of this machine; empty: the place is elsewhere
}

// Write writes the unit.
func (u ReplicaUnit) Write(w io.Writer) error { return replicaUnitFile.Execute(w, u) }

func (ReplicaUnit) Version() string { return Version }

// CommandLine has no secrets and no environment: both are in the configuration.
func (u ReplicaUnit) CommandLine() string {
	return commandLine(u.Program, "replicate", "-config", u.Config, "-no-expand-env")
}

func (u ReplicaUnit) Directory() string { return unitWord(filepath.Dir(u.Database)) }

func (u ReplicaUnit) Mount() string {
	if u.Place == "" {
		return ""
	}
	return unitWord(u.Place)
}

func (u ReplicaUnit) paths() []string {
	return []string{u.Program, u.Database, u.KeyFile, u.Place + "/"}
}

func (u ReplicaUnit) InHome() bool { return inHome(u.paths()...) }

func (u ReplicaUnit) InTmp() bool { return inTmp(u.paths()...) }
