import Foundation

/// Notifying the delegate of changes.
extension FetchedResultsController {
  /// The delegate's form: decided at each change, as the delegate may be replaced.
  enum Form {
    case calls(any FetchedResultsControllerDelegate<Object>)
    case snapshots(any FetchedResultsSnapshotDelegate<Object>)
    case differences(any FetchedResultsDifferenceDelegate<Object>)
  }

  final var form: Form? {
    guard let delegate else { return nil }
    if let delegate = delegate as? any FetchedResultsSnapshotDelegate<Object> { return .snapshots(delegate) }
    if !hasSections, let delegate = delegate as? any FetchedResultsDifferenceDelegate<Object> {
      return .differences(delegate)
    }
    return .calls(delegate)
  }

  final func report() {
    // Weak, as a delegate may release the controller while it is notified.
    tracker.isWanted = { [weak self] in self?.delegate != nil }
    tracker.willChange = { [weak self] in
      if let self, case .calls(let delegate) = form { delegate.controllerWillChangeContent(self) }
    }
    tracker.followsIdentifiers = { [weak self] in
      if case .calls = self?.form { false } else { true }
    }
    tracker.changed = { [weak self] change in self?.report(change) }
    tracker.failed = { [weak self] error in
      guard let self else { return }
      delegate?.controller(self, didFailWith: error)
    }
  }

  private func report(_ change: ResultChange) {
    switch form {
    case nil: return
    case .calls(let delegate): notify(change, delegate)
    case .snapshots(let delegate):
      notify(delegate, reloaded: change.changedIdentifiers)
    case .differences(let delegate):
      delegate.controller(self, didChangeContentWith: change.difference(includingUpdates: true))
    }
  }

  final func notify(_ delegate: any FetchedResultsSnapshotDelegate<Object>, reloaded: [ManagedObjectID]) {
    guard let result = tracker.result else { return }
    delegate.controller(self, didChangeContentWith: FetchedResultsSnapshot(result, reloaded: reloaded))
  }

  private func notify(_ change: ResultChange, _ delegate: any FetchedResultsControllerDelegate<Object>) {
    notifyOfSections(change, delegate)
    let (before, after) = (SectionPlaces(change.oldSections), SectionPlaces(change.newSections))
    func notify(_ object: ManagedObject, _ from: Int?, _ type: FetchedResultsChangeType, _ to: Int?) {
      delegate.controller(
        self, didChange: CheckedCast.object(object, of: Object.self), at: from.map { Self.path($0, before) },
        for: type, newIndexPath: to.map { Self.path($0, after) })
    }
    for place in change.deleted { notify(place.object, place.index, .delete, nil) }
    for place in change.inserted { notify(place.object, nil, .insert, place.index) }
    for moved in change.moved { notify(moved.object, moved.from, .move, moved.to) }
    for updated in change.updated { notify(updated.object, updated.from, .update, updated.to) }
    if let delegate = delegate as? any FetchedResultsDifferenceFollower {
      delegate.note(change.difference(includingUpdates: false))
    }
    delegate.controllerDidChangeContent(self)
  }

  private func notifyOfSections(
    _ change: ResultChange, _ delegate: any FetchedResultsControllerDelegate<Object>
  ) {
    for (index, objects) in change.objectsOfDeletedSections {
      delegate.controller(
        self, didChange: sectionInfo(change.oldSections[index].name, objects, objects.indices),
        atSectionIndex: index, for: .delete)
    }
    guard let result = tracker.result, !change.insertedSections.isEmpty else { return }
    let places = SectionPlaces(change.newSections)
    for index in change.insertedSections {
      delegate.controller(
        self, didChange: sectionInfo(change.newSections[index].name, result.objects, places.range(index)),
        atSectionIndex: index, for: .insert)
    }
  }

  final func sectionInfo(
    _ name: String, _ all: [ManagedObject], _ range: Range<Int>
  ) -> FetchedResultsSectionInfo<Object> {
    FetchedResultsSectionInfo(name: name, indexTitle: title(of: name), all: all, range: range)
  }

  static func path(_ index: Int, _ places: SectionPlaces) -> IndexPath {
    let place = places.place(index)
    return [place.section, place.item]
  }
}
