package prompt

// Events delivered between two chunks.

// deliver delivers what has been recorded, and what the command has printed.
func (p *prompt) deliver() error {
	_, ended := p.s.CommandEnded() // before what is delivered now
	p.relay(false)
	if err := p.s.Turn(); err != nil {
		return err
	}
	if ended {
		p.sayCommandEnded()
	}
	return nil
}

// deliverWhile goes on with the loop, and comes back when all has been delivered
// that was recorded up to then.
func (p *prompt) deliverWhile(goesOn func() bool) error {
	for goesOn() {
		if err := p.deliver(); err != nil {
			return err
		}
		if !goesOn() {
			break
		}
		if err := p.s.Wait(); err != nil {
			return err
		}
	}
	return p.deliver()
}
