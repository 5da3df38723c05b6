import Foundation
import HeartwoodFiles

/// Contexts that merge saves by themselves.
///
/// A coordinator tells each context that follows it what was saved, and the context merges it on its own queue, after what is
/// scheduled there already.
final class ContextFollowers: Sendable {
  /// Unchecked, because the reference is only compared, and used on the context's queue.
  private struct Follower: @unchecked Sendable {
    weak var context: ManagedObjectContext?
    let followsOtherProcesses: Bool
  }

  private let followers = Guarded<[Follower]>([])

  func add(_ context: ManagedObjectContext, followsOtherProcesses: Bool) {
    let follower = Follower(context: context, followsOtherProcesses: followsOtherProcesses)
    followers.withLock { followers in
      followers.removeAll { $0.context == nil || $0.context === context }
      followers.append(follower)
    }
  }

  func remove(_ context: ManagedObjectContext) {
    followers.withLock { $0.removeAll { $0.context == nil || $0.context === context } }
  }

  var isEmpty: Bool { followers.withLock { $0.isEmpty } }

  /// Whether a context follows saves that were not made through this coordinator.
  var followOtherProcesses: Bool { followers.withLock { $0.contains { $0.followsOtherProcesses } } }

  /// Schedules the merge of a save in every follower but the context that saved.
  ///
  /// - Parameter isOfOtherProcess: Whether the save was made through another coordinator or by another process.
  func notify(_ changes: ObjectIDChanges, from source: ManagedObjectContext?, isOfOtherProcess: Bool = false)
  {
    let told = followers.withLock { followers in
      followers.filter { $0.context !== source && (!isOfOtherProcess || $0.followsOtherProcesses) }
    }
    for follower in told {
      guard let context = follower.context else { continue }
      if let receives = context.receivesChanges {
        receives(changes)
      } else {
        context.perform { context.merge(changes) }
      }
    }
  }
}

extension ManagedObjectContext {
  /// Whether the context merges by itself what others save: for a context over a coordinator, saves of the coordinator's
  /// other contexts; for a child, saves of its parent, those of siblings that arrive there, and what the parent merges. False by
  /// default.
  ///
  /// The merge runs on the context's queue some time after the save. See `mergeChanges(fromContextDidSave:)`.
  public var automaticallyMergesChangesFromParent: Bool {
    get { following != .nothing }
    set { following = !newValue ? .nothing : following == .everyone ? .everyone : .coordinator }
  }

  /// Whether the context also merges by itself what other coordinators of the store and other processes save. Implies
  /// `automaticallyMergesChangesFromParent`; without effect on a child context, whose parent should do it.
  ///
  /// It reads the history after each commit of others, on a thread of its own.
  @_disfavoredOverload
  public var automaticallyMergesRemoteChanges: Bool {
    get { following == .everyone }
    set { following = newValue ? .everyone : following == .nothing ? .nothing : .coordinator }
  }

  /// Whose saves a context merges by itself.
  enum Following {
    case nothing
    case coordinator
    case everyone
  }

  /// Follows the parent, or the coordinator; again when another one is set.
  func follow(_ following: Following) {
    guard following != .nothing else { return unfollow() }
    if let parent {
      parent.children.add(self, followsOtherProcesses: false)
    } else if let coordinator = persistentStoreCoordinator {
      coordinator.followers.add(self, followsOtherProcesses: following == .everyone)
      if following == .everyone { coordinator.followOtherProcesses() }
    }
  }

  /// Ends following the present parent or coordinator.
  func unfollow() {
    parent?.children.remove(self)
    persistentStoreCoordinator?.followers.remove(self)
  }

  /// Tells others what a save of this context has changed.
  func tellFollowers(_ changes: ObjectIDChanges) {
    children.notify(changes, from: nil)
    if let parent {
      parent.children.notify(changes, from: self)
    } else {
      persistentStoreCoordinator?.followers.notify(changes, from: self)
    }
  }
}
