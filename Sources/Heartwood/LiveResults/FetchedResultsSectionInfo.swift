/// A section of the objects of a fetched results controller: a value that stays as it is when the controller goes on.
public struct FetchedResultsSectionInfo<Object: ManagedObject> {
  /// The value of the section name key path as text; empty for nil, and for the section of all objects if there is no key path.
  public let name: String
  /// The title of the section in an index; nil if it has none.
  public let indexTitle: String?
  private let all: [ManagedObject]
  private let range: Range<Int>

  init(name: String, indexTitle: String?, all: [ManagedObject], range: Range<Int>) {
    self.name = name
    self.indexTitle = indexTitle
    self.all = all
    self.range = range
  }

  /// The number of objects of the section.
  public var numberOfObjects: Int { range.count }

  /// The objects of the section, in order.
  ///
  /// - Complexity: Linear in their number.
  public var objects: [Object] { Array(all[range]).ofCheckedClass(Object.self) }
}
