package replica

import "time"

// LetIdle has the connection of an SFTP server reach its deadline, as it does where ten
// seconds go by without a request, and waits until it has ended.
func LetIdle(o Objects) {
	s := o.(*server)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Now()
	_ = s.conn.SetDeadline(s.until)
	_ = s.client.Wait()
}
