import HeartwoodFiles

/// The numbers of a coordinator's stores, which are in the keys of rows while it has several.
///
/// A key has 63 bits. The upper ten are the number of the store, the others the key in that store. The first store has the number 0, so
/// that the keys of its rows stay as they are when others are added. A store keeps its number until the coordinator has none: objects
/// of contexts stay those of their store.
package struct StoreNumbers: Sendable {
  /// How many stores a coordinator can have had.
  static let most = 1 << 10

  fileprivate let number: UInt32

  /// Numbers without a store yet.
  package init() {
    number = Self.known.withLock { known in
      known.append([])
      return UInt32(known.count - 1)
    }
  }

  fileprivate init(number: UInt32) { self.number = number }

  /// The identity of all stores together.
  package var identity: StoreIdentity { StoreIdentity(number: number | StoreIdentity.severalMark, known: ()) }

  /// The number of a store; nil if it has none.
  package func number(of store: StoreIdentity) -> Int? {
    Self.known.withLock { $0[Int(number)].firstIndex(of: store) }
  }

  /// The store of a number; no store if none has it.
  package func store(_ place: Int) -> StoreIdentity {
    Self.known.withLock { place < $0[Int(number)].count ? $0[Int(number)][place] : .none }
  }

  /// The number of a store, a new one if it has none.
  ///
  /// - Throws: `.persistentStoreOpen` if no number is left.
  package func add(_ store: StoreIdentity) throws(HeartwoodError) -> Int {
    let place = Self.known.withLock { known -> Int? in
      if let known = known[Int(number)].firstIndex(of: store) { return known }
      guard known[Int(number)].count < Self.most else { return nil }
      known[Int(number)].append(store)
      return known[Int(number)].count - 1
    }
    if let place { return place }
    throw HeartwoodError(
      .persistentStoreOpen,
      "the coordinator has had \(Self.most) different stores, and numbers no more: close all of them, or make another coordinator"
    )
  }

  /// The stores by their numbers, of each coordinator. Never freed: identifiers outlive their stores.
  private static let known = Guarded<[[StoreIdentity]]>([])
}

extension StoreIdentity {
  /// Set in the numbers of identities that are those of several stores together.
  @inlinable static var severalMark: UInt32 { 1 << 31 }

  /// Whether it is that of several stores together, whose keys have the number of their store.
  @inlinable package var isOfSeveral: Bool { number & Self.severalMark != 0 }

  /// The numbers of several stores; nil for the identity of one.
  package var numbers: StoreNumbers? { isOfSeveral ? StoreNumbers(number: number & ~Self.severalMark) : nil }

  /// The store that has a row: this one, unless it is several.
  @inlinable @inline(__always)
  func store(of key: UInt64) -> StoreIdentity { isOfSeveral ? member(of: key) : self }

  @inline(never)
  @usableFromInline func member(of key: UInt64) -> StoreIdentity { numbers?.store(key.storeNumber) ?? .none }

  /// Whether it is that of several stores, of which the first is `store`: keys of that one stay as they are.
  package func hasFirst(_ store: StoreIdentity) -> Bool { isOfSeveral && numbers?.store(0) == store }
}

extension UInt64 {
  /// The bits of a permanent key that are the key in its store.
  @inlinable package static var keyInStoreMask: UInt64 { (1 << 53) - 1 }
  @inlinable static var storeNumberShift: UInt64 { 53 }

  /// The number of the store in a permanent key.
  @inlinable @inline(__always)
  package var storeNumber: Int {
    Int(truncatingIfNeeded: (self & ~Self.temporaryKeyMark) >> Self.storeNumberShift)
  }

  /// A permanent key as its store has it.
  @inlinable @inline(__always)
  package var keyInStore: UInt64 { self & Self.keyInStoreMask }

  /// The key of a row of the store with this number.
  @inlinable @inline(__always)
  package func numbered(_ store: Int) -> UInt64 {
    self | UInt64(truncatingIfNeeded: store) << Self.storeNumberShift
  }
}

extension ManagedObjectID {
  /// The key of the object for a reader of a store, or of several; nil if it is of another store. A temporary key is the same for all.
  package func key(in identity: StoreIdentity) -> UInt64? {
    guard !isTemporaryID else { return key }
    guard identity.isOfSeveral else { return store == identity ? key.keyInStore : nil }
    return identity.numbers?.number(of: store).map { key.keyInStore.numbered($0) }
  }

  /// The same identifier, with the key that a reader of a store, or of several, has for it; nil if it is of another store.
  func localized(in identity: StoreIdentity) -> ManagedObjectID? {
    key(in: identity).map { ManagedObjectID(entity: entity, key: $0, store: identity) }
  }
}
