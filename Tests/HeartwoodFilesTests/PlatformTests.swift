import Foundation
import Testing

/// The rules that keep the library portable, checked in its sources.
@Suite struct `Other platforms` {
  private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Sources").standardized

  /// The lines of all sources below a folder that have a match, as "path: line".
  private func lines(_ folder: String, with pattern: some RegexComponent) throws -> [String] {
    let root = Self.sources.appending(path: folder)
    let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
    var found: [String] = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let path = file.path.dropFirst(Self.sources.path.count + 1)
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      where line.contains(pattern) {
        found.append("\(path): \(line.trimmingCharacters(in: .whitespaces))")
      }
    }
    return found.sorted()
  }

  @Test func `one file names the C library of the system`() throws {
    let imports = try lines(
      "", with: /^ *(@\w+ )?import (Darwin|Glibc|Musl|Android|WASILibc|ucrt|CRT|WinSDK)$/)
    let others = imports.filter { line in
      // The watch of Darwin exists only there; the macros of SwiftData, and a benchmark, are programs without our modules.
      ![
        "CLibrary/", "HeartwoodFiles/Posix/VnodeDirectoryWatch", "SwiftDataMacros/",
        "HeartwoodEncryption/Sources/Benchmark/",
      ]
      .contains { line.hasPrefix($0) }
    }
    #expect(others == [])
    #expect(imports.count { $0.hasPrefix("CLibrary/") } == 5)
  }

  /// Files are longer than an `Int` of 32 bits can say.
  @Test(arguments: ["HeartwoodFiles", "HeartwoodFaults"])
  func `offsets in files have 64 bits`(module: String) throws {
    let offsets = try lines(module, with: /(at|from|to) (offset|position|start|end): U?Int\b/)
    // Those in memory, and in the bytes of a simulated disk, have as many as an address.
    #expect(offsets.filter { !$0.contains("AnonymousMemory") && !$0.contains("DiskState") } == [])
    let sizes = try lines(module, with: /func (size|truncate|resize|allocate)\(.*\bInt\b/)
    #expect(sizes.filter { !$0.contains("Simulated/") } == [])
  }
}
