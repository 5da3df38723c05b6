/// A page that newer generations do not contain.
struct RetiredPage {
  let index: UInt32
  let born: UInt64
  let retired: UInt64
}

/// The retired pages that wait until no pin needs them. Part of the `TreeWriter`.
///
/// A page born in generation *b* and retired in generation *r* is free once no pin *p* has b ≤ p < r: a
/// long-lived pin keeps the pages of its own generation and no others.
final class RetiredPages {
  private let space: PageSpace
  private let generations: Generations
  @exclusivity(unchecked) private var fresh = PlainList<RetiredPage>()
  @exclusivity(unchecked) private var waiting = PlainList<RetiredPage>()
  /// The pinned generations in ascending order, at the last check.
  @exclusivity(unchecked) private var pins: [UInt64] = []
  /// Number of pages added to `waiting` since all of it was checked.
  private var addedSincePass = 0

  init(space: PageSpace, generations: Generations) {
    self.space = space
    self.generations = generations
  }

  /// Adds a page that generation `page.retired` and later ones do not contain.
  func add(_ page: RetiredPage) { fresh.append(page) }

  /// Frees the pages that no pin needs. Pages retired by a generation that is not published yet must wait:
  /// until then readers still pin the previous one.
  func reclaim() {
    guard !fresh.isEmpty || !waiting.isEmpty else { return }
    let published = generations.newest(pins: &pins)
    if pins.count > 1 { pins.sort() }
    let held = waiting.count
    let limit = lastReady(published)
    fresh.removeAll { page in
      guard page.retired <= limit else { return false }
      if !freeUnlessNeeded(page) { waiting.append(page) }
      return true
    }
    addedSincePass += waiting.count - held
    // Checks all of them only now and then, so that the cost per page is constant.
    if pins.isEmpty || addedSincePass > held / 2 + 32 {
      addedSincePass = 0
      waiting.removeAll { freeUnlessNeeded($0) }
    }
  }

  /// Pages retired up to this generation are not in any generation that a reader can still pin from now on.
  private func lastReady(_ published: UInt64) -> UInt64 {
    return published
  }

  /// - Returns: Whether the page was freed.
  private func freeUnlessNeeded(_ page: RetiredPage) -> Bool {
    guard !isNeeded(page) else { return false }
    space.free(page.index)
    return true
  }

  /// Whether a pin is in the range from birth to retirement.
  private func isNeeded(_ page: RetiredPage) -> Bool {
    var low = 0
    var high = pins.count
    while low < high {
      let middle = (low + high) / 2
      if pins[middle] < page.born { low = middle + 1 } else { high = middle }
    }
    return low < pins.count && pins[low] < page.retired
  }
}
