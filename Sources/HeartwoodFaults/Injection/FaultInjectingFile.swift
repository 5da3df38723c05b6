import HeartwoodFiles

/// An open file of a file system with injected faults.
final class FaultInjectingFile: File {
  private let base: any File
  private let path: String
  private let controller: FaultController

  init(base: any File, path: String, controller: FaultController) {
    self.base = base
    self.path = path
    self.controller = controller
  }

  var name: String { base.name }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try controller.perform(
      .read, path, half: { () throws(FileSystemError) in },
      instead: { (action) throws(FileSystemError) in try read(into: buffer, at: offset, under: action) },
      { () throws(FileSystemError) in
        try read(into: buffer, controller.lengthOfRead(buffer.count), at: offset)
      })
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try controller.perform(
      .write, path, isMutation: true,
      half: { () throws(FileSystemError) in
        let half = UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2))
        _ = try write(half, within: half.count, at: offset)
      },
      instead: { (action) throws(FileSystemError) in try write(bytes, at: offset, under: action) },
      { () throws(FileSystemError) in
        try write(bytes, within: controller.lengthOfWrite(bytes.count), at: offset)
      })
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) {
    try sync(kind) { () throws(FileSystemError) in try base.sync(kind) }
  }

  func size() throws(FileSystemError) -> Int64 {
    try controller.perform(.size, path) { () throws(FileSystemError) in try base.size() }
  }

  func status() throws(FileSystemError) -> FileStatus? { try base.status() }

  func truncate(to size: Int64) throws(FileSystemError) {
    try controller.perform(.truncate, path, isMutation: true) { () throws(FileSystemError) in
      guard controller.limitsSpace else { return try base.truncate(to: size) }
      let growth = size - (try base.size())
      if growth <= 0 {
        try base.truncate(to: size)
        controller.giveSpaceBack(-growth)
      } else {
        let taken = controller.takeSpace(growth)
        guard taken == growth else {
          controller.giveSpaceBack(taken)
          throw controller.outOfSpace(.truncate, path)
        }
        try base.truncate(to: size)
      }
    }
  }

  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool {
    try controller.perform(.lock, path) { () throws(FileSystemError) in try base.tryLock(kind) }
  }

  func isLocked() throws(FileSystemError) -> Bool {
    try controller.perform(.lock, path) { () throws(FileSystemError) in try base.isLocked() }
  }

  func unlock() throws(FileSystemError) {
    try controller.perform(.lock, path) { () throws(FileSystemError) in try base.unlock() }
  }

  func map(length: Int) throws(FileSystemError) -> (any FileMap)? {
    try controller.perform(.map, path) { () throws(FileSystemError) in try base.map(length: length) }
  }

  /// Returns nil unless the plan is empty: writes through a window cannot fail, so under a plan with faults
  /// every write must be a call. A window is unusable while there is such a plan.
  func window(at offset: Int64, length: Int) throws(FileSystemError) -> (any FileWindow)? {
    guard controller.plan.isEmpty, let window = try base.window(at: offset, length: length) else {
      return nil
    }
    return ReportingWindow(
      range: window.range, isUsable: { [controller] in controller.plan.isEmpty && window.isUsable },
      put: { [controller, path] (bytes, offset) in
        controller.announce(.write, path)
        window.write(bytes, at: offset)
      })
  }

  /// Closes the base file even if the call fails: no system leaves a descriptor open after a failed close.
  func close() throws(FileSystemError) {
    let outcome: Result<Void, FileSystemError>
    do {
      outcome = .success(try base.close())
    } catch {
      outcome = .failure(error)
    }
    try controller.perform(.close, path) { () throws(FileSystemError) in try outcome.get() }
  }

  private func read(
    into buffer: UnsafeMutableRawBufferPointer, _ count: Int, at offset: Int64
  ) throws(FileSystemError) -> Int {
    try base.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count)), at: offset)
  }

  /// Writes as many of the first `count` bytes as the remaining space allows.
  private func write(
    _ bytes: UnsafeRawBufferPointer, within count: Int, at offset: Int64
  ) throws(FileSystemError) -> Int {
    guard controller.limitsSpace, count > 0 else {
      return try base.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset)
    }
    let growth = max(0, offset + Int64(count) - (try base.size()))
    let taken = controller.takeSpace(growth)
    let fitting = Int64(count) - (growth - taken)
    guard fitting > 0 else {
      controller.giveSpaceBack(taken)
      throw controller.outOfSpace(.write, path)
    }
    return try base.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(fitting))), at: offset)
  }
}

// MARK: Actions that are not errors

extension FaultInjectingFile {
  private func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, under action: FaultPlan.Action
  ) throws(FileSystemError) -> Int {
    switch action {
    case .shorten(let count):
      return try read(into: buffer, controller.lengthOfRead(buffer.count, count), at: offset)
    case .misdirect(let distance):
      return try base.read(into: buffer, at: misdirected(offset, distance))
    case .flipBits(let count, let seed):
      let read = try base.read(into: buffer, at: offset)
      flipBits(count, seed: seed, in: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(read)))
      return read
    default: return try base.read(into: buffer, at: offset)
    }
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int64, under action: FaultPlan.Action
  ) throws(FileSystemError) -> Int {
    switch action {
    case .shorten(let count):
      return try write(bytes, within: controller.lengthOfWrite(bytes.count, count), at: offset)
    case .misdirect(let distance):
      return try write(bytes, within: bytes.count, at: misdirected(offset, distance))
    case .tear(let kept, let rest):
      try writeTorn(bytes, at: offset, WriteTear(shape: .head(kept), rest: rest))
      return bytes.count
    default: return try write(bytes, within: bytes.count, at: offset)
    }
  }

  private func writeTorn(
    _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ tear: WriteTear
  ) throws(FileSystemError) {
    let whole = DiskChange.write(FileIdentifier(number: 0), offset: Int(offset), bytes: Array(bytes))
    for case .write(_, let place, let part) in tear.parts(of: whole, seed: 0) where !part.isEmpty {
      let outcome = part.withUnsafeBytes { part in
        Result { () throws(FileSystemError) in try write(part, within: part.count, at: Int64(place)) }
      }
      _ = try outcome.get()
    }
  }

  private func misdirected(_ offset: Int64, _ distance: Int64) -> Int64 {
    let (place, overflow) = offset.addingReportingOverflow(distance)
    return overflow ? offset : max(0, place)
  }

  private func flipBits(_ count: Int, seed: UInt64, in bytes: UnsafeMutableRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    var numbers = SplitMix64(seed: seed)
    for _ in 0..<count {
      let bit = Int(numbers.next() % UInt64(bytes.count * 8))
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
  }

  private func sync(
    _ kind: SyncKind, _ call: () throws(FileSystemError) -> Void
  ) throws(FileSystemError) {
    try controller.perform(
      .sync, path, isMutation: true, half: { () throws(FileSystemError) in },
      instead: { (action) throws(FileSystemError) in
        guard case .sync(let behavior) = action else { return try call() }
        try behavior.sync(base, kind, path: path, .sync) { () throws(FileSystemError) in try base.sync(kind) }
      }, call)
  }
}

extension FaultInjectingFile: MisbehavingSync {
  func sync(_ kind: SyncKind, _ behavior: SyncBehavior) throws(FileSystemError) {
    try sync(kind) { () throws(FileSystemError) in
      try behavior.sync(base, kind, path: path, .sync) { () throws(FileSystemError) in try base.sync(kind) }
    }
  }
}
