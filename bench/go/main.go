// Times github.com/minio/md5-simd for the bench, which gives it one order at a time on standard
// input. Lengths are of 8 bytes, little-endian; messages are kept for the orders that follow:
//
//	load COUNT   then COUNT lengths, then the messages
//	run TIMES    hashes all of them so many times; answers with the seconds that took
//	digests      answers with a line in hexadecimal for each message, as the last run had them
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"

	md5simd "github.com/minio/md5-simd"
)

// A server has 16 lanes, and "it may be perfectly reasonable to use more than 16 concurrent
// hashes" (its README): the number that is fastest for these messages is taken.
var crowds = []int{16, 32, 64}

type bench struct {
	server   md5simd.Server
	messages [][]byte
	digests  [][16]byte
	hashers  []md5simd.Hasher
}

func main() {
	log.SetFlags(0)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	b := bench{server: md5simd.NewServer()}
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			return
		}
		var number int
		switch {
		case err != nil:
			log.Fatal(err)
		case line == "digests\n":
			for _, digest := range b.digests {
				fmt.Println(hex.EncodeToString(digest[:]))
			}
		case scan(line, "load %d\n", &number):
			if err := b.load(in, number); err != nil {
				log.Fatal(err)
			}
			fmt.Println("loaded")
		case scan(line, "run %d\n", &number):
			fmt.Println(b.run(number).Seconds())
		default:
			log.Fatalf("no such order: %q", line)
		}
	}
}

func scan(line, format string, number *int) bool {
	_, err := fmt.Sscanf(line, format, number)
	return err == nil
}

func (b *bench) load(in io.Reader, count int) error {
	lengths := make([]uint64, count)
	if err := binary.Read(in, binary.LittleEndian, lengths); err != nil {
		return err
	}
	b.messages = make([][]byte, count)
	b.digests = make([][16]byte, count)
	for i, length := range lengths {
		b.messages[i] = make([]byte, length)
		if _, err := io.ReadFull(in, b.messages[i]); err != nil {
			return err
		}
	}
	b.chooseCrowd()
	return nil
}

func (b *bench) chooseCrowd() {
	fastest, best := time.Duration(0), 0
	for _, crowd := range crowds {
		b.setCrowd(crowd)
		b.run(1)
		if took := b.run(3); best == 0 || took < fastest {
			fastest, best = took, crowd
		}
	}
	b.setCrowd(best)
}

// setCrowd makes as many hashers, which live as long as the messages do.
func (b *bench) setCrowd(crowd int) {
	for _, hasher := range b.hashers {
		hasher.Close()
	}
	b.hashers = make([]md5simd.Hasher, min(crowd, len(b.messages)))
	for i := range b.hashers {
		b.hashers[i] = b.server.NewHash()
	}
}

func (b *bench) run(times int) time.Duration {
	start := time.Now()
	for range times {
		var next atomic.Int64
		var done sync.WaitGroup
		for _, hasher := range b.hashers {
			done.Add(1)
			go func() {
				defer done.Done()
				for i := next.Add(1) - 1; i < int64(len(b.messages)); i = next.Add(1) - 1 {
					hasher.Reset()
					hasher.Write(b.messages[i])
					hasher.Sum(b.digests[i][:0])
				}
			}()
		}
		done.Wait()
	}
	return time.Since(start)
}
