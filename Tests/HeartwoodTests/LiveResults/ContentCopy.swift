import Foundation
import Heartwood
import Testing

/// A copy of a controller's content that is made by what its delegate is told only.
final class ContentCopy<Object: ManagedObject>: FetchedResultsControllerDelegate {
  struct Section: Equatable {
    var name: String
    var objects: [Object]
  }

  private(set) var sections: [Section] = []
  /// The calls, for tests of single batches.
  private(set) var calls: [String] = []
  /// The text that each object showed when it was last reported.
  private(set) var shown: [Object: String] = [:]
  private(set) var errors: [any Error] = []
  /// The controller holds its delegate weakly, so the copy holds the controller.
  private var controller: FetchedResultsController<Object>?
  private let text: (Object) -> String
  private var removed: [IndexPath] = []
  private var removedSections: [Int] = []
  private var addedSections: [(Int, String)] = []
  private var added: [(IndexPath, Object)] = []
  private var isOpen = false

  init(_ text: @escaping (Object) -> String = { "\($0.objectID)" }) { self.text = text }

  /// Takes over the content after a fetch.
  func take(_ controller: FetchedResultsController<Object>) {
    self.controller = controller
    sections = (controller.sections ?? []).map { Section(name: $0.name, objects: $0.objects) }
    shown = [:]
    for object in controller.fetchedObjects ?? [] { shown[object] = text(object) }
    calls = []
  }

  /// The calls since the last time.
  func takeCalls() -> [String] {
    defer { calls = [] }
    return calls
  }

  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {
    check(!isOpen, "batches are not nested")
    check(controller.sections.map(Self.sections) == sections, "the content is the former one")
    isOpen = true
    calls.append("will")
  }

  func controller(
    _ controller: FetchedResultsController<Object>, didChange sectionInfo: FetchedResultsSectionInfo<Object>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType
  ) {
    check(isOpen && removed.isEmpty && added.isEmpty, "sections come before objects")
    calls.append("\(type) section \(sectionIndex) \(sectionInfo.name)")
    if type == .delete {
      check(sections[sectionIndex].name == sectionInfo.name, "a section is deleted at its former index")
      check(
        sections[sectionIndex].objects == sectionInfo.objects, "a deleted section has its former objects")
      removedSections.append(sectionIndex)
    } else {
      check(type == .insert, "sections are inserted and deleted only")
      addedSections.append((sectionIndex, sectionInfo.name))
    }
  }

  func controller(
    _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    check(isOpen, "objects are reported in a batch")
    let paths = [indexPath, newIndexPath].map { $0.map { "\($0.section).\($0.item)" } ?? "-" }
    calls.append("\(type) \(text(object)) \(paths[0]) \(paths[1])")
    if let indexPath {
      check(
        sections[indexPath.section].objects[indexPath.item] === object, "the former path leads to the object")
    }
    if let newIndexPath {
      check(controller.object(at: newIndexPath) === object, "the new path leads to the object")
    }
    check(
      (type == .insert) == (indexPath == nil) && (type == .delete) == (newIndexPath == nil),
      "inserted objects have no former path, deleted ones no new one")
    if let indexPath, type != .update { removed.append(indexPath) }
    if let newIndexPath, type != .update { added.append((newIndexPath, object)) }
    shown[object] = type == .delete ? nil : text(object)
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {
    check(isOpen, "a batch ends that has begun")
    isOpen = false
    calls.append("did")
    for path in removed.sorted(by: >) { sections[path.section].objects.remove(at: path.item) }
    for index in removedSections.sorted(by: >) {
      check(sections[index].objects.isEmpty, "the objects of a deleted section are reported")
      sections.remove(at: index)
    }
    for (index, name) in addedSections.sorted(by: { $0.0 < $1.0 }) {
      sections.insert(Section(name: name, objects: []), at: index)
    }
    for (path, object) in added.sorted(by: { $0.0 < $1.0 }) {
      sections[path.section].objects.insert(object, at: path.item)
    }
    (removed, removedSections, addedSections, added) = ([], [], [], [])
    check(controller.sections.map(Self.sections) == sections, "the copy is the content")
  }

  func controller(_ controller: FetchedResultsController<Object>, didFailWith error: any Error) {
    errors.append(error)
  }

  private func check(_ holds: Bool, _ rule: String) {
    if !holds { Issue.record("\(rule): \(calls.suffix(20))") }
  }

  static func sections(_ infos: [FetchedResultsSectionInfo<Object>]) -> [Section] {
    infos.map { Section(name: $0.name, objects: $0.objects) }
  }
}
