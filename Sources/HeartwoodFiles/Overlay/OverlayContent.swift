/// The bytes of a file of an overlay.
protocol OverlayContent: AnyObject, Sendable {
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError)
  func truncate(to size: Int64) throws(FileSystemError)
  func size() throws(FileSystemError) -> Int64
  func map(length: Int) throws(FileSystemError) -> (any FileMap)?
}

/// A file that is created in the overlay, or copied into it.
final class NewContent: OverlayContent {
  private let file: MemoryFile

  init(_ name: String, path: String) {
    file = MemoryFile(name: name, path: path, mode: .createNew, content: MemoryContent())
  }

  /// Copies a file of the base and closes it.
  convenience init(_ name: String, path: String, copying base: any File) throws(FileSystemError) {
    self.init(name, path: path)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(try base.size()), alignment: 8)
    defer { bytes.deallocate() }
    let count = try base.readFully(into: bytes, at: 0)
    try write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: 0)
    try base.close()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try file.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) {
    _ = try file.write(bytes, at: offset)
  }

  func truncate(to size: Int64) throws(FileSystemError) { try file.truncate(to: size) }
  func size() throws(FileSystemError) -> Int64 { try file.size() }
  func map(length: Int) throws(FileSystemError) -> (any FileMap)? { try file.map(length: length) }
}

/// A file of the base that is only read.
final class FinalContent: OverlayContent {
  private let file: any File
  private let length: Int64

  init(_ file: any File) throws(FileSystemError) {
    self.file = file
    length = try file.size()
  }

  deinit { try? file.close() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try file.read(upTo: length, into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) {
    throw FileSystemError(.unsupported, .write, path: file.name)
  }

  func truncate(to size: Int64) throws(FileSystemError) {
    if size != length { throw FileSystemError(.unsupported, .truncate, path: file.name) }
  }

  func size() throws(FileSystemError) -> Int64 { length }
  func map(length: Int) throws(FileSystemError) -> (any FileMap)? { try file.map(length: length) }
}

/// A file of the base with changed blocks in memory.
final class ChangedContent: OverlayContent, @unchecked Sendable {
  private static let blockSize = 1 << 14

  private let file: any File
  private let lock = Lock()
  /// The bytes of the base that are seen: fewer after a truncation.
  private var seen: Int64
  private var length: Int64
  /// By offset divided by the size of a block.
  private var blocks: [Int64: [UInt8]] = [:]

  init(_ file: any File) throws(FileSystemError) {
    self.file = file
    seen = try file.size()
    length = seen
  }

  deinit { try? file.close() }

  func size() throws(FileSystemError) -> Int64 { lock.withLock { length } }

  /// Not mapped: a map would not see what is written here.
  func map(length: Int) throws(FileSystemError) -> (any FileMap)? { nil }

  func truncate(to size: Int64) throws(FileSystemError) {
    try lock.withLock { () throws(FileSystemError) in
      if size < length {
        let (last, kept) = size.quotientAndRemainder(dividingBy: Int64(Self.blockSize))
        if kept > 0 {
          var block = try block(last)
          for place in Int(kept)..<Self.blockSize { block[place] = 0 }
          blocks[last] = block
        }
        blocks = blocks.filter { $0.key < last || $0.key == last && kept > 0 }
        seen = min(seen, size)
      }
      length = size
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try lock.withLock { () throws(FileSystemError) in
      let count = min(buffer.count, Int(clamping: max(0, length - offset)))
      var done = 0
      while done < count {
        let place = offset + Int64(done)
        let (number, start) = place.quotientAndRemainder(dividingBy: Int64(Self.blockSize))
        let part = min(count - done, Self.blockSize - Int(start))
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + part])
        if let block = blocks[number] {
          target.copyBytes(from: block[Int(start)..<Int(start) + part])
        } else {
          try fill(target, at: place)
        }
        done += part
      }
      return count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) {
    try lock.withLock { () throws(FileSystemError) in
      var done = 0
      while done < bytes.count {
        let (number, start) = (offset + Int64(done)).quotientAndRemainder(dividingBy: Int64(Self.blockSize))
        let part = min(bytes.count - done, Self.blockSize - Int(start))
        var block = try block(number)
        block.replaceSubrange(Int(start)..<Int(start) + part, with: bytes[done..<done + part])
        blocks[number] = block
        done += part
      }
      length = max(length, offset + Int64(bytes.count))
    }
  }

  /// - Precondition: The lock is held.
  private func block(_ number: Int64) throws(FileSystemError) -> [UInt8] {
    if let block = blocks.removeValue(forKey: number) { return block }
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 8)
    defer { bytes.deallocate() }
    try fill(bytes, at: number * Int64(Self.blockSize))
    return Array(bytes)
  }

  /// Reads bytes of the base, and zeros behind its end.
  private func fill(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) {
    var done = 0
    while done < target.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: target[done...])
      let count = try file.read(upTo: seen, into: rest, at: offset + Int64(done))
      if count == 0 {
        rest.initializeMemory(as: UInt8.self, repeating: 0)
        return
      }
      done += count
    }
  }
}

extension File {
  /// Reads as `read(into:at:)` does, but not beyond an end.
  fileprivate func read(
    upTo end: Int64, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int {
    let count = min(buffer.count, Int(clamping: max(0, end - offset)))
    guard count > 0 else { return 0 }
    return try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
  }
}
