import HeartwoodFaults
import HeartwoodFiles

extension SplitMix64 {
  /// Draws a plan of one kind of fault, at calls in the near future.
  ///
  /// Every fault is reported as an error: silent damage is the subject of another part. If an error is
  /// reported for a call that was performed completely, it is the only fault of the plan, because the store
  /// could not undo this write while it can't write.
  /// was written against its knowledge while it can't write.
  mutating func drawFaults() -> FaultPlan {
    switch below(13) {
    case 0: [.sync(pick([.failsKeepingData, .failsRevertingData]), file: drawFile(), drawOccurrence())]
    case 1:
      [.fail(.sync, file: drawFile(), drawOccurrence(), with: drawCode(), effect: pick([.none, .half]))]
    case 2: [.fail(.mutations, .nth(1 + below(20)), with: drawCode(), effect: drawEffect())]
    case 3:
      [.fail(.write, file: drawFile(), drawOccurrence(), with: drawCode(), effect: pick([.none, .half]))]
    case 4: [.fail(.mutations, drawOccurrence(), with: drawCode(), effect: pick([.none, .half]))]
    case 5: [.fail(.read, file: drawFile(), drawOccurrence())]
    case 6: [.fail(.of(drawRareCall()), drawOccurrence(), with: drawCode(), effect: .none)]
    case 7:
      [.fail(.open, drawOccurrence(), with: pick([.tooManyOpenFiles, .inputOutput, .permissionDenied]))]
    case 8: FaultPlan(largestRead: 1 + below(3000), largestWrite: 1 + below(900))
    case 9: [.shorten(pick([.read, .write]), .every(1 + below(3)), to: 1 + below(500))]
    case 10: .fullDisk(after: Int64(below(60_000)))
    case 11: drawClockJumps()
    default: [.fail(.any, drawOccurrence(), with: drawCode(), effect: .none)]
    }
  }

  /// Draws syncs that falsely report success.
  mutating func drawLies() -> FaultPlan {
    below(3) == 0
      ? [.syncDirectory(.lies, drawOccurrence()), .sync(.lies, drawOccurrence())]
      : [.sync(.lies, file: drawFile(), pick([.forever, drawOccurrence()]))]
  }

  /// Draws a plan in which every call fails from some call on. The process is about to end there.
  mutating func drawEnd() -> FaultPlan { [.fail(.any, .from(1 + below(14)), effect: pick([.none, .half]))] }

  private mutating func drawClockJumps() -> FaultPlan {
    [.jumpClock(by: Int64(truncatingIfNeeded: next()) / 4, at: .mutations, drawOccurrence())]
  }

  private mutating func drawFile() -> String { pick(["", "", "*.log", "*.pages", "anchor*"]) }

  private mutating func drawCode() -> FileSystemError.Code { pick([.inputOutput, .noSpace]) }

  private mutating func drawEffect() -> FaultPlan.Effect { pick([.none, .half, .whole]) }

  private mutating func drawRareCall() -> FileSystemError.Operation {
    pick([
      .rename, .truncate, .unlink, .syncDirectory, .size, .entries, .openDirectory, .createDirectory, .lock,
      .map, .close,
    ])
  }

  private mutating func drawOccurrence() -> FaultPlan.Occurrence {
    switch below(4) {
    case 0: .every(2 + below(6))
    case 1: .from(1 + below(8))
    default: .nth(1 + below(8))
    }
  }
}
