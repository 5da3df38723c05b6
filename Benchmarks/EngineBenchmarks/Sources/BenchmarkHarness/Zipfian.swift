import Foundation

/// Numbers of which 0 is drawn most often and each next one less: the distribution of YCSB, with its exponent.
public struct Zipfian {
  private let count: Int
  private let zeta: Double
  private let alpha: Double
  private let eta: Double
  private static let theta = 0.99

  /// Numbers below `count`.
  ///
  /// - Complexity: O(`count`).
  public init(count: Int) {
    let theta = Self.theta
    let zeta = (1...max(1, count)).reduce(0) { $0 + pow(Double($1), -theta) }
    let zetaOfTwo = 1 + pow(2, -theta)
    self.count = count
    self.zeta = zeta
    alpha = 1 / (1 - theta)
    eta = (1 - pow(2 / Double(count), 1 - theta)) / (1 - zetaOfTwo / zeta)
  }

  /// Draws a number by means of `random`.
  public func draw(_ random: inout SplitMix64) -> Int {
    let uniform = Double(random.next() >> 11) * 0x1p-53
    let scaled = uniform * zeta
    if scaled < 1 { return 0 }
    if scaled < 1 + pow(0.5, Self.theta) { return 1 }
    let drawn = Double(count) * pow(eta * uniform - eta + 1, alpha)
    return min(max(0, Int(drawn)), count - 1)
  }
}
