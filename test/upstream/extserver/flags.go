package extserver

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/pflag"
)

// Flags is an ordered list of a server's flags. Setting a name again replaces its earlier values.
type Flags struct {
	names  []string
	values map[string][]string
}

func (f *Flags) Set(name string, values ...string) {
	if f.values == nil {
		f.values = map[string][]string{}
	}
	if _, ok := f.values[name]; !ok {
		f.names = append(f.names, name)
	}
	f.values[name] = values
}

func (f *Flags) Add(name, value string) { f.Set(name, append(f.values[name], value)...) }

func (f *Flags) Has(name string) bool { _, ok := f.values[name]; return ok }

func (f *Flags) Get(name string) string {
	if v := f.values[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

func (f *Flags) Remove(name string) {
	if !f.Has(name) {
		return
	}
	delete(f.values, name)
	for i, n := range f.names {
		if n == name {
			f.names = append(f.names[:i:i], f.names[i+1:]...)
			return
		}
	}
}

// Merge copies all flags from other.
func (f *Flags) Merge(other *Flags) {
	for _, name := range other.names {
		f.Set(name, other.values[name]...)
	}
}

// Parse parses args with fs. It returns the flags with the texts that were given, before any
// conversion.
func Parse(fs *pflag.FlagSet, args []string) (*Flags, error) {
	given := &Flags{}
	err := fs.ParseAll(args, func(flag *pflag.Flag, value string) error {
		given.Add(flag.Name, value)
		return fs.Set(flag.Name, value)
	})
	return given, err
}

// Changed returns the flags whose values in fs differ from those in defaults. They differ because
// code has changed the options struct to which the flags belong.
func Changed(fs, defaults *pflag.FlagSet) *Flags {
	changed := &Flags{}
	fs.VisitAll(func(flag *pflag.Flag) {
		old := defaults.Lookup(flag.Name)
		if old == nil || old.Value.String() == flag.Value.String() {
			return
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			if flag.Value.Type() == "stringArray" {
				changed.Set(flag.Name, list.GetSlice()...)
			} else {
				changed.Set(flag.Name, strings.Join(list.GetSlice(), ","))
			}
			return
		}
		changed.Set(flag.Name, flag.Value.String())
	})
	return changed
}

var refusal = regexp.MustCompile(`--([a-z0-9-]+)(?:: |=| )(\S+) is not supported`)

// refusals returns the flag values that the server's log reports as not supported. It also removes
// these values from flags.
func refusals(log string, flags *Flags) []string {
	var refused []string
	for _, match := range refusal.FindAllStringSubmatch(log, -1) {
		name, unwanted := match[1], match[2]
		if !flags.Has(name) {
			continue
		}
		var kept []string
		for _, value := range strings.Split(strings.Join(flags.values[name], ","), ",") {
			if value != unwanted && !strings.HasPrefix(value, unwanted+"=") {
				kept = append(kept, value)
			}
		}
		flags.Remove(name)
		if len(kept) > 0 {
			flags.Set(name, strings.Join(kept, ","))
		}
		refused = append(refused, fmt.Sprintf("--%s=%s", name, unwanted))
	}
	return refused
}

var (
	knownOnce sync.Once
	known     map[string]bool
	errKnown  error
)

// knownFlags returns the flags that the server's help lists.
func knownFlags(words []string) (map[string]bool, error) {
	knownOnce.Do(func() {
		help, err := exec.Command(words[0], append(append([]string{}, words[1:]...), "--help")...).CombinedOutput()
		if err != nil {
			errKnown = fmt.Errorf("%s --help: %w", words[0], err)
			return
		}
		known = map[string]bool{}
		for _, match := range regexp.MustCompile(`(?m)^\s+(?:-\w, )?--([a-z0-9-]+)`).FindAllStringSubmatch(string(help), -1) {
			known[match[1]] = true
		}
	})
	return known, errKnown
}
