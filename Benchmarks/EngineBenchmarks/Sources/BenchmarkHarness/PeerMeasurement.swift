/// The result of one peer in one row of one round.
public struct PeerMeasurement {
  /// Operations per second, or bytes, or a time: as the row's unit says.
  public var figure: Double
  /// The digest of what the peer read or left behind: equal for all peers, or the run fails. `nil` where
  /// there is nothing.
  public var digest: UInt64?

  /// A figure, and the digest of what was read.
  public init(figure: Double, digest: UInt64? = nil) {
    self.figure = figure
    self.digest = digest
  }
}

/// The unit of a row's figure.
public enum RowUnit: String, Sendable {
  /// Operations per second: the more, the better.
  case operationsPerSecond
  /// Millionths of a second.
  case microseconds
  /// Thousandths of a second.
  case milliseconds
  /// Bytes.
  case bytes
  /// How many times something else.
  case times

  var biggerIsBetter: Bool { self == .operationsPerSecond || self == .times }

  func text(_ figure: Double) -> String { text([figure], spreads: false) }

  /// The median of `figures`, and the least and the greatest of them where there are several and they differ.
  func text(_ figures: [Double], spreads: Bool) -> String {
    let middle = median(figures)
    guard !middle.isNaN else { return "" }
    let (divisor, suffix) = scale(of: middle)
    let text = Self.digits(middle / divisor) + suffix
    guard spreads, figures.count > 1, let least = figures.min(), let most = figures.max() else { return text }
    return "\(text) (\(Self.digits(least / divisor))..\(Self.digits(most / divisor)))"
  }

  private func scale(of figure: Double) -> (divisor: Double, suffix: String) {
    switch self {
    case .operationsPerSecond: figure >= 1e6 ? (1e6, "M") : figure >= 1e3 ? (1e3, "k") : (1, "")
    case .microseconds: (1, " µs")
    case .milliseconds: (1, " ms")
    case .bytes: (1e6, " MB")
    case .times: (1, "x")
    }
  }

  /// Three significant digits.
  private static func digits(_ figure: Double) -> String {
    let places = figure >= 100 ? 0 : figure >= 10 ? 1 : figure >= 1 ? 2 : 3
    return decimal(figure, places: places)
  }
}

/// The goal of a row.
public enum Goal: Sendable {
  /// How many times better than the best of the others.
  case ratio(Double)
  /// The figure itself, in the row's unit.
  case atMost(Double)
  /// The figure itself, in the row's unit.
  case atLeast(Double)

  func text(_ unit: RowUnit) -> String {
    switch self {
    case .ratio(let ratio): decimal(ratio, places: 2)
    case .atMost(let figure): "under " + unit.text(figure)
    case .atLeast(let figure): "over " + unit.text(figure)
    }
  }
}

/// `figure` with `places` digits behind the point.
public func decimal(_ figure: Double, places: Int) -> String {
  var scale = 1
  for _ in 0..<places { scale *= 10 }
  let scaled = (figure * Double(scale)).rounded()
  guard scaled.isFinite, abs(scaled) < 1e15 else { return "?" }
  let whole = Int(scaled) / scale
  guard places > 0 else { return "\(whole)" }
  let rest = String(abs(Int(scaled)) % scale)
  return "\(whole)." + String(repeating: "0", count: places - rest.count) + rest
}

/// The middle one of `figures`, or the mean of the two in the middle; not a number where there are none.
public func median(_ figures: [Double]) -> Double {
  let sorted = figures.sorted()
  guard !sorted.isEmpty else { return .nan }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
