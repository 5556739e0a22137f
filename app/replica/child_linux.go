package replica

import (
	"os/exec"
	"syscall"
)

// endWithUs has the kernel kill a program when the thread that starts it ends, as all
// threads do when this process is killed.
func endWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
