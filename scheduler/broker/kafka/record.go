package kafka

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"baoco/app/stream"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// recordBatch is a batch of Kafka (version 2 of its format) of the messages at some
// indices. kmsg has the layout; lengths and sum are for its callers to fill in.
func recordBatch(messages []stream.Message, indices []int, now time.Time) []byte {
	var records []byte
	for offset, i := range indices {
		m := messages[i]
		record := kmsg.Record{OffsetDelta: int32(offset), Key: []byte(m.ID), Value: m.Body}
		for _, h := range m.Headers {
			record.Headers = append(record.Headers, kmsg.Header{Key: h.Name, Value: []byte(h.Value)})
		}
		body := record.AppendTo(nil)[1:] // without its length, still 0
		records = append(binary.AppendVarint(records, int64(len(body))), body...)
	}
	batch := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2,
		LastOffsetDelta: int32(len(indices) - 1), FirstTimestamp: now.UnixMilli(), MaxTimestamp: now.UnixMilli(),
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, // not idempotent: consumers skip repeats by the key
		NumRecords: int32(len(indices)), Records: records,
	}
	raw := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))                   // what follows the length
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], castagnoli)) // what follows the sum
	return raw
}

// partitionOf chooses the partition of a key as Kafka's own producers do: MurmurHash2
// of the key without the sign, modulo the number of partitions.
func partitionOf(key string, partitions int) int32 {
	return int32(murmur2([]byte(key))&0x7fffffff) % int32(partitions)
}

func murmur2(b []byte) uint32 {
	const m = 0x5bd1e995
	h := 0x9747b28c ^ uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		k := binary.LittleEndian.Uint32(b) * m
		h = h*m ^ (k^k>>24)*m
	}
	for i := len(b) - 1; i >= 0; i-- {
		h ^= uint32(b[i]) << (8 * i)
		if i == 0 {
			h *= m
		}
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}
