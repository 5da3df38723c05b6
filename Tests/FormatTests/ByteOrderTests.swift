import Foundation
import HeartwoodBytes
import Testing

@testable import HeartwoodEngine

/// The bytes on disk do not depend on the order of bytes in the machine's words, nor on where words may be read.
@Suite struct `Byte order and alignment` {
  /// Files that read or write words whose order does not matter, or is the machine's on purpose.
  private static let exceptions = [
    "XXH3+Long.swift": "turns the words of the vector round where that is needed",
    "LZ4.swift": "copies words from one place to another",
  ]

  @Test(arguments: ["HeartwoodBytes", "HeartwoodEngine"])
  func `words are read and written as little-endian`(module: String) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/\(module)")
      .standardized
    let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
    let access = /(loadUnaligned|\.load|storeBytes)\([^()]*(\([^()]*\))?[^()]*as: (?!UInt8)\w+\.self/
    var (checked, found) = (0, [String]())
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for match in text.matches(of: access) {
        checked += 1
        let start = text.index(match.range.lowerBound, offsetBy: -80, limitedBy: text.startIndex)
        let context = text[(start ?? text.startIndex)..<match.range.upperBound]
        guard !context.contains("littleEndian"), Self.exceptions[file.lastPathComponent] == nil else {
          continue
        }
        found.append("\(file.lastPathComponent): \(match.output.0)")
      }
    }
    #expect(found == [])
    #expect(checked > 3)
  }

  @Test func `structures are read at any address`() throws {
    let slot = AnchorSlot(
      identifier: StoreIdentifier(low: 1, high: 2), sequence: 3, created: 4,
      checkpoint: LogPosition(segment: 5, offset: 6), checkpointChecksum: 7, lastLogSegment: 8,
      knownDurable: LogPoint(
        position: LogPosition(segment: 9, offset: 10), sequence: 11, chain: 12, generation: 13),
      nextSegment: 14,
      isClean: true)
    let checkpoint = CheckpointRecord(
      generation: 1, root: .init(reference: 2, checksum: 3, level: 4, count: 5), replay: slot.knownDurable,
      previous: nil, previousChecksum: 0, previousGeneration: 0, nextSegment: 15,
      segments: [.init(number: 16, isLog: false, extent: 17, chain: 18)])
    let header = SegmentHeader(
      identifier: slot.identifier, number: 3, salt: 4, predecessor: slot.knownDurable, copiedThrough: 10,
      durableThrough: 11)
    let record = record(seed: 9)
    for shift in 0..<16 {
      moved(slot.encoded(slot: 1), by: shift) { #expect(AnchorSlot.decode($0, slot: 1) == .valid(slot)) }
      moved(checkpoint.encoded(), by: shift) { #expect(CheckpointRecord.decode($0) == checkpoint) }
      moved(header.encoded(magic: Format.logSegmentMagic), by: shift) { bytes in
        let found = SegmentHeader.decode(
          bytes, magic: Format.logSegmentMagic, number: 3, identifier: slot.identifier)
        #expect(found == header)
      }
      moved(record, by: shift) { bytes in
        let found = Record.parse(Bytes(bytes))
        #expect(found.map { Array($0.key) } == [1, 2, 3] && found.map { Array($0.storedValue) } == [4, 5])
      }
    }
  }

  private func record(seed: UInt64) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Record.overheadLimit + 5)
    let count = bytes.withWritableBytes { target in
      [1, 2, 3].withBytes { key in
        [4, 5].withBytes { value in
          Record.write(to: target, operation: Format.putOperation, key: key, value: value, seed: seed).bytes
        }
      }
    }
    return Array(bytes[..<count])
  }

  /// Calls `body` with the bytes at an address that is a multiple of 16, and `shift`.
  private func moved(_ bytes: [UInt8], by shift: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + shift, alignment: 16)
    defer { memory.deallocate() }
    let part = UnsafeMutableRawBufferPointer(rebasing: memory[shift...])
    part.copyBytes(from: bytes)
    body(UnsafeRawBufferPointer(part))
  }
}
