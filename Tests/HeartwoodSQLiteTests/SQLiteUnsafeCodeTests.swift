import Foundation
import TestSupport
import Testing

/// Unsafe code is contained: a file that uses it is listed here, with its reason.
struct SQLiteUnsafeCodeTests {
  private static let rules = UnsafeCodeRules(
    root: "Sources/HeartwoodSQLite",
    rawMemory: [
      "owns memory, and reads numbers in it": ["Pages/ByteBlock.swift", "Records/Record.swift"],
      "calls of the C library": ["Writing/IndexSorter.swift", "Writing/PageOutput.swift"],
    ],
    uncheckedSendable: [
      "never changes after it was filled": ["Pages/ByteBlock.swift"],
      "never changes while a row refers to it": ["Records/Record.swift"],
    ])

  @Test func `only the listed files use unsafe code`() throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().path
    #expect(try Self.rules.violations(in: package) == [])
  }
}
