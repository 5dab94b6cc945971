package script

import "fmt"

// The message about a file that is no script, without a word of the file where its reader may not see it.

// conceal gives the error of a file that is no script, without a word of the file if Options.MayShow says so: whoever
// may run this program by sudo, or with capabilities, could else read files line by line ("undefined: hunter2").
func (h *Host) conceal(name string, err error) error {
	path, read := h.read[name]
	if err == nil || h.opts.MayShow == nil || !read || h.opts.MayShow(path) {
		return err
	}
	return fmt.Errorf("%s is no script without mistakes; they are not shown, since they quote the file, and you may "+
		"read it only by sudo, or by the rights that startrace was given: become root to see them", name)
}
