/// Why bytes are no archive, property list or compressed data, and where.
package struct ArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error as the end of a sentence: "the code has no end".
  package let message: String
  /// The offset in the bytes, from 0; nil if the fault has no place of its own.
  package let offset: Int?

  package init(_ message: String, at offset: Int? = nil) {
    self.message = message
    self.offset = offset
  }

  package var description: String { offset.map { "\(message) (at byte \($0))" } ?? message }
}
