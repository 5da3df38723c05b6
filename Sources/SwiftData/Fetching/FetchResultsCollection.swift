import Heartwood
import HeartwoodBytes

/// The results of a fetch, of which a batch is loaded at a time.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
  private enum Contents {
    case all([Element])
    case batches(Batches)
  }
  private let contents: Contents

  init(_ elements: [Element]) { contents = .all(elements) }

  fileprivate init(_ batches: Batches) { contents = .batches(batches) }

  /// The index of the first element: 0.
  public var startIndex: Int { 0 }

  /// The number of elements.
  public var endIndex: Int {
    switch contents {
    case .all(let elements): elements.count
    case .batches(let batches): batches.count
    }
  }

  /// An element; loads its batch.
  ///
  /// - Precondition: The index is one of the collection, and the model's row exists.
  public subscript(position: Int) -> Element {
    switch contents {
    case .all(let elements): elements[position]
    case .batches(let batches): batches.element(position)
    }
  }

  /// Models of identifiers, by batches.
  final class Batches {
    let count: Int
    private let load: (Int) -> [Element]
    private let size: Int
    private var loaded: (number: Int, elements: [Element])?

    init(count: Int, size: Int, load: @escaping (Int) -> [Element]) {
      (self.count, self.size, self.load) = (count, size, load)
    }

    func element(_ position: Int) -> Element {
      require(position >= 0 && position < count, "the index is outside of the results of a fetch")
      let number = position / size
      if let loaded, loaded.number == number { return loaded.elements[position % size] }
      let elements = load(number)
      loaded = (number, elements)
      return elements[position % size]
    }
  }
}

extension FetchResultsCollection where Element: PersistentModel {
  init(_ ids: [ManagedObjectID], _ context: ModelContext, _ size: Int) {
    self.init(
      Batches(count: ids.count, size: size) { number in
        let part = Array(ids[(number * size)..<Swift.min((number + 1) * size, ids.count)])
        var stored = FetchDescriptor<Element>()
        stored.includePendingChanges = false
        let fetch = ModelFetch(stored, in: context)
        let found = (try? fetch.models(of: part)) ?? []
        guard found.count < part.count else { return found }
        // Rows that are gone are models with the defaults of their class, so that each has its place.
        let known = Dictionary(
          found.map { ($0.persistentModelID, $0) }, uniquingKeysWith: { first, _ in first })
        return part.map { id in
          let identifier = context.objects.identifier(of: id)
          if let model = known[identifier] { return model }
          return Element(backingData: _FreeBackingData<Element.Root>(_FreeValues(identifier: identifier)))
        }
      })
  }
}
