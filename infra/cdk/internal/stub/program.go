// Package stub makes stand-ins for the reaper's program. They are for tests that only synthesize,
// because a synthesis reads only the header of the program.
package stub

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
)

// Program writes a file called bootstrap into a folder, and makes the folder if it is missing. The
// file is the header of a Linux program for a machine.
func Program(dir string, machine elf.Machine) error {
	header := elf.Header64{
		Ident:   [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:    uint16(elf.ET_EXEC),
		Machine: uint16(machine),
		Version: uint32(elf.EV_CURRENT),
		Ehsize:  64,
	}
	var file bytes.Buffer
	err := binary.Write(&file, binary.LittleEndian, header)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "bootstrap"), file.Bytes(), 0o755)
	}
	if err != nil {
		return fmt.Errorf("write a stand-in for the reaper's program: %w", err)
	}
	return nil
}
