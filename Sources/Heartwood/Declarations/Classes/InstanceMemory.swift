/// The address of a property's wrapper in an object, from which the compiler derives a constant offset.
@frozen
public struct _WrapperPlace {
  @usableFromInline let address: UnsafeRawPointer

  /// - Parameter mark: The wrapper's only stored property.
  @inlinable @inline(__always)
  public init(_ mark: inout UInt8) { address = withUnsafePointer(to: &mark) { UnsafeRawPointer($0) } }

  /// The offset of the wrapper in the object that has it, in bytes.
  @inlinable @inline(__always)
  func offset(in object: AnyObject) -> Int {
    address - UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
  }
}

/// The memory of an instance: where the offsets of its wrappers are found.
enum InstanceMemory {
  /// The size of a class's instances, in bytes.
  ///
  /// Reads the size from the class's metadata, whose layout is part of Swift's ABI: no function returns it on all
  /// platforms.
  static func size(of type: AnyClass) -> Int {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    // Kind and superclass, on Apple platforms three words of the Objective-C runtime, then 32 bits each:
    // flags, address point, size.
    #if canImport(ObjectiveC)
      let words = 5
    #else
      let words = 2
    #endif
    return Int(metadata.load(fromByteOffset: words * MemoryLayout<Int>.size + 8, as: UInt32.self))
  }

  /// A copy of the object's memory.
  static func bytes(of object: AnyObject, count: Int) -> [UInt8] {
    let start = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    return withExtendedLifetime(object) { Array(UnsafeRawBufferPointer(start: start, count: count)) }
  }
}
