/// What one peer did in one row of one round.
struct Measurement {
  /// Operations per second, or bytes, or milliseconds: as the row's unit says.
  var figure: Double
  /// What the peer read or left behind: equal for all peers, or the run fails. `nil` where there is nothing.
  var digest: UInt64?
}

/// What a row's figure means.
enum Unit {
  case operationsPerSecond
  case milliseconds
  case bytes

  var biggerIsBetter: Bool { self == .operationsPerSecond }

  func text(_ figure: Double) -> String {
    switch self {
    case .operationsPerSecond: Self.abbreviated(figure)
    case .milliseconds: "\(Self.digits(figure)) ms"
    case .bytes: "\(Self.digits(figure / 1e6)) MB"
    }
  }

  private static func abbreviated(_ figure: Double) -> String {
    switch figure {
    case 1e6...: digits(figure / 1e6) + "M"
    case 1e3...: digits(figure / 1e3) + "k"
    default: digits(figure)
    }
  }

  /// Three significant digits.
  private static func digits(_ figure: Double) -> String {
    let places = figure >= 100 ? 0 : figure >= 10 ? 1 : figure >= 1 ? 2 : 3
    return decimal(figure, places: places)
  }
}

/// `figure` with `places` digits behind the point.
func decimal(_ figure: Double, places: Int) -> String {
  var scale = 1
  for _ in 0..<places { scale *= 10 }
  let scaled = (figure * Double(scale)).rounded()
  guard scaled.isFinite, abs(scaled) < 1e15 else { return "?" }
  let whole = Int(scaled) / scale
  guard places > 0 else { return "\(whole)" }
  let rest = String(Int(scaled) % scale)
  return "\(whole)." + String(repeating: "0", count: places - rest.count) + rest
}

/// The middle one of `figures`, or the mean of the two in the middle.
func median(_ figures: [Double]) -> Double {
  let sorted = figures.sorted()
  guard !sorted.isEmpty else { return .nan }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
