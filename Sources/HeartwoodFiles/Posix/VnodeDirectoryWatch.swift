#if canImport(Darwin)
  import Darwin
  import Dispatch

  /// A directory watch by vnode events: of the names in the directory, and of the files in it that were
  /// written last.
  final class VnodeDirectoryWatch: DirectoryWatch, @unchecked Sendable {
    private let alarm = TimedWatch(interval: nil)
    private let queue = DispatchQueue(label: "heartwood.directory")
    private let directory: Int32
    /// Used on `queue` only, like `files`.
    private var names: (any DispatchSourceFileSystemObject)?
    private var files: [any DispatchSourceFileSystemObject] = []

    /// A store writes to few files at a time, and descriptors are scarce.
    private static let mostFiles = 12

    init(_ directory: Int32, path: String) throws(FileSystemError) {
      do {
        self.directory = try SystemCall.openToWatch(".", in: directory)
      } catch {
        throw FileSystemError(error, .watch, path: path)
      }
      queue.sync {
        names = source(of: self.directory) { [weak self] in self?.namesHaveChanged() }
        watchFiles()
      }
    }

    deinit {
      names?.cancel()
      for file in files { file.cancel() }
    }

    func wait(seconds: Double?) -> Bool { alarm.wait(seconds: seconds) }

    func wake() { alarm.wake() }

    private func namesHaveChanged() {
      watchFiles()
      alarm.wake()
    }

    private func watchFiles() {
      for file in files { file.cancel() }
      let latest = SystemCall.latestWritten(in: directory).prefix(Self.mostFiles)
      let opened = latest.compactMap { try? SystemCall.openToWatch($0, in: directory) }
      files = opened.map { descriptor in source(of: descriptor) { [alarm] in alarm.wake() } }
    }

    /// The cancel handler closes the descriptor.
    private func source(
      of descriptor: Int32, _ changed: @escaping @Sendable () -> Void
    ) -> any DispatchSourceFileSystemObject {
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: [.write, .extend, .delete, .rename], queue: queue)
      source.setEventHandler { changed() }
      source.setCancelHandler { try? SystemCall.close(descriptor) }
      source.resume()
      return source
    }
  }

  extension SystemCall {
    /// Opens a descriptor that does not prevent unmounting.
    static func openToWatch(_ name: String, in directory: Int32) throws(SystemError) -> Int32 {
      try retried { openat(directory, name, O_EVTONLY | O_NOFOLLOW | O_CLOEXEC) }
    }

    /// The names in a directory, the most recently written first.
    static func latestWritten(in directory: Int32) -> [String] {
      let names = (try? names(in: directory)) ?? []
      let dated = names.map { name in
        var found = stat()
        let isThere = fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0
        return (name: name, time: isThere ? found.st_mtimespec : timespec())
      }
      let sorted = dated.sorted { ($0.time.tv_sec, $0.time.tv_nsec) > ($1.time.tv_sec, $1.time.tv_nsec) }
      return sorted.map(\.name)
    }
  }
#endif
