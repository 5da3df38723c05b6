import Foundation
import HeartwoodBytes

/// The operations of a simulation with their results: a hash of all, and the text of the last ones.
final class Trace: CustomStringConvertible {
  private let isPrinted: Bool
  private(set) var count = 0
  private(set) var digest: UInt64 = 0
  private var last: [String] = []

  private static let remembered = 25

  init(isPrinted: Bool = false) { self.isPrinted = isPrinted }

  func begin() { count += 1 }

  /// Records a part of the current operation.
  func note(_ text: String) {
    var line = text
    digest = line.withUTF8 { XXH3.hash(UnsafeRawBufferPointer($0), seed: digest) }
    line = "\(count): \(text)"
    if isPrinted { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
    last.append(line)
    if last.count > 2 * Self.remembered { last.removeFirst(Self.remembered) }
  }

  var description: String {
    "operation \(count); the last were\n  " + last.suffix(Self.remembered).joined(separator: "\n  ") + "\n"
  }
}
