/// An error in a source, with its place.
package struct TranslationError: Error, CustomStringConvertible {
  let file: String
  let line: Int
  let message: String
  package var description: String { "\(file):\(line):1: error: \(message)" }
}
