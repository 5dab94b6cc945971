package changes

import (
	"errors"
	"os"

	"github.com/startrace/startrace/internal/filewatch"
	"github.com/startrace/startrace/internal/loading"
	"github.com/startrace/startrace/internal/parts"
)

// The cgroup that is traced is removed or made anew (--cgroup, --container), and the message of it.

// Cgroup follows the cgroup that is traced, if one was asked for (--cgroup, --container). A service that starts again
// gets a new one at the same path, with another number: that one is traced, too.
type Cgroup struct {
	// loader has the parts, and where messages go.
	loader *loading.Loader
	// path is that of its folder. It is "" until the first part is bound, as all that follows.
	path string
	// numbers are those that it has had so far.
	numbers []uint64
	// watch hears of other folders at the path. It is nil where the kernel gives no watch.
	watch *filewatch.Folder
	// news is what was heard since follow was called last.
	news inbox[cgroupNews]
}

// cgroupNews says what is at the path now.
type cgroupNews struct {
	// number is that of the cgroup, 0 for none.
	number uint64
	// err is why no more will be heard.
	err error
}

// NewCgroup makes what follows the cgroup that is traced; it listens once a part traces one.
func NewCgroup(l *loading.Loader) *Cgroup { return &Cgroup{loader: l} }

// Bind lets a part know which cgroups are traced. The first time it begins to listen for others.
func (c *Cgroup) Bind(p *parts.Part) error {
	if p.Result.Cgroups < 0 {
		return nil
	}
	if c.numbers == nil {
		c.path, c.numbers = c.loader.Run.Target.CgroupFolder(), []uint64{p.Plan.Target.Cgroup.ID}
		c.news.bell = c.loader.Run.Bell
		c.listen()
	}
	for _, number := range c.numbers {
		if err := p.TraceCgroup(number); err != nil {
			return err
		}
	}
	return nil
}

// listen begins to listen for what becomes of the cgroup.
func (c *Cgroup) listen() {
	watch, err := filewatch.WatchFolder(c.path, c.numbers[0])
	if err != nil {
		c.sayUnwatched(err)
		return
	}
	c.watch = watch
	go c.news.fill(func() (cgroupNews, error) {
		number, err := watch.Next()
		if err == nil || errors.Is(err, os.ErrClosed) {
			return cgroupNews{number: number}, err
		}
		return cgroupNews{err: err}, watch.Close() // so that the next call ends with ErrClosed
	})
}

func (c *Cgroup) sayUnwatched(err error) {
	c.loader.Run.Messages.Lackf("startrace: %v: if the cgroup %s is removed and made anew, that is not traced", err,
		c.path)
}

// Close ends the watch.
func (c *Cgroup) Close() error {
	if c.watch == nil {
		return nil
	}
	return c.watch.Close()
}

// Follow traces the cgroups that were made in the place of those before.
func (c *Cgroup) Follow() {
	for _, news := range c.news.take() {
		switch {
		case news.err != nil:
			c.sayUnwatched(news.err)
		case news.number == 0:
			c.loader.Run.Messages.Sayf("The cgroup %s was removed: nothing is traced until there is one again", c.path)
		default:
			c.madeAnew(news.number)
		}
	}
}

func (c *Cgroup) madeAnew(number uint64) {
	c.numbers = append(c.numbers, number)
	if err := c.trace(number); err != nil {
		c.loader.Run.Messages.Lackf("startrace: the cgroup %s was made anew, and is not traced: %v", c.path, err)
		return
	}
	c.loader.Run.Messages.Sayf("The cgroup %s was made anew: it is traced from here on", c.path)
}

// trace lets all parts trace one more cgroup.
func (c *Cgroup) trace(number uint64) error {
	for _, p := range c.loader.Run.Parts.All {
		if err := p.TraceCgroup(number); err != nil {
			return err
		}
	}
	return nil
}
