import Cutting
import Testing
import Workload

@Suite struct DiskRecordTests {
  private static func write(_ offset: Int) -> DiskRecord.Event {
    .write(offset: offset, bytes: [UInt8](repeating: 1, count: 512), isForced: false)
  }

  /// Two writes, a flush, an acknowledgement, a write, a flush, two writes.
  private static let record: DiskRecord = {
    var record = DiskRecord()
    record.append(write(0))
    record.append(line: "opened 0")
    record.append(write(512))
    record.append(.flush)
    record.append(line: "ack 1")
    record.append(write(0))
    record.append(.flush)
    record.append(line: "ack 2")
    record.append(write(1024))
    record.append(write(2048))
    return record
  }()

  @Test(arguments: [(0, 0), (2, 0), (3, 3), (4, 3), (5, 5), (7, 5)])
  func `what no flush covers is uncertain`(position: Int, first: Int) {
    #expect(Self.record.firstUncertain(at: position) == first)
  }

  @Test func `the flushes of a lying disk cover nothing`() {
    #expect(Self.record.firstUncertain(at: 7, ignoringLast: 1) == 3)
    #expect(Self.record.firstUncertain(at: 7, ignoringLast: 5) == 0)
  }

  @Test(arguments: [(0, 0), (2, 0), (3, 1), (4, 1), (5, 2), (7, 2)])
  func `an acknowledgement counts from the moment of its arrival`(position: Int, number: Int) {
    #expect(Self.record.lastAcknowledged(at: position) == number)
  }

  @Test func `other lines acknowledge nothing`() {
    var record = DiskRecord()
    for line in ["ack", "ack x", "ack 1 2", "nack 3", "[ 1.0] ack 4"] { record.append(line: line) }
    #expect(record.acknowledgements.isEmpty)
    #expect(record.openedAt == nil)
  }

  @Test func `cuts are between the opening of the store and the end, which is one of them`() {
    var random = RandomNumbers(seed: 1)
    let positions = Self.record.cutPositions(50, &random)
    #expect(positions == positions.sorted())
    #expect(positions.last == 7)
    #expect(positions.allSatisfy { (1...7).contains($0) })
    #expect(positions.count == Set(positions).count)
  }

  @Test func `a record without any event is cut at its beginning`() {
    var random = RandomNumbers(seed: 1)
    #expect(DiskRecord().cutPositions(5, &random) == [0])
  }
}
