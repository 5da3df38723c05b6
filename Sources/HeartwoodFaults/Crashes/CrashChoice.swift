/// The rule by which one crash image is selected. The image is built only when it is needed.
enum CrashChoice: Sendable {
  case first(Int)
  case allBut(Int)
  case only(Int)
  case subset(UInt64)
  case torn(Int, WriteTear)
  case backwards
  case drawn(Int)

  func recipe(at moment: CrashMoment) -> CrashRecipe {
    let all = moment.changes.indices
    switch self {
    case .first(let count): return CrashRecipe(all.prefix(count))
    case .allBut(let lost): return CrashRecipe(all.filter { $0 != lost })
    case .only(let kept): return CrashRecipe(CollectionOfOne(kept))
    case .subset(let bits): return CrashRecipe(all.filter { bits >> UInt64($0) & 1 == 1 })
    case .torn(let torn, let tear):
      return CrashRecipe(items: all.map { .init(change: $0, tear: $0 == torn ? tear : nil) })
    case .backwards: return CrashRecipe(all.reversed())
    case .drawn(let number): return drawnRecipe(number, moment)
    }
  }

  /// Keeps each change with the same random probability, tears one write in four, and shuffles half of the
  /// images of a disk that reorders.
  private func drawnRecipe(_ number: Int, _ moment: CrashMoment) -> CrashRecipe {
    var numbers = SplitMix64(seed: moment.seed ^ UInt64(number) &* 0xD6E8_FEB8_6659_FD93)
    let odds = UInt64.random(in: 1...15, using: &numbers)
    var items: [CrashRecipe.Item] = []
    for index in moment.changes.indices where numbers.next() % 16 < odds {
      let tears = numbers.next() % 4 == 0 ? moment.crashModel.tears(of: moment.changes[index]) : []
      items.append(.init(change: index, tear: tears.randomElement(using: &numbers)))
    }
    if moment.crashModel.reorders, numbers.next() % 2 == 0 { items.shuffle(using: &numbers) }
    return CrashRecipe(items: items)
  }
}

extension CrashImageLimits {
  /// The rules of the images that these limits allow, the most likely to fail first.
  func choices(at moment: CrashMoment) -> [CrashChoice] {
    let changes = moment.changes
    let all = changes.indices
    var choices: [CrashChoice] = [.first(changes.count), .first(0)]
    if includesPrefixes { choices += all.dropFirst().map { .first($0) } }
    if includesSingleLosses { choices += all.map { .allBut($0) } }
    if includesSingleSurvivors { choices += all.map { .only($0) } }
    for index in all.filter({ changes[$0].isWrite }).suffix(tornWrites).reversed() {
      choices += moment.crashModel.tears(of: changes[index], self).map { .torn(index, $0) }
    }
    if moment.crashModel.reorders { choices.append(.backwards) }
    if changes.count <= min(everySubsetUpTo, 20) {
      choices += (0..<(UInt64(1) << UInt64(changes.count))).map { .subset($0) }
    }
    let drawn = drawnImages ?? (moment.crashModel == .hostile ? 64 : 0)
    if !changes.isEmpty { choices += (0..<drawn).map { .drawn($0) } }
    return choices
  }
}

extension CrashModel {
  /// The ways in which a write can be torn.
  func tears(of change: DiskChange, _ limits: CrashImageLimits = CrashImageLimits()) -> [WriteTear] {
    guard case .write(_, let offset, let bytes) = change else { return [] }
    let sectors = limits.chosenBoundaries(offset, bytes.count)
    func tears(_ shapes: [WriteTear.Shape], _ rests: TornContent...) -> [WriteTear] {
      shapes.flatMap { shape in rests.map { WriteTear(shape: shape, rest: $0) } }
    }
    guard self != .ext4Ordered else { return tears(sectors.map { .head($0) }, .old) }
    let places = limits.byteTears.map { $0 < 0 ? bytes.count + $0 : $0 } + sectors
    let heads = places.filter { $0 > 0 && $0 < bytes.count }.map { WriteTear.Shape.head($0) }
    let tails = sectors.map { WriteTear.Shape.tail($0) }
    // The file length can become durable without any of the bytes.
    let usual = tears([.head(0)], .zeros) + tears(heads, .old, .zeros) + tears(tails, .old)
    guard self == .hostile else { return usual }
    let stripes: [WriteTear.Shape] = sectors.isEmpty ? [] : [.evenSectors, .oddSectors]
    return usual + tears([.head(0)] + heads, .foreign) + tears(tails, .zeros, .foreign)
      + tears(stripes, .old, .zeros, .foreign)
  }
}

extension CrashImageLimits {
  fileprivate func chosenBoundaries(_ offset: Int, _ count: Int) -> [Int] {
    let boundaries = WriteTear.sectorBoundaries(offset, count)
    guard boundaries.count > sectorTears else { return boundaries }
    return boundaries.prefix((sectorTears + 1) / 2) + boundaries.suffix(sectorTears / 2)
  }
}

extension DiskChange {
  fileprivate var isWrite: Bool {
    if case .write = self { true } else { false }
  }
}
