/// The content of the part of a torn write that did not reach the disk.
public enum TornContent: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// The previous bytes, or zeros past the previous end of the file.
  case old
  /// Zeros.
  case zeros
  /// Random bytes that were never written there.
  case foreign

  /// The name.
  public var description: String { rawValue }
}

/// The part of a torn write that reaches the disk, and the content of the remainder.
struct WriteTear: Hashable, Sendable {
  enum Shape: Hashable, Sendable {
    /// This many bytes from the start of the write.
    case head(Int)
    /// Everything after this many bytes.
    case tail(Int)
    /// Every other sector, starting with the first or with the second.
    case evenSectors, oddSectors
  }

  var shape: Shape
  var rest: TornContent

  /// The writes that are equivalent to the torn one. The seed determines the foreign bytes.
  func parts(of change: DiskChange, seed: UInt64) -> [DiskChange] {
    guard case .write(let file, let offset, let bytes) = change else { return [change] }
    let kept = keptRanges(offset, bytes.count)
    guard rest != .old else {
      return kept.map { .write(file, offset: offset + $0.lowerBound, bytes: Array(bytes[$0])) }
    }
    var torn = filling(bytes.count, seed: seed ^ UInt64(truncatingIfNeeded: offset))
    for range in kept { torn.replaceSubrange(range, with: bytes[range]) }
    return [.write(file, offset: offset, bytes: torn)]
  }

  private func filling(_ count: Int, seed: UInt64) -> [UInt8] {
    guard rest == .foreign else { return [UInt8](repeating: 0, count: count) }
    var numbers = SplitMix64(seed: seed)
    return numbers.bytes(count)
  }

  private func keptRanges(_ offset: Int, _ count: Int) -> [Range<Int>] {
    switch shape {
    case .head(let kept): return [0..<min(kept, count)]
    case .tail(let start): return [min(start, count)..<count]
    case .evenSectors: return sectors(offset, count).enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    case .oddSectors: return sectors(offset, count).enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }
  }

  private func sectors(_ offset: Int, _ count: Int) -> [Range<Int>] {
    let ends = Self.sectorBoundaries(offset, count)
    return zip([0] + ends, ends + [count]).map { $0..<$1 }
  }

  /// The offsets within a write at which a sector of the file ends.
  static func sectorBoundaries(_ offset: Int, _ count: Int) -> [Int] {
    Array(stride(from: sectorSize - offset % sectorSize, to: count, by: sectorSize))
  }

  private static let sectorSize = 512
}

// MARK: Text form

extension WriteTear: LosslessStringConvertible {
  var description: String {
    switch shape {
    case .head(let count): "head:\(count):\(rest)"
    case .tail(let start): "tail:\(start):\(rest)"
    case .evenSectors: "even:\(rest)"
    case .oddSectors: "odd:\(rest)"
    }
  }

  init?(_ description: String) {
    let parts = description.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard let last = parts.last, let rest = TornContent(rawValue: last) else { return nil }
    let number = parts.count == 3 ? Int(parts[1]) : nil
    switch (parts[0], number) {
    case ("head", let count?) where count >= 0: shape = .head(count)
    case ("tail", let start?) where start >= 0: shape = .tail(start)
    case ("even", nil) where parts.count == 2: shape = .evenSectors
    case ("odd", nil) where parts.count == 2: shape = .oddSectors
    default: return nil
    }
    self.rest = rest
  }

  /// The tear as a phrase for a message.
  var explanation: String {
    let kept =
      switch shape {
      case .head(let count): "the first \(count) bytes"
      case .tail(let start): "what follows the first \(start) bytes"
      case .evenSectors: "every other sector from the first"
      case .oddSectors: "every other sector from the second"
      }
    return rest == .old ? kept : "\(kept) and \(rest == .zeros ? "zeros" : "foreign bytes")"
  }
}
