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

/// Whose saves a context merges by itself.
enum MergedSaves {
  case none
  case coordinator
  case everyone
}
