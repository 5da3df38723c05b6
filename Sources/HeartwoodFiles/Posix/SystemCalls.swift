import CLibrary

/// The value of `errno` after a failed system call.
struct SystemError: Error, Hashable {
  let number: Int32
}

/// One function for each system call of the project. Calls that a signal interrupts are repeated. No function
/// depends on the purpose of its call.
enum SystemCall {
  // MARK: Directories

  /// Does not follow a symbolic link in the last component: a store's directory must be a directory itself.
  static func openDirectory(_ path: String) throws(SystemError) -> Int32 {
    try retried { open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
  }

  static func makeDirectory(_ path: String) throws(SystemError) {
    _ = try retried { mkdir(path, 0o777) }
  }

  /// The names in a directory, unsorted, without `.` and `..`.
  static func names(in directory: Int32) throws(SystemError) -> [String] {
    // A separate descriptor: reading moves its position, and closing the stream closes it.
    let descriptor = try retried { openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard let stream = fdopendir(descriptor) else {
      let number = errno
      try? close(descriptor)
      throw SystemError(number: number)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = entryName(entry)
      if name != ".", name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw SystemError(number: errno) }
    return names
  }

  private static func entryName(_ entry: UnsafeMutablePointer<dirent>) -> String {
    let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 0
    let start = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
    return String(cString: start)
  }

  static func rename(_ name: String, to newName: String, in directory: Int32) throws(SystemError) {
    _ = try retried { renameat(directory, name, directory, newName) }
  }

  static func unlink(_ name: String, in directory: Int32) throws(SystemError) {
    _ = try retried { unlinkat(directory, name, 0) }
  }

  /// Whether the name is a directory's. Does not follow links.
  static func isDirectory(_ name: String, in directory: Int32) throws(SystemError) -> Bool {
    var status = stat()
    _ = try retried { fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) }
    return status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether a path leads to the open directory. Does not follow a link in its last component.
  static func isDirectory(_ descriptor: Int32, at path: String) throws(SystemError) -> Bool {
    var found = stat()
    do {
      _ = try retried { lstat(path, &found) }
    } catch {
      if error.number == ENOENT || error.number == ENOTDIR { return false }
      throw error
    }
    return try identity(of: descriptor) == identity(found)
  }

  static func identity(of descriptor: Int32) throws(SystemError) -> DirectoryIdentity {
    identity(try status(of: descriptor))
  }

  /// The number of bytes that unprivileged processes can still use on the directory's file system.
  static func availableBytes(_ descriptor: Int32) throws(SystemError) -> Int64 {
    var status = statvfs()
    _ = try retried { fstatvfs(descriptor, &status) }
    let (bytes, isOver) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isOver ? .max : Int64(clamping: bytes)
  }

  private static func identity(_ status: stat) -> DirectoryIdentity {
    DirectoryIdentity(
      device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino))
  }

  static func fileStatus(of descriptor: Int32) throws(SystemError) -> FileStatus {
    fileStatus(try status(of: descriptor))
  }

  /// Does not follow links.
  static func fileStatus(of name: String, in directory: Int32) throws(SystemError) -> FileStatus {
    var status = stat()
    _ = try retried { fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) }
    return fileStatus(status)
  }

  private static func fileStatus(_ status: stat) -> FileStatus {
    #if canImport(Darwin)
      let changed = status.st_ctimespec
    #else
      let changed = status.st_ctim
    #endif
    return FileStatus(
      identity: identity(status), links: UInt64(status.st_nlink), size: Int64(status.st_size),
      changed: Int64(changed.tv_sec) &* 1_000_000_000 &+ Int64(changed.tv_nsec))
  }

  // MARK: Files

  /// Opens without blocking, so that a pipe under the name cannot stop the process. A new file has the permissions that the process's mask
  /// leaves.
  static func openFile(
    _ name: String, _ mode: OpenMode, in directory: Int32
  ) throws(SystemError) -> Int32 {
    let always = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    switch mode {
    case .readOnly: return try retried { openat(directory, name, O_RDONLY | always) }
    case .readWrite: return try retried { openat(directory, name, O_RDWR | always) }
    case .createNew:
      return try retried { openat(directory, name, O_RDWR | O_CREAT | O_EXCL | always, 0o666) }
    }
  }

  static func isRegularFile(_ descriptor: Int32) throws(SystemError) -> Bool {
    try status(of: descriptor).st_mode & S_IFMT == S_IFREG
  }

  static func size(of descriptor: Int32) throws(SystemError) -> Int64 {
    Int64(try status(of: descriptor).st_size)
  }

  static func permissions(of descriptor: Int32) throws(SystemError) -> mode_t {
    try status(of: descriptor).st_mode & 0o777
  }

  /// The permissions of a file by its name. Does not follow links.
  static func permissions(of name: String, in directory: Int32) throws(SystemError) -> mode_t {
    var status = stat()
    _ = try retried { fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) }
    return status.st_mode & 0o777
  }

  static func setPermissions(_ descriptor: Int32, _ permissions: mode_t) throws(SystemError) {
    _ = try retried { fchmod(descriptor, permissions) }
  }

  private static func status(of descriptor: Int32) throws(SystemError) -> stat {
    var status = stat()
    _ = try retried { fstat(descriptor, &status) }
    return status
  }

  static func read(
    _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    let count = min(buffer.count, largestTransfer)
    return try retried { pread(descriptor, buffer.baseAddress, count, off_t(offset)) }
  }

  static func write(
    _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    let count = min(bytes.count, largestTransfer)
    return try withoutSignalOfFileSize { () throws(SystemError) in
      try retried { pwrite(descriptor, bytes.baseAddress, count, off_t(offset)) }
    }
  }

  /// Some systems refuse to transfer more than 2 GiB at once.
  private static let largestTransfer = 1 << 30

  static func truncate(_ descriptor: Int32, to size: Int64) throws(SystemError) {
    try withoutSignalOfFileSize { () throws(SystemError) in
      _ = try retried { ftruncate(descriptor, off_t(size)) }
    }
  }

  static func sync(_ descriptor: Int32, _ kind: SyncKind) throws(SystemError) {
    #if canImport(Darwin)
      // On Darwin `fsync` leaves bytes in the drive's cache. Network file systems support only `fsync`.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
      guard errno == ENOTSUP || errno == EINVAL || errno == ENOTTY else {
        throw SystemError(number: errno)
      }
      _ = try retried { fsync(descriptor) }
    #else
      switch kind {
      case .data: _ = try retried { fdatasync(descriptor) }
      case .full: _ = try retried { fsync(descriptor) }
      }
    #endif
  }

  /// Acquires a lock that belongs to the open file, not to the process: it excludes a second open file in the
  /// same process, and closing another descriptor of the file does not release it.
  static func tryLock(_ descriptor: Int32, exclusively: Bool) throws(SystemError) -> Bool {
    do {
      #if canImport(Darwin)
        _ = try retried { flock(descriptor, (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB) }
      #else
        try setLock(descriptor, exclusively ? F_WRLCK : F_RDLCK)
      #endif
      return true
    } catch {
      if error.number == EAGAIN || error.number == EWOULDBLOCK || error.number == EACCES { return false }
      throw error
    }
  }

  /// Releases the lock. Closing alone is not enough: a child that is forked at this moment shares the open
  /// file, and with it the lock, until it executes its own program.
  static func unlock(_ descriptor: Int32) throws(SystemError) {
    #if canImport(Darwin)
      _ = try retried { flock(descriptor, LOCK_UN) }
    #else
      try setLock(descriptor, F_UNLCK)
    #endif
  }

  /// Whether the lock of another open file conflicts with an exclusive lock.
  static func isLocked(_ descriptor: Int32) throws(SystemError) -> Bool {
    #if canImport(Darwin)
      // The only way to find out is to acquire it.
      guard try tryLock(descriptor, exclusively: true) else { return true }
      try unlock(descriptor)
      return false
    #else
      var lock = flock()
      lock.l_type = Int16(F_WRLCK)
      lock.l_whence = Int16(SEEK_SET)
      _ = try retried { fcntl(descriptor, getOpenFileLock, &lock) }
      return lock.l_type != Int16(F_UNLCK)
    #endif
  }

  #if !canImport(Darwin)
    /// `F_OFD_GETLK` and `F_OFD_SETLK`, which the C module does not export to Swift.
    private static let getOpenFileLock: Int32 = 36
    private static let setOpenFileLock: Int32 = 37

    private static func setLock(_ descriptor: Int32, _ type: some BinaryInteger) throws(SystemError) {
      var lock = flock()
      lock.l_type = Int16(type)
      lock.l_whence = Int16(SEEK_SET)
      _ = try retried { fcntl(descriptor, setOpenFileLock, &lock) }
    }
  #endif

  /// Never repeated: after an interruption the descriptor is closed, and its number may be in use again.
  static func close(_ descriptor: Int32) throws(SystemError) {
    #if canImport(Darwin)
      let result = Darwin.close(descriptor)
    #elseif canImport(Musl)
      let result = Musl.close(descriptor)
    #else
      let result = Glibc.close(descriptor)
    #endif
    if result != 0, errno != EINTR { throw SystemError(number: errno) }
  }

  // MARK: Memory

  static func mapFile(_ descriptor: Int32, length: Int) throws(SystemError) -> UnsafeMutableRawPointer {
    try mapped(mmap(nil, length, PROT_READ, MAP_SHARED, descriptor, 0))
  }

  /// - Parameter offset: A multiple of the page size.
  static func shareFile(
    _ descriptor: Int32, at offset: Int64 = 0, length: Int
  ) throws(SystemError) -> UnsafeMutableRawPointer {
    try mapped(mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(offset)))
  }

  /// Zero-filled memory, allocated only when it is written.
  static func reserveMemory(_ length: Int) throws(SystemError) -> UnsafeMutableRawPointer {
    let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE
    return try mapped(mmap(nil, length, PROT_READ | PROT_WRITE, flags, -1, 0))
  }

  /// Requests large pages, on systems that use them only on request. A refusal is no error.
  static func preferLargePages(_ start: UnsafeMutableRawPointer, _ length: Int) {
    #if os(Linux)
      _ = madvise(start, length, MADV_HUGEPAGE)
    #endif
  }

  /// Replaces reserved memory by fresh zeros and releases the old memory.
  static func renewMemory(_ start: UnsafeMutableRawPointer, _ length: Int) throws(SystemError) {
    let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE | MAP_FIXED
    _ = try mapped(mmap(start, length, PROT_READ | PROT_WRITE, flags, -1, 0))
  }

  private static func mapped(_ result: UnsafeMutableRawPointer?) throws(SystemError)
    -> UnsafeMutableRawPointer
  {
    guard let result, Int(bitPattern: result) != -1 else { throw SystemError(number: errno) }
    return result
  }

  static func unmap(_ start: UnsafeMutableRawPointer, _ length: Int) {
    munmap(start, length)
  }

  /// The size of the system's memory pages, in bytes.
  static var memoryPageSize: Int { Int(getpagesize()) }

  // MARK: Time and identity

  static var nanosecondsSince1970: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let seconds = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue
    return seconds &+ Int64(time.tv_nsec)
  }

  /// Sleeps for less if a signal arrives.
  static func sleep(microseconds: UInt32) { usleep(microseconds) }

  static var processIdentifier: Int32 { getpid() }

  static var threadIdentifier: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #elseif canImport(Musl)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }

  // MARK: Interruptions

  /// Repeats a call as long as signals interrupt it.
  static func retried<Result: SignedInteger>(_ call: () -> Result) throws(SystemError) -> Result {
    while true {
      let result = call()
      if result >= 0 { return result }
      let number = errno
      if number != EINTR { throw SystemError(number: number) }
    }
  }
}
