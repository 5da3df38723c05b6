#if !canImport(Darwin)
  import Foundation

  /// Members that UIKit and AppKit add on Apple's systems.
  extension IndexPath {
    /// The path of an item in a section.
    public init(item: Int, section: Int) { self = [section, item] }
    /// The path of a row in a section.
    public init(row: Int, section: Int) { self = [section, row] }

    /// The index of the section.
    ///
    /// - Precondition: The path has two indexes.
    public var section: Int { self[0] }
    /// The index in the section.
    ///
    /// - Precondition: The path has two indexes.
    public var item: Int { self[1] }
    /// The index in the section.
    ///
    /// - Precondition: The path has two indexes.
    public var row: Int { self[1] }
  }
#endif
