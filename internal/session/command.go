package session
func (s *session) startCommand() error { return nil }
func (s *session) releaseCommand() error { return nil }
func (s *session) stopCommand() {}
