/// The server side of the network block device protocol (fixed newstyle negotiation, simple replies) without
/// input or output: it consumes received bytes and returns the steps to take.
///
/// One conversation is one connection. The client names a disk and then sends requests.
public struct DiskConversation: Sendable {
  /// The next step to take.
  public enum Step: Equatable, Sendable {
    /// Send these bytes.
    case send([UInt8])
    /// Perform this request and send its reply.
    case perform(DiskRequest)
    /// Close the connection.
    case close
  }

  /// The error for a client that violates the protocol.
  public struct Violation: Error, Equatable, CustomStringConvertible {
    /// A description of the violation.
    public var description: String
  }

  private enum Phase { case flags, options, requests, closed }

  private let sizes: [String: Int]
  private var phase = Phase.flags
  private var received: [UInt8] = []
  private var sendsZeros = true
  /// The name of the requested disk, once it is known.
  public private(set) var disk: String?

  /// Creates a conversation that offers disks with these sizes in bytes.
  public init(sizes: [String: Int]) { self.sizes = sizes }

  /// The first bytes that the server sends.
  public static let greeting: [UInt8] =
    Array("NBDMAGICIHAVEOPT".utf8) + BigEndian.bytes(Handshake.fixedNewstyle | Handshake.noZeroes)

  /// Consumes bytes from the client and returns the resulting steps in order.
  ///
  /// - Throws: `Violation`. The connection must then be closed.
  public mutating func receive(_ bytes: [UInt8]) throws -> [Step] {
    received += bytes
    var (steps, position): ([Step], Int) = ([], 0)
    while phase != .closed, let length = try messageLength(received[position...]) {
      guard received.count - position >= length else { break }
      steps += try take(received[position..<position + length])
      position += length
    }
    received.removeFirst(position)
    return steps
  }

  /// The length of the next message in bytes; nil if it is not known yet.
  private func messageLength(_ bytes: ArraySlice<UInt8>) throws -> Int? {
    switch phase {
    case .flags: return 4
    case .options:
      guard bytes.count >= 16 else { return nil }
      let length = Int(BigEndian.read(bytes, at: 12, as: UInt32.self))
      guard length <= 4096 else { throw Violation(description: "an option of \(length) bytes") }
      return 16 + length
    case .requests:
      guard bytes.count >= 28 else { return nil }
      let length = Int(BigEndian.read(bytes, at: 24, as: UInt32.self))
      guard length <= Request.longest || BigEndian.read(bytes, at: 6) != Request.write else {
        throw Violation(description: "a write of \(length) bytes")
      }
      return 28 + (BigEndian.read(bytes, at: 6) == Request.write ? length : 0)
    case .closed: return nil
    }
  }

  private mutating func take(_ message: ArraySlice<UInt8>) throws -> [Step] {
    switch phase {
    case .flags:
      sendsZeros = BigEndian.read(message, at: 0, as: UInt32.self) & UInt32(Handshake.noZeroes) == 0
      phase = .options
      return []
    case .options: return try negotiate(message)
    case .requests: return try request(message)
    case .closed: return []
    }
  }

  // MARK: Options

  private mutating func negotiate(_ message: ArraySlice<UInt8>) throws -> [Step] {
    guard message.prefix(8).elementsEqual("IHAVEOPT".utf8) else {
      throw Violation(description: "an option without its magic number")
    }
    let option: UInt32 = BigEndian.read(message, at: 8)
    let data = message.dropFirst(16)
    switch option {
    case Option.exportName:
      guard let size = choose(String(decoding: data, as: UTF8.self)) else { return close() }
      let zeros = [UInt8](repeating: 0, count: sendsZeros ? 124 : 0)
      return [.send(Self.export(size) + zeros)]
    case Option.go, Option.info: return try describe(option, data)
    case Option.abort:
      let farewell = Step.send(Self.optionReply(option, OptionReply.acknowledged))
      return [farewell] + close()
    default: return [.send(Self.optionReply(option, OptionReply.unsupported))]
    }
  }

  private mutating func describe(_ option: UInt32, _ data: ArraySlice<UInt8>) throws -> [Step] {
    guard data.count >= 6, case let length = Int(BigEndian.read(data, at: 0, as: UInt32.self)),
      data.count >= 6 + length
    else { throw Violation(description: "a question for a disk that is too short") }
    let name = String(decoding: data.dropFirst(4).prefix(length), as: UTF8.self)
    guard let size = sizes[name] else { return [.send(Self.optionReply(option, OptionReply.unknown))] }
    if option == Option.go { _ = choose(name) }
    let information = BigEndian.bytes(UInt16(0)) + Self.export(size)
    return [
      .send(Self.optionReply(option, OptionReply.information, information)),
      .send(Self.optionReply(option, OptionReply.acknowledged)),
    ]
  }

  private mutating func choose(_ name: String) -> Int? {
    guard let size = sizes[name] else { return nil }
    disk = name
    phase = .requests
    return size
  }

  private mutating func close() -> [Step] {
    phase = .closed
    return [.close]
  }

  private static func export(_ size: Int) -> [UInt8] {
    BigEndian.bytes(UInt64(size)) + BigEndian.bytes(Transmission.flags)
  }

  private static func optionReply(_ option: UInt32, _ kind: UInt32, _ data: [UInt8] = []) -> [UInt8] {
    BigEndian.bytes(UInt64(0x0003_E889_0455_65A9)) + BigEndian.bytes(option) + BigEndian.bytes(kind)
      + BigEndian.bytes(UInt32(data.count)) + data
  }

  // MARK: Requests

  private mutating func request(_ message: ArraySlice<UInt8>) throws -> [Step] {
    guard BigEndian.read(message, at: 0, as: UInt32.self) == 0x2560_9513 else {
      throw Violation(description: "a request without its magic number")
    }
    let kind: UInt16 = BigEndian.read(message, at: 6)
    guard kind != Request.disconnect else { return close() }
    let length = Int(BigEndian.read(message, at: 24, as: UInt32.self))
    let offset: UInt64 = BigEndian.read(message, at: 16)
    guard let size = disk.flatMap({ sizes[$0] }), offset <= UInt64(size), length <= size - Int(offset) else {
      throw Violation(description: "request \(kind) of \(length) bytes at \(offset), beyond the disk")
    }
    let request = DiskRequest(
      kind: try Self.kind(kind, length, message.dropFirst(28)), offset: Int(offset),
      isForced: BigEndian.read(message, at: 4, as: UInt16.self) & 1 != 0,
      cookie: BigEndian.read(message, at: 8))
    return [.perform(request)]
  }

  private static func kind(
    _ number: UInt16, _ length: Int, _ data: ArraySlice<UInt8>
  ) throws -> DiskRequest.Kind {
    switch number {
    case Request.read: return .read(length: length)
    case Request.write: return .write(Array(data))
    case Request.flush: return .flush
    case Request.trim, Request.writeZeroes: return .zero(length: length)
    default: throw Violation(description: "request \(number), which is not announced")
    }
  }
}

private enum Handshake {
  static let fixedNewstyle: UInt16 = 1
  static let noZeroes: UInt16 = 2
}

private enum Option {
  static let exportName: UInt32 = 1
  static let abort: UInt32 = 2
  static let info: UInt32 = 6
  static let go: UInt32 = 7
}

private enum OptionReply {
  static let acknowledged: UInt32 = 1
  static let information: UInt32 = 3
  static let unsupported: UInt32 = 1 << 31 | 1
  static let unknown: UInt32 = 1 << 31 | 6
}

private enum Transmission {
  /// Has flags; supports flushes, forced writes, trims and writes of zeros.
  static let flags: UInt16 = 1 | 4 | 8 | 32 | 64
}

private enum Request {
  static let read: UInt16 = 0
  static let write: UInt16 = 1
  static let disconnect: UInt16 = 2
  static let flush: UInt16 = 3
  static let trim: UInt16 = 4
  static let writeZeroes: UInt16 = 6
  /// The maximum number of bytes in one write of qemu.
  static let longest = 32 << 20
}
