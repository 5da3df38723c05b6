import CLibPQ
import Foundation

/// The rows of a statement, in PostgreSQL's binary form.
final class PostgresRows {
  private let result: OpaquePointer
  let count: Int

  init(_ result: OpaquePointer) {
    self.result = result
    count = Int(PQntuples(result))
  }

  deinit { PQclear(result) }

  /// The number of rows that a statement has changed.
  var changed: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

  func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(result, Int32(row), Int32(column)) != 0 }

  /// The bytes of a value; valid as long as the rows.
  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(result, Int32(row), Int32(column)),
      count: Int(PQgetlength(result, Int32(row), Int32(column))))
  }

  /// An integer of two, four or eight bytes.
  func integer(_ row: Int, _ column: Int) -> Int64 {
    let bytes = bytes(row, column)
    switch bytes.count {
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    default: return 0
    }
  }

  /// A floating-point number of four or eight bytes.
  func double(_ row: Int, _ column: Int) -> Double {
    let bytes = bytes(row, column)
    switch bytes.count {
    case 8: return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    case 4: return Double(Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))))
    default: return 0
    }
  }

  func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

  func uuid(_ row: Int, _ column: Int) -> UUID? {
    let bytes = bytes(row, column)
    return bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
  }
}
