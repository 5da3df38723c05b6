import Foundation
import TestSupport
import Testing

/// The order of the locks, as ARCHITECTURE has it, beside the sources.
struct LockTableTests {
  @Test func `the tables have each lock of the graph and of what is built on it, and no other`() throws {
    let modules = [
      "HeartwoodModel", "Heartwood", "CoreData", "SwiftData", "HeartwoodAppleStores", "HeartwoodSQLite",
      "HeartwoodBrowser", "HeartwoodCommand", "HeartwoodPostgres/Sources/HeartwoodPostgres",
      "HeartwoodEncryption/Sources/HeartwoodEncryption",
    ]
    let found = try modules.flatMap { module in
      try PackageFolder.sources(in: "Sources/\(module)").values.flatMap { LockMembers(of: $0).names }
    }
    let chapters = try PackageFolder.text(of: "ARCHITECTURE.md").components(separatedBy: "\n## ")
    let locks = try #require(
      chapters.first { $0.hasPrefix("Locks") }?.components(separatedBy: "### Locks of the graph").last)
    let rows = locks.split(separator: "\n").filter { $0.hasPrefix("| ") }.compactMap { row in
      row.split(separator: "|", omittingEmptySubsequences: false).dropFirst(2).first
    }
    let listed = rows.flatMap { $0.matches(of: #/`([\w.]+)`/#).map { String($0.output.1) } }
    #expect(Set(found).subtracting(listed).sorted() == [], "these are not in the table")
    #expect(Set(listed).subtracting(found).sorted() == [], "the table has these, the sources do not")
    #expect(listed.count == Set(listed).count)
  }

  @Test func `locks are found by the types around them, and only as members`() {
    let text = """
      final class Outer {
        private let state = Guarded(State())
        static let known: Guarded<[Int]> = Guarded([])
        // let old = Guarded(1)
        struct Inner {
          let lock = NSLock()
        }
        func use() {
          let local = Guarded(0)
        }
      }
      """
    #expect(LockMembers(of: text).names == ["Outer.state", "Outer.known", "Outer.Inner.lock"])
  }
}
