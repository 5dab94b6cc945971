package kernel

// The types of the kernel of Facts.

// BTF gives the kernel's types.
func (f *Facts) BTF() (*BTF, error) {
	f.btfOnce.Do(func() {
		switch {
		case f.earlier != nil:
			f.btf, f.btfErr = f.earlier.BTF()
		case f.opts.BTF != nil:
			f.btf, f.btfErr = ParseBTF(f.opts.BTF)
		case f.opts.BTFPath != "":
			f.btf, f.btfErr = openBTF(f.opts.BTFPath)
		default:
			f.btf, f.btfErr = OpenBTF()
		}
	})
	return f.btf, f.btfErr
}
