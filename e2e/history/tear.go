package history

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
)

// tear answers a Query with rows from two reads, between which time passes. A Query that straddles
// a transaction can return such a mixture.
func (p *path) tear(m *message, w weather) (*http.Response, error) {
	first, err := p.rows(m)
	if err != nil {
		return nil, err
	}
	if err := m.wait(w.delay); err != nil {
		return nil, err
	}
	response, d, err := p.deliver(m)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	var second struct{ Items []row }
	if json.Unmarshal(content, &answer) != nil || json.Unmarshal(content, &second) != nil {
		return nil, reset("read")
	}
	answer["Items"] = merge(first, second.Items, w.torn)
	if content, err = json.Marshal(answer); err != nil {
		return nil, err
	}
	refit(response, content)
	if err := m.wait(w.down); err != nil {
		return nil, err
	}
	d.answered = true
	return response, nil
}

// refit gives an answer another content.
func refit(response *http.Response, content []byte) {
	response.Body = io.NopCloser(bytes.NewReader(content))
	response.ContentLength = int64(len(content))
	response.Header.Set("Content-Length", strconv.Itoa(len(content)))
	response.Header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(content)), 10))
}

func (p *path) rows(m *message) ([]row, error) {
	response, _, err := p.deliver(m)
	if err != nil {
		return nil, err
	}
	var answer struct{ Items []row }
	return answer.Items, json.NewDecoder(response.Body).Decode(&answer)
}

// merge takes each row from one of two answers. The bits of choice say from which.
func merge(first, second []row, choice uint64) []row {
	merged := []row{}
	i, j := 0, 0
	for n := 0; i < len(first) || j < len(second); n++ {
		var a, b row
		switch {
		case j == len(second), i < len(first) && first[i].text("sk") < second[j].text("sk"):
			a = first[i]
			i++
		case i == len(first), first[i].text("sk") > second[j].text("sk"):
			b = second[j]
			j++
		default:
			a, b = first[i], second[j]
			i, j = i+1, j+1
		}
		if choice>>(n%64)&1 == 1 {
			a = b
		}
		if a != nil {
			merged = append(merged, a)
		}
	}
	return merged
}
