import HeartwoodFiles

/// The identity of a process of a simulated machine. A disk never reuses one.
struct ProcessIdentifier: Hashable, Sendable {
  let number: UInt64
}

/// An open file of a process.
struct Handle: Hashable, Sendable {
  let number: UInt64
}

/// The open files and the locks of each process.
///
/// Invariants: Only open files are locked. The table contains no files of dead processes.
struct HandleTable {
  private struct OpenFile {
    let file: FileIdentifier
    let process: ProcessIdentifier
    var lock: HeldLock?
  }

  private enum HeldLock {
    case exclusive, shared
  }

  private var open: [Handle: OpenFile] = [:]
  private var dead: Set<ProcessIdentifier> = []

  var openFiles: Set<FileIdentifier> { Set(open.values.map(\.file)) }
  var openCount: Int { open.count }
  var lockCount: Int { open.values.count { $0.lock != nil } }

  func isAlive(_ process: ProcessIdentifier) -> Bool { !dead.contains(process) }

  mutating func add(_ handle: Handle, _ file: FileIdentifier, of process: ProcessIdentifier) {
    open[handle] = OpenFile(file: file, process: process)
  }

  mutating func close(_ handle: Handle) { open[handle] = nil }

  mutating func kill(_ process: ProcessIdentifier) {
    dead.insert(process)
    open = open.filter { $0.value.process != process }
  }

  func isLocked(besides handle: Handle) -> Bool {
    guard let file = open[handle]?.file else { return false }
    return open.contains { $0.key != handle && $0.value.file == file && $0.value.lock != nil }
  }

  mutating func unlock(_ handle: Handle) { open[handle]?.lock = nil }

  mutating func tryLock(_ handle: Handle, exclusively: Bool) -> Bool {
    guard let file = open[handle]?.file else { return false }
    let others = open.filter { $0.key != handle && $0.value.file == file }.compactMap(\.value.lock)
    guard others.allSatisfy({ $0 == .shared && !exclusively }) else { return false }
    open[handle]?.lock = exclusively ? .exclusive : .shared
    return true
  }
}
