/// The parsed command line.
struct Arguments: Sendable {
  var size = Size.short
  var seed: UInt64 = 1
  /// The duration in seconds after which no further piece is started; nil for no limit.
  var seconds: Double?
  var processes: Int?
  /// The names of the parts to run; empty for all.
  var parts: [String] = []
  /// The number of the single piece to run; nil for all.
  var piece: Int?
  /// The path of the journal; nil for no journal.
  var state: String?

  static let usage = """
    usage: Tests/FaultProgramme/run [short|standard|long] [options] [part ...]

      short       a fifth of the figures and small stores, for every change (the default)
      standard    the figures that RELIABILITY.md quotes
      long        continues until its time is up

      --seed N      decides everything that looks random; 1
      --minutes M   starts nothing new after M minutes, which the parts share; a further run continues there
      --processes N run pieces at the same time; as many as there are processors
      --fresh       forgets what was done before
      --piece N     runs one piece of one part, as a failure has named it

    parts:
    """

  /// Parses the arguments. Throws a description of the first error.
  init(_ words: [String]) throws {
    var words = words[...]
    func number<Number: LosslessStringConvertible>(_ option: String) throws -> Number {
      guard let word = words.popFirst(), let number = Number(word) else {
        throw Finding("\(option) needs a number")
      }
      return number
    }
    while let word = words.popFirst() {
      switch word {
      case "--seed": seed = try number(word)
      case "--minutes": seconds = 60 * (try number(word))
      case "--processes": processes = max(1, try number(word))
      case "--piece": piece = try number(word)
      case "--state": state = words.popFirst()
      default:
        if let size = Size(rawValue: word) {
          self.size = size
        } else if !word.hasPrefix("-") {
          parts.append(word)
        } else {
          throw Finding("there is no option \(word)")
        }
      }
    }
    if size == .long, seconds == nil { seconds = 8 * 3600 }
  }
}
