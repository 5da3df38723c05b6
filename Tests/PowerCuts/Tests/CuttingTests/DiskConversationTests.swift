import Testing

@testable import Cutting

@Suite struct DiskConversationTests {
  private var conversation = DiskConversation(sizes: ["disk": 1 << 20])

  private static func option(_ number: UInt32, _ data: [UInt8]) -> [UInt8] {
    Array("IHAVEOPT".utf8) + BigEndian.bytes(number) + BigEndian.bytes(UInt32(data.count)) + data
  }

  private static func go(_ name: String) -> [UInt8] {
    option(7, BigEndian.bytes(UInt32(name.utf8.count)) + Array(name.utf8) + BigEndian.bytes(UInt16(0)))
  }

  private static func request(
    _ kind: UInt16, flags: UInt16 = 0, at offset: UInt64 = 0, _ length: UInt32 = 0, _ data: [UInt8] = []
  ) -> [UInt8] {
    BigEndian.bytes(UInt32(0x2560_9513)) + BigEndian.bytes(flags) + BigEndian.bytes(kind)
      + BigEndian.bytes(UInt64(77)) + BigEndian.bytes(offset) + BigEndian.bytes(length) + data
  }

  private mutating func negotiate() throws {
    _ = try conversation.receive(BigEndian.bytes(UInt32(3)) + Self.go("disk"))
  }

  @Test func `the greeting announces fixed newstyle negotiation without zeros`() {
    #expect(DiskConversation.greeting == Array("NBDMAGICIHAVEOPT".utf8) + [0, 3])
  }

  @Test mutating func `a disk that is asked for by name is described with its size and its flags`() throws {
    let steps = try conversation.receive(BigEndian.bytes(UInt32(3)) + Self.go("disk"))
    let head = BigEndian.bytes(UInt64(0x0003_E889_0455_65A9)) + BigEndian.bytes(UInt32(7))
    let export: [UInt8] = [0, 0] + BigEndian.bytes(UInt64(1 << 20)) + [0, 1 + 4 + 8 + 32 + 64]
    #expect(
      steps == [.send(head + [0, 0, 0, 3, 0, 0, 0, 12] + export), .send(head + [0, 0, 0, 1, 0, 0, 0, 0])])
    #expect(conversation.disk == "disk")
  }

  @Test mutating func `a disk that is not there is refused and another may be asked for`() throws {
    _ = try conversation.receive(BigEndian.bytes(UInt32(3)) + Self.go("tape"))
    #expect(conversation.disk == nil)
    _ = try conversation.receive(Self.go("disk"))
    #expect(conversation.disk == "disk")
  }

  @Test mutating func `an option that is not known is answered as unsupported`() throws {
    let steps = try conversation.receive(BigEndian.bytes(UInt32(3)) + Self.option(8, []))
    guard case .send(let reply)? = steps.first else { throw Missing() }
    #expect(Array(reply[12..<16]) == [0x80, 0, 0, 1])
  }

  @Test mutating func `the older option for a name is answered with the zeros that the client wants`() throws
  {
    let steps = try conversation.receive(BigEndian.bytes(UInt32(1)) + Self.option(1, Array("disk".utf8)))
    guard case .send(let reply)? = steps.first else { throw Missing() }
    #expect(reply.count == 8 + 2 + 124)
  }

  @Test mutating func `requests are understood however their bytes arrive`() throws {
    try negotiate()
    let written = Self.request(1, flags: 1, at: 512, 4, [1, 2, 3, 4])
    let bytes = written + Self.request(3) + Self.request(0, at: 8, 16) + Self.request(4, at: 0, 512)
    var steps: [DiskConversation.Step] = []
    for byte in bytes { steps += try conversation.receive([byte]) }
    func step(_ kind: DiskRequest.Kind, _ offset: Int, _ isForced: Bool = false) -> DiskConversation.Step {
      .perform(DiskRequest(kind: kind, offset: offset, isForced: isForced, cookie: 77))
    }
    let expected = [
      step(.write([1, 2, 3, 4]), 512, true), step(.flush, 0), step(.read(length: 16), 8),
      step(.zero(length: 512), 0),
    ]
    #expect(steps == expected)
  }

  @Test func `a reply repeats the cookie of its request`() {
    let request = DiskRequest(kind: .read(length: 2), offset: 0, isForced: false, cookie: 5)
    let expected: [UInt8] = [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 9, 8]
    #expect(request.reply([9, 8]) == expected)
  }

  @Test mutating func `disconnecting closes the connection`() throws {
    try negotiate()
    #expect(try conversation.receive(Self.request(2)) == [.close])
    #expect(try conversation.receive(Self.request(3)) == [])
  }

  @Test(arguments: [(1 << 20, 1), (UInt64.max, 1), (1 << 20 - 1, 2)] as [(UInt64, UInt32)])
  func `a request beyond the disk is a violation`(offset: UInt64, length: UInt32) throws {
    var conversation = conversation
    _ = try conversation.receive(BigEndian.bytes(UInt32(3)) + Self.go("disk"))
    #expect(throws: DiskConversation.Violation.self) {
      _ = try conversation.receive(Self.request(0, at: offset, length))
    }
  }

  @Test mutating func `bytes that are no request are a violation`() throws {
    try negotiate()
    var conversation = conversation
    #expect(throws: DiskConversation.Violation.self) {
      _ = try conversation.receive([UInt8](repeating: 1, count: 28))
    }
  }
}

private struct Missing: Error {}
