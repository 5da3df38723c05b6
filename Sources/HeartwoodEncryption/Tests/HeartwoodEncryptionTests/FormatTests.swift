import Crypto
import Foundation
import HeartwoodFiles
import Testing

@testable import HeartwoodEncryption

/// The document of the format, held against the code.
@Suite struct FormatTests {
  private static func tables() throws -> [String: [[String]]] {
    let place = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/HeartwoodEncryption/Documentation.docc/Format.md")
    var (heading, tables) = ("", [String: [[String]]]())
    for line in try String(contentsOf: place, encoding: .utf8).split(separator: "\n") {
      if line.hasPrefix("## ") { heading = String(line.dropFirst(3)) }
      guard line.hasPrefix("|"), !line.hasPrefix("|---") else { continue }
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      tables[heading, default: []].append(cells)
    }
    return tables.mapValues { Array($0.dropFirst()) }
  }

  @Test func `the documented constants are those of the code`() throws {
    let constants: [String: UInt64] = [
      "version": UInt64(FileHeader.version), "fileMagic": FileHeader.magic, "keyMagic": KeyFile.magic,
      "blockBytes": UInt64(FileLayout.blockBytes), "blockHeaderBytes": UInt64(FileLayout.blockHeaderBytes),
      "fileHeaderBytes": UInt64(FileLayout.fileHeaderBytes), "slots": UInt64(FileKind.appended.slots),
      "aes256GCM": UInt64(CipherAlgorithm.aes256GCM.rawValue),
      "chaCha20Poly1305": UInt64(CipherAlgorithm.chaCha20Poly1305.rawValue),
      "appendedKind": UInt64(FileKind.appended.rawValue), "pagesKind": UInt64(FileKind.pages.rawValue),
      "wholeKind": UInt64(FileKind.whole.rawValue),
    ]
    var documented: [String: UInt64] = [:]
    for row in try Self.tables()["Overview"] ?? [] {
      documented[row[0]] = row[1].hasPrefix("0x") ? UInt64(row[1].dropFirst(2), radix: 16) : UInt64(row[1])
    }
    #expect(documented == constants)
  }

  @Test func `the fields of each table follow one another, up to its length`() throws {
    let lengths = [
      "A wrapped key": WrappedKey.byteCount, "The file of keys": KeyFile.blockBytes,
      "The header of a file": FileHeader.byteCount,
    ]
    for (heading, length) in lengths {
      var end = 0
      for row in try #require(try Self.tables()[heading]) {
        #expect(Int(row[0]) == end, "\(heading): \(row)")
        end += Int(row[1]) ?? 0
      }
      #expect(end == length, "\(heading)")
    }
  }

  @Test func `a header and a block are where the document says`() throws {
    let key = SymmetricKey(data: [UInt8](repeating: 3, count: 32))
    let header = FileHeader(
      algorithm: .chaCha20Poly1305, kind: .appended, salt: [UInt8](repeating: 9, count: 32), wrapped: nil)
    let bytes = header.encoded(key)
    #expect(Array(bytes[0..<8]) == Array("HWCRYPTF".utf8))
    #expect(
      Array(bytes[8..<32]) == [1, 0, 0, 0, 2, 0, 0, 0, 0, 16, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(bytes[32..<64]) == [UInt8](repeating: 9, count: 32))
    #expect(Array(bytes[64..<176]) == [UInt8](repeating: 0, count: 112))
    let code = HMAC<SHA256>.authenticationCode(
      for: bytes[..<176],
      using: HKDF<SHA256>.deriveKey(
        inputKeyMaterial: key, info: Array("Heartwood header 1".utf8), outputByteCount: 32))
    #expect(Array(bytes[176..<208]) == Array(code))
    #expect(Array(bytes[248...]) == Array(SHA256.hash(data: bytes[..<248]).prefix(8)))
    let read = try #require(FileHeader(bytes))
    #expect(read.algorithm == .chaCha20Poly1305 && read.kind == .appended && read.isAuthentic(key))
    #expect(FileLayout(slots: 4).offset(ofBlock: 2) == 256 + 4160 * 6)
    #expect(FileLayout(slots: 0).size(forPlain: 4096 * 3 + 5) == 256 + 4160 * 3 + 64 + 5)
    for plain in [0, 1, 4095, 4096, 4097, 8192, 100_000] as [Int64] {
      for slots in [0, 4] {
        let layout = FileLayout(slots: slots)
        #expect(layout.plainSize(of: layout.size(forPlain: plain)) == plain)
      }
    }
  }

  @Test func `costs that a file claims are refused where they are unbearable`() {
    for (rounds, blockSize, parallelism) in [(21, 8, 1), (20, 16, 1), (0, 8, 1), (17, 0, 1), (17, 8, 17)]
      as [(UInt32, UInt32, UInt32)]
    {
      var writer = FieldWriter()
      for number in [1, rounds, blockSize, parallelism] { writer.number(number) }
      writer.fill(to: KeyDerivation.byteCount)
      #expect(KeyDerivation(writer.result[...]) == nil)
    }
  }
}
