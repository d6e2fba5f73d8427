package demo

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"path"
)

// Partitions is the number of parts of the input.
const Partitions = 64

// goFiles returns the paths of the .go files of input, in lexical order.
func goFiles(input fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(input, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && path.Ext(name) == ".go" {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the .go files: %w", err)
	}
	return files, nil
}

// split puts each file into its partition. Every process does so by itself, with the same result.
func split(files []string) [Partitions][]string {
	var parts [Partitions][]string
	for _, name := range files {
		p := partitionOf(name)
		parts[p] = append(parts[p], name)
	}
	return parts
}

func partitionOf(name string) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name)) // a hash never fails
	return int(hash.Sum32() % Partitions)
}
