import Comparison
import HeartwoodFaults
import Testing
import Workload

@Suite struct CallTraceTests {
  private static let records = [
    TraceRecord(.makeFolder), TraceRecord(.done),
    TraceRecord(.create, handle: 1, name: "a.new"), TraceRecord(.done),
    TraceRecord(.write, handle: 1, number: 3, payload: [UInt8](repeating: 7, count: 1000)),
    TraceRecord(.done, number: 1000),
    TraceRecord(.rename, name: "a.new", otherName: "a"), TraceRecord(.done),
    TraceRecord(.open, handle: 2, name: "missing"), TraceRecord(.failed),
    TraceRecord(.sync, handle: 1), TraceRecord(.done),
    TraceRecord(.unlink, name: "a"),
  ]

  /// The moment of each sector is its number.
  private static let trace = CallTrace(records.flatMap(\.bytes) + [UInt8](repeating: 0, count: 512)) {
    $0 / 512
  }

  @Test(arguments: records)
  func `a record is read as it was written`(record: TraceRecord) throws {
    let bytes = record.bytes
    #expect(bytes.count % 512 == 0)
    let first = try #require(TraceRecord.first(in: bytes[...]))
    #expect(first.record == record)
    #expect(first.length == bytes.count)
  }

  @Test func `bytes that are no record are the end of a trace`() {
    #expect(TraceRecord.first(in: [UInt8](repeating: 0, count: 1024)[...]) == nil)
    #expect(TraceRecord.first(in: Self.records[4].bytes.dropLast(512)) == nil)
  }

  @Test func `a call has the moments at which its records had arrived whole`() {
    let calls = Self.trace.calls
    #expect(calls.map(\.record.kind) == [.makeFolder, .create, .write, .rename, .open, .sync, .unlink])
    #expect(calls[2].begun == 6)
    #expect(calls[2].ended == 7)
    #expect(calls[2].result == 1000)
    #expect(calls[4].hasFailed)
    #expect(calls[6].ended == nil)
  }

  @Test func `a replay makes the calls that had begun, but for a sync that had not returned`() throws {
    let replay = TraceReplay(Self.trace, .posix, seed: 1)
    try replay.advance(to: 6)
    #expect(try folderState("/store", in: replay.disk)["a.new"]?.count == 1003)
    try replay.advance(to: 12)
    #expect(replay.disk.unsyncedChangeCount == 3)
    try replay.advance(to: 13)
    #expect(replay.disk.unsyncedChangeCount == 2)
    try replay.advance(to: .max)
    #expect(try folderState("/store", in: replay.disk).isEmpty)
  }
}
