import HeartwoodFaults
import Testing

@testable import HeartwoodBrowser

struct HeadBufferTests {
  @Test func `heads are found however their bytes arrive`() throws {
    let heads = ["GET / HTTP/1.1\r\nA: b", "", "B\r\n\rC", "D\n\nE"]
    let bytes = Array(heads.map { $0 + "\r\n\r\n" }.joined().utf8)
    var generator = SplitMix64(seed: 7)
    for _ in 0..<500 {
      var (buffer, rest, found) = (HeadBuffer(), bytes[...], [String]())
      while !rest.isEmpty {
        let count = min(rest.count, 1 + generator.below(9))
        buffer.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
        while let head = try buffer.next() { found.append(String(decoding: head, as: UTF8.self)) }
      }
      #expect(found == heads)
      #expect(buffer.isEmpty)
    }
  }

  @Test func `a head may have the longest length, and no byte more`() throws {
    var buffer = HeadBuffer()
    buffer.append(Array(repeating: 65, count: RequestHead.longest))
    #expect(try buffer.next() == nil)
    var longer = buffer
    buffer.append([13, 10, 13, 10])
    #expect(try buffer.next()?.count == RequestHead.longest)
    longer.append([65, 13, 10, 13, 10])
    #expect(throws: Refusal.self) { try longer.next() }
  }
}
