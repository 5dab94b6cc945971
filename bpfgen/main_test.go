package bpfgen

import (
	"testing"

	"github.com/startrace/startrace/test/resident"
)

func TestMain(m *testing.M) {
	resident.InGuest()
	m.Run()
}
