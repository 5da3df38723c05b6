import HeartwoodFiles

/// An open file of a file system with faults.
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
    try controller.perform(.read, path) { () throws(FileSystemError) in
      let count = controller.lengthOfRead(buffer.count)
      return try base.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count)), at: offset)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try controller.perform(
      .write, path, isMutation: true,
      half: { () throws(FileSystemError) in
        let half = UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2))
        _ = try write(half, within: half.count, at: offset)
      },
      { () throws(FileSystemError) in
        try write(bytes, within: controller.lengthOfWrite(bytes.count), at: offset)
      })
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) {
    try controller.perform(.sync, path, isMutation: true) { () throws(FileSystemError) in
      try base.sync(kind)
    }
  }

  func size() throws(FileSystemError) -> Int64 {
    try controller.perform(.size, path) { () throws(FileSystemError) in try base.size() }
  }

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

  func tryLock() throws(FileSystemError) -> Bool {
    try controller.perform(.lock, path) { () throws(FileSystemError) in try base.tryLock() }
  }

  func map(length: Int) throws(FileSystemError) -> (any FileMap)? {
    try controller.perform(.map, path) { () throws(FileSystemError) in try base.map(length: length) }
  }

  /// The base is closed whatever the answer: no system leaves a descriptor open after it.
  func close() throws(FileSystemError) {
    let outcome: Result<Void, FileSystemError>
    do {
      outcome = .success(try base.close())
    } catch {
      outcome = .failure(error)
    }
    try controller.perform(.close, path) { () throws(FileSystemError) in try outcome.get() }
  }

  /// Writes as much of the first `count` bytes as there is space for.
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
