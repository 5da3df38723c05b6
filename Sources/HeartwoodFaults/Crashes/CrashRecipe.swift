/// Which of the unsynced changes a crash leaves.
enum CrashRecipe: Sendable {
  case first(Int)
  case allBut(Int)
  case only(Int)
  case torn(Int, WriteTear)

  /// The state that is found: `durable`, and those of the changes that this recipe keeps.
  func applied(to durable: DiskState, _ changes: [DiskChange]) -> DiskState {
    var state = durable
    for (index, change) in changes.enumerated() {
      switch self {
      case .first(let count) where index >= count: continue
      case .allBut(let lost) where index == lost: continue
      case .only(let kept) where index != kept: continue
      case .torn(let last, let tear) where index == last:
        for part in tear.parts(of: change) { state.apply(part) }
      default: state.apply(change)
      }
    }
    return state
  }

  func description(of changes: [DiskChange]) -> String {
    let total = changes.count
    func change(_ index: Int) -> String { "change \(index + 1), \(changes[index])" }
    switch self {
    case .first(0): return "none of \(total) unsynced changes"
    case .first(total): return "all of \(total) unsynced changes"
    case .first(let count): return "of \(total) unsynced changes those up to \(change(count - 1))"
    case .allBut(let lost): return "all of \(total) unsynced changes but \(change(lost))"
    case .only(let kept): return "of \(total) unsynced changes only \(change(kept))"
    case .torn(let last, let tear):
      return "all of \(total) unsynced changes, but of \(change(last)), \(tear)"
    }
  }
}

/// The part of a write that a crash leaves.
enum WriteTear: Sendable, CustomStringConvertible {
  case headOnly(Int)
  case headAndZeros(Int)
  case tailOnly(Int)

  func parts(of change: DiskChange) -> [DiskChange] {
    guard case .write(let file, let offset, let bytes) = change else { return [change] }
    switch self {
    case .headOnly(let count):
      return [.write(file, offset: offset, bytes: Array(bytes.prefix(count)))]
    case .headAndZeros(let count):
      let zeros = [UInt8](repeating: 0, count: bytes.count - count)
      return [.write(file, offset: offset, bytes: bytes.prefix(count) + zeros)]
    case .tailOnly(let start):
      return [.write(file, offset: offset + start, bytes: Array(bytes.dropFirst(start)))]
    }
  }

  var description: String {
    switch self {
    case .headOnly(let count): "the first \(count) bytes"
    case .headAndZeros(let count): "the first \(count) bytes and zeros"
    case .tailOnly(let start): "what follows the first \(start) bytes"
    }
  }
}

extension CrashImageLimits {
  /// The images that these limits allow, the likeliest to be found first.
  func recipes(for changes: [DiskChange]) -> [CrashRecipe] {
    let all = changes.indices
    var recipes: [CrashRecipe] = [.first(changes.count), .first(0)]
    if includesPrefixes { recipes += all.dropFirst().map { .first($0) } }
    if includesSingleLosses { recipes += all.map { .allBut($0) } }
    if includesSingleSurvivors { recipes += all.map { .only($0) } }
    if let last = all.last(where: { changes[$0].isWrite }) {
      recipes += tears(of: changes[last]).map { .torn(last, $0) }
    }
    return recipes
  }

  private func tears(of change: DiskChange) -> [WriteTear] {
    guard case .write(_, let offset, let bytes) = change else { return [] }
    let sectors = sectorBoundaries(offset, bytes.count)
    let places = byteTears.map { $0 < 0 ? bytes.count + $0 : $0 } + sectors
    let inside = places.filter { $0 > 0 && $0 < bytes.count }
    // The length may be durable without any of the bytes.
    let heads = [.headAndZeros(0)] + inside.flatMap { [WriteTear.headOnly($0), .headAndZeros($0)] }
    return heads + sectors.map { .tailOnly($0) }
  }

  /// The places inside a write at which a sector of the file ends.
  private func sectorBoundaries(_ offset: Int, _ count: Int) -> [Int] {
    let first = Self.sectorSize - offset % Self.sectorSize
    let boundaries = Array(stride(from: first, to: count, by: Self.sectorSize))
    guard boundaries.count > sectorTears else { return boundaries }
    return boundaries.prefix((sectorTears + 1) / 2) + boundaries.suffix(sectorTears / 2)
  }

  private static let sectorSize = 512
}

extension DiskChange {
  fileprivate var isWrite: Bool {
    if case .write = self { true } else { false }
  }
}
