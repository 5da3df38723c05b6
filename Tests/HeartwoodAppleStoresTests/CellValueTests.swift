import Foundation
import Heartwood
import HeartwoodSQLite
import Testing

@testable import HeartwoodAppleStores

/// Cells of another storage class than their attribute.
struct CellValueTests {
  private static let decimals: [(SQLiteValue, String?)] = [
    (.integer(30), "30"), (.real(3.1), "3.1"), (.text("NaN"), "NaN"), (.text(" 1.50 "), "1.5"),
    (.text("12345678901234567890.123456789"), "12345678901234567890.123456789"), (.text("1e3"), "1000"),
    (.text("no number"), nil), (.real(.infinity), nil), (.null, nil),
  ]

  @Test(arguments: decimals)
  func `a decimal number is what its cell says, and NaN is one`(cell: SQLiteValue, expected: String?) {
    #expect(cell.asDecimal.map { $0.isNaN ? "NaN" : "\($0)" } == expected)
  }

  private static let integers: [(SQLiteValue, Int64)] = [
    (.real(-3.9), -3), (.real(1e300), .max), (.real(-1e300), .min), (.text(" +12 apples"), 12),
    (.text("-7"), -7), (.text("apples"), 0), (.text("99999999999999999999"), .max),
    (.blob([0x34, 0x32]), 42),
  ]

  @Test(arguments: integers)
  func `a whole number is the one at the beginning of a text`(cell: SQLiteValue, expected: Int64) {
    #expect(cell.asInteger == expected)
  }

  private static let numbers: [(SQLiteValue, Double)] = [
    (.integer(2), 2), (.text("1.5e2 m"), 150), (.text("."), 0), (.text("1e"), 1), (.text("-.5"), -0.5),
    (.text("0x10"), 0), (.text("1e999"), .infinity), (.text("nan"), 0), (.text(" +3.e1"), 30),
    (.text("1" + String(repeating: "e", count: 2_000_000)), 1),
    (.text(String(repeating: "-", count: 2_000_000)), 0),
  ]

  @Test(arguments: numbers)
  func `a floating-point number is the one at the beginning of a text`(cell: SQLiteValue, expected: Double) {
    #expect(cell.asDouble == expected)
  }

  /// A file's encoding, the blob of an integer, of a decimal and of a text, that of a number, and what SQLite's functions make of them.
  private static let blobs: [(String, String, String, Int32, Double, String)] = [
    ("UTF-8", "3432", "312e35", 42, 1.5, "42"),
    ("UTF-16le", "34003200", "31002e003500", 42, 1.5, "42"),
    ("UTF-16le", "340032", "31002e", 4, 1, "4"),
    ("UTF-16le", "3432", "312e35", 0, 0, "\u{3234}"),
    ("UTF-16be", "00340032", "0031002e0035", 42, 1.5, "42"),
    ("UTF-16be", "34003200", "31002e003500", 0, 0, "\u{3400}\u{3200}"),
  ]

  @Test(.comparesWithPython, arguments: blobs)
  func `a blob in a column of numbers is text in the encoding of the file`(
    _ encoding: String, _ whole: String, _ fraction: String, _ integer: Int32, _ number: Double,
    _ text: String
  ) throws {
    let fixture = try StoreFixture(
      making: """
        whole, fraction = bytes.fromhex('\(whole)'), bytes.fromhex('\(fraction)')
        store = Store(path, Model([E('P', [
            A('i', 'int32'), A('f', 'double'), A('n', 'decimal'), A('t', 'string')])]), encoding='\(encoding)')
        store.write([Object('P', {'i': whole, 'f': fraction, 'n': whole, 't': whole})])
        store.close()
        """)
    let open = try fixture.open()
    try open.read { context in
      let object = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "P")).first)
      #expect(object.value(forKey: "i") as? Int32 == integer)
      #expect(object.value(forKey: "f") as? Double == number)
      #expect(object.value(forKey: "n") as? Decimal == Decimal(integer))
      #expect(object.value(forKey: "t") as? String == text)
    }
    #expect(open.store.notes == [])
  }
}
