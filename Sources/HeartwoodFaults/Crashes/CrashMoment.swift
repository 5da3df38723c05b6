/// The durable state of a disk and its unsynced changes at the moment of a crash.
struct CrashMoment: Sendable {
  let durable: DiskState
  let changes: [DiskChange]
  let crashModel: CrashModel
  let seed: UInt64

  /// The state after the changes of the recipe have reached the disk.
  func state(after recipe: CrashRecipe) -> DiskState {
    var state = durable
    for item in recipe.items where changes.indices.contains(item.change) {
      let change = changes[item.change]
      guard let tear = item.tear else {
        state.apply(change)
        continue
      }
      for part in tear.parts(of: change, seed: seed) { state.apply(part) }
    }
    return state
  }

  /// The part of a recipe that the crash model allows.
  func possible(_ recipe: CrashRecipe) -> CrashRecipe {
    guard crashModel == .ext4Ordered else { return recipe }
    var whole = recipe.whole
    var items: [CrashRecipe.Item] = []
    for item in recipe.items {
      if crashModel.requirements(of: item.change, in: changes).allSatisfy(whole.contains) {
        items.append(item)
      } else {
        whole.remove(item.change)
      }
    }
    return CrashRecipe(items: items)
  }

  /// A readable list of the changes that a recipe keeps and loses.
  func explanation(of recipe: CrashRecipe) -> String {
    let total = changes.count
    let whole = recipe.whole
    let lost = changes.indices.filter { !whole.contains($0) }
    if recipe.items.isEmpty { return "none of \(total) unsynced changes" }
    let order = recipe.isInOrder ? "" : ", in the order \(recipe)"
    if lost.isEmpty { return "all of \(total) unsynced changes" + order }
    let torn = recipe.items.compactMap { item in
      item.tear.map { "of \(words(item.change)), \($0.explanation)" }
    }
    let behind = (torn.isEmpty ? "" : "; " + torn.joined(separator: "; ")) + order
    let untouched = lost.filter { index in !recipe.items.contains { $0.change == index } }
    if whole == Set(0..<whole.count), torn.isEmpty {
      return "of \(total) unsynced changes those up to \(words(whole.count - 1))" + behind
    }
    if untouched.isEmpty { return "all of \(total) unsynced changes, but" + behind.dropFirst() }
    if whole.count > untouched.count {
      return "all of \(total) unsynced changes but \(list(untouched))" + behind
    }
    let kept = whole.isEmpty ? "none whole" : "only \(list(whole.sorted()))"
    return "of \(total) unsynced changes \(kept)" + behind
  }

  private func list(_ indices: [Int]) -> String { indices.map(words).joined(separator: ", ") }

  private func words(_ index: Int) -> String {
    changes.indices.contains(index) ? "change \(index + 1) (\(changes[index]))" : "change \(index + 1)"
  }
}
