package script

import "testing"

// What is a duration, and what is another number.
func TestIsDuration(t *testing.T) {
	for text, want := range map[string]string{
		"e.duration":                            "True",
		"(e.duration)":                          "True",
		"lambda x: x.duration":                  "True",
		"lambda x, y=1: (x.duration)":           "True",
		"lambda x=1: x.duration":                "True",
		"-e.duration":                           "True",
		"+e.duration - e.duration":              "True",
		"abs(e.duration - 5 * MSEC)":            "True",
		"max(e.duration, 5)":                    "True",
		"min(-5, USEC, e.duration)":             "True",
		"e.duration if e.ret < 0 else 0":        "True",
		"5 // 2 - (0 if e.ret else e.duration)": "True",
		"e.duration // 1000":                    "False",
		"e.duration * 2 // e.args.count":        "False",
		"e.duration - e.ret":                    "False",
		"e.duration if e.ret < 0 else e.ret":    "False",
		"max(e.duration, e.ret)":                "False",
		"len([e.duration])":                     "False",
		"~e.duration":                           "False",
		"e.args.duration":                       "False",
		"lambda *e: e.duration":                 "False",
		"max(*e.duration)":                      "False",
		"max(e.duration, key = e.duration)":     "False",
		"5":                                     "False",
		"e.duration, 1":                         "False",
		"e.duration > 5":                        "False",
	} {
		source := "print(is_duration(expression('''" + text + "''')))\n"
		if _, rt := runTest(t, source); rt.out.String() != want+"\n" {
			t.Errorf("%s: got %s, want %s", text, rt.out.String(), want)
		}
	}
}
