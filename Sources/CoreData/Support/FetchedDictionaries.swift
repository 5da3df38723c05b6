import Foundation
import Heartwood
import HeartwoodBytes

/// The dictionaries of a results controller, in sections.
struct FetchedDictionaries {
  let all: [NSDictionary]
  let sections: [any NSFetchedResultsSectionInfo]

  /// - Parameters:
  ///   - section: The key of the value that names the section of a dictionary; nil for one section of all.
  ///   - check: Throws if a dictionary is not of the type of the controller.
  /// - Throws: `.coreData` if the request has no order, the dictionaries do not have the key, or those of a section are not together; otherwise as
  ///   a fetch.
  init(
    _ request: FetchRequestBase, _ context: NSManagedObjectContext, _ section: String?,
    _ check: (AnyObject) throws -> Void
  ) throws {
    guard request.sortDescriptors != nil else {
      throw HeartwoodError(
        .coreData,
        "the request of a fetched results controller needs a sort descriptor, so that dictionaries have places: set sortDescriptors of the "
          + "request for \(request.entityName ?? "?")")
    }
    if let section, let columns = request.propertiesToFetch {
      let names = columns.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
      guard columns.isEmpty || names.contains(section) else {
        throw HeartwoodError(
          .coreData,
          "the sections of a controller are named by \(section), which is not among its dictionaries' propertiesToFetch: \(names.joined(separator: ", "))"
        )
      }
    }
    let rows = try context.results(of: request).compactMap { $0 as? NSDictionary }
    for row in rows { try check(row) }
    all = rows
    sections = try section.map { try Self.sections(of: rows, $0) } ?? [SectionInfo("", rows[...])]
  }

  private static func sections(
    of rows: [NSDictionary], _ key: String
  ) throws -> [any NSFetchedResultsSectionInfo] {
    let names = rows.map { row in
      // As sections of objects are named, where a truth is a number.
      row[key].map { ($0 as? NSNumber).map { "\($0)" } ?? "\($0)" } ?? ""
    }
    var sections: [any NSFetchedResultsSectionInfo] = []
    var known: Set<String> = []
    var start = 0
    while start < rows.count {
      let end = names[start...].firstIndex { $0 != names[start] } ?? rows.count
      guard known.insert(names[start]).inserted else {
        throw HeartwoodError(
          .coreData,
          "the dictionaries of the section \"\(names[start])\" are not together: the first sort descriptor must sort by what names the sections"
        )
      }
      sections.append(SectionInfo(names[start], rows[start..<end]))
      start = end
    }
    return sections
  }

  /// - Precondition: There is such a place.
  func row(at path: IndexPath) -> NSDictionary {
    guard path.count == 2, sections.indices.contains(path[0]),
      (0..<sections[path[0]].numberOfObjects).contains(path[1])
    else {
      programError("there is no dictionary at \(path): the sections have \(sections.map(\.numberOfObjects))")
    }
    return all[sections[..<path[0]].reduce(path[1]) { $0 + $1.numberOfObjects }]
  }

  /// The place of a dictionary, or of an equal one; nil if there is none.
  func indexPath(of row: AnyObject) -> IndexPath? {
    guard let row = row as? NSDictionary,
      var index = all.firstIndex(where: { $0 === row }) ?? all.firstIndex(where: { $0.isEqual(row) })
    else { return nil }
    for (number, section) in sections.enumerated() {
      if index < section.numberOfObjects { return IndexPath(indexes: [number, index]) }
      index -= section.numberOfObjects
    }
    return nil
  }

  /// The titles of the sections in an index.
  var indexTitles: [String] {
    var seen: Set<String> = []
    return sections.compactMap(\.indexTitle).filter { seen.insert($0).inserted }
  }

  /// The first section with a title, or else the last one before it.
  func section(for title: String) -> Int {
    let titles = sections.map { $0.indexTitle ?? "" }
    return titles.firstIndex(of: title) ?? titles.lastIndex { $0 < title } ?? 0
  }
}
