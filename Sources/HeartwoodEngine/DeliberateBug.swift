#if DELIBERATE_BUGS
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// Mistakes that can be switched on, one at a time, to see that the tests notice each of them.
  ///
  /// They exist only in builds of their own, with `-Xswiftc -DDELIBERATE_BUGS`; `HEARTWOOD_BUG` names the one
  /// that a process makes. `Tests/DeliberateBugs/run` goes through all of them.
  package enum DeliberateBug: String, CaseIterable, Sendable {
    // MARK: Syncing

    /// A new segment of the log is synced, but not its name in the folder.
    case skipsNameSyncOfLog
    /// A new segment of pages is synced, but not its name in the folder.
    case skipsNameSyncOfPages
    /// The names that a new store begins with are not synced.
    case skipsNameSyncOfAnchor
    /// A commit returns without having synced.
    case acknowledgesBeforeSync
    /// Readers see a generation before its commit is synced.
    case publishesBeforeSync
    /// After a failed sync the same is asked again, and the answer believed.
    case retriesFailedSync
    /// After a failed sync the writer goes on.
    case goesOnAfterFailedSync
    /// Only the last segment of the log is synced, where an earlier one has bytes that are not.
    case syncsLastSegmentOnly
    /// A new segment is named by the anchor before it is durable.
    case namesSegmentBeforeItIsDurable
    /// A checkpoint is named before its pages are synced.
    case namesCheckpointBeforePagesAreSynced
    /// A checkpoint is named before its frame is synced.
    case namesCheckpointBeforeFrameIsSynced
    /// A commit that needs no sync is published before one that still waits for its own.
    case publishesOutOfOrder
    /// Of those who wait for a sync that fails, only one is told.
    case forgetsThoseWhoWait
    /// A sync is taken to have reached what was written while it was under way.
    case forgetsWhatCameDuringSync
    /// The anchor is written and not synced.
    case skipsSyncOfAnchor
    /// Both slots of the anchor are written between two syncs.
    case writesBothSlotsAtOnce
    /// Files that were written without syncs stay so when the store is opened with them.
    case leavesFilesUnsynced
    /// The mark of a clean close stays while the log is written.
    case leavesMarkOfCleanClose

    /// The slot that the store was opened with is not made safe before the other one is written over.
    case leavesSlotUnsettled

    // MARK: Recovery

    /// A read error is taken for the end of the log.
    case takesReadErrorForEnd
    /// Zeros behind the last frame are taken for damage.
    case takesZerosForDamage
    /// A frame that is missing is a torn tail, whatever proves that it was there.
    case ignoresProofOfFrames
    /// A transaction whose last frame is missing counts as whole.
    case acceptsUnfinishedTransactions
    /// After an unclean end the log goes on where it ended, in the same segment.
    case writesOverTail
    /// The old tail is wiped before the anchor names its copy.
    case wipesTailBeforeCopyIsNamed
    /// The anchor names the copied tail before the copy is durable.
    case namesCopyBeforeItIsDurable
    /// A copy of the tail that was not finished is believed.
    case acceptsUnfinishedCopy
    /// Frames are applied up to the last transaction but one.
    case stopsOneGenerationEarly
    /// Deletes are not applied again.
    case skipsDeletesInReplay
    /// Deletes of ranges are not applied again.
    case skipsRangeDeletesInReplay

    /// Where the unproven end of the log is copied to several segments, only the last of them is synced.
    case leavesCopiesUnsynced

    // MARK: Checksums

    /// Pieces of a large value are handed out before all of it was checked.
    case handsOutPiecesUnchecked
    /// The checksum of a record is not looked at.
    case ignoresRecordChecksum
    /// The checksum that ends a frame is not looked at.
    case ignoresFrameChecksum
    /// A frame's length is believed before its header's checksum has held.
    case trustsLengthBeforeChecksum
    /// A frame need not follow the one before it.
    case ignoresChain
    /// The same bytes have the same checksum wherever they lie in a segment.
    case leavesPlaceOutOfChecksums
    /// The same bytes have the same checksum in every segment of every store.
    case leavesSegmentOutOfChecksums
    /// What a parent says of its child's checksum is not looked at.
    case ignoresChecksumOfPages
    /// A page may be of any level.
    case ignoresLevelOfPages
    /// The order of a page's keys is not looked at.
    case ignoresOrderOfPages
    /// The checksum of a slot of the anchor is not looked at.
    case ignoresChecksumOfAnchor

    // MARK: Memory and files

    /// Files stay open where opening a store fails.
    case leaksFilesOnFailedOpening
    /// A transaction that could not be written stays visible in memory.
    case keepsTransactionThatFailed
    /// A transaction commits although one of its changes has failed.
    case commitsAfterFailedChange
    /// Zeros for frames that are written in place are laid from the beginning of a page on.
    case laysZerosOverFrames
    /// After a write that failed in its middle the log goes on behind what it left.
    case goesOnBehindFailedWrite
    /// A page is taken back while the generation before its end is still held.
    case freesPagesOneGenerationEarly
    /// A page is taken back before the generation that does without it is published.
    case freesPagesOfUnpublished
    /// A page that readers hold is changed where it is.
    case changesPagesOfOthers
    /// A range delete leaves the key at its lower end.
    case forgetsKeyOfRange

    /// Of the keys that were put behind the last one, only one is counted.
    case forgetsToCountAppended
    /// A leaf without slots takes keys of other lengths, and values.
    case putsAnythingWithoutSlots
    /// The branch still parts two leaves where it did before they shared their entries.
    case keepsSeparatorOfShared
    /// A transaction goes on filling the leaf at which the one before it has ended.
    case appendsToPublishedLeaf

    // MARK: Backup and salvage

    /// The anchor of a backup is written before its files are synced.
    case namesBackupBeforeItIsDurable
    /// Nothing says that a backup is not finished yet.
    case marksNoBackup
    /// What only the earlier backup needs is taken away before the new one is named.
    case removesEarlierBackupTooEarly
    /// What a backup that was cut short has left stays when the earlier one is written to.
    case keepsUnfinishedBackup
    /// What the tree has lost is not looked for in the log.
    case salvagesTheTreeOnly

    // MARK: Reclamation

    /// Files are unlinked while one slot of the anchor still leads to them.
    case unlinksWhatASlotNames
    /// What was unlinked is let go of although somebody holds a generation that needs it.
    case forgetsPinsOfUnlinked
    /// The last values that live in a segment are not moved.
    case leavesLastValuesBehind
    /// The pages of a segment that is emptied are not copied.
    case leavesPagesBehind
    /// Those that another process has written between two steps are not copied.
    case leavesPagesOfOthersBehind

    /// A segment of a transaction that was given up is unlinked while a slot of the anchor names it.
    case unlinksGivenUpTooEarly

    // MARK: Processes

    /// Whoever writes next does not take up what another process has written.
    case writesBehindOthersUnseen
    /// The log of a process that has ended in the middle of a write is taken to be in order.
    case takesDeadLeaderForOrderly
    /// After a checkpoint of another process the next one is taken of the tree as it was before.
    case keepsTreeOfOldCheckpoint
    /// What processes that are gone have told is believed.
    case believesRecordsOfTheDead
    /// Segments get numbers that another process has used.
    case reusesNumbersOfOthers
    /// Two processes write at once.
    case leadsBesideOthers
    /// The lease is marked as released before the file lock is.
    case clearsLeaseBeforeUnlock
    /// Pages that no checkpoint names are kept, although another process may have written over them.
    case keepsPagesWrittenOver
    /// Commits are put in place for as long as they come, and no watcher of the folder is told.
    case tellsNobodyOfCommitsInPlace
    /// An engine closes the store although others of its process use it.
    case closesWhatOthersUse

    // MARK: The graph

    /// The history is written in a transaction behind that of the save.
    case writesHistoryBehindTheSave
    /// A link is written in one direction only.
    case forgetsInverseLink
    /// The index entries of a deleted row stay.
    case keepsEntriesOfDeletedRows
    /// The old index entries of a changed row stay.
    case keepsEntriesOfChangedRows
    /// The links of a deleted row stay.
    case keepsLinksOfDeletedRows
    /// Two rows may have the same unique values.
    case ignoresUniqueness
    /// A row is changed although somebody else has changed it meanwhile.
    case ignoresVersionOfRows
    /// The next save gives the same keys again.
    case givesKeysTwice

    // MARK: Switching

    /// The one that this process makes.
    private static let active: DeliberateBug? = {
      guard let name = getenv("HEARTWOOD_BUG").map({ String(cString: $0) }), !name.isEmpty else { return nil }
      let bug = DeliberateBug(rawValue: name)
      precondition(bug != nil, "HEARTWOOD_BUG names no bug: \(name)")
      return bug
    }()

    /// Whether this process makes the mistake.
    package static func isOn(_ bug: DeliberateBug) -> Bool { active == bug }
  }
#endif
