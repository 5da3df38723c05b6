import BenchmarkHarness

/// The choice of what is measured, where and how often, for a program and for its command line.
public struct BenchmarkOptions: Sendable {
  /// How many records the stores have, one table for each; empty for the usual number.
  public var recordCounts: [Int] = []
  /// The shape of the keys.
  public var keys = KeyShape.decimal
  /// How many rounds, of which the median counts; `nil` for the usual number.
  public var rounds: Int?
  /// Seconds that rows that read go on for at least: short for a table, long for a profile.
  public var least = 0.05
  /// Seconds that a turn waits at most until the process is at rest and what was written is on disk; 0 where figures do
  /// not count, as in a test.
  public var rest = 5.0
  /// Whether standard error says what is being measured: not in a test.
  public var saysProgress = true
  /// Whether tables are printed as Markdown.
  public var markdown = false
  /// A file for the ratios as a chart.
  public var svg: String?
  /// The folder in which the stores are made: its disk is measured.
  public var directory = "/var/tmp"
  /// A text that the names of rows contain, or several with `|` between them; `nil` for all rows.
  public var rows: String?
  /// The names of the peers, the first compared with the others; empty for all.
  public var peers: [String] = []
  /// Whether only the usage was asked for.
  public var help = false

  /// The options as they are where none is named.
  public init() {}

  /// Takes all words of a command line.
  /// - Throws: `BenchmarkError` for a word that is unknown, or a value that is none.
  public init(_ words: some Sequence<String>) throws {
    var words = CommandWords(words)
    while let word = words.next() {
      guard try take(word, &words) else {
        throw BenchmarkError("unknown argument '\(word)'\n\n\(Self.usage)")
      }
    }
  }

  /// Takes one word, and its value, where it is an option of these.
  /// - Returns: Whether it is.
  /// - Throws: `BenchmarkError` for a value that is none.
  public mutating func take(_ word: String, _ words: inout CommandWords) throws -> Bool {
    switch word {
    case "--records": recordCounts = try words.numbers(for: word)
    case "--rounds": rounds = try words.number(for: word)
    case "--svg": svg = try words.text(for: word)
    case "--rows": rows = try words.text(for: word)
    case "--peers": peers = try words.text(for: word).split(separator: ",").map(String.init)
    case "--directory": directory = try words.text(for: word)
    case "--keys": keys = try Self.shape(try words.text(for: word), word)
    case "--least": least = try words.seconds(for: word)
    case "--markdown": markdown = true
    case "--cpu": break  // Stopwatch looks for it
    case "--help", "-h": help = true
    default: return false
    }
    return true
  }

  private static func shape(_ text: String, _ word: String) throws -> KeyShape {
    guard let shape = KeyShape(rawValue: text) else {
      throw BenchmarkError("\(word) is decimal or random, not '\(text)'")
    }
    return shape
  }

  /// The lines of the options for a program that only measures engines.
  public static let usage = """
      --records N,M   records, one table for each number (1000000)
      --keys SHAPE    decimal, or random (decimal)
      --rounds N      rounds, of which the median counts (5, and 3 for rows that
                      take a peer more than ten seconds)
    \(usageOfEveryPart)
      --svg FILE      the ratios as a chart
    """

  /// The lines of the options that mean the same for every part of `heartwood-benchmarks`.
  public static let usageOfEveryPart = """
      --rows TEXT     only rows whose name contains TEXT, or one of several: A|B
      --peers A,B     only these peers, the first compared with the others
      --directory D   where the stores are made (/var/tmp)
      --least S       seconds that a row that reads is repeated for (0.05)
      --cpu           count processor time, not the clock: for a machine that is busy
      --markdown      the tables as Markdown
    """

  /// Whether a row is asked for.
  public func includes(row: String) -> Bool {
    guard let rows else { return true }
    return rows.split(separator: "|").contains { row.contains($0) }
  }

  /// Whether a peer is asked for.
  public func includes(peer: String) -> Bool {
    peers.isEmpty || peers.contains { $0.lowercased() == peer.lowercased() }
  }

  /// A table in the form that was asked for.
  public func text(of table: ResultTable) -> String { markdown ? table.markdown() : table.aligned() }
}
