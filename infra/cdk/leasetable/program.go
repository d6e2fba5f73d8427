package leasetable

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const (
	programName = "bootstrap" // the name of the file that Lambda starts
	programDir  = "dist/lambda/reaper"
	programHint = `run "make lambda" at the root of dynamolease, or set Props.Reaper.AssetDir to the folder with it`
)

// findProgram returns the folder with the reaper's program, after it has checked the program.
func findProgram(dir string) (string, error) {
	if dir != "" {
		return dir, checkProgram(dir)
	}
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("get the working directory: %w", err)
	}
	for at := start; ; at = filepath.Dir(at) {
		dir := filepath.Join(at, filepath.FromSlash(programDir))
		if _, err := os.Stat(filepath.Join(dir, programName)); err == nil {
			return dir, checkProgram(dir)
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("there is no %s/%s in %s or above: %s", programDir, programName, start, programHint)
		}
	}
}

// checkProgram refuses a program that Lambda cannot start: Lambda itself would report that only at
// the first run.
func checkProgram(dir string) error {
	path := filepath.Join(dir, programName)
	file, err := elf.Open(path)
	var format *elf.FormatError
	switch {
	case errors.As(err, &format), errors.Is(err, io.EOF):
		return fmt.Errorf("%s is not a Linux program: %s", path, programHint)
	case err != nil:
		return fmt.Errorf("%w: %s", err, programHint)
	}
	defer file.Close()
	if file.Machine != elf.EM_AARCH64 {
		return fmt.Errorf("%s is built for %v, but the function runs on arm64: %s", path, file.Machine, programHint)
	}
	return nil
}
