/// The words of a command line, taken one after the other.
public struct CommandWords {
  private var remaining: ArraySlice<String>

  /// Words of which none is taken.
  public init(_ words: some Sequence<String>) { remaining = Array(words)[...] }

  /// Takes the next word; `nil` at the end.
  public mutating func next() -> String? { remaining.popFirst() }

  /// Takes the value of an option.
  /// - Parameter option: The option's word, for the error.
  /// - Throws: `BenchmarkError` where there is none.
  public mutating func text(for option: String) throws -> String {
    guard let text = remaining.popFirst() else { throw BenchmarkError("\(option) needs a value") }
    return text
  }

  /// Takes the value of an option that is a number of seconds.
  /// - Throws: `BenchmarkError` where there is none, or it is below 0.
  public mutating func seconds(for option: String) throws -> Double {
    let text = try text(for: option)
    guard let seconds = Double(text), seconds >= 0 else {
      throw BenchmarkError("\(option) needs a number of seconds, not '\(text)'")
    }
    return seconds
  }

  /// Takes the value of an option that is a whole number above 0.
  /// - Throws: `BenchmarkError` where there is none.
  public mutating func number(for option: String) throws -> Int {
    try Self.number(in: try text(for: option), for: option)
  }

  /// Takes the value of an option that is one such number or several with commas between them.
  /// - Throws: `BenchmarkError` where one is none.
  public mutating func numbers(for option: String) throws -> [Int] {
    try text(for: option).split(separator: ",").map { try Self.number(in: String($0), for: option) }
  }

  private static func number(in text: String, for option: String) throws -> Int {
    guard let number = Int(text), number > 0 else {
      throw BenchmarkError("\(option) needs a positive number, not '\(text)'")
    }
    return number
  }
}
