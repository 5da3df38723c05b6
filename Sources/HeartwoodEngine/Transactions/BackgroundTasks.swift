/// Background work that is due after a commit. Submitted after the writer lock is released.
struct BackgroundTasks {
  var preallocator: LogPreallocator?
  var checkpoint = false
  var spaceScan = false
  var reserve = false
}

extension WriterState {
  func backgroundTasks(afterCommitOf bytes: Int, _ durability: Durability) -> BackgroundTasks {
    var tasks = BackgroundTasks()
    let end = log.end.position.offset
    if durability == .full, options.durability != .none {
      if log.preallocator.isDue(end: end, commitBytes: bytes) {
        tasks.preallocator = log.preallocator
      }
    }
    if !isCheckpointUnderWay, isCheckpointDue {
      isCheckpointUnderWay = true
      tasks.checkpoint = true
    }
    if !isSpaceScanScheduled, log.appendedBytes - bytesAtSpaceScan > options.toleratedGarbage {
      isSpaceScanScheduled = options.reclamation == .automatic
      tasks.spaceScan = isSpaceScanScheduled
    }
    // If the process is killed before the first checkpoint, recovery needs the reserve too.
    if reserve.isPossible, log.appendedBytes - bytesAtReserve >= StoreFolder.leastBytesForReserve {
      bytesAtReserve = log.appendedBytes
      tasks.reserve = true
    }
    return tasks
  }

  var isCheckpointDue: Bool { log.appendedBytes - bytesAtCheckpoint >= checkpointInterval }

  /// Bytes of log after which the next checkpoint is due. Smaller if there is much to reclaim, or if more
  /// than half of the address space for pages in memory is used.
  private var checkpointInterval: Int {
    let space = tree.space
    if space.arenaBytesInUse > space.arenaByteLimit / 2 { return options.checkpointBytes / 16 }
    let needsEarlyCheckpoint = throttle.needsEarlyCheckpoint.load(ordering: .relaxed)
    return needsEarlyCheckpoint ? options.checkpointBytes / 2 : options.checkpointBytes
  }
}
