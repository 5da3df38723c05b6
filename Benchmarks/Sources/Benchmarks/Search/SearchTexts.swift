import BenchmarkHarness

/// Texts and places to search, the same for every peer: titles of twelve words, of which a few are very frequent, at places of a map.
struct SearchTexts {
  struct Item {
    let number: Int64
    let title: String
    let x, y: Double
  }

  let items: [Item]

  /// Words by how frequent they are: a thousandth of the words is in half of the titles.
  static let vocabulary = 20_000

  init(objects: Int) {
    var random = SplitMix64(seed: 26)
    let frequency = Zipfian(count: Self.vocabulary)
    items = (0..<objects).map { number in
      let words = (0..<12).map { _ in Self.word(frequency.draw(&random)) }
      return Item(
        number: Int64(number), title: words.joined(separator: " "), x: Self.coordinate(&random),
        y: Self.coordinate(&random))
    }
  }

  /// The word of a rank, of syllables, so that words share beginnings.
  static func word(_ rank: Int) -> String {
    let syllables = ["ba", "co", "di", "fu", "ga", "lo", "mi", "nu", "re", "sa"]
    var (word, rest) = ("", rank)
    repeat {
      word += syllables[rest % 10]
      rest /= 10
    } while rest > 0
    return word + "n"
  }

  private static func coordinate(_ random: inout SplitMix64) -> Double {
    Double(random.next(below: 1_000_000)) / 1000
  }
}

/// The texts that one query of each row looks for.
struct SearchQueries {
  /// Words that are in some ten titles, in some hundred, and in thousands.
  let rare, usual, frequent: [String]
  /// Corners of squares: a hundredth of the map's width, and a tenth.
  let small, large: [(x: Double, y: Double)]

  static let (smallSide, largeSide) = (10.0, 100.0)

  init(round: Int) {
    var random = SplitMix64(seed: UInt64(round) &+ 99)
    func words(_ ranks: Range<Int>) -> [String] {
      (0..<20).map { _ in SearchTexts.word(ranks.lowerBound + random.next(below: ranks.count)) }
    }
    rare = words(10_000..<20_000)
    usual = words(500..<1500)
    frequent = words(2..<12)
    func corners(_ side: Double) -> [(x: Double, y: Double)] {
      let step = (1000 - side) / 1000
      return (0..<20).map { _ in
        (Double(random.next(below: 1000)) * step, Double(random.next(below: 1000)) * step)
      }
    }
    small = corners(Self.smallSide)
    large = corners(Self.largeSide)
  }
}
